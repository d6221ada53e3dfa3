/* Conjugate gradients on blocks, preconditioned by an incomplete factor or by the diagonal
 * blocks. Sums go in fixed chunks, so the bits do not depend on the number of threads. */
#include "base/parallel.h"
#include "solve/block_ic.h"
#include "solve/bsr_spill.h"
#include "solve/solver_backend.h"
#include "solve/vectors.h"

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
    double *inverse; /* [rows][n][n] of the diagonal blocks (jacobi) */
    double *vectors; /* [VECTORS][n rows], then a partial sum per chunk, then spilled sums */
    double *r, *z, *p, *q, *partial, *spilled;
    size_t n, rows, count, chunks, slots; /* n: the block's; count: n times rows */
    double row_sum;                       /* largest, of absolute values: the norm of the matrix */
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
    return (VECTORS * s->count + s->chunks + s->n * s->slots) * sizeof(double);
}

static void forget(void *self)
{
    pcg *s = self;
    kiln_release(s->context, s->vectors, vector_bytes(s));
    kiln_release(s->context, s->inverse, s->n * s->count * sizeof(double));
    kiln_block_ic_free(&s->ic);
    s->vectors = s->inverse = NULL;
    s->rows = s->count = s->chunks = s->slots = 0;
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
    s->n = matrix->block;
    s->rows = matrix->rows;
    s->count = s->n * s->rows;
    s->chunks = kiln_chunk_count(s->count, GRAIN);
    KILN_TRY(kiln_bsr_spill_make(matrix, error));
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
        *parts[i] = s->vectors + i * s->count;
    s->spilled = s->partial + s->chunks;
    report->bytes = vector_bytes(s);
    if (!s->jacobi) {
        KILN_TRY(kiln_block_ic_analyse(&s->ic, matrix, error));
        report->bytes += kiln_block_ic_bytes(&s->ic);
        report->factor_entries =
            (double)(s->n * s->n * s->ic.blocks) + 0.5 * (double)((s->n + 1) * s->count);
        return KILN_OK;
    }
    size_t bytes = s->n * s->count * sizeof(double);
    s->inverse = kiln_resize(s->context, NULL, 0, bytes);
    if (!s->inverse)
        return kiln_fail_memory(error, bytes);
    report->bytes += bytes;
    return KILN_OK;
}

static kiln_status factor(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                          kiln_solve_outcome *outcome, kiln_error *error)
{
    (void)report;
    pcg *s = self;
    *outcome = KILN_SOLVE_OK;
    if (s->rows == 0)
        return KILN_OK;
    kiln_bsr_row_sums(matrix, s->r);
    s->row_sum = kiln_vector_largest(s->context, s->r,
                                     s->count); /* for the level rounding brings the residual to */
    bool positive = true;
    if (!s->jacobi) {
        KILN_TRY(kiln_block_ic_factor(&s->ic, matrix, &positive, error));
    } else {
        for (uint32_t row = 0; row < s->rows && positive; row++) {
            double a[KILN_BSR_MOST * KILN_BSR_MOST];
            kiln_bsr_diagonal(matrix, row, a);
            positive = kiln_invert_positive(s->n, a, 0.0, s->inverse + s->n * s->n * row);
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
    kiln_parallel_for(s->context, s->count, GRAIN, body, job);
    for (size_t chunk = 0; chunk < s->chunks; chunk++)
        sum += s->partial[chunk];
    return sum;
}

/* GRAIN is a multiple of every n. */
KILN_INLINE void scale_blocks(const pcg *s, size_t n, size_t begin, size_t end)
{
    for (size_t row = begin / n; row < end / n; row++)
        for (size_t c = 0; c < n; c++) {
            const double *m = s->inverse + n * (n * row + c), *r = s->r + n * row;
            double sum = m[0] * r[0];
            for (size_t k = 1; k < n; k++)
                sum += m[k] * r[k];
            s->z[n * row + c] = sum;
        }
}

static void scale_by_blocks(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const pcg *s = ((vector_job *)user)->s;
    if (s->n == 3)
        scale_blocks(s, 3, begin, end);
    else
        scale_blocks(s, s->n, begin, end);
}

static double precondition(vector_job *job, pcg *s)
{
    if (s->jacobi)
        kiln_parallel_for(s->context, s->count, GRAIN, scale_by_blocks, job);
    else
        kiln_block_ic_apply(&s->ic, s->r, s->z);
    return run(job, dot_rz);
}

/* r = b - A x; returns its norm. */
static double true_residual(pcg *s, const kiln_bsr *matrix, const double *b, const double *x)
{
    kiln_bsr_multiply_with(matrix, x, s->r, s->spilled);
    kiln_vector_combine(s->context, 1.0, b, -1.0, s->r, s->r, s->count);
    return sqrt(kiln_vector_dot(s->context, s->r, s->r, s->count));
}

/* Iterates from the residual in r until its norm is below `wanted`. */
static kiln_solve_outcome iterate(pcg *s, const kiln_bsr *matrix, double *x, double wanted,
                                  int *iterations)
{
    vector_job job = {.s = s, .x = x};
    double rz = precondition(&job, s);
    memcpy(s->p, s->z, s->count * sizeof(double));
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
        kiln_parallel_for(s->context, s->count, GRAIN, turn, &job);
    }
    return KILN_SOLVE_STALLED;
}

/* The residual that is carried along drifts from the true one: when it is small enough, the true
 * one is looked at and, if need be, the iteration begins again from there. */
static kiln_status solve(void *self, const kiln_bsr *matrix, const double *b, double *x,
                         kiln_solver_report *report, kiln_solve_outcome *outcome, kiln_error *error)
{
    pcg *s = self;
    size_t n = s->count;
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
        double rounding =
            8 * DBL_EPSILON * s->row_sum * kiln_vector_largest(s->context, x, n) * sqrt((double)n);
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
    .help = "conjugate gradients, incomplete Cholesky of blocks",
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
