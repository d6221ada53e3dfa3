#include "remesh/size_control.h"

#include "fixtures.h"
#include "remesh/improve.h"
#include "remesh/needed.h"
#include "remesh/size_control_adapt.h"
#include "remesh/sizing.h"
#include "support.h"

#include <stdio.h>

static kiln_sizing *uniform(const kiln_mesh *mesh, double h)
{
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, h, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, NULL, NULL), KILN_OK);
    return sizing;
}

static kiln_remesher begin(kiln_mesh *mesh, const kiln_sizing *sizing)
{
    kiln_remesher remesher;
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = sizing;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    return remesher;
}

static kiln_edge_survey survey(const kiln_remesher *remesher)
{
    kiln_edge_survey s;
    kiln_size_options options = kiln_size_default_options();
    kiln_size_survey(remesher, &options, &s);
    return s;
}

/* One call: a pass with size control and improvement; how often size control changed something. */
static size_t call(kiln_mesh *mesh, double h, double goal)
{
    kiln_sizing *sizing = uniform(mesh, h);
    kiln_remesher remesher = begin(mesh, sizing);
    kiln_size_report size;
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    improve.goal = goal;
    ck_assert_int_eq(kiln_size_control(&remesher, NULL, &size, NULL), KILN_OK);
    ck_assert_int_eq(kiln_dynamic_improve(&remesher, &improve, &report, NULL), KILN_OK);
    kiln_remesher_end(&remesher);
    kiln_sizing_destroy(sizing);
    return size.splits + size.contractions + report.changed;
}

/* Asked before a pass, it says what the pass then finds: edges out of bounds, tets below the goal,
 * or nothing and the worst score; on both sides of every bound. */
START_TEST(whether_a_pass_is_needed)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(mesh, 0.03, 11);
    kiln_sizing *sizing;
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used, calm = 0;
    double *sizes = malloc(rows * sizeof *sizes);
    for (uint32_t v = 0; v < rows; v++) {
        sizes[v] = 0.25 + 0.15 * mesh->u[v].x;
        mesh->x[v].z *= 1.0 - 0.3 * mesh->u[v].x; /* less volume there */
    }
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_values(sizing, sizes, rows, 1, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, NULL, NULL), KILN_OK);
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = sizing;
    options.volume_elsewhere = true;
    kiln_remesher remesher;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    kiln_edge_survey s = survey(&remesher);
    double least = INFINITY;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        least = fmin(least, remesher.quality.data[t]);
    kiln_remesher_end(&remesher);
    for (int i = 0; i < 16; i++) {
        kiln_size_options size = kiln_size_default_options();
        bool short_ones = i & 1, long_ones = i & 2, bad = i & 4, full = i & 8, needed;
        double worst;
        kiln_improve_options improve = {.goal = least * (bad ? 1.0 + 1e-12 : 1.0)};
        size.shortest = s.least * (short_ones ? 1.0 + 1e-12 : 1.0);
        size.longest = s.most * (long_ones ? 1.0 - 1e-12 : 1.0);
        size.most_tets = full ? 10 : 0;
        ck_assert_int_eq(kiln_remesh_needed(mesh, &options, &size, &improve, &needed, &worst, NULL),
                         KILN_OK);
        ck_assert_int_eq(needed, short_ones || (long_ones && !full) || bad);
        calm += !needed;
        if (!needed)
            ck_assert_double_eq(worst, least);
        ck_assert_int_eq(kiln_remesh_needed(mesh, &options, NULL, &improve, &needed, &worst, NULL),
                         KILN_OK);
        ck_assert_int_eq(needed, bad);
    }
    ck_assert_uint_eq(calm, 3);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "wait", KILN_ON_VERTEX, KILN_U32, 2, KILN_RULE_NONE, NULL),
        KILN_OK);
    kiln_size_wait *wait =
        (kiln_size_wait *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "wait")->data;
    for (uint32_t v = 0; v < rows; v++)
        wait[v][KILN_SIZE_SPLIT] = 3;
    for (int i = 0; i < 4; i++) { /* too long edges, that have two more calls to wait after this */
        kiln_size_options size = {.longest = 0.5 * s.most, .wait = "wait"};
        bool needed;
        double worst;
        ck_assert_int_eq(kiln_remesh_needed(mesh, &options, &size, &(kiln_improve_options){0},
                                            &needed, &worst, NULL),
                         KILN_OK);
        ck_assert_int_eq(needed, i >= 2);
    }
    for (uint64_t i = 1; i <= 2; i++) {
        bool needed;
        double worst;
        int64_t bytes = heap.live_bytes;
        heap.fail_at = heap.calls + i;
        ck_assert_int_eq(kiln_remesh_needed(mesh, &options, NULL,
                                            &(kiln_improve_options){.goal = 0.1}, &needed, &worst,
                                            NULL),
                         KILN_ERR_MEMORY);
        ck_assert_int_eq(heap.live_bytes, bytes);
    }
    heap.fail_at = 0;
    kiln_sizing_destroy(sizing);
    free(sizes);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Splits and contractions do not take turns: whatever the size asked for, at any scale. */
/* A tet a little below the goal, and an edge a little too short, are left alone while they stay so;
 * not when they are about to fail. */
START_TEST(what_rests_may_wait)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(mesh, 0.03, 11);
    kiln_sizing *sizing;
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_vec3 *way = calloc(rows, sizeof *way);
    double *sizes = malloc(rows * sizeof *sizes), worst, least = INFINITY;
    for (uint32_t v = 0; v < rows; v++)
        sizes[v] = 0.25;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_values(sizing, sizes, rows, 1, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, NULL, NULL), KILN_OK);
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = sizing;
    for (int i = 0; i < 6; i++) { /* no way, as much for all, half of what is across */
        const bool by_size = i >= 3, waits = i % 3 == 1;
        kiln_remesher remesher;
        kiln_improve_report mended;
        kiln_size_report sized;
        bool needed;
        for (uint32_t v = 0; v < rows; v++)
            way[v] = kiln_v3(0.3, 0, i % 3 == 2 ? -0.6 * mesh->x[v].z : 0.0);
        ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
        kiln_edge_survey s = survey(&remesher);
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            least = kiln_tet_live(mesh, t) ? fmin(least, remesher.quality.data[t]) : least;
        kiln_improve_options improve = kiln_improve_default_options();
        kiln_size_options size = kiln_size_default_options();
        improve.asked = 0.99 * least;
        improve.goal = by_size ? 0.0 : 1.01 * least;
        size.longest = INFINITY;
        size.shortest = by_size ? 1.1 * s.least : 0.0;
        improve.way = size.way = i % 3 ? way : NULL;
        improve.ways = size.ways = rows;
        ck_assert_int_eq(kiln_size_control(&remesher, &size, &sized, NULL), KILN_OK);
        ck_assert_int_eq(kiln_dynamic_improve(&remesher, &improve, &mended, NULL), KILN_OK);
        ck_assert_int_eq(sized.contract_attempts > 0, by_size && !waits);
        ck_assert_int_eq(mended.changed > 0, !waits && (!by_size || sized.contractions > 0));
        kiln_remesher_abandon(&remesher);
        ck_assert_int_eq(kiln_remesh_needed(mesh, &options, &size, &improve, &needed, &worst, NULL),
                         KILN_OK);
        ck_assert_int_eq(needed, !waits);
    }
    kiln_sizing_destroy(sizing);
    free(sizes);
    free(way);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(calls_come_to_rest)
{
    static const double scales[3] = {1.0, 1e-6, 1e6}, sizes[4] = {0.11, 0.3, 0.9, 0.25};
    double scale = scales[_i / 4], h = scale * sizes[_i % 4];
    kiln_context *context = kiln_test_context(1);
    char settings[160];
    snprintf(settings, sizeof settings, "nx=4 ny=4 nz=4 lx=%g ly=%g lz=%g", scale, scale, scale);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", settings);
    double volume = kiln_mesh_volume(mesh);
    size_t changes = 0;
    for (int n = 0; n < (_i < 4 ? 50 : 6); n++) {
        size_t now = call(mesh, h, 0.15);
        changes += now;
        if (n >= 3)
            ck_assert_uint_eq(now, 0);
    }
    ck_assert(sizes[_i % 4] == 0.25 || changes > 0);
    kiln_test_audit(mesh);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-12 * volume);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* The same bits at every scale that is a power of two. */
START_TEST(scale_does_not_matter)
{
    uint32_t tets[2];
    for (int i = 0; i < 2; i++) {
        kiln_context *context = kiln_test_context(1);
        double scale = i ? 0x1p-20 : 1.0;
        char settings[160];
        snprintf(settings, sizeof settings, "nx=4 ny=4 nz=4 lx=%.17g ly=%.17g lz=%.17g", scale,
                 scale, scale);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", settings);
        call(mesh, 0.13 * scale, 0.15);
        tets[i] = mesh->table[KILN_ON_TET].live;
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert_uint_eq(tets[0], tets[1]);
}
END_TEST

/* S1: splitting alone leaves nothing too long and makes nothing below the floor. */
START_TEST(splits_keep_their_floor)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.5");
    kiln_test_jitter(mesh, 0.05, 1);
    kiln_sizing *sizing = uniform(mesh, 0.13);
    kiln_remesher remesher = begin(mesh, sizing);
    kiln_edge_survey before = survey(&remesher);
    ck_assert_double_gt(before.least, 0.75); /* nothing to contract */
    ck_assert_double_gt(before.most, 3.0);
    kiln_size_report report;
    ck_assert_int_eq(kiln_size_control(&remesher, NULL, &report, NULL), KILN_OK);
    kiln_edge_survey after = survey(&remesher);
    ck_assert_uint_eq(report.contractions, 0);
    ck_assert_uint_gt(report.splits, 1000);
    ck_assert_double_ge(after.least, 0.70);
    ck_assert_uint_lt(after.too_long, after.edges / 10); /* a vertex too close to their middle */
    ck_assert_uint_gt(after.fitting, after.edges * 9 / 10);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ck_assert_double_ge(remesher.quality.data[t], 0.05);
    kiln_remesher_end(&remesher);
    kiln_sizing_destroy(sizing);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* S1: contracting alone makes nothing above the ceiling, keeps the outline and its features. */
START_TEST(contractions_keep_their_ceiling)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=8 ny=8 nz=8");
    kiln_sizing *sizing = uniform(mesh, 0.4);
    kiln_remesher remesher = begin(mesh, sizing);
    kiln_edge_survey before = survey(&remesher);
    ck_assert_double_lt(before.most, 0.70); /* all of them too short */
    kiln_size_report report;
    ck_assert_int_eq(kiln_size_control(&remesher, NULL, &report, NULL), KILN_OK);
    kiln_edge_survey after = survey(&remesher);
    ck_assert_uint_eq(report.splits, 0);
    ck_assert_uint_gt(report.contractions, 300);
    ck_assert_double_le(after.most, 1.3);
    ck_assert_double_gt(after.mean, 0.7);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ck_assert_double_ge(remesher.quality.data[t], 0.05);
    kiln_remesher_end(&remesher);
    kiln_sizing_destroy(sizing);
    kiln_test_audit(mesh);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), 1.0, 1e-12);
    int corners = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        corners += kiln_vertex_live(mesh, v) && (u.x == 0 || u.x == 1) && (u.y == 0 || u.y == 1) &&
                   (u.z == 0 || u.z == 1);
    }
    ck_assert_int_eq(corners, 8);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(limits)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    kiln_remesher remesher = begin(mesh, NULL);
    ck_assert_int_eq(kiln_size_control(&remesher, NULL, NULL, NULL), KILN_ERR_STATE);
    kiln_remesher_end(&remesher);
    kiln_sizing *sizing = uniform(mesh, 0.05);
    remesher = begin(mesh, sizing);
    kiln_size_options options = kiln_size_default_options();
    options.most_tets = 500;
    ck_assert_int_eq(kiln_size_control(&remesher, &options, NULL, NULL), KILN_OK);
    ck_assert_uint_lt(mesh->table[KILN_ON_TET].live, 600);
    ck_assert_uint_ge(mesh->table[KILN_ON_TET].live, 500);
    kiln_remesher_end(&remesher);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A layer along z = 0.5 + 0.1 sin 2 pi x, `ratio` times thinner than wide. */
static kiln_sym3 wavy_layer(void *user, kiln_vec3 p)
{
    double ratio = *(const double *)user, k = 2 * KILN_PI, wide = 0.2;
    kiln_vec3 n = {-0.1 * k * cos(k * p.x), 0, 1};
    double away = fabs(p.z - 0.5 - 0.1 * sin(k * p.x)) / kiln_v3_norm(n);
    double thin = fmin(wide / ratio + 0.3 * away, wide);
    n = kiln_v3_normalize(n);
    kiln_mat3 q = kiln_m3_columns(n, kiln_v3(n.z, 0, -n.x), kiln_v3(0, 1, 0));
    const double sizes[3] = {thin, wide, wide};
    return kiln_metric_from_directions(&q, sizes);
}

static kiln_sizing *layer_field(const kiln_mesh *mesh, double *ratio)
{
    kiln_sizing *sizing;
    if (kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL) != KILN_OK)
        return NULL;
    if (kiln_sizing_add_function(sizing, wavy_layer, ratio, true, NULL) == KILN_OK &&
        kiln_sizing_finish(sizing, NULL, NULL) == KILN_OK)
        return sizing;
    kiln_sizing_destroy(sizing);
    return NULL;
}

/* From a coarse box to a curved layer: nine edges of ten fit, nothing is bad, the box stays. */
START_TEST(a_curved_layer_is_reached)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=5 nz=5");
    double ratio = kiln_test_rounds(10, 100) == 10 ? 10.0 : 100.0;
    kiln_sizing *sizing = layer_field(mesh, &ratio);
    kiln_adapt_report report;
    ck_assert_int_eq(kiln_size_adapt(mesh, sizing, NULL, &report, NULL), KILN_OK);
    ck_assert(report.arrived);
    ck_assert_uint_gt(report.passes, 3);
    ck_assert_uint_ge(10 * report.edges.fitting, 9 * report.edges.edges);
    ck_assert_double_ge(report.improve.worst_after, 0.1);
    kiln_test_audit(mesh);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), 1.0, 1e-12);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(fields_come_along)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    ck_assert_int_eq(kiln_mesh_add_field(mesh, "linear", KILN_ON_VERTEX, KILN_F64, 1,
                                         KILN_RULE_INTERPOLATE, NULL),
                     KILN_OK);
    double *value = (double *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "linear")->data;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        value[v] = 1 + 2 * mesh->u[v].x - 3 * mesh->u[v].y;
    kiln_sizing *sizing = uniform(mesh, 0.17);
    ck_assert_int_eq(kiln_size_adapt(mesh, sizing, NULL, NULL, NULL), KILN_OK);
    value = (double *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "linear")->data;
    ck_assert_uint_gt(mesh->table[KILN_ON_VERTEX].live, 100);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            ck_assert_double_eq_tol(value[v], 1 + 2 * mesh->u[v].x - 3 * mesh->u[v].y, 1e-12);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(the_same_bits_for_any_number_of_threads)
{
    uint64_t hash[3];
    const int threads[3] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        kiln_context *context = kiln_test_context(threads[i]);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
        double ratio = 4.0;
        kiln_sizing *sizing = layer_field(mesh, &ratio);
        ck_assert_int_eq(kiln_size_adapt(mesh, sizing, NULL, NULL, NULL), KILN_OK);
        hash[i] = kiln_mesh_hash(mesh);
        kiln_sizing_destroy(sizing);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_eq(hash[0], hash[2]);
}
END_TEST

/* Memory that runs out anywhere is an error, and leaves a sound mesh and no leak. */
START_TEST(out_of_memory)
{
    uint64_t calls = 0;
    for (uint64_t fail = 0, round = 0; round < kiln_test_rounds(25, 400); round++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
        double ratio = 3.0;
        uint64_t start = heap.calls;
        heap.fail_at = fail ? start + fail : 0;
        kiln_sizing *sizing = layer_field(mesh, &ratio);
        kiln_status status =
            sizing ? kiln_size_adapt(mesh, sizing, NULL, NULL, NULL) : KILN_ERR_MEMORY;
        ck_assert_int_eq(status, fail ? KILN_ERR_MEMORY : KILN_OK);
        heap.fail_at = 0;
        if (!fail)
            calls = heap.calls - start;
        ck_assert(!kiln_archive_active(mesh));
        kiln_test_audit(mesh);
        kiln_sizing_destroy(sizing);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        fail = 1 + round * (calls - 1) / kiln_test_rounds(25, 400);
    }
}
END_TEST

/* Size control by itself: edges that were left as they are for want of memory are no success. */
START_TEST(starved_size_control_says_so)
{
    uint64_t calls = 0, whole = 0;
    for (uint64_t fail = 0, round = 0; round < kiln_test_rounds(12, 200); round++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
        kiln_sizing *sizing = uniform(mesh, 0.2);
        kiln_remesher remesher = begin(mesh, sizing);
        uint64_t start = heap.calls;
        heap.fail_at = fail ? start + fail : 0;
        kiln_status status = kiln_size_control(&remesher, NULL, NULL, NULL);
        heap.fail_at = 0;
        if (!fail) {
            ck_assert_int_eq(status, KILN_OK);
            calls = heap.calls - start;
            whole = kiln_mesh_hash(mesh);
        }
        ck_assert(status == KILN_ERR_MEMORY || kiln_mesh_hash(mesh) == whole);
        kiln_remesher_end(&remesher);
        kiln_test_audit(mesh);
        kiln_sizing_destroy(sizing);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        fail = 1 + round * (calls - 1) / kiln_test_rounds(12, 200);
    }
}
END_TEST

static bool two_passes(void *user, const kiln_improve_progress *progress)
{
    (void)progress;
    return ++*(int *)user <= 2;
}

START_TEST(adapting_can_be_stopped)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=2");
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, 0.01, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, &(kiln_sizing_limits){0}, NULL), KILN_OK);
    int calls = 0;
    kiln_adapt_options options = kiln_adapt_default_options();
    options.improve.progress = two_passes;
    options.improve.user = &calls;
    kiln_adapt_report report;
    ck_assert_int_eq(kiln_size_adapt(mesh, sizing, &options, &report, NULL), KILN_OK);
    ck_assert(report.improve.stopped);
    ck_assert_uint_eq(report.passes, 2);
    kiln_test_audit(mesh);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Half of the tets have flowed: edges of the others stay as they are, however short. */
START_TEST(only_what_has_flowed)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=12 ny=4 nz=4 lx=3 ly=1 lz=1");
    kiln_sizing *sizing = uniform(mesh, 1.2);
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    double *flowed = calloc(tets, sizeof *flowed);
    for (uint32_t t = 0; t < tets; t++)
        flowed[t] = kiln_tet_centre(mesh, t, mesh->u).x < 1.5 ? INFINITY : 1.0;
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = sizing;
    options.flowed = flowed;
    kiln_remesher remesher;
    kiln_size_options size = kiln_size_default_options();
    kiln_size_report report;
    size.flowed = INFINITY;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    ck_assert_int_eq(kiln_size_control(&remesher, &size, &report, NULL), KILN_OK);
    ck_assert_uint_gt(report.contractions, 20);
    kiln_remesher_end(&remesher);
    uint32_t beyond = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        beyond += kiln_vertex_live(mesh, v) && mesh->u[v].x > 1.5 + 1e-9;
    ck_assert_uint_eq(beyond, 6 * 25); /* all that were there */
    kiln_test_audit(mesh);
    free(flowed);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("size_control");
    TCase *all = kiln_test_case(suite, "size_control");
    tcase_add_test(all, whether_a_pass_is_needed);
    tcase_add_test(all, what_rests_may_wait);
    tcase_add_loop_test(all, calls_come_to_rest, 0, 12);
    tcase_add_test(all, scale_does_not_matter);
    tcase_add_test(all, splits_keep_their_floor);
    tcase_add_test(all, contractions_keep_their_ceiling);
    tcase_add_test(all, limits);
    tcase_add_test(all, only_what_has_flowed);
    tcase_add_test(all, starved_size_control_says_so);
    tcase_add_test(all, a_curved_layer_is_reached);
    tcase_add_test(all, fields_come_along);
    tcase_add_test(all, the_same_bits_for_any_number_of_threads);
    tcase_add_test(all, out_of_memory);
    tcase_add_test(all, adapting_can_be_stopped);
    return suite;
}
