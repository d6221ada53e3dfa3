#include "fixtures.h"
#include "support.h"
#include "topology/crossing.h"

/* Two boxes in one mesh, the second moved along x. */
static kiln_mesh *two_boxes(kiln_context *context, kiln_vec3 shift)
{
    kiln_soup soup = kiln_test_soup(context, "box", "n=2"), other;
    other = kiln_test_soup(context, "box", "n=2");
    for (size_t i = 0; i < other.points.count; i++)
        other.points.data[i] = kiln_v3_add(other.points.data[i], shift);
    ck_assert_int_eq(kiln_soup_append(&soup, &other, 1, NULL), KILN_OK);
    kiln_build_options options = kiln_build_default_options();
    kiln_build_report report;
    kiln_mesh *mesh;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, &report, NULL), KILN_OK);
    kiln_soup_free(&soup);
    kiln_soup_free(&other);
    return mesh;
}

static size_t crossings(kiln_context *context, kiln_vec3 shift)
{
    kiln_mesh *mesh = two_boxes(context, shift);
    kiln_crossing crossing;
    ck_assert_int_eq(kiln_surface_find_crossing(mesh, KILN_SPACE_MATERIAL, &crossing, NULL),
                     KILN_OK);
    if (crossing.pairs > 0) {
        uint32_t a = mesh->face[crossing.face[0]].at / 4, b = mesh->face[crossing.face[1]].at / 4;
        ck_assert_int_ne(mesh->info[a].region, mesh->info[b].region);
    }
    kiln_mesh_destroy(mesh);
    return crossing.pairs;
}

START_TEST(only_what_passes_through_counts)
{
    kiln_context *context = kiln_test_context(2);
    ck_assert_uint_eq(crossings(context, kiln_v3(2, 0, 0)), 0);   /* apart */
    ck_assert_uint_eq(crossings(context, kiln_v3(1, 0, 0)), 0);   /* side by side */
    ck_assert_uint_gt(crossings(context, kiln_v3(0.8, 0, 0)), 0); /* flush */
    ck_assert_uint_gt(crossings(context, kiln_v3(0.8, 0.1, 0.2)), 0);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t fail_at = 1; status != KILN_OK; fail_at++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = two_boxes(context, kiln_v3(0.8, 0.1, 0));
        kiln_crossing crossing;
        heap.fail_at = heap.calls + fail_at;
        status = kiln_surface_find_crossing(mesh, KILN_SPACE_MATERIAL, &crossing, NULL);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("crossing");
    TCase *surface = kiln_test_case(suite, "surface");
    tcase_add_test(surface, only_what_passes_through_counts);
    tcase_add_test(surface, every_allocation_may_fail);
    return suite;
}
