/* Convex clipping of tetrahedra: overlap of two tets with its moments, a tet cut by half-spaces,
 * and the section of a tet by a plane.
 *
 * Nothing here decides topology. Everything is computed from coordinate differences, so results
 * keep their bits under shifts that are exact and scale exactly by powers of two. Errors of volumes
 * are of the order of rounding times the larger size times the square of the smaller, also for
 * coincident and coplanar faces. */
#ifndef KILN_GEOM_TET_CLIP_H
#define KILN_GEOM_TET_CLIP_H

#include "base/simd.h"
#include "geom/vec3.h"

#include <stdbool.h>
#include <stdint.h>

/* Integrals over a body of 1, y = x - origin, and y y^T (xx, yy, zz, yz, xz, xy). The caller
 * chooses the origin; a point near the body keeps the digits. */
typedef struct kiln_moments {
    double volume;
    kiln_vec3 first;
    double second[6];
} kiln_moments;

/* What to compute; the rest of kiln_moments is left zero. */
typedef enum kiln_moment_degree {
    KILN_MOMENT_VOLUME,
    KILN_MOMENT_FIRST,
    KILN_MOMENT_SECOND
} kiln_moment_degree;

/* A polyhedron under repeated clipping. Each edge runs `from` -> `to` counterclockwise around face
 * `left` and clockwise around face `right`, seen from outside. Vertices that clipping removed stay
 * in the arrays, no edge names them. Coordinates are relative to `base`. Faces 0..3 of a tet lie
 * opposite its vertices (after its last two were swapped if it was negative); each effective cut
 * adds one. */
enum { KILN_CONVEX_VERTICES = 128, KILN_CONVEX_EDGES = 192, KILN_CONVEX_FACES = 48 };
typedef struct kiln_convex_edge {
    uint8_t from, to, left, right;
} kiln_convex_edge;
typedef struct kiln_convex {
    kiln_vec3 base;
    int vertices, edges, faces;
    kiln_convex_edge edge[KILN_CONVEX_EDGES];
    double x[KILN_CONVEX_VERTICES], y[KILN_CONVEX_VERTICES], z[KILN_CONVEX_VERTICES];
} kiln_convex;

/* The tet as a polyhedron; without edges (empty) when its volume is zero. */
void kiln_convex_from_tet(kiln_convex *body, const kiln_vec3 tet[4]);

/* Keeps what satisfies normal . (x - point) >= 0; the normal need not have length one. False, and
 * the body unchanged, when the tables are too small: never within the first four cuts of a tet. */
bool kiln_convex_clip(kiln_convex *body, kiln_vec3 point, kiln_vec3 normal);

kiln_moments kiln_convex_moments(const kiln_convex *body, kiln_vec3 origin,
                                 kiln_moment_degree degree);

/* Corners of one face, counterclockwise from outside; at most `capacity` are written. Returns how
 * many there are (0: no such face). A cap that rounding split in two gives one of its parts. */
int kiln_convex_face(const kiln_convex *body, int face, kiln_vec3 *corners, int capacity);

/* Moments of a tet of either orientation, volume >= 0. */
kiln_moments kiln_tet_moments(const kiln_vec3 tet[4], kiln_vec3 origin, kiln_moment_degree degree);

/* Volume of the common part of two tets of any orientation. A tet whose volume is below the
 * rounding error of computing it overlaps nothing. Never above the smaller of the two volumes
 * (each as kiln_tet_moments gives it). */
double kiln_tet_overlap(const kiln_vec3 a[4], const kiln_vec3 b[4]);
kiln_moments kiln_tet_overlap_moments(const kiln_vec3 a[4], const kiln_vec3 b[4], kiln_vec3 origin,
                                      kiln_moment_degree degree);

/* A tet made ready for overlaps with many others: relative to its first corner, and positive. */
typedef struct kiln_clip_tet {
    kiln_vec3 base;
    double x[4], y[4], z[4];
    double det;                            /* 6 volumes; 0: flat */
    double nx[4], ny[4], nz[4], offset[4]; /* planes of the faces, inside: n . x >= offset */
} kiln_clip_tet;
void kiln_clip_tet_init(kiln_clip_tet *t, const kiln_vec3 tet[4]);

/* Whether a plane of one of the two has all of the other outside: then they do not overlap. Quick,
 * and most pairs whose boxes meet end here. */
KILN_SIMD_DECLARE(bool, kiln_clip_apart, const kiln_clip_tet *a, const kiln_clip_tet *b);
bool kiln_clip_apart(kiln_isa isa, const kiln_clip_tet *a, const kiln_clip_tet *b);

/* As kiln_tet_overlap_moments. */
kiln_moments kiln_clip_overlap(const kiln_clip_tet *a, const kiln_clip_tet *b, kiln_vec3 origin,
                               kiln_moment_degree degree);

/* The part of a tet with normal . (x - point) >= 0. */
kiln_moments kiln_tet_half_moments(const kiln_vec3 tet[4], kiln_vec3 point, kiln_vec3 normal,
                                   kiln_vec3 origin, kiln_moment_degree degree);

/* One corner of a plane section: on the edge from vertex `from` (distance >= 0) to vertex `to`
 * (distance < 0), at from + t (to - from), 0 <= t < 1. */
typedef struct kiln_tet_cut {
    uint8_t from, to;
    double t;
} kiln_tet_cut;

/* Section of a positive tet by the zero level of a function linear on it, given at its vertices.
 * 0, 3 or 4 corners, counterclockwise seen from the negative side. */
int kiln_tet_section(const double distance[4], kiln_tet_cut cut[4]);

#endif
