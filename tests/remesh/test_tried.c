/* What has been tried often enough is left alone, until matter moves. */
#include "remesh/tried.h"
#include "fixtures.h"
#include "irregular.h"
#include "remesh/needed.h"
#include "remesh/sizing.h"
#include "remesh/transfer.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct rig {
    kiln_context *context;
    kiln_mesh *mesh;
    double scale;
} rig;

static kiln_tried *tried(const rig *r)
{
    return kiln_tried_of(r->mesh, "tried");
}

static void set_all(const rig *r, double value)
{
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        tried(r)[v][KILN_TRIED_SIZE] = tried(r)[v][KILN_TRIED_REPAIR] = value;
}

static const double scales[] = {1e-3, 1.0, 1e3};

static rig start(double scale)
{
    rig r = {.context = kiln_test_context(1), .scale = scale};
    char settings[120];
    snprintf(settings, sizeof settings, "n=3 lx=%g ly=%g lz=%g", scale, scale, scale);
    r.mesh = kiln_test_mesh(r.context, "box", settings);
    ck_assert_int_eq(kiln_tried_add(r.mesh, "tried", NULL), KILN_OK);
    ck_assert_int_eq(
        kiln_mesh_add_field(r.mesh, "wait", KILN_ON_VERTEX, KILN_U32, 2, KILN_RULE_NONE, NULL),
        KILN_OK);
    return r;
}

static void stop(rig *r)
{
    kiln_mesh_destroy(r->mesh);
    kiln_context_destroy(r->context);
}

/* Whether a pass is needed for edges half as long, and how many splits and failures it brings. */
static size_t half_sizes(const rig *r, bool *needed, uint32_t *most_wait)
{
    kiln_sizing *sizing;
    kiln_remesher remesher;
    kiln_size_report report;
    kiln_u32_array changed = {0};
    double worst;
    kiln_size_options size = kiln_size_default_options();
    size.wait = "wait";
    size.tried = "tried";
    ck_assert_int_eq(kiln_sizing_create(r->mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, 0.15 * r->scale, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, NULL, NULL), KILN_OK);
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = sizing;
    ck_assert_int_eq(kiln_remesh_needed(r->mesh, &options, &size, &(kiln_improve_options){0},
                                        needed, &worst, NULL),
                     KILN_OK);
    ck_assert_int_eq(kiln_remesher_begin(r->mesh, &options, &remesher, NULL), KILN_OK);
    uint32_t since = r->mesh->clock;
    ck_assert_int_eq(kiln_size_control(&remesher, &size, &report, NULL), KILN_OK);
    ck_assert_int_eq(kiln_tried_list(r->mesh, since, &changed, NULL), KILN_OK);
    ck_assert_int_eq(kiln_transfer(r->mesh, NULL, NULL, NULL), KILN_OK);
    kiln_tried_note(r->mesh, tried(r), KILN_TRIED_SIZE, &changed, kiln_size_waits(r->mesh, &size));
    kiln_remesher_end(&remesher);
    kiln_array_free(r->context, &changed);
    *most_wait = 0;
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        for (int k = 0; k < 2; k++)
            if (kiln_size_waits(r->mesh, &size)[v][k] > *most_wait)
                *most_wait = kiln_size_waits(r->mesh, &size)[v][k];
    kiln_sizing_destroy(sizing);
    return report.splits + report.contractions + report.removals;
}

/* T1, T3: a place that has been tried enough is not looked at; another is, and then once less. */
START_TEST(test_enough_is_enough)
{
    rig r = start(scales[_i]);
    bool needed;
    uint32_t wait;
    set_all(&r, KILN_TRIED_MOST);
    ck_assert_uint_eq(half_sizes(&r, &needed, &wait), 0);
    ck_assert(!needed);
    set_all(&r, KILN_TRIED_MOST - 1.0);
    ck_assert_uint_gt(half_sizes(&r, &needed, &wait), 0);
    ck_assert(needed);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) /* T4: new ones, too */
        ck_assert_double_eq_tol(tried(&r)[v][KILN_TRIED_SIZE], KILN_TRIED_MOST, 1e-12);
    ck_assert_uint_eq(half_sizes(&r, &needed, &wait), 0);
    ck_assert(!needed);
    stop(&r);
}
END_TEST

/* A mesh with tets below 0.3, and one round of their repair. */
static size_t repair(const rig *r, bool *needed)
{
    kiln_remesher remesher;
    kiln_improve_report report;
    kiln_u32_array changed = {0};
    double worst;
    kiln_improve_options improve = kiln_improve_default_options();
    const kiln_remesh_options options = kiln_remesh_default_options();
    improve.goal = 0.3;
    improve.tried = "tried";
    ck_assert_int_eq(kiln_remesh_needed(r->mesh, &options, NULL, &improve, needed, &worst, NULL),
                     KILN_OK);
    ck_assert_int_eq(kiln_remesher_begin(r->mesh, &options, &remesher, NULL), KILN_OK);
    uint32_t since = r->mesh->clock;
    ck_assert_int_eq(kiln_dynamic_improve(&remesher, &improve, &report, NULL), KILN_OK);
    ck_assert_int_eq(kiln_tried_list(r->mesh, since, &changed, NULL), KILN_OK);
    ck_assert_int_eq(kiln_transfer(r->mesh, NULL, NULL, NULL), KILN_OK);
    kiln_tried_note(r->mesh, tried(r), KILN_TRIED_REPAIR, &changed, NULL);
    for (uint32_t v = 0, i = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++) {
        bool made = i < changed.count && changed.data[i] == v;
        i += made;
        if (made && kiln_vertex_live(r->mesh, v)) /* T1, T4 */
            ck_assert_double_eq_tol(tried(r)[v][KILN_TRIED_REPAIR], KILN_TRIED_MOST, 1e-12);
    }
    kiln_remesher_end(&remesher);
    kiln_array_free(r->context, &changed);
    return report.changed;
}

/* T3: bad tets whose corners were all in as many repairs are left alone; with one that was not they
 * are repaired. Sizes have no say in it. */
START_TEST(test_repairs_are_counted)
{
    rig r = {.context = kiln_test_context(1), .scale = 1.0};
    bool needed;
    r.mesh = kiln_test_random_mesh(r.context, 60, 7);
    ck_assert_int_eq(kiln_tried_add(r.mesh, "tried", NULL), KILN_OK);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        tried(&r)[v][KILN_TRIED_REPAIR] = KILN_TRIED_MOST;
    uint64_t before = kiln_mesh_hash(r.mesh);
    ck_assert_uint_eq(repair(&r, &needed), 0);
    ck_assert(!needed);
    ck_assert_uint_eq(kiln_mesh_hash(r.mesh), before);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        tried(&r)[v][KILN_TRIED_REPAIR] = KILN_TRIED_MOST - 1.0;
        tried(&r)[v][KILN_TRIED_SIZE] = KILN_TRIED_MOST;
    }
    ck_assert_uint_gt(repair(&r, &needed), 0);
    ck_assert(needed);
    stop(&r);
}
END_TEST

/* T2: motion is no strain; a strain makes up for what has been tried, in either direction. */
START_TEST(test_strain_makes_up)
{
    rig r = start(scales[_i]);
    uint32_t rows = r.mesh->table[KILN_ON_VERTEX].used;
    kiln_f64_array scratch = {0};
    kiln_vec3 *then = malloc(rows * sizeof *then);
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(0.6, 0.0, 0.8), 1.1);
    set_all(&r, KILN_TRIED_MOST);
    for (uint32_t v = 0; v < rows; v++) {
        then[v] = r.mesh->x[v];
        r.mesh->x[v] = kiln_v3_add(kiln_m3_apply(turn, then[v]), kiln_v3(3 * r.scale, 0, r.scale));
    }
    ck_assert_int_eq(kiln_tried_forget(r.mesh, tried(&r), then, &scratch, NULL), KILN_OK);
    for (uint32_t v = 0; v < rows; v++)
        for (int aim = 0; aim < KILN_TRIED_AIMS; aim++)
            ck_assert_double_eq_tol(tried(&r)[v][aim], KILN_TRIED_MOST, 1e-9);
    double strain = 0.0;
    for (int i = 1; i <= 2; i++) {
        double stretch = i == 1 ? 1.02 : 0.98;
        strain += 0.5 * fabs(stretch * stretch - 1.0);
        for (uint32_t v = 0; v < rows; v++)
            r.mesh->x[v] = kiln_v3_scale(then[v], stretch);
        ck_assert_int_eq(kiln_tried_forget(r.mesh, tried(&r), then, &scratch, NULL), KILN_OK);
        for (uint32_t v = 0; v < rows; v++)
            for (int aim = 0; aim < KILN_TRIED_AIMS; aim++)
                ck_assert_double_eq_tol(tried(&r)[v][aim],
                                        KILN_TRIED_MOST - strain / KILN_TRIED_STRAIN, 1e-9);
    }
    for (uint32_t v = 0; v < rows; v++)
        r.mesh->x[v] = kiln_v3_scale(then[v], 3.0);
    ck_assert_int_eq(kiln_tried_forget(r.mesh, tried(&r), then, &scratch, NULL), KILN_OK);
    for (uint32_t v = 0; v < rows; v++)
        for (int aim = 0; aim < KILN_TRIED_AIMS; aim++)
            ck_assert_double_eq(tried(&r)[v][aim], 0.0);
    free(then);
    kiln_array_free(r.context, &scratch);
    stop(&r);
}
END_TEST

/* Edges that cannot be changed count as tried: what waits for eight calls does not do so for ever.
 */
START_TEST(test_failures_count)
{
    rig r = start(1.0);
    int last = 0, failed = 0;
    for (int call = 1; call <= 200; call++) {
        bool needed;
        uint32_t wait;
        size_t changes = half_sizes(&r, &needed, &wait);
        last = needed || changes > 0 || wait == KILN_SIZE_WAIT ? call : last;
        failed += wait == KILN_SIZE_WAIT;
    }
    ck_assert_int_gt(failed, 1); /* or nothing is shown */
    ck_assert_int_lt(last, 100);
    stop(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("tried");
    TCase *tests = kiln_test_case(suite, "tries");
    tcase_add_loop_test(tests, test_enough_is_enough, 0, 3);
    tcase_add_loop_test(tests, test_strain_makes_up, 0, 3);
    tcase_add_test(tests, test_failures_count);
    tcase_add_test(tests, test_repairs_are_counted);
    return suite;
}
