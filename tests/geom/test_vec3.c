#include "geom/vec3.h"

#include "matrices.h"
#include "support.h"

static double distance(kiln_mat3 a, kiln_mat3 b)
{
    return sqrt(kiln_m3_norm2(kiln_m3_add(a, kiln_m3_scale(b, -1.0))));
}

static void check_vector(kiln_vec3 a, double x, double y, double z)
{
    ck_assert_double_eq(a.x, x);
    ck_assert_double_eq(a.y, y);
    ck_assert_double_eq(a.z, z);
}

START_TEST(vector_arithmetic)
{
    kiln_vec3 a = kiln_v3(1, 2, 3), b = kiln_v3(-4, 5, 0.5);
    check_vector(kiln_v3_add(a, b), -3, 7, 3.5);
    check_vector(kiln_v3_sub(a, b), 5, -3, 2.5);
    check_vector(kiln_v3_scale(a, -2), -2, -4, -6);
    check_vector(kiln_v3_madd(a, 2, b), -7, 12, 4);
    check_vector(kiln_v3_lerp(a, b, 0.25), -0.25, 2.75, 2.375);
    check_vector(kiln_v3_lerp(a, b, 1.0), -4, 5, 0.5);
    ck_assert_double_eq(kiln_v3_dot(a, b), 7.5);
    ck_assert_double_eq(kiln_v3_norm2(a), 14.0);
    ck_assert_double_eq(kiln_v3_norm(kiln_v3(2, 3, 6)), 7.0);
    check_vector(kiln_v3_cross(kiln_v3(1, 0, 0), kiln_v3(0, 1, 0)), 0, 0, 1);
    check_vector(kiln_v3_cross(a, b), -14, -12.5, 13);
    ck_assert_double_eq(kiln_v3_triple(kiln_v3(1, 0, 0), kiln_v3(0, 1, 0), kiln_v3(0, 0, 1)), 1.0);
}
END_TEST

START_TEST(normalize_keeps_zero)
{
    check_vector(kiln_v3_normalize(kiln_v3(0, 0, 0)), 0, 0, 0);
    ck_assert_double_eq_tol(kiln_v3_norm(kiln_v3_normalize(kiln_v3(1, -2, 7))), 1.0, 4e-16);
}
END_TEST

START_TEST(finite_sees_every_component)
{
    ck_assert(kiln_v3_finite(kiln_v3(1, -1e308, 0)));
    ck_assert(!kiln_v3_finite(kiln_v3(NAN, 0, 0)));
    ck_assert(!kiln_v3_finite(kiln_v3(0, INFINITY, 0)));
    ck_assert(!kiln_v3_finite(kiln_v3(0, 0, -INFINITY)));
}
END_TEST

START_TEST(volume_is_signed)
{
    kiln_vec3 o = {0, 0, 0}, x = {1, 0, 0}, y = {0, 2, 0}, z = {0, 0, 3};
    ck_assert_double_eq(kiln_tet_volume(o, x, y, z), 1.0);
    ck_assert_double_eq(kiln_tet_volume(x, o, y, z), -1.0);
    ck_assert_double_eq(kiln_tet_volume(o, x, y, kiln_v3(5, 7, 0)), 0.0);
}
END_TEST

START_TEST(matrix_products_are_row_major)
{
    kiln_mat3 a = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 10}}};
    check_vector(kiln_m3_apply(a, kiln_v3(1, 0, 0)), 1, 4, 7);
    check_vector(kiln_m3_apply(kiln_m3_transpose(a), kiln_v3(1, 0, 0)), 1, 2, 3);
    ck_assert_double_eq(kiln_m3_det(a), -3.0);
    ck_assert_double_eq(kiln_m3_norm2(a), 304.0);
    kiln_mat3 c = kiln_m3_columns(kiln_v3(1, 4, 7), kiln_v3(2, 5, 8), kiln_v3(3, 6, 10));
    ck_assert_double_eq(distance(a, c), 0.0);
    kiln_mat3 scaled = kiln_m3_mul(a, kiln_m3_diagonal(2, 3, 5));
    ck_assert_double_eq(scaled.m[1][0], 8.0);
    ck_assert_double_eq(scaled.m[0][2], 15.0);
    kiln_random r = kiln_random_start(40, 0);
    for (int n = 0; n < 1000; n++) {
        kiln_mat3 p = kiln_test_random_matrix(&r), q = kiln_test_random_matrix(&r);
        kiln_vec3 v = kiln_v3(0.3, -0.7, 0.2);
        kiln_vec3 once = kiln_m3_apply(kiln_m3_mul(p, q), v);
        kiln_vec3 twice = kiln_m3_apply(p, kiln_m3_apply(q, v));
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(once, twice)), 2e-15);
        ck_assert_double_eq_tol(kiln_m3_det(kiln_m3_mul(p, q)), kiln_m3_det(p) * kiln_m3_det(q),
                                4e-15);
    }
}
END_TEST

START_TEST(inverse_undoes)
{
    kiln_mat3 a = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 10}}};
    kiln_mat3 want = {{{-2.0 / 3, -4.0 / 3, 1}, {-2.0 / 3, 11.0 / 3, -2}, {1, -2, 1}}};
    ck_assert_double_le(distance(kiln_m3_inverse(a), want), 1e-14);
    kiln_random r = kiln_random_start(41, 0);
    for (int n = 0; n < 20000; n++) {
        kiln_mat3 m = kiln_test_compose(&r, 1.0, kiln_random_range(&r, 0.2, 1), -0.1);
        kiln_mat3 back = kiln_m3_inverse(m);
        ck_assert_double_le(distance(kiln_m3_mul(m, back), kiln_m3_identity()), 4e-14);
        ck_assert_double_le(distance(kiln_m3_mul(back, m), kiln_m3_identity()), 4e-14);
    }
}
END_TEST

START_TEST(rotations_follow_the_right_hand)
{
    kiln_mat3 quarter = kiln_m3_rotation(kiln_v3(0, 0, 3), 0.5 * KILN_PI);
    kiln_vec3 y = kiln_m3_apply(quarter, kiln_v3(1, 0, 0));
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(y, kiln_v3(0, 1, 0))), 1e-15);
    kiln_random r = kiln_random_start(42, 0);
    for (int n = 0; n < 2000; n++) {
        kiln_vec3 axis = {kiln_random_range(&r, -2, 2), kiln_random_range(&r, -2, 2),
                          kiln_random_range(&r, 0.1, 2)};
        double a = kiln_random_range(&r, -4, 4), b = kiln_random_range(&r, -4, 4);
        kiln_mat3 turn = kiln_m3_rotation(axis, a), on = kiln_m3_rotation(axis, b);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(kiln_m3_apply(turn, axis), axis)), 4e-15);
        ck_assert_double_le(
            distance(kiln_m3_mul(turn, kiln_m3_transpose(turn)), kiln_m3_identity()), 4e-15);
        ck_assert_double_le(distance(kiln_m3_mul(turn, on), kiln_m3_rotation(axis, a + b)), 8e-15);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("vec3");
    TCase *test_case = kiln_test_case(suite, "vec3");
    tcase_add_test(test_case, vector_arithmetic);
    tcase_add_test(test_case, normalize_keeps_zero);
    tcase_add_test(test_case, finite_sees_every_component);
    tcase_add_test(test_case, volume_is_signed);
    tcase_add_test(test_case, matrix_products_are_row_major);
    tcase_add_test(test_case, inverse_undoes);
    tcase_add_test(test_case, rotations_follow_the_right_hand);
    return suite;
}
