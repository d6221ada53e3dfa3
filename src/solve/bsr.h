/* Symmetric sparse matrix of blocks of n x n, n = 1 (heat), 3 (solids) or 4 (liquids: velocity and
 * pressure): the upper block triangle by rows.
 *
 * Block row i has the blocks of columns j >= i, ascending; the first is the diagonal block, which
 * is stored whole. The values of block row i are n scalar rows of nk numbers each, k the number of
 * its blocks. Read by columns that is the lower triangle in compressed columns, so CHOLMOD works on
 * `value` in place (it passes over what lies above the diagonal).
 *
 * What the rows stand for is the caller's (unknowns.h). A row that no clique names has its diagonal
 * block only. */
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
    kiln_context *context;        /* borrowed */
    uint32_t block;               /* n: 1, 3 or 4 */
    size_t rows;                  /* block rows */
    uint64_t *start;              /* [rows + 1] first block of a row */
    uint32_t *column;             /* [blocks] */
    double *value;                /* [n^2 blocks], see above */
    size_t room;                  /* blocks that `value` could hold */
    bool bare;                    /* a pattern, without values */
    uint64_t pattern;             /* hash of n, rows and columns; what an analysis is valid for */
    struct kiln_bsr_spill *spill; /* what multiply needs of the pattern */
    /* Against the pattern before it, whose hash is `renewed_from` (0: not known): the rows that
     * have other columns than they had, ascending, with those that had none. Places in the other
     * rows are still right. */
    uint64_t renewed_from;
    kiln_u32_array renewed;
} kiln_bsr;

enum { KILN_BSR_MOST = 4 }; /* largest block */

void kiln_bsr_init(kiln_bsr *matrix, kiln_context *context); /* blocks of 3 */
void kiln_bsr_init_blocks(kiln_bsr *matrix, kiln_context *context, uint32_t block);
void kiln_bsr_init_pattern(kiln_bsr *matrix, kiln_context *context, uint32_t block);
void kiln_bsr_free(kiln_bsr *matrix); /* the size of its blocks, and whether it is bare, stay */

/* The pattern with every pair of every clique, values zero. The old one stays on failure; if the
 * pattern is the same as before, only the values change. Same result for any order of the cliques.
 */
kiln_status kiln_bsr_set_pattern(kiln_bsr *matrix, size_t rows, const kiln_cliques *cliques,
                                 size_t clique_sets, kiln_error *error);
/* The same with the couplings of the pattern `under`, of as many rows, besides. */
kiln_status kiln_bsr_set_pattern_over(kiln_bsr *matrix, const kiln_bsr *under,
                                      const kiln_cliques *cliques, size_t clique_sets,
                                      kiln_error *error);
/* set_pattern after a change that was local: `changed` are, ascending, the rows whose cliques are
 * not those of the pattern there is, by the numbers of their rows; of the rows from the old number
 * of rows on all are. Of the cliques only those with such a row are needed. Other rows keep their
 * blocks, and with them the places of blocks in their row. The result is that of set_pattern with
 * all cliques, bit for bit, but the values are not defined until they are cleared. */
kiln_status kiln_bsr_renew_pattern(kiln_bsr *matrix, size_t rows, const kiln_cliques *cliques,
                                   size_t clique_sets, const uint32_t *changed,
                                   size_t changed_count, kiln_error *error);
void kiln_bsr_clear(kiln_bsr *matrix); /* values to zero */

/* Number of the block (i, j), i <= j; asserts that the pattern has it. */
uint64_t kiln_bsr_find(const kiln_bsr *matrix, uint32_t i, uint32_t j);

/* Where block number `block` of row i is: entry (r, c) is at[r * stride + c]. */
KILN_INLINE double *kiln_bsr_place(const kiln_bsr *matrix, uint32_t n, uint32_t i, uint64_t block,
                                   size_t *stride)
{
    uint64_t first = matrix->start[i];
    *stride = n * (size_t)(matrix->start[i + 1] - first);
    return matrix->value + (size_t)n * n * first + n * (block - first);
}

/* For blocks of 3, with that number in the code. */
KILN_INLINE double *kiln_bsr_at(const kiln_bsr *matrix, uint32_t i, uint64_t block, size_t *stride)
{
    return kiln_bsr_place(matrix, 3, i, block, stride);
}

/* H(i, j) += b, for any i, j: finds the block and its transpose. For small terms; large ones keep
 * block numbers. The first is for blocks of 3; in the second b is [n][n]. */
void kiln_bsr_add(kiln_bsr *matrix, uint32_t i, uint32_t j, const double b[3][3]);
void kiln_bsr_add_block(kiln_bsr *matrix, uint32_t i, uint32_t j, const double *b);

/* The diagonal block of a row, [n][n]. */
void kiln_bsr_diagonal(const kiln_bsr *matrix, uint32_t row, double *out);
/* Sums of absolute values along the scalar rows, [rows][n]. */
void kiln_bsr_row_sums(const kiln_bsr *matrix, double *sum);

/* y = A x; parallel, same bits for any number of threads. Scratch comes from the context. */
kiln_status kiln_bsr_multiply(const kiln_bsr *matrix, const double *x, double *y,
                              kiln_error *error);

/* Rows that are coupled, by more than a place in the pattern, have one number: part [row], in the
 * order of their first rows. `held` [row], unless NULL, has bits for components: rows that cannot
 * move at all (those of walls) then have 0 together, and the others' begin at 1. Returns how many
 * numbers there are. */
size_t kiln_bsr_number_parts(const kiln_bsr *matrix, const uint8_t *held, uint32_t *part);

size_t kiln_bsr_bytes(const kiln_bsr *matrix);

#endif
