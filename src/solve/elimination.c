#include "solve/elimination.h"

#include <string.h>

#define NONE KILN_NO_PLACE

/* The parent of a column is the first row below its diagonal in the factor. For that rows are gone
 * through in turn, and every column in a row leads to it: `ancestor` shortens the ways. */
static kiln_status find_parents(const kiln_row_graph *graph, kiln_arena *arena,
                                const uint32_t *order, const uint32_t *place, uint32_t *parent,
                                kiln_error *error)
{
    size_t n = graph->rows;
    uint32_t *ancestor = kiln_arena_array(arena, uint32_t, n + 1);
    if (!ancestor)
        return kiln_fail_memory(error, n * sizeof *ancestor);
    for (uint32_t r = 0; r < n; r++) {
        parent[r] = ancestor[r] = NONE;
        for (uint64_t k = graph->start[order[r]]; k < graph->start[order[r] + 1]; k++)
            for (uint32_t c = place[graph->neighbour[k]], next; c < r; c = next) {
                next = ancestor[c];
                ancestor[c] = r;
                if (next == NONE)
                    parent[c] = r;
            }
    }
    return KILN_OK;
}

/* when[place]: in postorder, children in the order of their places. */
static kiln_status find_postorder(const uint32_t *parent, size_t n, kiln_arena *arena,
                                  uint32_t *when, kiln_error *error)
{
    uint32_t *child = kiln_arena_array(arena, uint32_t, n + 1);
    uint32_t *sibling = kiln_arena_array(arena, uint32_t, n + 1);
    if (!child || !sibling)
        return kiln_fail_memory(error, n * sizeof *child);
    uint32_t root = NONE, count = 0;
    memset(child, 0xff, (n + 1) * sizeof *child);
    for (uint32_t c = (uint32_t)n; c-- > 0;) {
        uint32_t *first = parent[c] == NONE ? &root : &child[parent[c]];
        sibling[c] = *first;
        *first = c;
    }
    for (uint32_t c = root; c != NONE;) {
        while (child[c] != NONE) { /* down, and not again when it comes back up */
            uint32_t below = child[c];
            child[c] = NONE;
            c = below;
        }
        when[c] = count++;
        c = sibling[c] != NONE ? sibling[c] : parent[c];
    }
    return KILN_OK;
}

typedef struct counting {
    uint32_t *first;    /* [place] first descendant */
    uint32_t *furthest; /* [row] of those whose subtree it is known to be in, and */
    uint32_t *leaf;     /* the last leaf of its subtree that was seen */
    uint32_t *ancestor;
    int32_t *change; /* [place] by how much a column has more than its children together */
} counting;

static uint32_t find_set(uint32_t *ancestor, uint32_t c)
{
    uint32_t top = c;
    while (ancestor[top] != top)
        top = ancestor[top];
    for (uint32_t next; c != top; c = next) {
        next = ancestor[c];
        ancestor[c] = top;
    }
    return top;
}

/* Row r has an entry in column c: if c is a leaf of what r's row is in the tree, it adds the way
 * from there up to where the row has been already. */
static void count_entry(counting *t, uint32_t r, uint32_t c)
{
    if (t->furthest[r] != NONE && t->first[c] <= t->furthest[r])
        return;
    t->furthest[r] = t->first[c];
    t->change[c]++;
    if (t->leaf[r] != NONE)
        t->change[find_set(t->ancestor, t->leaf[r])]--;
    t->leaf[r] = c;
}

static kiln_status count_columns(const kiln_elimination *tree, const kiln_row_graph *graph,
                                 const uint32_t *order, kiln_arena *arena, kiln_error *error)
{
    size_t n = graph->rows;
    const uint32_t *parent = tree->parent;
    counting t = {
        kiln_arena_array(arena, uint32_t, n + 1), kiln_arena_array(arena, uint32_t, n + 1),
        kiln_arena_array(arena, uint32_t, n + 1), kiln_arena_array(arena, uint32_t, n + 1),
        kiln_arena_array(arena, int32_t, n + 1)};
    if (!t.first || !t.furthest || !t.leaf || !t.ancestor || !t.change)
        return kiln_fail_memory(error, n * sizeof *t.first);
    memset(t.first, 0xff, n * sizeof *t.first);
    memset(t.furthest, 0xff, n * sizeof *t.furthest);
    memset(t.leaf, 0xff, n * sizeof *t.leaf);
    for (uint32_t c = 0; c < n; c++) {
        t.ancestor[c] = c;
        t.change[c] = t.first[c] == NONE;
        for (uint32_t up = c; up != NONE && t.first[up] == NONE; up = parent[up])
            t.first[up] = c;
    }
    for (uint32_t c = 0; c < n; c++) {
        if (parent[c] != NONE)
            t.change[parent[c]]--;
        for (uint64_t k = graph->start[order[c]]; k < graph->start[order[c] + 1]; k++)
            if (tree->place[graph->neighbour[k]] > c)
                count_entry(&t, tree->place[graph->neighbour[k]], c);
        if (parent[c] != NONE)
            t.ancestor[c] = parent[c];
    }
    for (uint32_t c = 0; c < n; c++) {
        if (parent[c] != NONE)
            t.change[parent[c]] += t.change[c];
        tree->column[c] = (uint32_t)t.change[c];
    }
    return KILN_OK;
}

kiln_status kiln_elimination_build(kiln_elimination *out, kiln_arena *arena,
                                   const kiln_row_graph *graph, const uint32_t *order,
                                   kiln_error *error)
{
    size_t n = graph->rows;
    *out = (kiln_elimination){.place = kiln_arena_array(arena, uint32_t, n + 1),
                              .parent = kiln_arena_array(arena, uint32_t, n + 1),
                              .column = kiln_arena_array(arena, uint32_t, n + 1)};
    uint32_t *first = kiln_arena_array(arena, uint32_t, n + 1);
    uint32_t *when = kiln_arena_array(arena, uint32_t, n + 1);
    uint32_t *sorted = kiln_arena_array(arena, uint32_t, n + 1);
    if (!out->place || !out->parent || !out->column || !first || !when || !sorted)
        return kiln_fail_memory(error, n * sizeof *first);
    for (uint32_t p = 0; p < n; p++)
        out->place[order[p]] = p;
    KILN_TRY(find_parents(graph, arena, order, out->place, first, error));
    KILN_TRY(find_postorder(first, n, arena, when, error));
    for (uint32_t p = 0; p < n; p++) {
        out->parent[when[p]] = first[p] == NONE ? NONE : when[first[p]];
        out->place[order[p]] = when[p];
        sorted[when[p]] = order[p];
    }
    return count_columns(out, graph, sorted, arena, error);
}
