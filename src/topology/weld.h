/* Duplicating and welding vertices, gluing faces: the elementary steps of cracks and merges. They
 * may leave the mesh non-manifold inside the transaction. */
#ifndef KILN_TOPOLOGY_WELD_H
#define KILN_TOPOLOGY_WELD_H

#include "mesh/replace.h"

/* The listed tets of the vertex's star get a copy of it instead, at the same place. Faces between
 * them and the rest of the star open: both sides become surface with `tag` and share a twin number,
 * as do the two vertices. Every field is copied; conserved vertex fields are divided by volume. */
kiln_verdict kiln_vertex_duplicate(kiln_txn *txn, uint32_t vertex, const uint32_t *tets,
                                   uint32_t count, int32_t tag, uint32_t *copy);

/* Vertex b's tets get vertex a, whose place stays; b goes. Fields are averaged by volume, conserved
 * ones added. The stars must have no tet in common. Faces are not glued. */
kiln_verdict kiln_vertex_weld(kiln_txn *txn, uint32_t a, uint32_t b);

/* Two surface faces with the same three vertices become one interior face. */
kiln_verdict kiln_face_glue(kiln_txn *txn, uint32_t face_a, uint32_t face_b);

#endif
