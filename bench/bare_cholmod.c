#include "bench/bare.h"

#include "solve/blas.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>
#include <time.h>

struct kiln_bare_call {
    cholmod_common common;
    cholmod_sparse *matrix;
    cholmod_dense *right;
    cholmod_factor *factor;
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(kiln_bare_call *bare, const kiln_bsr *m, const double *b)
{
    SuiteSparse_long *p = bare->matrix->p, *index = bare->matrix->i, at = 0;
    double *value = bare->matrix->x;
    for (uint32_t i = 0; i < m->rows; i++)
        for (size_t r = 0; r < 3; r++) {
            p[3 * i + r] = at;
            for (uint64_t k = m->start[i]; k < m->start[i + 1]; k++)
                for (size_t c = 0; c < 3; c++) {
                    size_t stride, row = 3 * (size_t)m->column[k] + c;
                    const double *block = kiln_bsr_at(m, i, k, &stride);
                    if (row < 3 * i + r)
                        continue;
                    index[at] = (SuiteSparse_long)row;
                    value[at++] = block[r * stride + c];
                }
        }
    p[3 * m->rows] = at;
    memcpy(bare->right->x, b, 3 * m->rows * sizeof(double));
}

kiln_bare_call *kiln_bare_start(const kiln_bsr *matrix, const double *b, double *analyse_seconds)
{
    size_t n = 3 * matrix->rows, entries = 9 * (size_t)matrix->start[matrix->rows];
    kiln_bare_call *bare = calloc(1, sizeof *bare);
    if (!bare)
        return NULL;
    kiln_blas_set_threads(1);
    cholmod_l_start(&bare->common);
    bare->common.supernodal = CHOLMOD_SUPERNODAL;
    bare->common.nmethods = 1;
    bare->common.method[0].ordering = CHOLMOD_METIS;
    bare->matrix = cholmod_l_allocate_sparse(n, n, entries, 1, 1, -1, CHOLMOD_REAL, &bare->common);
    bare->right = cholmod_l_zeros(n, 1, CHOLMOD_REAL, &bare->common);
    if (bare->matrix && bare->right) {
        fill(bare, matrix, b);
        double begin = cpu_seconds();
        bare->factor = cholmod_l_analyze(bare->matrix, &bare->common);
        *analyse_seconds = cpu_seconds() - begin;
    }
    if (bare->factor)
        return bare;
    kiln_bare_stop(bare);
    return NULL;
}

double kiln_bare_run(kiln_bare_call *bare)
{
    /* One OpenMP thread, as through kiln_solver: the CPU time of others would not be seen. */
    int levels = kiln_openmp_begin_serial();
    double begin = cpu_seconds();
    cholmod_l_factorize(bare->matrix, bare->factor, &bare->common);
    cholmod_dense *x = cholmod_l_solve(CHOLMOD_A, bare->factor, bare->right, &bare->common);
    double took = cpu_seconds() - begin;
    kiln_openmp_end_serial(levels);
    bool solved = x && bare->common.status == CHOLMOD_OK;
    cholmod_l_free_dense(&x, &bare->common);
    return solved ? took : NAN;
}

void kiln_bare_stop(kiln_bare_call *bare)
{
    if (!bare)
        return;
    cholmod_l_free_factor(&bare->factor, &bare->common);
    cholmod_l_free_sparse(&bare->matrix, &bare->common);
    cholmod_l_free_dense(&bare->right, &bare->common);
    cholmod_l_finish(&bare->common);
    free(bare);
}

bool kiln_bare_metis(const kiln_bsr *matrix, uint32_t *order, double *seconds)
{
    size_t n = matrix->rows, blocks = (size_t)matrix->start[n];
    cholmod_common common;
    cholmod_l_start(&common);
    cholmod_sparse *graph =
        cholmod_l_allocate_sparse(n, n, blocks, 1, 1, -1, CHOLMOD_PATTERN, &common);
    SuiteSparse_long *found = cholmod_l_malloc(n, sizeof *found, &common);
    bool done = graph && found;
    if (done) {
        SuiteSparse_long *p = graph->p, *index = graph->i;
        for (size_t row = 0; row <= n; row++)
            p[row] = (SuiteSparse_long)matrix->start[row];
        for (size_t b = 0; b < blocks; b++)
            index[b] = (SuiteSparse_long)matrix->column[b];
        double begin = cpu_seconds();
        done = cholmod_l_metis(graph, NULL, 0, 1, found, &common);
        *seconds = cpu_seconds() - begin;
    }
    for (size_t i = 0; done && i < n; i++)
        order[i] = (uint32_t)found[i];
    cholmod_l_free_sparse(&graph, &common);
    cholmod_l_free(n, sizeof *found, found, &common);
    cholmod_l_finish(&common);
    return done;
}
