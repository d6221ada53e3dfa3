/* Symmetric sparse matrix of 3x3 blocks: the upper block triangle by rows.
 *
 * Block row i has the blocks of columns j >= i, ascending; the first is the diagonal block, which
 * is stored whole. The values of block row i are three scalar rows of 3k numbers each, k the number
 * of its blocks. Read by columns that is the lower triangle in compressed columns, so CHOLMOD works
 * on `value` in place (it passes over what lies above the diagonal).
 *
 * Rows are vertex slots of the mesh. A row that no clique names (a free slot) has its diagonal
 * block only; the constraints hold it. */
#ifndef KILN_SOLVE_BSR_H
#define KILN_SOLVE_BSR_H

#include "base/array.h"
#include "geom/vec3.h"

#include <stdbool.h>

/* Sets of rows that are coupled each with each. Either `start` is NULL and each of the `count`
 * cliques has `size` rows, or clique c has the rows row[start[c]] to row[start[c + 1] - 1]. Rows
 * with the number KILN_BSR_NO_ROW are padding. Borrowed. */
#define KILN_BSR_NO_ROW 0xFFFFFFFFu
typedef struct kiln_cliques {
    size_t count;
    uint32_t size;
    const uint64_t *start;
    const uint32_t *row;
} kiln_cliques;

typedef struct kiln_bsr {
    kiln_context *context; /* borrowed */
    size_t rows;           /* block rows */
    uint64_t *start;       /* [rows + 1] first block of a row */
    uint32_t *column;      /* [blocks] */
    double *value;         /* [9 blocks], see above */
    uint64_t pattern;      /* hash of rows, start and column; what an analysis is valid for */
    struct kiln_bsr_spill *spill; /* what multiply needs of the pattern */
} kiln_bsr;

void kiln_bsr_init(kiln_bsr *matrix, kiln_context *context);
void kiln_bsr_free(kiln_bsr *matrix);

/* The pattern with every pair of every clique, values zero. The old one stays on failure; if the
 * pattern is the same as before, only the values change. Same result for any order of the cliques.
 */
kiln_status kiln_bsr_set_pattern(kiln_bsr *matrix, size_t rows, const kiln_cliques *cliques,
                                 size_t clique_sets, kiln_error *error);
void kiln_bsr_clear(kiln_bsr *matrix); /* values to zero */

/* Number of the block (i, j), i <= j; asserts that the pattern has it. */
uint64_t kiln_bsr_find(const kiln_bsr *matrix, uint32_t i, uint32_t j);

/* Blocks of row i and the place of block number `block` in it: entry (r, c) of the block is
 * at[r * stride + c]. */
KILN_INLINE double *kiln_bsr_at(const kiln_bsr *matrix, uint32_t i, uint64_t block, size_t *stride)
{
    uint64_t first = matrix->start[i];
    *stride = 3 * (size_t)(matrix->start[i + 1] - first);
    return matrix->value + 9 * first + 3 * (block - first);
}

/* H(i, j) += b, for any i, j: finds the block and its transpose. For small terms; large ones keep
 * block numbers. */
void kiln_bsr_add(kiln_bsr *matrix, uint32_t i, uint32_t j, const double b[3][3]);

/* y = A x; parallel, same bits for any number of threads. Scratch comes from the context. */
kiln_status kiln_bsr_multiply(const kiln_bsr *matrix, const double *x, double *y,
                              kiln_error *error);

size_t kiln_bsr_bytes(const kiln_bsr *matrix);

#endif
