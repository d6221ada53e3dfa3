/* Cyclic Jacobi iteration on a symmetric 3x3 matrix: what the eigen-decomposition and the SVD have
 * in common. */
#ifndef KILN_GEOM_JACOBI3_H
#define KILN_GEOM_JACOBI3_H

#include "geom/vec3.h"

#include <stdint.h>
#include <string.h>

/* d[3] is the diagonal of S, o[k] its off-diagonal entry in the row and column that are not k. */
typedef struct kiln_jacobi3 {
    double d[3], o[3];
    kiln_mat3 v;
} kiln_jacobi3;

/* Unit vector (c, s) at half the angle of (|x|, y sign x), at most 45 degrees; *length = |(x, y)|.
 */
KILN_INLINE void kiln_jacobi3_half(double x, double y, double *c, double *s, double *length)
{
    double ax = fabs(x), h = sqrt(x * x + y * y), a = ax + h;
    double r = 1.0 / sqrt(a * a + y * y);
    *c = a * r;
    *s = x < 0.0 ? -(y * r) : y * r;
    *length = h;
}

KILN_INLINE void kiln_jacobi3_rotate(kiln_jacobi3 *j, int p, int q, double negligible)
{
    int k = 3 - p - q;
    if (fabs(j->o[k]) <= negligible)
        return;
    double x = j->d[p] - j->d[q], y = 2.0 * j->o[k], c, s, h;
    kiln_jacobi3_half(x, y, &c, &s, &h);
    double gain = 0.5 * (h - fabs(x));
    gain = x < 0.0 ? -gain : gain;
    j->d[p] += gain;
    j->d[q] -= gain;
    j->o[k] = 0.0;
    double kp = j->o[q], kq = j->o[p];
    j->o[q] = c * kp + s * kq;
    j->o[p] = c * kq - s * kp;
    for (int i = 0; i < 3; i++) {
        double vp = j->v.m[i][p], vq = j->v.m[i][q];
        j->v.m[i][p] = c * vp + s * vq;
        j->v.m[i][q] = c * vq - s * vp;
    }
}

/* Diagonalises S (entries of order one) to `negligible` off the diagonal and below; V must come in
 * as a rotation and stays one. Convergence is cubic at the end: the bound of 12 sweeps is never
 * reached by a finite matrix. */
KILN_INLINE void kiln_jacobi3_run(kiln_jacobi3 *j, double negligible)
{
    for (int sweep = 0; sweep < 12; sweep++) {
        if (fabs(j->o[0]) <= negligible && fabs(j->o[1]) <= negligible &&
            fabs(j->o[2]) <= negligible)
            return;
        kiln_jacobi3_rotate(j, 0, 1, negligible);
        kiln_jacobi3_rotate(j, 0, 2, negligible);
        kiln_jacobi3_rotate(j, 1, 2, negligible);
    }
}

/* One Newton step to the nearest rotation, V += V (I - V'V) / 2: takes back the drift. */
KILN_INLINE void kiln_jacobi3_polish(kiln_mat3 *v)
{
    double e[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            e[i][j] = e[j][i] = 0.5 * ((i == j ? 1.0 : 0.0) - v->m[0][i] * v->m[0][j] -
                                       v->m[1][i] * v->m[1][j] - v->m[2][i] * v->m[2][j]);
    for (int i = 0; i < 3; i++) {
        double a = v->m[i][0], b = v->m[i][1], c = v->m[i][2];
        for (int j = 0; j < 3; j++)
            v->m[i][j] += a * e[0][j] + b * e[1][j] + c * e[2][j];
    }
}

/* Power of two that brings `top` (the largest entry, finite) to [1, 4), and its inverse; scaling by
 * it is exact. Zero and denormal numbers get the largest scale there is. Works on the exponent
 * bits: frexp and ldexp would cost a tenth of the whole decomposition. */
KILN_INLINE void kiln_jacobi3_binade(double top, double *scale, double *inverse)
{
    uint64_t e, low = UINT64_C(1) << 52, high = UINT64_C(2045) << 52;
    memcpy(&e, &top, sizeof e);
    e &= UINT64_C(2047) << 52;
    e = e < low ? low : e > high ? high : e;
    memcpy(inverse, &e, sizeof e);
    e = (UINT64_C(2046) << 52) - e;
    memcpy(scale, &e, sizeof e);
}

#endif
