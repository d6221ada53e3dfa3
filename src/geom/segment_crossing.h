/* How a closed segment meets a closed triangle or another segment, decided by exact signs. */
#ifndef KILN_GEOM_SEGMENT_CROSSING_H
#define KILN_GEOM_SEGMENT_CROSSING_H

#include "geom/predicates.h"

#include <stdint.h>

typedef enum kiln_crossing_kind {
    KILN_CROSSING_NONE,    /* no common point */
    KILN_CROSSING_PROPER,  /* the inside of the segment goes through the inside of the triangle */
    KILN_CROSSING_TOUCH,   /* one common point: an end of the segment, or on the rim of the triangle
                            */
    KILN_CROSSING_COPLANAR /* the segment is in the plane and they have a common point */
} kiln_crossing_kind;

typedef struct kiln_crossing {
    kiln_crossing_kind kind;
    /* Sides of p and q of the triangle's plane: positive where (t0,t1,t2,end) is a positive tet. */
    int8_t end[2];
    /* Side of the line pq of the edge opposite vertex i, positive towards the triangle's inside;
     * two zeros name a vertex, one an edge. Set when the ends are not strictly on one side and not
     * both in the plane. */
    int8_t edge[3];
} kiln_crossing;

/* The segment may be a point and the triangle flat: then a common point is COPLANAR. */
kiln_crossing kiln_segment_cross_triangle(kiln_vec3 p, kiln_vec3 q, const kiln_vec3 triangle[3]);

/* Do the closed segments ab and cd (points allowed) have a common point? */
bool kiln_segments_meet(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d);

/* Sign of orient2d after dropping the coordinate `axis` (cyclic order of the other two). */
int kiln_orient2d_along(int axis, kiln_vec3 a, kiln_vec3 b, kiln_vec3 c);

/* An axis along which the triangle projects to a triangle with an inside, and the sign of its
 * turn there; -1 when the triangle is flat. */
int kiln_triangle_axis(const kiln_vec3 triangle[3], int *turn);

#endif
