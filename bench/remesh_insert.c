/* Insertion on a Delaunay mesh of random points that flips and smoothing no longer improve, where
 * drivers use it: proposals, and compound attempts at tets that are left bad. */
#include "base/random.h"
#include "bench/bench.h"
#include "mesh/build.h"
#include "mesh/reorder.h"
#include "remesh/delaunay.h"
#include "remesh/passes.h"

#include <stdio.h>
#include <string.h>

enum { POINTS = 1700, ROUNDS = 10 };
static const double bad = 0.5;

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_remesher remesher;
    kiln_u32_array sites; /* tets below `bad` */
    kiln_insertion_limits limits;
    int corners;
    uint32_t tried, done, tets; /* attempts, successes, tets in the cavities */
} fixture;

/* Points in the cube, some of them on its sides, so that the surface is flat. */
static kiln_status random_points(kiln_context *context, kiln_soup *soup)
{
    kiln_random random = kiln_random_start(31, 0);
    for (uint32_t i = 0; i < POINTS; i++) {
        double p[3];
        for (int axis = 0; axis < 3; axis++)
            p[axis] = i < 8 ? i >> axis & 1 : kiln_random_unit(&random);
        if (i >= 8 && i % 4 == 0)
            p[i / 4 % 3] = i / 12 % 2;
        KILN_TRY(kiln_array_push(context, &soup->points, kiln_v3(p[0], p[1], p[2]), NULL));
    }
    return KILN_OK;
}

static kiln_status make_mesh(kiln_context *context, kiln_mesh **mesh)
{
    kiln_soup soup;
    kiln_delaunay delaunay = {0};
    kiln_soup_init(&soup, context);
    kiln_status status = random_points(context, &soup);
    if (status == KILN_OK)
        status = kiln_delaunay_build(&delaunay, context, soup.points.data, POINTS, NULL);
    for (size_t i = 0; status == KILN_OK && i < delaunay.tets.count; i++) {
        kiln_soup_tet tet;
        memcpy(tet.v, delaunay.tets.data[i].v, sizeof tet.v);
        status = kiln_array_push(context, &soup.tets, tet, NULL);
    }
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, NULL);
    kiln_delaunay_destroy(&delaunay);
    kiln_soup_free(&soup);
    return status == KILN_OK ? kiln_mesh_reorder(*mesh, KILN_SPACE_MATERIAL, NULL, NULL) : status;
}

/* The tets below a quality. */
static void list_tets(fixture *f, double below)
{
    f->sites.count = 0;
    for (uint32_t t = 0; t < f->mesh->table[KILN_ON_TET].used; t++)
        if (f->remesher.quality.data[t] < below)
            kiln_set_add(&f->remesher, &f->sites, &t, 1);
}

static void settle(fixture *f)
{
    const kiln_pass_limits limits = {.target = 0.8, .enough = INFINITY, .least = -INFINITY};
    for (int i = 0; i < ROUNDS; i++) {
        list_tets(f, limits.target);
        kiln_flip_pass(&f->remesher, &f->sites, &limits);
        kiln_smooth_pass(&f->remesher, &f->sites, &limits);
    }
    list_tets(f, bad);
}

static void propose_all(void *user)
{
    fixture *f = user;
    const uint32_t corner[4] = {0, 1, 2, 3};
    kiln_workspace *workspace = &f->remesher.workspace;
    f->tried = f->tets = 0;
    for (size_t i = 0; i < f->sites.count; i++) {
        kiln_proposal proposal;
        kiln_arena_mark scratch = kiln_arena_set_mark(&workspace->arena);
        f->tried++;
        if (kiln_insertion_propose(&f->remesher, workspace, f->sites.data[i], corner, f->corners,
                                   &f->limits, &proposal))
            f->tets += proposal.old_count;
        kiln_arena_release(&workspace->arena, scratch);
    }
}

/* In the tet and in each of its edges, all undone again. */
static void attempt_all(void *user)
{
    fixture *f = user;
    const uint32_t whole[4] = {0, 1, 2, 3};
    f->tried = f->done = 0;
    for (size_t i = 0; i < f->sites.count; i++)
        for (int e = -1; e < 6; e++) {
            const uint32_t edge[2] = {e < 0 ? 0 : kiln_edge_ends[e][0],
                                      e < 0 ? 0 : kiln_edge_ends[e][1]};
            kiln_pass_mark mark = kiln_remesher_mark(&f->remesher);
            f->tried++;
            f->done +=
                kiln_insertion_compound_at(&f->remesher, f->sites.data[i], e < 0 ? whole : edge,
                                           e < 0 ? 4 : 2, &kiln_insertion_usual);
            kiln_remesher_undo(&f->remesher, &mark);
        }
}

static void bench_proposals(kiln_bench *bench, fixture *f)
{
    static const struct {
        const char *name;
        int corners;
        uint32_t depth;
    } rows[] = {{"insertion: edge split proposed", 2, 0},
                {"insertion: cavity 3 deep proposed", 4, 3},
                {"insertion: cavity 5 deep proposed", 4, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char accuracy[64];
        f->corners = rows[i].corners;
        f->limits = (kiln_insertion_limits){.depth = rows[i].depth, .may_swallow = true};
        double time = kiln_bench_time(bench, propose_all, f);
        snprintf(accuracy, sizeof accuracy, "%.1f tets go", (double)f->tets / f->tried);
        kiln_bench_report(bench, rows[i].name, 1e6 * time / f->tried, "us", 0, 0, accuracy);
    }
}

void kiln_bench_remesh_insert(kiln_bench *bench)
{
    fixture f = {.context = kiln_bench_context(bench)};
    kiln_remesh_options options = kiln_remesh_default_options();
    if (make_mesh(f.context, &f.mesh) != KILN_OK ||
        kiln_remesher_begin(f.mesh, &options, &f.remesher, NULL) != KILN_OK) {
        kiln_bench_report_failure(bench, "insertion", "cannot make the mesh");
        kiln_mesh_destroy(f.mesh);
        return;
    }
    settle(&f);
    f.remesher.judge.gain = -INFINITY; /* cavities as they are before any repair */
    bench_proposals(bench, &f);
    uint64_t before = kiln_mesh_hash(f.mesh);
    double time = kiln_bench_time(bench, attempt_all, &f);
    char accuracy[96];
    snprintf(accuracy, sizeof accuracy, "%.0f %% succeed, mesh after undo %s",
             100.0 * f.done / f.tried, kiln_mesh_hash(f.mesh) == before ? "equal" : "DIFFERS");
    kiln_bench_report(bench, "insertion: compound attempts", 1e-3 * f.tried / time, "k/s", 8, 1,
                      accuracy);
    kiln_array_free(f.context, &f.sites);
    kiln_remesher_end(&f.remesher);
    kiln_mesh_destroy(f.mesh);
}
