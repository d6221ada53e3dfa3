/* Tets added on the outside: a layer of prisms on a patch, a bridge between two faces; and tets
 * taken away in bulk. */
#ifndef KILN_TOPOLOGY_LAYER_H
#define KILN_TOPOLOGY_LAYER_H

#include "mesh/replace.h"

/* Where the copy of a patch vertex goes. */
typedef void (*kiln_layer_place)(void *user, const kiln_mesh *mesh, uint32_t vertex, kiln_vec3 *u,
                                 kiln_vec3 *x);

/* The sides of a layer go on with the tags of the surface beside the patch. */
#define KILN_LAYER_AS_BESIDE INT32_MIN

/* Extrudes the surface faces: one prism of three tets each, cut consistently; the tops keep the
 * tags and fields of the faces they cover, the sides of the rim get `rim_tag` and the
 * fields of the faces beside. Conserved fields of the new tets are zero. The volume is booked as
 * gained. */
kiln_verdict kiln_layer_add(kiln_txn *txn, const uint32_t *faces, size_t count,
                            kiln_layer_place place, void *user, int32_t rim_tag);

/* Joins two surface faces by a prism of three tets, its sides tagged `tag`: the rotation with the
 * least total distance, then the first of the six cuttings with positive tets. Conserved fields of
 * the bridge are zero. Whether it runs through other matter is the caller's question. */
kiln_verdict kiln_bridge_faces(kiln_txn *txn, uint32_t face_a, uint32_t face_b, int32_t tag);

/* Takes away all tets for which the predicate holds; what they uncover becomes surface with `tag`.
 * totals (may be NULL) gets the sums of the conserved tet fields taken away, field by field,
 * component by component. */
typedef bool (*kiln_tet_predicate)(void *user, const kiln_mesh *mesh, uint32_t tet);
kiln_verdict kiln_tets_remove(kiln_txn *txn, kiln_tet_predicate predicate, void *user, int32_t tag,
                              kiln_f64_array *totals);

#endif
