/* Triangles in the plane: a polygon with holes, cut into triangles of about one size with angles as
 * good as its corners allow. */
#ifndef KILN_MESH_SHAPE_PLANE_H
#define KILN_MESH_SHAPE_PLANE_H

#include "base/array.h"

typedef struct kiln_plane_point {
    double x, y;
} kiln_plane_point;

/* Edge i is opposite v[i]. */
typedef struct kiln_plane_triangle {
    uint32_t v[3];    /* counter-clockwise */
    uint32_t next[3]; /* neighbour * 4 + its edge; UINT32_MAX at the rim */
    uint32_t side[3]; /* at the rim: number of the polygon's edge, from 0 through all loops */
} kiln_plane_triangle;

typedef struct kiln_plane {
    kiln_context *context; /* borrowed */
    KILN_ARRAY_OF(kiln_plane_point)
    points;
    KILN_ARRAY_OF(kiln_plane_triangle)
    triangles;
} kiln_plane;

/* Corners of all loops one after the other, the outer loop first, then holes, either way round. */
typedef struct kiln_plane_loops {
    const kiln_plane_point *corners;
    const uint32_t *ends; /* [loop]: one past its last corner */
    uint32_t loop_count;
} kiln_plane_loops;

enum { KILN_PLANE_MAX_CORNERS = 4096 };

/* 1 when a, b, c turn left, -1 right, 0 when they lie on a line; exact. */
int kiln_plane_turn(kiln_plane_point a, kiln_plane_point b, kiln_plane_point c);

/* Any triangulation of the polygon without new points (shape_clip.c). Loops must not touch or cross
 * themselves or each other; holes lie inside the first loop. */
kiln_status kiln_plane_clip(kiln_plane *plane, const kiln_plane_loops *loops, kiln_error *error);

/* Triangles with edges of about h (shape_plane.c). */
kiln_status kiln_plane_fill(kiln_plane *plane, const kiln_plane_loops *loops, double h,
                            kiln_error *error);

void kiln_plane_free(kiln_plane *plane);

/* 4 sqrt(3) area / sum of squared edges: 1 for equilateral, negative when turned over. */
double kiln_plane_quality(kiln_plane_point a, kiln_plane_point b, kiln_plane_point c);

#endif
