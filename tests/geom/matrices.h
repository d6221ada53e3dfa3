/* Random 3x3 matrices of every kind the decompositions must survive, and the errors they are judged
 * by, evaluated in long double so that the yardstick does not add to what it measures. */
#ifndef KILN_TESTS_GEOM_MATRICES_H
#define KILN_TESTS_GEOM_MATRICES_H

#include "base/random.h"
#include "geom/vec3.h"

#include <float.h>

enum { KILN_TEST_MATRIX_KINDS = 14 };

KILN_INLINE kiln_mat3 kiln_test_random_matrix(kiln_random *r)
{
    kiln_mat3 a;
    for (int i = 0; i < 9; i++)
        a.m[i / 3][i % 3] = kiln_random_range(r, -1.0, 1.0);
    return a;
}

KILN_INLINE kiln_mat3 kiln_test_random_rotation(kiln_random *r)
{
    double q[4], n = 0.0;
    do {
        n = 0.0;
        for (int i = 0; i < 4; i++) {
            q[i] = kiln_random_range(r, -1.0, 1.0);
            n += q[i] * q[i];
        }
    } while (n < 0.01 || n > 1.0);
    double w = q[0], x = q[1], y = q[2], z = q[3], f = 2.0 / n;
    return (kiln_mat3){{{1 - f * (y * y + z * z), f * (x * y - w * z), f * (x * z + w * y)},
                        {f * (x * y + w * z), 1 - f * (x * x + z * z), f * (y * z - w * x)},
                        {f * (x * z - w * y), f * (y * z + w * x), 1 - f * (x * x + y * y)}}};
}

/* 10^x, x uniform in [low, high]. */
KILN_INLINE double kiln_test_random_scale(kiln_random *r, double low, double high)
{
    return pow(10.0, kiln_random_range(r, low, high));
}

/* R diag(a, b, c) Q with random rotations. */
KILN_INLINE kiln_mat3 kiln_test_compose(kiln_random *r, double a, double b, double c)
{
    kiln_mat3 left = kiln_test_random_rotation(r), right = kiln_test_random_rotation(r);
    return kiln_m3_mul(left, kiln_m3_mul(kiln_m3_diagonal(a, b, c), right));
}

KILN_INLINE kiln_mat3 kiln_test_outer(kiln_random *r)
{
    kiln_mat3 a, b = kiln_test_random_matrix(r);
    for (int i = 0; i < 9; i++)
        a.m[i / 3][i % 3] = b.m[0][i / 3] * b.m[1][i % 3];
    return a;
}

KILN_INLINE kiln_mat3 kiln_test_sparse_matrix(kiln_random *r)
{
    kiln_mat3 a = {{{0}}};
    for (int i = 0; i < 9; i++)
        if (kiln_random_below(r, 3) == 0)
            a.m[i / 3][i % 3] = kiln_test_random_scale(r, -150, 150);
    return a;
}

KILN_INLINE kiln_mat3 kiln_test_integer_matrix(kiln_random *r)
{
    kiln_mat3 a;
    for (int i = 0; i < 9; i++)
        a.m[i / 3][i % 3] = (double)kiln_random_below(r, 5) - 2.0;
    return a;
}

KILN_INLINE kiln_mat3 kiln_test_matrix(kiln_random *r, int kind)
{
    kiln_mat3 e = kiln_m3_scale(kiln_test_random_matrix(r), kiln_test_random_scale(r, -20, 0));
    double s = kiln_random_range(r, 0.1, 2.0);
    switch (kind) {
    case 0:
        return kiln_test_random_matrix(r);
    case 1: /* near the identity: what a time step sees */
        return kiln_m3_add(kiln_m3_identity(), e);
    case 2: /* wide spectra */
        return kiln_test_compose(r, 1.0, kiln_test_random_scale(r, -20, 0),
                                 kiln_test_random_scale(r, -20, 0));
    case 3: /* rotations and their neighbours: three equal values */
        return kiln_m3_add(kiln_test_random_rotation(r), e);
    case 4: /* reflected */
        return kiln_m3_add(kiln_m3_scale(kiln_test_random_rotation(r), -s), e);
    case 5: /* two equal large ones, the third of either sign */
        return kiln_m3_add(kiln_test_compose(r, 1.0, 1.0, kiln_random_range(r, -1.0, 1.0)), e);
    case 6: /* two equal small ones */
        return kiln_test_compose(r, 1.0, s * 1e-8, -s * 1e-8);
    case 7: /* rank one, exact and nearly */
        return kiln_m3_add(kiln_test_outer(r), kiln_random_below(r, 2) ? e : (kiln_mat3){{{0}}});
    case 8: /* rank two */
        return kiln_m3_add(kiln_test_outer(r), kiln_test_outer(r));
    case 9: /* exact degeneracies of every sort */
        return kiln_test_integer_matrix(r);
    case 10:
        return kiln_m3_diagonal(s, kiln_random_range(r, -1, 1), kiln_test_random_scale(r, -30, 0));
    case 11:
        return kiln_test_sparse_matrix(r);
    case 12: /* huge and tiny */
        return kiln_m3_scale(kiln_test_random_matrix(r), kiln_test_random_scale(r, -300, 300));
    default: /* Jordan block and neighbours */
        return kiln_m3_add((kiln_mat3){{{s, 1, 0}, {0, s, 1}, {0, 0, s}}}, e);
    }
}

/* Frobenius norm of V'V - I. */
KILN_INLINE double kiln_test_orthogonality(const kiln_mat3 *v)
{
    long double sum = 0.0L;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            long double d = i == j ? -1.0L : 0.0L;
            for (int k = 0; k < 3; k++)
                d += (long double)v->m[k][i] * v->m[k][j];
            sum += d * d;
        }
    return (double)sqrtl(sum);
}

/* Frobenius norm of U diag(s) V' - A over that of A (over the smallest denormal when A is zero). */
KILN_INLINE double kiln_test_reconstruction(const kiln_mat3 *u, const double s[3],
                                            const kiln_mat3 *v, const kiln_mat3 *a)
{
    long double sum = 0.0L, norm = 0.0L;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            long double d = -(long double)a->m[i][j];
            norm += d * d;
            for (int k = 0; k < 3; k++)
                d += (long double)u->m[i][k] * s[k] * v->m[j][k];
            sum += d * d;
        }
    return (double)(sqrtl(sum) / (norm > 0.0L ? sqrtl(norm) : (long double)DBL_TRUE_MIN));
}

#endif
