#include "remesh/metric.h"

#include "support.h"

static kiln_mat3 random_rotation(kiln_random *r)
{
    kiln_vec3 axis = {kiln_random_range(r, -1, 1), kiln_random_range(r, -1, 1),
                      kiln_random_range(r, -1, 1)};
    return kiln_m3_rotation(axis, kiln_random_range(r, 0, 3));
}

static kiln_vec3 random_vector(kiln_random *r)
{
    return kiln_v3(kiln_random_range(r, -1, 1), kiln_random_range(r, -1, 1),
                   kiln_random_range(r, -1, 1));
}

/* Sizes of 10^low to 10^high in random directions. */
static kiln_sym3 random_metric(kiln_random *r, double low, double high)
{
    kiln_mat3 q = random_rotation(r);
    double sizes[3];
    for (int i = 0; i < 3; i++)
        sizes[i] = pow(10.0, kiln_random_range(r, low, high));
    return kiln_metric_from_directions(&q, sizes);
}

/* Largest entry of a - b over that of b. */
static double difference(kiln_sym3 a, kiln_sym3 b)
{
    const double *p = &a.xx, *q = &b.xx;
    double off = 0.0, size = 0.0;
    for (int i = 0; i < 6; i++) {
        off = fmax(off, fabs(p[i] - q[i]));
        size = fmax(size, fabs(q[i]));
    }
    return off / size;
}

START_TEST(lengths)
{
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(0, 0, 1), KILN_PI / 2);
    const double sizes[3] = {0.1, 2.0, 5.0};
    kiln_sym3 m = kiln_metric_from_directions(&turn, sizes);
    ck_assert_double_eq_tol(kiln_metric_length(&m, kiln_v3(0, 0.1, 0)), 1.0, 1e-14);
    ck_assert_double_eq_tol(kiln_metric_length(&m, kiln_v3(2, 0, 0)), 1.0, 1e-14);
    ck_assert_double_eq_tol(kiln_metric_length(&m, kiln_v3(2, 0.1, 5)), sqrt(3.0), 1e-14);
    kiln_sym3 h = kiln_metric_from_size(0.25);
    ck_assert_double_eq_tol(kiln_metric_length(&h, kiln_v3(0.3, 0, 0.4)), 2.0, 1e-14);
}
END_TEST

/* The logarithmic mean against the integral it stands for, and where its formula is 0 / 0. */
START_TEST(mean_lengths)
{
    ck_assert_double_eq(kiln_metric_mean_length(3.0, 3.0), 3.0);
    ck_assert_double_eq(kiln_metric_mean_length(0.0, 3.0), 0.0);
    ck_assert_double_eq(kiln_metric_mean_length(0.0, 0.0), 0.0);
    ck_assert_double_eq_tol(kiln_metric_mean_length(1.0, exp(1.0)), exp(1.0) - 1.0, 1e-14);
    for (int i = 1; i < 400; i++) {
        double ratio = 1.0 + 1e-9 * pow(1.1, i), a = 0.3, b = a * ratio;
        long double exact = ((long double)b - a) / log1pl(((long double)b - a) / a);
        double mean = kiln_metric_mean_length(a, b);
        if (ratio < 1e8)
            ck_assert_double_le(fabs(mean - (double)exact), 1e-12 * (double)exact);
        ck_assert_double_eq(mean, kiln_metric_mean_length(b, a));
        ck_assert(mean >= a && mean <= b);
        ck_assert_double_eq_tol(kiln_metric_mean_length(1e6 * a, 1e6 * b), 1e6 * mean, 1e-8 * mean);
    }
}
END_TEST

START_TEST(bounding)
{
    kiln_random r = kiln_random_start(1, 2);
    const kiln_metric_bounds limits = {.h_min = 0.01, .h_max = 2.0, .ratio = 50.0};
    for (uint64_t n = kiln_test_rounds(2000, 100000); n > 0; n--) {
        kiln_sym3 m = random_metric(&r, -4, 2), b = kiln_metric_bound(m, &limits);
        kiln_eigen3 e = kiln_sym3_eigen(b);
        ck_assert_double_le(e.values[0], 1e4 * (1 + 1e-12));
        ck_assert_double_ge(e.values[2], 0.25 * (1 - 1e-9));
        ck_assert_double_le(e.values[0], 2500.0 * e.values[2] * (1 + 1e-9));
        kiln_eigen3 old = kiln_sym3_eigen(m);
        if (old.values[0] <= 1e4 && old.values[2] >= 0.25 &&
            old.values[0] <= 2500.0 * old.values[2])
            ck_assert_double_eq(difference(b, m), 0.0);
        /* Nothing becomes coarser but by h_min. */
        if (old.values[0] <= 1e4)
            ck_assert(kiln_metric_covers(&b, &m));
    }
    const kiln_metric_bounds none = {0};
    kiln_sym3 m = random_metric(&r, -4, 2);
    ck_assert_double_eq(difference(kiln_metric_bound(m, &none), m), 0.0);
}
END_TEST

START_TEST(intersections)
{
    kiln_random r = kiln_random_start(3, 4);
    for (uint64_t n = kiln_test_rounds(3000, 300000); n > 0; n--) {
        kiln_sym3 a = random_metric(&r, -2, 0), b = random_metric(&r, -2, 0);
        kiln_sym3 m = kiln_metric_intersect(a, b), other = kiln_metric_intersect(b, a);
        ck_assert_double_le(difference(m, other), 1e-9);
        ck_assert(kiln_metric_covers(&m, &a) && kiln_metric_covers(&m, &b));
        ck_assert_double_le(difference(kiln_metric_intersect(m, a), m), 1e-11);
        /* No finer than need be: in the common basis every direction is one of the two. The
         * determinants of a and b bound the product from below, that of the sum from above. */
        kiln_sym3 sum = kiln_sym3_madd(a, 1.0, b);
        ck_assert(kiln_metric_covers(&sum, &m));
        for (int i = 0; i < 5; i++) {
            kiln_vec3 e = random_vector(&r);
            double l = kiln_metric_length(&m, e);
            ck_assert_double_ge(l * (1 + 1e-9), kiln_metric_length(&a, e));
            ck_assert_double_ge(l * (1 + 1e-9), kiln_metric_length(&b, e));
        }
        kiln_sym3 finer = kiln_sym3_scale(a, 1.7);
        ck_assert_double_eq(difference(kiln_metric_intersect(a, finer), finer), 0.0);
        ck_assert_double_eq(difference(kiln_metric_intersect(finer, a), finer), 0.0);
        ck_assert_double_eq(difference(kiln_metric_intersect(a, a), a), 0.0);
    }
    /* Along common axes it is the finer size of each. */
    kiln_mat3 q = random_rotation(&r);
    const double s[3] = {0.01, 1, 3}, t[3] = {0.1, 0.2, 5}, least[3] = {0.01, 0.2, 3};
    kiln_sym3 m = kiln_metric_intersect(kiln_metric_from_directions(&q, s),
                                        kiln_metric_from_directions(&q, t));
    ck_assert_double_le(difference(m, kiln_metric_from_directions(&q, least)), 1e-12);
}
END_TEST

/* The other half of the reduction: no finer than either, and with the intersection it makes up the
 * two: det(union) det(intersection) = det a det b. */
START_TEST(unions)
{
    kiln_random r = kiln_random_start(11, 12);
    for (uint64_t n = kiln_test_rounds(3000, 300000); n > 0; n--) {
        kiln_sym3 a = random_metric(&r, -2, 0), b = random_metric(&r, -2, 0);
        kiln_sym3 m = kiln_metric_unite(a, b), finer = kiln_metric_intersect(a, b);
        for (int i = 0; i < 5; i++) {
            kiln_vec3 e = random_vector(&r);
            double l = kiln_metric_length(&m, e);
            ck_assert_double_le(l, kiln_metric_length(&a, e) * (1 + 1e-9));
            ck_assert_double_le(l, kiln_metric_length(&b, e) * (1 + 1e-9));
        }
        ck_assert_double_le(difference(m, kiln_metric_unite(b, a)), 1e-7);
        double product = kiln_sym3_det(m) * kiln_sym3_det(finer);
        double wanted = kiln_sym3_det(a) * kiln_sym3_det(b);
        ck_assert_double_eq_tol(product / wanted, 1.0, 1e-6);
        ck_assert_double_eq(difference(kiln_metric_unite(a, kiln_sym3_scale(a, 1.7)), a), 0.0);
    }
}
END_TEST

/* Stretched metrics stay so at any distance, and size grows by the length passed. */
START_TEST(growing)
{
    kiln_random r = kiln_random_start(5, 6);
    for (int n = 0; n < 200; n++) {
        kiln_sym3 m = random_metric(&r, -3, 0);
        kiln_vec3 e = random_vector(&r);
        double growth = log(1.3), length = kiln_metric_length(&m, e);
        kiln_sym3 far = kiln_metric_grow(&m, e, growth);
        kiln_eigen3 before = kiln_sym3_eigen(m), after = kiln_sym3_eigen(far);
        for (int i = 0; i < 3; i++)
            ck_assert_double_eq_tol(sqrt(before.values[i] / after.values[i]), 1.0 + growth * length,
                                    1e-7 * (1.0 + growth * length));
    }
}
END_TEST

START_TEST(exponentials)
{
    kiln_random r = kiln_random_start(7, 8);
    double worst = 0.0;
    for (uint64_t n = kiln_test_rounds(20000, 1000000); n > 0; n--) {
        kiln_sym3 m = random_metric(&r, -3 - (double)(n % 4), 3), log_m = kiln_sym3_log(m);
        worst = fmax(worst, difference(kiln_metric_exp(&log_m), kiln_sym3_exp(log_m)));
    }
    ck_assert_double_le(worst, 1e-12);
    for (double h = 1e-6; h < 1e7; h *= 1e3) {
        kiln_sym3 m = kiln_metric_from_size(h), log_m = kiln_sym3_log(m);
        ck_assert_double_le(difference(kiln_metric_exp(&log_m), m), 1e-14);
    }
}
END_TEST

START_TEST(means)
{
    /* Sizes 1, 1, 4 and 16 along one axis: geometric mean (64)^(1/4). */
    const double sizes[4] = {1, 1, 4, 16};
    kiln_random r = kiln_random_start(9, 10);
    kiln_mat3 q = random_rotation(&r);
    kiln_sym3 log_mean = {0};
    for (int i = 0; i < 4; i++) {
        const double s[3] = {sizes[i], 1, 0.01};
        kiln_sym3 m = kiln_metric_from_directions(&q, s);
        log_mean = kiln_sym3_madd(log_mean, 0.25, kiln_sym3_log(m));
    }
    const double mean[3] = {pow(64, 0.25), 1, 0.01};
    ck_assert_double_le(
        difference(kiln_metric_exp(&log_mean), kiln_metric_from_directions(&q, mean)), 1e-12);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("metric");
    TCase *all = kiln_test_case(suite, "metric");
    tcase_add_test(all, lengths);
    tcase_add_test(all, mean_lengths);
    tcase_add_test(all, bounding);
    tcase_add_test(all, intersections);
    tcase_add_test(all, unions);
    tcase_add_test(all, growing);
    tcase_add_test(all, exponentials);
    tcase_add_test(all, means);
    return suite;
}
