/* Closest points between points, edges, triangles and tets.
 *
 * Features are masks of vertices: bit i is set when vertex i of the element carries the closest
 * point, so 1, 2, 4 are vertices, 3, 5, 6 edges, 7 the inside of a triangle, 15 the inside of a
 * tet. Weights are barycentric, >= 0, sum to 1 up to rounding, and are zero outside the mask.
 *
 * Every answer is a pair of points of the two sets, found by comparing all candidates, so the
 * distance is never below the true one by more than rounding; degenerate elements (zero-length
 * edges, flat triangles and tets) are answered by their parts. Only differences of coordinates
 * enter: exact shifts keep the bits, powers of two scale exactly. */
#ifndef KILN_GEOM_DISTANCE_H
#define KILN_GEOM_DISTANCE_H

#include "geom/vec3.h"

/* The point of one element that is closest to a given point. */
typedef struct kiln_closest_point {
    double distance2;
    unsigned feature;
    double weight[4]; /* of the element's vertices; unused ones zero */
    kiln_vec3 offset; /* from the closest point to the given point */
} kiln_closest_point;

/* Closest points of two elements. */
typedef struct kiln_closest_pair {
    double distance2;
    unsigned feature_a, feature_b;
    double weight_a[3], weight_b[3];
    kiln_vec3 offset; /* from b's point to a's point */
} kiln_closest_pair;

double kiln_distance2_points(kiln_vec3 a, kiln_vec3 b);
kiln_closest_point kiln_closest_on_edge(kiln_vec3 p, const kiln_vec3 edge[2]);
kiln_closest_point kiln_closest_on_triangle(kiln_vec3 p, const kiln_vec3 triangle[3]);

/* Of |u x v|^2 / |u|^2 |v|^2 of two edges: below it their normal is mostly rounding, and quick
 * answers are not to be had. */
#define KILN_DISTANCE_NEEDLE 1e-8

/* The squared distance alone, quickly, for searches: right to about 1e-13 of the squares of the
 * lengths involved, so ask the slow ones about what is found. */
double kiln_triangle_distance2(kiln_vec3 p, const kiln_vec3 triangle[3]);

double kiln_edges_distance2(const kiln_vec3 a[2], const kiln_vec3 b[2]); /* likewise */

/* Distance 0 and feature 15 inside, in a tet of either orientation. */
kiln_closest_point kiln_closest_on_tet(kiln_vec3 p, const kiln_vec3 tet[4]);

/* Edges count as parallel when |u x v|^2 < 2.5e-16 |u|^2 |v|^2; then at least one of the two
 * features is a vertex, never inside against inside. */
kiln_closest_pair kiln_closest_edges(const kiln_vec3 a[2], const kiln_vec3 b[2]);

/* Distance 0 when they intersect: then one feature is an edge (or vertex) that passes through the
 * other triangle. Decided by rounded arithmetic; use the exact test where the answer is topology.
 */
kiln_closest_pair kiln_closest_triangles(const kiln_vec3 a[3], const kiln_vec3 b[3]);

#endif
