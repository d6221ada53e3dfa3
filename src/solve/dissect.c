/* The graph is taken apart level by level of the tree, all pieces of a level at the same time.
 *
 * 1. A piece has a range of places, and the same range in every array below; its children have
 *    parts of that range and the separator what is left at its end. The neighbours of its rows lie
 *    in a range of `column` that is its own as well.
 * 2. Pieces of one level read one of two buffers and write the other, so nothing is allocated while
 *    threads run, and each result depends on its piece alone.
 * 3. Neighbours are numbers in the piece. */
#include "solve/dissect.h"

#include "base/parallel.h"
#include "solve/dissect_bisect.h"
#include "solve/dissect_leaf.h"

#include <math.h>
#include <string.h>

typedef struct piece {
    uint32_t first, count; /* places */
    uint32_t inner;        /* of them the children's, the first ones */
    uint32_t children;
    uint32_t parent;
    uint32_t node; /* of the tree that comes out */
    uint64_t seed;
} piece;

typedef struct buffer {
    uint32_t *vertex; /* [place] */
    uint32_t *start;  /* [place] row in column */
    uint32_t *degree; /* [place] */
    uint32_t *column;
} buffer;

typedef struct dissecter {
    kiln_context *context;
    const kiln_row_graph *graph;
    KILN_ARRAY_OF(piece)
    pieces;             /* parents before children */
    size_t level_first; /* piece */
    buffer from, to;
    uint32_t *place; /* [vertex] of those that are in order */
    uint32_t *order;
    uint32_t *label; /* [place] child of the vertex; the separator is the last */
    uint32_t *child; /* [place] where child i of a piece begins: child[first + i] */
    uint32_t *scratch;
    uint8_t *part; /* [place] */
    void *memory;
    size_t bytes;
} dissecter;

enum { SMALL_PIECE = KILN_LEAF_MOST };

/* Words of scratch of a vertex and of a neighbour. */
static size_t words_of(size_t vertices, size_t neighbours)
{
    return kiln_bisect_words(SMALL_PIECE, 0) / SMALL_PIECE * vertices + vertices +
           (kiln_bisect_words(0, 1024) - kiln_bisect_words(0, 0)) / 1024 * neighbours;
}

/* The ranges of places are cut off the memory one after the other. */
static kiln_status reserve(dissecter *d, kiln_error *error)
{
    size_t n = d->graph->rows, m = (size_t)d->graph->start[n];
    size_t words = 9 * n + 2 * m + words_of(n, m) + 1; /* never nothing */
    d->bytes = words * sizeof(uint32_t) + n;
    d->memory = kiln_resize(d->context, NULL, 0, d->bytes);
    if (!d->memory)
        return kiln_fail_memory(error, d->bytes);
    kiln_words all = {d->memory, words};
    buffer *both[2] = {&d->from, &d->to};
    for (int i = 0; i < 2; i++) {
        both[i]->vertex = kiln_words_take(&all, n);
        both[i]->start = kiln_words_take(&all, n);
        both[i]->degree = kiln_words_take(&all, n);
        both[i]->column = kiln_words_take(&all, m);
    }
    d->place = kiln_words_take(&all, n);
    d->label = kiln_words_take(&all, n);
    d->child = kiln_words_take(&all, n);
    d->scratch = kiln_words_take(&all, words_of(n, m));
    d->part = (uint8_t *)all.at;
    return KILN_OK;
}

static void copy_graph(dissecter *d)
{
    const kiln_row_graph *g = d->graph;
    for (size_t v = 0; v < g->rows; v++) {
        d->from.vertex[v] = (uint32_t)v;
        d->from.start[v] = (uint32_t)g->start[v];
        d->from.degree[v] = (uint32_t)(g->start[v + 1] - g->start[v]);
    }
    if (g->edges)
        memcpy(d->from.column, g->neighbour, (size_t)g->start[g->rows] * sizeof(uint32_t));
}

/* The vertices stay in their order and are the node's own. */
static void settle(dissecter *d, const piece *p)
{
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        d->order[i] = d->from.vertex[i];
        d->place[d->order[i]] = i;
    }
}

static uint32_t *scratch_of(const dissecter *d, const piece *p)
{
    return d->scratch + words_of(p->first, d->from.start[p->first]);
}

/* Rows with a share of all vertices as neighbours would be in every separator. */
static uint32_t label_dense(const dissecter *d, const piece *p)
{
    uint32_t dense = 0, most = (uint32_t)(10.0 * sqrt(p->count));
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        d->label[i] = d->from.degree[i] > most;
        dense += d->label[i];
    }
    return dense;
}

/* All that can be reached from a vertex; returns how many. */
static uint32_t label_part(const dissecter *d, const piece *p, uint32_t root, uint32_t label,
                           uint32_t *queue)
{
    uint32_t *labels = d->label + p->first, count = 1;
    queue[0] = root;
    labels[root] = label;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t place = p->first + queue[at];
        const uint32_t *row = d->from.column + d->from.start[place];
        for (uint32_t k = 0; k < d->from.degree[place]; k++)
            if (labels[row[k]] == UINT32_MAX) {
                labels[row[k]] = label;
                queue[count++] = row[k];
            }
    }
    return count;
}

/* Labels the connected parts; small ones share a label as long as all are a leaf together. Returns
 * the number of labels. */
static uint32_t label_parts(const dissecter *d, const piece *p)
{
    uint32_t *queue = scratch_of(d, p), labels = 0, shared = 0, shared_count = SMALL_PIECE;
    memset(d->label + p->first, 0xFF, p->count * sizeof(uint32_t));
    for (uint32_t v = 0; v < p->count; v++) {
        if (d->label[p->first + v] != UINT32_MAX)
            continue;
        uint32_t count = label_part(d, p, v, labels, queue);
        if (count + shared_count <= SMALL_PIECE) {
            for (uint32_t i = 0; i < count; i++)
                d->label[p->first + queue[i]] = shared;
            shared_count += count;
        } else {
            if (count < shared_count || shared_count == SMALL_PIECE) {
                shared = labels;
                shared_count = count;
            }
            labels++;
        }
    }
    return labels;
}

static bool label_sides(const dissecter *d, const piece *p)
{
    uint32_t *scratch = scratch_of(d, p), n = p->count;
    uint8_t *part = d->part + p->first;
    kiln_bisect_input input = {n, d->from.start + p->first, d->from.degree + p->first,
                               d->from.column};
    if (!kiln_bisect(&input, p->seed, scratch, part))
        return false;
    for (uint32_t v = 0; v < n; v++)
        d->label[p->first + v] = part[v];
    return true;
}

/* Vertices by label, in their order; `inner` and where children begin. number[v] is the place of v
 * in its child. */
static void sort_by_label(dissecter *d, piece *p, uint32_t *number, uint32_t *list)
{
    const uint32_t *label = d->label + p->first;
    uint32_t *child = d->child + p->first, sum = 0;
    memset(child, 0, p->children * sizeof *child);
    for (uint32_t v = 0; v < p->count; v++)
        if (label[v] < p->children)
            number[v] = child[label[v]]++;
    for (uint32_t c = 0; c < p->children; c++) {
        uint32_t count = child[c];
        child[c] = sum;
        sum += count;
    }
    p->inner = sum;
    for (uint32_t v = 0; v < p->count; v++)
        list[label[v] < p->children ? child[label[v]] + number[v] : sum++] = v;
}

/* Rows of the children, without neighbours in the separator. */
static void copy_rows(dissecter *d, const piece *p, const uint32_t *number, const uint32_t *list)
{
    const uint32_t *label = d->label + p->first;
    uint32_t end = d->from.start[p->first];
    for (uint32_t i = 0; i < p->inner; i++) {
        uint32_t v = list[i], from = p->first + v, to = p->first + i, first = end;
        const uint32_t *row = d->from.column + d->from.start[from];
        d->to.vertex[to] = d->from.vertex[from];
        for (uint32_t k = 0; k < d->from.degree[from]; k++)
            if (label[row[k]] == label[v])
                d->to.column[end++] = number[row[k]];
        d->to.start[to] = first;
        d->to.degree[to] = end - first;
    }
    for (uint32_t i = p->inner; i < p->count; i++) {
        uint32_t vertex = d->from.vertex[p->first + list[i]];
        d->order[p->first + i] = vertex;
        d->place[vertex] = p->first + i;
    }
}

static void split(dissecter *d, piece *p, uint32_t children)
{
    uint32_t *number = scratch_of(d, p), *list = number + p->count;
    p->children = children;
    sort_by_label(d, p, number, list);
    copy_rows(d, p, number, list);
}

static void take_apart(dissecter *d, piece *p)
{
    uint32_t dense, parts;
    if (p->count == 0)
        return;
    if (p->count <= SMALL_PIECE) {
        settle(d, p);
        kiln_leaf_order(d->graph, d->place, p->first, p->count, d->order + p->first);
    } else if ((dense = label_dense(d, p)) > 0) {
        if (dense == p->count)
            settle(d, p);
        else
            split(d, p, 1);
    } else if ((parts = label_parts(d, p)) > 1) {
        split(d, p, parts);
    } else if (label_sides(d, p)) {
        split(d, p, 2);
    } else {
        settle(d, p);
    }
}

static void take_apart_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    dissecter *d = user;
    (void)chunk, (void)worker;
    for (size_t i = begin; i < end; i++)
        take_apart(d, &d->pieces.data[d->level_first + i]);
}

static kiln_status add_children(dissecter *d, size_t parent, kiln_error *error)
{
    piece p = d->pieces.data[parent];
    KILN_TRY(kiln_array_reserve(d->context, &d->pieces, d->pieces.count + p.children, error));
    for (uint32_t c = 0; c < p.children; c++) {
        const uint32_t *begin = d->child + p.first + c;
        uint32_t end = c + 1 < p.children ? begin[1] : p.inner;
        d->pieces.data[d->pieces.count++] = (piece){.first = p.first + begin[0],
                                                    .count = end - begin[0],
                                                    .parent = (uint32_t)parent,
                                                    .seed = kiln_hash_add(p.seed, c)};
    }
    return KILN_OK;
}

static kiln_status take_all_apart(dissecter *d, kiln_error *error)
{
    piece root = {.count = (uint32_t)d->graph->rows, .parent = UINT32_MAX};
    KILN_TRY(kiln_array_push(d->context, &d->pieces, root, error));
    for (size_t end; d->level_first < (end = d->pieces.count); d->level_first = end) {
        kiln_parallel_for(d->context, end - d->level_first, 1, take_apart_chunk, d);
        for (size_t i = d->level_first; i < end; i++)
            KILN_TRY(add_children(d, i, error));
        buffer t = d->from;
        d->from = d->to;
        d->to = t;
        KILN_TRY(kiln_may_go_on(d->context, error));
    }
    return KILN_OK;
}

/* Own places follow each other in postorder. Pieces without any are left out, but for the root;
 * their children are those of the next piece above. piece.node is set for all. */
static size_t number_nodes(dissecter *d)
{
    uint32_t *piece_at = d->label, nodes = 0;
    piece *pieces = d->pieces.data;
    size_t n = d->graph->rows;
    memset(piece_at, 0xFF, n * sizeof *piece_at);
    for (size_t i = 0; i < d->pieces.count; i++)
        if (pieces[i].inner < pieces[i].count)
            piece_at[pieces[i].first + pieces[i].inner] = (uint32_t)i;
    for (size_t at = 0; at < n; at++)
        if (piece_at[at] != UINT32_MAX)
            pieces[piece_at[at]].node = nodes++;
    if (pieces[0].inner == pieces[0].count)
        pieces[0].node = nodes++;
    for (size_t i = 1; i < d->pieces.count; i++)
        if (pieces[i].inner == pieces[i].count)
            pieces[i].node = pieces[pieces[i].parent].node;
    return nodes;
}

static kiln_status make_tree(dissecter *d, kiln_dissection *out, kiln_error *error)
{
    const piece *pieces = d->pieces.data;
    KILN_TRY(kiln_dissection_reserve_nodes(d->context, out, number_nodes(d), error));
    for (size_t i = 0; i < d->pieces.count; i++)
        if (i == 0 || pieces[i].inner < pieces[i].count) {
            uint32_t node = pieces[i].node;
            out->first[node] = pieces[i].first + pieces[i].inner;
            out->parent[node] = i ? pieces[pieces[i].parent].node : (uint32_t)out->nodes;
        }
    out->first[out->nodes] = (uint32_t)out->count;
    return KILN_OK;
}

kiln_status kiln_dissection_reserve(kiln_context *context, kiln_dissection *out, size_t count,
                                    kiln_error *error)
{
    *out = (kiln_dissection){0};
    out->order = count ? kiln_resize(context, NULL, 0, count * sizeof(uint32_t)) : NULL;
    if (count && !out->order)
        return kiln_fail_memory(error, count * sizeof(uint32_t));
    out->count = count;
    return KILN_OK;
}

kiln_status kiln_dissection_reserve_nodes(kiln_context *context, kiln_dissection *out, size_t nodes,
                                          kiln_error *error)
{
    out->first = kiln_resize(context, NULL, 0, (2 * nodes + 1) * sizeof(uint32_t));
    if (!out->first)
        return kiln_fail_memory(error, (2 * nodes + 1) * sizeof(uint32_t));
    out->parent = out->first + nodes + 1;
    out->nodes = nodes;
    return KILN_OK;
}

void kiln_dissection_free(kiln_context *context, kiln_dissection *out)
{
    kiln_release(context, out->order, out->count * sizeof(uint32_t));
    kiln_release(context, out->first, out->nodes ? (2 * out->nodes + 1) * sizeof(uint32_t) : 0);
    *out = (kiln_dissection){0};
}

kiln_status kiln_dissect(kiln_context *context, const kiln_row_graph *graph, kiln_dissection *out,
                         kiln_error *error)
{
    size_t n = graph->rows;
    *out = (kiln_dissection){0};
    if (n >= (uint32_t)1 << 31 || graph->start[n] > UINT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "a graph of %zu rows", n);
    dissecter d = {.context = context, .graph = graph};
    kiln_status status = reserve(&d, error);
    if (status == KILN_OK)
        status = kiln_dissection_reserve(context, out, n, error);
    if (status == KILN_OK) {
        d.order = out->order;
        copy_graph(&d);
        status = take_all_apart(&d, error);
    }
    if (status == KILN_OK)
        status = make_tree(&d, out, error);
    if (status != KILN_OK)
        kiln_dissection_free(context, out);
    kiln_array_free(context, &d.pieces);
    kiln_release(context, d.memory, d.bytes);
    return status;
}
