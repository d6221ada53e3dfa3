/* The elimination tree of a pattern under an order, and how many entries each column of its factor
 * has (Liu 1990; Gilbert, Ng and Peyton 1994), in block rows. */
#ifndef KILN_SOLVE_ELIMINATION_H
#define KILN_SOLVE_ELIMINATION_H

#include "base/arena.h"
#include "solve/row_order.h"

#define KILN_NO_PLACE 0xFFFFFFFFu

typedef struct kiln_elimination {
    uint32_t *place;  /* [row of the matrix] in postorder of the tree */
    uint32_t *parent; /* [place] */
    uint32_t *column; /* [place] entries of the factor's column, with the diagonal */
} kiln_elimination;

/* All of it in the arena. `order` [place] may be any. */
kiln_status kiln_elimination_build(kiln_elimination *out, kiln_arena *arena,
                                   const kiln_row_graph *graph, const uint32_t *order,
                                   kiln_error *error);

#endif
