#include "geom/sym3.h"

#include "matrices.h"
#include "support.h"

#include <stdio.h>

/* Q' diag Q with a random rotation. */
static kiln_sym3 with_values(kiln_random *r, double a, double b, double c)
{
    kiln_mat3 q = kiln_test_random_rotation(r);
    double values[3] = {a, b, c};
    return kiln_sym3_compose(values, &q);
}

/* Frobenius norm of A - B over that of B. */
static double distance(kiln_mat3 a, kiln_mat3 b)
{
    return sqrt(kiln_m3_norm2(kiln_m3_add(a, kiln_m3_scale(b, -1.0))) / kiln_m3_norm2(b));
}

static kiln_sym3 random_symmetric(kiln_random *r, int kind)
{
    double small = kiln_test_random_scale(r, -18, -2), s = kiln_random_range(r, -1.0, 1.0);
    switch (kind) {
    case 0:
        return kiln_sym3_from_mat3(kiln_test_random_matrix(r));
    case 1:
        return with_values(r, 1.0, 1.0, s);
    case 2:
        return with_values(r, s, small, small);
    case 3:
        return with_values(r, 1.0, 1.0 + small, 1.0 - small);
    case 4: /* rank one and two */
        return with_values(r, s, kiln_random_below(r, 2) ? 0.3 : 0.0, 0.0);
    case 5:
        return with_values(r, s, kiln_test_random_scale(r, -30, 0), -small);
    case 6:
        return kiln_sym3_scale(kiln_sym3_from_mat3(kiln_test_random_matrix(r)),
                               kiln_test_random_scale(r, -300, 300));
    case 7:
        return kiln_sym3_from_mat3(kiln_test_integer_matrix(r));
    default: /* multiples of the identity, nearly */
        return kiln_sym3_madd(kiln_sym3_scale(kiln_sym3_identity(), s), small,
                              kiln_sym3_from_mat3(kiln_test_random_matrix(r)));
    }
}

START_TEST(eigen_reaches_the_bar)
{
    kiln_random r = kiln_random_start(20, (uint64_t)_i);
    double reconstruction = 0.0, orthogonality = 0.0;
    int wrong = 0;
    for (uint64_t n = kiln_test_rounds(20000, 1111112); n > 0; n--) {
        kiln_sym3 s = random_symmetric(&r, _i);
        kiln_mat3 a = kiln_sym3_to_mat3(s);
        kiln_eigen3 e = kiln_sym3_eigen(s);
        double off = kiln_test_reconstruction(&e.vectors, e.values, &e.vectors, &a);
        double drift = kiln_test_orthogonality(&e.vectors);
        reconstruction = off > reconstruction || isnan(off) ? off : reconstruction;
        orthogonality = drift > orthogonality || isnan(drift) ? drift : orthogonality;
        wrong += !(e.values[0] >= e.values[1] && e.values[1] >= e.values[2]);
        wrong += !(kiln_m3_det(e.vectors) > 0.0);
    }
    ck_assert_int_eq(wrong, 0);
    printf("eigen, kind %d: reconstruction %.2e, orthogonality %.2e\n", _i, reconstruction,
           orthogonality);
    ck_assert_double_le(reconstruction, 4e-15);
    ck_assert_double_le(orthogonality, 4e-15);
}
END_TEST

START_TEST(eigen_of_known_matrices)
{
    /* the second difference matrix: 2 + sqrt 2, 2, 2 - sqrt 2 */
    kiln_eigen3 e = kiln_sym3_eigen((kiln_sym3){2, 2, 2, -1, 0, -1});
    ck_assert_double_eq_tol(e.values[0], 2.0 + sqrt(2.0), 4e-15);
    ck_assert_double_eq_tol(e.values[1], 2.0, 4e-15);
    ck_assert_double_eq_tol(e.values[2], 2.0 - sqrt(2.0), 4e-15);
    e = kiln_sym3_eigen((kiln_sym3){-3, 5, 1, 0, 0, 0});
    ck_assert_double_eq(e.values[0], 5.0);
    ck_assert_double_eq(e.values[1], 1.0);
    ck_assert_double_eq(e.values[2], -3.0);
    e = kiln_sym3_eigen((kiln_sym3){0});
    ck_assert_double_eq(e.values[0], 0.0);
    ck_assert_double_eq(kiln_m3_det(e.vectors), 1.0);
    /* all ones: 3, 0, 0 and the diagonal direction */
    e = kiln_sym3_eigen((kiln_sym3){1, 1, 1, 1, 1, 1});
    ck_assert_double_eq_tol(e.values[0], 3.0, 4e-15);
    ck_assert_double_eq_tol(e.values[1], 0.0, 4e-15);
    ck_assert_double_eq_tol(fabs(e.vectors.m[1][0]), sqrt(1.0 / 3.0), 4e-15);
}
END_TEST

/* Positive definite, condition up to 1e12, every second one with a repeated value. */
static kiln_sym3 random_positive(kiln_random *r)
{
    double top = kiln_test_random_scale(r, -2, 2), low = top * kiln_test_random_scale(r, -12, 0);
    double middle = low * pow(top / low, kiln_random_unit(r));
    uint32_t kind = kiln_random_below(r, 4);
    return with_values(r, top, kind == 0 ? top : kind == 1 ? low : middle, low);
}

START_TEST(functions_of_positive_matrices)
{
    kiln_random r = kiln_random_start(21, 0);
    double root = 0.0, round_trip = 0.0;
    for (uint64_t n = kiln_test_rounds(100000, 10000000); n > 0; n--) {
        kiln_sym3 s = random_positive(&r);
        kiln_mat3 a = kiln_sym3_to_mat3(s), b = kiln_sym3_to_mat3(kiln_sym3_sqrt(s));
        root = fmax(root, distance(kiln_m3_mul(b, b), a));
        kiln_sym3 back = kiln_sym3_exp(kiln_sym3_log(s));
        round_trip = fmax(round_trip, distance(kiln_sym3_to_mat3(back), a));
    }
    printf("sqrt^2 %.2e, exp(log) %.2e\n", root, round_trip);
    ck_assert_double_le(root, 4e-15);
    ck_assert_double_le(round_trip, 1e-14);
}
END_TEST

START_TEST(functions_of_known_matrices)
{
    /* exp of [0 t; t 0] is [cosh sinh; sinh cosh] */
    kiln_sym3 e = kiln_sym3_exp((kiln_sym3){.zz = -1.0, .xy = 0.7});
    ck_assert_double_eq_tol(e.xx, cosh(0.7), 4e-15);
    ck_assert_double_eq_tol(e.yy, cosh(0.7), 4e-15);
    ck_assert_double_eq_tol(e.xy, sinh(0.7), 4e-15);
    ck_assert_double_eq_tol(e.zz, exp(-1.0), 4e-15);
    ck_assert_double_eq_tol(e.xz, 0.0, 4e-15);
    kiln_sym3 one = kiln_sym3_log(kiln_sym3_identity());
    ck_assert_double_eq(one.xx, 0.0);
    ck_assert_double_eq(one.xy, 0.0);
    /* [5 4; 4 5] has the root [2 1; 1 2] */
    kiln_sym3 s = kiln_sym3_sqrt((kiln_sym3){5, 5, 9, 0, 0, 4});
    ck_assert_double_eq_tol(s.xx, 2.0, 4e-15);
    ck_assert_double_eq_tol(s.xy, 1.0, 4e-15);
    ck_assert_double_eq_tol(s.zz, 3.0, 4e-15);
}
END_TEST

/* Singular matrices have a root, and a logarithm that stays finite. */
START_TEST(singular_matrices_stay_finite)
{
    kiln_random r = kiln_random_start(22, 0);
    for (int n = 0; n < 20000; n++) {
        kiln_sym3 s = with_values(&r, 1.0, n % 2 ? 0.5 : 0.0, 0.0);
        kiln_mat3 a = kiln_sym3_to_mat3(s), b = kiln_sym3_to_mat3(kiln_sym3_sqrt(s));
        ck_assert_double_le(distance(kiln_m3_mul(b, b), a), 4e-15);
        kiln_sym3 l = kiln_sym3_log(s);
        ck_assert(isfinite(l.xx + l.yy + l.zz + l.yz + l.xz + l.xy));
    }
}
END_TEST

START_TEST(polar_rotation_and_stretch)
{
    kiln_random r = kiln_random_start(24, (uint64_t)_i);
    double worst = 0.0, drift = 0.0;
    int reflected = 0;
    for (uint64_t n = kiln_test_rounds(10000, 714286); n > 0; n--) {
        kiln_mat3 a = kiln_test_matrix(&r, _i);
        double top = sqrt(kiln_m3_norm2(a));
        if (!(top > 1e-140 && top < 1e140))
            continue;
        kiln_polar3 p = kiln_polar3_decompose(a);
        kiln_mat3 right = kiln_m3_mul(p.rotation, kiln_sym3_to_mat3(p.right));
        kiln_mat3 left = kiln_m3_mul(kiln_sym3_to_mat3(p.left), p.rotation);
        worst = fmax(worst, fmax(distance(right, a), distance(left, a)));
        drift = fmax(drift, kiln_test_orthogonality(&p.rotation));
        reflected += !(kiln_m3_det(p.rotation) > 0.0);
    }
    ck_assert_int_eq(reflected, 0);
    printf("polar, kind %d: %.2e, rotation %.2e\n", _i, worst, drift);
    ck_assert_double_le(worst, 4e-15);
    ck_assert_double_le(drift, 4e-15);
}
END_TEST

/* The known rotation comes back, and the stretch of a rotation is the identity. */
START_TEST(polar_of_known_matrices)
{
    kiln_random r = kiln_random_start(25, 0);
    for (int n = 0; n < 10000; n++) {
        kiln_mat3 q = kiln_test_random_rotation(&r);
        kiln_sym3 s = with_values(&r, kiln_random_range(&r, 0.5, 2), 1.0, 0.7);
        kiln_polar3 p = kiln_polar3_decompose(kiln_m3_mul(q, kiln_sym3_to_mat3(s)));
        ck_assert_double_le(distance(p.rotation, q), 1e-14);
        ck_assert_double_le(distance(kiln_sym3_to_mat3(p.right), kiln_sym3_to_mat3(s)), 1e-14);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("sym3");
    TCase *test_case = kiln_test_case(suite, "sym3");
    tcase_add_loop_test(test_case, eigen_reaches_the_bar, 0, 9);
    tcase_add_test(test_case, eigen_of_known_matrices);
    tcase_add_test(test_case, functions_of_positive_matrices);
    tcase_add_test(test_case, functions_of_known_matrices);
    tcase_add_test(test_case, singular_matrices_stay_finite);
    tcase_add_loop_test(test_case, polar_rotation_and_stretch, 0, KILN_TEST_MATRIX_KINDS);
    tcase_add_test(test_case, polar_of_known_matrices);
    return suite;
}
