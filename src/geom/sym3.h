/* Symmetric 3x3 matrices: eigenvalues, functions of a matrix, and the polar decomposition. */
#ifndef KILN_GEOM_SYM3_H
#define KILN_GEOM_SYM3_H

#include "geom/vec3.h"

/* Voigt order, as stress and strain are written. */
typedef struct kiln_sym3 {
    double xx, yy, zz, yz, xz, xy;
} kiln_sym3;

KILN_INLINE kiln_sym3 kiln_sym3_identity(void)
{
    return (kiln_sym3){1, 1, 1, 0, 0, 0};
}
/* Symmetric part of a. */
KILN_INLINE kiln_sym3 kiln_sym3_from_mat3(kiln_mat3 a)
{
    return (kiln_sym3){a.m[0][0],
                       a.m[1][1],
                       a.m[2][2],
                       0.5 * (a.m[1][2] + a.m[2][1]),
                       0.5 * (a.m[0][2] + a.m[2][0]),
                       0.5 * (a.m[0][1] + a.m[1][0])};
}
KILN_INLINE kiln_mat3 kiln_sym3_to_mat3(kiln_sym3 a)
{
    return (kiln_mat3){{{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}}};
}
KILN_INLINE kiln_sym3 kiln_sym3_scale(kiln_sym3 a, double s)
{
    return (kiln_sym3){a.xx * s, a.yy * s, a.zz * s, a.yz * s, a.xz * s, a.xy * s};
}
/* a + s b */
KILN_INLINE kiln_sym3 kiln_sym3_madd(kiln_sym3 a, double s, kiln_sym3 b)
{
    return (kiln_sym3){a.xx + s * b.xx, a.yy + s * b.yy, a.zz + s * b.zz,
                       a.yz + s * b.yz, a.xz + s * b.xz, a.xy + s * b.xy};
}
KILN_INLINE kiln_vec3 kiln_sym3_apply(kiln_sym3 a, kiln_vec3 v)
{
    return kiln_v3(a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
                   a.xz * v.x + a.yz * v.y + a.zz * v.z);
}
KILN_INLINE double kiln_sym3_det(kiln_sym3 a)
{
    return a.xx * (a.yy * a.zz - a.yz * a.yz) - a.xy * (a.xy * a.zz - a.yz * a.xz) +
           a.xz * (a.xy * a.yz - a.yy * a.xz);
}

/* A = V diag(values) V', values[0] >= values[1] >= values[2], det V = +1; reconstruction (relative
 * to the Frobenius norm) and orthogonality within 4e-15 for any finite A. Eigenvectors of equal
 * values are some orthonormal basis of their space. */
typedef struct kiln_eigen3 {
    double values[3];
    kiln_mat3 vectors; /* columns */
} kiln_eigen3;
kiln_eigen3 kiln_sym3_eigen(kiln_sym3 a);

/* V diag(values) V' for orthogonal V. */
kiln_sym3 kiln_sym3_compose(const double values[3], const kiln_mat3 *vectors);

/* Any finite symmetric A; overflows where exp of its largest eigenvalue does. */
kiln_sym3 kiln_sym3_exp(kiln_sym3 a);
/* A positive semidefinite: eigenvalues that rounding made negative count as zero. */
kiln_sym3 kiln_sym3_sqrt(kiln_sym3 a);
/* A positive definite. Eigenvalues below 2^-53 of the largest are beyond what a double matrix
 * tells and count as that, so the result is finite for every A with a positive eigenvalue. */
kiln_sym3 kiln_sym3_log(kiln_sym3 a);

/* A = rotation * right = left * rotation, det(rotation) = +1 also where det A <= 0: then one
 * eigenvalue of the stretches is negative (or zero). */
typedef struct kiln_polar3 {
    kiln_mat3 rotation;
    kiln_sym3 right, left;
} kiln_polar3;
kiln_polar3 kiln_polar3_decompose(kiln_mat3 a);

#endif
