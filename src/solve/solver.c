#include "solve/solver.h"

#include "solve/blas.h"
#include "solve/solver_backend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const kiln_solver_backend *const backends[] = {&kiln_solver_cholmod};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

struct kiln_solver {
    kiln_context *context;
    kiln_solver_options options;
    const kiln_solver_backend *backend; /* NULL: auto has not chosen yet */
    void *self[BACKENDS];               /* created when first used */
    const kiln_bsr *matrix;             /* borrowed; NULL: no factor */
    uint64_t pattern;                   /* analysed for */
    bool analysed;
    kiln_solver_report report;
};

kiln_solver_options kiln_solver_default_options(void)
{
    return (kiln_solver_options){
        .backend = "auto", .tolerance = 1e-10, .max_iterations = 5000, .blas_threads = 1};
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static kiln_status refuse_backend(const char *name, kiln_error *error)
{
    char known[128] = "auto";
    for (int i = 0; i < BACKENDS; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", backends[i]->name);
    }
    return kiln_fail(error, KILN_ERR_UNSUPPORTED, "solver", 0, -1, "'%s' is none of %s", name,
                     known);
}

kiln_status kiln_solver_create(kiln_context *context, const kiln_solver_options *options,
                               kiln_solver **out, kiln_error *error)
{
    kiln_solver_options used = options ? *options : kiln_solver_default_options();
    if (!used.backend)
        used.backend = "auto";
    used.blas_threads = used.blas_threads > 0 ? used.blas_threads : 1;
    const kiln_solver_backend *chosen = NULL;
    for (int i = 0; i < BACKENDS; i++)
        if (strcmp(backends[i]->name, used.backend) == 0)
            chosen = backends[i];
    if (!chosen && strcmp(used.backend, "auto") != 0)
        return refuse_backend(used.backend, error);
    kiln_solver *solver = kiln_resize(context, NULL, 0, sizeof *solver);
    if (!solver)
        return kiln_fail_memory(error, sizeof *solver);
    *solver = (kiln_solver){.context = context, .options = used, .backend = chosen};
    *out = solver;
    return KILN_OK;
}

void kiln_solver_destroy(kiln_solver *solver)
{
    if (!solver)
        return;
    for (int i = 0; i < BACKENDS; i++)
        if (solver->self[i])
            backends[i]->destroy(solver->self[i]);
    kiln_release(solver->context, solver, sizeof *solver);
}

void kiln_solver_forget(kiln_solver *solver)
{
    for (int i = 0; i < BACKENDS; i++)
        if (solver->self[i])
            backends[i]->forget(solver->self[i]);
    solver->analysed = false;
    solver->matrix = NULL;
}

static int number_of(const kiln_solver_backend *backend)
{
    int i = 0;
    while (backends[i] != backend)
        i++;
    return i;
}

static kiln_status analyse_with(kiln_solver *solver, const kiln_solver_backend *backend,
                                const kiln_bsr *matrix, kiln_error *error)
{
    void **self = &solver->self[number_of(backend)];
    if (!*self)
        KILN_TRY(backend->create(solver->context, &solver->options, self, error));
    double begin = now();
    kiln_status status = backend->analyse(*self, matrix, &solver->report, error);
    solver->report.analyse_seconds += now() - begin;
    solver->report.backend = backend->name;
    solver->report.direct = backend->direct;
    solver->backend = backend;
    return status;
}

/* x - x is zero unless x is no number; sums vectorise, tests do not. */
static bool is_finite(const double *value, size_t count)
{
    double sum[8] = {0.0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += value[i + k] - value[i + k];
    for (; i < count; i++)
        sum[0] += value[i] - value[i];
    for (int k = 1; k < 8; k++)
        sum[0] += sum[k];
    return sum[0] == 0.0;
}

kiln_status kiln_solver_factor(kiln_solver *solver, const kiln_bsr *matrix,
                               kiln_solve_outcome *outcome, kiln_error *error)
{
    solver->matrix = NULL;
    solver->report.iterations = 0;
    solver->report.residual = 0.0;
    solver->report.analyse_seconds = 0.0;
    solver->report.analysed = !solver->analysed || solver->pattern != matrix->pattern;
    if (solver->report.analysed) {
        solver->analysed = false;
        solver->report.reason = "asked for";
        KILN_TRY(analyse_with(solver, &kiln_solver_cholmod, matrix, error));
        solver->analysed = true;
        solver->pattern = matrix->pattern;
    }
    /* LAPACK lets a NaN pass for a positive pivot. */
    *outcome = KILN_SOLVE_NOT_FINITE;
    if (!is_finite(matrix->value, 9 * (size_t)matrix->start[matrix->rows]))
        return KILN_OK;
    double begin = now();
    KILN_TRY(solver->backend->factor(solver->self[number_of(solver->backend)], matrix,
                                     &solver->report, outcome, error));
    solver->report.factor_seconds = now() - begin;
    if (*outcome == KILN_SOLVE_OK)
        solver->matrix = matrix;
    return KILN_OK;
}

kiln_status kiln_solver_solve(kiln_solver *solver, const double *b, double *x,
                              kiln_solve_outcome *outcome, kiln_error *error)
{
    if (!solver->matrix)
        return kiln_fail(error, KILN_ERR_INPUT, "solver", 0, -1,
                         "there is no factor to solve with");
    double begin = now();
    KILN_TRY(solver->backend->solve(solver->self[number_of(solver->backend)], solver->matrix, b, x,
                                    &solver->report, outcome, error));
    solver->report.solve_seconds = now() - begin;
    if (*outcome == KILN_SOLVE_OK && !is_finite(x, 3 * solver->matrix->rows))
        *outcome = KILN_SOLVE_NOT_FINITE;
    return KILN_OK;
}

const kiln_solver_report *kiln_solver_last(const kiln_solver *solver)
{
    return &solver->report;
}

void kiln_solver_describe(char *buffer, size_t size)
{
    size_t used = 0;
    const kiln_blas_state *blas = kiln_blas_prepare();
    for (int i = 0; i < BACKENDS && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%-13s %-10s %s\n",
                                 i == 0 ? "solvers" : "", backends[i]->name, backends[i]->help);
    if (used < size)
        snprintf(buffer + used, size - used, "%-13s OpenBLAS, kernel %s (found %s: %s)\n", "BLAS",
                 blas->kernel, blas->found, blas->note);
}
