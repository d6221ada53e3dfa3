/* Signed singular value decomposition of 3x3 matrices. */
#ifndef KILN_GEOM_SVD3_H
#define KILN_GEOM_SVD3_H

#include "base/simd.h"
#include "geom/vec3.h"

#include <stddef.h>

/* A = U diag(s) V' with det U = det V = +1 and s[0] >= s[1] >= |s[2]|: the sign of det A sits on
 * the smallest value, so an inverted tet has s[2] < 0. */
typedef struct kiln_svd3 {
    kiln_mat3 u;
    double s[3];
    kiln_mat3 v;
} kiln_svd3;

/* Any finite matrix: rank 0 to 3, repeated values, entries of any magnitude. Reconstruction
 * (relative to the Frobenius norm of A) and orthogonality of U and V are within 4e-15. Values below
 * 1e-140 s[0] may come out as zero. */
kiln_svd3 kiln_svd3_decompose(kiln_mat3 a);

/* `count` matrices in structure of arrays: component k (row-major) of matrix i at a[k * stride +
 * i], likewise u, v (9 components) and s (3); stride >= count. Same contract; bits may differ from
 * the scalar function and between instruction sets, but not with the place of a matrix in the
 * batch. */
void kiln_svd3_decompose_batch(kiln_isa isa, size_t count, size_t stride, const double *a,
                               double *u, double *s, double *v);

KILN_SIMD_DECLARE(void, kiln_svd3_batch, size_t count, size_t stride, const double *a, double *u,
                  double *s, double *v);

#endif
