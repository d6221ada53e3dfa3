/* Sizing fields: what a lookup costs where a remesher asks (midpoints of edges, trial places of a
 * vertex, each from the hint that its vertices carry), and what making a field costs. */
#include "base/random.h"
#include "bench/bench.h"
#include "measure/fixture.h"
#include "remesh/size_control_adapt.h"
#include "remesh/sizing.h"

#include <stdio.h>

typedef struct query {
    kiln_vec3 p;
    uint32_t hint;
} query;

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_sizing *sizing;
    query *queries;
    size_t count, capacity;
    double visits;
    kiln_status status;
} fixture;

/* A layer 100 times thinner than wide along a wavy surface. */
static kiln_sym3 wavy_layer(void *user, kiln_vec3 p)
{
    (void)user;
    double slope = 0.6 * cos(6.0 * p.x), height = p.z - 0.1 * sin(6.0 * p.x);
    kiln_vec3 n = kiln_v3_normalize(kiln_v3(-slope, 0, 1));
    kiln_vec3 t = kiln_v3(n.z, 0, -n.x);
    double thin = 0.002 + 0.3 * fabs(height);
    const double sizes[3] = {thin < 0.2 ? thin : 0.2, 0.2, 0.2};
    kiln_mat3 q = kiln_m3_columns(n, t, kiln_v3(0, 1, 0));
    return kiln_metric_from_directions(&q, sizes);
}

static void add_query(fixture *f, kiln_vec3 p, uint32_t hint)
{
    if (f->count < f->capacity)
        f->queries[f->count++] = (query){p, hint};
}

/* In the order in which a pass comes along: tet by tet, its longest edge's midpoint from the hint
 * of an end, then a few places that smoothing tries for one of its vertices. A vertex's hint is the
 * tet that held it when it was last looked up. */
static void collect(fixture *f)
{
    const kiln_mesh *mesh = f->mesh;
    kiln_random r = kiln_random_start(1, 2);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        uint32_t a = mesh->tet[t].v[t % 4], b = mesh->tet[t].v[(t + 1) % 4];
        double l = kiln_v3_norm(kiln_v3_sub(mesh->u[a], mesh->u[b]));
        add_query(f, kiln_v3_lerp(mesh->u[a], mesh->u[b], 0.5), mesh->vertex[a].tet);
        for (int trial = 0; trial < 3; trial++) {
            kiln_vec3 shift = {kiln_random_range(&r, -0.3, 0.3), kiln_random_range(&r, -0.3, 0.3),
                               kiln_random_range(&r, -0.3, 0.3)};
            add_query(f, kiln_v3_madd(mesh->u[a], l, shift), mesh->vertex[a].tet);
        }
    }
}

static void look_up(void *user)
{
    fixture *f = user;
    double sum = 0.0;
    for (size_t i = 0; i < f->count; i++) {
        uint32_t hint = f->queries[i].hint;
        sum += kiln_sizing_at(f->sizing, f->queries[i].p, &hint).xx;
    }
    kiln_bench_keep(sum);
}

static void locate(void *user)
{
    fixture *f = user;
    double visits = 0.0;
    for (size_t i = 0; i < f->count; i++)
        visits += kiln_sizing_locate(f->sizing, f->queries[i].p, f->queries[i].hint).visits;
    f->visits = visits / (double)f->count;
}

static void make_with(fixture *f, double ratio,
                      kiln_status (*add)(kiln_sizing *sizing, kiln_error *error))
{
    kiln_sizing_limits limits = {.ratio = ratio};
    kiln_sizing_destroy(f->sizing);
    f->status = kiln_sizing_create(f->mesh, KILN_SPACE_MATERIAL, &f->sizing, NULL);
    if (f->status == KILN_OK)
        f->status = add(f->sizing, NULL);
    if (f->status == KILN_OK)
        f->status = kiln_sizing_finish(f->sizing, &limits, NULL);
}

static kiln_status add_layer(kiln_sizing *sizing, kiln_error *error)
{
    return kiln_sizing_add_function(sizing, wavy_layer, NULL, false, error);
}

static kiln_status add_world(kiln_sizing *sizing, kiln_error *error)
{
    return kiln_sizing_add_world(sizing, 0.1, error);
}

static kiln_status add_strain(kiln_sizing *sizing, kiln_error *error)
{
    kiln_strain_sizing options = {.accuracy = 1.0, .h_max = 1.0};
    return kiln_sizing_add_strain(sizing, &options, error);
}

static kiln_status add_curvature(kiln_sizing *sizing, kiln_error *error)
{
    kiln_curvature_sizing options = {.turn = 0.3, .h_min = 0.01, .h_max = 1.0};
    KILN_TRY(kiln_sizing_add_size(sizing, 1.0, error));
    return kiln_sizing_add_curvature(sizing, &options, error);
}

static void make_layer(void *user)
{
    make_with(user, 0.0, add_layer);
}
static void make_graded(void *user)
{
    make_with(user, 1.3, add_layer);
}
static void make_world(void *user)
{
    make_with(user, 0.0, add_world);
}
static void make_strain(void *user)
{
    make_with(user, 0.0, add_strain);
}
static void make_curvature(void *user)
{
    make_with(user, 0.0, add_curvature);
}

static void report_making(kiln_bench *bench, fixture *f)
{
    static const struct {
        const char *name;
        void (*make)(void *user);
    } rows[] = {{"make a field from curvature", make_curvature},
                {"make a field from world length", make_world},
                {"make a field from the strain gradient", make_strain},
                {"make a field from a function", make_layer},
                {"the same with gradation", make_graded}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double seconds = kiln_bench_time(bench, rows[i].make, f);
        if (f->status != KILN_OK)
            kiln_bench_report_failure(bench, rows[i].name, "cannot make it");
        else
            kiln_bench_report(bench, rows[i].name, seconds / f->mesh->table[KILN_ON_TET].live * 1e6,
                              "us/tet", 0, 0, "");
    }
}

static void report_lookups(kiln_bench *bench, fixture *f)
{
    char text[96];
    make_layer(f);
    if (f->status != KILN_OK)
        return;
    double walk = kiln_bench_time(bench, locate, f), all = kiln_bench_time(bench, look_up, f);
    snprintf(text, sizeof text, "walk %.0f ns of it", walk / (double)f->count * 1e9);
    kiln_bench_report(bench, "metric lookup", all / (double)f->count * 1e9, "ns", 200, 0, text);
    kiln_bench_report(bench, "tets visited by a lookup", f->visits, "tets", 8, 0, "");
}

static void exponentials(void *user)
{
    fixture *f = user;
    double sum = 0.0;
    kiln_sym3 l = {1, 2, 3, 0.5, 0.25, 0.125};
    for (size_t i = 0; i < f->count; i++) {
        l.xx = f->queries[i].p.x;
        sum += kiln_metric_exp(&l).zz;
    }
    kiln_bench_keep(sum);
}

static void intersections(void *user)
{
    fixture *f = user;
    double sum = 0.0;
    kiln_sym3 a = {10, 20, 30, 5, 2, 1}, b = {20, 10, 20, 1, 3, 4};
    for (size_t i = 0; i < f->count; i++) {
        a.xx = 10 + f->queries[i].p.x;
        sum += kiln_metric_intersect(a, b).zz;
    }
    kiln_bench_keep(sum);
}

/* A layer along z = 0.5 + 0.1 sin 2 pi x of a unit cube, 100 times thinner than wide. */
static kiln_sym3 thin_layer(void *user, kiln_vec3 p)
{
    (void)user;
    double k = 2 * KILN_PI, wide = 0.2;
    kiln_vec3 n = {-0.1 * k * cos(k * p.x), 0, 1};
    double thin = 0.01 * wide + 0.3 * fabs(p.z - 0.5 - 0.1 * sin(k * p.x)) / kiln_v3_norm(n);
    n = kiln_v3_normalize(n);
    kiln_mat3 q = kiln_m3_columns(n, kiln_v3(n.z, 0, -n.x), kiln_v3(0, 1, 0));
    const double sizes[3] = {thin < wide ? thin : wide, wide, wide};
    return kiln_metric_from_directions(&q, sizes);
}

static void report_adaption(kiln_bench *bench)
{
    static const char name[] = "edges within [0.6, 1.7], ratio 100, curved";
    kiln_context *context = kiln_bench_context(bench);
    kiln_mesh *mesh;
    kiln_sizing *sizing = NULL;
    kiln_adapt_report report;
    char text[96];
    if (kiln_fixture_mesh(context, "box", "nx=5 ny=5 nz=5", 0.0, &mesh, NULL) != KILN_OK) {
        kiln_bench_report_failure(bench, name, "cannot make the mesh");
        return;
    }
    kiln_status status = kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL);
    if (status == KILN_OK)
        status = kiln_sizing_add_function(sizing, thin_layer, NULL, true, NULL);
    if (status == KILN_OK)
        status = kiln_sizing_finish(sizing, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_size_adapt(mesh, sizing, NULL, &report, NULL);
    if (status == KILN_OK) {
        snprintf(text, sizeof text, "%zu tets, worst q %.3f, %u passes", report.improve.tets_after,
                 report.improve.worst_after, report.passes);
        kiln_bench_report(bench, name,
                          100.0 * (double)report.edges.fitting / (double)report.edges.edges, "%",
                          90, 1, text);
    } else {
        kiln_bench_report_failure(bench, name, "cannot reach it");
    }
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
}

void kiln_bench_sizing(kiln_bench *bench)
{
    fixture f = {.context = kiln_bench_context(bench), .capacity = 400000};
    f.queries = kiln_resize(f.context, NULL, 0, f.capacity * sizeof *f.queries);
    if (!f.queries ||
        kiln_fixture_mesh(f.context, "ball", "h=0.06", 0.01, &f.mesh, NULL) != KILN_OK) {
        kiln_bench_report_failure(bench, "metric lookup", "cannot make the mesh");
    } else {
        collect(&f);
        report_lookups(bench, &f);
        double seconds = kiln_bench_time(bench, exponentials, &f);
        kiln_bench_report(bench, "exponential of a metric", seconds / (double)f.count * 1e9, "ns",
                          0, 0, "");
        seconds = kiln_bench_time(bench, intersections, &f);
        kiln_bench_report(bench, "intersection of two metrics", seconds / (double)f.count * 1e9,
                          "ns", 0, 0, "");
        report_making(bench, &f);
        report_adaption(bench);
    }
    kiln_sizing_destroy(f.sizing);
    kiln_mesh_destroy(f.mesh);
    if (f.queries)
        kiln_release(f.context, f.queries, f.capacity * sizeof *f.queries);
}
