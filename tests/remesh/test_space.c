/* Solids and liquids in one pass: each tet is scored in its own space, none is inverted in either.
 */
#include "fixtures.h"
#include "insertion.h"
#include "remesh/improve.h"
#include "remesh/needed.h"
#include "remesh/size_control.h"
#include "remesh/sizing.h"
#include "remesh/space.h"
#include "support.h"

#include <string.h>

/* Region 2 is marked. The solid is squeezed to less than half in the world, and the interface
 * waves. */
static kiln_mesh *half_and_half(kiln_context *context, double jitter)
{
    kiln_mesh *mesh = two_regions(context);
    jitter_inside(mesh, jitter, 5);
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (mesh->info[t].region == 2)
            ck_assert_int_eq(kiln_txn_mark_tet(&txn, t, KILN_MARK_WORLD, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        double x = u.x < 0.5 ? 0.5 + 0.4 * (u.x - 0.5) : u.x;
        mesh->x[v] = kiln_v3(x, u.y + 0.03 * sin(3 * u.z), u.z);
        if (u.x > 0.5)
            mesh->u[v] = mesh->x[v];
    }
    kiln_test_audit(mesh);
    return mesh;
}

static double quality_in(const kiln_mesh *mesh, const kiln_vec3 *p, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    return kiln_tet_quality(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]);
}

static bool is_marked(const kiln_mesh *mesh, uint32_t tet)
{
    return mesh->info[tet].marks & KILN_MARK_WORLD;
}

/* The worst unmarked in u and the worst marked in x. */
static void worst_of_both(const kiln_mesh *mesh, double worst[2])
{
    worst[0] = worst[1] = INFINITY;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        bool marked = is_marked(mesh, t);
        worst[marked] = fmin(worst[marked], quality_in(mesh, marked ? mesh->x : mesh->u, t));
    }
}

/* Scores are those of each tet's space, and vertices of marked tets alone have u = x. */
static void check(const kiln_remesher *r)
{
    const kiln_mesh *mesh = r->mesh;
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && !r->options.sizing)
            ck_assert_double_eq(r->quality.data[t],
                                quality_in(mesh, is_marked(mesh, t) ? mesh->x : mesh->u, t));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        ck_assert_int_eq(kiln_star(mesh, v, &walker, NULL), KILN_OK);
        bool all = true;
        for (size_t i = 0; i < walker.tets.count; i++)
            all &= is_marked(mesh, walker.tets.data[i]);
        ck_assert(all == (bool)r->side.data[v].world);
        if (all)
            ck_assert(memcmp(&mesh->u[v], &mesh->x[v], sizeof *mesh->u) == 0);
    }
    kiln_walker_free(&walker);
}

typedef enum way { DYNAMIC, WHOLE, SIZED, WAYS } way;

static void run(kiln_mesh *mesh, way how)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_sizing *sizing = NULL;
    kiln_remesher r;
    improve.goal = how == WHOLE ? INFINITY : 0.3;
    if (how == SIZED) {
        ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
        ck_assert_int_eq(kiln_sizing_add_size(sizing, 0.17, NULL), KILN_OK);
        ck_assert_int_eq(kiln_sizing_finish(sizing, &(kiln_sizing_limits){0}, NULL), KILN_OK);
        options.sizing = sizing;
    }
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
    ck_assert(r.mixed);
    check(&r);
    kiln_size_report size = {0};
    if (sizing)
        ck_assert_int_eq(kiln_size_control(&r, NULL, &size, NULL), KILN_OK);
    ck_assert(!sizing || size.splits > 50);
    ck_assert_int_eq(
        (how == WHOLE ? kiln_improve_mesh : kiln_dynamic_improve)(&r, &improve, &report, NULL),
        KILN_OK);
    ck_assert_uint_gt(report.changed, 20);
    check(&r);
    kiln_remesher_end(&r);
    kiln_sizing_destroy(sizing);
    kiln_test_audit(mesh);
}

START_TEST(each_half_is_good_in_its_space)
{
    uint64_t hash[2];
    double before[2], after[2], volume = 0.0;
    for (int threads = 1; threads <= 2; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_mesh *mesh = half_and_half(context, 0.12);
        volume = kiln_mesh_volume(mesh);
        worst_of_both(mesh, before);
        run(mesh, (way)_i);
        worst_of_both(mesh, after);
        ck_assert_double_lt(fmax(before[0], before[1]), 0.15);
        ck_assert_double_ge(fmin(after[0], after[1]), _i == SIZED ? 0.15 : 0.3);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 0.01 * volume);
        hash[threads - 1] = kiln_mesh_hash(mesh);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert(hash[0] == hash[1]);
}
END_TEST

/* A liquid alone counts in x whatever the options say, and marks inside a region are refused. */
START_TEST(what_is_mixed)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = half_and_half(context, 0.05);
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_remesher r;
    kiln_error error = {0};
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ck_assert_int_eq(kiln_txn_mark_tet(&txn, t, KILN_MARK_WORLD, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
    ck_assert(!r.mixed && r.options.space == KILN_SPACE_WORLD);
    kiln_remesher_end(&r);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_mark_tet(&txn, 7, 0, KILN_MARK_WORLD), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    uint64_t hash = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "regions of their own"));
    ck_assert(hash == kiln_mesh_hash(mesh));
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* The look before a pass sees a marked tet that is bad in x alone. */
START_TEST(need_is_seen_in_each_space)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = half_and_half(context, 0.0);
    kiln_remesh_options options = kiln_remesh_default_options();
    double both[2], worst;
    bool needed;
    worst_of_both(mesh, both);
    ck_assert_int_eq(
        kiln_remesh_needed(mesh, &options, NULL, &(kiln_improve_options){0}, &needed, &worst, NULL),
        KILN_OK);
    ck_assert(!needed);
    ck_assert_double_eq(worst, fmin(both[0], both[1]));
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("space");
    TCase *all = kiln_test_case(suite, "space");
    tcase_add_loop_test(all, each_half_is_good_in_its_space, 0, WAYS);
    tcase_add_test(all, what_is_mixed);
    tcase_add_test(all, need_is_seen_in_each_space);
    return suite;
}
