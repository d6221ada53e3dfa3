/* A front of the multifrontal factorisation: the columns that are eliminated together, and the part
 * of the matrix that they change.
 *
 * Rows are kept in strips of eight: the numbers of a strip stand column by column, eight to a
 * column. So a tile of 8 x 8 is contiguous, what is multiplied with it lies one behind the other,
 * and nothing has to be packed. L has `columns` (a multiple of 8, filled up with those of the unit
 * matrix) and as many strips as the front has; its first strips are the triangle, whose tiles on
 * the diagonal hold the inverse of what L has there (so that nothing waits for a substitution), and
 * above it nothing that counts. U, what is left for the parent, is the triangle below: strip t has
 * the columns 0 to 8t + 7.
 *
 * Every tile is the sum of the same products in the same order however the work is divided. */
#ifndef KILN_SOLVE_FRONT_H
#define KILN_SOLVE_FRONT_H

#include "base/simd.h"

#include <stddef.h>

enum { KILN_STRIP = 8, KILN_PANEL = 16 /* column blocks eliminated at a time */ };

typedef struct kiln_front {
    void *L, *U;    /* of the kernels' numbers */
    size_t columns; /* of L, a multiple of 8 */
    size_t strips;  /* of L and U: columns / 8, then those of U */
} kiln_front;

KILN_INLINE size_t kiln_strips_of(size_t rows)
{
    return (rows + KILN_STRIP - 1) / KILN_STRIP;
}

/* Where strip t of U begins, and with t their number how long it is. */
KILN_INLINE size_t kiln_front_triangle(size_t t)
{
    return 32 * t * (t + 1);
}

/* What is done to fronts, with numbers of one precision. */
typedef struct kiln_front_kernels {
    size_t bytes; /* of a number */
    /* Zeros; columns from `used` on are those of the unit matrix. */
    void (*clear)(const kiln_front *front, size_t used);
    /* A block [n][n] of the matrix at a place in L; `diagonal`: its lower triangle. */
    void (*add_block)(const kiln_front *front, size_t row, size_t column, const double *value,
                      size_t n, bool diagonal);
    /* Strips t0 to t1 - 1 of a child's U with `rows` rows, which go to the rows `target`,
     * ascending. Different rows are different there too, so strips can be added at the same time.
     */
    void (*add_strips)(const kiln_front *front, const void *U, const uint32_t *target, size_t rows,
                       size_t t0, size_t t1);
    /* The steps of an elimination, for the column blocks p0 to p1 - 1: their triangle (false: a
     * pivot is not of the sign it should have), then the strips below, then what is to the right of
     * them. The last two are for strips s0 to s1 - 1, which do not depend on each other. */
    bool (*factor)(const kiln_front *front, size_t p0, size_t p1);
    void (*solve)(const kiln_front *front, size_t p0, size_t p1, size_t s0, size_t s1);
    void (*update)(const kiln_front *front, size_t p0, size_t p1, size_t s0, size_t s1);
    /* v [8 strips]: of what comes in the columns' part is solved for, and the rest has its products
     * taken away; and back, where the rest is known. `room` [8][8 strips]. */
    void (*forward)(const kiln_front *front, double *v, double *room);
    void (*backward)(const kiln_front *front, double *v, double *room);
} kiln_front_kernels;

extern const kiln_front_kernels kiln_front_double_scalar, kiln_front_double_avx2,
    kiln_front_double_avx512, kiln_front_single_scalar, kiln_front_single_avx2,
    kiln_front_single_avx512;
/* Of quasidefinite matrices of blocks of 4 (solver.h). */
extern const kiln_front_kernels kiln_front_signed_double_scalar, kiln_front_signed_double_avx2,
    kiln_front_signed_double_avx512, kiln_front_signed_single_scalar, kiln_front_signed_single_avx2,
    kiln_front_signed_single_avx512;

#endif
