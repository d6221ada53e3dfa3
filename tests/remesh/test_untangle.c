#include "fixtures.h"
#include "remesh/untangle.h"
#include "support.h"

#include <string.h>

/* Strict building is the judge. */
static void expect_strict(kiln_context *context, const kiln_soup *soup, double volume)
{
    kiln_build_options options = kiln_build_default_options();
    kiln_build_report report;
    kiln_mesh *mesh;
    kiln_error error = {0};
    ck_assert_msg(kiln_mesh_build(context, soup, &options, &mesh, &report, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-12);
    kiln_mesh_destroy(mesh);
}

static void swap_corners(kiln_soup *soup, size_t t)
{
    uint32_t swap = soup->tets.data[t].v[0];
    soup->tets.data[t].v[0] = soup->tets.data[t].v[1];
    soup->tets.data[t].v[1] = swap;
}

START_TEST(order_of_corners_is_mended)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=4 ny=4 nz=4");
    kiln_untangle_report report;
    ck_assert_int_eq(kiln_soup_untangle(&soup, &report, NULL), KILN_OK);
    ck_assert_uint_eq(report.turned + report.bad, 0);
    for (size_t t = 0; t < soup.tets.count; t += 3)
        swap_corners(&soup, t);
    ck_assert_int_eq(kiln_soup_untangle(&soup, &report, NULL), KILN_OK);
    ck_assert_uint_eq(report.turned, (soup.tets.count + 2) / 3);
    ck_assert_uint_eq(report.bad, 0);
    expect_strict(context, &soup, 1.0);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* Interior vertices thrown out of their stars. */
START_TEST(inverted_tets_are_untangled)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=6 ny=6 nz=6");
    kiln_random random = kiln_random_start(5, 0);
    for (size_t p = 0; p < soup.points.count; p++) {
        kiln_vec3 *at = &soup.points.data[p];
        bool inside =
            fmin(fmin(at->x, at->y), at->z) > 0.01 && fmax(fmax(at->x, at->y), at->z) < 0.99;
        if (inside && p % 5 == 0)
            *at = kiln_v3(at->x + 0.3 * (kiln_random_unit(&random) - 0.5),
                          at->y + 0.3 * (kiln_random_unit(&random) - 0.5),
                          at->z + 0.3 * (kiln_random_unit(&random) - 0.5));
    }
    swap_corners(&soup, 7);
    kiln_untangle_report report;
    ck_assert_int_eq(kiln_soup_untangle(&soup, &report, NULL), KILN_OK);
    ck_assert_uint_gt(report.bad, 10);
    ck_assert_uint_gt(report.moved, 3);
    ck_assert_uint_eq(report.turned, 1);
    ck_assert_uint_eq(report.left, 0);
    expect_strict(context, &soup, 1.0);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* Four points of a face of a box: a tet without volume that lies on it. */
START_TEST(flat_tets_on_the_surface_are_peeled)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {.4, .5, 1}};
    const kiln_soup_tet t[3] = {{{0, 1, 2, 4}}, {{1, 3, 2, 4}}, {{0, 2, 1, 3}}};
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_array_reserve(context, &soup.points, 5, NULL), KILN_OK);
    ck_assert_int_eq(kiln_array_reserve(context, &soup.tets, 3, NULL), KILN_OK);
    memcpy(soup.points.data, p, sizeof p);
    memcpy(soup.tets.data, t, sizeof t);
    soup.points.count = 5;
    soup.tets.count = 3;
    kiln_untangle_report report;
    ck_assert_int_eq(kiln_soup_untangle(&soup, &report, NULL), KILN_OK);
    ck_assert_uint_eq(report.peeled, 1);
    ck_assert_uint_eq(report.left, 0);
    ck_assert_uint_eq(soup.tets.count, 2);
    expect_strict(context, &soup, 1.0 / 3.0);

    /* All alone a flat tet is nothing. */
    soup.tets.data[0] = t[2];
    soup.tets.count = 1;
    ck_assert_int_eq(kiln_soup_untangle(&soup, &report, NULL), KILN_OK);
    ck_assert_uint_eq(report.left, 1);
    ck_assert_uint_eq(report.first_left, 0);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* The same turned and far away: rounding gives the tet that lies on the face some volume, mostly of
 * the wrong sign. */
START_TEST(flat_tets_are_peeled_wherever_they_are)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {.4, .5, 1}};
    const kiln_soup_tet t[3] = {{{0, 1, 2, 4}}, {{1, 3, 2, 4}}, {{0, 2, 1, 3}}};
    size_t inverted = 0;
    for (int turn = 0; turn < 40; turn++) {
        double c = cos(1.0 + turn), s = sin(1.0 + turn), far = turn % 4 ? pow(10, turn % 7) : 0;
        kiln_soup soup = kiln_test_soup(context, "box", "n=1");
        kiln_untangle_report report;
        for (int k = 0; k < 5; k++) {
            kiln_vec3 a = {c * p[k].x - s * p[k].y, s * p[k].x + c * p[k].y, p[k].z};
            soup.points.data[k] =
                kiln_v3(c * a.x - s * a.z + far, a.y - 0.3 * far, s * a.x + c * a.z + 2 * far);
        }
        memcpy(soup.tets.data, t, sizeof t);
        soup.points.count = 5;
        soup.tets.count = 3;
        soup.tet_tags.count = soup.triangles.count = soup.triangle_tags.count = 0;
        ck_assert_int_eq(kiln_soup_untangle(&soup, &report, NULL), KILN_OK);
        inverted += report.bad;
        ck_assert_uint_eq(report.peeled, report.bad);
        ck_assert_uint_eq(report.left, 0);
        kiln_soup_free(&soup);
    }
    ck_assert_uint_ge(inverted, 10);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t fail_at = 1; status != KILN_OK; fail_at++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_soup soup = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
        soup.points.data[13] = kiln_v3(0.5, 0.5, 1.3);
        kiln_untangle_report report;
        heap.fail_at = heap.calls + fail_at;
        status = kiln_soup_untangle(&soup, &report, NULL);
        kiln_soup_free(&soup);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("untangle");
    TCase *input = kiln_test_case(suite, "input");
    tcase_add_test(input, order_of_corners_is_mended);
    tcase_add_test(input, inverted_tets_are_untangled);
    tcase_add_test(input, flat_tets_on_the_surface_are_peeled);
    tcase_add_test(input, flat_tets_are_peeled_wherever_they_are);
    tcase_add_test(input, every_allocation_may_fail);
    return suite;
}
