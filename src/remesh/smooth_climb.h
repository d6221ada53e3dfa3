/* Climbing the least of several functions (Freitag, Jones, Plassmann 1995), or their sum. */
#ifndef KILN_REMESH_SMOOTH_CLIMB_H
#define KILN_REMESH_SMOOTH_CLIMB_H

#include "remesh/smooth_star.h"

/* Where the vertex of a star record may move, in its coordinates. */
typedef struct kiln_star_freedom {
    int dimension;  /* 3: anywhere, 2: in the plane normal to the axis, 1: along it */
    kiln_vec3 axis; /* unit length */
} kiln_star_freedom;

/* The point of least norm in the convex hull of the points: the direction of steepest ascent of the
 * least of functions with these gradients. Zero where the origin is inside. */
kiln_vec3 kiln_least_norm(const kiln_vec3 *point, size_t count);

/* Moves *x to raise the least value of the star's functions until it reaches `target` or gains no
 * more; returns that value, which is never below the one at the start. */
double kiln_star_climb(kiln_star_record *star, const kiln_star_freedom *freedom, double target,
                       kiln_vec3 *x);

/* Moves *x to raise the sum of the values while none falls to `floor`; returns the least value
 * there. */
double kiln_star_climb_sum(kiln_star_record *star, const kiln_star_freedom *freedom, double floor,
                           kiln_vec3 *x);

#endif
