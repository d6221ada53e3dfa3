/* When tets that move have shrunk. */
#include "geom/shrink.h"
#include "support.h"

#include <math.h>

static const kiln_vec3 TET[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* Its top goes down to its base. */
START_TEST(a_height_that_falls)
{
    const kiln_vec3 way[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, -2}};
    ck_assert_double_eq_tol(kiln_tet_shrinks_at(TET, way, 0.1, 1.0), 0.45, 1e-15);
    ck_assert_double_eq_tol(kiln_tet_shrinks_at(TET, way, 0.0, 1.0), 0.5, 1e-15);
    ck_assert(isinf(kiln_tet_shrinks_at(TET, way, 0.1, 0.4)));
}
END_TEST

/* All directions at once: (1 - s)^3 = 0.1, and one that passes through itself and is whole again
 * at s = 2, which a look at the end alone would not see. */
START_TEST(cubics)
{
    kiln_vec3 way[4];
    for (int k = 0; k < 4; k++)
        way[k] = kiln_v3_scale(TET[k], -1.0);
    ck_assert_double_eq_tol(kiln_tet_shrinks_at(TET, way, 0.1, 2.0), 1.0 - cbrt(0.1), 1e-14);
    const kiln_vec3 through[4] = {{0, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 0}};
    ck_assert_double_eq_tol(kiln_tet_shrinks_at(TET, through, 0.1, 2.0), 1.0 - sqrt(0.1), 1e-14);
}
END_TEST

/* What goes along, turns a little or grows never shrinks. */
START_TEST(motions_that_do_no_harm)
{
    const kiln_vec3 along[4] = {{3, 2, 1}, {3, 2, 1}, {3, 2, 1}, {3, 2, 1}};
    ck_assert(isinf(kiln_tet_shrinks_at(TET, along, 0.1, 4.0)));
    ck_assert(isinf(kiln_tet_shrinks_at(TET, TET, 0.1, 4.0)));
    const kiln_vec3 rest[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    ck_assert(isinf(kiln_tet_shrinks_at(TET, rest, 0.1, 4.0)));
}
END_TEST

/* The same in any frame and at any size; never later than a walk in small steps finds it. */
START_TEST(random_motions)
{
    kiln_random random = kiln_random_start(3, 0);
    for (int i = 0; i < 300; i++) {
        kiln_vec3 x[4], way[4];
        double size = i % 3 == 0 ? 1e-6 : i % 3 == 1 ? 1.0 : 1e6;
        for (int k = 0; k < 4; k++) {
            kiln_vec3 d =
                kiln_v3(kiln_random_range(&random, -1, 1), kiln_random_range(&random, -1, 1),
                        kiln_random_range(&random, -1, 1));
            x[k] = kiln_v3_scale(TET[k], size);
            way[k] = kiln_v3_scale(d, size);
        }
        double found = kiln_tet_shrinks_at(x, way, 0.1, 1.0), walked = INFINITY;
        for (int k = 1; k <= 1000 && isinf(walked); k++) {
            kiln_vec3 y[4];
            for (int c = 0; c < 4; c++)
                y[c] = kiln_v3_madd(x[c], 1e-3 * k, way[c]);
            double volume =
                kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(y[1], y[0]), kiln_v3_sub(y[2], y[0])),
                            kiln_v3_sub(y[3], y[0]));
            if (volume <= 0.1 * size * size * size)
                walked = 1e-3 * k;
        }
        ck_assert(found <= walked); /* a walk may miss a short visit */
        if (!isinf(found)) {
            kiln_vec3 y[4];
            for (int c = 0; c < 4; c++)
                y[c] = kiln_v3_madd(x[c], found, way[c]);
            double volume =
                kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(y[1], y[0]), kiln_v3_sub(y[2], y[0])),
                            kiln_v3_sub(y[3], y[0]));
            ck_assert_double_eq_tol(volume / (size * size * size), 0.1, 1e-12);
        }
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("shrink");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, a_height_that_falls);
    tcase_add_test(c, cubics);
    tcase_add_test(c, motions_that_do_no_harm);
    tcase_add_test(c, random_motions);
    return suite;
}
