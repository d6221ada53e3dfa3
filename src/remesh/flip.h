/* The smallest replacements, without a judgement: each only chooses the tets that go and come.
 * Remeshing uses edge and face removal, which contain them and judge; these are the plain moves
 * with which the store, its fields and its undo are exercised, by tests, benches and validation. */
#ifndef KILN_REMESH_FLIP_H
#define KILN_REMESH_FLIP_H

#include "mesh/replace.h"

/* The two tets of an interior face become three round the edge of their apexes. */
kiln_verdict kiln_flip_23(kiln_txn *txn, uint32_t tet, uint32_t face, uint32_t made[3]);

/* The three tets round an edge (a closed ring of three) become two. KILN_REFUSED_DECLARATION when
 * the ring is another. */
kiln_verdict kiln_flip_32(kiln_txn *txn, uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                          uint32_t made[2]);

/* The two tets of a surface edge (an open ring of two) exchange their diagonal; both surface faces
 * are replaced and the change of volume is booked. The faces must carry one tag. */
kiln_verdict kiln_flip_22(kiln_txn *txn, uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                          uint32_t made[2]);

#endif
