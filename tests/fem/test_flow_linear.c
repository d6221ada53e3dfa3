#include "fem/flow_linear.h"

#include "base/random.h"
#include "fem/offset.h"
#include "support.h"

static kiln_mat3 random_near(kiln_random *random, double size, bool symmetric)
{
    kiln_mat3 a;
    for (int k = 0; k < 9; k++)
        a.m[k / 3][k % 3] =
            (k % 4 == 0 ? 1.0 : 0.0) + size * (2.0 * kiln_random_unit(random) - 1.0);
    return symmetric ? kiln_sym3_to_mat3(kiln_sym3_from_mat3(a)) : a;
}

/* The strain that is left is what was asked for, but for a dilation: the volume is kept. */
START_TEST(a_rest_shape_takes_a_strain)
{
    kiln_random random = kiln_random_start(7, 1);
    for (int round = 0; round < 200; round++) {
        kiln_mat3 A = random_near(&random, 0.3, false), Pi = random_near(&random, 0.2, true);
        kiln_mat3 change = random_near(&random, 0.05, true);
        for (int i = 0; i < 3; i++)
            change.m[i][i] -= 1.0;
        double size = cbrt(kiln_m3_det(Pi));
        kiln_sym3 shape =
            kiln_sym3_scale(kiln_sym3_from_mat3(kiln_m3_mul(Pi, Pi)), 1 / size / size);
        ck_assert(kiln_flow_linear_shape(&A, &Pi, &change, size, &shape));
        ck_assert_double_eq_tol(kiln_sym3_det(shape), 1.0, 1e-7);
        kiln_sym3 wanted = kiln_sym3_from_mat3(kiln_m3_add(kiln_m3_mul(A, Pi), change));
        kiln_sym3 found =
            kiln_sym3_from_mat3(kiln_m3_mul(A, kiln_sym3_to_mat3(kiln_sym3_sqrt(shape))));
        const double *w = &wanted.xx, *f = &found.xx;
        double theta = size * f[0] - w[0];
        ck_assert_double_lt(fabs(theta), 0.2);
        for (int k = 0; k < 6; k++)
            ck_assert_double_eq_tol(size * f[k], w[k] + (k < 3 ? theta : 0.0), 1e-12);
    }
}
END_TEST

/* Where small strains mean nothing there is no such shape, and nothing is changed. */
START_TEST(a_shape_that_is_turned_over_is_left_alone)
{
    kiln_mat3 A = kiln_m3_diagonal(-1.0, -1.0, 1.0), Pi = kiln_m3_identity();
    kiln_mat3 change = kiln_m3_diagonal(0.1, -0.05, -0.05);
    kiln_sym3 shape = kiln_sym3_identity();
    ck_assert(!kiln_flow_linear_shape(&A, &Pi, &change, 1.0, &shape));
    change = kiln_m3_diagonal(2.0, -1.0, -1.0);
    A = kiln_m3_identity();
    ck_assert(!kiln_flow_linear_shape(&A, &Pi, &change, 1.0, &shape));
    ck_assert(kiln_offset_is_identity(&shape));
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("linear flow");
    TCase *c = kiln_test_case(suite, "linear flow");
    tcase_add_test(c, a_rest_shape_takes_a_strain);
    tcase_add_test(c, a_shape_that_is_turned_over_is_left_alone);
    return suite;
}
