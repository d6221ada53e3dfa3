/* Nested dissection: an order of the rows of a symmetric matrix that keeps its Cholesky factor
 * sparse, and the tree of separators that it comes from.
 *
 * The order is a pure function of the graph: no clock, no state of the C library, the same bits for
 * any number of threads. */
#ifndef KILN_SOLVE_DISSECT_H
#define KILN_SOLVE_DISSECT_H

#include "solve/row_order.h"

/* Node k owns the places first[k] to first[k + 1] - 1, perhaps none. Nodes are in postorder, so the
 * places of a subtree are one range; the last node is the root. No edge of the graph joins nodes of
 * which neither is an ancestor of the other. An empty graph has the root alone. */
typedef struct kiln_dissection {
    size_t count;     /* vertices */
    size_t nodes;     /* at least one */
    uint32_t *order;  /* [place] vertex */
    uint32_t *first;  /* [nodes + 1] */
    uint32_t *parent; /* [nodes] above the node; that of the root is `nodes` */
    bool repaired;    /* it comes from the order of another graph */
} kiln_dissection;

/* KILN_ERR_LIMIT for 2^31 vertices or 2^32 neighbours or more. On failure there is nothing to free.
 */
kiln_status kiln_dissect(kiln_context *context, const kiln_row_graph *graph, kiln_dissection *out,
                         kiln_error *error);

/* An order for `grown`, a graph of the same vertices with further edges, from that of the graph
 * without them: vertices with edges across the tree go up to where their ends meet. Where that
 * would cost the factor much more than a new order takes, the graph is dissected anew. Never from
 * an order that was repaired itself: what has gone up does not come down again. */
kiln_status kiln_dissection_repair(kiln_context *context, const kiln_dissection *base,
                                   const kiln_row_graph *grown, kiln_dissection *out,
                                   kiln_error *error);

/* Room, of which order, first and parent are to be filled. */
kiln_status kiln_dissection_reserve(kiln_context *context, kiln_dissection *out, size_t count,
                                    kiln_error *error);
kiln_status kiln_dissection_reserve_nodes(kiln_context *context, kiln_dissection *out, size_t nodes,
                                          kiln_error *error);
void kiln_dissection_free(kiln_context *context, kiln_dissection *dissection);

#endif
