#include "solve/balance.h"

#include <string.h>

/* Of what a part resists along an axis: what is less once other axes are balanced is rounding. */
static const double LEAST = 1e-10;

void kiln_balance_free(kiln_balance *balance, kiln_context *context)
{
    kiln_array_free(context, &balance->part);
    kiln_array_free(context, &balance->push);
    kiln_array_free(context, &balance->factor);
    kiln_array_free(context, &balance->room);
}

/* push[c]: the matrix times all parts moved by 1 along c, where forces do work. */
static kiln_status find_pushes(kiln_balance *balance, const kiln_bsr *matrix,
                               const kiln_constraints *constraints, kiln_error *error)
{
    size_t n = matrix->block, count = n * matrix->rows;
    double *moved = balance->room.data;
    for (size_t c = 0; c < n; c++) {
        double *push = balance->push.data + c * count;
        for (size_t i = 0; i < count; i++)
            moved[i] = i % n == c ? 1.0 : 0.0;
        kiln_constraints_project(constraints, moved);
        KILN_TRY(kiln_bsr_multiply(matrix, moved, push, error));
        kiln_constraints_project(constraints, push);
    }
    return KILN_OK;
}

/* A = L D L' in its place, below and on the diagonal. */
static void factor_small(double *A, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double whole = A[n * j + j], d = whole;
        for (size_t k = 0; k < j; k++)
            d -= A[n * j + k] * A[n * j + k] * A[n * k + k];
        d = d > LEAST * whole ? d : 0.0;
        for (size_t i = j + 1; i < n; i++) {
            double sum = A[n * i + j];
            for (size_t k = 0; k < j; k++)
                sum -= A[n * i + k] * A[n * j + k] * A[n * k + k];
            A[n * i + j] = d > 0.0 ? sum / d : 0.0;
        }
        A[n * j + j] = d;
    }
}

static void solve_small(const double *A, size_t n, double *v)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            v[i] -= A[n * i + k] * v[k];
    for (size_t i = n; i-- > 0;) {
        v[i] = A[n * i + i] > 0.0 ? v[i] / A[n * i + i] : 0.0;
        for (size_t k = i + 1; k < n; k++)
            v[i] -= A[n * i + i] > 0.0 ? A[n * k + i] * v[k] : 0.0;
    }
}

kiln_status kiln_balance_find(kiln_balance *balance, const kiln_bsr *matrix,
                              const kiln_constraints *constraints, kiln_error *error)
{
    kiln_context *context = matrix->context;
    size_t n = matrix->block, rows = matrix->rows, count = n * rows;
    KILN_TRY(kiln_array_reserve(context, &balance->part, rows, error));
    KILN_TRY(kiln_array_reserve(context, &balance->push, n * count, error));
    balance->parts = kiln_bsr_number_parts(matrix, balance->part.data);
    KILN_TRY(kiln_array_reserve(context, &balance->factor, n * n * balance->parts, error));
    KILN_TRY(kiln_array_reserve(context, &balance->room, count + n * balance->parts, error));
    KILN_TRY(find_pushes(balance, matrix, constraints, error));
    memset(balance->factor.data, 0, n * n * balance->parts * sizeof(double));
    for (size_t c = 0; c < n; c++)
        for (size_t row = 0; row < rows; row++)
            for (size_t r = 0; r < n; r++)
                balance->factor.data[n * (n * balance->part.data[row] + r) + c] +=
                    balance->push.data[c * count + n * row + r];
    for (size_t p = 0; p < balance->parts; p++)
        factor_small(balance->factor.data + n * n * p, n);
    return KILN_OK;
}

/* sum[part] of what x leaves of b. The size of the blocks is a constant where this is inlined. */
KILN_INLINE void sum_rest(const kiln_balance *balance, const size_t n, size_t rows, const double *b,
                          const double *x, double *sum)
{
    const double *push = balance->push.data;
    for (size_t row = 0; row < rows; row++, b += n, x += n, push += n)
        for (size_t c = 0; c < n; c++) {
            double rest = b[c];
            for (size_t r = 0; r < n; r++)
                rest -= push[c * n * rows + r] * x[r];
            sum[n * balance->part.data[row] + c] += rest;
        }
}

KILN_INLINE void move_parts(const kiln_balance *balance, const size_t n, size_t rows,
                            const double *sum, double *moved)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < n; c++)
            moved[n * row + c] = sum[n * balance->part.data[row] + c];
}

void kiln_balance_restore(kiln_balance *balance, const kiln_constraints *constraints,
                          const double *b, double *x)
{
    size_t n = constraints->block, rows = constraints->rows, count = n * rows;
    double *moved = balance->room.data, *sum = moved + count;
    memset(sum, 0, n * balance->parts * sizeof *sum);
    if (n == 3)
        sum_rest(balance, 3, rows, b, x, sum);
    else
        sum_rest(balance, n, rows, b, x, sum);
    for (size_t p = 0; p < balance->parts; p++)
        solve_small(balance->factor.data + n * n * p, n, sum + n * p);
    if (n == 3)
        move_parts(balance, 3, rows, sum, moved);
    else
        move_parts(balance, n, rows, sum, moved);
    kiln_constraints_project(constraints, moved);
    for (size_t i = 0; i < count; i++)
        x[i] += moved[i];
}
