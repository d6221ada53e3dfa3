/* Vectors of the iteration are [4 rows]: first the 3 rows of x, then those of p. */
#include "solve/saddle.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "solve/closed_parts.h"
#include "solve/quasidefinite.h"
#include "solve/vectors.h"

#include <math.h>
#include <string.h>

enum { VECTORS = 8, GRAIN = 1024, REFINEMENTS = 10 };
/* What a solve with S costs beside a product: its factor serves a good twenty of them. */
enum { SOLVES = 25, ITERATION_COST = 450 };

/* What a refined solve leaves: it is had for one more, and Newton then ends sooner. */
static const double REFINED = 1e-8;
static const double SHRINKS = 0.5; /* a residual, or it is not refined any more */
static const double INNER = 1e-6;  /* of a solve with S, where it has no factor */

struct kiln_saddle {
    kiln_context *context;
    kiln_solver *solver; /* of S */
    kiln_quasidefinite whole;
    bool factored; /* the whole is */
    kiln_bsr S;
    const kiln_bsr *A;
    const kiln_equations *equations;
    uint64_t rings;         /* pattern of the equations that of S was made for */
    kiln_f64_array inverse; /* [row][3][3] D */
    kiln_f64_array gauge;   /* [4 rows] about the diagonal of A, then that of S */
    kiln_f64_array pin;     /* [row] to C's diagonal, for what is closed */
    kiln_closed_parts closed;
    kiln_f64_array room; /* [VECTORS][4 rows] */
    kiln_saddle_report report;
};

kiln_status kiln_saddle_create(kiln_context *context, const kiln_solver_options *solver,
                               kiln_saddle **out, kiln_error *error)
{
    kiln_saddle *s = kiln_resize(context, NULL, 0, sizeof *s);
    if (!s)
        return kiln_fail_memory(error, sizeof *s);
    *s = (kiln_saddle){.context = context, .closed = {.context = context}};
    kiln_solver_options options = solver ? *solver : kiln_solver_default_options();
    kiln_quasidefinite_init(&s->whole, context, &options);
    kiln_bsr_init_blocks(&s->S, context, 1);
    options.tolerance = INNER;
    kiln_status status = kiln_solver_create(context, &options, &s->solver, error);
    if (status != KILN_OK) {
        kiln_release(context, s, sizeof *s);
        return status;
    }
    kiln_solver_weigh(s->solver, (double)SOLVES * ITERATION_COST);
    kiln_solver_set_single(s->solver, true);
    *out = s;
    return KILN_OK;
}

void kiln_saddle_forget(kiln_saddle *s)
{
    kiln_solver_forget(s->solver);
    kiln_quasidefinite_forget(&s->whole);
    kiln_bsr_free(&s->S);
    kiln_closed_parts_free(&s->closed);
    kiln_array_free(s->context, &s->inverse);
    kiln_array_free(s->context, &s->gauge);
    kiln_array_free(s->context, &s->pin);
    kiln_array_free(s->context, &s->room);
    s->rings = 0;
}

void kiln_saddle_reconsider(kiln_saddle *s)
{
    kiln_solver_reconsider(s->solver);
    if (s->whole.solver)
        kiln_solver_reconsider(s->whole.solver);
}

void kiln_saddle_destroy(kiln_saddle *s)
{
    if (!s)
        return;
    kiln_saddle_forget(s);
    kiln_solver_destroy(s->solver);
    kiln_quasidefinite_free(&s->whole);
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
        for (int c = 0; c < 3; c++)
            s->gauge.data[3 * i + c] = fabs(block.m[c][c]);
        block = kiln_m3_inverse(block);
        memcpy(s->inverse.data + 9 * i, block.m, sizeof block.m);
    }
}

/* The diagonal of S, if that of A were all of it. */
static void gauge_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const kiln_saddle *s = user;
    const kiln_equations *e = s->equations;
    for (size_t i = begin; i < end; i++) {
        double sum = e->give.value[e->give.start[i]];
        for (uint64_t k = e->start.data[i]; k < e->start.data[i + 1]; k++)
            for (size_t c = 0; c < 3; c++) {
                double J = e->value.data[3 * k + c];
                sum += J == 0.0 ? 0.0 : J * J / s->gauge.data[3 * (size_t)e->column.data[k] + c];
            }
        s->gauge.data[3 * e->rows + i] = sum;
    }
}

/* S and the whole are singular along a constant multiplier of what is closed: one row of each such
 * part is held by about its own size, so that they can be factored. */
static void find_pins(kiln_saddle *s)
{
    size_t rows = s->equations->rows;
    memset(s->pin.data, 0, rows * sizeof(double));
    for (size_t q = 0; q < s->closed.parts; q++) {
        uint32_t i = s->closed.first.data[q];
        if (i != KILN_ROW_NONE)
            s->pin.data[i] = s->gauge.data[3 * rows + i];
    }
    s->report.closed = s->closed.closed;
}

static kiln_status prepare(kiln_saddle *s, kiln_error *error)
{
    size_t rows = s->equations->rows;
    KILN_TRY(kiln_array_reserve(s->context, &s->inverse, 9 * rows + 1, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->gauge, 4 * rows + 1, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->pin, rows + 1, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->room, 4 * VECTORS * rows + 1, error));
    kiln_parallel_for(s->context, rows, GRAIN, invert_blocks, s);
    kiln_parallel_for(s->context, rows, GRAIN, gauge_rows, s);
    KILN_TRY(kiln_closed_parts_find(&s->closed, s->equations, error));
    find_pins(s);
    return KILN_OK;
}

/* *fits false: there is no memory for it, and no factor. */
static kiln_status factor_whole(kiln_saddle *s, const char *reason, bool *fits,
                                kiln_solve_outcome *outcome, kiln_error *error)
{
    kiln_error trouble;
    kiln_status status =
        kiln_quasidefinite_factor(&s->whole, s->A, s->equations, s->pin.data, outcome, &trouble);
    *fits = status != KILN_ERR_MEMORY;
    s->factored = status == KILN_OK && *outcome == KILN_SOLVE_OK;
    if (status == KILN_OK) {
        s->report.way = "factor";
        s->report.reason = reason;
    } else if (*fits && error) {
        *error = trouble;
    }
    return *fits ? status : KILN_OK;
}

static kiln_status factor_complement(kiln_saddle *s, kiln_solve_outcome *outcome, kiln_error *error)
{
    size_t rows = s->equations->rows;
    if (s->rings != s->equations->give.pattern || s->S.rows != rows) {
        s->rings = 0;
        KILN_TRY(kiln_equations_complement_pattern(s->equations, &s->S, error));
        s->rings = s->equations->give.pattern;
    }
    KILN_TRY(kiln_equations_complement(s->equations, s->inverse.data, &s->S, error));
    for (size_t i = 0; i < rows; i++)
        s->S.value[s->S.start[i]] += s->pin.data[i];
    return kiln_solver_factor(s->solver, &s->S, outcome, error);
}

kiln_status kiln_saddle_factor(kiln_saddle *s, const kiln_bsr *A, const kiln_equations *equations,
                               bool stiff, kiln_solve_outcome *outcome, kiln_error *error)
{
    double begin = kiln_wall_seconds();
    bool fits = false;
    s->A = A;
    s->equations = equations;
    s->factored = false;
    s->report.way = "minres";
    s->report.reason = stiff ? "a factor would not fit in memory" : "volumes are kept";
    *outcome = KILN_SOLVE_OK;
    KILN_TRY(prepare(s, error));
    if (stiff)
        KILN_TRY(factor_whole(s, "viscosity or solids outweigh inertia", &fits, outcome, error));
    if (!fits)
        KILN_TRY(factor_complement(s, outcome, error));
    s->report.factor_seconds = kiln_wall_seconds() - begin;
    return KILN_OK;
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
    kiln_parallel_for(s->context, rows, GRAIN, scale_rows, &m);
    return KILN_OK;
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

/* v less the part of closed parts that nothing can bring. */
static void set_right_side(const kiln_saddle *s, const double *f, const double *e, double *v)
{
    size_t rows = s->equations->rows;
    memcpy(v, f, 3 * rows * sizeof *f);
    memcpy(v + 3 * rows, e, rows * sizeof *e);
    kiln_closed_parts_take_out(&s->closed, s->gauge.data + 3 * rows, v + 3 * rows);
}

static kiln_status iterate(kiln_saddle *s, const kiln_saddle_options *options, const double *f,
                           const double *e, double *x, double *p, kiln_solve_outcome *outcome,
                           kiln_error *error)
{
    size_t rows = s->equations->rows, count = 4 * rows;
    recurrence r = begin_recurrence(s, count);
    memset(x, 0, 3 * rows * sizeof *x);
    memset(p, 0, rows * sizeof *p);
    set_right_side(s, f, e, r.v[1]);
    *outcome = KILN_SOLVE_OK;
    KILN_TRY(precondition(s, r.v[1], r.z[0], outcome, error));
    double size = sqrt(fmax(0.0, kiln_vector_dot(s->context, r.z[0], r.v[1], count)));
    r.gamma[1] = r.eta = size;
    while (*outcome == KILN_SOLVE_OK && isfinite(r.eta) && r.gamma[1] > 0.0 &&
           fabs(r.eta) > options->tolerance * size &&
           s->report.iterations < options->max_iterations) {
        KILN_TRY(advance(s, &r, count, x, p, outcome, error));
        s->report.iterations++;
    }
    s->report.residual = size > 0.0 ? fabs(r.eta) / size : 0.0;
    if (*outcome == KILN_SOLVE_OK && !isfinite(r.eta))
        *outcome = KILN_SOLVE_NOT_FINITE;
    else if (*outcome == KILN_SOLVE_OK && s->report.residual > options->tolerance &&
             r.gamma[1] > 0.0)
        *outcome = KILN_SOLVE_STALLED;
    return KILN_OK;
}

/* Each row measured by its diagonal. */
static double measure(const kiln_saddle *s, const double *r, double *scratch)
{
    size_t count = 4 * s->equations->rows;
    for (size_t i = 0; i < count; i++)
        scratch[i] = s->gauge.data[i] > 0.0 ? r[i] / s->gauge.data[i] : r[i];
    return sqrt(kiln_vector_dot(s->context, r, scratch, count));
}

/* With the factor of the whole: what a solve leaves is solved for once more. */
static kiln_status refine(kiln_saddle *s, const kiln_saddle_options *options, const double *f,
                          const double *e, double *x, double *p, kiln_solve_outcome *outcome,
                          kiln_error *error)
{
    size_t rows = s->equations->rows, count = 4 * rows;
    double *right = s->room.data, *r = right + count, *z = r + count, *sum = z + count;
    double *product = sum + count;
    set_right_side(s, f, e, right);
    memcpy(r, right, count * sizeof *r);
    memset(sum, 0, count * sizeof *sum);
    double size = measure(s, r, product), left = size, last = INFINITY;
    *outcome = KILN_SOLVE_OK;
    for (int i = 0; i < REFINEMENTS && left > REFINED * size && left < SHRINKS * last; i++) {
        last = left;
        KILN_TRY(kiln_quasidefinite_solve(&s->whole, r, z, outcome, error));
        if (*outcome != KILN_SOLVE_OK)
            return KILN_OK;
        kiln_vector_combine(s->context, 1.0, sum, 1.0, z, sum, count);
        KILN_TRY(multiply(s, sum, product, error));
        kiln_vector_combine(s->context, 1.0, right, -1.0, product, r, count);
        left = measure(s, r, product);
        s->report.iterations++;
    }
    memcpy(x, sum, 3 * rows * sizeof *x);
    memcpy(p, sum + 3 * rows, rows * sizeof *p);
    s->report.residual = size > 0.0 ? left / size : 0.0;
    if (!isfinite(left))
        *outcome = KILN_SOLVE_NOT_FINITE;
    else if (s->report.residual > options->tolerance)
        *outcome = KILN_SOLVE_STALLED;
    return KILN_OK;
}

kiln_status kiln_saddle_solve(kiln_saddle *s, const kiln_saddle_options *options, const double *f,
                              const double *e, double *x, double *p, kiln_solve_outcome *outcome,
                              kiln_error *error)
{
    double begin = kiln_wall_seconds();
    bool fits = true;
    s->report.iterations = 0;
    s->report.unkept =
        options->amount ? kiln_closed_parts_unkept(&s->closed, e, options->amount) : 0.0;
    *outcome = KILN_SOLVE_STALLED;
    if (!s->factored)
        KILN_TRY(iterate(s, options, f, e, x, p, outcome, error));
    if (!s->factored && *outcome == KILN_SOLVE_STALLED) {
        KILN_TRY(factor_whole(s, "the iteration stalled", &fits, outcome, error));
        *outcome = fits ? *outcome : KILN_SOLVE_STALLED;
    }
    if (s->factored)
        KILN_TRY(refine(s, options, f, e, x, p, outcome, error));
    kiln_closed_parts_take_out(&s->closed, NULL, p);
    s->report.solve_seconds = kiln_wall_seconds() - begin;
    return KILN_OK;
}
