/* CHOLMOD, supernodal, on the values of kiln_bsr in place.
 *
 * The ordering is METIS's nested dissection of the graph of blocks, which for blocks of 3 is a
 * ninth of the scalar graph and gives the same fill. CHOLMOD allocates with malloc: its interface
 * has one allocator per process. */
#include "solve/blas.h"
#include "solve/solver_backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

typedef SuiteSparse_long index_t;

typedef struct cholmod_self {
    kiln_context *context;
    int blas_threads;
    cholmod_common common;
    cholmod_sparse *matrix; /* scalar indices; the values are the caller's */
    cholmod_factor *factor;
    cholmod_dense *y, *e, *x; /* kept between solves */
    size_t unknowns;
} cholmod_self;

static kiln_status create(kiln_context *context, const kiln_solver_options *options, void **self,
                          kiln_error *error)
{
    KILN_TRY(kiln_blas_reserve(error));
    cholmod_self *s = kiln_resize(context, NULL, 0, sizeof *s);
    if (!s)
        return kiln_fail_memory(error, sizeof *s);
    memset(s, 0, sizeof *s);
    s->context = context;
    s->blas_threads = options->blas_threads;
    cholmod_l_start(&s->common);
    s->common.print = 0;
    s->common.error_handler = NULL;
    s->common.try_catch = 1; /* no messages */
    s->common.supernodal = CHOLMOD_SUPERNODAL;
    s->common.final_ll = 1;
    s->common.quick_return_if_not_posdef = 1;
    s->common.useGPU = 0;
    *self = s;
    return KILN_OK;
}

static void forget(void *self)
{
    cholmod_self *s = self;
    if (s->matrix)
        s->matrix->x = NULL; /* borrowed */
    cholmod_l_free_sparse(&s->matrix, &s->common);
    cholmod_l_free_factor(&s->factor, &s->common);
    cholmod_l_free_dense(&s->y, &s->common);
    cholmod_l_free_dense(&s->e, &s->common);
    cholmod_l_free_dense(&s->x, &s->common);
    s->unknowns = 0;
}

static void destroy(void *self)
{
    cholmod_self *s = self;
    forget(s);
    cholmod_l_finish(&s->common);
    kiln_release(s->context, s, sizeof *s);
}

static kiln_status cholmod_failure(const cholmod_self *s, kiln_error *error)
{
    if (s->common.status == CHOLMOD_OUT_OF_MEMORY || s->common.status == CHOLMOD_TOO_LARGE)
        return kiln_fail(error, KILN_ERR_MEMORY, NULL, 0, -1,
                         "the factor of %zu unknowns does not fit in memory", s->unknowns);
    return kiln_fail(error, KILN_ERR_NUMERIC, NULL, 0, -1, "CHOLMOD failed with status %d",
                     s->common.status);
}

/* Read by columns, block row i is the columns ni to ni+n-1 of the lower triangle (and what is above
 * the diagonal in the diagonal block, which CHOLMOD passes over). */
static void fill_scalar_indices(cholmod_sparse *out, const kiln_bsr *matrix)
{
    index_t *p = out->p, *index = out->i, n = (index_t)matrix->block, at = 0;
    for (size_t row = 0; row < matrix->rows; row++)
        for (index_t r = 0; r < n; r++) {
            *p++ = at;
            for (uint64_t b = matrix->start[row]; b < matrix->start[row + 1]; b++)
                for (index_t c = 0; c < n; c++)
                    index[at++] = n * (index_t)matrix->column[b] + c;
        }
    *p = at;
}

/* Permutation of the scalars by nested dissection of the blocks. */
static index_t *order_blocks(cholmod_self *s, const kiln_bsr *matrix)
{
    size_t n = matrix->rows, blocks = (size_t)matrix->start[n];
    cholmod_common *common = &s->common;
    cholmod_sparse *graph =
        cholmod_l_allocate_sparse(n, n, blocks, 1, 1, -1, CHOLMOD_PATTERN, common);
    index_t *order = cholmod_l_malloc(n, sizeof *order, common);
    size_t size = matrix->block;
    index_t *scalar = cholmod_l_malloc(size * n, sizeof *scalar, common);
    bool done = false;
    if (graph && order && scalar) {
        index_t *p = graph->p, *index = graph->i;
        for (size_t row = 0; row <= n; row++)
            p[row] = (index_t)matrix->start[row];
        for (size_t b = 0; b < blocks; b++)
            index[b] = (index_t)matrix->column[b];
        done = cholmod_l_metis(graph, NULL, 0, 1, order, common);
        for (size_t k = 0; done && k < size * n; k++)
            scalar[k] = (index_t)size * order[k / size] + (index_t)(k % size);
    }
    cholmod_l_free_sparse(&graph, common);
    cholmod_l_free(n, sizeof *order, order, common);
    if (!done) {
        cholmod_l_free(size * n, sizeof *scalar, scalar, common);
        return NULL;
    }
    return scalar;
}

static kiln_status analyse(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                           kiln_error *error)
{
    cholmod_self *s = self;
    forget(s);
    size_t n = matrix->block * matrix->rows;
    size_t entries = (size_t)matrix->block * matrix->block * (size_t)matrix->start[matrix->rows];
    s->unknowns = n;
    s->matrix = cholmod_l_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_PATTERN, &s->common);
    if (!s->matrix)
        return cholmod_failure(s, error);
    fill_scalar_indices(s->matrix, matrix);
    index_t *order = order_blocks(s, matrix);
    if (!order)
        return cholmod_failure(s, error);
    s->common.nmethods = 1;
    s->common.method[0].ordering = CHOLMOD_GIVEN;
    s->common.postorder = 1;
    s->factor = cholmod_l_analyze_p(s->matrix, order, NULL, 0, &s->common);
    cholmod_l_free(n, sizeof *order, order, &s->common);
    if (!s->factor)
        return cholmod_failure(s, error);
    report->factor_entries = s->common.lnz;
    report->factor_flops = s->common.fl;
    report->bytes = (s->factor->xsize + s->factor->ssize) * 8 + entries * sizeof(index_t);
    return KILN_OK;
}

static kiln_status factor(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                          kiln_solve_outcome *outcome, kiln_error *error)
{
    (void)report;
    cholmod_self *s = self;
    s->matrix->x = matrix->value;
    s->matrix->xtype = CHOLMOD_REAL;
    kiln_blas_set_threads(s->blas_threads);
    int levels = kiln_openmp_begin_serial();
    cholmod_l_factorize(s->matrix, s->factor, &s->common);
    kiln_openmp_end_serial(levels);
    s->matrix->x = NULL;
    s->matrix->xtype = CHOLMOD_PATTERN;
    *outcome = KILN_SOLVE_OK;
    if (s->common.status == CHOLMOD_NOT_POSDEF || s->factor->minor < s->factor->n)
        *outcome = KILN_SOLVE_NOT_POSITIVE;
    else if (s->common.status != CHOLMOD_OK && s->common.status != CHOLMOD_DSMALL)
        return cholmod_failure(s, error);
    return KILN_OK;
}

static kiln_status solve(void *self, const kiln_bsr *matrix, const double *b, double *x,
                         kiln_solver_report *report, kiln_solve_outcome *outcome, kiln_error *error)
{
    (void)report;
    cholmod_self *s = self;
    size_t n = matrix->block * matrix->rows;
    cholmod_dense right = {
        .nrow = n, .ncol = 1, .nzmax = n, .d = n, .xtype = CHOLMOD_REAL, .dtype = CHOLMOD_DOUBLE};
    /* CHOLMOD's interface has no const; it reads the right side only. */
    memcpy(&right.x, &b, sizeof b);
    kiln_blas_set_threads(s->blas_threads);
    int levels = kiln_openmp_begin_serial();
    int solved =
        cholmod_l_solve2(CHOLMOD_A, s->factor, &right, NULL, &s->x, NULL, &s->y, &s->e, &s->common);
    kiln_openmp_end_serial(levels);
    if (!solved)
        return cholmod_failure(s, error);
    memcpy(x, s->x->x, n * sizeof(double));
    *outcome = KILN_SOLVE_OK;
    return KILN_OK;
}

const kiln_solver_backend kiln_solver_cholmod = {
    .name = "cholmod",
    .help = "supernodal Cholesky factor (CHOLMOD, METIS ordering)",
    .direct = true,
    .create = create,
    .destroy = destroy,
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .forget = forget};
