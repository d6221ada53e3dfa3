/* Where surfaces have come so near to each other that a whole-domain remesh is to join them (VPF
 * fig. 4): a surface vertex and a face that looks back at it across a gap narrower than `gap` of
 * the edges there, or surfaces of two parts that pass through each other. Of the same part, places
 * that are near along the surface too do not count. */
#ifndef KILN_REMESH_NEARBY_H
#define KILN_REMESH_NEARBY_H

#include "geom/bvh.h"
#include "mesh/mesh.h"

/* A surface vertex and the face that looks back at it, in ascending order of vertices. */
typedef struct kiln_facing {
    uint32_t vertex, face;
    double part; /* how far it is, of the edges at the vertex */
} kiln_facing;

/* Pairs of parts in ascending order, each once. */
typedef struct kiln_nearby {
    KILN_ARRAY_OF(kiln_facing)
    sights;
    kiln_bvh_pair_array facing; /* or crossing; a <= b; a part with itself where it folds */
    kiln_bvh_pair_array close;  /* a < b: so near, whatever their surfaces look at */
} kiln_nearby;

/* Only parts with candidate[part] set. `out` is overwritten. */
kiln_status kiln_nearby_find(const kiln_mesh *mesh, kiln_space space, double gap,
                             const uint8_t *candidate, kiln_nearby *out, kiln_error *error);
void kiln_nearby_free(kiln_context *context, kiln_nearby *nearby);

#endif
