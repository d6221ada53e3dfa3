/* Feature edges that are none any more. */
#ifndef KILN_TOPOLOGY_FEATURES_H
#define KILN_TOPOLOGY_FEATURES_H

#include "mesh/txn.h"

/* Do two surface faces belong to one patch, so that the edge between them may be forgotten? */
typedef bool (*kiln_same_patch)(const kiln_mesh *mesh, uint32_t face, uint32_t other, void *user);

/* Flow rounds edges off: what was sharp once does not hold the mesh for ever. Feature edges of the
 * surface that turn by less than `blunt` (radians) in `space`, and then those that end amid the
 * surface, taken off from their ends, lose their mark, except required ones and those between two
 * patches. Vertex flags and corners are found anew from what is left. All of it logged; the
 * transaction is the caller's to roll back when this is refused (out of memory). */
kiln_verdict kiln_features_forget(kiln_txn *txn, kiln_space space, double blunt,
                                  kiln_same_patch same, void *user);

#endif
