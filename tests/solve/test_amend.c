/* Solving with a factor and what has changed since. */
#include "solve/amend.h"
#include "support.h"

#include <math.h>

enum { N = 40 };

/* K is diagonal; A is stiffness * a a' for some vectors, each of two rows and without a sum. */
typedef struct changed {
    double stiffness[N];
    int pairs, solves;
    bool fails;
} changed;

static double diagonal(int i)
{
    return 1.0 + i % 3;
}

static kiln_status solve(void *user, const double *r, double *z, bool *solved, kiln_error *error)
{
    (void)error;
    changed *c = user;
    *solved = !c->fails;
    c->solves++;
    for (int i = 0; i < N; i++)
        z[i] = r[i] / diagonal(i);
    return KILN_OK;
}

static void add(void *user, const double *z, double *out)
{
    const changed *c = user;
    for (int k = 0; k < c->pairs; k++) {
        double force = c->stiffness[k] * (z[2 * k] - z[2 * k + 1]);
        out[2 * k] += force;
        out[2 * k + 1] -= force;
    }
}

static bool improve(changed *c, int most, double *x, double *off, double *sum)
{
    kiln_context *context = kiln_test_context(1);
    kiln_amend amend = {0};
    double b[N], left[N], size = 0.0;
    bool good;
    int solves = 0;
    for (int i = 0; i < N; i++) {
        b[i] = cos(i);
        x[i] = b[i] / diagonal(i);
    }
    const kiln_amend_system system = {c, solve, add, 1e-8, most};
    ck_assert_int_eq(kiln_amend_improve(&amend, context, &system, b, x, N, &good, &solves, NULL),
                     KILN_OK);
    ck_assert_int_eq(solves, c->solves);
    *off = *sum = 0.0;
    for (int i = 0; i < N; i++) {
        left[i] = diagonal(i) * x[i];
        *sum += left[i] - b[i];
    }
    add(c, x, left);
    for (int i = 0; i < N; i++) {
        *off += (left[i] - b[i]) * (left[i] - b[i]);
        size += b[i] * b[i];
    }
    *off = sqrt(*off / size);
    kiln_amend_free(&amend, context);
    kiln_context_destroy(context);
    return good;
}

/* As many solves as there are directions, however stiff they have become. */
START_TEST(few_directions_take_few_solves)
{
    double x[N], off, sum;
    changed none = {.pairs = 0}, some = {.stiffness = {1e6, 1e2, -0.4, 1e4}, .pairs = 4};
    ck_assert(improve(&none, 9, x, &off, &sum));
    ck_assert_int_eq(none.solves, 1);
    ck_assert_double_le(off, 1e-15);
    ck_assert(improve(&some, 9, x, &off, &sum));
    ck_assert_int_le(some.solves, 7); /* one more for rounding */
    ck_assert_double_le(off, 1e-8);
}
END_TEST

/* What pairs do to each other has no sum, wherever it ends. */
START_TEST(the_sum_stays)
{
    double x[N], off, sum;
    changed many = {.pairs = N / 2};
    for (int k = 0; k < many.pairs; k++)
        many.stiffness[k] = pow(10.0, 0.2 * k);
    ck_assert(!improve(&many, 3, x, &off, &sum));
    ck_assert_int_eq(many.solves, 3);
    ck_assert_double_gt(off, 1e-3);
    ck_assert_double_le(fabs(sum), 1e-12);
}
END_TEST

/* A matrix that is not positive, or cannot be solved with: what was found until then. */
START_TEST(fails_softly)
{
    double x[N], off, sum;
    changed negative = {.stiffness = {-10.0}, .pairs = 1},
            failing = {.stiffness = {1.0}, .pairs = 1};
    failing.fails = true;
    ck_assert(!improve(&negative, 9, x, &off, &sum));
    ck_assert(!improve(&failing, 9, x, &off, &sum));
    for (int i = 0; i < N; i++)
        ck_assert_double_eq_tol(x[i], cos(i) / diagonal(i), 1e-15);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("amend");
    TCase *all = kiln_test_case(suite, "amend");
    tcase_add_test(all, few_directions_take_few_solves);
    tcase_add_test(all, the_sum_stays);
    tcase_add_test(all, fails_softly);
    return suite;
}
