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
    uint32_t rounds;             /* of the last climb */
} kiln_star_record;

/* That many tets rounded up to whole blocks. */
KILN_INLINE size_t kiln_star_room(size_t tets)
{
    return (tets + KILN_STAR_LANES - 1) / KILN_STAR_LANES * KILN_STAR_LANES;
}

/* Bytes of memory for a star of that many tets, and the record laid out in it. */
size_t kiln_star_record_bytes(kiln_measure measure, size_t tets);
kiln_star_record kiln_star_record_in(void *memory, kiln_isa isa, kiln_measure measure, size_t tets);

/* The frame of a record: its coordinates are (map (p - origin)) / unit. */
typedef struct kiln_star_frame {
    kiln_vec3 origin;
    double unit;
    const double *map; /* xx, xy, xz, yy, yz, zz of an upper triangular matrix; NULL: identity */
} kiln_star_frame;

/* Tet number i has the corners (x, y0, y1, y2), in positive order, at corner[3 i ..] of the points.
 * The list has room for whole blocks and is padded. */
void kiln_star_record_fill(kiln_star_record *star, const kiln_star_frame *frame,
                           const kiln_vec3 **corner);

/* Values of all functions with the vertex at x; the least is returned. */
double kiln_star_values(kiln_star_record *star, kiln_vec3 x);
/* And gradients. */
double kiln_star_gradients(kiln_star_record *star, kiln_vec3 x);

/* Of the values and gradients last computed: the functions not above a limit, at most `room` (the
 * number may exceed it); and how far along d the first of those at least `apart` above the worst,
 * which rises by `rate`, becomes the worst. */
size_t kiln_star_below(const kiln_star_record *star, double limit, uint32_t *index, size_t room);
double kiln_star_first_crossing(const kiln_star_record *star, kiln_vec3 d, double worst,
                                double rate, double apart);

KILN_SIMD_DECLARE(void, kiln_star_fill, kiln_star_block *block, size_t blocks,
                  const kiln_star_frame *frame, const kiln_vec3 *const *corner);
KILN_SIMD_DECLARE(double, kiln_star_values, const kiln_star_block *block, size_t blocks,
                  kiln_measure measure, const double x[3], double *value);
KILN_SIMD_DECLARE(double, kiln_star_gradients, const kiln_star_block *block, size_t blocks,
                  kiln_measure measure, const double x[3], double *value,
                  double *const gradient[3]);
KILN_SIMD_DECLARE(size_t, kiln_star_below, const double *value, size_t functions, double limit,
                  uint32_t *index, size_t room);
KILN_SIMD_DECLARE(double, kiln_star_first_crossing, const double *value, double *const gradient[3],
                  size_t functions, const double d[3], double worst, double rate, double apart);

#endif
