/* Reversible refinement: a whole cycle of a box there and back, and the local request of a fracture
 * event. */
#include "bench/bench.h"
#include "mesh/audit.h"
#include "mesh/build.h"
#include "mesh/shapes.h"
#include "remesh/refine.h"

#include <stdio.h>
#include <time.h>

enum { REPEATS = 9, LOCAL_REPEATS = 200 };

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static kiln_status make_box(kiln_context *context, const char *cells, kiln_mesh **mesh)
{
    kiln_soup soup;
    size_t count;
    const kiln_shape *row;
    const kiln_shape *const *shapes = kiln_shapes(&count);
    kiln_soup_init(&soup, context);
    KILN_TRY(kiln_shape_find(shapes, count, "box", &row, NULL));
    KILN_TRY(kiln_shape_make(row, 1, &cells, &soup, NULL));
    kiln_status status = kiln_mesh_build(context, &soup, NULL, mesh, NULL, NULL);
    kiln_soup_free(&soup);
    return status;
}

static void shorter(double *best, double time)
{
    *best = time < *best ? time : *best;
}

/* Seconds of the fastest cycle of all tets and of taking it back; tets it made. */
static kiln_status time_cycle(kiln_mesh *mesh, kiln_refiner *refiner, double *there, double *back,
                              double *made)
{
    const kiln_refine_choice everything = {0};
    kiln_refine_report report;
    *there = *back = 1e30;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = cpu_seconds();
        KILN_TRY(kiln_refine_where(refiner, everything, 1, &report, NULL));
        double middle = cpu_seconds();
        *made = mesh->table[KILN_ON_TET].live;
        KILN_TRY(kiln_coarsen_where(refiner, everything, 0, &report, NULL));
        shorter(there, middle - start);
        shorter(back, cpu_seconds() - middle);
    }
    return KILN_OK;
}

/* The tets at the vertex nearest the middle, to the end of a cycle and back. */
static kiln_status time_star(kiln_mesh *mesh, kiln_refiner *refiner, double *there, double *back,
                             double *made)
{
    const kiln_refine_choice everything = {0};
    kiln_refine_report report;
    uint32_t vertex = 0;
    for (uint32_t v = 1; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 middle = {0.5, 0.5, 0.5};
        if (kiln_v3_norm(kiln_v3_sub(mesh->u[v], middle)) <
            kiln_v3_norm(kiln_v3_sub(mesh->u[vertex], middle)))
            vertex = v;
    }
    kiln_status status = KILN_OK;
    *there = *back = 1e30;
    for (int repeat = 0; repeat < LOCAL_REPEATS && status == KILN_OK; repeat++) {
        double before = mesh->table[KILN_ON_TET].live, start = cpu_seconds();
        status = kiln_refine_stars(refiner, &vertex, 1, 5, &report, NULL);
        double middle = cpu_seconds();
        *made = mesh->table[KILN_ON_TET].live - before;
        if (status == KILN_OK)
            status = kiln_coarsen_where(refiner, everything, 0, &report, NULL);
        shorter(there, middle - start);
        shorter(back, cpu_seconds() - middle);
    }
    return status;
}

typedef kiln_status (*stopwatch)(kiln_mesh *mesh, kiln_refiner *refiner, double *there,
                                 double *back, double *made);

/* Times one way of refining; also whether the mesh came back with as many tets, and sound. */
static bool measure(kiln_bench *bench, const char *cells, stopwatch watch, double *there,
                    double *back, double *made, char remark[96])
{
    kiln_mesh *mesh = NULL;
    kiln_refiner *refiner = NULL;
    kiln_audit_report audit = {0};
    kiln_status status = make_box(kiln_bench_context(bench), cells, &mesh);
    if (status == KILN_OK)
        status = kiln_refiner_create(mesh, &refiner, NULL);
    uint32_t tets = mesh ? mesh->table[KILN_ON_TET].live : 0;
    if (status == KILN_OK)
        status = watch(mesh, refiner, there, back, made);
    if (status == KILN_OK)
        status = kiln_mesh_audit(mesh, &audit, NULL);
    bool good = status == KILN_OK && !audit.invariant && mesh->table[KILN_ON_TET].live == tets;
    snprintf(remark, 96, "%u tets, %+.0f; audit %s after coarsening", tets,
             watch == time_cycle ? *made - tets : *made,
             audit.invariant ? audit.invariant : "clean");
    kiln_refiner_destroy(refiner);
    if (mesh)
        kiln_mesh_destroy(mesh);
    return good;
}

void kiln_bench_refine(kiln_bench *bench)
{
    double there, back, made;
    char remark[96];
    if (!measure(bench, "n=12", time_cycle, &there, &back, &made, remark)) {
        kiln_bench_report_failure(bench, "refine: a cycle", "the mesh does not come back");
        return;
    }
    kiln_bench_report(bench, "refine: a cycle of all tets", 1e-3 * made / there, "k tets/s", 0, 1,
                      remark);
    kiln_bench_report(bench, "coarsen: a cycle of all tets", 1e-3 * made / back, "k tets/s", 0, 1,
                      remark);
    if (!measure(bench, "n=4", time_star, &there, &back, &made, remark)) {
        kiln_bench_report_failure(bench, "refine: a star", "the mesh does not come back");
        return;
    }
    /* The share of refinement in the design's cost of a fracture event. */
    kiln_bench_report(bench, "refine: the star of a vertex", 1e6 * there, "us", 200, 0, remark);
    kiln_bench_report(bench, "coarsen: the star of a vertex", 1e6 * back, "us", 0, 0, remark);
}
