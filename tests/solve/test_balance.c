/* What a solve that is not exact leaves has no sum over parts, as far as they can move. */
#include "solve/balance.h"
#include "support.h"

#include <math.h>

enum { BODY = 12, BODIES = 4, ROWS = BODY * BODIES };

/* Chains of masses with springs in all directions. Bodies 0 and 1 are free; 2 is held at its end; 3
 * along a slanting axis. Blocks between 0 and 1 are in the pattern, and zero. */
static void make_bodies(kiln_bsr *matrix, kiln_constraints *constraints)
{
    uint32_t pair[2 * ROWS];
    size_t count = 0;
    for (uint32_t i = 0; i + 1 < ROWS; i++)
        if ((i + 1) % BODY != 0 || i + 1 == BODY)
            pair[2 * count] = i, pair[2 * count++ + 1] = i + 1;
    kiln_cliques cliques = {.count = count, .size = 2, .row = pair};
    ck_assert_int_eq(kiln_bsr_set_pattern(matrix, ROWS, &cliques, 1, NULL), KILN_OK);
    for (size_t k = 0; k < count; k++) {
        uint32_t i = pair[2 * k], j = pair[2 * k + 1];
        double spring[3][3], turned[3][3], way[3] = {1.0, 0.3, -0.2};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                spring[r][c] = (1e4 + i) * (way[r] * way[c] + (r == c ? 0.1 : 0.0));
                turned[r][c] = -spring[r][c];
            }
        if (j == BODY)
            continue;
        kiln_bsr_add(matrix, i, i, spring);
        kiln_bsr_add(matrix, j, j, spring);
        kiln_bsr_add(matrix, i, j, turned);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        const double mass[3][3] = {{1.0 + i % 3, 0, 0}, {0, 1.0 + i % 3, 0}, {0, 0, 1.0 + i % 3}};
        kiln_bsr_add(matrix, i, i, mass);
    }
    ck_assert_int_eq(kiln_constraints_reset(constraints, ROWS, NULL), KILN_OK);
    bool agrees;
    const kiln_hold whole = {.components = 7};
    const kiln_mat3 axes = {{{0.6, 0.8, 0.0}, {-0.8, 0.6, 0.0}, {0.0, 0.0, 1.0}}};
    const kiln_hold slanting = {.components = 1, .axes = &axes};
    for (uint32_t i = 2 * BODY; i < 2 * BODY + 2; i++)
        ck_assert_int_eq(kiln_constraints_hold(constraints, i, &whole, &agrees, NULL), KILN_OK);
    for (uint32_t i = 3 * BODY; i < ROWS; i++)
        ck_assert_int_eq(kiln_constraints_hold(constraints, i, &slanting, &agrees, NULL), KILN_OK);
    kiln_constraints_apply(constraints, matrix, 1e3);
}

/* The sum of what x leaves over a body along an axis, of the sum of its sizes. */
static double rest_of(const kiln_bsr *matrix, const double *b, const double *x, int body,
                      const double axis[3])
{
    double r[3 * ROWS], sum = 0.0, size = 0.0;
    ck_assert_int_eq(kiln_bsr_multiply(matrix, x, r, NULL), KILN_OK);
    for (int i = 3 * BODY * body; i < 3 * BODY * (body + 1); i++) {
        sum += axis[i % 3] * (b[i] - r[i]);
        size += fabs(b[i]);
    }
    return fabs(sum) / size;
}

START_TEST(sums_are_balanced)
{
    static const double X[3] = {1, 0, 0}, Y[3] = {0, 1, 0}, Z[3] = {0, 0, 1},
                        along[3] = {-0.8, 0.6, 0};
    kiln_context *context = kiln_test_context(2);
    kiln_constraints constraints;
    kiln_balance balance = {0};
    kiln_bsr matrix;
    double x[3 * ROWS], b[3 * ROWS], before[3 * ROWS];
    kiln_bsr_init(&matrix, context);
    kiln_constraints_init(&constraints, context);
    make_bodies(&matrix, &constraints);
    for (int i = 0; i < 3 * ROWS; i++)
        x[i] = cos(i) + 1.0;
    kiln_constraints_project(&constraints, x);
    ck_assert_int_eq(kiln_bsr_multiply(&matrix, x, b, NULL), KILN_OK);
    kiln_constraints_project(&constraints, b);
    for (int i = 0; i < 3 * ROWS; i++)
        x[i] *= 1.0 + 1e-2 * sin(3.0 * i);
    kiln_constraints_project(&constraints, x);
    memcpy(before, x, sizeof x);
    ck_assert_int_eq(kiln_balance_find(&balance, &matrix, &constraints, NULL), KILN_OK);
    ck_assert_uint_eq(balance.parts, BODIES + 1); /* rows that are held are one part */
    kiln_balance_restore(&balance, &constraints, b, x);
    for (int body = 0; body < 2; body++) {
        ck_assert_double_gt(rest_of(&matrix, b, before, body, X), 1e-9);
        ck_assert_double_lt(rest_of(&matrix, b, x, body, X), 1e-14);
        ck_assert_double_lt(rest_of(&matrix, b, x, body, Y), 1e-14);
        ck_assert_double_lt(rest_of(&matrix, b, x, body, Z), 1e-14);
    }
    ck_assert_double_gt(rest_of(&matrix, b, before, 3, along), 1e-9);
    ck_assert_double_lt(rest_of(&matrix, b, x, 3, along), 1e-14);
    ck_assert_double_lt(rest_of(&matrix, b, x, 3, Z), 1e-14);
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq(x[6 * BODY + c], 0.0);
    for (int i = 3 * BODY; i < ROWS; i++)
        ck_assert_double_lt(fabs(0.6 * x[3 * i] + 0.8 * x[3 * i + 1]), 1e-14);
    kiln_balance_free(&balance, context);
    kiln_constraints_free(&constraints);
    kiln_bsr_free(&matrix);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("balance");
    TCase *all = kiln_test_case(suite, "balance");
    tcase_add_test(all, sums_are_balanced);
    return suite;
}
