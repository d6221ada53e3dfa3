/* Steps with an old factor and what terms note since (newton.c, N8). */
#include "solve/newton.h"
#include "support.h"

#include <math.h>
#include <string.h>

/* A load that drives the first coordinate down a shaft with a spring on every storey, from 3. */
enum { SPRINGS = 3, LOAD = 8 };

typedef struct shaft {
    double matrix, change; /* second derivative by the first coordinate in the matrix; and since */
} shaft;

static double stiffness_at(double x)
{
    double sum = 1.0;
    for (int at = 1; at <= SPRINGS; at++)
        sum += x < at ? at : 0.0;
    return sum;
}

static double shaft_value(void *self, const double *x)
{
    (void)self;
    double sum = LOAD * x[0] + 0.5 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int at = 1; at <= SPRINGS; at++)
        sum += x[0] < at ? 0.5 * at * (at - x[0]) * (at - x[0]) : 0.0;
    return sum;
}

static void shaft_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    shaft *s = self;
    for (int c = 0; c < 3; c++)
        g[c] += scale * x[c];
    g[0] += scale * LOAD;
    for (int at = 1; at <= SPRINGS; at++)
        g[0] -= x[0] < at ? scale * at * (at - x[0]) : 0.0;
    if (!H)
        return;
    s->matrix = stiffness_at(x[0]);
    const double h[3][3] = {{scale * s->matrix}, {0.0, scale}, {0.0, 0.0, scale}};
    kiln_bsr_add(H, 0, 0, h);
}

/* To a little below the next spring. */
static double shaft_max_step(void *self, const double *x, const double *dx)
{
    (void)self;
    double floor = ceil(x[0]) - 1.1;
    return x[0] > 1.0 && x[0] + dx[0] < floor ? (floor - x[0]) / dx[0] : 1.0;
}

static void shaft_note(void *self, const double *x)
{
    shaft *s = self;
    s->change = stiffness_at(x[0]) - s->matrix;
}

static void shaft_add_noted(void *self, double scale, const double *v, double *out)
{
    out[0] += scale * ((shaft *)self)->change * v[0];
}

static int iterations(bool notes)
{
    kiln_context *context = kiln_test_context(1);
    kiln_constraints constraints;
    kiln_newton *newton;
    kiln_newton_report report;
    kiln_newton_options options = kiln_newton_default_options();
    options.corrections = 8;
    options.balanced = true;
    kiln_constraints_init(&constraints, context);
    ck_assert_int_eq(kiln_constraints_reset(&constraints, 1, NULL), KILN_OK);
    ck_assert_int_eq(kiln_newton_create(context, NULL, &newton, NULL), KILN_OK);
    constraints.held[0] = 2;
    constraints.target[0] = kiln_v3(0.0, 3.0, 0.0);
    shaft s = {0};
    kiln_term term = {.name = "shaft",
                      .self = &s,
                      .weight = 1.0,
                      .value = shaft_value,
                      .add = shaft_add,
                      .max_step = shaft_max_step,
                      .note = notes ? shaft_note : NULL,
                      .add_noted = notes ? shaft_add_noted : NULL};
    kiln_term *terms[] = {&term};
    double x[3] = {3.5, 1.0, 2.0};
    ck_assert_int_eq(
        kiln_newton_minimise(newton, &options, terms, 1, &constraints, x, &report, NULL), KILN_OK);
    ck_assert_int_eq(report.outcome, KILN_NEWTON_CONVERGED);
    ck_assert_double_eq_tol(x[0], 6.0 / 7.0, 1e-9);
    ck_assert_double_eq(x[1], 3.0);
    ck_assert_double_eq_tol(x[2], 0.0, 1e-9);
    kiln_newton_destroy(newton);
    kiln_constraints_free(&constraints);
    kiln_context_destroy(context);
    return report.iterations;
}

/* Cut short by what it meets it goes on with its one factor; also while what is held is on its way.
 */
START_TEST(what_is_noted_needs_no_new_factor)
{
    ck_assert_int_eq(iterations(true), 1);
    ck_assert_int_ge(iterations(false), SPRINGS);
}
END_TEST

/* A load on every coordinate, and a spring of its own below each: nothing but values stop steps. */
enum { ROWS = 4, COORDINATES = 3 * ROWS };

typedef struct bed {
    double load, spring[COORDINATES];
    double matrix[COORDINATES], change[COORDINATES];
} bed;

static double bed_stiffness(const bed *b, const double *x, int i)
{
    return 1.0 + (x[i] < 1.0 ? b->spring[i] : 0.0);
}

static double bed_value(void *self, const double *x)
{
    const bed *b = self;
    double sum = 0.0;
    for (int i = 0; i < COORDINATES; i++) {
        double in = fmax(1.0 - x[i], 0.0);
        sum += b->load * x[i] + 0.5 * x[i] * x[i] + 0.5 * b->spring[i] * in * in;
    }
    return sum;
}

static void bed_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    bed *b = self;
    for (int i = 0; i < COORDINATES; i++)
        g[i] += scale * (b->load + x[i] - b->spring[i] * fmax(1.0 - x[i], 0.0));
    for (uint32_t row = 0; row < ROWS && H; row++) {
        double h[3][3] = {{0.0}};
        for (int c = 0; c < 3; c++) {
            b->matrix[3 * row + c] = bed_stiffness(b, x, 3 * (int)row + c);
            h[c][c] = scale * b->matrix[3 * row + c];
        }
        kiln_bsr_add(H, row, row, (const double(*)[3])h);
    }
}

static void bed_note(void *self, const double *x)
{
    bed *b = self;
    for (int i = 0; i < COORDINATES; i++)
        b->change[i] = bed_stiffness(b, x, i) - b->matrix[i];
}

static void bed_add_noted(void *self, double scale, const double *v, double *out)
{
    const bed *b = self;
    for (int i = 0; i < COORDINATES; i++)
        out[i] += scale * b->change[i] * v[i];
}

/* Matrices that it takes to lie down from `height`. */
static int lie_down(bed *b, double height, double tolerance)
{
    kiln_context *context = kiln_test_context(1);
    kiln_constraints constraints;
    kiln_newton *newton;
    kiln_newton_report report;
    kiln_newton_options options = kiln_newton_default_options();
    options.corrections = 8;
    options.balanced = true;
    options.tolerance = tolerance;
    options.length = 1.0;
    kiln_constraints_init(&constraints, context);
    ck_assert_int_eq(kiln_constraints_reset(&constraints, ROWS, NULL), KILN_OK);
    ck_assert_int_eq(kiln_newton_create(context, NULL, &newton, NULL), KILN_OK);
    kiln_term term = {.name = "bed",
                      .self = b,
                      .weight = 1.0,
                      .value = bed_value,
                      .add = bed_add,
                      .note = bed_note,
                      .add_noted = bed_add_noted};
    kiln_term *terms[] = {&term};
    double x[COORDINATES];
    for (int i = 0; i < COORDINATES; i++)
        x[i] = height;
    ck_assert_int_eq(
        kiln_newton_minimise(newton, &options, terms, 1, &constraints, x, &report, NULL), KILN_OK);
    ck_assert_int_eq(report.outcome, KILN_NEWTON_CONVERGED);
    for (int i = 0; i < COORDINATES; i++)
        ck_assert_double_eq_tol(x[i], (b->spring[i] - b->load) / (1.0 + b->spring[i]), tolerance);
    kiln_newton_destroy(newton);
    kiln_constraints_free(&constraints);
    kiln_context_destroy(context);
    return report.iterations;
}

/* A direction that does not know of the springs is cut short again and again; a new matrix would
 * not know of them either. */
START_TEST(what_the_objective_cuts_short_needs_no_new_factor)
{
    bed b = {.load = 8.0};
    for (int i = 0; i < COORDINATES; i++)
        b.spring[i] = 100.0;
    ck_assert_int_eq(lie_down(&b, 10.0, 1e-6), 1);
}
END_TEST

/* A bowl that the matrix says is much steeper than it is, as where forces turn against a motion. */
enum { TOO_STIFF = 200 };

static double bowl_value(void *self, const double *x)
{
    (void)self;
    double sum = 0.0;
    for (int c = 0; c < 3; c++)
        sum += 0.5 * (c + 1) * (x[c] - 1.0) * (x[c] - 1.0);
    return sum;
}

static void bowl_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    (void)self;
    double h[3][3] = {{0}};
    for (int c = 0; c < 3; c++) {
        g[c] += scale * (c + 1) * (x[c] - 1.0);
        h[c][c] = scale * TOO_STIFF * (c + 1);
    }
    if (H)
        kiln_bsr_add(H, 0, 0, (const double(*)[3])h);
}

static void bowl_note(void *self, const double *x)
{
    (void)self;
    (void)x;
}

static void bowl_add_noted(void *self, double scale, const double *v, double *out)
{
    (void)self;
    (void)scale;
    (void)v;
    (void)out;
}

/* What one step has shown to be farther away than steps of the factor go is gone to. */
START_TEST(too_stiff_a_factor_is_not_believed)
{
    kiln_context *context = kiln_test_context(1);
    kiln_constraints constraints;
    kiln_newton *newton;
    kiln_newton_report report;
    kiln_newton_options options = kiln_newton_default_options();
    options.corrections = 8;
    options.balanced = true;
    options.max_iterations = 1000;
    kiln_constraints_init(&constraints, context);
    ck_assert_int_eq(kiln_constraints_reset(&constraints, 1, NULL), KILN_OK);
    ck_assert_int_eq(kiln_newton_create(context, NULL, &newton, NULL), KILN_OK);
    kiln_term term = {.name = "bowl",
                      .weight = 1.0,
                      .value = bowl_value,
                      .add = bowl_add,
                      .note = bowl_note,
                      .add_noted = bowl_add_noted};
    kiln_term *terms[] = {&term};
    double x[3] = {3.0, 2.0, -1.0};
    ck_assert_int_eq(
        kiln_newton_minimise(newton, &options, terms, 1, &constraints, x, &report, NULL), KILN_OK);
    ck_assert_int_eq(report.outcome, KILN_NEWTON_CONVERGED);
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(x[c], 1.0, 1e-3);
    ck_assert_int_lt(report.iterations, TOO_STIFF);
    kiln_newton_destroy(newton);
    kiln_constraints_free(&constraints);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("newton_again");
    TCase *all = kiln_test_case(suite, "newton_again");
    tcase_add_test(all, what_is_noted_needs_no_new_factor);
    tcase_add_test(all, too_stiff_a_factor_is_not_believed);
    tcase_add_test(all, what_the_objective_cuts_short_needs_no_new_factor);
    return suite;
}
