#include "solve/balance.h"

#include "base/parallel.h"

#include <string.h>

/* Of what a part resists along an axis: what is less once other axes are balanced is rounding. */
static const double LEAST = 1e-10;
enum { GRAIN = 256 };

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

/* sum[part] over rows, in their order: neighbours mostly are of one part, whose sum stays at hand.
 */
KILN_INLINE void sum_rows(const kiln_balance *balance, const size_t n, size_t rows, const double *v,
                          double *sum)
{
    const uint32_t *part = balance->part.data;
    for (size_t row = 0; row < rows;) {
        double here[KILN_BSR_MOST], *of = sum + n * part[row];
        const uint32_t p = part[row];
        for (size_t c = 0; c < n; c++)
            here[c] = of[c];
        for (; row < rows && part[row] == p; row++, v += n)
            for (size_t c = 0; c < n; c++)
                here[c] += v[c];
        for (size_t c = 0; c < n; c++)
            of[c] = here[c];
    }
}

/* The size of the blocks is a constant where it is inlined. */
static void sum_parts(const kiln_balance *balance, size_t n, size_t rows, const double *v,
                      double *sum)
{
    memset(sum, 0, n * balance->parts * sizeof *sum);
    if (n == 3)
        sum_rows(balance, 3, rows, v, sum);
    else
        sum_rows(balance, n, rows, v, sum);
}

kiln_status kiln_balance_find(kiln_balance *balance, const kiln_bsr *matrix,
                              const kiln_constraints *constraints, kiln_error *error)
{
    kiln_context *context = matrix->context;
    size_t n = matrix->block, rows = matrix->rows, count = n * rows;
    KILN_TRY(kiln_array_reserve(context, &balance->part, rows, error));
    KILN_TRY(kiln_array_reserve(context, &balance->push, n * count, error));
    balance->parts = kiln_bsr_number_parts(matrix, constraints->held, balance->part.data);
    KILN_TRY(kiln_array_reserve(context, &balance->factor, n * n * balance->parts, error));
    KILN_TRY(kiln_array_reserve(context, &balance->room, count + n * balance->parts, error));
    KILN_TRY(find_pushes(balance, matrix, constraints, error));
    double *sum = balance->room.data + count;
    for (size_t c = 0; c < n; c++) {
        sum_parts(balance, n, rows, balance->push.data + c * count, sum);
        for (size_t i = 0; i < n * balance->parts; i++)
            balance->factor.data[n * i + c] = sum[i];
    }
    for (size_t p = 0; p < balance->parts; p++)
        factor_small(balance->factor.data + n * n * p, n);
    return KILN_OK;
}

typedef struct restoring {
    const kiln_balance *balance;
    const kiln_constraints *constraints;
    const double *b;
    double *x;
    double *rest, *sum; /* [row][n], [part][n] */
} restoring;

/* What x leaves of b along the motions. The size of the blocks is a constant where it is inlined.
 */
KILN_INLINE void leave_rest(const restoring *r, const size_t n, size_t begin, size_t end)
{
    const size_t count = n * r->constraints->rows;
    for (size_t i = n * begin; i < n * end; i += n)
        for (size_t c = 0; c < n; c++) {
            double rest = r->b[i + c];
            for (size_t k = 0; k < n; k++)
                rest -= r->balance->push.data[c * count + i + k] * r->x[i + k];
            r->rest[i + c] = rest;
        }
}

static void rest_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const restoring *r = user;
    if (r->constraints->block == 3)
        leave_rest(r, 3, begin, end);
    else
        leave_rest(r, r->constraints->block, begin, end);
}

static void move_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const restoring *r = user;
    const size_t n = r->constraints->block;
    for (size_t row = begin; row < end; row++)
        memcpy(r->rest + n * row, r->sum + n * r->balance->part.data[row], n * sizeof *r->sum);
    kiln_constraints_project_rows(r->constraints, r->rest, begin, end);
    for (size_t i = n * begin; i < n * end; i++)
        r->x[i] += r->rest[i];
}

void kiln_balance_restore(kiln_balance *balance, const kiln_constraints *constraints,
                          const double *b, double *x)
{
    const size_t n = constraints->block, rows = constraints->rows;
    double *rest = balance->room.data, *sum = rest + n * rows;
    restoring job = {balance, constraints, b, x, rest, sum};
    kiln_parallel_for(constraints->context, rows, GRAIN, rest_chunk, &job);
    sum_parts(balance, n, rows, rest, sum);
    for (size_t p = 0; p < balance->parts; p++)
        solve_small(balance->factor.data + n * n * p, n, sum + n * p);
    kiln_parallel_for(constraints->context, rows, GRAIN, move_chunk, &job);
}
