/* The time step of a bar held at one end: what a linearised step costs beside a bare call of
 * CHOLMOD on its matrix, memory, the gain by a second thread; and, when the environment has
 * KILN_BENCH_LARGE, one step of a million tets. */
#include "app/bench.h"

#include "base/parallel.h"
#include "geom/predicates.h"
#include "mesh/build.h"
#include "mesh/shapes.h"
#include "step/solid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>
#include <sys/resource.h>
#include <time.h>

/* Counts what a context holds; CHOLMOD's factor is not among it. */
typedef struct counted {
    int64_t live;
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

/* The matrix of the step, assembled here, in a bare call of CHOLMOD as its manual has it. */
typedef struct bare_call {
    cholmod_common common;
    cholmod_sparse *matrix;
    cholmod_dense *right;
    cholmod_factor *factor;
} bare_call;

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

/* The scalar lower triangle by columns; the rows of blocks are its columns. */
static void fill_bare(bare_call *bare, const kiln_bsr *m)
{
    SuiteSparse_long *start = bare->matrix->p, *index = bare->matrix->i, at = 0;
    double *value = bare->matrix->x;
    for (uint32_t i = 0; i < m->rows; i++)
        for (size_t r = 0; r < 3; r++) {
            start[3 * i + r] = at;
            for (uint64_t b = m->start[i]; b < m->start[i + 1]; b++)
                for (size_t c = m->column[b] == i ? r : 0; c < 3; c++) {
                    size_t stride;
                    index[at] = (SuiteSparse_long)(3 * (size_t)m->column[b] + c);
                    value[at++] = kiln_bsr_at(m, i, b, &stride)[r * stride + c];
                }
        }
    start[3 * m->rows] = at;
}

static bool start_bare(bare_call *bare, const kiln_bsr *m, const double *g)
{
    memset(bare, 0, sizeof *bare);
    cholmod_l_start(&bare->common);
    bare->common.supernodal = CHOLMOD_SUPERNODAL;
    bare->common.nmethods = 1;
    bare->common.method[0].ordering = CHOLMOD_METIS;
    size_t n = 3 * m->rows;
    bare->matrix = cholmod_l_allocate_sparse(n, n, 9 * m->start[m->rows], 1, 1, -1, CHOLMOD_REAL,
                                             &bare->common);
    bare->right = cholmod_l_zeros(n, 1, CHOLMOD_REAL, &bare->common);
    if (!bare->matrix || !bare->right)
        return false;
    fill_bare(bare, m);
    memcpy(bare->right->x, g, n * sizeof *g);
    bare->factor = cholmod_l_analyze(bare->matrix, &bare->common);
    return bare->factor != NULL;
}

static void run_bare(void *user)
{
    bare_call *bare = user;
    cholmod_l_factorize(bare->matrix, bare->factor, &bare->common);
    cholmod_dense *x = cholmod_l_solve(CHOLMOD_A, bare->factor, bare->right, &bare->common);
    kiln_bench_keep(x ? ((double *)x->x)[0] : 0.0);
    cholmod_l_free_dense(&x, &bare->common);
}

static void end_bare(bare_call *bare)
{
    cholmod_l_free_factor(&bare->factor, &bare->common);
    cholmod_l_free_sparse(&bare->matrix, &bare->common);
    cholmod_l_free_dense(&bare->right, &bare->common);
    cholmod_l_finish(&bare->common);
}

static double time_bare(kiln_bench *bench, bar *b)
{
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, b->context);
    size_t bytes = 3 * (size_t)b->mesh->table[KILN_ON_VERTEX].used * sizeof(double);
    double *g = kiln_resize(b->context, NULL, 0, bytes), seconds = NAN;
    bare_call bare;
    if (g && assemble(b, &matrix, g) == KILN_OK) {
        if (start_bare(&bare, &matrix, g))
            seconds = kiln_bench_time(bench, run_bare, &bare);
        end_bare(&bare);
    }
    kiln_release(b->context, g, bytes);
    kiln_bsr_free(&matrix);
    return seconds;
}

enum { CELLS = 16, LARGE_CELLS = 35 };

static void bench_rest(kiln_bench *bench)
{
    bar b;
    if (make_bar(&b, CELLS, 1, "pcg-jacobi", true) == KILN_OK) {
        double tets = (double)b.mesh->table[KILN_ON_TET].live;
        double bare = time_bare(bench, &b), rest = kiln_bench_time(bench, step_bar, &b);
        char text[80];
        snprintf(text, sizeof text, "%.0f tets; assembly %.1f ms", tets,
                 1e3 * b.report.newton.assemble_seconds);
        kiln_bench_report(bench, "bare CHOLMOD factor + solve", 1e3 * bare, "ms", 0.0, 0, "");
        kiln_bench_report(bench, "linearised step without it", 1e3 * rest, "ms", 0.0, 0, text);
        kiln_bench_report(bench, "step without solve / bare solve", rest / bare, "", 0.1, 0, "");
        kiln_bench_report(bench, "memory without factor", (double)b.count.live / tets, "B/tet",
                          600.0, 0, "mesh included");
        if (b.status != KILN_OK || b.report.outcome != KILN_STEP_DONE)
            kiln_bench_report(bench, "linearised step failed", 1.0, "", 0.5, 0, "");
    }
    free_bar(&b);
}

static void bench_whole(kiln_bench *bench)
{
    bar b;
    if (make_bar(&b, CELLS, 1, "cholmod", true) == KILN_OK) {
        double whole = kiln_bench_time(bench, step_bar, &b);
        kiln_bench_report(bench, "linearised step", 1e3 * whole, "ms", 0.0, 0,
                          kiln_step_outcome_text(b.report.outcome));
    }
    free_bar(&b);
}

/* The gain by a second thread, beside that of a loop that only computes. */

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
    double began = wall_seconds();
    kiln_parallel_for(context, REFERENCE_ITEMS, REFERENCE_GRAIN, reference_chunk, sums);
    return wall_seconds() - began;
}

static double once_step(bar *b)
{
    double began = wall_seconds();
    step_bar(b);
    return wall_seconds() - began;
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
        double gain = step[0] / step[1], reference = loop[0] / loop[1];
        char text[80];
        snprintf(text, sizeof text, "step without solve x%.2f, reference loop x%.2f", gain,
                 reference);
        kiln_bench_report(bench, "gain by 2 threads / that of a loop", gain / reference, "", 0.85,
                          1, text);
    }
    free_bar(&b[0]);
    free_bar(&b[1]);
}

/* 4 x 1 x 1 with 35 cells a side: 1029000 tets. */
static void bench_large(kiln_bench *bench)
{
    bar b;
    if (make_bar(&b, LARGE_CELLS, 2, "auto", true) == KILN_OK) {
        double seconds = once_step(&b);
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        char text[80];
        snprintf(text, sizeof text, "%u tets, %s, %d iterations: %s",
                 b.mesh->table[KILN_ON_TET].live, b.report.newton.backend,
                 b.report.newton.linear_iterations, kiln_step_outcome_text(b.report.outcome));
        kiln_bench_report(bench, "one step of a million tets", seconds, "s", 0.0, 0, text);
        kiln_bench_report(bench, "its peak memory", (double)usage.ru_maxrss / 1048576.0, "GiB",
                          24.0, 0, "");
    }
    free_bar(&b);
}

void kiln_bench_step(kiln_bench *bench)
{
    bench_rest(bench);
    bench_whole(bench);
    bench_threads(bench);
    if (getenv("KILN_BENCH_LARGE"))
        bench_large(bench);
}
