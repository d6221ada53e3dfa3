#include "solve/fixed_point.h"
#include "support.h"

#include <math.h>

enum { N = 12 };

/* G(x) = A x + b with A skew, turning by `most` at most: repeating it diverges where that is more
 * than 1. */
static void turn(double most, const double *x, double *out)
{
    for (int i = 0; i < N; i += 2) {
        double a = most * (i + 2) / N;
        out[i] = a * x[i + 1] + 1;
        out[i + 1] = -a * x[i] + i;
    }
}

static double search(double most, int rounds)
{
    kiln_context *context = kiln_test_context(1);
    kiln_fixed_point point = {0};
    double x[N] = {0}, g[N], error = 0;
    ck_assert_int_eq(kiln_fixed_point_begin(&point, context, N, NULL), KILN_OK);
    for (int round = 0; round < rounds; round++) {
        turn(most, x, g);
        kiln_fixed_point_next(&point, g, x);
        if (round == 0)
            ck_assert(!memcmp(x, g, sizeof x));
    }
    turn(most, x, g);
    for (int i = 0; i < N; i++)
        error = fmax(error, fabs(g[i] - x[i]));
    kiln_fixed_point_free(&point, context);
    kiln_context_destroy(context);
    return error;
}

START_TEST(finds_what_repeating_does_not)
{
    ck_assert_double_le(search(0.5, 20), 1e-8);
    ck_assert_double_le(search(1.5, 60), 1e-6);
}
END_TEST

/* A constant map, and one that has been found: nothing is divided by. */
START_TEST(nothing_to_find)
{
    kiln_context *context = kiln_test_context(1);
    kiln_fixed_point point = {0};
    const double g[2] = {3, -4};
    double x[2] = {1, 1};
    ck_assert_int_eq(kiln_fixed_point_begin(&point, context, 2, NULL), KILN_OK);
    for (int round = 0; round < 10; round++) {
        kiln_fixed_point_next(&point, g, x);
        ck_assert_double_eq_tol(x[0], 3, 1e-12);
        ck_assert_double_eq_tol(x[1], -4, 1e-12);
    }
    kiln_fixed_point_free(&point, context);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("fixed point");
    TCase *all = kiln_test_case(suite, "fixed point");
    tcase_add_test(all, finds_what_repeating_does_not);
    tcase_add_test(all, nothing_to_find);
    return suite;
}
