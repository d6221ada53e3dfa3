/* Where surfaces have come so near to each other that a whole-domain remesh is to join them (VPF
 * fig. 4): a surface vertex and a face that looks back at it across a gap narrower than `gap` of
 * the edges there. Of the same part, places that are near along the surface too do not count. */
#ifndef KILN_REMESH_NEARBY_H
#define KILN_REMESH_NEARBY_H

#include "geom/bvh.h"
#include "mesh/mesh.h"

/* Pairs of parts a <= b in ascending order, each once; a part with itself where it folds. Only
 * parts with candidate[part] set. `pairs` is overwritten. Rows need not be compact. */
kiln_status kiln_nearby_parts(const kiln_mesh *mesh, kiln_space space, double gap,
                              const uint8_t *candidate, kiln_bvh_pair_array *pairs,
                              kiln_error *error);

#endif
