/* Surfaces after remeshing: crossing, too near, and only where something changed. */
#include "contact/clearance.h"
#include "fixtures.h"
#include "mesh/txn.h"
#include "support.h"

static kiln_mesh *two_cubes(kiln_context *context, double gap)
{
    kiln_soup all = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    kiln_soup other = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    for (size_t i = 0; i < other.points.count; i++)
        other.points.data[i].z += 1.0 + gap;
    ck_assert_int_eq(kiln_soup_append(&all, &other, 0, NULL), KILN_OK);
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh = NULL;
    ck_assert_int_eq(kiln_mesh_build(context, &all, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&all);
    kiln_soup_free(&other);
    return mesh;
}

static size_t count(const kiln_mesh *mesh, uint32_t since, double gap)
{
    kiln_clearance found;
    kiln_crossings where = {0};
    const kiln_clearance_rules rules = {.since = since, .gap = gap, .where = &where};
    ck_assert_int_eq(kiln_contact_clearance(mesh, &rules, &found, NULL), KILN_OK);
    ck_assert_uint_eq(where.count, 2 * found.pairs);
    for (size_t i = 0; i < where.count; i++) /* of the faces between the cubes */
        ck_assert(where.data[i].low.z > 0.4 && where.data[i].high.z < 1.6);
    kiln_array_free(mesh->context, &where);
    return found.pairs;
}

START_TEST(test_gap)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_cubes(context, 0.01);
    ck_assert_uint_eq(count(mesh, KILN_SINCE_EVER, 0.0), 0);
    ck_assert_uint_eq(count(mesh, KILN_SINCE_EVER, 0.009), 0);
    ck_assert_uint_gt(count(mesh, KILN_SINCE_EVER, 0.011), 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(test_crossing_where_changed)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_cubes(context, 0.01);
    uint32_t before = mesh->clock, low = KILN_NONE, high = KILN_NONE;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        if (u.x == 0.5 && u.y == 0.5 && u.z > 0.9 && u.z < 1.1) { /* the middles that face */
            if (u.z <= 1.0)
                low = v;
            else
                high = v;
        }
    }
    ck_assert_uint_ne(low, KILN_NONE);
    ck_assert_uint_ne(high, KILN_NONE);
    mesh->x[low].z += 0.02; /* into the upper cube */
    ck_assert_uint_gt(count(mesh, KILN_SINCE_EVER, 0.0), 0);
    ck_assert_uint_eq(count(mesh, before, 0.0), 0);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) /* as remeshing there would */
        if (kiln_tet_corner(&mesh->tet[t], high) < 4)
            mesh->info[t].changed = before + 1;
    ck_assert_uint_gt(count(mesh, before, 0.0), 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(test_without_memory)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = two_cubes(context, 0.01);
    int64_t live = heap.live_bytes;
    for (uint64_t more = 1, failed = 1; failed; more++) {
        kiln_clearance found;
        heap.fail_at = heap.calls + more;
        const kiln_clearance_rules rules = {.since = KILN_SINCE_EVER};
        failed = kiln_contact_clearance(mesh, &rules, &found, NULL) != KILN_OK;
        heap.fail_at = 0;
        ck_assert_int_eq(heap.live_bytes, live);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("clearance");
    TCase *tc = kiln_test_case(suite, "clearance");
    tcase_add_test(tc, test_gap);
    tcase_add_test(tc, test_crossing_where_changed);
    tcase_add_test(tc, test_without_memory);
    suite_add_tcase(suite, tc);
    return suite;
}
