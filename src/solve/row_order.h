/* Reverse Cuthill-McKee order of the rows of a block matrix: neighbours get near places. */
#ifndef KILN_SOLVE_ROW_ORDER_H
#define KILN_SOLVE_ROW_ORDER_H

#include "solve/bsr.h"

/* Both triangles of the pattern, without the diagonal. */
typedef struct kiln_row_graph {
    size_t rows, edges;
    uint64_t *start;     /* [rows + 1] */
    uint32_t *neighbour; /* [start[rows]] ascending within a row */
} kiln_row_graph;

kiln_status kiln_row_graph_make(const kiln_bsr *matrix, kiln_row_graph *out, kiln_error *error);
void kiln_row_graph_free(kiln_context *context, kiln_row_graph *graph);

/* order[place] = row. `mark` is scratch, [rows]. */
void kiln_row_order(const kiln_row_graph *graph, uint32_t *order, uint32_t *mark);

#endif
