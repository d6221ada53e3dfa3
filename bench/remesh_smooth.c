/* Smoothing attempts on the Delaunay mesh of random points, where stars are as they come. */
#include "base/random.h"
#include "bench/bench.h"
#include "mesh/build.h"
#include "remesh/delaunay.h"
#include "remesh/proposal.h"
#include "remesh/smooth.h"

#include <stdio.h>

enum { POINTS = 12000, SITES = 1000, STAR_LOW = 25, STAR_HIGH = 29 };

typedef struct fixture {
    kiln_mesh *mesh;
    kiln_remesher remesher;
    uint32_t site[SITES], count;
    double tets;        /* mean star */
    double found, gain; /* share of attempts that found a place, their mean gain */
    double rounds;      /* mean */
    double broken;      /* places whose star is not as good as promised */
} fixture;

static kiln_status make_mesh(kiln_context *context, kiln_mesh **mesh)
{
    kiln_random random = kiln_random_start(11, 0);
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    kiln_delaunay delaunay = {0};
    kiln_status status = kiln_array_reserve(context, &soup.points, POINTS, NULL);
    for (int i = 0; i < POINTS && status == KILN_OK; i++) {
        double x = kiln_random_unit(&random), y = kiln_random_unit(&random);
        soup.points.data[soup.points.count++] = kiln_v3(x, y, kiln_random_unit(&random));
    }
    if (status == KILN_OK)
        status = kiln_delaunay_build(&delaunay, context, soup.points.data, POINTS, NULL);
    for (size_t t = 0; t < delaunay.tets.count && status == KILN_OK; t++) {
        const uint32_t *v = delaunay.tets.data[t].v;
        kiln_soup_tet tet = {{v[0], v[1], v[2], v[3]}};
        status = kiln_array_push(context, &soup.tets, tet, NULL);
    }
    if (status == KILN_OK)
        status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, NULL);
    kiln_delaunay_destroy(&delaunay);
    kiln_soup_free(&soup);
    return status;
}

/* Vertices inside whose stars have about 27 tets, in random order. */
static void choose_sites(fixture *f)
{
    kiln_random random = kiln_random_start(11, 1);
    kiln_walker *walker = &f->remesher.workspace.walker;
    for (int tries = 0; f->count < SITES && tries < 100 * SITES; tries++) {
        uint32_t v = kiln_random_below(&random, f->mesh->table[KILN_ON_VERTEX].used);
        if (f->remesher.side.data[v].freedom != KILN_FREE ||
            kiln_star(f->mesh, v, walker, NULL) != KILN_OK)
            continue;
        if (walker->tets.count < STAR_LOW || walker->tets.count > STAR_HIGH)
            continue;
        f->tets += (double)walker->tets.count;
        f->site[f->count++] = v;
    }
    f->tets /= f->count ? f->count : 1;
}

static void attempt_all(void *user)
{
    fixture *f = user;
    double sum = 0.0;
    for (uint32_t i = 0; i < f->count; i++) {
        kiln_smoothing s;
        if (kiln_smoothing_propose(&f->remesher, &f->remesher.workspace, f->site[i], INFINITY, &s))
            sum += s.after;
    }
    kiln_bench_keep(sum);
}

static void check_all(fixture *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        kiln_smoothing s;
        bool found =
            kiln_smoothing_propose(&f->remesher, &f->remesher.workspace, f->site[i], INFINITY, &s);
        f->rounds += s.rounds;
        if (!found)
            continue;
        f->found += 1.0;
        f->gain += s.after - s.before;
        kiln_pass_mark mark = kiln_remesher_mark(&f->remesher);
        bool moved = kiln_remesher_move(&f->remesher, f->site[i], &s.place) == KILN_ACCEPTED;
        double worst =
            kiln_remesher_worst(&f->remesher, f->remesher.changed.data, f->remesher.changed.count);
        f->broken += !moved || worst < s.before + KILN_LEAST_GAIN;
        kiln_remesher_undo(&f->remesher, &mark);
    }
    f->rounds /= f->count;
    f->gain /= f->found;
    f->found /= f->count;
}

static void walk_all(void *user)
{
    fixture *f = user;
    size_t sum = 0;
    for (uint32_t i = 0; i < f->count; i++)
        if (kiln_star(f->mesh, f->site[i], &f->remesher.workspace.walker, NULL) == KILN_OK)
            sum += f->remesher.workspace.walker.tets.count;
    kiln_bench_keep((double)sum);
}

static void measure(kiln_bench *bench, fixture *f)
{
    char remark[128];
    choose_sites(f);
    check_all(f);
    snprintf(remark, sizeof remark, "star %.1f, %.1f rounds, %.0f %% found, gain %.3f, broken",
             f->tets, f->rounds, 100.0 * f->found, f->gain);
    double seconds = kiln_bench_time(bench, attempt_all, f);
    kiln_bench_report_checked(bench, "smoothing attempt", f->count / seconds / 1e3, "k/s", 170.0, 1,
                              remark, f->broken, 0.0);
    kiln_bench_report(bench, "of which the star's walk",
                      kiln_bench_time(bench, walk_all, f) / f->count * 1e6, "us", 0.0, 0, "");
}

void kiln_bench_remesh_smooth(kiln_bench *bench)
{
    fixture f = {0};
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_status status = make_mesh(kiln_bench_context(bench), &f.mesh);
    if (status == KILN_OK)
        status = kiln_remesher_begin(f.mesh, &options, &f.remesher, NULL);
    if (status == KILN_OK) {
        measure(bench, &f);
        kiln_remesher_end(&f.remesher);
    } else {
        kiln_bench_report_failure(bench, "smoothing attempt", "no mesh");
    }
    if (f.mesh)
        kiln_mesh_destroy(f.mesh);
}
