/* What a factor costs in an order, seen from its tree of separators. */
#ifndef KILN_SOLVE_DISSECT_COST_H
#define KILN_SOLVE_DISSECT_COST_H

#include "solve/dissect.h"

/* Sum of the squares of the column counts, in blocks, if the columns of a node were all full: close
 * for separators, too much for leaves. Edges across the tree are passed over. */
kiln_status kiln_dissection_cost(kiln_context *context, const kiln_dissection *dissection,
                                 const kiln_row_graph *graph, double *cost, kiln_error *error);

#endif
