/* An edge crosses the tree when neither of its nodes is an ancestor of the other. One of its ends
 * has to go up to the node where the paths of both to the root meet, or further: it then is above
 * all it was above or beside, so no other edge comes to cross. The highest meeting nodes are seen
 * to first, because an end that has gone up may spare others below. */
#include "solve/dissect.h"

#include "base/parallel.h"
#include "solve/dissect_cost.h"
#include "solve/dissect_cover.h"
#include "solve/dissect_joints.h"

#include <string.h>

enum { NONE = 0xFFFFFFFFu };

typedef struct crossing {
    uint32_t end[2];
    uint32_t meet; /* node */
} crossing;

typedef struct repair {
    kiln_context *context;
    const kiln_dissection *base;
    const kiln_row_graph *graph;
    KILN_ARRAY_OF(crossing)
    crossings;
    uint32_t *low;    /* [node] first of its subtree */
    uint32_t *target; /* [vertex] node where it goes */
    uint32_t *sorted; /* [place] vertices by target */
    uint32_t *begin;  /* [node + 1] of them */
    uint32_t *local;  /* [vertex] number in a group of crossings; NONE */
    void *memory;
    size_t bytes;
} repair;

static kiln_status reserve(repair *r, kiln_error *error)
{
    size_t n = r->base->count, nodes = r->base->nodes;
    r->bytes = (3 * n + 2 * nodes + 1) * sizeof(uint32_t);
    r->memory = kiln_resize(r->context, NULL, 0, r->bytes);
    if (!r->memory)
        return kiln_fail_memory(error, r->bytes);
    r->low = r->memory;
    r->begin = r->low + nodes;
    r->target = r->begin + nodes + 1;
    r->sorted = r->target + n;
    r->local = r->sorted + n;
    memset(r->local, 0xFF, n * sizeof(uint32_t));
    return KILN_OK;
}

static void index_tree(repair *r)
{
    const kiln_dissection *t = r->base;
    for (uint32_t k = 0; k < t->nodes; k++)
        r->low[k] = k;
    for (uint32_t k = 0; k < t->nodes; k++) {
        if (k + 1 < t->nodes && r->low[k] < r->low[t->parent[k]])
            r->low[t->parent[k]] = r->low[k];
        for (uint32_t p = t->first[k]; p < t->first[k + 1]; p++)
            r->target[t->order[p]] = k;
    }
}

static bool is_above(const repair *r, uint32_t above, uint32_t node)
{
    return r->low[above] <= node && node <= above;
}

static uint32_t meeting_node(const repair *r, uint32_t a, uint32_t b)
{
    while (!is_above(r, a, b))
        a = r->base->parent[a];
    return a;
}

static kiln_status find_crossings(repair *r, kiln_error *error)
{
    const kiln_row_graph *g = r->graph;
    for (uint32_t v = 0; v < g->rows; v++)
        for (uint64_t k = g->start[v]; k < g->start[v + 1] && g->neighbour[k] < v; k++) {
            uint32_t u = g->neighbour[k], a = r->target[v], b = r->target[u];
            if (is_above(r, a, b) || is_above(r, b, a))
                continue;
            crossing c = {{v, u}, meeting_node(r, a, b)};
            KILN_TRY(kiln_array_push(r->context, &r->crossings, c, error));
        }
    return KILN_OK;
}

/* By meeting node, highest first. */
static void sort_crossings(const repair *r, const crossing *from, crossing *to, uint32_t *count)
{
    size_t nodes = r->base->nodes, n = r->crossings.count;
    memset(count, 0, (nodes + 1) * sizeof *count);
    for (size_t i = 0; i < n; i++)
        count[nodes - 1 - from[i].meet + 1]++;
    for (size_t k = 0; k < nodes; k++)
        count[k + 1] += count[k];
    for (size_t i = 0; i < n; i++)
        to[count[nodes - 1 - from[i].meet]++] = from[i];
}

typedef struct group {
    uint32_t (*edge)[2]; /* numbers of vertices */
    uint32_t *vertex;    /* [number] */
    uint32_t *scratch;
    uint8_t *chosen;
    uint32_t vertices;
    size_t edges;
} group;

static void add_edge(repair *r, group *g, const crossing *c)
{
    for (int e = 0; e < 2; e++) {
        uint32_t *number = &r->local[c->end[e]];
        if (*number == NONE) {
            *number = g->vertices;
            g->vertex[g->vertices++] = c->end[e];
        }
        g->edge[g->edges][e] = *number;
    }
    g->edges++;
}

static void lift_group(repair *r, group *g, const crossing *c, size_t count)
{
    uint32_t meet = c[0].meet;
    g->vertices = 0;
    g->edges = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_above(r, r->target[c[i].end[0]], meet) &&
            !is_above(r, r->target[c[i].end[1]], meet))
            add_edge(r, g, &c[i]);
    kiln_cover_edges(g->vertices, g->edges, (const uint32_t(*)[2])g->edge, g->scratch, g->chosen);
    for (uint32_t i = 0; i < g->vertices; i++) {
        r->local[g->vertex[i]] = NONE;
        if (g->chosen[i])
            r->target[g->vertex[i]] = meet;
    }
}

static kiln_status lift(repair *r, kiln_error *error)
{
    size_t n = r->crossings.count, most = 2 * n;
    if (n == 0)
        return KILN_OK;
    if (n > UINT32_MAX / 2)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "%zu new edges", n);
    size_t words = 3 * n + 2 * n + most + kiln_cover_words(most, n) + most / 4 + 1;
    uint32_t *memory = kiln_resize(r->context, NULL, 0, words * sizeof *memory);
    if (!memory)
        return kiln_fail_memory(error, words * sizeof *memory);
    crossing *sorted = (crossing *)memory;
    group g = {.edge = (uint32_t(*)[2])(memory + 3 * n), .vertex = memory + 5 * n};
    g.scratch = g.vertex + most;
    g.chosen = (uint8_t *)(g.scratch + kiln_cover_words(most, n));
    sort_crossings(r, r->crossings.data, sorted, r->begin);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && sorted[end].meet == sorted[i].meet;)
            end++;
        lift_group(r, &g, sorted + i, end - i);
    }
    kiln_release(r->context, memory, words * sizeof *memory);
    return KILN_OK;
}

/* What goes up comes before what was there, both in their old order. */
static void sort_by_target(repair *r)
{
    const kiln_dissection *t = r->base;
    memset(r->begin, 0, (t->nodes + 1) * sizeof *r->begin);
    for (size_t v = 0; v < t->count; v++)
        r->begin[r->target[v] + 1]++;
    for (size_t k = 0; k < t->nodes; k++)
        r->begin[k + 1] += r->begin[k];
    for (size_t p = 0; p < t->count; p++) {
        uint32_t v = t->order[p];
        r->sorted[r->begin[r->target[v]]++] = v;
    }
    memmove(r->begin + 1, r->begin, t->nodes * sizeof *r->begin);
    r->begin[0] = 0;
}

static kiln_status keep_tree(const repair *r, kiln_dissection *out, kiln_error *error)
{
    const kiln_dissection *t = r->base;
    KILN_TRY(kiln_dissection_reserve_nodes(r->context, out, t->nodes, error));
    memcpy(out->first, r->begin, (t->nodes + 1) * sizeof(uint32_t));
    memcpy(out->parent, t->parent, t->nodes * sizeof(uint32_t));
    if (t->count)
        memcpy(out->order, r->sorted, t->count * sizeof(uint32_t));
    return KILN_OK;
}

/* The subtrees of the root, for when it owns no vertices: bodies that did not touch. */
typedef struct forest {
    size_t bodies;
    uint32_t *body;  /* [vertex] */
    uint32_t *top;   /* [body] its highest node, and where that came */
    uint32_t *below; /* [body] node of the joints it hangs from */
    uint32_t *next;  /* [body] that hangs from the same */
    uint32_t *head;  /* [node of the joints] */
    uint32_t *at;    /* [node of the joints] where it came */
    void *memory;
    size_t bytes;
} forest;

static kiln_status reserve_forest(const repair *r, size_t joints, forest *f, kiln_error *error)
{
    size_t n = r->base->count, nodes = r->base->nodes, most = 2 * joints + 1;
    f->bytes = (n + 3 * nodes + 2 * most) * sizeof(uint32_t);
    f->memory = kiln_resize(r->context, NULL, 0, f->bytes);
    if (!f->memory)
        return kiln_fail_memory(error, f->bytes);
    f->body = f->memory;
    f->top = f->body + n;
    f->below = f->top + nodes;
    f->next = f->below + nodes;
    f->head = f->next + nodes;
    f->at = f->head + most;
    return KILN_OK;
}

static void number_bodies(const repair *r, forest *f)
{
    const kiln_dissection *t = r->base;
    uint32_t root = (uint32_t)t->nodes - 1;
    for (uint32_t k = 0; k < root; k++) {
        for (uint32_t p = t->first[k]; p < t->first[k + 1]; p++)
            f->body[t->order[p]] = (uint32_t)f->bodies;
        if (t->parent[k] == root)
            f->top[f->bodies++] = k;
    }
}

static uint32_t write_node(kiln_dissection *out, const uint32_t *vertex, uint32_t count)
{
    uint32_t node = (uint32_t)out->nodes++, first = out->first[node];
    memcpy(out->order + first, vertex, count * sizeof *vertex);
    out->first[node + 1] = first + count;
    return node;
}

/* Returns where the highest node came; its parent is not known yet. */
static uint32_t write_subtree(const repair *r, uint32_t top, kiln_dissection *out)
{
    uint32_t first = r->low[top], shift = (uint32_t)out->nodes - first, at = 0;
    for (uint32_t k = first; k <= top; k++) {
        at = write_node(out, r->sorted + r->begin[k], r->begin[k + 1] - r->begin[k]);
        if (k != top)
            out->parent[at] = r->base->parent[k] + shift;
    }
    return at;
}

static void write_joined(const repair *r, const kiln_dissection *joints, forest *f,
                         kiln_dissection *out)
{
    memset(f->head, 0xFF, joints->nodes * sizeof *f->head);
    for (size_t b = f->bodies; b-- > 0;) {
        f->next[b] = f->head[f->below[b]];
        f->head[f->below[b]] = (uint32_t)b;
    }
    out->nodes = 0;
    out->first[0] = 0;
    for (uint32_t k = 0; k < joints->nodes; k++) {
        uint32_t first = joints->first[k];
        for (uint32_t b = f->head[k]; b != NONE; b = f->next[b])
            f->top[b] = write_subtree(r, f->top[b], out);
        f->at[k] = write_node(out, joints->order + first, joints->first[k + 1] - first);
    }
    for (size_t b = 0; b < f->bodies; b++)
        out->parent[f->top[b]] = f->at[f->below[b]];
    for (uint32_t k = 0; k + 1 < joints->nodes; k++)
        out->parent[f->at[k]] = f->at[joints->parent[k]];
    out->parent[out->nodes - 1] = (uint32_t)out->nodes;
}

/* The root has what joins the bodies, in the order of r->sorted; it becomes a tree. */
static kiln_status join_bodies(const repair *r, kiln_dissection *out, kiln_error *error)
{
    uint32_t root = (uint32_t)r->base->nodes - 1, first = r->begin[root];
    size_t count = r->begin[root + 1] - first;
    forest f = {0};
    kiln_dissection joints = {0};
    kiln_status status = reserve_forest(r, count, &f, error);
    if (status == KILN_OK) {
        number_bodies(r, &f);
        kiln_joints between = {f.bodies, f.body, count, r->sorted + first};
        status = kiln_dissect_joints(r->context, r->graph, &between, &joints, f.below, error);
    }
    if (status == KILN_OK)
        status = kiln_dissection_reserve_nodes(r->context, out, root + joints.nodes, error);
    if (status == KILN_OK)
        write_joined(r, &joints, &f, out);
    kiln_dissection_free(r->context, &joints);
    kiln_release(r->context, f.memory, f.bytes);
    return status;
}

/* A new order takes as long as about 4000 block operations of a factor for each vertex, and no
 * order costs less than that without the new edges. There has to be much more to win than that,
 * because most of what new edges cost any order has to pay. */
static const double WORTH = 16000.0;

typedef struct costing {
    const repair *repair;
    const kiln_dissection *tree[2];
    double cost[2];
    kiln_status status[2];
    kiln_error error[2];
} costing;

static void cost_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    costing *c = user;
    c->status[chunk] = kiln_dissection_cost(c->repair->context, c->tree[chunk], c->repair->graph,
                                            &c->cost[chunk], &c->error[chunk]);
}

static kiln_status order_anew_if_worth(const repair *r, kiln_dissection *out, kiln_error *error)
{
    kiln_context *context = r->context;
    costing costs = {.repair = r, .tree = {r->base, out}};
    double lifted, anew;
    kiln_dissection other;
    kiln_parallel_for(context, 2, 1, cost_chunk, &costs);
    for (int i = 0; i < 2; i++)
        if (costs.status[i] != KILN_OK) {
            if (error)
                *error = costs.error[i];
            return costs.status[i];
        }
    lifted = costs.cost[1];
    if (lifted - costs.cost[0] < WORTH * (double)out->count)
        return KILN_OK;
    KILN_TRY(kiln_dissect(context, r->graph, &other, error));
    kiln_status status = kiln_dissection_cost(context, &other, r->graph, &anew, error);
    if (status == KILN_OK && anew < lifted) {
        kiln_dissection worse = *out;
        *out = other;
        other = worse;
    }
    kiln_dissection_free(context, &other);
    return status;
}

/* With more crossings than this share of all edges a new order is the better one: up to half the
 * operations in piles, on mats and where bodies are wedged, and it is found as soon. */
static const double MOST_CROSSINGS = 0.03;

static kiln_status run(repair *r, kiln_dissection *out, kiln_error *error)
{
    const kiln_dissection *t = r->base;
    uint32_t root = (uint32_t)t->nodes - 1;
    KILN_TRY(reserve(r, error));
    index_tree(r);
    KILN_TRY(find_crossings(r, error));
    if ((double)r->crossings.count > MOST_CROSSINGS * 0.5 * (double)r->graph->edges)
        return kiln_dissect(r->context, r->graph, out, error);
    KILN_TRY(lift(r, error));
    sort_by_target(r);
    KILN_TRY(kiln_dissection_reserve(r->context, out, t->count, error));
    if (t->first[root] == t->count && r->begin[root] < t->count)
        KILN_TRY(join_bodies(r, out, error));
    else
        KILN_TRY(keep_tree(r, out, error));
    out->repaired = true;
    return r->crossings.count ? order_anew_if_worth(r, out, error) : KILN_OK;
}

kiln_status kiln_dissection_repair(kiln_context *context, const kiln_dissection *base,
                                   const kiln_row_graph *grown, kiln_dissection *out,
                                   kiln_error *error)
{
    repair r = {.context = context, .base = base, .graph = grown};
    *out = (kiln_dissection){0};
    kiln_status status = run(&r, out, error);
    if (status != KILN_OK)
        kiln_dissection_free(context, out);
    kiln_array_free(context, &r.crossings);
    kiln_release(context, r.memory, r.bytes);
    return status;
}
