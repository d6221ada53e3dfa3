/* The drivers: repair is local, improvement never makes anything worse, threads do not matter. */
#include "fixtures.h"
#include "mesh/reorder.h"
#include "remesh/improve.h"
#include "remesh/vain.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Qualities of the live tets, worst first. */
static kiln_f64_array sorted_qualities(const kiln_mesh *mesh)
{
    kiln_f64_array q = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *v = mesh->tet[t].v;
        double value =
            kiln_tet_quality(&mesh->u[v[0]], &mesh->u[v[1]], &mesh->u[v[2]], &mesh->u[v[3]]);
        ck_assert_int_eq(kiln_array_push(mesh->context, &q, value, NULL), KILN_OK);
    }
    qsort(q.data, q.count, sizeof *q.data, by_value);
    return q;
}

static kiln_improve_report improve(kiln_mesh *mesh, bool whole, kiln_surface_mode surface)
{
    kiln_remesh_options remesh = kiln_remesh_default_options();
    kiln_improve_options options = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher r;
    remesh.surface = surface;
    if (whole)
        options.goal = INFINITY;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &remesh, &r, NULL), KILN_OK);
    ck_assert_int_eq(
        (whole ? kiln_improve_mesh : kiln_dynamic_improve)(&r, &options, &report, NULL), KILN_OK);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            ck_assert_double_eq(r.quality.data[t], kiln_remesher_score(&r, NULL, mesh->tet[t].v));
    kiln_remesher_end(&r);
    kiln_test_audit(mesh);
    return report;
}

START_TEST(repair_touches_only_what_is_bad)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=8 ny=8 nz=8");
    kiln_test_jitter(mesh, 0.01, 1);
    kiln_improve_report report = improve(mesh, false, KILN_SURFACE_QUADRIC);
    ck_assert_uint_eq(report.changed, 0);

    /* One interior vertex close to a face of its star. */
    uint32_t vertex = 0;
    while (mesh->vertex[vertex].flags & KILN_VERTEX_SURFACE)
        vertex++;
    const kiln_tet *tet = &mesh->tet[mesh->vertex[vertex].tet];
    kiln_vec3 face = kiln_v3(0, 0, 0);
    for (int k = 0; k < 4; k++)
        if (tet->v[k] != vertex)
            face = kiln_v3_madd(face, 1.0 / 3.0, mesh->u[tet->v[k]]);
    kiln_vec3 to = kiln_v3_lerp(mesh->u[vertex], face, 0.97);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_move_vertex(&txn, vertex, to, to), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    report = improve(mesh, false, KILN_SURFACE_QUADRIC);
    ck_assert_uint_gt(report.bad_before, 0);
    ck_assert_uint_eq(report.bad_after, 0);
    ck_assert_double_ge(report.worst_after, 0.15);
    ck_assert_uint_le(report.changed, 12 * report.bad_before);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Sorted vectors, worst first: the first difference is a gain. */
START_TEST(the_whole_mesh_only_improves)
{
    static const char *const shapes[] = {"box", "ball", "cylinder"};
    static const char *const settings[] = {"nx=3 ny=3 nz=3", "h=0.6", "h=0.4"};
    for (int i = 0; i < 3; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, shapes[i], settings[i]);
        kiln_test_jitter(mesh, 0.03, (uint64_t)i);
        double volume = kiln_mesh_volume(mesh);
        kiln_f64_array before = sorted_qualities(mesh);
        improve(mesh, true, KILN_SURFACE_KEEP);
        kiln_f64_array after = sorted_qualities(mesh);
        size_t same = 0;
        while (same < before.count && same < after.count && after.data[same] == before.data[same])
            same++;
        ck_assert_uint_lt(same, before.count < after.count ? before.count : after.count);
        ck_assert_double_gt(after.data[same], before.data[same]);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-12 * volume);
        kiln_array_free(context, &before);
        kiln_array_free(context, &after);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Large enough for batches of proposals. */
static uint64_t improved_hash(int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=5 nz=5");
    kiln_test_jitter(mesh, 0.05, 3);
    improve(mesh, true, KILN_SURFACE_KEEP);
    ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return hash;
}

START_TEST(threads_do_not_matter)
{
    uint64_t one = improved_hash(1);
    ck_assert_uint_eq(improved_hash(2), one);
    ck_assert_uint_eq(improved_hash(8), one);
}
END_TEST

/* Powers of two scale without rounding: then everything is the same but for the unit. */
START_TEST(units_do_not_matter)
{
    double worst[3];
    for (int i = 0; i < 3; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_soup soup = kiln_test_soup(context, "ball", "h=0.6");
        for (size_t p = 0; p < soup.points.count; p++)
            soup.points.data[p] = kiln_v3_scale(soup.points.data[p], ldexp(1.0, 20 * (i - 1)));
        kiln_build_options options = kiln_build_default_options();
        kiln_build_report built;
        kiln_mesh *mesh;
        ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, &built, NULL), KILN_OK);
        kiln_soup_free(&soup);
        worst[i] = improve(mesh, true, KILN_SURFACE_QUADRIC).worst_after;
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert_double_eq(worst[0], worst[1]);
    ck_assert_double_eq(worst[1], worst[2]);
}
END_TEST

static bool stop_at_once(void *user, const kiln_improve_progress *progress)
{
    ++*(int *)user;
    ck_assert_ptr_nonnull(progress->stage);
    return false;
}

START_TEST(progress_can_stop_a_driver)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.6");
    kiln_remesh_options remesh = kiln_remesh_default_options();
    kiln_improve_options options = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher r;
    int calls = 0;
    options.goal = INFINITY;
    options.progress = stop_at_once;
    options.user = &calls;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &remesh, &r, NULL), KILN_OK);
    ck_assert_int_eq(kiln_improve_mesh(&r, &options, &report, NULL), KILN_OK);
    ck_assert(report.stopped);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(kiln_dynamic_improve(&r, &options, &report, NULL), KILN_OK);
    ck_assert(report.stopped);
    kiln_remesher_end(&r);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Memory that runs out for good after `fail` more calls (0: never); returns the calls made. */
static uint64_t improve_starved(uint64_t fail, kiln_status *status, uint64_t *hash)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=4");
    kiln_test_jitter(mesh, 0.1, 3);
    kiln_remesh_options remesh = kiln_remesh_default_options();
    kiln_improve_options options = {.goal = 0.5, .rounds = 10};
    kiln_improve_report report;
    kiln_remesher r;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &remesh, &r, NULL), KILN_OK);
    uint64_t before = heap.calls;
    heap.fail_at = fail ? before + fail : 0;
    *status = kiln_improve_mesh(&r, &options, &report, NULL);
    uint64_t calls = heap.calls - before;
    heap.fail_at = 0;
    *hash = kiln_mesh_hash(mesh);
    kiln_remesher_end(&r);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_bytes, 0);
    return calls;
}

/* A change that is not made for want of memory is no refusal: the driver says so. */
START_TEST(running_out_of_memory_is_reported_by_the_drivers)
{
    kiln_status status;
    uint64_t whole, hash, calls = improve_starved(0, &status, &whole);
    ck_assert_int_eq(status, KILN_OK);
    ck_assert_uint_gt(calls, 40);
    uint32_t failures = 0, points = (uint32_t)kiln_test_rounds(12, 200);
    for (uint32_t i = 0; i < points; i++) {
        improve_starved(1 + i * calls / points, &status, &hash);
        ck_assert(status == KILN_ERR_MEMORY || hash == whole);
        failures += status == KILN_ERR_MEMORY;
    }
    ck_assert_uint_gt(failures, points / 2);
}
END_TEST

static bool twice(void *user, const kiln_improve_progress *progress)
{
    (void)progress;
    return ++*(int *)user < 2;
}

/* One repair may take long: after each the caller is asked. */
START_TEST(repairs_stop_after_the_tet_at_hand)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=2");
    kiln_remesh_options how = kiln_remesh_default_options();
    kiln_improve_options options = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher remesher;
    int calls = 0;
    options.goal = 0.99;
    options.progress = twice;
    options.user = &calls;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &how, &remesher, NULL), KILN_OK);
    ck_assert_int_eq(kiln_dynamic_improve(&remesher, &options, &report, NULL), KILN_OK);
    ck_assert(report.stopped);
    ck_assert_int_eq(calls, 2);
    kiln_remesher_end(&remesher);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static double area_of(const kiln_mesh *mesh)
{
    double area = 0.0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        kiln_vec3 p[3];
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        for (int k = 0; k < 3; k++)
            p[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
        area += 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
    }
    return area;
}

/* How much the repair of bad tets below the surface of a ball changes the area of that, of it. */
static double area_changed(bool inside_first)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "radius=1 h=0.25");
    kiln_remesh_options how = kiln_remesh_default_options();
    kiln_improve_options options = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher remesher;
    const double before = area_of(mesh);
    /* The vertex below a face comes close to it. */
    uint32_t at = mesh->face[0].at, *v = mesh->tet[at / 4].v;
    kiln_vec3 middle = kiln_v3(0, 0, 0);
    for (int k = 0; k < 3; k++)
        middle = kiln_v3_madd(middle, 1.0 / 3.0, mesh->u[v[kiln_face_corner[at % 4][k]]]);
    kiln_vec3 to = kiln_v3_lerp(mesh->u[v[at % 4]], middle, 0.75);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_move_vertex(&txn, v[at % 4], to, to), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    options.goal = 0.4;
    options.inside_first = inside_first;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &how, &remesher, NULL), KILN_OK);
    ck_assert_int_eq(kiln_dynamic_improve(&remesher, &options, &report, NULL), KILN_OK);
    kiln_remesher_end(&remesher);
    kiln_test_audit(mesh);
    ck_assert_uint_gt(report.bad_before, 0);
    ck_assert_uint_eq(report.bad_after, 0);
    double changed = fabs(area_of(mesh) / before - 1.0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return changed;
}

/* A surface under tension is pushed by every change of its shape. */
START_TEST(what_can_be_mended_inside_leaves_the_surface_alone)
{
    ck_assert_double_gt(area_changed(false), 1e-6);
    ck_assert_double_le(area_changed(true), 1e-14);
}
END_TEST

/* One pass over the mesh; the effort it took. */
static uint64_t effort_of_pass(kiln_mesh *mesh, const kiln_improve_options *options)
{
    kiln_remesh_options how = kiln_remesh_default_options();
    kiln_improve_report report;
    kiln_remesher remesher;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &how, &remesher, NULL), KILN_OK);
    ck_assert_int_eq(kiln_dynamic_improve(&remesher, options, &report, NULL), KILN_OK);
    ck_assert_uint_gt(report.bad_after, 0);
    uint64_t effort = kiln_remesher_effort(&remesher);
    kiln_remesher_end(&remesher);
    kiln_test_audit(mesh);
    return effort;
}

/* A goal out of reach: tried once within the effort allowed, then left alone until something round
 * a tet changes or it has become worse. */
START_TEST(hopeless_tets_are_left_alone)
{
    enum { ALLOWED = 20000, ONE_MORE = 10000 };
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=3");
    kiln_improve_options options = kiln_improve_default_options();
    options.goal = 0.99;
    options.spread = 300;
    options.effort = ALLOWED;
    options.vain = "vain";
    ck_assert_int_eq(kiln_vain_add(mesh, "vain", NULL), KILN_OK);
    int passes = 0;
    for (uint64_t effort = 1; effort > 0; passes++) {
        effort = effort_of_pass(mesh, &options);
        ck_assert_uint_le(effort, ALLOWED + ONE_MORE);
        ck_assert_int_lt(passes, 200);
    }
    ck_assert_int_ge(passes, 2);
    uint64_t hash = kiln_mesh_hash(mesh);
    ck_assert_uint_eq(effort_of_pass(mesh, &options), 0);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    uint32_t moved = mesh->tet[0].v[0];
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) /* squeezed where no one looks */
        for (int k = 0; k < 4; k++)
            if (kiln_tet_live(mesh, t) && mesh->tet[t].v[k] == moved)
                kiln_vain_of(mesh, "vain")[t].score *= 1.2;
    ck_assert_uint_gt(effort_of_pass(mesh, &options), 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("improve");
    TCase *drivers = kiln_test_case(suite, "drivers");
    tcase_add_test(drivers, repair_touches_only_what_is_bad);
    tcase_add_test(drivers, the_whole_mesh_only_improves);
    tcase_add_test(drivers, threads_do_not_matter);
    tcase_add_test(drivers, units_do_not_matter);
    tcase_add_test(drivers, progress_can_stop_a_driver);
    tcase_add_test(drivers, running_out_of_memory_is_reported_by_the_drivers);
    tcase_add_test(drivers, repairs_stop_after_the_tet_at_hand);
    tcase_add_test(drivers, what_can_be_mended_inside_leaves_the_surface_alone);
    tcase_add_test(drivers, hopeless_tets_are_left_alone);
    return suite;
}
