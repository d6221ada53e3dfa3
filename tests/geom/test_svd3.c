#include "geom/svd3.h"

#include "matrices.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

static const double bar = 4e-15;

typedef struct errors {
    double reconstruction, u, v, sorted; /* largest; sorted: 1 where the order or a sign is wrong */
} errors;

static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

static void judge(errors *e, const kiln_mat3 *a, const kiln_svd3 *d)
{
    e->reconstruction = larger(kiln_test_reconstruction(&d->u, d->s, &d->v, a), e->reconstruction);
    e->u = larger(kiln_test_orthogonality(&d->u), e->u);
    e->v = larger(kiln_test_orthogonality(&d->v), e->v);
    int right = d->s[0] >= d->s[1] && d->s[1] >= fabs(d->s[2]) && kiln_m3_det(d->u) > 0.0 &&
                kiln_m3_det(d->v) > 0.0;
    e->sorted = larger(right ? 0.0 : 1.0, e->sorted);
}

static void check(const errors *e, const char *what)
{
    printf("%s: reconstruction %.2e, U %.2e, V %.2e\n", what, e->reconstruction, e->u, e->v);
    ck_assert_double_le(e->reconstruction, bar);
    ck_assert_double_le(e->u, bar);
    ck_assert_double_le(e->v, bar);
    ck_assert_double_eq(e->sorted, 0.0);
}

static uint64_t matrices_per_kind(void)
{
    return kiln_test_rounds(20000, 10000000 / KILN_TEST_MATRIX_KINDS + 1);
}

START_TEST(scalar_reaches_the_bar_on_every_kind)
{
    kiln_random r = kiln_random_start(7, (uint64_t)_i);
    errors e = {0};
    for (uint64_t i = 0; i < matrices_per_kind(); i++) {
        kiln_mat3 a = kiln_test_matrix(&r, _i);
        kiln_svd3 d = kiln_svd3_decompose(a);
        judge(&e, &a, &d);
    }
    char what[40];
    snprintf(what, sizeof what, "scalar, kind %d", _i);
    check(&e, what);
}
END_TEST

enum { BATCH = 59 }; /* full blocks and a remainder for every width */

static kiln_mat3 unpack(const double *c, int i)
{
    kiln_mat3 m;
    for (int k = 0; k < 9; k++)
        m.m[k / 3][k % 3] = c[k * BATCH + i];
    return m;
}

static void judge_batch(kiln_isa isa, const kiln_mat3 a[BATCH], errors *e, double *from_scalar)
{
    double c[9 * BATCH], u[9 * BATCH], s[3 * BATCH], v[9 * BATCH];
    for (int i = 0; i < BATCH; i++)
        for (int k = 0; k < 9; k++)
            c[k * BATCH + i] = a[i].m[k / 3][k % 3];
    kiln_svd3_decompose_batch(isa, BATCH, BATCH, c, u, s, v);
    for (int i = 0; i < BATCH; i++) {
        kiln_svd3 d = {unpack(u, i), {s[i], s[BATCH + i], s[2 * BATCH + i]}, unpack(v, i)};
        judge(e, &a[i], &d);
        kiln_svd3 reference = kiln_svd3_decompose(a[i]);
        double top = reference.s[0] > 0.0 ? reference.s[0] : 1.0;
        for (int k = 0; k < 3; k++)
            *from_scalar = larger(fabs(d.s[k] / top - reference.s[k] / top), *from_scalar);
    }
}

START_TEST(batched_reaches_the_bar_and_agrees)
{
    for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
        kiln_random r = kiln_random_start(8, (uint64_t)_i);
        errors e = {0};
        double from_scalar = 0.0;
        for (uint64_t n = 0; n < matrices_per_kind(); n += BATCH) {
            kiln_mat3 a[BATCH];
            for (int i = 0; i < BATCH; i++)
                a[i] = kiln_test_matrix(&r, _i);
            judge_batch((kiln_isa)isa, a, &e, &from_scalar);
        }
        char what[80];
        snprintf(what, sizeof what, "%s, kind %d, values off by %.2e", kiln_isa_name((kiln_isa)isa),
                 _i, from_scalar);
        check(&e, what);
        ck_assert_double_le(from_scalar, bar);
    }
}
END_TEST

/* A lane must not see its neighbours: same bits wherever the matrix stands, whatever is beside it.
 */
START_TEST(place_in_the_batch_does_not_matter)
{
    for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
        kiln_random r = kiln_random_start(9, 0);
        double c[9 * BATCH], u[9 * BATCH], s[3 * BATCH], v[9 * BATCH], first[21];
        for (int place = 0; place < BATCH; place++) {
            for (int i = 0; i < BATCH; i++) {
                kiln_mat3 a = kiln_test_matrix(&r, i % KILN_TEST_MATRIX_KINDS);
                for (int k = 0; k < 9; k++)
                    c[k * BATCH + i] = i == place ? (double)(k * k % 7) - 2.3 : a.m[k / 3][k % 3];
            }
            kiln_svd3_decompose_batch((kiln_isa)isa, BATCH, BATCH, c, u, s, v);
            double here[21];
            for (int k = 0; k < 9; k++) {
                here[k] = u[k * BATCH + place];
                here[9 + k] = v[k * BATCH + place];
            }
            for (int k = 0; k < 3; k++)
                here[18 + k] = s[k * BATCH + place];
            if (place == 0)
                memcpy(first, here, sizeof first);
            ck_assert_mem_eq(first, here, sizeof first);
        }
    }
}
END_TEST

START_TEST(known_values)
{
    kiln_svd3 d = kiln_svd3_decompose(kiln_m3_identity());
    for (int i = 0; i < 9; i++) {
        ck_assert_double_eq(d.u.m[i / 3][i % 3], i % 4 == 0 ? 1.0 : 0.0);
        ck_assert_double_eq(d.v.m[i / 3][i % 3], i % 4 == 0 ? 1.0 : 0.0);
        ck_assert_double_eq(d.s[i % 3], 1.0);
    }
    d = kiln_svd3_decompose(kiln_m3_diagonal(-1, -1, -1));
    ck_assert_double_eq_tol(d.s[0], 1.0, 1e-15);
    ck_assert_double_eq_tol(d.s[1], 1.0, 1e-15);
    ck_assert_double_eq_tol(d.s[2], -1.0, 1e-15);
    d = kiln_svd3_decompose(kiln_m3_diagonal(1, -3, 2));
    ck_assert_double_eq_tol(d.s[0], 3.0, 4e-15);
    ck_assert_double_eq_tol(d.s[1], 2.0, 4e-15);
    ck_assert_double_eq_tol(d.s[2], -1.0, 4e-15);
    /* golden ratio: [1 1; 0 1] has singular values phi and 1/phi */
    d = kiln_svd3_decompose((kiln_mat3){{{1, 1, 0}, {0, 1, 0}, {0, 0, 0.5}}});
    ck_assert_double_eq_tol(d.s[0], 1.6180339887498949, 4e-15);
    ck_assert_double_eq_tol(d.s[1], 0.6180339887498949, 4e-15);
    ck_assert_double_eq_tol(d.s[2], 0.5, 4e-15);
}
END_TEST

START_TEST(zero_and_extreme_matrices)
{
    errors e = {0};
    kiln_mat3 zero = {{{0}}};
    kiln_svd3 d = kiln_svd3_decompose(zero);
    judge(&e, &zero, &d);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(d.s[i], 0.0);
    double extremes[] = {DBL_MAX / 4, -DBL_MAX / 4, DBL_MIN, DBL_TRUE_MIN * 1024, 1e-320, 1e300, 0};
    kiln_random r = kiln_random_start(10, 0);
    for (int n = 0; n < 20000; n++) {
        kiln_mat3 a;
        for (int i = 0; i < 9; i++)
            a.m[i / 3][i % 3] = extremes[kiln_random_below(&r, 7)];
        d = kiln_svd3_decompose(a);
        /* a result in the denormal range cannot be exact to more than its last bit */
        if (d.s[0] > 1e-290 || d.s[0] == 0.0)
            judge(&e, &a, &d);
        ck_assert_double_le(kiln_test_orthogonality(&d.u), bar);
        ck_assert_double_le(kiln_test_orthogonality(&d.v), bar);
    }
    check(&e, "extremes");
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("svd3");
    TCase *test_case = kiln_test_case(suite, "svd3");
    tcase_add_loop_test(test_case, scalar_reaches_the_bar_on_every_kind, 0, KILN_TEST_MATRIX_KINDS);
    tcase_add_loop_test(test_case, batched_reaches_the_bar_and_agrees, 0, KILN_TEST_MATRIX_KINDS);
    tcase_add_test(test_case, place_in_the_batch_does_not_matter);
    tcase_add_test(test_case, known_values);
    tcase_add_test(test_case, zero_and_extreme_matrices);
    return suite;
}
