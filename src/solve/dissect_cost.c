/* Rows of a node below its own columns: what its vertices and its children see above it. The lists
 * of children lie on top of a stack, as nodes are in postorder, and are replaced by that of their
 * parent. */
#include "solve/dissect_cost.h"

#include <string.h>

typedef struct rows_above {
    kiln_context *context;
    const kiln_dissection *tree;
    const kiln_row_graph *graph;
    uint32_t *place; /* [vertex] */
    uint32_t *node;  /* [place] */
    uint32_t *low;   /* [node] first of its subtree */
    uint32_t *seen;  /* [place] last node that saw it, and 1 */
    size_t *begin;   /* [leaf] where in the stack its rows, and later those of nodes above, begin */
    kiln_u32_array stack;
    void *memory;
    size_t bytes;
} rows_above;

static kiln_status reserve(rows_above *r, kiln_error *error)
{
    size_t n = r->tree->count, nodes = r->tree->nodes;
    r->bytes = nodes * sizeof(size_t) + (3 * n + nodes) * sizeof(uint32_t);
    r->memory = kiln_resize(r->context, NULL, 0, r->bytes);
    if (!r->memory)
        return kiln_fail_memory(error, r->bytes);
    r->begin = r->memory;
    r->low = (uint32_t *)(r->begin + nodes);
    r->place = r->low + nodes;
    r->node = r->place + n;
    r->seen = r->node + n;
    memset(r->seen, 0, n * sizeof(uint32_t));
    return KILN_OK;
}

static void index_tree(rows_above *r)
{
    const kiln_dissection *t = r->tree;
    for (uint32_t k = 0; k < t->nodes; k++)
        r->low[k] = k;
    for (uint32_t k = 0; k < t->nodes; k++) {
        if (k + 1 < t->nodes && r->low[k] < r->low[t->parent[k]])
            r->low[t->parent[k]] = r->low[k];
        for (uint32_t p = t->first[k]; p < t->first[k + 1]; p++) {
            r->place[t->order[p]] = p;
            r->node[p] = k;
        }
    }
}

static kiln_status see(rows_above *r, uint32_t node, uint32_t place, kiln_error *error)
{
    if (r->seen[place] == node + 1)
        return KILN_OK;
    r->seen[place] = node + 1;
    return kiln_array_push(r->context, &r->stack, place, error);
}

/* The rows of a node go on top of those of its children, then down in their place. */
static kiln_status find_rows(rows_above *r, uint32_t k, size_t *count, kiln_error *error)
{
    const kiln_dissection *t = r->tree;
    const kiln_row_graph *g = r->graph;
    if (r->low[k] == k)
        r->begin[k] = r->stack.count;
    size_t top = r->stack.count, bottom = r->begin[r->low[k]];
    for (size_t i = bottom; i < top; i++)
        if (r->stack.data[i] >= t->first[k + 1])
            KILN_TRY(see(r, k, r->stack.data[i], error));
    for (uint32_t p = t->first[k]; p < t->first[k + 1]; p++)
        for (uint64_t e = g->start[t->order[p]]; e < g->start[t->order[p] + 1]; e++) {
            uint32_t above = r->place[g->neighbour[e]];
            if (above >= t->first[k + 1] && r->low[r->node[above]] <= k)
                KILN_TRY(see(r, k, above, error));
        }
    *count = r->stack.count - top;
    if (*count)
        memmove(r->stack.data + bottom, r->stack.data + top, *count * sizeof(uint32_t));
    r->stack.count = bottom + *count;
    return KILN_OK;
}

/* Sum of (below + i)^2 for i = 1 to own. */
static double cost_of(double own, double below)
{
    return own * below * below + below * own * (own + 1.0) +
           own * (own + 1.0) * (2.0 * own + 1.0) / 6.0;
}

static kiln_status add_costs(rows_above *r, double *cost, kiln_error *error)
{
    const kiln_dissection *t = r->tree;
    *cost = 0.0;
    KILN_TRY(reserve(r, error));
    index_tree(r);
    for (uint32_t k = 0; k < t->nodes; k++) {
        size_t below;
        KILN_TRY(find_rows(r, k, &below, error));
        *cost += cost_of(t->first[k + 1] - t->first[k], (double)below);
    }
    return KILN_OK;
}

kiln_status kiln_dissection_cost(kiln_context *context, const kiln_dissection *dissection,
                                 const kiln_row_graph *graph, double *cost, kiln_error *error)
{
    rows_above r = {.context = context, .tree = dissection, .graph = graph};
    kiln_status status = add_costs(&r, cost, error);
    kiln_array_free(context, &r.stack);
    kiln_release(context, r.memory, r.bytes);
    return status;
}
