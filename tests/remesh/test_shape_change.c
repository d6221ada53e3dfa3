#include "fixtures.h"
#include "remesh/shape_change.h"
#include "support.h"

static kiln_shape_change compare(kiln_context *context, const kiln_mesh *before,
                                 const kiln_mesh *after)
{
    kiln_mesh_shape a = {0}, b = {0};
    kiln_shape_change change;
    ck_assert_int_eq(kiln_mesh_shape_take(before, KILN_SPACE_MATERIAL, &a, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_shape_take(after, KILN_SPACE_MATERIAL, &b, NULL), KILN_OK);
    ck_assert_int_eq(kiln_shape_compare(context, &a, &b, &change, NULL), KILN_OK);
    kiln_mesh_shape_free(context, &a);
    kiln_mesh_shape_free(context, &b);
    return change;
}

/* Boxes of other resolution have the same shape; a longer one sticks out by the difference. */
START_TEST(boxes)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *a = kiln_test_mesh(context, "box", "n=3"),
              *b = kiln_test_mesh(context, "box", "n=5");
    kiln_shape_change same = compare(context, a, b);
    ck_assert_double_lt(same.hausdorff, 1e-15);
    ck_assert_double_lt(fabs(same.volume), 1e-13);
    ck_assert_double_eq(same.size, 1.0);
    kiln_mesh_destroy(b);
    b = kiln_test_mesh(context, "box", "lx=1.25 n=4");
    kiln_shape_change longer = compare(context, a, b), shorter = compare(context, b, a);
    ck_assert_double_eq_tol(longer.outward, 0.25, 1e-15);
    ck_assert_double_eq_tol(longer.backward, 0.25, 1e-15);
    ck_assert_double_eq_tol(longer.volume, 0.25, 1e-13);
    ck_assert_double_eq_tol(longer.region, 0.25, 1e-13);
    ck_assert_double_eq_tol(shorter.volume, -0.2, 1e-13);
    /* Local edge (1 + 1 + sqrt 2) / 9, 5 % of it is the band. */
    ck_assert_double_eq_tol(longer.of_band, 0.25 / (0.05 * (2 + sqrt(2.0)) / 9), 1e-9);
    kiln_mesh_destroy(a);
    kiln_mesh_destroy(b);
    kiln_context_destroy(context);
}
END_TEST

/* A spike is seen from one side only. */
START_TEST(a_spike)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, -3}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{0, 2, 1, 4}}};
    kiln_mesh *a = kiln_test_mesh_of(context, 4, p, 1, t, NULL, KILN_BUILD_STRICT);
    kiln_mesh *b = kiln_test_mesh_of(context, 5, p, 2, t, NULL, KILN_BUILD_STRICT);
    kiln_shape_change change = compare(context, a, b);
    ck_assert_double_eq_tol(change.outward, 3, 1e-12);
    ck_assert_double_lt(change.backward, 0.4);
    ck_assert_double_eq_tol(change.volume, 3, 1e-12);
    kiln_mesh_destroy(a);
    kiln_mesh_destroy(b);
    kiln_context_destroy(context);
}
END_TEST

/* An interface that moves shows in distance and in the regions' volumes, not in the whole. */
START_TEST(an_interface)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh[2];
    for (int i = 0; i < 2; i++) {
        kiln_soup soup = kiln_test_soup(context, "box", "n=4");
        for (size_t k = 0; k < soup.tets.count; k++) {
            double x = 0;
            for (int c = 0; c < 4; c++)
                x += 0.25 * soup.points.data[soup.tets.data[k].v[c]].x;
            soup.tet_tags.data[k] = x < (i ? 0.75 : 0.5) ? 1 : 2;
        }
        kiln_build_options options = kiln_build_default_options();
        kiln_build_report report;
        ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh[i], &report, NULL),
                         KILN_OK);
        kiln_soup_free(&soup);
    }
    kiln_shape_change change = compare(context, mesh[0], mesh[1]);
    ck_assert_double_eq_tol(change.outward, 0.25, 1e-15);
    ck_assert_double_eq_tol(change.volume, 0, 1e-13);
    ck_assert_double_eq_tol(fabs(change.region), 0.5, 1e-12);
    kiln_mesh_destroy(mesh[0]);
    kiln_mesh_destroy(mesh[1]);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(out_of_memory_is_reported)
{
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=2");
        kiln_mesh_shape a = {0};
        kiln_shape_change change;
        heap.fail_at = heap.calls + fail;
        kiln_status status = kiln_mesh_shape_take(mesh, KILN_SPACE_WORLD, &a, NULL);
        if (status == KILN_OK)
            status = kiln_shape_compare(context, &a, &a, &change, NULL);
        kiln_mesh_shape_free(context, &a);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        ck_assert_uint_lt(fail, 100);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("shape change");
    TCase *tests = kiln_test_case(suite, "shape change");
    tcase_add_test(tests, boxes);
    tcase_add_test(tests, a_spike);
    tcase_add_test(tests, an_interface);
    tcase_add_test(tests, out_of_memory_is_reported);
    return suite;
}
