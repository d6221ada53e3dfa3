#include "geom/sym3.h"

#include "geom/jacobi3.h"
#include "geom/svd3.h"

static void swap_columns(kiln_eigen3 *e, int p, int q)
{
    if (e->values[p] >= e->values[q])
        return;
    double value = e->values[p];
    e->values[p] = e->values[q];
    e->values[q] = value;
    for (int i = 0; i < 3; i++) {
        double x = e->vectors.m[i][p]; /* one sign turned: the determinant stays */
        e->vectors.m[i][p] = e->vectors.m[i][q];
        e->vectors.m[i][q] = -x;
    }
}

kiln_eigen3 kiln_sym3_eigen(kiln_sym3 a)
{
    double entries[6] = {a.xx, a.yy, a.zz, a.yz, a.xz, a.xy}, top = 0.0, norm = 0.0, scale, inverse;
    for (int i = 0; i < 6; i++) {
        double x = fabs(entries[i]);
        top = x > top ? x : top;
    }
    kiln_jacobi3_binade(top, &scale, &inverse);
    kiln_jacobi3 j = {.v = kiln_m3_identity()};
    for (int i = 0; i < 3; i++) {
        j.d[i] = entries[i] * scale;
        j.o[i] = entries[3 + i] * scale;
        norm += fabs(j.d[i]) + fabs(j.o[i]);
    }
    kiln_jacobi3_run(&j, 0x1p-58 * norm);
    kiln_jacobi3_polish(&j.v);
    kiln_eigen3 e = {{j.d[0] * inverse, j.d[1] * inverse, j.d[2] * inverse}, j.v};
    swap_columns(&e, 0, 1);
    swap_columns(&e, 0, 2);
    swap_columns(&e, 1, 2);
    return e;
}

kiln_sym3 kiln_sym3_compose(const double values[3], const kiln_mat3 *vectors)
{
    double r[6];
    static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
    for (int i = 0; i < 6; i++) {
        const double *p = vectors->m[row[i]], *q = vectors->m[column[i]];
        r[i] = values[0] * p[0] * q[0] + values[1] * p[1] * q[1] + values[2] * p[2] * q[2];
    }
    return (kiln_sym3){r[0], r[1], r[2], r[3], r[4], r[5]};
}

/* v'Av / v'v for column k, in extended precision: for an eigenvector good to eps it is the
 * eigenvalue to the last bit. */
static double rayleigh(const kiln_mat3 *a, const kiln_mat3 *vectors, int k)
{
    long double above = 0.0L, below = 0.0L;
    for (int i = 0; i < 3; i++) {
        long double row = 0.0L, v = vectors->m[i][k];
        for (int j = 0; j < 3; j++)
            row += (long double)a->m[i][j] * vectors->m[j][k];
        above += row * v;
        below += v * v;
    }
    return (double)(above / below);
}

/* An error of eps |A| in the exponent is a relative error of the result, so plain eigenvalues would
 * lose a digit at |A| = 30, the logarithm of a condition number of 1e12. */
kiln_sym3 kiln_sym3_exp(kiln_sym3 a)
{
    kiln_eigen3 e = kiln_sym3_eigen(a);
    kiln_mat3 m = kiln_sym3_to_mat3(a);
    for (int i = 0; i < 3; i++)
        e.values[i] = exp(rayleigh(&m, &e.vectors, i));
    return kiln_sym3_compose(e.values, &e.vectors);
}

kiln_sym3 kiln_sym3_sqrt(kiln_sym3 a)
{
    kiln_eigen3 e = kiln_sym3_eigen(a);
    for (int i = 0; i < 3; i++)
        e.values[i] = e.values[i] > 0.0 ? sqrt(e.values[i]) : 0.0;
    return kiln_sym3_compose(e.values, &e.vectors);
}

/* Decomposition of a positive definite matrix, rounding noise lifted to 2^-53 of its norm. */
static kiln_eigen3 eigen_positive(kiln_sym3 a)
{
    kiln_eigen3 e = kiln_sym3_eigen(a);
    double least = 0x1p-53 * e.values[0];
    for (int i = 1; i < 3; i++)
        e.values[i] = e.values[i] > least ? e.values[i] : least;
    return e;
}

/* log A = top I + log(A / top): the leading direction, which exp magnifies most, is then free of
 * the rounding of the others. */
kiln_sym3 kiln_sym3_log(kiln_sym3 a)
{
    kiln_eigen3 e = eigen_positive(a);
    double top = log(e.values[0]);
    double below[3] = {0.0, log(e.values[1] / e.values[0]), log(e.values[2] / e.values[0])};
    return kiln_sym3_madd(kiln_sym3_compose(below, &e.vectors), top, kiln_sym3_identity());
}

kiln_polar3 kiln_polar3_decompose(kiln_mat3 a)
{
    kiln_svd3 d = kiln_svd3_decompose(a);
    kiln_mat3 rotation = kiln_m3_mul(d.u, kiln_m3_transpose(d.v));
    kiln_jacobi3_polish(&rotation);
    return (kiln_polar3){rotation, kiln_sym3_compose(d.s, &d.v), kiln_sym3_compose(d.s, &d.u)};
}
