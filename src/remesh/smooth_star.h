/* The star of one vertex, prepared for trying places of it: what does not depend on the place is
 * kept, so a trial costs three edges a tet. Coordinates are relative to where the vertex is and in
 * units of the mean edge (mapped by the metric, if there is one), so that steps and tolerances mean
 * the same at every scale.
 *
 * With x the vertex, y_j the other corners, N the area vector of the face opposite it (twice the
 * area, towards x): det = 6 V = N . x - c; S1, S2 the sums of 1 / l and l^2 over the six edges;
 *     q = 216 sqrt(2) det / (S1 S2^2),
 *     grad q = 216 sqrt(2) N / (S1 S2^2) - q (grad S1 / S1 + 2 grad S2 / S2),
 *     grad S1 = -sum (x - y_j) / l_j^3, grad S2 = 2 sum (x - y_j),
 * valid at V = 0 as well. V / l_rms^3 likewise; the sines are six functions a tet. */
#ifndef KILN_REMESH_SMOOTH_STAR_H
#define KILN_REMESH_SMOOTH_STAR_H

#include "base/simd.h"
#include "geom/tet_quality.h"

#include <stddef.h>

enum { KILN_STAR_LANES = 8 };

typedef struct kiln_star_block {
    double y[3][3][KILN_STAR_LANES]; /* corner, coordinate */
    double n[3][KILN_STAR_LANES], c[KILN_STAR_LANES];
    double s1[KILN_STAR_LANES], s2[KILN_STAR_LANES]; /* of the three edges that stay */
} kiln_star_block;

typedef struct kiln_star_record {
    kiln_measure measure;
    kiln_isa isa;
    size_t tets, functions;      /* functions: tets, or 6 * tets for sines */
    kiln_star_block *block;      /* unused lanes repeat a tet */
    double *value, *gradient[3]; /* [functions], padded to whole blocks */
} kiln_star_record;

/* Bytes of memory for a star of that many tets, and the record laid out in it. */
size_t kiln_star_record_bytes(kiln_measure measure, size_t tets);
kiln_star_record kiln_star_record_in(void *memory, kiln_isa isa, kiln_measure measure, size_t tets);

/* Tet number i, of corners (x, y0, y1, y2) in positive order. */
void kiln_star_record_set(kiln_star_record *star, size_t i, kiln_vec3 y0, kiln_vec3 y1,
                          kiln_vec3 y2);
void kiln_star_record_pad(kiln_star_record *star);

/* Values of all functions with the vertex at x; the least is returned. */
double kiln_star_values(kiln_star_record *star, kiln_vec3 x);
/* And gradients. */
double kiln_star_gradients(kiln_star_record *star, kiln_vec3 x);

KILN_SIMD_DECLARE(double, kiln_star_values, const kiln_star_block *block, size_t blocks,
                  kiln_measure measure, const double x[3], double *value);
KILN_SIMD_DECLARE(double, kiln_star_gradients, const kiln_star_block *block, size_t blocks,
                  kiln_measure measure, const double x[3], double *value,
                  double *const gradient[3]);

#endif
