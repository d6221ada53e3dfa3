/* From the elimination tree to supernodes:
 *
 * Y1 Columns that follow each other in the tree and have the same rows below are one supernode.
 * Y2 A child is taken into its parent where that adds few zeros for the width that is gained: a
 *    front of few columns costs more to put together than to eliminate.
 *    So are rows that are coupled with none (held ones, those of walls) taken together.
 * Y3 Nodes are numbered in a postorder in which children that need the most memory beyond what they
 *    leave behind come first (Liu 1986). */
#include "solve/symbolic.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define NONE KILN_NO_PLACE

enum { NODE_GRAIN = 16 };

/* Y2: up to this width (in blocks) a node may have that part of zeros. */
static const struct {
    double width, zeros;
} allowed[] = {{8, 0.8}, {24, 0.2}, {48, 0.08}, {1e30, 0.03}};

/* A supernode while the tree is made. */
typedef struct forming {
    uint32_t width, rows;
    uint32_t parent, child, sibling;
    uint32_t part, last_part; /* its columns: runs of maximal supernodes, linked by `next_part` */
    double zeros;
    double peak; /* blocks of memory that its subtree needs, and */
    double left; /* what it leaves for its parent */
} forming;

typedef struct build {
    kiln_symbolic *out;
    kiln_arena arena;
    const kiln_bsr *matrix;
    const kiln_row_graph *graph;
    const uint32_t *eliminated; /* [place] row, as the order that was asked for has it */
    kiln_solver_aside *aside;
    kiln_status status; /* of what is made beside it */
    kiln_error *error;
    kiln_elimination tree;
    size_t count; /* of maximal supernodes */
    forming *node;
    uint32_t *first; /* [maximal supernode + 1] its first column */
    uint32_t *next_part;
    uint32_t *order; /* [number in the end] node */
    size_t kept;     /* of them */
} build;

static void *take(kiln_arena *arena, size_t count, size_t size)
{
    return kiln_arena_alloc(arena, (count + 1) * size);
}

/* Y1 */
static kiln_status find_supernodes(build *b, kiln_error *error)
{
    size_t n = b->matrix->rows;
    const uint32_t *parent = b->tree.parent, *column = b->tree.column;
    uint32_t *of = take(&b->arena, n, sizeof *of); /* [column] its supernode */
    b->first = take(&b->arena, n + 1, sizeof *b->first);
    b->node = take(&b->arena, n, sizeof *b->node);
    b->next_part = take(&b->arena, n, sizeof *b->next_part);
    b->order = take(&b->arena, n, sizeof *b->order);
    if (!of || !b->first || !b->node || !b->next_part || !b->order)
        return kiln_fail_memory(error, n * sizeof *b->node);
    for (uint32_t c = 0; c < n; c++) {
        if (c == 0 || parent[c - 1] != c || column[c - 1] != column[c] + 1)
            b->first[b->count++] = c;
        of[c] = (uint32_t)b->count - 1;
    }
    b->first[b->count] = (uint32_t)n;
    for (uint32_t s = 0; s < b->count; s++) {
        uint32_t last = b->first[s + 1] - 1;
        b->next_part[s] = NONE;
        b->node[s] = (forming){.width = b->first[s + 1] - b->first[s],
                               .rows = column[last] - 1,
                               .parent = parent[last] == NONE ? NONE : of[parent[last]],
                               .child = NONE,
                               .part = s,
                               .last_part = s};
    }
    for (uint32_t s = (uint32_t)b->count; s-- > 0;)
        if (b->node[s].parent != NONE) {
            b->node[s].sibling = b->node[b->node[s].parent].child;
            b->node[b->node[s].parent].child = s;
        }
    return KILN_OK;
}

/* Zeros that the union of a node with its child has in all; less than 0: it is not worth it. */
static double zeros_with(const forming *node, const forming *child)
{
    double width = (double)node->width + child->width, rows = node->rows;
    double added = child->width * ((double)node->width + rows - child->rows);
    double zeros = node->zeros + child->zeros + added;
    double entries = width * (0.5 * (width + 1.0) + rows);
    int i = 0;
    while (width > allowed[i].width)
        i++;
    return added == 0.0 || zeros < allowed[i].zeros * entries ? zeros : -1.0;
}

/* Takes the child after `before` (NONE: the first) into the node; its children become the node's.
 */
static void absorb(build *b, uint32_t s, uint32_t before, double zeros)
{
    forming *node = &b->node[s];
    uint32_t *link = before == NONE ? &node->child : &b->node[before].sibling, c = *link;
    forming *child = &b->node[c];
    *link = child->sibling;
    if (child->child != NONE) {
        uint32_t last = child->child;
        for (; b->node[last].sibling != NONE; last = b->node[last].sibling)
            b->node[last].parent = s;
        b->node[last].parent = s;
        b->node[last].sibling = *link;
        *link = child->child;
    }
    b->next_part[child->last_part] = node->part;
    node->part = child->part;
    node->width += child->width;
    node->zeros = zeros;
    child->width = 0; /* it is no more */
}

/* Y2 */
static void amalgamate(build *b)
{
    for (uint32_t s = 0; s < b->count; s++)
        for (;;) {
            uint32_t best = NONE, before = NONE;
            double least = 0.0;
            for (uint32_t c = b->node[s].child, last = NONE; c != NONE;
                 last = c, c = b->node[c].sibling) {
                double zeros = zeros_with(&b->node[s], &b->node[c]);
                zeros -= zeros < 0.0 ? 0.0 : b->node[c].zeros;
                if (zeros >= 0.0 && (best == NONE || zeros < least)) {
                    best = c;
                    before = last;
                    least = zeros;
                }
            }
            if (best == NONE)
                break;
            absorb(b, s, before, least + b->node[best].zeros);
        }
}

static bool is_alone(const forming *node)
{
    return node->width && !node->rows && node->child == NONE && node->parent == NONE;
}

/* Y2: each takes the one before, as long as it may have the zeros. */
static void gather_alone(build *b)
{
    forming *before = NULL;
    for (uint32_t s = 0; s < b->count; s++) {
        forming *node = &b->node[s];
        if (!is_alone(node))
            continue;
        double zeros = before ? zeros_with(node, before) : -1.0;
        if (zeros >= 0.0) {
            b->next_part[before->last_part] = node->part;
            node->part = before->part;
            node->width += before->width;
            node->zeros = zeros;
            before->width = 0;
        }
        before = node;
    }
}

typedef struct kin {
    double gain;
    uint32_t node;
} kin;

static int by_gain(const void *left, const void *right)
{
    const kin *a = left, *b = right;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Y3: the children of s in order, and what its subtree needs. */
static void order_children(build *b, uint32_t s, kin *room)
{
    forming *node = &b->node[s];
    size_t count = 0;
    for (uint32_t c = node->child; c != NONE; c = b->node[c].sibling)
        room[count++] = (kin){b->node[c].peak - b->node[c].left, c};
    if (count > 1)
        qsort(room, count, sizeof *room, by_gain);
    double held = 0.0, size = (double)node->width + node->rows;
    node->peak = 0.0;
    node->child = NONE;
    for (size_t i = 0; i < count; i++) {
        const forming *child = &b->node[room[i].node];
        node->peak = node->peak > held + child->peak ? node->peak : held + child->peak;
        held += child->left;
    }
    for (size_t i = count; i-- > 0;) {
        b->node[room[i].node].sibling = node->child;
        node->child = room[i].node;
    }
    node->left = 0.5 * node->rows * node->rows;
    node->peak = node->peak > held + size * size ? node->peak : held + size * size;
}

/* b->order in postorder. Absorbed nodes come before those that took them, so children still do. */
static kiln_status order_nodes(build *b, kiln_error *error)
{
    kin *room = take(&b->arena, b->count, sizeof *room);
    uint32_t *child = take(&b->arena, b->count, sizeof *child);
    if (!room || !child)
        return kiln_fail_memory(error, b->count * sizeof *room);
    uint32_t root = NONE;
    for (uint32_t s = 0; s < b->count; s++)
        if (b->node[s].width)
            order_children(b, s, room);
    for (uint32_t s = (uint32_t)b->count; s-- > 0;) {
        child[s] = b->node[s].child;
        if (b->node[s].width && b->node[s].parent == NONE) {
            b->node[s].sibling = root;
            root = s;
        }
    }
    for (uint32_t s = root; s != NONE;) {
        while (child[s] != NONE) {
            uint32_t below = child[s];
            child[s] = NONE;
            s = below;
        }
        b->order[b->kept++] = s;
        s = b->node[s].sibling != NONE ? b->node[s].sibling : b->node[s].parent;
    }
    return KILN_OK;
}

static kiln_status allocate(build *b, kiln_error *error)
{
    kiln_symbolic *out = b->out;
    out->rows = b->matrix->rows;
    out->count = b->kept;
    out->entry_count = (size_t)b->matrix->start[out->rows];
    for (size_t i = 0; i < b->kept; i++)
        out->row_count += b->node[b->order[i]].rows;
    out->place = kiln_resize(out->context, NULL, 0, (out->rows + 1) * sizeof *out->place);
    out->order = kiln_resize(out->context, NULL, 0, (out->rows + 1) * sizeof *out->order);
    out->node = kiln_resize(out->context, NULL, 0, (out->count + 1) * sizeof *out->node);
    out->row = kiln_resize(out->context, NULL, 0, (out->row_count + 1) * sizeof *out->row);
    out->relative =
        kiln_resize(out->context, NULL, 0, (out->row_count + 1) * sizeof *out->relative);
    out->entry = kiln_resize(out->context, NULL, 0, (out->entry_count + 1) * sizeof *out->entry);
    if (!out->place || !out->order || !out->node || !out->row || !out->relative || !out->entry)
        return kiln_fail_memory(error, out->entry_count * sizeof *out->entry);
    return KILN_OK;
}

/* Nodes with their columns, and where each row of the matrix is in the end. */
static kiln_status number_nodes(build *b, kiln_error *error)
{
    kiln_symbolic *out = b->out;
    size_t n = out->rows;
    uint32_t *number = take(&b->arena, b->count, sizeof *number);
    uint32_t *moved = take(&b->arena, n, sizeof *moved); /* [column before] */
    if (!number || !moved)
        return kiln_fail_memory(error, n * sizeof *moved);
    uint32_t column = 0;
    uint64_t row = 0;
    for (uint32_t i = 0; i < b->kept; i++) {
        const forming *f = &b->node[b->order[i]];
        number[b->order[i]] = i;
        out->node[i] = (kiln_supernode){
            .first = column, .width = f->width, .rows = f->rows, .row = row, .child = NONE};
        row += f->rows;
        for (uint32_t part = f->part; part != NONE; part = b->next_part[part])
            for (uint32_t c = b->first[part]; c < b->first[part + 1]; c++)
                moved[c] = column++;
    }
    for (uint32_t i = (uint32_t)b->kept; i-- > 0;) {
        kiln_supernode *node = &out->node[i];
        uint32_t parent = b->node[b->order[i]].parent;
        node->parent = parent == NONE ? NONE : number[parent];
        node->sibling = NONE;
        if (node->parent != NONE) {
            node->sibling = out->node[node->parent].child;
            out->node[node->parent].child = i;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        out->place[i] = moved[b->tree.place[i]];
        out->order[out->place[i]] = i;
    }
    return KILN_OK;
}

/* A set of places, with a word that tells which words are in use. */
typedef struct place_set {
    uint64_t *word, *used;
} place_set;

static void put(const place_set *set, uint32_t place)
{
    set->word[place >> 6] |= UINT64_C(1) << (place & 63);
    set->used[place >> 12] |= UINT64_C(1) << (place >> 6 & 63);
}

/* Takes all out that are between `first` and `end`, ascending. */
static size_t empty(const place_set *set, uint32_t first, uint32_t end, uint32_t *out)
{
    size_t count = 0;
    for (uint32_t u = first >> 12; u <= (end - 1) >> 12; u++)
        for (; set->used[u]; set->used[u] &= set->used[u] - 1) {
            uint32_t w = (u << 6) + (uint32_t)KILN_TRAILING_ZEROS64(set->used[u]);
            for (; set->word[w]; set->word[w] &= set->word[w] - 1)
                out[count++] = (w << 6) + (uint32_t)KILN_TRAILING_ZEROS64(set->word[w]);
        }
    return count;
}

typedef struct structure_job {
    build *build;
    const uint32_t *begin; /* [node] first of its subtree */
    uint32_t *work;        /* [worker][place] where a place is in a front */
    place_set *set;        /* [worker] */
    size_t parts;
} structure_job;

/* The rows of a node: those of its columns in the matrix, and what its children have left. */
static void find_rows(const build *b, const place_set *set, uint32_t i)
{
    const kiln_symbolic *out = b->out;
    const kiln_row_graph *graph = b->graph;
    kiln_supernode *node = &out->node[i];
    uint32_t end = node->first + node->width;
    node->entries = node->width;
    for (uint32_t place = node->first; place < end; place++)
        for (uint64_t k = graph->start[out->order[place]]; k < graph->start[out->order[place] + 1];
             k++) {
            uint32_t other = out->place[graph->neighbour[k]];
            node->entries += other > place;
            if (other >= end)
                put(set, other);
        }
    for (uint32_t c = node->child; c != NONE; c = out->node[c].sibling) {
        const uint32_t *row = out->row + out->node[c].row;
        for (uint32_t k = 0; k < out->node[c].rows; k++)
            if (row[k] >= end)
                put(set, row[k]);
    }
    if (node->rows)
        (void)empty(set, end, (uint32_t)out->rows, out->row + node->row);
}

/* Subtrees that lie within a part of the nodes are its own. */
static size_t part_begin(const structure_job *job, size_t part)
{
    return job->build->out->count * part / job->parts;
}

static void rows_part(void *user, size_t part, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end;
    const structure_job *job = user;
    for (size_t i = part_begin(job, part); i < part_begin(job, part + 1); i++)
        if (job->begin[i] >= part_begin(job, part))
            find_rows(job->build, &job->set[worker], (uint32_t)i);
}

static void find_other_rows(const structure_job *job)
{
    for (size_t part = 1; part < job->parts; part++)
        for (size_t i = part_begin(job, part); i < part_begin(job, part + 1); i++)
            if (job->begin[i] < part_begin(job, part))
                find_rows(job->build, &job->set[0], (uint32_t)i);
}

static uint64_t block_of(const kiln_bsr *matrix, uint32_t row, uint32_t column)
{
    uint64_t low = matrix->start[row], high = matrix->start[row + 1];
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (matrix->column[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where the matrix's blocks, and the rows of its children, go in the front of a node. */
static void find_entries(const build *b, uint32_t *local, uint32_t i)
{
    const kiln_symbolic *out = b->out;
    const kiln_row_graph *graph = b->graph;
    const kiln_supernode *node = &out->node[i];
    const uint32_t *row = out->row + node->row;
    kiln_front_entry *entry = out->entry + node->entry;
    for (uint32_t k = 0; k < node->rows; k++)
        local[row[k]] = node->width + k;
    for (uint32_t c = 0; c < node->width; c++) {
        uint32_t place = node->first + c, own = out->order[place];
        local[place] = c;
        *entry++ = (kiln_front_entry){b->matrix->start[own], own, c, c, false};
    }
    for (uint32_t c = 0; c < node->width; c++) {
        uint32_t place = node->first + c, own = out->order[place];
        uint64_t next = b->matrix->start[own] + 1; /* of the blocks of its own row */
        for (uint64_t k = graph->start[own]; k < graph->start[own + 1]; k++) {
            uint32_t other = graph->neighbour[k];
            bool above = other < own;
            uint64_t block = above ? 0 : next++;
            if (out->place[other] > place)
                *entry++ =
                    (kiln_front_entry){above ? block_of(b->matrix, other, own) : block,
                                       above ? other : own, local[out->place[other]], c, !above};
        }
    }
    for (uint32_t c = node->child; c != NONE; c = out->node[c].sibling)
        for (uint32_t k = 0; k < out->node[c].rows; k++)
            out->relative[out->node[c].row + k] = local[out->row[out->node[c].row + k]];
}

static void entries_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    const structure_job *job = user;
    uint32_t *local = job->work + (size_t)worker * job->build->out->rows;
    for (size_t i = begin; i < end; i++)
        find_entries(job->build, local, (uint32_t)i);
}

static kiln_status find_structure(build *b, kiln_error *error)
{
    kiln_symbolic *out = b->out;
    size_t n = out->rows, workers = (size_t)out->context->threads;
    uint32_t *begin = take(&b->arena, out->count, sizeof *begin);
    structure_job job = {b, begin, take(&b->arena, workers * n, sizeof *job.work),
                         take(&b->arena, workers, sizeof *job.set), workers};
    if (!begin || !job.work || !job.set)
        return kiln_fail_memory(error, workers * n * sizeof *job.work);
    for (size_t w = 0; w < workers; w++) {
        job.set[w] = (place_set){take(&b->arena, n / 64 + 1, sizeof(uint64_t)),
                                 take(&b->arena, n / 4096 + 1, sizeof(uint64_t))};
        if (!job.set[w].word || !job.set[w].used)
            return kiln_fail_memory(error, n / 8);
        memset(job.set[w].word, 0, (n / 64 + 1) * sizeof(uint64_t));
        memset(job.set[w].used, 0, (n / 4096 + 1) * sizeof(uint64_t));
    }
    for (uint32_t i = 0; i < out->count; i++)
        begin[i] = out->node[i].child == NONE ? i : begin[out->node[i].child];
    kiln_parallel_for(out->context, job.parts, 1, rows_part, &job);
    find_other_rows(&job);
    for (size_t i = 1; i < out->count; i++)
        out->node[i].entry = out->node[i - 1].entry + out->node[i - 1].entries;
    kiln_parallel_for(out->context, out->count, NODE_GRAIN, entries_chunk, &job);
    return KILN_OK;
}

static kiln_status build_tree(build *b, kiln_error *error)
{
    KILN_TRY(kiln_elimination_build(&b->tree, &b->arena, b->graph, b->eliminated, error));
    KILN_TRY(find_supernodes(b, error));
    amalgamate(b);
    gather_alone(b);
    KILN_TRY(order_nodes(b, error));
    KILN_TRY(allocate(b, error));
    return number_nodes(b, error);
}

/* The tree, and what there is to do beside it. */
static void tree_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    build *b = user;
    if (chunk == 0) {
        b->status = build_tree(b, b->error);
    } else {
        b->aside->run(b->aside->user);
        b->aside->done = true;
    }
}

kiln_status kiln_symbolic_build(kiln_symbolic *out, kiln_context *context, const kiln_bsr *matrix,
                                const kiln_row_graph *graph, const uint32_t *order,
                                kiln_solver_aside *aside, kiln_error *error)
{
    build b = {.out = out,
               .matrix = matrix,
               .graph = graph,
               .eliminated = order,
               .aside = aside,
               .error = error};
    *out = (kiln_symbolic){.context = context};
    kiln_arena_init(&b.arena, context);
    kiln_parallel_for(context, aside && !aside->done ? 2 : 1, 1, tree_chunk, &b);
    kiln_status status = b.status;
    if (status == KILN_OK)
        status = find_structure(&b, error);
    kiln_arena_destroy(&b.arena);
    if (status != KILN_OK)
        kiln_symbolic_free(out);
    return status;
}

void kiln_symbolic_free(kiln_symbolic *s)
{
    if (!s->context)
        return;
    kiln_release(s->context, s->place, (s->rows + 1) * sizeof *s->place);
    kiln_release(s->context, s->order, (s->rows + 1) * sizeof *s->order);
    kiln_release(s->context, s->node, (s->count + 1) * sizeof *s->node);
    kiln_release(s->context, s->row, (s->row_count + 1) * sizeof *s->row);
    kiln_release(s->context, s->relative, (s->row_count + 1) * sizeof *s->relative);
    kiln_release(s->context, s->entry, (s->entry_count + 1) * sizeof *s->entry);
    *s = (kiln_symbolic){.context = NULL};
}

size_t kiln_symbolic_bytes(const kiln_symbolic *s)
{
    return 2 * s->rows * sizeof *s->place + s->count * sizeof *s->node +
           2 * s->row_count * sizeof *s->row + s->entry_count * sizeof *s->entry;
}
