/* What guards surfaces while they are remeshed: nothing crosses, and nothing comes nearer than it
 * was unless that is far enough. */
#include "contact/keep_out.h"
#include "fixtures.h"
#include "support.h"

/* A cube below another, 0.01 apart. */
static kiln_mesh *two_cubes(kiln_context *context)
{
    kiln_soup all = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    kiln_soup other = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    for (size_t i = 0; i < other.points.count; i++)
        other.points.data[i].z += 1.01;
    ck_assert_int_eq(kiln_soup_append(&all, &other, 0, NULL), KILN_OK);
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh = NULL;
    ck_assert_int_eq(kiln_mesh_build(context, &all, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&all);
    kiln_soup_free(&other);
    for (size_t p = 0; p < mesh->parts.count; p++)
        mesh->parts.data[p].body = (uint32_t)p;
    return mesh;
}

/* Whether a triangle under the upper cube may be replaced by one whose tip is at height z. */
static bool may_rise(const kiln_keep_out *guard, const kiln_mesh *mesh, double z)
{
    const kiln_vec3 old[1][3] = {{{0.1, 0.1, 1}, {0.4, 0.1, 1}, {0.1, 0.4, 1}}};
    const kiln_vec3 fresh[1][3] = {{{0.1, 0.1, 1}, {0.4, 0.1, 1}, {0.1, 0.4, z}}};
    uint32_t low = KILN_NONE;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        low = mesh->u[v].z < 0.9 ? v : low;
    return guard->guard.allows(guard->guard.self, low, old, 1, fresh, 1);
}

START_TEST(bodies_keep_out_of_each_other)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_cubes(context);
    kiln_keep_out guard;
    for (int wide = 0; wide < 2; wide++) {
        const kiln_keep_out_rules rules = {.bodies = true, .gap = wide ? 0.1 : 0.002};
        ck_assert_int_eq(kiln_keep_out_begin(&guard, mesh, &rules, NULL), KILN_OK);
        ck_assert(may_rise(&guard, mesh, 1.0));
        ck_assert(may_rise(&guard, mesh, 0.9));
        ck_assert(may_rise(&guard, mesh, 1.007) == !wide); /* nearer, but far enough */
        ck_assert(!may_rise(&guard, mesh, 1.009));
        ck_assert(!may_rise(&guard, mesh, 1.02)); /* crosses */
        kiln_keep_out_end(&guard);
    }
    const kiln_keep_out_rules none = {.gap = 0.1};
    ck_assert_int_eq(kiln_keep_out_begin(&guard, mesh, &none, NULL), KILN_OK);
    ck_assert(may_rise(&guard, mesh, 1.02));
    /* Where a try has come out with surfaces through each other they stay. */
    const kiln_box aside = {{0.5, 0.5, 0}, {1, 1, 2}}, there = {{0.3, 0, 0}, {1, 1, 2}};
    ck_assert_int_eq(kiln_array_push(context, &guard.shut, aside, NULL), KILN_OK);
    ck_assert(may_rise(&guard, mesh, 1.0));
    ck_assert_int_eq(kiln_array_push(context, &guard.shut, there, NULL), KILN_OK);
    ck_assert(!may_rise(&guard, mesh, 1.0));
    kiln_keep_out_end(&guard);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A body keeps out of itself: the cubes as one, but may be as near as it likes, and what is next to
 * the change is in nobody's way. */
START_TEST(a_body_keeps_out_of_itself)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_cubes(context);
    kiln_keep_out guard;
    mesh->parts.data[1].body = mesh->parts.data[0].body;
    for (int self = 0; self < 2; self++) {
        const kiln_keep_out_rules rules = {.bodies = true, .self = self, .gap = 0.1};
        ck_assert_int_eq(kiln_keep_out_begin(&guard, mesh, &rules, NULL), KILN_OK);
        ck_assert(may_rise(&guard, mesh, 1.009));
        ck_assert(may_rise(&guard, mesh, 1.02) == !self); /* crosses */
        const kiln_vec3 old[1][3] = {{{0, 0, 1}, {0.5, 0, 1}, {0.5, 0.5, 1}}};
        const kiln_vec3 fresh[1][3] = {{{0, 0, 1}, {0.5, 0, 1}, {0.4, 0.4, 0.9}}};
        ck_assert(guard.guard.allows(guard.guard.self, 0, old, 1, fresh, 1));
        kiln_keep_out_end(&guard);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Two surfaces that were nearer than the gap before are no fault of a pass that changed the tets
 * behind them, until one of them has moved. */
START_TEST(what_stood_is_no_fault)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_cubes(context);
    kiln_keep_out guard;
    const kiln_keep_out_rules rules = {.bodies = true, .gap = 0.1};
    ck_assert_int_eq(kiln_keep_out_begin(&guard, mesh, &rules, NULL), KILN_OK);
    kiln_clearance found;
    kiln_clearance_rules asked = {.since = KILN_SINCE_EVER, .gap = 0.02};
    ck_assert_int_eq(kiln_contact_clearance(mesh, &asked, &found, NULL), KILN_OK);
    ck_assert_uint_gt(found.pairs, 0);
    asked.stood = kiln_keep_out_stood;
    asked.before = &guard;
    ck_assert_int_eq(kiln_contact_clearance(mesh, &asked, &found, NULL), KILN_OK);
    ck_assert_uint_eq(found.pairs, 0);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_v3_norm(kiln_v3_sub(mesh->x[v], kiln_v3(0.5, 0.5, 1))) < 1e-9)
            mesh->x[v].z += 0.002;
    ck_assert_int_eq(kiln_contact_clearance(mesh, &asked, &found, NULL), KILN_OK);
    ck_assert_uint_gt(found.pairs, 0);
    const kiln_vec3 strange[3] = {{0, 0, 1}, {0.5, 0, 1}, {0.4, 0.4, 1}};
    ck_assert(!kiln_keep_out_stood(&guard, strange));
    kiln_keep_out_end(&guard);
    ck_assert(!kiln_keep_out_stood(&guard, strange)); /* and nothing did after it */
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("keep out");
    TCase *all = kiln_test_case(suite, "keep out");
    tcase_add_test(all, bodies_keep_out_of_each_other);
    tcase_add_test(all, a_body_keeps_out_of_itself);
    tcase_add_test(all, what_stood_is_no_fault);
    return suite;
}
