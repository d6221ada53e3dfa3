/* The time step of a bar held at one end: what a linearised step costs beside a bare call of
 * CHOLMOD on its matrix, memory, the gain by a second thread; and one step of a million tets. */
#include "bench/bench.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "bench/bare.h"
#include "geom/predicates.h"
#include "mesh/build.h"
#include "mesh/shapes.h"
#include "solve/solver_backend.h"
#include "step/solid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Counts what a context holds; CHOLMOD's factor is not among it. */
typedef struct counted {
    _Atomic int64_t live;
} counted;

static void *counted_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    counted *count = user;
    if (new_size == 0) {
        free(block);
        count->live -= (int64_t)old_size;
        return NULL;
    }
    void *fresh = realloc(block, new_size);
    if (fresh)
        count->live += (int64_t)new_size - (int64_t)old_size;
    return fresh;
}

typedef struct bar {
    counted count;
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_solid *solid;
    kiln_solid_clock clock;
    kiln_step_report report;
    kiln_status status;
} bar;

static kiln_status clamp_and_load(void *self, kiln_solid *solid, double time, double load,
                                  kiln_error *error)
{
    (void)self, (void)time, (void)load, (void)error;
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    kiln_constraints *held = kiln_solid_constraints(solid);
    for (uint32_t v = 0; v < held->rows; v++)
        if (mesh->u[v].x < 1e-9) {
            held->held[v] = 7;
            held->target[v] = mesh->u[v];
        }
    kiln_loads_add_acceleration(kiln_solid_loads(solid), kiln_solid_mass(solid),
                                kiln_v3(0, 0, -9.81));
    return KILN_OK;
}

static void step_bar(void *user)
{
    bar *b = user;
    kiln_driver driver = {.set = clamp_and_load};
    kiln_status status = kiln_solid_step(b->solid, &driver, 1e-3, &b->clock, &b->report, NULL);
    if (status != KILN_OK)
        b->status = status;
}

static kiln_status make_mesh(kiln_context *context, int cells, kiln_mesh **out)
{
    char number[16];
    snprintf(number, sizeof number, "n=%d", cells);
    const char *const settings[] = {"lx=4", number, "pattern=mirrored"};
    return kiln_mesh_generate(context, "box", 3, settings, out, NULL);
}

static void free_bar(bar *b)
{
    kiln_solid_destroy(b->solid);
    kiln_mesh_destroy(b->mesh);
    if (b->context)
        kiln_context_destroy(b->context);
}

/* With backend "pcg-jacobi" the tolerance is such that the first guess will do: the step then is
 * everything but the solve. */
static kiln_status make_bar(bar *b, int cells, int threads, const char *backend, bool linearised)
{
    *b = (bar){.status = KILN_OK};
    kiln_context_options options = kiln_context_default_options();
    options.threads = threads;
    options.allocator = (kiln_allocator){.resize = counted_resize, .user = &b->count};
    KILN_TRY(kiln_context_create(&options, &b->context, NULL));
    KILN_TRY(make_mesh(b->context, cells, &b->mesh));
    kiln_material material = {.density = 1000};
    KILN_TRY(kiln_material_model_find("corotated", &material.model, NULL));
    kiln_lame_from_young(1e6, 0.3, &material.mu, &material.lambda);
    kiln_solid_options solid = kiln_solid_default_options();
    solid.linearised = linearised;
    solid.solver.backend = backend;
    if (strcmp(backend, "pcg-jacobi") == 0)
        solid.solver.tolerance = 2.0;
    return kiln_solid_create(b->mesh, &solid, &material, 1, NULL, 0, &b->solid, NULL);
}

#ifndef KILN_SOLVER_MUMPS
/* The matrix of the step, assembled here, for a bare call of CHOLMOD. */
static kiln_status assemble(bar *b, kiln_bsr *matrix, double *g)
{
    kiln_term *elements = kiln_elements_term(kiln_solid_elements(b->solid));
    const double *x = &b->mesh->x[0].x;
    kiln_term *inertia = kiln_mass_inertia(kiln_solid_mass(b->solid), x);
    kiln_cliques cliques = elements->cliques(elements->self);
    KILN_TRY(kiln_bsr_set_pattern(matrix, b->mesh->table[KILN_ON_VERTEX].used, &cliques, 1, NULL));
    if (elements->attach)
        KILN_TRY(elements->attach(elements->self, matrix, NULL));
    memset(g, 0, 3 * matrix->rows * sizeof *g);
    elements->add(elements->self, x, 1.0, g, matrix);
    inertia->add(inertia->self, x, 1e6, g, matrix);
    KILN_TRY(clamp_and_load(NULL, b->solid, 0.0, 1.0, NULL));
    kiln_constraints_apply(kiln_solid_constraints(b->solid), matrix, 1e6);
    return KILN_OK;
}

typedef struct bare_runs {
    kiln_bare_call *call;
    bool failed;
} bare_runs;

static void run_bare(void *user)
{
    bare_runs *runs = user;
    if (!(kiln_bare_run(runs->call) > 0.0))
        runs->failed = true;
}

/* NaN when it cannot be done. */
static double time_bare(kiln_bench *bench, bar *b)
{
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, b->context);
    size_t bytes = 3 * (size_t)b->mesh->table[KILN_ON_VERTEX].used * sizeof(double);
    double *g = kiln_resize(b->context, NULL, 0, bytes), seconds = NAN, analysis;
    bare_runs runs = {0};
    if (g && assemble(b, &matrix, g) == KILN_OK)
        runs.call = kiln_bare_start(&matrix, g, &analysis);
    if (runs.call)
        seconds = kiln_bench_time(bench, run_bare, &runs);
    kiln_bare_stop(runs.call);
    kiln_release(b->context, g, bytes);
    kiln_bsr_free(&matrix);
    return runs.failed ? NAN : seconds;
}
#endif

enum { CELLS = 16, LARGE_CELLS = 35 };

static bool stepped(const bar *b)
{
    return b->status == KILN_OK && b->report.outcome == KILN_STEP_DONE;
}

static void bench_rest(kiln_bench *bench)
{
    bar b;
    if (make_bar(&b, CELLS, 1, "pcg-jacobi", true) == KILN_OK) {
        double tets = (double)b.mesh->table[KILN_ON_TET].live;
        double rest = kiln_bench_time(bench, step_bar, &b);
        char text[80];
        snprintf(text, sizeof text, "%.0f tets; assembly %.1f ms", tets,
                 1e3 * b.report.newton.assemble_seconds);
        kiln_bench_report(bench, "linearised step without solve", stepped(&b) ? 1e3 * rest : NAN,
                          "ms", 0.0, 0, text);
        kiln_bench_report(bench, "memory without factor",
                          stepped(&b) ? (double)b.count.live / tets : NAN, "B/tet", 600.0, 0,
                          "mesh included");
#ifndef KILN_SOLVER_MUMPS
        double bare = time_bare(bench, &b);
        kiln_bench_report(bench, "bare CHOLMOD factor + solve", 1e3 * bare, "ms", 0.0, 0, "");
        kiln_bench_report(bench, "step without solve / bare solve", stepped(&b) ? rest / bare : NAN,
                          "", 0.1, 0, "");
#endif
    } else
        kiln_bench_report_failure(bench, "linearised step without solve", "cannot make the bar");
    free_bar(&b);
}

static void bench_whole(kiln_bench *bench)
{
    bar b;
    if (make_bar(&b, CELLS, 1, KILN_SOLVER_DIRECT.name, true) == KILN_OK) {
        double whole = kiln_bench_time(bench, step_bar, &b);
        kiln_bench_report(bench, "linearised step", stepped(&b) ? 1e3 * whole : NAN, "ms", 0.0, 0,
                          kiln_step_outcome_text(b.report.outcome));
    } else
        kiln_bench_report_failure(bench, "linearised step", "cannot make the bar");
    free_bar(&b);
}

/* The gain by a second thread, beside that of a loop that only computes. */

enum { REFERENCE_ITEMS = 2000000, REFERENCE_GRAIN = 4096 };

static void reference_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    double *sums = user, sum = 0.0;
    for (size_t i = begin; i < end; i++) {
        double s = (double)i * 1e-6;
        sum += kiln_orient3d(kiln_v3(s, 0, 0), kiln_v3(1, s, 0), kiln_v3(0, 1, s),
                             kiln_v3(s, s, 1 - s));
    }
    sums[chunk] = sum;
}

static double once_reference(kiln_context *context, double *sums)
{
    double began = kiln_wall_seconds();
    kiln_parallel_for(context, REFERENCE_ITEMS, REFERENCE_GRAIN, reference_chunk, sums);
    return kiln_wall_seconds() - began;
}

static double once_step(bar *b)
{
    double began = kiln_wall_seconds();
    step_bar(b);
    return kiln_wall_seconds() - began;
}

static void bench_threads(kiln_bench *bench)
{
    static double sums[REFERENCE_ITEMS / REFERENCE_GRAIN + 1];
    bar b[2] = {{.status = KILN_OK}, {.status = KILN_OK}};
    if (make_bar(&b[0], CELLS, 1, "pcg-jacobi", true) == KILN_OK &&
        make_bar(&b[1], CELLS, 2, "pcg-jacobi", true) == KILN_OK) {
        double step[2] = {INFINITY, INFINITY}, loop[2] = {INFINITY, INFINITY};
        for (int round = 0; round < 40; round++)
            for (int k = 0; k < 2; k++) {
                loop[k] = fmin(loop[k], once_reference(b[k].context, sums));
                step[k] = fmin(step[k], once_step(&b[k]));
            }
        bool good = stepped(&b[0]) && stepped(&b[1]);
        double gain = good ? step[0] / step[1] : NAN, reference = loop[0] / loop[1];
        char text[80];
        snprintf(text, sizeof text, "step without solve x%.2f, reference loop x%.2f", gain,
                 reference);
        kiln_bench_report(bench, "gain by 2 threads / that of a loop", gain / reference, "", 0.85,
                          1, text);
    } else
        kiln_bench_report_failure(bench, "gain by 2 threads", "cannot make the bars");
    free_bar(&b[0]);
    free_bar(&b[1]);
}

/* 4 x 1 x 1 with 35 cells a side: 1029000 tets. */
static void bench_large(kiln_bench *bench)
{
    bar b;
    kiln_bench_reset_peak();
    if (make_bar(&b, LARGE_CELLS, 2, "auto", true) == KILN_OK) {
        double seconds = once_step(&b);
        char text[128];
        snprintf(text, sizeof text, "%u tets, %s, %d iterations: %s",
                 b.mesh->table[KILN_ON_TET].live, b.report.newton.backend,
                 b.report.newton.linear_iterations, kiln_step_outcome_text(b.report.outcome));
        kiln_bench_report(bench, "one step of a million tets, wall clock",
                          stepped(&b) ? seconds : NAN, "s", 0.0, 0, text);
        kiln_bench_report(bench, "its peak memory", stepped(&b) ? kiln_bench_peak_gigabytes() : NAN,
                          "GiB", 1.5, 0, "of the process, from before its mesh is made");
    } else
        kiln_bench_report_failure(bench, "one step of a million tets", "cannot make the bar");
    free_bar(&b);
}

void kiln_bench_step(kiln_bench *bench)
{
    bench_rest(bench);
    bench_whole(bench);
    bench_threads(bench);
    bench_large(bench);
}
