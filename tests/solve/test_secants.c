/* Steps along the columns of A, with a factor that is I. */
#include "solve/secants.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { N = 5 };

static const double A[N][N] = {
    {4, 1, 0, 0, 0.5}, {1, 3, 1, 0, 0}, {0, 1, 5, 1, 0}, {0, 0, 1, 2, 0.25}, {0.5, 0, 0, 0.25, 1}};

static void multiply(const double *v, double *out)
{
    for (int r = 0; r < N; r++) {
        out[r] = 0.0;
        for (int c = 0; c < N; c++)
            out[r] += A[r][c] * v[c];
    }
}

static void learn(kiln_secants *secants, const double *step)
{
    const double before[N] = {1, 2, 3, 4, 5};
    double after[N];
    multiply(step, after);
    for (int i = 0; i < N; i++)
        after[i] += before[i];
    kiln_secants_learn(secants, 1.0, step, before, after);
}

static void solve(kiln_secants *secants, const double *b, double *x)
{
    memcpy(x, b, N * sizeof *x);
    kiln_secants_reduce(secants, 1.0, x, x);
    kiln_secants_complete(secants, x);
}

/* The change that the last step made asks for that step again, whatever the factor is. */
START_TEST(what_was_learned_last_is_known)
{
    kiln_context *context = kiln_test_context(1);
    kiln_secants secants = {0};
    ck_assert_int_eq(kiln_secants_begin(&secants, context, N, NULL), KILN_OK);
    for (int k = 0; k < 3; k++) {
        double step[N] = {1, k, -1, 0.5 * k, 2}, b[N], x[N];
        learn(&secants, step);
        multiply(step, b);
        solve(&secants, b, x);
        for (int i = 0; i < N; i++)
            ck_assert_double_eq_tol(x[i], step[i], 1e-13);
    }
    kiln_secants_free(&secants, context);
    kiln_context_destroy(context);
}
END_TEST

/* Steps that are taken as they are found, whole, soon end where the gradient is zero: after as many
 * as the matrix has directions, since each is searched along its line. */
START_TEST(few_steps_solve)
{
    kiln_context *context = kiln_test_context(1);
    kiln_secants secants = {0};
    double x[N] = {0}, g[N] = {1, -2, 3, -4, 5}, b[N], d[N], Ad[N], after[N], left = 0.0;
    ck_assert_int_eq(kiln_secants_begin(&secants, context, N, NULL), KILN_OK);
    for (int k = 0; k < N; k++) {
        double slope = 0.0, curvature = 0.0;
        for (int i = 0; i < N; i++)
            b[i] = -g[i];
        solve(&secants, b, d);
        multiply(d, Ad);
        for (int i = 0; i < N; i++)
            slope -= g[i] * d[i], curvature += d[i] * Ad[i];
        double step = slope / curvature;
        for (int i = 0; i < N; i++)
            x[i] += step * d[i], after[i] = g[i] + step * Ad[i];
        kiln_secants_learn(&secants, step, d, g, after);
        memcpy(g, after, sizeof g);
    }
    for (int i = 0; i < N; i++)
        left = fmax(left, fabs(g[i]));
    ck_assert_double_lt(left, 1e-12);
    kiln_secants_free(&secants, context);
    kiln_context_destroy(context);
}
END_TEST

/* Along which the objective is not convex nothing is learned, and never more than there is room
 * for. */
START_TEST(a_wrong_step_teaches_nothing)
{
    kiln_context *context = kiln_test_context(1);
    kiln_secants secants = {0};
    ck_assert_int_eq(kiln_secants_begin(&secants, context, N, NULL), KILN_OK);
    const double step[N] = {1, 0, 0, 0, 0}, before[N] = {0}, after[N] = {-1, 0, 0, 0, 0};
    kiln_secants_learn(&secants, 1.0, step, before, after);
    kiln_secants_learn(&secants, 1.0, step, before, before);
    ck_assert_int_eq(secants.count, 0);
    for (int k = 0; k < 2 * KILN_MOST_SECANTS; k++)
        learn(&secants, step);
    ck_assert_int_eq(secants.count, KILN_MOST_SECANTS);
    kiln_secants_free(&secants, context);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("secants");
    TCase *c = kiln_test_case(suite, "secants");
    tcase_add_test(c, what_was_learned_last_is_known);
    tcase_add_test(c, few_steps_solve);
    tcase_add_test(c, a_wrong_step_teaches_nothing);
    return suite;
}
