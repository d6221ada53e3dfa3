/* True Hessians where Newton's steps shrink slowly (newton.c, N12). */
#include "solve/newton.h"
#include "support.h"

#include <math.h>
#include <string.h>

/* Bowls that are deeper than parabolas, of which the matrix without negative parts has another
 * multiple each: more than secants can learn. */
enum { ROWS = 16, COORDINATES = 3 * ROWS };
/* m, the model: all that the coordinates do is a little of it. */
static const double LARGE = 1e4;

typedef struct bowls {
    bool near, exact;
    bool never;     /* the true Hessian is said to be negative */
    int tried, all; /* matrices with it, and all of them */
} bowls;

static double steepness(int i)
{
    return 1.0 + i % 5;
}

static double bowls_value(void *self, const double *x)
{
    (void)self;
    double sum = 0.0;
    for (int i = 0; i < COORDINATES; i++) {
        double d = x[i] - 1.0;
        sum += steepness(i) * (0.5 * d * d + 0.05 * d * d * d * d);
    }
    return sum;
}

static void bowls_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    bowls *b = self;
    for (int i = 0; i < COORDINATES; i++) {
        double d = x[i] - 1.0;
        g[i] += scale * steepness(i) * (d + 0.2 * d * d * d);
    }
    if (!H)
        return;
    b->all++;
    b->tried += b->exact;
    for (uint32_t row = 0; row < ROWS; row++) {
        double h[3][3] = {{0}};
        for (int c = 0; c < 3; c++) {
            int i = 3 * (int)row + c;
            double d = x[i] - 1.0, too_stiff = b->exact ? 1.0 : 2.0 + i % 11;
            h[c][c] = scale * steepness(i) * (1.0 + 0.6 * d * d) * too_stiff;
            if (b->exact && b->never)
                h[c][c] *= -1.0;
        }
        kiln_bsr_add(H, row, row, (const double(*)[3])h);
    }
}

static void bowls_note(void *self, const double *x)
{
    (void)self;
    (void)x;
}

static void bowls_add_noted(void *self, double scale, const double *v, double *out)
{
    (void)self;
    (void)scale;
    (void)v;
    (void)out;
}

static bool bowls_set_exact(void *self, bool exact)
{
    bowls *b = self;
    b->exact = exact && b->near;
    return b->near;
}

static void bowls_set_near(void *self, bool near)
{
    ((bowls *)self)->near = near;
}

static int descend(bowls *b, bool has_true, double length)
{
    kiln_context *context = kiln_test_context(1);
    kiln_constraints constraints;
    kiln_newton *newton;
    kiln_newton_report report;
    kiln_newton_options options = kiln_newton_default_options();
    options.corrections = 8;
    options.balanced = true;
    options.max_iterations = 1000;
    options.length = length;
    options.tolerance = 1e-7 / length;
    kiln_constraints_init(&constraints, context);
    ck_assert_int_eq(kiln_constraints_reset(&constraints, ROWS, NULL), KILN_OK);
    ck_assert_int_eq(kiln_newton_create(context, NULL, &newton, NULL), KILN_OK);
    kiln_term term = {.name = "bowls",
                      .self = b,
                      .weight = 1.0,
                      .value = bowls_value,
                      .add = bowls_add,
                      .set_exact = has_true ? bowls_set_exact : NULL,
                      .set_near = has_true ? bowls_set_near : NULL,
                      .note = bowls_note,
                      .add_noted = bowls_add_noted};
    kiln_term *terms[] = {&term};
    double x[COORDINATES];
    for (int i = 0; i < COORDINATES; i++)
        x[i] = 3.0 - 0.1 * i;
    ck_assert_int_eq(
        kiln_newton_minimise(newton, &options, terms, 1, &constraints, x, &report, NULL), KILN_OK);
    ck_assert_int_eq(report.outcome, KILN_NEWTON_CONVERGED);
    for (int i = 0; i < COORDINATES; i++)
        ck_assert_double_eq_tol(x[i], 1.0, 1e-6);
    ck_assert(!b->exact);
    kiln_newton_destroy(newton);
    kiln_constraints_free(&constraints);
    kiln_context_destroy(context);
    return report.iterations;
}

/* The first two matrices are those without negative parts; the true one ends it. */
START_TEST(true_hessians_end_a_tail)
{
    bowls with = {0}, without = {0};
    int few = descend(&with, true, LARGE), many = descend(&without, false, LARGE);
    ck_assert_int_gt(with.tried, 0);
    ck_assert_int_eq(with.all - with.tried, 2);
    ck_assert_int_le(few, 5);
    ck_assert_int_ge(many, few + 2);
}
END_TEST

/* Steps that are long for the model are no tail. */
START_TEST(far_off_it_is_not_tried)
{
    bowls far = {0}, near = {0};
    (void)descend(&far, true, 1.0);
    (void)descend(&near, true, LARGE);
    ck_assert_int_gt(far.all - far.tried, near.all - near.tried);
}
END_TEST

/* Where it is not positive definite it is not tried at once again, and costs nothing but itself. */
START_TEST(negative_ones_are_left_alone)
{
    bowls never = {.never = true}, without = {0};
    int found = descend(&never, true, LARGE), many = descend(&without, false, LARGE);
    ck_assert_int_le(found, many);
    ck_assert_int_gt(never.tried, 0);
    ck_assert_int_le(3 * never.tried, found + 2);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("newton_near");
    TCase *all = kiln_test_case(suite, "newton_near");
    tcase_add_test(all, true_hessians_end_a_tail);
    tcase_add_test(all, far_off_it_is_not_tried);
    tcase_add_test(all, negative_ones_are_left_alone);
    return suite;
}
