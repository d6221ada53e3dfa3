/* A turn beside a diagonal. */
#include "solve/gcr.h"
#include "support.h"

#include <math.h>

enum { N = 12 };

typedef struct turned {
    double turn;
    int solves;
    bool fails;
} turned;

static double diagonal(int i)
{
    return 1.0 + i;
}

static kiln_status solve(void *user, const double *r, double *z, bool *solved, kiln_error *error)
{
    (void)error;
    turned *t = user;
    t->solves++;
    *solved = !t->fails;
    for (int i = 0; i < N; i++)
        z[i] = r[i] / diagonal(i);
    return KILN_OK;
}

static void add(void *user, const double *z, double *out)
{
    const turned *t = user;
    for (int i = 0; i < N; i += 2) {
        out[i] += t->turn * z[i + 1];
        out[i + 1] -= t->turn * z[i];
    }
}

static double improve(turned *t, double *x)
{
    kiln_context *context = kiln_test_context(1);
    kiln_gcr gcr = {0};
    double b[N], off = 0.0, size = 0.0;
    bool solved;
    const kiln_gcr_system system = {t, solve, add};
    for (int i = 0; i < N; i++)
        b[i] = cos(i);
    ck_assert_int_eq(solve(t, b, x, &solved, NULL), KILN_OK);
    ck_assert_int_eq(kiln_gcr_improve(&gcr, context, &system, 1e-10, b, x, N, NULL), KILN_OK);
    double left[N];
    for (int i = 0; i < N; i++)
        left[i] = diagonal(i) * x[i];
    add(t, x, left);
    for (int i = 0; i < N; i++) {
        off += (left[i] - b[i]) * (left[i] - b[i]);
        size += b[i] * b[i];
    }
    kiln_gcr_free(&gcr, context);
    kiln_context_destroy(context);
    return sqrt(off / size);
}

START_TEST(finds_what_turns)
{
    double x[N];
    turned none = {0}, little = {.turn = 0.1}, much = {.turn = 5.0};
    ck_assert_double_le(improve(&none, x), 1e-15);
    ck_assert_int_eq(none.solves, 1);
    ck_assert_double_le(improve(&little, x), 1e-10);
    ck_assert_int_le(little.solves, 8);
    ck_assert_double_le(improve(&much, x), 1e-10);
}
END_TEST

/* What cannot be solved stays what it was as far as it came. */
START_TEST(fails_softly)
{
    double x[N];
    turned t = {.turn = 0.1, .fails = true};
    ck_assert_double_le(improve(&t, x), 0.1);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("gcr");
    TCase *all = kiln_test_case(suite, "gcr");
    tcase_add_test(all, finds_what_turns);
    tcase_add_test(all, fails_softly);
    return suite;
}
