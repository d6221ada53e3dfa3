/* The elimination tree of a pattern under an order, and how many entries each column of its factor
 * has (Liu 1990; Gilbert, Ng and Peyton 1994), in block rows. */
#ifndef KILN_SOLVE_ELIMINATION_H
#define KILN_SOLVE_ELIMINATION_H

#include "base/arena.h"
#include "solve/bsr.h"

#define KILN_NO_PLACE 0xFFFFFFFFu

/* Of each place the later places that it is coupled with: the lower triangle by columns. */
typedef struct kiln_lower {
    size_t count;
    uint64_t *start; /* [count + 1] */
    uint32_t *row;
    uint64_t *block;      /* number in the matrix, NULL unless asked for */
    uint32_t *matrix_row; /* whose it is there */
} kiln_lower;

typedef struct kiln_elimination {
    uint32_t *place;  /* [row of the matrix] in postorder of the tree */
    uint32_t *parent; /* [place] */
    uint32_t *column; /* [place] entries of the factor's column, with the diagonal */
    kiln_lower lower; /* by place */
} kiln_elimination;

kiln_status kiln_lower_build(kiln_lower *out, kiln_arena *arena, const kiln_bsr *matrix,
                             const uint32_t *place, bool blocks, kiln_error *error);
/* All of it in the arena. `order` [place] may be any. */
kiln_status kiln_elimination_build(kiln_elimination *out, kiln_arena *arena, const kiln_bsr *matrix,
                                   const uint32_t *order, kiln_error *error);

#endif
