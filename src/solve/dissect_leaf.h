/* Minimum degree order of a small part of a graph. */
#ifndef KILN_SOLVE_DISSECT_LEAF_H
#define KILN_SOLVE_DISSECT_LEAF_H

#include "solve/row_order.h"

enum { KILN_LEAF_MOST = 80 }; /* vertices */

/* Puts `count` vertices in order. Their neighbours outside, the halo, are eliminated later, so they
 * count in the degrees: place[vertex] is first, first + 1, .. for the vertices of the leaf as they
 * are given, and anything else for others. */
void kiln_leaf_order(const kiln_row_graph *graph, const uint32_t *place, uint32_t first,
                     uint32_t count, uint32_t *vertex);

#endif
