/* A triangle cut along segments that lie in it: the plane half of a cut of surfaces. */
#ifndef KILN_GEOM_TRIANGLE_CUT_H
#define KILN_GEOM_TRIANGLE_CUT_H

#include "base/array.h"
#include "geom/vec3.h"

#include <stdbool.h>

typedef struct kiln_cut_triangle {
    uint32_t v[3];
} kiln_cut_triangle;
typedef struct kiln_cut_segment {
    uint32_t v[2];
} kiln_cut_segment;

/* Zero-initialise; may be used again and again. The first three points are the corners, then come
 * those on the sides from corner 0 to 1, 1 to 2 and 2 to 0, each in order along it, then those
 * inside. Points on sides are there by what they are, wherever rounding has put them. */
typedef struct kiln_triangle_cut {
    KILN_ARRAY_OF(kiln_vec3)
    points;
    size_t on_side[3];
    KILN_ARRAY_OF(kiln_cut_segment)
    segments; /* between points; they have no more than ends in common */
    KILN_ARRAY_OF(kiln_cut_triangle)
    triangles; /* the result, turned as the triangle is */
    KILN_ARRAY_OF(kiln_vec3)
    flat; /* points in the plane */
    KILN_ARRAY_OF(kiln_cut_segment)
    crossed; /* scratch */
} kiln_triangle_cut;

void kiln_triangle_cut_free(kiln_context *context, kiln_triangle_cut *cut);

/* *done is false where the points, as rounded, do not allow it. */
kiln_status kiln_triangle_cut_make(kiln_context *context, kiln_triangle_cut *cut, bool *done,
                                   kiln_error *error);

#endif
