/* Incomplete Cholesky factor U' D U of a block matrix, U with unit diagonal and the pattern of the
 * matrix: a preconditioner.
 *
 * Rows are taken in reverse Cuthill-McKee order, cut into parts of equal length. Rows coupled with
 * a later part go behind all others ("separators"), so that the parts do not touch each other and
 * are swept in parallel; parts depend on the pattern only. U is kept in single precision: it is
 * read once forth and once back per iteration, and memory is what that costs. Sums are in double.
 */
#ifndef KILN_SOLVE_BLOCK_IC_H
#define KILN_SOLVE_BLOCK_IC_H

#include "solve/bsr.h"

enum { KILN_IC_PARTS = 8 };

typedef struct kiln_block_ic {
    kiln_context *context;
    size_t n; /* size of a block */
    size_t rows, blocks, separators_begin;
    size_t part_begin[KILN_IC_PARTS + 1]; /* rows of the parts, without separators */
    uint32_t *order;                      /* [rows] row of the matrix at a place */
    uint64_t *start;                      /* [rows + 1] blocks behind the diagonal, by place */
    uint32_t *column;                     /* [blocks] places, ascending */
    uint32_t *source;                     /* [blocks] block of the matrix; top bit: transposed */
    float *value;                         /* [blocks][n][n] and padding */
    double *inverse;                      /* [rows][n][n] of D */
    double *work;                         /* [rows][n], by place */
    double *spilled;                      /* [KILN_IC_PARTS][separators][n] */
    double shift;                         /* multiple of the diagonal that was added */
} kiln_block_ic;

void kiln_block_ic_init(kiln_block_ic *ic, kiln_context *context);
void kiln_block_ic_free(kiln_block_ic *ic);
size_t kiln_block_ic_bytes(const kiln_block_ic *ic);

kiln_status kiln_block_ic_analyse(kiln_block_ic *ic, const kiln_bsr *matrix, kiln_error *error);
/* Where a pivot is not positive, begins again with a growing multiple of the diagonal added.
 * `positive` is false when a diagonal block of the matrix itself is not positive definite. */
kiln_status kiln_block_ic_factor(kiln_block_ic *ic, const kiln_bsr *matrix, bool *positive,
                                 kiln_error *error);
/* z = (U' D U)^-1 r; parallel, same bits for any number of threads. */
void kiln_block_ic_apply(kiln_block_ic *ic, const double *r, double *z);

/* Places of one part, or of none; what goes to separators from the parts before them is taken off
 * `spilled`. */
typedef struct kiln_ic_range {
    size_t begin, end;
    double *spilled;
} kiln_ic_range;

/* Two parts at once: y_j -= U_kj' y_k, forth through their places, in place. */
KILN_SIMD_DECLARE(void, kiln_block_ic_forward, const kiln_block_ic *ic, const kiln_ic_range pair[2],
                  double *y);
/* y_k = D_k^-1 y_k - U_kj y_j, back through the places. */
KILN_SIMD_DECLARE(void, kiln_block_ic_backward, const kiln_block_ic *ic,
                  const kiln_ic_range pair[2], double *y);

/* Inverse of a symmetric n x n matrix, n at most KILN_BSR_MOST; false when it is not positive
 * definite: some pivot is below `least` times the diagonal entry it comes from. */
bool kiln_invert_positive(size_t n, const double *a, double least, double *inverse);

#endif
