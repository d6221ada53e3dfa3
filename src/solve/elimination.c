#include "solve/elimination.h"

#include <string.h>

#define NONE KILN_NO_PLACE

/* The graph under an order: of each place the rows that come later. A postorder keeps them. */
typedef struct directed {
    uint64_t *start; /* [place + 1] */
    uint32_t *later;
    uint32_t *earlier; /* scratch: places of the row at hand */
    uint32_t *ancestor;
} directed;

static kiln_status reserve(directed *d, const kiln_row_graph *graph, kiln_arena *arena,
                           kiln_error *error)
{
    size_t n = graph->rows;
    *d = (directed){.start = kiln_arena_array(arena, uint64_t, n + 1),
                    .later = kiln_arena_array(arena, uint32_t, graph->edges / 2 + n + 1),
                    .earlier = kiln_arena_array(arena, uint32_t, n + 1),
                    .ancestor = kiln_arena_array(arena, uint32_t, n + 1)};
    if (!d->start || !d->later || !d->earlier || !d->ancestor)
        return kiln_fail_memory(error, graph->edges * sizeof *d->later);
    return KILN_OK;
}

/* Splits the neighbours of the row at a place; which side one is on nobody can foretell, so there
 * is no branch. Returns how many are earlier. */
static uint32_t direct(directed *d, const kiln_row_graph *graph, uint32_t row, uint32_t r,
                       const uint32_t *place)
{
    uint32_t earlier = 0;
    uint64_t later = d->start[r];
    for (uint64_t k = graph->start[row]; k < graph->start[row + 1]; k++) {
        uint32_t other = graph->neighbour[k], c = place[other];
        d->earlier[earlier] = c;
        d->later[later] = other;
        earlier += c < r;
        later += c > r;
    }
    d->start[r + 1] = later;
    return earlier;
}

/* The parent of a column is the first row below its diagonal in the factor. For that rows are gone
 * through in turn, and every column in a row leads to it: `ancestor` shortens the ways. */
static void find_parents(directed *d, const kiln_row_graph *graph, const uint32_t *order,
                         const uint32_t *place, uint32_t *parent)
{
    d->start[0] = 0;
    for (uint32_t r = 0; r < graph->rows; r++) {
        uint32_t count = direct(d, graph, order[r], r, place);
        parent[r] = d->ancestor[r] = NONE;
        for (uint32_t k = 0; k < count; k++)
            for (uint32_t c = d->earlier[k], next; c < r; c = next) {
                next = d->ancestor[c];
                d->ancestor[c] = r;
                if (next == NONE)
                    parent[c] = r;
            }
    }
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

/* `before` [place]: where it was under the order of the graph. */
static kiln_status count_columns(const kiln_elimination *tree, const directed *d, size_t n,
                                 const uint32_t *before, kiln_arena *arena, kiln_error *error)
{
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
        for (uint64_t k = d->start[before[c]]; k < d->start[before[c] + 1]; k++)
            count_entry(&t, tree->place[d->later[k]], c);
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
    uint32_t *before = kiln_arena_array(arena, uint32_t, n + 1);
    directed d;
    if (!out->place || !out->parent || !out->column || !first || !when || !before)
        return kiln_fail_memory(error, n * sizeof *first);
    KILN_TRY(reserve(&d, graph, arena, error));
    for (uint32_t p = 0; p < n; p++)
        out->place[order[p]] = p;
    find_parents(&d, graph, order, out->place, first);
    KILN_TRY(find_postorder(first, n, arena, when, error));
    for (uint32_t p = 0; p < n; p++) {
        out->parent[when[p]] = first[p] == NONE ? NONE : when[first[p]];
        out->place[order[p]] = when[p];
        before[when[p]] = p;
    }
    return count_columns(out, &d, n, before, arena, error);
}
