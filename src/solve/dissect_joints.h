/* Bodies that touch: the tree of the vertices between them.
 *
 * `joints` are vertices whose removal leaves no edge between two bodies. Once the rest of a body is
 * eliminated its joints, and those of others that touch it, are a clique; dissecting the graph of
 * these cliques gives the upper part of a tree, below which bodies hang whole. */
#ifndef KILN_SOLVE_DISSECT_JOINTS_H
#define KILN_SOLVE_DISSECT_JOINTS_H

#include "solve/dissect.h"

typedef struct kiln_joints {
    size_t bodies;
    const uint32_t *body; /* [vertex] */
    size_t count;
    const uint32_t *vertex; /* [count] */
} kiln_joints;

/* out->order has the joints as vertices of the graph; below[body] is the node a body is to hang
 * from. */
kiln_status kiln_dissect_joints(kiln_context *context, const kiln_row_graph *graph,
                                const kiln_joints *joints, kiln_dissection *out, uint32_t *below,
                                kiln_error *error);

#endif
