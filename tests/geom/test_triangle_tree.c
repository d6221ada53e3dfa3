#include "fixtures.h"
#include "geom/distance.h"
#include "geom/triangle_tree.h"
#include "support.h"

typedef struct surface {
    kiln_soup soup;
    kiln_triangle *triangles;
    size_t count;
    kiln_triangle_tree tree;
} surface;

static surface make(kiln_context *context, const char *shape, const char *settings, double part)
{
    surface s = {.soup = kiln_test_soup(context, shape, settings)};
    s.count = (size_t)(part * (double)s.soup.triangles.count);
    s.triangles = malloc(s.count * sizeof *s.triangles);
    for (size_t i = 0; i < 3 * s.count; i++)
        s.triangles[i / 3].p[i % 3] = s.soup.points.data[s.soup.triangles.data[i / 3].v[i % 3]];
    ck_assert_int_eq(kiln_triangle_tree_build(&s.tree, context, s.triangles, s.count, NULL),
                     KILN_OK);
    return s;
}

static void drop(surface *s)
{
    kiln_triangle_tree_destroy(&s->tree);
    kiln_soup_free(&s->soup);
    free(s->triangles);
}

static kiln_vec3 somewhere(kiln_random *random, double reach)
{
    double x = kiln_random_range(random, -reach, reach),
           y = kiln_random_range(random, -reach, reach);
    return kiln_v3(x, y, kiln_random_range(random, -reach, reach));
}

/* The tree's answer against the sum over all triangles; inside and outside where it is closed. */
START_TEST(winding_numbers)
{
    static const double parts[] = {1.0, 0.6};
    kiln_context *context = kiln_test_context(1);
    for (int k = 0; k < 2; k++) {
        surface s = make(context, "ball", "radius=1 h=0.15", parts[k]);
        kiln_random random = kiln_random_start(7, (uint64_t)k);
        double worst = 0;
        for (int i = 0; i < 2000; i++) {
            kiln_vec3 p = somewhere(&random, 2);
            double sum = 0, fast = kiln_triangle_tree_winding(&s.tree, p);
            for (size_t t = 0; t < s.count; t++)
                sum += kiln_triangle_winding(&s.triangles[t], p);
            worst = fmax(worst, fabs(fast - sum));
            double r = kiln_v3_norm(p);
            if (k == 0 && (r < 0.95 || r > 1))
                ck_assert_double_eq_tol(sum, r < 1 ? 1 : 0, 1e-9);
        }
        ck_assert_double_lt(worst, 0.02);
        drop(&s);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(nearest_triangles)
{
    kiln_context *context = kiln_test_context(1);
    surface s = make(context, "torus", "h=0.3", 1);
    kiln_random random = kiln_random_start(8, 0);
    for (int i = 0; i < 500; i++) {
        kiln_vec3 p = somewhere(&random, 2);
        double distance, best = INFINITY;
        for (size_t t = 0; t < s.count; t++)
            best = fmin(best, sqrt(kiln_closest_on_triangle(p, s.triangles[t].p).distance2));
        ck_assert_uint_ne(kiln_triangle_tree_closest(&s.tree, p, INFINITY, &distance),
                          KILN_BVH_NONE);
        ck_assert_double_eq_tol(distance, best, 1e-12);
        uint32_t found = kiln_triangle_tree_closest(&s.tree, p, 0.5 * best, &distance);
        ck_assert_uint_eq(found, KILN_BVH_NONE);
        ck_assert(distance == INFINITY);
    }
    drop(&s);
    kiln_context_destroy(context);
}
END_TEST

/* Through a closed surface an even number of times, ascending. */
START_TEST(segments)
{
    kiln_context *context = kiln_test_context(1);
    surface s = make(context, "torus", "h=0.3", 1);
    kiln_random random = kiln_random_start(9, 0);
    for (int i = 0; i < 500; i++) {
        kiln_vec3 a = kiln_v3_scale(kiln_v3_normalize(somewhere(&random, 1)), 3);
        kiln_vec3 b = kiln_v3_scale(kiln_v3_normalize(somewhere(&random, 1)), 3);
        double part[8];
        size_t hits = kiln_triangle_tree_meets(&s.tree, a, b, 8, part);
        ck_assert_uint_eq(hits % 2, 0);
        for (size_t k = 1; k < hits; k++)
            ck_assert_double_le(part[k - 1], part[k]);
        for (size_t k = 0; k < hits; k++) {
            double distance;
            kiln_triangle_tree_closest(&s.tree, kiln_v3_lerp(a, b, part[k]), INFINITY, &distance);
            ck_assert_double_lt(distance, 1e-12);
        }
        ck_assert_uint_eq(kiln_triangle_tree_meets(&s.tree, a, b, 0, part), hits);
    }
    drop(&s);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(few_and_bad_triangles)
{
    kiln_context *context = kiln_test_context(1);
    kiln_triangle_tree tree;
    double distance;
    ck_assert_int_eq(kiln_triangle_tree_build(&tree, context, NULL, 0, NULL), KILN_OK);
    ck_assert_double_eq(kiln_triangle_tree_winding(&tree, kiln_v3(0, 0, 0)), 0);
    ck_assert_uint_eq(kiln_triangle_tree_closest(&tree, kiln_v3(0, 0, 0), 1, &distance),
                      KILN_BVH_NONE);
    kiln_triangle_tree_destroy(&tree);
    kiln_triangle flat = {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}};
    ck_assert_int_eq(kiln_triangle_tree_build(&tree, context, &flat, 1, NULL), KILN_OK);
    ck_assert_double_eq(kiln_triangle_tree_winding(&tree, kiln_v3(1, 1, 1)), 0);
    kiln_triangle_tree_destroy(&tree);
    flat.p[0].x = NAN;
    ck_assert_int_eq(kiln_triangle_tree_build(&tree, context, &flat, 1, NULL), KILN_ERR_INPUT);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("triangle_tree");
    TCase *all = kiln_test_case(suite, "triangle_tree");
    tcase_add_test(all, winding_numbers);
    tcase_add_test(all, nearest_triangles);
    tcase_add_test(all, segments);
    tcase_add_test(all, few_and_bad_triangles);
    return suite;
}
