/* Transfer of fields after a pass over an irregular mesh, and what it is made of: lookups in the
 * mesh at the begin of the pass, overlaps, rehanging of an embedded surface. */
#include "base/clock.h"
#include "bench/bench.h"
#include "measure/change.h"
#include "measure/fixture.h"
#include "mesh/reorder.h"
#include "mesh/txn.h"
#include "remesh/begin_mesh.h"
#include "remesh/embedded.h"
#include "remesh/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 20, PROPOSALS = 8, LOOKUPS = 8000 * PROPOSALS, SHEET = 200 };

typedef struct fixture {
    kiln_mesh *mesh;
    kiln_vec3 *point; /* [LOOKUPS] */
    uint32_t *hint;
    uint64_t visits;
    double worst; /* distance of a place from its point */
    kiln_transfer_report report;
    kiln_embedded *surface;
    bool failed;
} fixture;

static double *row(const kiln_mesh *mesh, kiln_where where, const char *name, uint32_t r)
{
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    return (double *)(field->data + (size_t)r * field->stride);
}

static kiln_status add_fields(kiln_mesh *mesh)
{
    KILN_TRY(kiln_mesh_add_field(mesh, "v", KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_MOMENTUM, NULL));
    KILN_TRY(kiln_mesh_add_field(mesh, "heat", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE,
                                 NULL));
    KILN_TRY(kiln_mesh_add_field(mesh, "mass", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, NULL));
    KILN_TRY(kiln_mesh_add_field(mesh, "hard", KILN_ON_TET, KILN_F64, 1, KILN_RULE_AVERAGE, NULL));
    KILN_TRY(kiln_mesh_add_field(mesh, "G", KILN_ON_TET, KILN_F64, 6, KILN_RULE_SPD_LOG, NULL));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        *row(mesh, KILN_ON_VERTEX, "v", v) = *row(mesh, KILN_ON_VERTEX, "heat", v) =
            sin(9 * mesh->u[v].x);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double g[6] = {1 + mesh->u[mesh->tet[t].v[0]].x, 1, 2, 0.1, 0, 0};
        memcpy(row(mesh, KILN_ON_TET, "G", t), g, sizeof g);
        *row(mesh, KILN_ON_TET, "mass", t) = kiln_mesh_tet_volume(mesh, t);
        *row(mesh, KILN_ON_TET, "hard", t) = g[0];
    }
    return KILN_OK;
}

/* A box without regularity, in the order of the curve. */
static kiln_status make_mesh(kiln_context *context, kiln_mesh **mesh)
{
    char cells[16];
    snprintf(cells, sizeof cells, "n=%d", CELLS);
    KILN_TRY(kiln_fixture_mesh(context, "box", cells, 0.3 / CELLS, mesh, NULL));
    const kiln_change_limits limits = {.move = 0.1 / CELLS,
                                       .flattest = 1e-3 / (CELLS * CELLS * CELLS)};
    kiln_random random = kiln_random_start(8, 1);
    kiln_fixture_change(*mesh, &random, 100000, &limits);
    KILN_TRY(kiln_mesh_reorder(*mesh, KILN_SPACE_MATERIAL, NULL, NULL));
    return add_fields(*mesh);
}

/* From one end of the mesh to the other, as passes do. */
static void change(kiln_mesh *mesh, uint32_t attempts)
{
    kiln_change_limits limits = {
        .move = 0.15 / CELLS, .flattest = 1e-3 / (CELLS * CELLS * CELLS), .count = 64};
    kiln_random random = kiln_random_start(8, 2);
    uint32_t used = mesh->table[KILN_ON_TET].used;
    for (uint32_t i = 0; i < attempts; i += 20) {
        limits.first = (uint32_t)((uint64_t)i * used / attempts);
        kiln_fixture_change(mesh, &random, 20, &limits);
    }
}

/* Places as an operator proposes them: several for each vertex, up to half an edge from it; its tet
 * is the hint. */
static void choose_points(fixture *f)
{
    kiln_random random = kiln_random_start(8, 3);
    const kiln_mesh *mesh = f->mesh;
    for (int i = 0; i < LOOKUPS; i++) {
        uint32_t v = (uint32_t)(i / PROPOSALS); /* the mesh is compact: all are live */
        const double reach = 0.5 / CELLS;
        kiln_vec3 step = {kiln_random_range(&random, -reach, reach),
                          kiln_random_range(&random, -reach, reach),
                          kiln_random_range(&random, -reach, reach)};
        kiln_vec3 p = kiln_v3_add(mesh->u[v], step);
        f->point[i] = kiln_v3(fmin(fmax(p.x, 0), 1), fmin(fmax(p.y, 0), 1), fmin(fmax(p.z, 0), 1));
        f->hint[i] = mesh->vertex[v].tet;
    }
}

static void look_up(void *user)
{
    fixture *f = user;
    kiln_begin_view view = kiln_begin_view_of(f->mesh, KILN_SPACE_MATERIAL);
    f->visits = 0;
    double sum = 0.0;
    for (int i = 0; i < LOOKUPS; i++) {
        kiln_begin_place place;
        kiln_begin_locate_in(&view, f->point[i], f->hint[i], &place);
        f->visits += place.visits;
        sum += place.weight[0];
    }
    kiln_bench_keep(sum);
}

static void check_lookups(fixture *f)
{
    for (int i = 0; i < LOOKUPS; i++) {
        kiln_begin_place place;
        kiln_begin_locate(f->mesh, KILN_SPACE_MATERIAL, f->point[i], f->hint[i], &place);
        kiln_vec3 back = kiln_begin_point(f->mesh, KILN_SPACE_MATERIAL, &place);
        f->worst = fmax(f->worst, kiln_v3_norm(kiln_v3_sub(back, f->point[i])));
    }
}

static void transfer(void *user)
{
    fixture *f = user;
    const kiln_transfer_options options = {.mass = "mass"};
    kiln_transfer_report_free(f->mesh->context, &f->report);
    f->failed |= kiln_transfer(f->mesh, &options, &f->report, NULL) != KILN_OK;
}

static double total_mass(const kiln_mesh *mesh)
{
    long double sum = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            sum += *row(mesh, KILN_ON_TET, "mass", t);
    return (double)sum;
}

static void rehang(void *user)
{
    fixture *f = user;
    kiln_embedded_report report;
    f->failed |= kiln_embedded_rehang(f->surface, f->mesh, &report, NULL) != KILN_OK;
    f->visits = report.hung;
}

static void bench_lookups(kiln_bench *bench, fixture *f)
{
    choose_points(f);
    double live = kiln_bench_time(bench, look_up, f);
    kiln_archive_begin(f->mesh, NULL);
    change(f->mesh, 6000);
    double archived = kiln_bench_time(bench, look_up, f);
    check_lookups(f);
    kiln_archive_rollback(f->mesh);
    double visits = (double)f->visits / LOOKUPS;
    kiln_bench_report(bench, "lookup of a proposed place, visits", visits, "tets", 8, 0, "");
    kiln_bench_report_checked(bench, "lookup in the archive of a pass", archived / LOOKUPS * 1e9,
                              "ns", 200, 0, "distance of the place", f->worst, 1e-12);
    kiln_bench_report(bench, "lookup in the live mesh", live / LOOKUPS * 1e9, "ns", 200, 0, "");
    kiln_bench_report(bench, "one visit in the archive", archived / LOOKUPS / visits * 1e9, "ns",
                      25, 0, "");
}

static void bench_pass(kiln_bench *bench, fixture *f, uint32_t attempts, const char *name)
{
    char text[80], remark[80];
    kiln_archive_begin(f->mesh, NULL);
    double before = total_mass(f->mesh);
    change(f->mesh, attempts);
    double seconds = kiln_bench_time(bench, transfer, f);
    const kiln_transfer_report *r = &f->report;
    snprintf(text, sizeof text, "transfer after a pass, %s", name);
    snprintf(remark, sizeof remark, "%zu tets came, %.1f candidates each; error of mass",
             r->targets, (double)r->candidates / (double)r->targets);
    kiln_bench_report_checked(bench, text, (double)r->targets / seconds * 1e-6, "M tets/s", 0, 1,
                              remark, fabs(total_mass(f->mesh) / before - 1), 1e-12);
    snprintf(text, sizeof text, "  pairs that it clips, %s", name);
    kiln_bench_report(bench, text, (double)r->candidates / seconds * 1e-6, "M pairs/s", 0, 1, "");
    kiln_transfer_report_free(f->mesh->context, &f->report);
    kiln_archive_rollback(f->mesh);
}

static kiln_status make_sheet(kiln_context *context, kiln_soup *soup)
{
    kiln_soup_init(soup, context);
    for (int i = 0; i < SHEET * SHEET; i++) {
        double x = 0.05 + 0.9 * (i % SHEET) / SHEET, y = 0.05 + 0.9 * (i / SHEET) / SHEET;
        kiln_vec3 p = {x, y, 0.5 + 0.2 * sin(5 * x) * cos(4 * y)};
        KILN_TRY(kiln_array_push(context, &soup->points, p, NULL));
    }
    return KILN_OK;
}

/* Each call undoes what the one before hung: back to the begin, and to the changed mesh again. */
static void bench_surface(kiln_bench *bench, fixture *f)
{
    kiln_soup soup;
    kiln_status status = make_sheet(f->mesh->context, &soup);
    if (status == KILN_OK)
        status = kiln_embedded_create(f->mesh, &soup, KILN_SPACE_MATERIAL, KILN_NONE, &f->surface,
                                      NULL, NULL);
    if (status == KILN_OK) {
        double best = INFINITY;
        for (int i = 0; i < 9; i++) {
            kiln_archive_begin(f->mesh, NULL);
            change(f->mesh, 20000);
            double start = kiln_processor_seconds();
            rehang(f);
            double seconds = kiln_processor_seconds() - start;
            best = fmin(best, seconds / (double)f->visits);
            kiln_archive_rollback(f->mesh);
            rehang(f);
        }
        kiln_bench_report(bench, "embedded surface: vertices of changed tets hung anew",
                          best > 0.0 ? 1e-6 / best : INFINITY, "M/s", 0, 1, "");
    }
    kiln_embedded_destroy(f->surface);
    kiln_soup_free(&soup);
}

void kiln_bench_transfer(kiln_bench *bench)
{
    fixture f = {.point = malloc(LOOKUPS * sizeof *f.point),
                 .hint = malloc(LOOKUPS * sizeof *f.hint)};
    if (!f.point || !f.hint || make_mesh(kiln_bench_context(bench), &f.mesh) != KILN_OK) {
        kiln_bench_report_failure(bench, "transfer", "out of memory");
    } else {
        bench_lookups(bench, &f);
        bench_pass(bench, &f, 300, "few changes");
        bench_pass(bench, &f, 6000, "many changes");
        bench_surface(bench, &f);
        if (f.failed)
            kiln_bench_report_failure(bench, "transfer", "out of memory");
    }
    kiln_mesh_destroy(f.mesh);
    free(f.point);
    free(f.hint);
}
