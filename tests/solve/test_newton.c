#include "dense.h"
#include "solve/newton.h"

/* 1/2 (x - c)' A (x - c), A a block matrix; counts what is asked of it. */
typedef struct quadratic {
    kiln_bsr matrix;
    uint32_t *row;
    size_t cliques;
    const double *center;
    double *scratch;
    int values, gradients, hessians, attached, asked;
} quadratic;

static double quadratic_value(void *self, const double *x)
{
    quadratic *q = self;
    size_t n = 3 * q->matrix.rows;
    double sum = 0.0;
    q->values++;
    for (size_t i = 0; i < n; i++)
        q->scratch[i] = x[i] - q->center[i];
    kiln_bsr_multiply(&q->matrix, q->scratch, q->scratch + n, NULL);
    for (size_t i = 0; i < n; i++)
        sum += 0.5 * q->scratch[i] * q->scratch[n + i];
    return sum;
}

static void quadratic_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    quadratic *q = self;
    size_t n = 3 * q->matrix.rows;
    for (size_t i = 0; i < n; i++)
        q->scratch[i] = x[i] - q->center[i];
    kiln_bsr_multiply(&q->matrix, q->scratch, q->scratch + n, NULL);
    for (size_t i = 0; i < n; i++)
        g[i] += scale * q->scratch[n + i];
    q->gradients++;
    if (!H)
        return;
    q->hessians++;
    for (uint32_t i = 0; i < q->matrix.rows; i++)
        for (uint64_t b = q->matrix.start[i]; b < q->matrix.start[i + 1]; b++) {
            size_t stride;
            const double *at = kiln_bsr_at(&q->matrix, i, b, &stride);
            double block[3][3];
            for (size_t k = 0; k < 9; k++)
                block[k / 3][k % 3] = scale * at[k / 3 * stride + k % 3];
            kiln_bsr_add(H, i, q->matrix.column[b], (const double(*)[3])block);
        }
}

static kiln_cliques quadratic_cliques(void *self)
{
    quadratic *q = self;
    q->asked++;
    return (kiln_cliques){.count = q->cliques, .size = 4, .row = q->row};
}

static kiln_status quadratic_attach(void *self, const kiln_bsr *H, kiln_error *error)
{
    (void)error;
    quadratic *q = self;
    ck_assert_uint_eq(H->rows, q->matrix.rows);
    q->attached++;
    return KILN_OK;
}

typedef struct setting {
    kiln_context *context;
    kiln_constraints constraints;
    kiln_newton *newton;
    kiln_newton_options options;
    kiln_newton_report report;
} setting;

static setting setting_of(size_t rows, int threads)
{
    setting s = {.context = kiln_test_context(threads), .options = kiln_newton_default_options()};
    kiln_constraints_init(&s.constraints, s.context);
    ck_assert_int_eq(kiln_constraints_reset(&s.constraints, rows, NULL), KILN_OK);
    ck_assert_int_eq(kiln_newton_create(s.context, NULL, &s.newton, NULL), KILN_OK);
    return s;
}

static void drop(setting *s)
{
    kiln_newton_destroy(s->newton);
    kiln_constraints_free(&s->constraints);
    kiln_context_destroy(s->context);
}

static void minimise(setting *s, kiln_term *const *terms, size_t count, double *x)
{
    kiln_error error;
    ck_assert_int_eq(kiln_newton_minimise(s->newton, &s->options, terms, count, &s->constraints, x,
                                          &s->report, &error),
                     KILN_OK);
}

enum { ROWS = 50, N = 3 * ROWS, CLIQUES = 60 };

static kiln_term quadratic_term(quadratic *q, kiln_context *context, kiln_random *random,
                                const double *center)
{
    *q = (quadratic){.cliques = CLIQUES, .center = center};
    q->scratch = malloc(2 * N * sizeof *q->scratch);
    q->row = random_cliques(random, ROWS, CLIQUES, 4, 0);
    kiln_cliques cliques = {.count = CLIQUES, .size = 4, .row = q->row};
    kiln_bsr_init(&q->matrix, context);
    ck_assert_int_eq(kiln_bsr_set_pattern(&q->matrix, ROWS, &cliques, 1, NULL), KILN_OK);
    fill_positive(&q->matrix, random, q->row, CLIQUES, 4, 0.1);
    return (kiln_term){.name = "quadratic",
                       .self = q,
                       .weight = 1.0,
                       .value = quadratic_value,
                       .add = quadratic_add,
                       .cliques = quadratic_cliques,
                       .attach = quadratic_attach};
}

static void drop_quadratic(quadratic *q)
{
    kiln_bsr_free(&q->matrix);
    free(q->scratch);
    free(q->row);
}

static void expect_all(const double x[3], double value, double tolerance)
{
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(x[c], value, tolerance);
}

START_TEST(a_quadratic_takes_one_iteration)
{
    setting s = setting_of(ROWS, 1);
    kiln_random random = kiln_random_start(1, 5);
    double *center = random_vector(&random, N), *x = random_vector(&random, N);
    quadratic q;
    kiln_term term = quadratic_term(&q, s.context, &random, center), *terms[] = {&term};
    term.weight = 2.5;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    ck_assert(kiln_newton_succeeded(s.report.outcome));
    ck_assert_int_eq(s.report.iterations, 1);
    ck_assert_int_eq(q.hessians, 1);
    ck_assert_uint_gt(strlen(s.report.backend), 0);
    ck_assert_ptr_nonnull(strstr(s.report.reason, "fits in memory"));
    ck_assert_double_lt(s.report.value, 1e-24);
    for (size_t i = 0; i < N; i++)
        ck_assert_double_eq_tol(x[i], center[i], 1e-12);
    /* Pattern and block numbers are kept until the revision changes. */
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(q.asked, 1);
    ck_assert_int_eq(q.attached, 1);
    term.revision++;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(q.asked, 2);
    ck_assert_int_eq(q.attached, 2);
    size_t bytes = kiln_newton_bytes(s.newton);
    kiln_newton_forget(s.newton);
    ck_assert_uint_lt(kiln_newton_bytes(s.newton), bytes);
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(q.asked, 3);
    drop_quadratic(&q);
    free(center);
    free(x);
    drop(&s);
}
END_TEST

/* Some rows held, some along axes of their own, targets elsewhere: against the dense system. */
static void hold_some(kiln_constraints *constraints, const double *x)
{
    for (uint32_t row = 0; row < ROWS; row++)
        constraints->target[row] = kiln_v3(x[3 * row], x[3 * row + 1], x[3 * row + 2]);
    for (uint32_t row = 0; row < ROWS; row += 5) {
        constraints->held[row] = row % 2 ? 7 : 2;
        constraints->target[row].y += 0.3;
    }
    double c = cos(0.4), d = sin(0.4);
    kiln_constraint_frame frame = {10, {{{c, d, 0}, {-d, c, 0}, {0, 0, 1}}}};
    ck_assert_int_eq(kiln_array_push(constraints->context, &constraints->frames, frame, NULL),
                     KILN_OK);
}

/* Minimum of the quadratic with held components at their targets, by penalty-free elimination:
 * free components in the frames' axes. */
static void dense_minimum(const quadratic *q, const kiln_constraints *constraints, const double *x,
                          double *out)
{
    double *a = dense_of(&q->matrix), gap[N], p[N], b[N];
    kiln_constraints_gap(constraints, x, gap);
    for (size_t i = 0; i < N; i++) {
        p[i] = 0.0;
        for (size_t j = 0; j < N; j++)
            p[i] -= a[i * N + j] * (x[j] + gap[j] - q->center[j]);
        b[i] = p[i];
    }
    kiln_constraints_project(constraints, b);
    kiln_bsr copy;
    kiln_bsr_init(&copy, q->matrix.context);
    kiln_cliques cliques = {.count = CLIQUES, .size = 4, .row = q->row};
    ck_assert_int_eq(kiln_bsr_set_pattern(&copy, ROWS, &cliques, 1, NULL), KILN_OK);
    memcpy(copy.value, q->matrix.value, 9 * copy.start[ROWS] * sizeof(double));
    kiln_constraints_apply(constraints, &copy, 1.0);
    double *applied = dense_of(&copy);
    dense_solve(applied, N, b, out);
    for (size_t i = 0; i < N; i++)
        out[i] += x[i] + gap[i];
    kiln_bsr_free(&copy);
    free(a);
    free(applied);
}

/* A minimum that is farther than any is looked for: x stays. */
START_TEST(a_step_that_is_too_long_is_not_taken)
{
    setting s = setting_of(ROWS, 1);
    kiln_random random = kiln_random_start(1, 5);
    double *center = random_vector(&random, N), *x = calloc(N, sizeof *x);
    quadratic q;
    kiln_term term = quadratic_term(&q, s.context, &random, center), *terms[] = {&term};
    s.options.farthest = 0.1;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_AWAY);
    ck_assert(!kiln_newton_succeeded(s.report.outcome));
    for (size_t i = 0; i < N; i++)
        ck_assert_double_eq(x[i], 0.0);
    s.options.farthest = 10.0;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    drop_quadratic(&q);
    free(center), free(x);
    drop(&s);
}
END_TEST

START_TEST(held_unknowns_go_to_their_targets)
{
    for (int linearised = 0; linearised < 2; linearised++) {
        setting s = setting_of(ROWS, 1);
        kiln_random random = kiln_random_start(2, 5);
        double *center = random_vector(&random, N), *x = random_vector(&random, N), expected[N];
        quadratic q;
        kiln_term term = quadratic_term(&q, s.context, &random, center), *terms[] = {&term};
        hold_some(&s.constraints, x);
        dense_minimum(&q, &s.constraints, x, expected);
        if (linearised) {
            s.options.line_search = false;
            s.options.max_iterations = 1;
        }
        minimise(&s, terms, 1, x);
        ck_assert_int_eq(s.report.outcome,
                         linearised ? KILN_NEWTON_LINEARISED : KILN_NEWTON_CONVERGED);
        ck_assert_int_eq(s.report.iterations, 1);
        if (linearised)
            ck_assert_int_eq(q.values, 0);
        for (size_t i = 0; i < N; i++)
            ck_assert_double_eq_tol(x[i], expected[i], 1e-11);
        for (size_t row = 0; row < ROWS; row += 5)
            if (row != 10)
                ck_assert_double_eq(x[3 * row + 1], s.constraints.target[row].y);
        drop_quadratic(&q);
        free(center);
        free(x);
        drop(&s);
    }
}
END_TEST

START_TEST(when_all_is_held_it_is_only_moved)
{
    setting s = setting_of(ROWS, 1);
    kiln_random random = kiln_random_start(3, 5);
    double *center = random_vector(&random, N), *x = random_vector(&random, N);
    quadratic q;
    kiln_term term = quadratic_term(&q, s.context, &random, center), *terms[] = {&term};
    memset(s.constraints.held, 7, ROWS);
    for (size_t row = 0; row < ROWS; row++)
        s.constraints.target[row] = kiln_v3(1.0 + (double)row, 2.0, 3.0);
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    ck_assert_int_eq(q.hessians, 0);
    for (size_t row = 0; row < ROWS; row++)
        ck_assert_double_eq(x[3 * row], 1.0 + (double)row);
    drop_quadratic(&q);
    free(center);
    free(x);
    drop(&s);
}
END_TEST

/* Functions of one row. */
typedef struct toy {
    double (*value)(const double *x);
    void (*gradient)(const double *x, double *g, double h[3][3]);
} toy;

static double toy_value(void *self, const double *x)
{
    return ((toy *)self)->value(x);
}

static void toy_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    double own[3] = {0.0}, h[3][3] = {{0.0}};
    ((toy *)self)->gradient(x, own, h);
    for (int r = 0; r < 3; r++) {
        g[r] += scale * own[r];
        for (int c = 0; c < 3; c++)
            h[r][c] *= scale;
    }
    if (H)
        kiln_bsr_add(H, 0, 0, (const double(*)[3])h);
}

static kiln_term toy_term(toy *t)
{
    return (kiln_term){.name = "toy", .self = t, .weight = 1.0, .value = toy_value, .add = toy_add};
}

static double rosenbrock_value(const double *x)
{
    double a = x[1] - x[0] * x[0], b = 1.0 - x[0];
    return 100.0 * a * a + b * b + x[2] * x[2];
}

static void rosenbrock_gradient(const double *x, double *g, double h[3][3])
{
    double a = x[1] - x[0] * x[0];
    g[0] = -400.0 * a * x[0] - 2.0 * (1.0 - x[0]);
    g[1] = 200.0 * a;
    g[2] = 2.0 * x[2];
    h[0][0] = 800.0 * x[0] * x[0] - 400.0 * a + 2.0; /* indefinite where a is large */
    h[0][1] = h[1][0] = -400.0 * x[0];
    h[1][1] = 200.0;
    h[2][2] = 2.0;
}

START_TEST(a_curved_valley_is_followed)
{
    setting s = setting_of(1, 1);
    toy t = {rosenbrock_value, rosenbrock_gradient};
    kiln_term term = toy_term(&t), *terms[] = {&term};
    double start[2][3] = {{-1.2, 1.0, 4.0}, {0.1, 3.0, -1.0}}; /* the second: not definite */
    for (int k = 0; k < 2; k++) {
        double *x = start[k];
        minimise(&s, terms, 1, x);
        ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
        ck_assert_int_lt(s.report.iterations, 60);
        ck_assert_double_eq_tol(x[0], 1.0, 1e-9);
        ck_assert_double_eq_tol(x[1], 1.0, 1e-9);
        ck_assert_double_eq_tol(x[2], 0.0, 1e-9);
    }
    ck_assert_int_gt(s.report.regularised, 0);
    drop(&s);
}
END_TEST

/* A Hessian that is larger than the true one, as those made positive are: whatever is done, steps
 * shrink to a third of the one before, and a new matrix does not help. */
static double bowl_value(const double *x)
{
    return 0.5 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void stiff_bowl(const double *x, double *g, double h[3][3])
{
    for (int c = 0; c < 3; c++) {
        g[c] = x[c];
        h[c][c] = 1.5;
    }
}

START_TEST(a_factor_is_used_while_it_helps)
{
    setting s = setting_of(1, 1);
    toy t = {bowl_value, stiff_bowl};
    kiln_term term = toy_term(&t), *terms[] = {&term};
    s.options.tolerance = 1e-9;
    double x[3] = {3e-3, -1e-3, 2e-3};
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    ck_assert_int_eq(s.report.iterations, 1);
    expect_all(x, 0.0, 1e-9);
    drop(&s);
}
END_TEST

/* Two edges that lean on each other: valleys with a kink along their floor, on which a line goes
 * down for no more than a part of itself. */
#define KINK 2e-5
static double kinked_value(const double *x)
{
    double kinks = fabs(x[0] - 0.7 * x[1]) + fabs(x[1] + 0.6 * x[2]) + fabs(x[2] - 1e-5);
    return 0.5 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) + KINK * kinks;
}

static void kinked_gradient(const double *x, double *g, double h[3][3])
{
    double a = copysign(KINK, x[0] - 0.7 * x[1]), b = copysign(KINK, x[1] + 0.6 * x[2]);
    g[0] = x[0] + a;
    g[1] = x[1] - 0.7 * a + b;
    g[2] = x[2] + 0.6 * b + copysign(KINK, x[2] - 1e-5);
    h[0][0] = h[1][1] = h[2][2] = 1.0;
}

/* The next step is within the tolerance, and is cut for ever. */
START_TEST(a_kink_is_an_end)
{
    setting s = setting_of(1, 1);
    toy t = {kinked_value, kinked_gradient};
    kiln_term term = toy_term(&t), *terms[] = {&term};
    double x[3] = {0.3, 0.2, -0.4};
    s.options.tolerance = 1e-4;
    s.options.max_iterations = 3000;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    ck_assert_int_lt(s.report.iterations, 20);
    expect_all(x, 0.0, 1e-4);
    drop(&s);
}
END_TEST

/* x - ln x in each coordinate, with the minimum at 1 and a wall at 0. */
static double barrier_value(const double *x)
{
    double sum = 0.0;
    for (int c = 0; c < 3; c++) {
        if (x[c] <= 0.0)
            return INFINITY;
        sum += x[c] - log(x[c]);
    }
    return sum;
}

static void barrier_gradient(const double *x, double *g, double h[3][3])
{
    for (int c = 0; c < 3; c++) {
        ck_assert_double_gt(x[c], 0.0);
        g[c] = 1.0 - 1.0 / x[c];
        h[c][c] = 1.0 / (x[c] * x[c]);
    }
}

static double barrier_max_step(void *self, const double *x, const double *dx)
{
    (void)self;
    double step = 1.0;
    for (int c = 0; c < 3; c++)
        if (x[c] + step * dx[c] <= 0.0)
            step = -0.9 * x[c] / dx[c];
    return step;
}

START_TEST(walls_are_not_passed)
{
    for (int with_max_step = 0; with_max_step < 2; with_max_step++) {
        setting s = setting_of(1, 1);
        toy t = {barrier_value, barrier_gradient};
        kiln_term term = toy_term(&t), *terms[] = {&term};
        if (with_max_step)
            term.max_step = barrier_max_step;
        double x[3] = {5.0, 0.01, 2.5};
        minimise(&s, terms, 1, x);
        ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
        expect_all(x, 1.0, 1e-9);
        double outside[3] = {-1.0, 1.0, 1.0};
        minimise(&s, terms, 1, outside);
        ck_assert_int_eq(s.report.outcome, KILN_NEWTON_BAD_START);
        ck_assert(!kiln_newton_succeeded(s.report.outcome));
        /* Held behind the wall: it comes close and says so. */
        double y[3] = {5.0, 1.0, 1.0};
        s.constraints.held[0] = 1;
        s.constraints.target[0] = kiln_v3(-1.0, 0.0, 0.0);
        minimise(&s, terms, 1, y);
        ck_assert_int_eq(s.report.outcome, KILN_NEWTON_BLOCKED);
        ck_assert_double_gt(y[0], 0.0);
        drop(&s);
    }
}
END_TEST

/* A gradient that lies, or none, or no Hessian. */
static enum { LIES, NO_GRADIENT, NO_HESSIAN } fault;
static void faulty_gradient(const double *x, double *g, double h[3][3])
{
    barrier_gradient(x, g, h);
    for (int c = 0; c < 3 && fault == LIES; c++)
        g[c] = -g[c];
    g[1] = fault == NO_GRADIENT ? NAN : g[1];
    h[1][1] = fault == NO_HESSIAN ? INFINITY : h[1][1];
}

START_TEST(failures_have_their_names)
{
    setting s = setting_of(1, 1);
    toy t = {barrier_value, faulty_gradient};
    kiln_term term = toy_term(&t), *terms[] = {&term};
    double x[3] = {2.0, 2.0, 0.5};
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_NO_DESCENT);
    ck_assert_double_eq(x[0], 2.0);
    fault = NO_GRADIENT;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_NOT_FINITE);
    fault = NO_HESSIAN;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_NOT_FINITE);
    t.gradient = barrier_gradient;
    s.options.max_iterations = 2;
    x[0] = 1e-4;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_ITERATIONS);
    ck_assert_int_eq(s.report.iterations, 2);
    for (int k = 0; k <= KILN_NEWTON_SOLVER; k++)
        ck_assert_uint_gt(strlen(kiln_newton_outcome_text((kiln_newton_outcome)k)), 5);
    drop(&s);
}
END_TEST

/* The objective is 1e12 and its last digits say nothing; the gradient is exact. */
static double offset_value(const double *x)
{
    return 1e12 + barrier_value(x);
}

START_TEST(an_objective_at_rounding_level_does_not_stop_it)
{
    setting s = setting_of(1, 1);
    toy t = {offset_value, barrier_gradient};
    kiln_term term = toy_term(&t), *terms[] = {&term};
    s.options.tolerance = 1e-12;
    double x[3] = {1.8, 0.3, 1.00001};
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    expect_all(x, 1.0, 1e-13);
    /* A tolerance nothing can meet ends at rounding, as converged. */
    s.options.tolerance = 0.0;
    x[0] = 1.3;
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    ck_assert_int_lt(s.report.iterations, 30);
    drop(&s);
}
END_TEST

/* Its size does not tell that its last digits are lost. */
static double cancelled_value(const double *x)
{
    volatile double whole = 1e3 + barrier_value(x);
    return whole - 1003.0;
}

START_TEST(a_value_lost_in_cancellation_does_not_stop_the_last_step)
{
    setting s = setting_of(1, 1);
    toy t = {cancelled_value, barrier_gradient};
    kiln_term term = toy_term(&t), *terms[] = {&term};
    s.options.tolerance = 1e-6;
    double x[3] = {1.0 + 1e-8, 1.0 - 2e-8, 1.0 + 3e-8};
    minimise(&s, terms, 1, x);
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    expect_all(x, 1.0, 1e-13);
    drop(&s);
}
END_TEST

/* Bumpers: rows 2i and 2i + 1 push each other apart along x below a distance of 1. Pairs are
 * listed once they are nearer than 1.5, and those not listed may come to 1.25 in one step, as
 * contact does it. */
enum { BUMPERS = ROWS / 2 };

typedef struct bumpers {
    uint32_t row[2 * BUMPERS];
    size_t count;
    bool all; /* listed from the beginning */
    kiln_term *term;
    int renewed, changes;
} bumpers;

static double overlap(const double *x, uint32_t row)
{
    double distance = x[3 * (row + 1)] - x[3 * row];
    return distance < 1.0 ? 1.0 - distance : 0.0;
}

static double bumpers_value(void *self, const double *x)
{
    const bumpers *b = self;
    double sum = 0.0;
    for (size_t i = 0; i < b->count; i++)
        sum += 50.0 * pow(overlap(x, b->row[2 * i]), 2.0);
    return sum;
}

static void bumpers_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    const bumpers *b = self;
    for (size_t i = 0; i < b->count; i++) {
        uint32_t row = b->row[2 * i];
        double by = overlap(x, row);
        g[3 * row] += scale * 100.0 * by;
        g[3 * (row + 1)] -= scale * 100.0 * by;
        if (!H || by == 0.0)
            continue;
        const double own[3][3] = {{scale * 100.0}}, other[3][3] = {{-scale * 100.0}};
        kiln_bsr_add(H, row, row, own);
        kiln_bsr_add(H, row + 1, row + 1, own);
        kiln_bsr_add(H, row, row + 1, other);
    }
}

static double bumpers_max_step(void *self, const double *x, const double *dx)
{
    const bumpers *b = self;
    double least = 1.0;
    for (uint32_t row = 0, i = 0; row < ROWS; row += 2) {
        if (i < b->count && b->row[2 * i] == row) {
            i++;
            continue;
        }
        double room = x[3 * (row + 1)] - x[3 * row] - 1.25, way = dx[3 * row] - dx[3 * (row + 1)];
        least = way > room ? fmin(least, room / way) : least;
    }
    return least;
}

static kiln_cliques bumpers_cliques(void *self)
{
    const bumpers *b = self;
    return (kiln_cliques){.count = b->count, .size = 2, .row = b->row};
}

static kiln_status bumpers_renew(void *self, const double *x, kiln_error *error)
{
    (void)error;
    bumpers *b = self;
    size_t before = b->count;
    b->count = 0;
    b->renewed++;
    for (uint32_t row = 0; row < ROWS; row += 2)
        if (b->all || x[3 * (row + 1)] - x[3 * row] < 1.5) {
            b->row[2 * b->count] = row;
            b->row[2 * b->count++ + 1] = row + 1;
        }
    if (b->count != before) {
        b->term->revision++;
        b->changes++;
    }
    return KILN_OK;
}

/* The listed pairs grow on the way; where it ends is where it ends with all listed throughout. */
static void press_bumpers(bool all, int threads, double *x, bumpers *b, kiln_newton_report *report)
{
    setting s = setting_of(ROWS, threads);
    kiln_random random = kiln_random_start(3, 1);
    double *center = random_vector(&random, N);
    quadratic q;
    kiln_term pull = quadratic_term(&q, s.context, &random, center);
    kiln_term push = {.name = "bumpers",
                      .self = b,
                      .weight = 1.0,
                      .value = bumpers_value,
                      .add = bumpers_add,
                      .max_step = bumpers_max_step,
                      .cliques = bumpers_cliques,
                      .renew = bumpers_renew};
    *b = (bumpers){.all = all, .term = &push};
    kiln_term *terms[] = {&pull, &push};
    for (size_t i = 0; i < N; i++)
        x[i] = i % 6 == 3 ? 4.0 + 0.1 * (double)i : 0.0; /* far apart */
    s.options.tolerance = 1e-12;
    minimise(&s, terms, 2, x);
    *report = s.report;
    ck_assert_int_eq(s.report.outcome, KILN_NEWTON_CONVERGED);
    /* With none listed at the begin that pattern is one more. */
    ck_assert_int_eq(q.asked, b->changes + !all);
    drop_quadratic(&q);
    free(center);
    drop(&s);
}

START_TEST(a_term_may_change_its_cliques_in_a_solve)
{
    double some[N], every[N], again[N];
    bumpers b;
    kiln_newton_report report;
    press_bumpers(true, 1, every, &b, &report);
    ck_assert_int_eq(b.changes, 1);
    press_bumpers(false, 1, some, &b, &report);
    ck_assert_int_ge(b.changes, 2);
    ck_assert_int_ge(b.renewed, 3);
    ck_assert_int_eq(report.iterations, b.renewed);
    double apart = 0.0;
    for (size_t i = 0; i < N; i++) {
        ck_assert_double_eq_tol(some[i], every[i], 1e-9);
        apart = i % 6 == 0 ? fmax(apart, overlap(some, (uint32_t)(i / 3))) : apart;
    }
    ck_assert_double_gt(apart, 0.0); /* pairs act that were not listed at the start */
    press_bumpers(false, 3, again, &b, &report);
    ck_assert_mem_eq(some, again, sizeof some);
}
END_TEST

START_TEST(bits_do_not_depend_on_threads)
{
    double first[N];
    for (int threads = 1; threads <= 3; threads++) {
        setting s = setting_of(ROWS, threads);
        kiln_random random = kiln_random_start(7, 5);
        double *center = random_vector(&random, N), *x = random_vector(&random, N);
        quadratic q;
        kiln_term term = quadratic_term(&q, s.context, &random, center), *terms[] = {&term};
        hold_some(&s.constraints, x);
        minimise(&s, terms, 1, x);
        if (threads == 1)
            memcpy(first, x, sizeof first);
        ck_assert_int_eq(memcmp(first, x, sizeof first), 0);
        drop_quadratic(&q);
        free(center);
        free(x);
        drop(&s);
    }
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    kiln_random random = kiln_random_start(8, 5);
    kiln_context *plain = kiln_test_context(1);
    double *center = random_vector(&random, N), *x = random_vector(&random, N), moved[N];
    quadratic q;
    kiln_term term = quadratic_term(&q, plain, &random, center), *terms[] = {&term};
    kiln_constraints constraints;
    kiln_constraints_init(&constraints, plain);
    ck_assert_int_eq(kiln_constraints_reset(&constraints, ROWS, NULL), KILN_OK);
    hold_some(&constraints, x);
    kiln_newton_options options = kiln_newton_default_options();
    bool finished = false;
    for (uint64_t k = 1; !finished; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        heap.fail_at = heap.calls + k;
        kiln_newton *newton = NULL;
        kiln_newton_report report;
        memcpy(moved, x, sizeof moved);
        kiln_status status = kiln_newton_create(context, NULL, &newton, NULL);
        if (status == KILN_OK)
            status = kiln_newton_minimise(newton, &options, terms, 1, &constraints, moved, &report,
                                          NULL);
        finished = status == KILN_OK;
        if (!finished) {
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
            /* The same object works once there is memory again. */
            heap.fail_at = 0;
            if (newton)
                ck_assert_int_eq(kiln_newton_minimise(newton, &options, terms, 1, &constraints,
                                                      moved, &report, NULL),
                                 KILN_OK);
        }
        kiln_newton_destroy(newton);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        ck_assert_int_eq(heap.live_bytes, 0);
        ck_assert_uint_lt(k, 100);
    }
    drop_quadratic(&q);
    kiln_constraints_free(&constraints);
    free(center);
    free(x);
    kiln_context_destroy(plain);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("newton");
    TCase *all = kiln_test_case(suite, "newton");
    tcase_add_test(all, a_quadratic_takes_one_iteration);
    tcase_add_test(all, a_step_that_is_too_long_is_not_taken);
    tcase_add_test(all, held_unknowns_go_to_their_targets);
    tcase_add_test(all, when_all_is_held_it_is_only_moved);
    tcase_add_test(all, a_curved_valley_is_followed);
    tcase_add_test(all, a_factor_is_used_while_it_helps);
    tcase_add_test(all, a_kink_is_an_end);
    tcase_add_test(all, walls_are_not_passed);
    tcase_add_test(all, failures_have_their_names);
    tcase_add_test(all, an_objective_at_rounding_level_does_not_stop_it);
    tcase_add_test(all, a_value_lost_in_cancellation_does_not_stop_the_last_step);
    tcase_add_test(all, a_term_may_change_its_cliques_in_a_solve);
    tcase_add_test(all, bits_do_not_depend_on_threads);
    tcase_add_test(all, allocation_failures_are_reported);
    return suite;
}
