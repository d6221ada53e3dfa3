/* Dead rows filled from the end, so that rows are compact after a pass at the price of its holes,
 * not of the mesh (kiln_mesh_compact and kiln_mesh_reorder renumber everything).
 *
 * In each table the k-th lowest hole below the new length gets the k-th lowest live row at or past
 * it: what was made together stays together. Afterwards used == live in all tables and the free
 * lists are empty; parts without tets keep their numbers.
 *
 * What holds: M1-M9 if they held before, for only names change. A row that moves keeps all its
 * columns; of the core ones only what names rows is rewritten: corners, links, `at`, anchors. The
 * clock does not advance and tets keep their stamp `changed`, for they are the tets that were made
 * then: whoever keeps pairs of a row and a stamp maps the rows by `moved` and gives up those of
 * holes before, since a hole may get a tet of the same stamp. Twin numbers and the stamps of faces
 * name no rows. Parts that have a renumbered row are stamped with the coming revision, because what
 * was cached by row is void. Rows past the new length are logged before they are given up: what is
 * appended there later needs no log of its own, and rolling back restores every bit, free lists
 * included; the archive has their first images in the same way. */
#ifndef KILN_MESH_CLOSE_RANKS_H
#define KILN_MESH_CLOSE_RANKS_H

#include "mesh/changes.h"
#include "mesh/txn.h"

/* moved[] gets the moves of each table (what it held is dropped), ascending in `to` and in `from`;
 * empty on refusal. Refused as KILN_REFUSED_NON_MANIFOLD while stars are listed or a vertex has no
 * tet yet, because lists and numbers given out inside the transaction would go stale: call it in a
 * transaction of its own. KILN_REFUSED_MEMORY leaves the mesh as it was. */
kiln_verdict kiln_txn_close_ranks(kiln_txn *txn, kiln_row_moves moved[KILN_WHERE_COUNT]);

#endif
