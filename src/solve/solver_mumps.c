/* MUMPS, sequential: the direct back end of builds without CHOLMOD's GPL parts
 * (cmake -DKILN_SOLVER=mumps). It allocates with Fortran's allocator and wants the lower triangle
 * as a list of entries, so values are copied before each factorisation. */
#include "solve/blas.h"
#include "solve/solver_backend.h"

#include <dmumps_c.h>
#include <string.h>

/* MUMPS's manual counts from 1. */
#define CONTROL(s, k) ((s)->id.icntl[(k)-1])
#define INFO(s, k)    ((s)->id.infog[(k)-1])

enum {
    JOB_BEGIN = -1,
    JOB_END = -2,
    JOB_ANALYSE = 1,
    JOB_FACTOR = 2,
    JOB_SOLVE = 3,
    WORLD = -987654, /* the communicator */
    PORD = 4,
    PIVOT_ZERO = -10,
    WORKSPACE_SMALL = -9,
    MOST_RETRIES = 5
};

typedef struct mumps_self {
    kiln_context *context;
    int blas_threads;
    bool begun;
    DMUMPS_STRUC_C id;
    size_t entries;
    MUMPS_INT *row, *column; /* [entries] */
    double *value;
} mumps_self;

static void call(mumps_self *s, int job)
{
    kiln_blas_set_threads(s->blas_threads);
    int levels = kiln_openmp_begin_serial();
    s->id.job = job;
    dmumps_c(&s->id);
    kiln_openmp_end_serial(levels);
}

static kiln_status create(kiln_context *context, const kiln_solver_options *options, void **self,
                          kiln_error *error)
{
    KILN_TRY(kiln_blas_reserve(error));
    mumps_self *s = kiln_resize(context, NULL, 0, sizeof *s);
    if (!s)
        return kiln_fail_memory(error, sizeof *s);
    memset(s, 0, sizeof *s);
    s->context = context;
    s->blas_threads = options->blas_threads;
    *self = s;
    return KILN_OK;
}

static void forget(void *self)
{
    mumps_self *s = self;
    if (s->begun)
        call(s, JOB_END);
    s->begun = false;
    kiln_release(s->context, s->row, s->entries * sizeof *s->row);
    kiln_release(s->context, s->column, s->entries * sizeof *s->column);
    kiln_release(s->context, s->value, s->entries * sizeof *s->value);
    s->row = s->column = NULL;
    s->value = NULL;
    s->entries = 0;
}

static void destroy(void *self)
{
    mumps_self *s = self;
    forget(s);
    kiln_release(s->context, s, sizeof *s);
}

static kiln_status mumps_failure(const mumps_self *s, kiln_error *error)
{
    int code = INFO(s, 1);
    /* -7 and -13: an allocation failed; -8, -9, -11 ...: its own workspace was too small. */
    bool memory = code == -7 || code == -13 || code == -8 || code == WORKSPACE_SMALL || code == -11;
    return kiln_fail(error, memory ? KILN_ERR_MEMORY : KILN_ERR_NUMERIC, NULL, 0, -1,
                     "MUMPS failed with INFOG(1) = %d", code);
}

/* Entries of the lower triangle, in the order of the blocks; `value` may be NULL: indices only. */
static void fill_entries(mumps_self *s, const kiln_bsr *matrix, bool indices)
{
    size_t at = 0;
    uint32_t n = matrix->block;
    for (uint32_t i = 0; i < matrix->rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            size_t stride;
            uint32_t j = matrix->column[b];
            const double *block = kiln_bsr_place(matrix, n, i, b, &stride);
            for (uint32_t r = 0; r < n; r++)
                for (uint32_t c = i == j ? r : 0; c < n; c++, at++) {
                    s->value[at] = block[r * stride + c];
                    if (indices) {
                        s->row[at] = (MUMPS_INT)(n * j + c + 1);
                        s->column[at] = (MUMPS_INT)(n * i + r + 1);
                    }
                }
        }
}

static kiln_status analyse(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                           kiln_error *error)
{
    mumps_self *s = self;
    forget(s);
    size_t n = matrix->block * matrix->rows;
    if (n >= INT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "too many unknowns for MUMPS");
    s->entries = (size_t)matrix->block * matrix->block * (size_t)matrix->start[matrix->rows] -
                 n * (matrix->block - 1) / 2;
    s->row = kiln_resize(s->context, NULL, 0, s->entries * sizeof *s->row);
    s->column = kiln_resize(s->context, NULL, 0, s->entries * sizeof *s->column);
    s->value = kiln_resize(s->context, NULL, 0, s->entries * sizeof *s->value);
    if (!s->row || !s->column || !s->value)
        return kiln_fail_memory(error, s->entries * sizeof *s->value);
    fill_entries(s, matrix, true);
    s->id.comm_fortran = WORLD;
    s->id.par = 1;
    s->id.sym = 1; /* positive definite */
    call(s, JOB_BEGIN);
    s->begun = true;
    for (int k = 1; k <= 3; k++)
        CONTROL(s, k) = -1; /* no messages */
    CONTROL(s, 4) = 0;
    CONTROL(s, 7) = PORD; /* Scotch, the other good one, gives another order each time */
    CONTROL(s, 13) = 1;   /* no parallel root, where negative pivots would be an error */
    CONTROL(s, 14) = 30;
    s->id.n = (MUMPS_INT)n;
    s->id.nnz = (MUMPS_INT8)s->entries;
    s->id.irn = s->row;
    s->id.jcn = s->column;
    s->id.a = s->value;
    call(s, JOB_ANALYSE);
    if (INFO(s, 1) < 0)
        return mumps_failure(s, error);
    report->factor_flops = s->id.rinfog[0];
    /* Entries beyond 2^31 are given in millions, with a minus. */
    report->factor_entries = INFO(s, 3) < 0 ? -1e6 * INFO(s, 3) : (double)INFO(s, 3);
    report->bytes = (size_t)INFO(s, 17) * 1000000 + s->entries * 16;
    return KILN_OK;
}

static kiln_status factor(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                          kiln_solve_outcome *outcome, kiln_error *error)
{
    (void)report;
    mumps_self *s = self;
    fill_entries(s, matrix, false);
    call(s, JOB_FACTOR);
    for (int i = 0; i < MOST_RETRIES && (INFO(s, 1) == -8 || INFO(s, 1) == WORKSPACE_SMALL); i++) {
        CONTROL(s, 14) *= 2;
        call(s, JOB_FACTOR);
    }
    *outcome = KILN_SOLVE_OK;
    if (INFO(s, 1) == PIVOT_ZERO || (INFO(s, 1) >= 0 && INFO(s, 12) > 0))
        *outcome = KILN_SOLVE_NOT_POSITIVE;
    else if (INFO(s, 1) < 0)
        return mumps_failure(s, error);
    return KILN_OK;
}

static kiln_status solve(void *self, const kiln_bsr *matrix, const double *b, double *x,
                         kiln_solver_report *report, kiln_solve_outcome *outcome, kiln_error *error)
{
    (void)report;
    mumps_self *s = self;
    memmove(x, b, matrix->block * matrix->rows * sizeof *x);
    s->id.rhs = x;
    s->id.nrhs = 1;
    s->id.lrhs = s->id.n;
    call(s, JOB_SOLVE);
    s->id.rhs = NULL;
    if (INFO(s, 1) < 0)
        return mumps_failure(s, error);
    *outcome = KILN_SOLVE_OK;
    return KILN_OK;
}

const kiln_solver_backend kiln_solver_mumps = {.name = "mumps",
                                               .help = "multifrontal factor (MUMPS, PORD ordering)",
                                               .direct = true,
                                               .create = create,
                                               .destroy = destroy,
                                               .analyse = analyse,
                                               .factor = factor,
                                               .solve = solve,
                                               .forget = forget};
