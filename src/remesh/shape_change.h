/* How much a mesh's shape has changed: distance between surfaces (faces of the surface and of
 * interfaces between regions, each compared with its like), and volumes of regions. */
#ifndef KILN_REMESH_SHAPE_CHANGE_H
#define KILN_REMESH_SHAPE_CHANGE_H

#include "mesh/mesh.h"

typedef struct kiln_shape_triangle {
    kiln_vec3 p[3];
    bool interface;
} kiln_shape_triangle;

typedef struct kiln_region_volume {
    int32_t region;
    double volume;
} kiln_region_volume;

/* What a comparison needs of a mesh. Zero-initialise. */
typedef struct kiln_mesh_shape {
    KILN_ARRAY_OF(kiln_shape_triangle)
    triangles;
    KILN_ARRAY_OF(kiln_region_volume)
    regions; /* ascending */
} kiln_mesh_shape;

kiln_status kiln_mesh_shape_take(const kiln_mesh *mesh, kiln_space space, kiln_mesh_shape *out,
                                 kiln_error *error);
void kiln_mesh_shape_free(kiln_context *context, kiln_mesh_shape *shape);

typedef struct kiln_shape_change {
    double outward;     /* farthest point of the surface after from that before, m */
    double backward;    /* and the other way round: what has been cut off */
    double hausdorff;   /* the larger */
    double size;        /* longest side of the bounding box before, m */
    double of_band;     /* largest part of max(0.1 % of the size, 5 % of the local edge before) */
    double volume;      /* relative change of the whole */
    double region;      /* relative change of the region where it is largest */
    int32_t region_tag; /* that region */
} kiln_shape_change;

/* Distances of points sampled on every triangle (corners, edges and inside: 15 of them), each exact
 * to what of the other surface does not look the other way: so the
 * two sides of a slit that has closed are as far from it as it was wide. A surface that is missing
 * in one of the two is infinitely far. */
kiln_status kiln_shape_compare(kiln_context *context, const kiln_mesh_shape *before,
                               const kiln_mesh_shape *after, kiln_shape_change *out,
                               kiln_error *error);

#endif
