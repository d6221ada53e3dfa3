/* Taking back more than a transaction.
 *
 * A time step rewrites whole columns, makes passes of remeshing, commits transactions between them
 * and may put another mesh in the place of this one. From kiln_rewind_begin to kiln_rewind_end all
 * of that can be taken back: kiln_rewind_back leaves bitwise the mesh of the begin, numbers, free
 * lists, stamps and clock included, and cannot fail.
 *
 *     begin ---- column* pass* transaction* exchange* ----> end   forgets what was kept
 *                                  \----------------------> back  restores it, newest first
 *
 * What a transaction or pass changes is in the undo log and the archive already; they are only kept
 * longer. Whoever writes to a column otherwise says so before, once a step is enough:
 *
 *   KILN_SAVE_COPY   some rows will be written: the old contents are copied
 *   KILN_SAVE_ALL    all rows in use will be written: the old contents go aside as they are, and
 *                    the column gets other memory, whose contents are undefined until then. Its
 *                    address changes
 *
 * Outside begin and end saving does nothing. Fields cannot be added in between. */
#ifndef KILN_MESH_REWIND_H
#define KILN_MESH_REWIND_H

#include "mesh/mesh.h"

typedef enum kiln_save { KILN_SAVE_COPY, KILN_SAVE_ALL } kiln_save;

/* Not in a transaction, a pass, or another one (KILN_ERR_STATE). */
kiln_status kiln_rewind_begin(kiln_mesh *mesh, kiln_error *error);
void kiln_rewind_end(kiln_mesh *mesh);
/* Closes transactions and the pass that are open. */
void kiln_rewind_back(kiln_mesh *mesh);
bool kiln_rewind_active(const kiln_mesh *mesh);

/* The field must exist; core columns are ".u", ".x", ".vertex", ".tet", ".info", ".face". */
kiln_status kiln_rewind_save(kiln_mesh *mesh, kiln_where where, const char *name, kiln_save how,
                             kiln_error *error);
/* All columns, for who renumbers. */
kiln_status kiln_rewind_save_all(kiln_mesh *mesh, kiln_error *error);

/* The contents of both change places, the address of neither; `other` is the caller's to destroy.
 * In between begin and end the old contents are kept, and `other` is left empty. Not in a
 * transaction or pass. On failure nothing was changed. */
kiln_status kiln_mesh_exchange(kiln_mesh *mesh, kiln_mesh *other, kiln_error *error);

#endif
