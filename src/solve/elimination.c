#include "solve/elimination.h"

#include <string.h>

#define NONE KILN_NO_PLACE

kiln_status kiln_lower_build(kiln_lower *out, kiln_arena *arena, const kiln_bsr *matrix,
                             const uint32_t *place, bool blocks, kiln_error *error)
{
    size_t n = matrix->rows, off = (size_t)matrix->start[n] - n; /* without the diagonal */
    *out = (kiln_lower){.count = n,
                        .start = kiln_arena_array(arena, uint64_t, n + 2),
                        .row = kiln_arena_array(arena, uint32_t, off + 1)};
    if (blocks) {
        out->block = kiln_arena_array(arena, uint64_t, off + 1);
        out->matrix_row = kiln_arena_array(arena, uint32_t, off + 1);
    }
    if (!out->start || !out->row || (blocks && (!out->block || !out->matrix_row)))
        return kiln_fail_memory(error, (n + off) * sizeof(uint64_t));
    uint64_t *start =
        out->start + 1; /* of the next entry of a column, in the end of the next one */
    memset(out->start, 0, (n + 2) * sizeof *out->start);
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t b = matrix->start[i] + 1; b < matrix->start[i + 1]; b++) {
            uint32_t p = place[i], q = place[matrix->column[b]];
            start[(p < q ? p : q) + 1]++;
        }
    for (size_t p = 0; p < n; p++)
        start[p + 1] += start[p];
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t b = matrix->start[i] + 1; b < matrix->start[i + 1]; b++) {
            uint32_t p = place[i], q = place[matrix->column[b]];
            uint64_t at = start[p < q ? p : q]++;
            out->row[at] = p < q ? q : p;
            if (blocks) {
                out->block[at] = b;
                out->matrix_row[at] = i;
            }
        }
    return KILN_OK;
}

/* The parent of a column is the first row below its diagonal in the factor. For that rows are gone
 * through in turn, and every column in a row leads to it: `ancestor` shortens the ways. The lower
 * triangle is by columns, so rows are linked as they come up: those of which a column has an entry
 * next. */
static kiln_status find_parents(const kiln_lower *lower, kiln_arena *arena, uint32_t *parent,
                                kiln_error *error)
{
    size_t n = lower->count, entries = (size_t)lower->start[n];
    uint64_t *start = kiln_arena_array(arena, uint64_t, n + 2);
    uint32_t *column = kiln_arena_array(arena, uint32_t, entries + 1);
    uint32_t *ancestor = kiln_arena_array(arena, uint32_t, n + 1);
    if (!start || !column || !ancestor)
        return kiln_fail_memory(error, entries * sizeof *column);
    memset(start, 0, (n + 2) * sizeof *start);
    for (size_t k = 0; k < entries; k++)
        start[lower->row[k] + 2]++;
    for (size_t r = 1; r <= n; r++)
        start[r + 1] += start[r];
    for (uint32_t c = 0; c < n; c++)
        for (uint64_t k = lower->start[c]; k < lower->start[c + 1]; k++)
            column[start[lower->row[k] + 1]++] = c;
    for (uint32_t r = 0; r < n; r++) {
        parent[r] = ancestor[r] = NONE;
        for (uint64_t k = start[r]; k < start[r + 1]; k++)
            for (uint32_t c = column[k], next; c != NONE && c < r; c = next) {
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
    const kiln_lower *lower;
    const uint32_t *parent;
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

static kiln_status count_columns(const kiln_lower *lower, const uint32_t *parent, kiln_arena *arena,
                                 uint32_t *column, kiln_error *error)
{
    size_t n = lower->count;
    counting t = {lower,
                  parent,
                  kiln_arena_array(arena, uint32_t, n + 1),
                  kiln_arena_array(arena, uint32_t, n + 1),
                  kiln_arena_array(arena, uint32_t, n + 1),
                  kiln_arena_array(arena, uint32_t, n + 1),
                  kiln_arena_array(arena, int32_t, n + 1)};
    if (!t.first || !t.furthest || !t.leaf || !t.ancestor || !t.change)
        return kiln_fail_memory(error, n * sizeof *column);
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
        for (uint64_t k = lower->start[c]; k < lower->start[c + 1]; k++)
            count_entry(&t, lower->row[k], c);
        if (parent[c] != NONE)
            t.ancestor[c] = parent[c];
    }
    for (uint32_t c = 0; c < n; c++) {
        if (parent[c] != NONE)
            t.change[parent[c]] += t.change[c];
        column[c] = (uint32_t)t.change[c];
    }
    return KILN_OK;
}

kiln_status kiln_elimination_build(kiln_elimination *out, kiln_arena *arena, const kiln_bsr *matrix,
                                   const uint32_t *order, kiln_error *error)
{
    size_t n = matrix->rows;
    *out = (kiln_elimination){.place = kiln_arena_array(arena, uint32_t, n + 1),
                              .parent = kiln_arena_array(arena, uint32_t, n + 1),
                              .column = kiln_arena_array(arena, uint32_t, n + 1)};
    uint32_t *first = kiln_arena_array(arena, uint32_t, n + 1);
    uint32_t *when = kiln_arena_array(arena, uint32_t, n + 1);
    if (!out->place || !out->parent || !out->column || !first || !when)
        return kiln_fail_memory(error, n * sizeof *first);
    for (uint32_t p = 0; p < n; p++)
        out->place[order[p]] = p;
    KILN_TRY(kiln_lower_build(&out->lower, arena, matrix, out->place, false, error));
    KILN_TRY(find_parents(&out->lower, arena, first, error));
    KILN_TRY(find_postorder(first, n, arena, when, error));
    for (uint32_t p = 0; p < n; p++) {
        out->parent[when[p]] = first[p] == NONE ? NONE : when[first[p]];
        out->place[order[p]] = when[p];
    }
    KILN_TRY(kiln_lower_build(&out->lower, arena, matrix, out->place, false, error));
    return count_columns(&out->lower, out->parent, arena, out->column, error);
}
