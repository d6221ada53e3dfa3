/* Refinement of vertex separators. A vertex of the separator may go to either side; its neighbours
 * on the other side then come into the separator. The move that makes the separator lightest is
 * made first, worse ones too, and at the end of a pass the best state there was is taken again.
 *
 * 1. pull[v][s], for v in the separator, is the weight of its neighbours on side s.
 * 2. A vertex leaves the separator at most once a pass; one that came in may go on only to the side
 *    that pulled it. */
#include "solve/dissect_bisect.h"

#include <math.h>
#include <string.h>

enum { NOWHERE = 0xFFFFFFFFu, PASSES = 6, PATIENCE = 60 };

typedef struct heap_item {
    int32_t gain;
    uint32_t vertex;
} heap_item;

typedef struct gain_heap {
    heap_item *item;
    uint32_t count;
    uint32_t *place; /* [vertex] */
} gain_heap;

struct kiln_refiner {
    const kiln_level *level;
    uint8_t *part;
    uint32_t side[3]; /* weights */
    uint32_t most;    /* that a side may weigh */
    gain_heap heap[2];
    uint32_t (*pull)[2];
    uint32_t *touched, touched_count; /* all that were in the separator during this pass */
    uint32_t *moved, moves;           /* vertex and side it went to (highest bit) */
    uint32_t *pulled, pulls;
    uint32_t *pulls_before; /* [move] */
    uint8_t *locked;
};

size_t kiln_refiner_words(size_t count)
{
    return (sizeof(kiln_refiner) + 3) / 4 + 1 + 16 * count + (count + 3) / 4;
}

kiln_refiner *kiln_refiner_start(size_t n, kiln_words *words)
{
    if ((uintptr_t)words->at % 8)
        kiln_words_take(words, 1);
    kiln_refiner *r = (void *)kiln_words_take(words, sizeof(kiln_refiner) / 4);
    memset(r, 0, sizeof *r);
    for (int s = 0; s < 2; s++) {
        r->heap[s].item = (void *)kiln_words_take(words, 2 * n);
        r->heap[s].place = kiln_words_take(words, n);
        memset(r->heap[s].place, 0xFF, n * sizeof(uint32_t));
    }
    r->pull = (void *)kiln_words_take(words, 2 * n);
    r->touched = kiln_words_take(words, 4 * n);
    r->moved = kiln_words_take(words, n);
    r->pulls_before = kiln_words_take(words, n);
    r->pulled = kiln_words_take(words, 2 * n);
    r->locked = (void *)kiln_words_take(words, (n + 3) / 4);
    memset(r->locked, 0, n);
    return r;
}

static void heap_set(gain_heap *h, uint32_t at, heap_item item)
{
    h->item[at] = item;
    h->place[item.vertex] = at;
}

static void heap_up(gain_heap *h, uint32_t at, heap_item item)
{
    for (uint32_t above; at > 0 && h->item[above = (at - 1) / 2].gain < item.gain; at = above)
        heap_set(h, at, h->item[above]);
    heap_set(h, at, item);
}

static void heap_down(gain_heap *h, uint32_t at, heap_item item)
{
    for (uint32_t below; (below = 2 * at + 1) < h->count; at = below) {
        if (below + 1 < h->count && h->item[below + 1].gain > h->item[below].gain)
            below++;
        if (h->item[below].gain <= item.gain)
            break;
        heap_set(h, at, h->item[below]);
    }
    heap_set(h, at, item);
}

static void heap_insert(gain_heap *h, uint32_t vertex, int32_t gain)
{
    heap_up(h, h->count++, (heap_item){gain, vertex});
}

static void heap_change(gain_heap *h, uint32_t vertex, int32_t gain)
{
    uint32_t at = h->place[vertex];
    if (at == NOWHERE)
        return;
    if (gain > h->item[at].gain)
        heap_up(h, at, (heap_item){gain, vertex});
    else
        heap_down(h, at, (heap_item){gain, vertex});
}

static void heap_remove(gain_heap *h, uint32_t vertex)
{
    uint32_t at = h->place[vertex];
    if (at == NOWHERE)
        return;
    heap_item last = h->item[--h->count];
    h->place[vertex] = NOWHERE;
    if (at == h->count)
        return;
    if (at > 0 && h->item[(at - 1) / 2].gain < last.gain)
        heap_up(h, at, last);
    else
        heap_down(h, at, last);
}

static void heap_clear(gain_heap *h)
{
    for (uint32_t i = 0; i < h->count; i++)
        h->place[h->item[i].vertex] = NOWHERE;
    h->count = 0;
}

static int32_t gain_of(const kiln_refiner *r, uint32_t v, int to)
{
    return (int32_t)(r->level->weight[v] - r->pull[v][1 - to]);
}

static void count_pull(kiln_refiner *r, uint32_t v)
{
    const kiln_level *g = r->level;
    uint32_t pull[3] = {0};
    for (uint32_t k = g->start[v]; k < g->start[v + 1]; k++)
        pull[r->part[g->column[k]]] += g->weight[g->column[k]];
    r->pull[v][0] = pull[0];
    r->pull[v][1] = pull[1];
}

static void take_in(kiln_refiner *r, uint32_t v, int to)
{
    const kiln_level *g = r->level;
    int from = 1 - to;
    uint32_t weight = g->weight[v], pull[2] = {0};
    r->part[v] = KILN_SIDE_BETWEEN;
    r->side[from] -= weight;
    r->side[2] += weight;
    for (uint32_t k = g->start[v]; k < g->start[v + 1]; k++) {
        uint32_t u = g->column[k];
        if (r->part[u] != KILN_SIDE_BETWEEN) {
            pull[r->part[u]] += g->weight[u];
        } else {
            r->pull[u][from] -= weight;
            heap_change(&r->heap[to], u, gain_of(r, u, to));
        }
    }
    r->pull[v][0] = pull[0];
    r->pull[v][1] = pull[1];
    r->pulled[r->pulls++] = v;
    r->touched[r->touched_count++] = v;
    if (!r->locked[v])
        heap_insert(&r->heap[to], v, gain_of(r, v, to));
}

static void move_out(kiln_refiner *r, uint32_t v, int to)
{
    const kiln_level *g = r->level;
    uint32_t weight = g->weight[v];
    heap_remove(&r->heap[0], v);
    heap_remove(&r->heap[1], v);
    r->pulls_before[r->moves] = r->pulls;
    r->moved[r->moves++] = v | (uint32_t)to << 31;
    r->locked[v] = 1;
    r->part[v] = (uint8_t)to;
    r->side[2] -= weight;
    r->side[to] += weight;
    for (uint32_t k = g->start[v]; k < g->start[v + 1]; k++) {
        uint32_t u = g->column[k];
        if (r->part[u] == KILN_SIDE_BETWEEN) {
            r->pull[u][to] += weight;
            heap_change(&r->heap[1 - to], u, gain_of(r, u, 1 - to));
        } else if (r->part[u] != to) {
            take_in(r, u, to);
        }
    }
}

static void take_back(kiln_refiner *r, uint32_t moves)
{
    const kiln_level *g = r->level;
    while (r->moves > moves) {
        uint32_t last = r->moved[--r->moves], v = last & 0x7FFFFFFFu, to = last >> 31;
        for (; r->pulls > r->pulls_before[r->moves]; r->pulls--) {
            uint32_t u = r->pulled[r->pulls - 1];
            r->part[u] = (uint8_t)(1 - to);
            r->side[1 - to] += g->weight[u];
            r->side[2] -= g->weight[u];
        }
        r->part[v] = KILN_SIDE_BETWEEN;
        r->side[2] += g->weight[v];
        r->side[to] -= g->weight[v];
    }
}

/* In three dimensions a factor costs the cube of its top separator and as much again in the sides,
 * whose costs are their squares: so sides that differ by a share d cost as much as a separator
 * larger by d^2 / 3. */
static double cost_of(const kiln_refiner *r)
{
    double left = r->side[0], right = r->side[1], total = r->level->total;
    if (left == 0.0 || right == 0.0)
        return INFINITY;
    double d = (left - right) / total;
    return r->side[2] * (1.0 + d * d / 3.0) + 1e-3 * d * d;
}

static bool may_go(const kiln_refiner *r, uint32_t v, int to)
{
    uint32_t after = r->side[to] + r->level->weight[v];
    return after <= r->most || after <= r->side[1 - to];
}

/* The side to which the best move goes; -1: there is none. */
static int choose_side(kiln_refiner *r)
{
    for (;;) {
        gain_heap *a = &r->heap[0], *b = &r->heap[1];
        if (!a->count && !b->count)
            return -1;
        int to = r->side[0] <= r->side[1] ? 0 : 1;
        if (!a->count || !b->count)
            to = a->count ? 0 : 1;
        else if (a->item[0].gain != b->item[0].gain)
            to = a->item[0].gain > b->item[0].gain ? 0 : 1;
        if (may_go(r, r->heap[to].item[0].vertex, to))
            return to;
        heap_remove(&r->heap[to], r->heap[to].item[0].vertex);
    }
}

/* Of all that were in the separator those that still are, once each. */
static void keep_inside(kiln_refiner *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->touched_count; i++)
        r->locked[r->touched[i]] = 0;
    for (uint32_t i = 0; i < r->touched_count; i++) {
        uint32_t v = r->touched[i];
        if (r->part[v] != KILN_SIDE_BETWEEN || r->locked[v])
            continue;
        r->locked[v] = 1;
        r->touched[kept++] = v;
    }
    for (uint32_t i = 0; i < kept; i++)
        r->locked[r->touched[i]] = 0;
    r->touched_count = kept;
}

static void begin_pass(kiln_refiner *r)
{
    r->moves = r->pulls = 0;
    for (uint32_t i = 0; i < r->touched_count; i++) {
        uint32_t v = r->touched[i];
        count_pull(r, v);
        heap_insert(&r->heap[0], v, gain_of(r, v, 0));
        heap_insert(&r->heap[1], v, gain_of(r, v, 1));
    }
}

static bool run_pass(kiln_refiner *r)
{
    double before = cost_of(r), best = before;
    uint32_t best_moves = 0;
    begin_pass(r);
    while (r->moves - best_moves < PATIENCE) {
        int to = choose_side(r);
        if (to < 0)
            break;
        move_out(r, r->heap[to].item[0].vertex, to);
        double cost = cost_of(r);
        if (cost < best) {
            best = cost;
            best_moves = r->moves;
        }
    }
    heap_clear(&r->heap[0]);
    heap_clear(&r->heap[1]);
    take_back(r, best_moves);
    keep_inside(r);
    return best < before;
}

static void attach(kiln_refiner *r, const kiln_level *level, uint8_t *part)
{
    r->level = level;
    r->part = part;
    r->most = (uint32_t)(0.6 * level->total);
    r->touched_count = 0;
    memset(r->side, 0, sizeof r->side);
    for (uint32_t v = 0; v < level->count; v++) {
        r->side[part[v]] += level->weight[v];
        if (part[v] == KILN_SIDE_BETWEEN)
            r->touched[r->touched_count++] = v;
    }
}

void kiln_refiner_grow(kiln_refiner *r, const kiln_level *level, uint32_t seed, uint8_t *part)
{
    memset(part, KILN_SIDE_RIGHT, level->count);
    part[seed] = KILN_SIDE_BETWEEN;
    attach(r, level, part);
    r->moves = r->pulls = 0;
    count_pull(r, seed);
    heap_insert(&r->heap[0], seed, gain_of(r, seed, 0));
    while (r->heap[0].count && r->side[0] < r->side[1])
        move_out(r, r->heap[0].item[0].vertex, 0);
    heap_clear(&r->heap[0]);
    keep_inside(r);
}

double kiln_refiner_improve(kiln_refiner *r, const kiln_level *level, uint8_t *part)
{
    attach(r, level, part);
    for (int pass = 0; pass < PASSES && run_pass(r); pass++)
        ;
    return cost_of(r);
}
