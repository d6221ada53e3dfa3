/* Vectors of the iteration are [4 rows]: first the 3 rows of x, then those of p. */
#include "solve/saddle.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "solve/vectors.h"

#include <math.h>
#include <string.h>

enum { VECTORS = 8, GRAIN = 1024 };

/* Of the diagonals of a part: what its equations sum up to is rounding. */
static const double CLOSED = 1e-10;

struct kiln_saddle {
    kiln_context *context;
    kiln_solver *solver; /* of S */
    kiln_solver *whole;  /* of A where that is stiff; made when it is first needed, */
    kiln_solver *slow;   /* and of S without inertia */
    kiln_solver_options options;
    const kiln_saddle_stiff *stiff;
    kiln_bsr S;
    const kiln_bsr *A;
    const kiln_equations *equations;
    uint64_t rings;         /* pattern of the equations that of S was made for */
    kiln_f64_array inverse; /* [row][3][3] D */
    kiln_u32_array part;    /* [row] of S */
    kiln_f64_array sums;    /* [part][2], scratch */
    KILN_ARRAY_OF(bool)
    closed; /* [part] */
    size_t parts;
    kiln_f64_array room; /* [VECTORS][4 rows] */
    kiln_saddle_report report;
};

kiln_status kiln_saddle_create(kiln_context *context, const kiln_solver_options *solver,
                               kiln_saddle **out, kiln_error *error)
{
    kiln_saddle *s = kiln_resize(context, NULL, 0, sizeof *s);
    if (!s)
        return kiln_fail_memory(error, sizeof *s);
    *s = (kiln_saddle){.context = context,
                       .options = solver ? *solver : kiln_solver_default_options()};
    kiln_bsr_init_blocks(&s->S, context, 1);
    kiln_status status = kiln_solver_create(context, solver, &s->solver, error);
    if (status != KILN_OK) {
        kiln_release(context, s, sizeof *s);
        return status;
    }
    *out = s;
    return KILN_OK;
}

void kiln_saddle_forget(kiln_saddle *s)
{
    kiln_solver_forget(s->solver);
    if (s->whole)
        kiln_solver_forget(s->whole);
    if (s->slow)
        kiln_solver_forget(s->slow);
    kiln_bsr_free(&s->S);
    kiln_array_free(s->context, &s->inverse);
    kiln_array_free(s->context, &s->part);
    kiln_array_free(s->context, &s->sums);
    kiln_array_free(s->context, &s->closed);
    kiln_array_free(s->context, &s->room);
    s->rings = 0;
}

void kiln_saddle_destroy(kiln_saddle *s)
{
    if (!s)
        return;
    kiln_saddle_forget(s);
    kiln_solver_destroy(s->solver);
    kiln_solver_destroy(s->whole);
    kiln_solver_destroy(s->slow);
    kiln_release(s->context, s, sizeof *s);
}

const kiln_saddle_report *kiln_saddle_last(const kiln_saddle *s)
{
    return &s->report;
}

static void invert_blocks(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const kiln_saddle *s = user;
    for (size_t i = begin; i < end; i++) {
        kiln_mat3 block;
        kiln_bsr_diagonal(s->A, (uint32_t)i, &block.m[0][0]);
        if (s->stiff && s->stiff->inertia[i] > 0.0)
            block = kiln_m3_scale(kiln_m3_identity(), s->stiff->inertia[i]);
        block = kiln_m3_inverse(block);
        memcpy(s->inverse.data + 9 * i, block.m, sizeof block.m);
    }
}

/* Parts whose equations are together about nothing that is free, which makes S singular along a
 * constant: one row of each is doubled, so that it can be factored. */
static kiln_status find_closed(kiln_saddle *s, kiln_error *error)
{
    size_t rows = s->S.rows;
    KILN_TRY(kiln_array_reserve(s->context, &s->part, rows + 1, error));
    s->parts = kiln_bsr_number_parts(&s->S, NULL, s->part.data);
    KILN_TRY(kiln_array_reserve(s->context, &s->sums, 2 * s->parts + 1, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->closed, s->parts + 1, error));
    double *sums = s->sums.data;
    memset(sums, 0, 2 * s->parts * sizeof *sums);
    for (uint32_t i = 0; i < rows; i++)
        for (uint64_t b = s->S.start[i]; b < s->S.start[i + 1]; b++) {
            bool diagonal = s->S.column[b] == i;
            sums[2 * s->part.data[i]] += (diagonal ? 1.0 : 2.0) * s->S.value[b];
            sums[2 * s->part.data[i] + 1] += diagonal ? s->S.value[b] : 0.0;
        }
    s->report.closed = 0;
    for (size_t q = 0; q < s->parts; q++) {
        s->closed.data[q] = sums[2 * q] <= CLOSED * sums[2 * q + 1];
        s->report.closed += s->closed.data[q];
        sums[2 * q] = 0.0;
    }
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t q = s->part.data[i];
        if (s->closed.data[q] && sums[2 * q] == 0.0)
            s->S.value[s->S.start[i]] *= sums[2 * q] = 2.0;
    }
    return KILN_OK;
}

static kiln_status factor_whole(kiln_saddle *s, kiln_solve_outcome *outcome, kiln_error *error)
{
    if (!s->whole)
        KILN_TRY(kiln_solver_create(s->context, &s->options, &s->whole, error));
    if (!s->slow)
        KILN_TRY(kiln_solver_create(s->context, &s->options, &s->slow, error));
    KILN_TRY(kiln_solver_factor(s->slow, s->stiff->slow, outcome, error));
    return *outcome == KILN_SOLVE_OK ? kiln_solver_factor(s->whole, s->A, outcome, error) : KILN_OK;
}

kiln_status kiln_saddle_factor(kiln_saddle *s, const kiln_bsr *A, const kiln_equations *equations,
                               const kiln_saddle_stiff *stiff, kiln_solve_outcome *outcome,
                               kiln_error *error)
{
    double begin = kiln_wall_seconds();
    size_t rows = equations->rows;
    s->A = A;
    s->equations = equations;
    s->stiff = stiff;
    *outcome = KILN_SOLVE_OK;
    if (stiff)
        KILN_TRY(factor_whole(s, outcome, error));
    if (*outcome != KILN_SOLVE_OK)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(s->context, &s->inverse, 9 * rows + 1, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->room, 4 * VECTORS * rows + 1, error));
    kiln_parallel_for(s->context, rows, GRAIN, invert_blocks, s);
    if (s->rings != equations->give.pattern || s->S.rows != rows) {
        s->rings = 0;
        KILN_TRY(kiln_equations_complement_pattern(equations, &s->S, error));
        s->rings = equations->give.pattern;
    }
    KILN_TRY(kiln_equations_complement(equations, s->inverse.data, &s->S, error));
    KILN_TRY(find_closed(s, error));
    KILN_TRY(kiln_solver_factor(s->solver, &s->S, outcome, error));
    s->report.factor_seconds = kiln_wall_seconds() - begin;
    return KILN_OK;
}

/* Of closed parts: v less what its sum is, by the share that `weigh` (NULL: all alike) gives. */
static void take_sums_out(const kiln_saddle *s, bool weigh, double *v)
{
    double *sums = s->sums.data;
    if (!s->report.closed)
        return;
    memset(sums, 0, 2 * s->parts * sizeof *sums);
    for (size_t i = 0; i < s->S.rows; i++) {
        double *sum = sums + 2 * s->part.data[i];
        sum[0] += v[i];
        sum[1] += weigh ? s->S.value[s->S.start[i]] : 1.0;
    }
    for (size_t i = 0; i < s->S.rows; i++) {
        const double *sum = sums + 2 * s->part.data[i];
        if (s->closed.data[s->part.data[i]])
            v[i] -= sum[0] / sum[1] * (weigh ? s->S.value[s->S.start[i]] : 1.0);
    }
}

static kiln_status multiply(const kiln_saddle *s, const double *v, double *out, kiln_error *error)
{
    size_t rows = s->equations->rows;
    double *give = s->room.data + 4 * (VECTORS - 1) * rows;
    KILN_TRY(kiln_bsr_multiply(s->A, v, out, error));
    kiln_equations_add_transposed(s->equations, v + 3 * rows, 1.0, out);
    kiln_equations_multiply(s->equations, v, out + 3 * rows);
    KILN_TRY(kiln_bsr_multiply(&s->equations->give, v + 3 * rows, give, error));
    kiln_vector_combine(s->context, 1.0, out + 3 * rows, -1.0, give, out + 3 * rows, rows);
    return KILN_OK;
}

typedef struct scaling {
    const kiln_saddle *s;
    const double *v;
    double *z;
} scaling;

static void scale_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const scaling *m = user;
    for (size_t i = begin; i < end; i++) {
        const double *D = m->s->inverse.data + 9 * i, *v = m->v + 3 * i;
        for (int c = 0; c < 3; c++)
            m->z[3 * i + c] = D[3 * c] * v[0] + D[3 * c + 1] * v[1] + D[3 * c + 2] * v[2];
    }
}

static kiln_status precondition(const kiln_saddle *s, const double *v, double *z,
                                kiln_solve_outcome *outcome, kiln_error *error)
{
    size_t rows = s->equations->rows;
    scaling m = {s, v, z};
    KILN_TRY(kiln_solver_solve(s->solver, v + 3 * rows, z + 3 * rows, outcome, error));
    if (!s->stiff) {
        kiln_parallel_for(s->context, rows, GRAIN, scale_rows, &m);
        return KILN_OK;
    }
    double *more = s->room.data + 4 * (VECTORS - 1) * rows;
    KILN_TRY(kiln_solver_solve(s->slow, v + 3 * rows, more, outcome, error));
    kiln_vector_combine(s->context, 1.0, z + 3 * rows, 1.0, more, z + 3 * rows, rows);
    return *outcome == KILN_SOLVE_OK ? kiln_solver_solve(s->whole, v, z, outcome, error) : KILN_OK;
}

/* The recurrences of MINRES; [1] is the newest. */
typedef struct recurrence {
    double *v[3], *z[2], *w[2];
    double c[2], s[2], gamma[2], eta;
} recurrence;

static recurrence begin_recurrence(kiln_saddle *s, size_t count)
{
    double *at = s->room.data;
    recurrence r = {.c = {1.0, 1.0}, .gamma = {1.0, 0.0}};
    double **const parts[] = {&r.v[0], &r.v[1], &r.v[2], &r.z[0], &r.z[1], &r.w[0], &r.w[1]};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = at + i * count;
    memset(r.v[0], 0, count * sizeof(double));
    memset(r.w[0], 0, count * sizeof(double));
    memset(r.w[1], 0, count * sizeof(double));
    return r;
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

/* One round: z[0] is the last direction (not yet of unit length), v[1] what it was made from. */
static kiln_status advance(kiln_saddle *s, recurrence *r, size_t count, double *x, double *p,
                           kiln_solve_outcome *outcome, kiln_error *error)
{
    kiln_context *context = s->context;
    size_t three = 3 * s->equations->rows;
    double gamma = r->gamma[1];
    kiln_vector_combine(context, 1.0 / gamma, r->z[0], 0.0, r->z[0], r->z[0], count);
    KILN_TRY(multiply(s, r->z[0], r->v[2], error));
    double delta = kiln_vector_dot(context, r->v[2], r->z[0], count);
    kiln_vector_combine(context, 1.0, r->v[2], -delta / gamma, r->v[1], r->v[2], count);
    kiln_vector_combine(context, 1.0, r->v[2], -gamma / r->gamma[0], r->v[0], r->v[2], count);
    KILN_TRY(precondition(s, r->v[2], r->z[1], outcome, error));
    double next = sqrt(fmax(0.0, kiln_vector_dot(context, r->z[1], r->v[2], count)));
    double a0 = r->c[1] * delta - r->c[0] * r->s[1] * gamma, a1 = hypot(a0, next);
    double a2 = r->s[1] * delta + r->c[0] * r->c[1] * gamma, a3 = r->s[0] * gamma;
    kiln_vector_combine(context, -a3 / a1, r->w[0], 1.0 / a1, r->z[0], r->w[0], count);
    kiln_vector_combine(context, 1.0, r->w[0], -a2 / a1, r->w[1], r->w[0], count);
    swap(&r->w[0], &r->w[1]);
    r->c[0] = r->c[1];
    r->s[0] = r->s[1];
    r->c[1] = a0 / a1;
    r->s[1] = next / a1;
    kiln_vector_combine(context, 1.0, x, r->c[1] * r->eta, r->w[1], x, three);
    kiln_vector_combine(context, 1.0, p, r->c[1] * r->eta, r->w[1] + three, p, count - three);
    r->eta *= -r->s[1];
    r->gamma[0] = gamma;
    r->gamma[1] = next;
    double *oldest = r->v[0];
    r->v[0] = r->v[1];
    r->v[1] = r->v[2];
    r->v[2] = oldest;
    swap(&r->z[0], &r->z[1]);
    return KILN_OK;
}

kiln_status kiln_saddle_solve(kiln_saddle *s, const kiln_saddle_options *options, const double *f,
                              const double *e, double *x, double *p, kiln_solve_outcome *outcome,
                              kiln_error *error)
{
    double begin = kiln_wall_seconds();
    size_t rows = s->equations->rows, count = 4 * rows;
    recurrence r = begin_recurrence(s, count);
    memset(x, 0, 3 * rows * sizeof *x);
    memset(p, 0, rows * sizeof *p);
    memcpy(r.v[1], f, 3 * rows * sizeof *f);
    memcpy(r.v[1] + 3 * rows, e, rows * sizeof *e);
    take_sums_out(s, true, r.v[1] + 3 * rows);
    *outcome = KILN_SOLVE_OK;
    KILN_TRY(precondition(s, r.v[1], r.z[0], outcome, error));
    double size = sqrt(fmax(0.0, kiln_vector_dot(s->context, r.z[0], r.v[1], count)));
    r.gamma[1] = r.eta = size;
    s->report.iterations = 0;
    while (*outcome == KILN_SOLVE_OK && isfinite(r.eta) && r.gamma[1] > 0.0 &&
           fabs(r.eta) > options->tolerance * size &&
           s->report.iterations < options->max_iterations) {
        KILN_TRY(advance(s, &r, count, x, p, outcome, error));
        s->report.iterations++;
    }
    take_sums_out(s, false, p);
    s->report.residual = size > 0.0 ? fabs(r.eta) / size : 0.0;
    s->report.solve_seconds = kiln_wall_seconds() - begin;
    if (*outcome == KILN_SOLVE_OK && !isfinite(r.eta))
        *outcome = KILN_SOLVE_NOT_FINITE;
    else if (*outcome == KILN_SOLVE_OK && s->report.residual > options->tolerance &&
             r.gamma[1] > 0.0)
        *outcome = KILN_SOLVE_STALLED;
    return KILN_OK;
}
