/* The sums of DLR eq. 7 over the pairs of tets that share a vertex, batched: every pair once.
 *
 * Eq. 7 asks for the largest singular value of F_s F_t^-1 or of its inverse, whichever is larger.
 * The squares of the singular values are the eigenvalues of C_s C_t^-1 with C = F'F, that is 1 plus
 * those of E = (C_s - C_t) C_t^-1, which is free of cancellation where the two are nearly the same.
 * Swapping the tets gives the inverse, so one evaluation serves both. */
#ifndef KILN_REMESH_SIZING_STRAIN_H
#define KILN_REMESH_SIZING_STRAIN_H

#include "base/simd.h"
#include "mesh/mesh.h"

/* What a tet brings to its pairs: symmetric matrices as xx, yy, zz, yz, xz, xy. */
typedef struct kiln_strain_tet {
    double c[6], inverse[6]; /* of c */
    double centre[3];
    double det, over_det; /* of c */
    double clearance;     /* from the centre to the nearest face */
} kiln_strain_tet;

/* Sum over tets t of (distortion - taken_off) d d' / |d|^3, d between the centres, and how many
 * tets that were. Pairs with a distortion above 1e6, or none that is a number, count but add
 * nothing: matter squashed flat says nothing about sizes. */
typedef struct kiln_strain_sum {
    double m[6], count;
} kiln_strain_sum;

/* Numbers of scratch for a star of that many tets. */
KILN_INLINE size_t kiln_strain_scratch(size_t star)
{
    return 28 * (star + star / 2 + 16) + 32 * (star / 2 + 1);
}

/* The pairs of tets in the star of a vertex that share no lower one, which then count there:
 * sums[4 * tet + corner] of the corners at the vertex is set. Distortions are within 1e-8 of
 * themselves, and of their difference from 1 down to 1e-7. */
void kiln_strain_star(kiln_isa isa, const kiln_strain_tet *tets, const kiln_tet *records,
                      uint32_t vertex, const uint32_t *star, uint32_t count, double taken_off,
                      double *scratch, kiln_strain_sum *sums);

KILN_SIMD_DECLARE(void, kiln_strain_star, const kiln_strain_tet *tets, const kiln_tet *records,
                  uint32_t vertex, const uint32_t *star, uint32_t count, double taken_off,
                  double *scratch, kiln_strain_sum *sums);

#endif
