/* Conjugate gradients on 3x3 blocks, preconditioned by an incomplete factor or by the diagonal
 * blocks. Sums go in fixed chunks, so the bits do not depend on the number of threads. */
#include "base/parallel.h"
#include "solve/block_ic.h"
#include "solve/bsr_spill.h"
#include "solve/solver_backend.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GRAIN = 6144, VECTORS = 4, MOST_RESTARTS = 4 };

typedef struct pcg {
    kiln_context *context;
    double tolerance;
    int max_iterations;
    bool jacobi;
    kiln_block_ic ic;
    double *inverse; /* [rows][3][3] of the diagonal blocks (jacobi) */
    double *vectors; /* [VECTORS][3 rows], then a partial sum per chunk, then spilled sums */
    double *r, *z, *p, *q, *partial, *spilled;
    size_t rows, chunks, slots;
    double row_sum; /* largest, of absolute values: the norm of the matrix */
} pcg;

static kiln_status create(kiln_context *context, const kiln_solver_options *options, bool jacobi,
                          void **self, kiln_error *error)
{
    pcg *s = kiln_resize(context, NULL, 0, sizeof *s);
    if (!s)
        return kiln_fail_memory(error, sizeof *s);
    *s = (pcg){.context = context,
               .tolerance = options->tolerance,
               .max_iterations = options->max_iterations,
               .jacobi = jacobi};
    kiln_block_ic_init(&s->ic, context);
    *self = s;
    return KILN_OK;
}

static kiln_status create_ic(kiln_context *context, const kiln_solver_options *options, void **self,
                             kiln_error *error)
{
    return create(context, options, false, self, error);
}

static kiln_status create_jacobi(kiln_context *context, const kiln_solver_options *options,
                                 void **self, kiln_error *error)
{
    return create(context, options, true, self, error);
}

static size_t vector_bytes(const pcg *s)
{
    return (VECTORS * 3 * s->rows + s->chunks + 3 * s->slots) * sizeof(double);
}

static void forget(void *self)
{
    pcg *s = self;
    kiln_release(s->context, s->vectors, vector_bytes(s));
    kiln_release(s->context, s->inverse, 9 * s->rows * sizeof(double));
    kiln_block_ic_free(&s->ic);
    s->vectors = s->inverse = NULL;
    s->rows = s->chunks = s->slots = 0;
}

static void destroy(void *self)
{
    pcg *s = self;
    forget(s);
    kiln_release(s->context, s, sizeof *s);
}

static kiln_status analyse(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                           kiln_error *error)
{
    pcg *s = self;
    forget(s);
    s->rows = matrix->rows;
    s->chunks = kiln_chunk_count(3 * s->rows, GRAIN);
    s->slots = matrix->spill->slots;
    report->factor_entries = report->factor_flops = 0.0;
    report->bytes = 0;
    if (s->rows == 0)
        return KILN_OK;
    s->vectors = kiln_resize(s->context, NULL, 0, vector_bytes(s));
    if (!s->vectors)
        return kiln_fail_memory(error, vector_bytes(s));
    double **const parts[] = {&s->r, &s->z, &s->p, &s->q, &s->partial};
    for (size_t i = 0; i <= VECTORS; i++)
        *parts[i] = s->vectors + i * 3 * s->rows;
    s->spilled = s->partial + s->chunks;
    report->bytes = vector_bytes(s);
    if (!s->jacobi) {
        KILN_TRY(kiln_block_ic_analyse(&s->ic, matrix, error));
        report->bytes += kiln_block_ic_bytes(&s->ic);
        report->factor_entries = 9.0 * (double)s->ic.blocks + 6.0 * (double)s->rows;
        return KILN_OK;
    }
    s->inverse = kiln_resize(s->context, NULL, 0, 9 * s->rows * sizeof(double));
    if (!s->inverse)
        return kiln_fail_memory(error, 9 * s->rows * sizeof(double));
    report->bytes += 9 * s->rows * sizeof(double);
    return KILN_OK;
}

/* For the level rounding brings the residual to. */
static double largest_row_sum(const kiln_bsr *matrix, double *sum)
{
    double most = 0.0;
    memset(sum, 0, 3 * matrix->rows * sizeof *sum);
    for (uint32_t i = 0; i < matrix->rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            size_t stride, j = matrix->column[b];
            const double *at = kiln_bsr_at(matrix, i, b, &stride);
            for (size_t r = 0; r < 3; r++)
                for (size_t c = 0; c < 3; c++) {
                    sum[3 * i + r] += fabs(at[r * stride + c]);
                    if (i != j)
                        sum[3 * j + c] += fabs(at[r * stride + c]);
                }
        }
    for (size_t i = 0; i < 3 * matrix->rows; i++)
        most = sum[i] > most ? sum[i] : most;
    return most;
}

static kiln_status factor(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                          kiln_solve_outcome *outcome, kiln_error *error)
{
    (void)report;
    pcg *s = self;
    *outcome = KILN_SOLVE_OK;
    if (s->rows == 0)
        return KILN_OK;
    s->row_sum = largest_row_sum(matrix, s->r);
    bool positive = true;
    if (!s->jacobi) {
        KILN_TRY(kiln_block_ic_factor(&s->ic, matrix, &positive, error));
    } else {
        for (uint32_t row = 0; row < s->rows && positive; row++) {
            double a[9];
            size_t stride;
            const double *at = kiln_bsr_at(matrix, row, matrix->start[row], &stride);
            for (size_t e = 0; e < 9; e++)
                a[e] = at[e / 3 * stride + e % 3];
            positive = kiln_invert_positive3(a, 0.0, s->inverse + 9 * row);
        }
    }
    if (!positive)
        *outcome = KILN_SOLVE_NOT_POSITIVE;
    return KILN_OK;
}

/* The vector operations of an iteration, each a pass over chunks that also sums a product. */
typedef struct vector_job {
    const pcg *s;
    double *x;
    double factor;
} vector_job;

/* Eight sums side by side: one alone waits for each addition. */
static double add_up(const double sum[8])
{
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static double dot(const double *a, const double *b, size_t begin, size_t end)
{
    double sum[8] = {0.0};
    size_t i = begin;
    for (; i + 8 <= end; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < end; i++)
        sum[0] += a[i] * b[i];
    return add_up(sum);
}

static void dot_pq(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const pcg *s = ((vector_job *)user)->s;
    s->partial[chunk] = dot(s->p, s->q, begin, end);
}

static void dot_rz(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const pcg *s = ((vector_job *)user)->s;
    s->partial[chunk] = dot(s->r, s->z, begin, end);
}

/* x += a p, r -= a q, and r.r */
static void step_along(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    vector_job *job = user;
    const pcg *s = job->s;
    double a = job->factor;
    for (size_t i = begin; i < end; i++) {
        job->x[i] += a * s->p[i];
        s->r[i] -= a * s->q[i];
    }
    s->partial[chunk] = dot(s->r, s->r, begin, end);
}

/* p = z + b p */
static void turn(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    vector_job *job = user;
    for (size_t i = begin; i < end; i++)
        job->s->p[i] = job->s->z[i] + job->factor * job->s->p[i];
}

static double run(vector_job *job, kiln_chunk_body body)
{
    const pcg *s = job->s;
    double sum = 0.0;
    kiln_parallel_for(s->context, 3 * s->rows, GRAIN, body, job);
    for (size_t chunk = 0; chunk < s->chunks; chunk++)
        sum += s->partial[chunk];
    return sum;
}

static void scale_by_blocks(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const pcg *s = ((vector_job *)user)->s;
    for (size_t row = begin / 3; row < end / 3; row++) {
        const double *m = s->inverse + 9 * row, *r = s->r + 3 * row;
        for (int c = 0; c < 3; c++)
            s->z[3 * row + c] = m[3 * c] * r[0] + m[3 * c + 1] * r[1] + m[3 * c + 2] * r[2];
    }
}

static double precondition(vector_job *job, pcg *s)
{
    if (s->jacobi)
        kiln_parallel_for(s->context, 3 * s->rows, GRAIN, scale_by_blocks, job);
    else
        kiln_block_ic_apply(&s->ic, s->r, s->z);
    return run(job, dot_rz);
}

/* r = b - A x; returns its norm. */
static double true_residual(pcg *s, const kiln_bsr *matrix, const double *b, const double *x)
{
    double sum = 0.0;
    kiln_bsr_multiply_with(matrix, x, s->r, s->spilled);
    for (size_t i = 0; i < 3 * s->rows; i++) {
        s->r[i] = b[i] - s->r[i];
        sum += s->r[i] * s->r[i];
    }
    return sqrt(sum);
}

/* Iterates from the residual in r until its norm is below `wanted`. */
static kiln_solve_outcome iterate(pcg *s, const kiln_bsr *matrix, double *x, double wanted,
                                  int *iterations)
{
    vector_job job = {.s = s, .x = x};
    double rz = precondition(&job, s);
    memcpy(s->p, s->z, 3 * s->rows * sizeof(double));
    while (*iterations < s->max_iterations) {
        (*iterations)++;
        kiln_bsr_multiply_with(matrix, s->p, s->q, s->spilled);
        double pq = run(&job, dot_pq);
        if (!isfinite(pq) || !isfinite(rz))
            return KILN_SOLVE_NOT_FINITE;
        if (pq <= 0.0)
            return KILN_SOLVE_NOT_POSITIVE;
        job.factor = rz / pq;
        if (sqrt(run(&job, step_along)) <= wanted)
            return KILN_SOLVE_OK;
        double before = rz;
        rz = precondition(&job, s);
        job.factor = rz / before;
        kiln_parallel_for(s->context, 3 * s->rows, GRAIN, turn, &job);
    }
    return KILN_SOLVE_STALLED;
}

static double largest(const double *v, size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fabs(v[i]) > most ? fabs(v[i]) : most;
    return most;
}

/* The residual that is carried along drifts from the true one: when it is small enough, the true
 * one is looked at and, if need be, the iteration begins again from there. */
static kiln_status solve(void *self, const kiln_bsr *matrix, const double *b, double *x,
                         kiln_solver_report *report, kiln_solve_outcome *outcome, kiln_error *error)
{
    pcg *s = self;
    size_t n = 3 * s->rows;
    report->iterations = 0;
    report->residual = 0.0;
    *outcome = KILN_SOLVE_OK;
    /* x may be b, which the true residual still needs. */
    double *copy = n ? kiln_resize(s->context, NULL, 0, n * sizeof *copy) : NULL;
    if (n && !copy)
        return kiln_fail_memory(error, n * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = b[i];
        x[i] = 0.0;
    }
    double size = n ? true_residual(s, matrix, copy, x) : 0.0, residual = size;
    for (int restart = 0; size > 0.0 && restart < MOST_RESTARTS; restart++) {
        *outcome = iterate(s, matrix, x, s->tolerance * size, &report->iterations);
        double before = residual;
        residual = true_residual(s, matrix, copy, x);
        double rounding = 8 * DBL_EPSILON * s->row_sum * largest(x, n) * sqrt((double)n);
        if (residual <= s->tolerance * size || residual <= rounding)
            *outcome = KILN_SOLVE_OK;
        else if (*outcome == KILN_SOLVE_OK)
            *outcome = KILN_SOLVE_STALLED;
        if (*outcome != KILN_SOLVE_STALLED || report->iterations >= s->max_iterations ||
            residual > 0.5 * before)
            break;
    }
    if (!isfinite(size) || !isfinite(residual))
        *outcome = KILN_SOLVE_NOT_FINITE;
    report->residual = size > 0.0 ? residual / size : 0.0;
    kiln_release(s->context, copy, n * sizeof *copy);
    return KILN_OK;
}

const kiln_solver_backend kiln_solver_pcg_ic = {
    .name = "pcg-ic",
    .help = "conjugate gradients, incomplete Cholesky of 3x3 blocks",
    .create = create_ic,
    .destroy = destroy,
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .forget = forget};

const kiln_solver_backend kiln_solver_pcg_jacobi = {
    .name = "pcg-jacobi",
    .help = "conjugate gradients, inverses of the diagonal blocks",
    .create = create_jacobi,
    .destroy = destroy,
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .forget = forget};
