/* Contraction attempts that are refused, as nearly all are in a pass, in random order, on a
 * Delaunay mesh of random points. */
#include "base/random.h"
#include "bench/bench.h"
#include "bench/meshes.h"
#include "remesh/passes.h"

#include <stdio.h>

enum { POINTS = 1700, SITES = 4000 };

typedef enum attempt_kind { ALL, EDGE, FACE, TET } attempt_kind;

typedef struct fixture {
    kiln_mesh *mesh;
    kiln_remesher remesher;
    attempt_kind kind;
    uint32_t site[SITES]; /* tet*16 + corners */
    uint32_t count, found, broken;
} fixture;

static bool propose(fixture *f, uint32_t site, kiln_proposal *out)
{
    kiln_contraction_limits limits = kiln_contraction_improving();
    kiln_remesher *r = &f->remesher;
    uint32_t tet = site / 16, a = site / 4 % 4, b = site % 4;
    if (f->kind == ALL)
        return kiln_contraction_propose(r, &r->workspace, tet, &limits, out);
    if (f->kind == EDGE)
        return kiln_edge_contraction_propose(r, &r->workspace, tet, a, b, &limits, out);
    if (f->kind == TET)
        return kiln_tet_contraction_propose(r, &r->workspace, tet, a, &limits, out);
    uint32_t c = 0;
    while (c == a || c == b)
        c++;
    return kiln_face_contraction_propose(r, &r->workspace, tet, a, b, c, &limits, out);
}

/* Every proposal is applied, compared with its promise, and undone. */
static void check(fixture *f, const kiln_proposal *proposal)
{
    kiln_remesher *r = &f->remesher;
    kiln_pass_mark mark = kiln_remesher_mark(r);
    bool done = kiln_remesher_apply(r, proposal) == KILN_ACCEPTED;
    double worst = kiln_remesher_worst(r, r->changed.data, r->changed.count);
    f->broken += !done || worst <= proposal->before;
    kiln_remesher_undo(r, &mark);
}

/* Sites that are refused; the others are checked. */
static void choose_sites(fixture *f)
{
    kiln_random random = kiln_random_start(13, 0);
    f->count = f->found = f->broken = 0;
    while (f->count < SITES) {
        uint32_t tet = kiln_random_below(&random, f->mesh->table[KILN_ON_TET].used);
        if (!kiln_tet_live(f->mesh, tet))
            continue;
        uint32_t a = kiln_random_below(&random, 4), b = (a + 1 + kiln_random_below(&random, 3)) % 4;
        uint32_t site = 16 * tet + 4 * a + b;
        kiln_arena *arena = &f->remesher.workspace.arena;
        kiln_arena_mark scratch = kiln_arena_set_mark(arena);
        kiln_proposal proposal;
        if (propose(f, site, &proposal)) {
            f->found++;
            check(f, &proposal);
        } else {
            f->site[f->count++] = site;
        }
        kiln_arena_release(arena, scratch);
    }
}

static void attempt_all(void *user)
{
    fixture *f = user;
    kiln_proposal proposal;
    uint32_t found = 0;
    for (uint32_t i = 0; i < f->count; i++)
        found += propose(f, f->site[i], &proposal);
    kiln_bench_keep(found);
}

/* Three rounds of flips and smoothing everywhere. */
static void improve(kiln_remesher *r)
{
    const kiln_pass_limits limits = {.target = INFINITY, .enough = INFINITY};
    kiln_u32_array set = {0};
    for (uint32_t t = 0; t < r->mesh->table[KILN_ON_TET].used; t++)
        kiln_set_add(r, &set, &t, 1);
    for (int round = 0; round < 3; round++) {
        kiln_flip_pass(r, &set, &limits);
        kiln_smooth_pass(r, &set, &limits);
    }
    kiln_array_free(r->context, &set);
}

static void measure(kiln_bench *bench, fixture *f)
{
    /* A pass tries 6 edges of a tet, a corner of each face, and one of the tet. */
    static const char *const name[] = {"contraction attempt, all of a tet",
                                       "edge contraction alone", "face contraction alone",
                                       "tet contraction alone"};
    static const double bar[] = {1.0, 0.0, 0.0, 0.0}, attempts[] = {11.0, 1.0, 1.0, 1.0};
    for (f->kind = ALL; f->kind <= TET; f->kind++) {
        char remark[64];
        choose_sites(f);
        double seconds = kiln_bench_time(bench, attempt_all, f) / (f->count * attempts[f->kind]);
        snprintf(remark, sizeof remark, "%.2f us refused (%.1f %% not), broken", seconds * 1e6,
                 100.0 * f->found / (f->count + f->found));
        kiln_bench_report_checked(bench, name[f->kind], 1e-6 / seconds, "M/s", bar[f->kind], 1,
                                  remark, f->broken, 0.0);
    }
}

void kiln_bench_remesh_contract(kiln_bench *bench)
{
    fixture f = {0};
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_status status =
        kiln_bench_random_mesh(kiln_bench_context(bench), POINTS, 13, &f.mesh, NULL);
    if (status == KILN_OK)
        status = kiln_remesher_begin(f.mesh, &options, &f.remesher, NULL);
    if (status == KILN_OK) {
        improve(&f.remesher);
        measure(bench, &f);
        kiln_remesher_end(&f.remesher);
    } else {
        kiln_bench_report_failure(bench, "contraction attempt", "no mesh");
    }
    if (f.mesh)
        kiln_mesh_destroy(f.mesh);
}
