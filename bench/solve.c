/* Linear systems of a bar of linear elasticity held at one end: the pattern, products, the direct
 * solver (CHOLMOD beside a bare call of it on the same matrix) and the iterative ones. */
#include "bench/bench.h"

#include "bench/bare.h"
#include "mesh/shapes.h"
#include "solve/constraints.h"
#include "solve/solver_backend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct elastic_bar {
    kiln_context *context;
    kiln_soup soup;
    kiln_cliques cliques;
    kiln_bsr matrix;
    kiln_constraints constraints;
    double *b, *x; /* [points][3] */
    kiln_status status;
} elastic_bar;

static kiln_status make_soup(elastic_bar *bar, int cells)
{
    char number[16];
    snprintf(number, sizeof number, "n=%d", cells);
    const char *settings[] = {"lx=4", number, "pattern=mirrored"};
    size_t count;
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *box;
    KILN_TRY(kiln_shape_find(shapes, count, "box", &box, NULL));
    return kiln_shape_make(box, 3, settings, &bar->soup, NULL);
}

/* K_ab = V (lambda g_a g_b' + mu g_b g_a' + mu (g_a . g_b) I), g the gradients of the shape
 * functions. */
static void add_tet(elastic_bar *bar, const uint32_t v[4], double lambda, double mu)
{
    const kiln_vec3 *p = bar->soup.points.data;
    kiln_vec3 e[3], g[4] = {{0}};
    for (int k = 0; k < 3; k++)
        e[k] = kiln_v3_sub(p[v[k + 1]], p[v[0]]);
    double six_volumes = kiln_v3_triple(e[0], e[1], e[2]);
    for (int k = 0; k < 3; k++) {
        kiln_vec3 normal = kiln_v3_cross(e[(k + 1) % 3], e[(k + 2) % 3]);
        g[k + 1] = kiln_v3_scale(normal, 1.0 / six_volumes);
        g[0] = kiln_v3_sub(g[0], g[k + 1]);
    }
    double volume = six_volumes / 6.0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            if (v[a] > v[b])
                continue;
            const double ga[3] = {g[a].x, g[a].y, g[a].z}, gb[3] = {g[b].x, g[b].y, g[b].z};
            double block[3][3], both = kiln_v3_dot(g[a], g[b]);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    block[r][c] = volume * (lambda * ga[r] * gb[c] + mu * gb[r] * ga[c] +
                                            (r == c ? mu * both : 0.0));
            kiln_bsr_add(&bar->matrix, v[a], v[b], (const double(*)[3])block);
        }
}

/* E = 1, the end x = 0 held, a force on everything. */
static kiln_status fill_bar(elastic_bar *bar, double nu)
{
    size_t rows = bar->soup.points.count;
    double lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 0.5 / (1 + nu);
    kiln_bsr_clear(&bar->matrix);
    for (size_t t = 0; t < bar->soup.tets.count; t++)
        add_tet(bar, bar->soup.tets.data[t].v, lambda, mu);
    KILN_TRY(kiln_constraints_reset(&bar->constraints, rows, NULL));
    for (size_t i = 0; i < rows; i++) {
        if (bar->soup.points.data[i].x < 1e-9)
            bar->constraints.held[i] = 7;
        for (int c = 0; c < 3; c++)
            bar->b[3 * i + c] = c == 1 ? 1.0 : 0.01 * sin((double)(3 * i + c));
    }
    kiln_constraints_apply(&bar->constraints, &bar->matrix, 1.0);
    kiln_constraints_project(&bar->constraints, bar->b);
    return KILN_OK;
}

static void set_pattern(void *user)
{
    elastic_bar *bar = user;
    /* Away with the old one first: an equal pattern would be kept. */
    kiln_bsr_free(&bar->matrix);
    bar->status =
        kiln_bsr_set_pattern(&bar->matrix, bar->soup.points.count, &bar->cliques, 1, NULL);
}

static void multiply(void *user)
{
    elastic_bar *bar = user;
    bar->status = kiln_bsr_multiply(&bar->matrix, bar->b, bar->x, NULL);
}

static kiln_status make_bar(elastic_bar *bar, kiln_context *context, int cells, double nu)
{
    *bar = (elastic_bar){.context = context};
    kiln_soup_init(&bar->soup, context);
    kiln_bsr_init(&bar->matrix, context);
    kiln_constraints_init(&bar->constraints, context);
    KILN_TRY(make_soup(bar, cells));
    bar->cliques =
        (kiln_cliques){.count = bar->soup.tets.count, .size = 4, .row = bar->soup.tets.data[0].v};
    size_t bytes = bar->soup.points.count * 3 * sizeof(double);
    bar->b = kiln_resize(context, NULL, 0, bytes);
    bar->x = kiln_resize(context, NULL, 0, bytes);
    if (!bar->b || !bar->x)
        return KILN_ERR_MEMORY;
    set_pattern(bar);
    return bar->status == KILN_OK ? fill_bar(bar, nu) : bar->status;
}

static void free_bar(elastic_bar *bar)
{
    size_t bytes = bar->soup.points.count * 3 * sizeof(double);
    kiln_release(bar->context, bar->b, bytes);
    kiln_release(bar->context, bar->x, bytes);
    kiln_constraints_free(&bar->constraints);
    kiln_bsr_free(&bar->matrix);
    kiln_soup_free(&bar->soup);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Backward error: |b - A x| / (|A| |x| + |b|), largest entries. */
static double residual(const elastic_bar *bar, const double *x)
{
    size_t n = 3 * bar->matrix.rows;
    double *r = kiln_resize(bar->context, NULL, 0, n * sizeof *r), worst = 0.0, size = 0.0,
           most = 0.0;
    if (!r || kiln_bsr_multiply(&bar->matrix, x, r, NULL) != KILN_OK)
        return NAN;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(r[i] - bar->b[i]));
        size = fmax(size, fabs(bar->b[i]));
        most = fmax(most, fabs(x[i]));
    }
    double entry = 0.0;
    for (uint64_t k = 0; k < 9 * bar->matrix.start[bar->matrix.rows]; k++)
        entry = fmax(entry, fabs(bar->matrix.value[k]));
    kiln_release(bar->context, r, n * sizeof *r);
    return worst / (entry * most + size);
}

/* CPU seconds of a factor (with the analysis, if it needs one) and a solve through kiln_solver. */
typedef struct solver_run {
    double factor, solve;
    kiln_solver_report report;
} solver_run;

static kiln_status run_solver(elastic_bar *bar, kiln_solver *solver, solver_run *out)
{
    kiln_solve_outcome outcome;
    double begin = cpu_seconds();
    KILN_TRY(kiln_solver_factor(solver, &bar->matrix, &outcome, NULL));
    double factored = cpu_seconds();
    if (outcome == KILN_SOLVE_OK)
        KILN_TRY(kiln_solver_solve(solver, bar->b, bar->x, &outcome, NULL));
    *out = (solver_run){factored - begin, cpu_seconds() - factored, *kiln_solver_last(solver)};
    return outcome == KILN_SOLVE_OK ? KILN_OK : KILN_ERR_INPUT;
}

static kiln_solver *solver_named(kiln_context *context, const char *name)
{
    kiln_solver_options options = kiln_solver_default_options();
    options.backend = name;
    kiln_solver *solver = NULL;
    return kiln_solver_create(context, &options, &solver, NULL) == KILN_OK ? solver : NULL;
}

enum { REPEATS = 4 };

/* A direct solver beside a bare call of CHOLMOD, each once in turn. */
static void bench_direct(kiln_bench *bench, elastic_bar *bar, const char *direct, double bar_ratio)
{
    char text[96], name[96];
    solver_run first = {0}, once = {0};
    double best = INFINITY, factor = INFINITY, solve = INFINITY,
           tets = (double)bar->soup.tets.count;
    kiln_solver *solver = solver_named(bar->context, direct);
    if (!solver || run_solver(bar, solver, &first) != KILN_OK) {
        kiln_bench_report_failure(bench, direct, "cannot factor and solve");
        kiln_solver_destroy(solver);
        return;
    }
#ifndef KILN_SOLVER_MUMPS
    double bare_analyse = 0.0, bare_best = INFINITY;
    kiln_bare_call *bare = kiln_bare_start(&bar->matrix, bar->b, &bare_analyse);
#endif
    for (int i = 0; i < REPEATS; i++) {
#ifndef KILN_SOLVER_MUMPS
        double bare_once = bare ? kiln_bare_run(bare) : NAN;
        bare_best = bare_once <= bare_best ? bare_once : isnan(bare_once) ? NAN : bare_best;
#endif
        if (run_solver(bar, solver, &once) != KILN_OK) {
            best = factor = solve = NAN;
            break;
        }
        best = fmin(best, once.factor + once.solve);
        factor = fmin(factor, once.factor);
        solve = fmin(solve, once.solve);
    }
    snprintf(text, sizeof text, "backward error %.1e; %.0f tets", residual(bar, bar->x), tets);
#ifndef KILN_SOLVER_MUMPS
    kiln_bare_stop(bare);
    snprintf(name, sizeof name, "%.0fk tets: %s factor + solve / bare CHOLMOD", 1e-3 * tets,
             direct);
    kiln_bench_report(bench, name, best / bare_best, "", bar_ratio, 0, text);
    snprintf(text, sizeof text, "a bare call takes %.0f ms", 1e3 * bare_analyse);
#endif
    snprintf(name, sizeof name, "%.0fk tets: %s analysis", 1e-3 * tets, direct);
    kiln_bench_report(bench, name, 1e3 * (first.factor - factor), "ms", 0.0, 0, text);
    snprintf(name, sizeof name, "%.0fk tets: %s factor", 1e-3 * tets, direct);
    snprintf(text, sizeof text, "%.0f GF/s", 1e-9 * once.report.factor_flops / factor);
    kiln_bench_report(bench, name, factor, "s", 0.0, 0, text);
    snprintf(name, sizeof name, "%.0fk tets: %s solve", 1e-3 * tets, direct);
    kiln_bench_report(bench, name, 1e3 * solve, "ms", 0.0, 0, "");
    snprintf(name, sizeof name, "%.0fk tets: %s factor and indices", 1e-3 * tets, direct);
    kiln_bench_report(bench, name, (double)once.report.bytes / tets, "bytes/tet", 0.0, 0, "");
    kiln_solver_destroy(solver);
}

static void bench_iterations(kiln_bench *bench, elastic_bar *bar, const char *backend, double nu)
{
    char name[64], text[96];
    double best = INFINITY;
    solver_run first = {0}, once = {0};
    kiln_solver *solver = solver_named(bar->context, backend);
    if (!solver) {
        kiln_bench_report_failure(bench, backend, "cannot be made");
        return;
    }
    kiln_status status = fill_bar(bar, nu);
    if (status == KILN_OK)
        status = run_solver(bar, solver, &first);
    for (int i = 0; i < REPEATS && status == KILN_OK; i++) {
        status = run_solver(bar, solver, &once);
        best = fmin(best, once.factor + once.solve);
    }
    snprintf(name, sizeof name, "%s, nu = %g: preconditioner + solve", backend, nu);
    snprintf(text, sizeof text, "%d iterations, residual %.1e, %.0f bytes/tet%s",
             once.report.iterations, once.report.residual,
             (double)once.report.bytes / (double)bar->soup.tets.count,
             status == KILN_OK ? "" : ", FAILED");
    kiln_bench_report(bench, name, status == KILN_OK ? best : NAN, "s", 0.0, 0, text);
    kiln_solver_destroy(solver);
}

/* A body of a million tets, by the automatic choice; once, because it takes its time. */
static void bench_large(kiln_bench *bench, kiln_context *context)
{
    char text[96];
    elastic_bar bar;
    solver_run once = {0};
    kiln_solver *solver = solver_named(context, "auto");
    kiln_status status = make_bar(&bar, context, 35, 0.3);
    if (status == KILN_OK)
        status = solver ? run_solver(&bar, solver, &once) : KILN_ERR_MEMORY;
    double gigabytes = (double)(kiln_bsr_bytes(&bar.matrix) + once.report.bytes) / 1073741824.0;
    if (status != KILN_OK)
        gigabytes = once.factor = NAN;
    snprintf(text, sizeof text, "%s: %s%s", once.report.backend ? once.report.backend : "",
             once.report.reason ? once.report.reason : "", status == KILN_OK ? "" : ", FAILED");
    kiln_bench_report(bench, "1M tets, auto: matrix and solver", gigabytes, "GiB", 0.4, 0, text);
    snprintf(text, sizeof text, "%.2fM tets, %d iterations, residual %.1e",
             1e-6 * (double)bar.soup.tets.count, once.report.iterations, once.report.residual);
    kiln_bench_report(bench, "1M tets, auto: analysis, factor, solve", once.factor + once.solve,
                      "s", 0.0, 0, text);
    kiln_solver_destroy(solver);
    free_bar(&bar);
}

static void bench_matrix(kiln_bench *bench, elastic_bar *bar)
{
    double seconds = kiln_bench_time(bench, multiply, bar);
    double bytes = 76.0 * (double)bar->matrix.start[bar->matrix.rows];
    kiln_bench_report(bench, "product with the matrix", 1e-9 * bytes / seconds, "GB/s", 0.0, 1, "");
    kiln_bench_report(bench, "matrix",
                      (double)kiln_bsr_bytes(&bar->matrix) / (double)bar->soup.tets.count,
                      "bytes/tet", 0.0, 0, "pattern, values, scratch of the product");
    seconds = kiln_bench_time(bench, set_pattern, bar);
    kiln_bench_report(bench, "pattern of the matrix", 1e3 * seconds, "ms", 0.0, 0, "");
    fill_bar(bar, 0.3);
}

void kiln_bench_solve(kiln_bench *bench)
{
    elastic_bar bar;
    kiln_context single = *kiln_bench_context(bench); /* CPU time of one thread is measured */
    single.threads = 1;
    single.pool = NULL;
    if (make_bar(&bar, &single, 9, 0.3) == KILN_OK)
        bench_direct(bench, &bar, kiln_solver_multifrontal.name, 0.9);
    free_bar(&bar);
    if (make_bar(&bar, &single, 16, 0.3) == KILN_OK) {
        bench_matrix(bench, &bar);
        bench_direct(bench, &bar, kiln_solver_multifrontal.name, 0.9);
        bench_direct(bench, &bar, KILN_SOLVER_DIRECT.name, 1.1);
        bench_iterations(bench, &bar, "pcg-jacobi", 0.3);
        bench_iterations(bench, &bar, "pcg-ic", 0.3);
        bench_iterations(bench, &bar, "pcg-ic", 0.49);
    } else
        kiln_bench_report_failure(bench, "linear systems", "cannot make the bar");
    free_bar(&bar);
    bench_large(bench, &single);
}
