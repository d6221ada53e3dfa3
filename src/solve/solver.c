#include "solve/solver.h"

#include "base/clock.h"
#include "solve/blas.h"
#include "solve/solver_backend.h"
#include "solve/vectors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Built in, in the order they are listed; the first is the direct one that auto takes. */
static const kiln_solver_backend *const backends[] = {
    &kiln_solver_multifrontal, &KILN_SOLVER_DIRECT, &kiln_solver_pcg_ic, &kiln_solver_pcg_jacobi};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

/* What auto weighs. Direct: so many operations of the BLAS, whose rate is the unit of cost. An
 * iteration: what it costs per block of the matrix (about 15 ns beside 30 GF/s). Iterating must
 * promise to be several times cheaper, because how many iterations it takes is not known before
 * and a factor also serves the next right sides. */
enum { ITERATION_COST = 450, USUAL_ITERATIONS = 400, ADVANTAGE = 4 };

struct kiln_solver {
    kiln_context *context;
    kiln_solver_options options;
    const kiln_solver_backend *asked; /* NULL: auto */
    const kiln_solver_backend *backend;
    double iteration_cost;
    double memory;          /* bytes a factor may take */
    bool direct_fits;       /* auto: the factor fits in memory, should the iteration fail */
    void *self[BACKENDS];   /* created when first used */
    const kiln_bsr *matrix; /* borrowed; NULL: no factor */
    uint64_t pattern;       /* analysed for */
    bool analysed;
    bool turned;       /* to the factor, from the iteration auto chose */
    bool direct_ready; /* turned before: the direct one knows the pattern */
    bool gave_way;     /* the factor auto chose did not fit */
    kiln_solver_report report;
    kiln_solver_report chosen, known; /* from before it was turned; of the direct analysis */
    const kiln_solver_ground *ground; /* borrowed */
    kiln_solver_aside *aside;         /* borrowed */
    bool single;                      /* factors may be */
};

kiln_solver_options kiln_solver_default_options(void)
{
    return (kiln_solver_options){.backend = "auto",
                                 .tolerance = 1e-10,
                                 .max_iterations = 5000,
                                 .blas_threads = 1,
                                 .precision = "mixed"};
}

static kiln_status refuse_backend(const char *name, kiln_error *error)
{
    char known[128] = "auto";
    for (int i = 0; i < BACKENDS; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", backends[i]->name);
    }
    bool other = strcmp(name, "cholmod") == 0 || strcmp(name, "mumps") == 0;
    if (other)
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, "solver", 0, -1,
                         "'%s' is not in this build (make SOLVER=%s), which has %s", name, name,
                         known);
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
    if (used.quasidefinite)
        chosen = backends[0];
    kiln_solver *solver = kiln_resize(context, NULL, 0, sizeof *solver);
    if (!solver)
        return kiln_fail_memory(error, sizeof *solver);
    *solver = (kiln_solver){
        .context = context, .options = used, .asked = chosen, .iteration_cost = ITERATION_COST};
    solver->memory = used.memory ? (double)used.memory : 0.5 * kiln_machine_memory();
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
    solver->analysed = solver->turned = solver->direct_ready = solver->gave_way = false;
    solver->matrix = NULL;
}

void kiln_solver_set_ground(kiln_solver *solver, const kiln_solver_ground *ground)
{
    solver->ground = ground;
}

void kiln_solver_set_aside(kiln_solver *solver, kiln_solver_aside *aside)
{
    solver->aside = aside;
}

bool kiln_solver_set_single(kiln_solver *solver, bool single)
{
    const char *precision = solver->options.precision;
    solver->single = single && (!precision || strcmp(precision, "double") != 0);
    return solver->single;
}

void kiln_solver_reconsider(kiln_solver *solver)
{
    for (int i = 0; i < BACKENDS; i++) {
        if (!solver->self[i] || !backends[i]->reconsider ||
            backends[i]->reconsider(solver->self[i]))
            continue;
        solver->direct_ready = false;
        if (solver->backend == backends[i])
            solver->analysed = false;
    }
    if (solver->gave_way)
        solver->analysed = false;
    if (solver->turned) {
        solver->backend = &kiln_solver_pcg_ic;
        solver->report = solver->chosen;
        solver->direct_fits = true;
    }
    if (solver->gave_way || solver->turned)
        solver->matrix = NULL;
    solver->gave_way = solver->turned = false;
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
    if (backend->set_ground)
        backend->set_ground(*self, solver->ground);
    if (backend->set_aside)
        backend->set_aside(*self, solver->aside);
    if (backend->set_single)
        backend->set_single(*self, solver->single);
    double begin = kiln_wall_seconds();
    kiln_status status = backend->analyse(*self, matrix, &solver->report, error);
    solver->report.analyse_seconds += kiln_wall_seconds() - begin;
    solver->report.backend = backend->name;
    solver->report.direct = backend->direct;
    solver->report.single = false;
    solver->backend = backend;
    return status;
}

void kiln_solver_weigh(kiln_solver *solver, double iteration_cost)
{
    solver->iteration_cost = iteration_cost;
}

/* Of a product, in blocks of 3. */
static double work_of(const kiln_bsr *matrix)
{
    return (double)matrix->start[matrix->rows] * matrix->block * matrix->block / 9.0;
}

static kiln_status iterate_because(kiln_solver *solver, const kiln_bsr *matrix, const char *reason,
                                   kiln_error *error)
{
    kiln_solver_report *report = &solver->report;
    double flops = report->factor_flops, blocks = work_of(matrix);
    /* No more iterations than the factor would have cost, if there is that way out. */
    kiln_solver_options limited = solver->options;
    if (solver->direct_fits && flops / (solver->iteration_cost * blocks) < limited.max_iterations)
        limited.max_iterations = (int)(flops / (solver->iteration_cost * blocks)) + 1;
    int number = number_of(&kiln_solver_pcg_ic);
    if (solver->self[number])
        kiln_solver_pcg_ic.destroy(solver->self[number]);
    solver->self[number] = NULL;
    report->reason = reason;
    KILN_TRY(kiln_solver_pcg_ic.create(solver->context, &limited, &solver->self[number], error));
    return analyse_with(solver, &kiln_solver_pcg_ic, matrix, error);
}

/* In three dimensions nested dissection fills 15 to 30 n^(4/3) entries: no analysis is needed to
 * refuse what is far beyond the limit. */
static bool is_far_too_large(const kiln_solver *solver, const kiln_bsr *matrix)
{
    double n = matrix->block * (double)matrix->rows;
    return 8.0 * 5.0 * pow(n, 4.0 / 3.0) > solver->memory && n > 3e5;
}

/* There is no iteration to give way to. */
static kiln_status analyse_within_memory(kiln_solver *solver, const kiln_bsr *matrix,
                                         kiln_error *error)
{
    if (is_far_too_large(solver, matrix))
        return kiln_fail_memory(error, (size_t)solver->memory);
    KILN_TRY(analyse_with(solver, solver->asked, matrix, error));
    if ((double)solver->report.bytes <= solver->memory)
        return KILN_OK;
    size_t bytes = solver->report.bytes;
    solver->asked->forget(solver->self[number_of(solver->asked)]);
    return kiln_fail_memory(error, bytes);
}

/* The choice depends on the pattern and on the memory allowed only. */
static kiln_status choose(kiln_solver *solver, const kiln_bsr *matrix, kiln_error *error)
{
    kiln_solver_report *report = &solver->report;
    const kiln_solver_backend *direct = backends[0];
    double allowed = solver->memory;
    double blocks = work_of(matrix);
    solver->direct_fits = false;
    if (is_far_too_large(solver, matrix))
        return iterate_because(solver, matrix, "a factor would not fit in memory", error);
    kiln_error trouble;
    kiln_status status = analyse_with(solver, direct, matrix, &trouble);
    if (status == KILN_ERR_MEMORY && solver->self[0]) {
        direct->forget(solver->self[0]);
        return iterate_because(solver, matrix, "the analysis did not fit in memory", error);
    }
    if (status != KILN_OK) {
        if (error)
            *error = trouble;
        return status;
    }
    const char *reason = "the factor fits in memory and is cheap enough";
    if ((double)report->bytes > allowed)
        reason = "the factor would not fit in memory";
    else if (report->factor_flops >
             (double)ADVANTAGE * USUAL_ITERATIONS * solver->iteration_cost * blocks)
        reason = "iterating should be much cheaper than a factor";
    else {
        report->reason = reason;
        return KILN_OK;
    }
    solver->direct_fits = (double)report->bytes <= allowed;
    direct->forget(solver->self[0]);
    return iterate_because(solver, matrix, reason, error);
}

static kiln_status analyse(kiln_solver *solver, const kiln_bsr *matrix, kiln_error *error)
{
    solver->analysed = solver->turned = solver->direct_ready = solver->gave_way = false;
    solver->report.reason = "asked for";
    KILN_TRY(solver->options.quasidefinite ? analyse_within_memory(solver, matrix, error)
             : solver->asked               ? analyse_with(solver, solver->asked, matrix, error)
                                           : choose(solver, matrix, error));
    solver->analysed = true;
    solver->pattern = matrix->pattern;
    return KILN_OK;
}

static kiln_status factor_with(kiln_solver *solver, const kiln_bsr *matrix,
                               kiln_solve_outcome *outcome, kiln_error *error)
{
    double begin = kiln_wall_seconds();
    void *self = solver->self[number_of(solver->backend)];
    if (solver->backend->set_single)
        solver->backend->set_single(self, solver->single);
    kiln_status status = solver->backend->factor(self, matrix, &solver->report, outcome, error);
    solver->report.factor_seconds = kiln_wall_seconds() - begin;
    return status;
}

kiln_status kiln_solver_factor(kiln_solver *solver, const kiln_bsr *matrix,
                               kiln_solve_outcome *outcome, kiln_error *error)
{
    kiln_solver_report *report = &solver->report;
    solver->matrix = NULL;
    report->iterations = 0;
    report->residual = report->analyse_seconds = 0.0;
    report->analysed = !solver->analysed || solver->pattern != matrix->pattern;
    if (report->analysed)
        KILN_TRY(analyse(solver, matrix, error));
    /* LAPACK lets a NaN pass for a positive pivot. */
    *outcome = KILN_SOLVE_NOT_FINITE;
    size_t entries = (size_t)matrix->start[matrix->rows] * matrix->block * matrix->block;
    if (!kiln_vector_is_finite(solver->context, matrix->value, entries))
        return KILN_OK;
    kiln_status status = factor_with(solver, matrix, outcome, error);
    if (status == KILN_ERR_MEMORY && !solver->asked && solver->backend->direct) {
        solver->backend->forget(solver->self[0]);
        solver->gave_way = true;
        KILN_TRY(iterate_because(solver, matrix, "the factor did not fit in memory", error));
        status = factor_with(solver, matrix, outcome, error);
    }
    KILN_TRY(status);
    if (*outcome == KILN_SOLVE_OK)
        solver->matrix = matrix;
    return KILN_OK;
}

static void use_known_analysis(kiln_solver *solver)
{
    kiln_solver_report *report = &solver->report, *known = &solver->known;
    solver->backend = backends[0];
    report->backend = known->backend;
    report->direct = known->direct;
    report->factor_entries = known->factor_entries;
    report->factor_flops = known->factor_flops;
    report->bytes = known->bytes;
}

/* The iteration auto chose takes too long: the factor after all, until it is reconsidered. Leaves
 * the outcome STALLED and no matrix when there is no memory for it. */
static kiln_status turn_direct(kiln_solver *solver, kiln_solve_outcome *outcome, kiln_error *error)
{
    const kiln_bsr *matrix = solver->matrix;
    int iterations = solver->report.iterations;
    solver->matrix = NULL;
    solver->direct_fits = false;
    solver->turned = true;
    solver->chosen = solver->report;
    kiln_status status = KILN_OK;
    if (solver->direct_ready)
        use_known_analysis(solver);
    else
        status = analyse_with(solver, backends[0], matrix, error);
    solver->report.reason = "the iteration took as long as a factor";
    solver->known = solver->report;
    if (status == KILN_OK)
        status = factor_with(solver, matrix, outcome, error);
    solver->direct_ready = status == KILN_OK;
    if (status != KILN_OK) {
        solver->analysed = solver->turned = false;
        if (status != KILN_ERR_MEMORY)
            return status;
        if (solver->self[0])
            backends[0]->forget(solver->self[0]);
        *outcome = KILN_SOLVE_STALLED;
        return KILN_OK;
    }
    solver->report.iterations = iterations;
    if (*outcome == KILN_SOLVE_OK)
        solver->matrix = matrix;
    return KILN_OK;
}

kiln_status kiln_solver_solve(kiln_solver *solver, const double *b, double *x,
                              kiln_solve_outcome *outcome, kiln_error *error)
{
    if (!solver->matrix)
        return kiln_fail(error, KILN_ERR_STATE, "solver", 0, -1,
                         "there is no factor to solve with");
    double begin = kiln_wall_seconds();
    size_t n = solver->matrix->block * solver->matrix->rows;
    /* Should it be turned direct, b is needed once more. */
    double *kept = NULL;
    if (solver->direct_fits && x == b && n) {
        kept = kiln_resize(solver->context, NULL, 0, n * sizeof *kept);
        if (!kept)
            return kiln_fail_memory(error, n * sizeof *kept);
        memcpy(kept, b, n * sizeof *kept);
        b = kept;
    }
    kiln_status status =
        solver->backend->solve(solver->self[number_of(solver->backend)], solver->matrix, b, x,
                               &solver->report, outcome, error);
    if (status == KILN_OK && *outcome == KILN_SOLVE_STALLED && solver->direct_fits) {
        status = turn_direct(solver, outcome, error);
        if (status == KILN_OK && *outcome == KILN_SOLVE_OK)
            status = solver->backend->solve(solver->self[0], solver->matrix, b, x, &solver->report,
                                            outcome, error);
    }
    kiln_release(solver->context, kept, n * sizeof *kept);
    KILN_TRY(status);
    solver->report.solve_seconds = kiln_wall_seconds() - begin;
    if (*outcome == KILN_SOLVE_OK && !kiln_vector_is_finite(solver->context, x, n))
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
