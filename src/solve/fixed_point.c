#include "solve/fixed_point.h"

#include <math.h>
#include <string.h>

enum { DEPTH = KILN_FIXED_POINT_DEPTH };
/* Of the mean square of the changes of residuals: below it they do not count as independent. */
#define LEAST 1e-14

void kiln_fixed_point_free(kiln_fixed_point *point, kiln_context *context)
{
    kiln_array_free(context, &point->past);
}

kiln_status kiln_fixed_point_begin(kiln_fixed_point *point, kiln_context *context, size_t size,
                                   kiln_error *error)
{
    point->size = size;
    point->evaluations = 0;
    return kiln_array_reserve(context, &point->past, (2 + 2 * DEPTH) * size, error);
}

/* Changes of x and of the residual, i of the ring. */
static double *x_change(const kiln_fixed_point *p, int i)
{
    return p->past.data + (size_t)(2 + 2 * i) * p->size;
}
static double *residual_change(const kiln_fixed_point *p, int i)
{
    return p->past.data + (size_t)(3 + 2 * i) * p->size;
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Solves the symmetric A y = b by LDL'; directions that add nothing are left out. */
static void solve(int n, double A[DEPTH][DEPTH], double b[DEPTH])
{
    double least = 0.0;
    for (int i = 0; i < n; i++)
        least += LEAST * A[i][i];
    for (int k = 0; k < n; k++) {
        bool counts = A[k][k] > least;
        for (int i = k + 1; i < n; i++) {
            double factor = counts ? A[i][k] / A[k][k] : 0.0;
            for (int j = k + 1; j < n; j++)
                A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
        if (!counts)
            b[k] = 0.0;
        A[k][k] = counts ? A[k][k] : INFINITY;
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= isinf(A[k][k]) ? 0.0 : A[k][j] * b[j];
        b[k] /= A[k][k];
    }
}

/* Parts of the changes that take most off the residual. */
static void find_parts(const kiln_fixed_point *p, int known, const double *residual,
                       double part[DEPTH])
{
    double A[DEPTH][DEPTH];
    for (int i = 0; i < known; i++) {
        for (int j = 0; j <= i; j++)
            A[i][j] = A[j][i] = dot(residual_change(p, i), residual_change(p, j), p->size);
        part[i] = dot(residual_change(p, i), residual, p->size);
    }
    solve(known, A, part);
}

void kiln_fixed_point_next(kiln_fixed_point *point, const double *g, double *x)
{
    kiln_fixed_point *p = point;
    double *x_before = p->past.data, *residual = p->past.data + p->size, part[DEPTH];
    int last = (p->evaluations + DEPTH - 1) % DEPTH;
    int known = p->evaluations < DEPTH ? p->evaluations : DEPTH;
    for (size_t i = 0; i < p->size; i++) {
        double now = g[i] - x[i];
        if (known) {
            x_change(p, last)[i] = x[i] - x_before[i];
            residual_change(p, last)[i] = now - residual[i];
        }
        x_before[i] = x[i];
        residual[i] = now;
        x[i] = g[i];
    }
    p->evaluations++;
    find_parts(p, known, residual, part);
    for (int k = 0; k < known; k++)
        for (size_t i = 0; i < p->size; i++)
            x[i] -= part[k] * (x_change(p, k)[i] + residual_change(p, k)[i]);
}
