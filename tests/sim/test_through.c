/* Liquid that comes in and goes out, and particles in it. */
#include "io/checkpoint.h"
#include "io/scene.h"
#include "mesh/audit.h"
#include "mesh/txn.h"
#include "scenes.h"
#include "sim/boundary.h"
#include "sim/through.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* A duct along x of 0.3 x 0.1 x 0.1 m, walls of slip; a layer takes five steps. */
#define DUCT(keys, through)                                                                        \
    "local function wall(p, n, c) return hold { components = c,\n"                                 \
    "  where = select.half_space { point = p, normal = n } } end\n"                                \
    "local V = { 0.1, 0, 0 }\n"                                                                    \
    "return scene { duration = 100, step = { integrator = 'bdf2', dt = 0.1 },\n"                   \
    "bodies = { body { shape = shape.box { lx = 0.3, ly = 0.1, lz = 0.1, n = 2 }, velocity = V,\n" \
    "  material = material { density = 1000, viscosity = 1e-3, liquid = liquid {} } } },\n"        \
    "holds = { wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, 'y'), wall({ 0, 0.1 - 1e-6, 0 }, { 0, 1, 0 }, "  \
    "'y'),\n  wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, 'z'), wall({ 0, 0, 0.1 - 1e-6 }, { 0, 0, 1 }, "   \
    "'z') },\n" keys "through = through { " through " } }\n"
#define INLET  "inlets = { { where = select.patch { tag = 1 }, velocity = V, layer = 0.05 } },"
#define OUTLET "outlets = { { point = { 0.3, 0, 0 }, normal = { 1, 0, 0 } } }"
#define REMESH "remesh = remesh { space = 'world' },"

static kiln_context *context;
static kiln_scene_file *file;

static kiln_status load(const char *text, kiln_error *error)
{
    kiln_scene_options options = {.text = text, .text_size = strlen(text)};
    return kiln_scene_file_load(context, "duct.lua", &options, &file, error);
}

static kiln_world *begin(const char *text, int threads)
{
    kiln_error error = {0};
    context = kiln_test_context(threads);
    ck_assert_msg(load(text, &error) == KILN_OK, "%s", error.message);
    return scene_world(kiln_scene_file_scene(file));
}

static void end(kiln_world *world)
{
    kiln_world_destroy(world);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}

static void check_audit(kiln_world *world)
{
    kiln_audit_report report;
    ck_assert_int_eq(kiln_mesh_audit(kiln_world_mesh(world), &report, NULL), KILN_OK);
    ck_assert_msg(!report.invariant, "%s: %s", report.invariant, report.message);
}

/* Ten layers are 10 A d, and nothing has gone without an outlet. */
START_TEST(test_layers)
{
    kiln_world *world = begin(DUCT("", INLET), 1);
    kiln_stats stats;
    for (int i = 0; i < 50; i++)
        stats = scene_step(world, 100.0);
    ck_assert_double_eq_tol(stats.in_volume, 10 * 0.01 * 0.05, 1e-13 * 0.005);
    ck_assert_double_eq_tol(stats.in_mass, 5.0, 1e-12);
    ck_assert_double_eq_tol(stats.volume, 0.003 + 0.005, 1e-12 * 0.008);
    ck_assert_double_eq(stats.out_volume, 0.0);
    ck_assert_double_eq_tol(stats.px, 0.8, 1e-9);
    kiln_passed in, out;
    kiln_world_passed(world, &in, &out);
    ck_assert_uint_eq(in.tets, 10 * 8 * 3);
    ck_assert_double_eq_tol(in.momentum.x, 0.5, 1e-9);
    check_audit(world);
    end(world);
}
END_TEST

/* In - out - mesh = 0, and the surface is closed and manifold, with remeshing too. */
static void check_ledger(const char *text)
{
    kiln_world *world = begin(text, 1);
    kiln_stats stats, first;
    kiln_world_measure(world, &first);
    for (int i = 0; i < 120; i++) {
        stats = scene_step(world, 100.0);
        ck_assert_double_eq_tol(first.rest_volume + stats.in_volume - stats.out_volume,
                                stats.rest_volume, 1e-12 * first.rest_volume);
        if (i % 10 == 0)
            check_audit(world);
    }
    ck_assert_double_gt(stats.out_mass, 8.0);
    ck_assert_double_lt(stats.volume, 0.005);
    ck_assert_double_gt(stats.volume, 0.003);
    end(world);
}

START_TEST(test_ledger)
{
    check_ledger(DUCT("", INLET OUTLET));
    check_ledger(DUCT(REMESH, INLET OUTLET));
}
END_TEST

/* The pressure beyond the outlet is that of the liquid. */
START_TEST(test_pressure)
{
    kiln_world *world = begin(
        DUCT("", INLET
             "outlets = { { point = { 0.3, 0, 0 }, normal = { 1, 0, 0 }, pressure = 1000 } }"),
        1);
    for (int i = 0; i < 12; i++)
        scene_step(world, 100.0);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_LIQUID_PRESSURE);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert_double_eq_tol(kiln_field_value(field, v, 0), 1000.0, 1e-3);
    end(world);
}
END_TEST

/* What a layer leaves within the walls is no feature: only the ends and the edges along are. */
START_TEST(test_features)
{
    kiln_world *world = begin(DUCT("", INLET), 1);
    for (int i = 0; i < 25; i++)
        scene_step(world, 100.0);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    uint32_t corners = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 x = mesh->x[v];
        uint32_t flags = mesh->vertex[v].flags;
        bool ends = fabs(x.x) < 1e-9 || fabs(x.x - 0.55) < 1e-9;
        int sides = (fabs(x.y - 0.05) > 0.049) + (fabs(x.z - 0.05) > 0.049);
        corners += (flags & KILN_VERTEX_CORNER) != 0;
        ck_assert_int_eq((flags & KILN_VERTEX_FEATURE) != 0, sides + ends > 1);
        ck_assert_int_eq((flags & KILN_VERTEX_REQUIRED) != 0, fabs(x.x) < 1e-9);
    }
    ck_assert_uint_eq(corners, 8);
    end(world);
}
END_TEST

/* Liquid that is free has no edges by angles, neither those it began with nor where a layer comes
 * in; the rim of the inlet is one. */
START_TEST(test_free_edges)
{
    static const char jet[] =
        "local V = { 0.1, 0, 0 }\n"
        "return scene { duration = 100, step = { integrator = 'bdf2', dt = 0.1 },\n"
        "bodies = { body { shape = shape.box { lx = 0.3, ly = 0.1, lz = 0.1, n = 2 },\n"
        "  velocity = V, material = material { density = 1000, viscosity = 1, liquid = liquid {} } "
        "} "
        "},\n" REMESH "through = through { inlets = { { velocity = V, layer = 0.05,\n"
        "  where = select.half_space { point = { 1e-6, 0, 0 }, normal = { -1, 0, 0 } } } } } }\n";
    kiln_error error = {0};
    context = kiln_test_context(1);
    ck_assert_msg(load(jet, &error) == KILN_OK, "%s", error.message);
    kiln_scene_body *body = &kiln_scene_file_scene(file)->bodies.data[0];
    for (size_t i = 0; i < body->mesh.triangle_tags.count; i++)
        body->mesh.triangle_tags.data[i] = 1;
    kiln_world *world = scene_world(kiln_scene_file_scene(file));
    kiln_stats stats;
    for (int i = 0; i < 12; i++)
        stats = scene_step(world, 100.0);
    ck_assert_double_gt(stats.in_volume, 0.0);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (int k = 0; k < 3 && kiln_face_live(mesh, f); k++) {
            uint32_t at = mesh->face[f].at, t = at / 4;
            uint32_t a = kiln_face_corner[at % 4][k], b = kiln_face_corner[at % 4][(k + 1) % 3];
            bool feature = mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + kiln_edge_of[a][b]) & 1;
            double x = fmax(mesh->x[mesh->tet[t].v[a]].x, mesh->x[mesh->tet[t].v[b]].x);
            ck_assert_msg(!feature || x < 1e-6, "an edge at x = %g m", x);
        }
    end(world);
}
END_TEST

/* New vertices of what is held are interpolated from liquid beside it: from where that is now. */
START_TEST(test_passing_by)
{
    kiln_world *world = begin(DUCT(REMESH, INLET OUTLET), 1);
    for (int i = 0; i < 7; i++)
        scene_step(world, 100.0);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *origin = kiln_mesh_field(mesh, KILN_ON_VERTEX, "origin");
    uint32_t inside = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (mesh->vertex[v].flags & KILN_VERTEX_SURFACE)
            continue;
        inside++;
        ck_assert_double_eq_tol(kiln_field_value(origin, v, 0), mesh->x[v].x, 1e-9);
    }
    ck_assert_uint_gt(inside, 0);
    end(world);
}
END_TEST

/* A pool with six sides that comes in from below, and a drop just above it that becomes one with
 * it. */
static const char pool_and_drop[] =
    "local R, corners, holds = 0.05, {}, {}\n"
    "for k = 1, 6 do\n"
    "  local a, out = math.pi * k / 3, R / math.cos(math.pi / 6)\n"
    "  corners[k] = string.format('%.15f,%.15f', out * math.cos(a - math.pi / 6),\n"
    "    out * math.sin(a - math.pi / 6))\n"
    "  local n = { math.cos(a), math.sin(a), 0 }\n"
    "  holds[k] = hold { body = 'pool', components = 'x', turn = { axis = { 0, 0, 1 }, angle = a "
    "},\n"
    "    where = select.half_space { normal = n,\n"
    "      point = { (R - 1e-7) * n[1], (R - 1e-7) * n[2], 0 } } }\n"
    "end\n"
    "local V = { 0, 0, 0.1 }\n"
    "local oil = material { density = 900, viscosity = 1, liquid = liquid {} }\n"
    "return scene { duration = 1, step = { dt = 5e-3 }, remesh = { merge = 0.3 },\n"
    "contact = contact { bodies = true, self = true, thickness = 1e-3 }, bodies = {\n"
    "  body { name = 'pool', velocity = V, material = oil,\n"
    "    shape = shape.polygon { points = table.concat(corners, ' '), depth = 0.03, h = 0.02 } },\n"
    "  body { name = 'drop', at = { 0, 0, 0.074 }, material = oil,\n"
    "    shape = shape.ball { radius = 0.02, h = 0.015 } } },\n"
    "holds = holds, through = through { inlets = { { velocity = V,\n"
    "  where = select.half_space { point = { 0, 0, 1e-7 }, normal = { 0, 0, -1 } } } } } }\n";

/* How far a vertex is out of the six sides, which meet at 120 degrees. */
static double beyond_sides(kiln_vec3 x)
{
    double most = -INFINITY;
    for (int k = 1; k <= 6; k++)
        most = fmax(most, x.x * cos(KILN_PI * k / 3) + x.y * sin(KILN_PI * k / 3) - 0.05);
    return most;
}

/* Walls and inlets are where they were in a mesh that is new. */
START_TEST(test_merging)
{
    kiln_world *world = begin(pool_and_drop, 1);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_stats stats, first;
    kiln_world_measure(world, &first);
    for (int i = 0; i < 60; i++) {
        stats = scene_step(world, 1.0);
        double low = INFINITY;
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            ck_assert_double_lt(beyond_sides(mesh->x[v]), 1e-9);
            low = fmin(low, mesh->x[v].z);
        }
        ck_assert_double_eq_tol(first.rest_volume + stats.in_volume, stats.rest_volume,
                                1e-12 * stats.rest_volume);
        ck_assert_double_gt(low, -1e-9);
    }
    ck_assert_uint_eq(mesh->parts.count, 1);
    ck_assert_uint_ge(kiln_world_remeshes(world), 1);
    check_audit(world);
    end(world);
}
END_TEST

/* What a new mesh interpolates for vertices at walls and of inlets may be anything: walls are where
 * they are, all of them where they meet, and patches began where they are less their way. */
START_TEST(test_places_in_a_new_mesh)
{
    kiln_world *world = begin(pool_and_drop, 1);
    const kiln_changes all = {.all = true};
    for (int i = 0; i < 3; i++)
        scene_step(world, 1.0);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_boundary *b = kiln_world_module(world, &kiln_module_boundary);
    const kiln_vec3 astray = {0.011, -0.007, 0.005};
    kiln_vec3 *origin = (kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, "origin");
    kiln_vec3 *place =
        (kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_INLET_PLACE);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        origin[v] = kiln_v3_add(origin[v], astray);
        place[v] = kiln_v3_add(place[v], astray);
    }
    ck_assert_int_eq(kiln_world_changed(world, &all, NULL), KILN_OK);
    for (size_t k = 0; k < 6; k++)
        for (size_t i = 0; i < b->holds[k].vertices.count; i++) {
            double angle = KILN_PI * (double)(k + 1) / 3;
            kiln_vec3 at = origin[b->holds[k].vertices.data[i]];
            ck_assert_double_eq_tol(at.x * cos(angle) + at.y * sin(angle), 0.05, 1e-12);
        }
    double energy = scene_step(world, 1.0).e_kinetic;
    ck_assert_double_lt(energy, 0.01);
    end(world);
}
END_TEST

static uint64_t hash_after(const char *text, int threads, int steps)
{
    kiln_world *world = begin(text, threads);
    for (int i = 0; i < steps; i++)
        scene_step(world, 100.0);
    uint64_t hash = kiln_mesh_hash(kiln_world_mesh(world));
    end(world);
    return hash;
}

START_TEST(test_threads)
{
    const char *text = DUCT(REMESH, INLET OUTLET);
    ck_assert_uint_eq(hash_after(text, 1, 23), hash_after(text, 2, 23));
}
END_TEST

/* From a checkpoint the run goes on to the same bits: mesh, ledger and particles. */
START_TEST(test_checkpoint)
{
    static char text[] =
        DUCT(REMESH "tracers = tracers { count = 40, rate = 30, most = 90 },", INLET OUTLET),
                sets[] = "";
    const kiln_checkpoint_scene about = {text, sizeof text - 1, sets, 0};
    char path[] = "/tmp/kiln-through-XXXXXX";
    close(mkstemp(path));
    kiln_world *world = begin(text, 1);
    for (int i = 0; i < 13; i++)
        scene_step(world, 100.0);
    ck_assert_int_eq(kiln_checkpoint_write(world, &about, path, NULL), KILN_OK);
    kiln_world *again = scene_world(kiln_scene_file_scene(file));
    ck_assert_int_eq(kiln_checkpoint_read(path, again, NULL), KILN_OK);
    ck_assert_int_eq(kiln_world_renew(world, NULL), KILN_OK);
    kiln_stats stats, other;
    for (int i = 0; i < 20; i++) {
        stats = scene_step(world, 100.0);
        other = scene_step(again, 100.0);
    }
    ck_assert_double_eq(stats.in_volume, other.in_volume);
    ck_assert_double_eq(stats.out_mass, other.out_mass);
    ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)),
                      kiln_mesh_hash(kiln_world_mesh(again)));
    ck_assert_uint_eq(kiln_world_tracer_count(world), kiln_world_tracer_count(again));
    for (size_t i = 0; i < kiln_world_tracer_count(world); i++) {
        kiln_vec3 a = kiln_world_tracer(world, i).x, b = kiln_world_tracer(again, i).x;
        ck_assert_mem_eq(&a, &b, sizeof a);
    }
    unlink(path);
    kiln_world_destroy(again);
    end(world);
}
END_TEST

/* A step that fails after a layer leaves nothing of it. */
START_TEST(test_failure)
{
    kiln_world *world =
        begin(DUCT("", "inlets = { { where = select.patch { tag = 1 }, layer = 0.05, velocity =\n"
                       "function(t) if t > 0.45 then error('gone') end return 0.1, 0, 0 end } },"),
              1);
    for (int i = 0; i < 4; i++)
        scene_step(world, 100.0);
    uint64_t hash = kiln_mesh_hash(kiln_world_mesh(world));
    kiln_stats stats;
    bool gave_up;
    kiln_diagnosis diagnosis;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_world_step(world, 100.0, &stats, &gave_up, &diagnosis, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "gone"));
    ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)), hash);
    end(world);
}
END_TEST

/* Particles go where the liquid goes, stay apart, come in at their rate and leave with it. */
START_TEST(test_tracers)
{
    kiln_world *world =
        begin(DUCT(REMESH "tracers = tracers { count = 200, rate = 50 },", INLET OUTLET), 1);
    kiln_vec3 start[200];
    for (size_t i = 0; i < 200; i++)
        start[i] = kiln_world_tracer(world, i).x;
    for (int i = 0; i < 9; i++)
        scene_step(world, 100.0);
    size_t seen = 0;
    for (size_t i = 0; i < kiln_world_tracer_count(world); i++) {
        kiln_tracer_place p = kiln_world_tracer(world, i);
        ck_assert_double_eq_tol(p.velocity.x, 0.1, 1e-8);
        if (p.number > 200)
            continue;
        kiln_vec3 way = kiln_v3_sub(p.x, start[p.number - 1]);
        ck_assert_double_eq_tol(way.x, 0.09, 1e-9);
        ck_assert_double_eq_tol(hypot(way.y, way.z), 0.0, 1e-9);
        seen++;
    }
    ck_assert_uint_eq(seen, 200); /* nothing is beyond the outlet by more than an edge yet */
    ck_assert_uint_eq(kiln_world_tracer_count(world), 200 + 25);
    for (int i = 0; i < 60; i++)
        scene_step(world, 100.0);
    for (size_t i = 0; i < kiln_world_tracer_count(world); i++)
        ck_assert_uint_gt(kiln_world_tracer(world, i).number, 200);
    end(world);
}
END_TEST

static void expect_refused(const char *text, const char *words)
{
    kiln_error error = {0};
    kiln_world *world = NULL;
    context = kiln_test_context(1);
    kiln_status status = load(text, &error);
    bool loaded = status == KILN_OK;
    if (loaded)
        status = kiln_world_create(kiln_scene_file_scene(file), &world, &error);
    kiln_stats stats;
    bool gave_up;
    kiln_diagnosis diagnosis;
    for (int i = 0; i < 2 && status == KILN_OK; i++)
        status = kiln_world_step(world, 100.0, &stats, &gave_up, &diagnosis, &error);
    ck_assert_int_eq(status, KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, words) || strstr(error.place, words), "'%s' lacks '%s'",
                  error.message, words);
    kiln_world_destroy(world);
    if (loaded)
        kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}

START_TEST(test_refused)
{
    expect_refused(DUCT("", ""), "must have inlets or outlets");
    expect_refused(DUCT("", "outlets = { { point = { 0, 0, 0 }, normal = { 0, 0, 0 } } }"),
                   "must have a length");
    expect_refused(DUCT("", "inlets = { { where = select.all {}, velocity = V } }"), "one plane");
    expect_refused(DUCT("", "inlets = { { where = select.patch { tag = 77 }, velocity = V } }"),
                   "selects no surface face");
    expect_refused(DUCT("",
                        "inlets = { { where = select.patch { tag = 1 }, velocity = { -1, 0, 0 } "
                        "} }"),
                   "into the liquid");
    expect_refused(DUCT("",
                        "inlets = { { where = select.patch { tag = 1 }, velocity = { 1, 1, 0 } } "
                        "}"),
                   "contradicts a hold");
    expect_refused(DUCT("tracers = tracers {},", INLET), "a count or a rate");
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("liquid that flows through");
    TCase *tests = kiln_test_case(suite, "through");
    tcase_add_test(tests, test_layers);
    tcase_add_test(tests, test_ledger);
    tcase_add_test(tests, test_pressure);
    tcase_add_test(tests, test_features);
    tcase_add_test(tests, test_free_edges);
    tcase_add_test(tests, test_passing_by);
    tcase_add_test(tests, test_merging);
    tcase_add_test(tests, test_places_in_a_new_mesh);
    tcase_add_test(tests, test_threads);
    tcase_add_test(tests, test_checkpoint);
    tcase_add_test(tests, test_failure);
    tcase_add_test(tests, test_tracers);
    tcase_add_test(tests, test_refused);
    return suite;
}
