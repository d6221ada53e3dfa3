/* Refinement of vertex separators. A vertex of the separator goes to one side; its neighbours on
 * the other side then come into the separator. The move that makes the separator lightest is made
 * first, worse ones too, and at the end of a pass the best state there was is taken again.
 *
 * All moves of a pass go to one side, so that the separator travels; with moves to both it only
 * trembles where it is, and factors cost 4 % more. So during a pass
 * 1. a vertex comes in at most once, and leaves at most once;
 * 2. its gain, the weight that the separator loses when it leaves, only grows: it is its own weight
 *    less that of its neighbours on the side the separator travels into. */
#include "solve/dissect_bisect.h"

#include <math.h>
#include <string.h>

enum { NOWHERE = 0xFFFFFFFFu, FEW_MOVES = 10 };

static const double MOST_SHARE = 0.7; /* of all that a side may weigh */

typedef struct heap_item {
    int32_t gain;
    uint32_t vertex;
} heap_item;

struct kiln_refiner {
    const kiln_level *level;
    uint8_t *part;
    uint32_t side[3];      /* weights */
    uint32_t most;         /* that a side may weigh */
    uint8_t to, from;      /* sides of this pass */
    heap_item *heap;       /* vertices of the separator that may go, best first */
    uint32_t heap_count;   /* vertices in it */
    uint32_t *place;       /* [vertex] in the heap */
    uint32_t *inside;      /* all that were in the separator during this pass, as they came */
    uint32_t inside_count; /* vertices in it */
    uint32_t *moved;       /* those that left, as they left */
    uint32_t *came;        /* [move] inside_count before it */
    uint32_t moves;
    uint32_t *near[2]; /* neighbours of a vertex that leaves, and of one that comes */
};

size_t kiln_refiner_words(size_t count)
{
    return (sizeof(kiln_refiner) + 3) / 4 + 1 + 8 * count;
}

kiln_refiner *kiln_refiner_start(size_t n, kiln_words *words)
{
    if ((uintptr_t)words->at % 8)
        kiln_words_take(words, 1);
    kiln_refiner *r = (void *)kiln_words_take(words, sizeof(kiln_refiner) / 4);
    memset(r, 0, sizeof *r);
    r->heap = (void *)kiln_words_take(words, 2 * n);
    r->place = kiln_words_take(words, n);
    r->inside = kiln_words_take(words, n);
    r->moved = kiln_words_take(words, n);
    r->came = kiln_words_take(words, n);
    for (int i = 0; i < 2; i++)
        r->near[i] = kiln_words_take(words, n);
    memset(r->place, 0xFF, n * sizeof(uint32_t));
    return r;
}

static void heap_set(kiln_refiner *r, uint32_t at, heap_item item)
{
    r->heap[at] = item;
    r->place[item.vertex] = at;
}

static void heap_up(kiln_refiner *r, uint32_t at, heap_item item)
{
    for (uint32_t above; at > 0 && r->heap[above = (at - 1) / 2].gain < item.gain; at = above)
        heap_set(r, at, r->heap[above]);
    heap_set(r, at, item);
}

static void heap_insert(kiln_refiner *r, uint32_t vertex, int32_t gain)
{
    heap_up(r, r->heap_count++, (heap_item){gain, vertex});
}

static uint32_t heap_pop(kiln_refiner *r)
{
    uint32_t first = r->heap[0].vertex, at = 0;
    heap_item last = r->heap[--r->heap_count];
    r->place[first] = NOWHERE;
    if (r->heap_count == 0)
        return first;
    for (uint32_t below; (below = 2 * at + 1) < r->heap_count; at = below) {
        if (below + 1 < r->heap_count && r->heap[below + 1].gain > r->heap[below].gain)
            below++;
        if (r->heap[below].gain <= last.gain)
            break;
        heap_set(r, at, r->heap[below]);
    }
    heap_set(r, at, last);
    return first;
}

static void heap_clear(kiln_refiner *r)
{
    while (r->heap_count > 0)
        r->place[r->heap[--r->heap_count].vertex] = NOWHERE;
}

/* The vertex counts its neighbours. Which of them are inside is hard to predict, so they are
 * gathered without branches; returns how many. */
static uint32_t look_around(kiln_refiner *r, uint32_t v, uint32_t *inside)
{
    const kiln_level *g = r->level;
    uint32_t weight[3] = {0}, count = 0;
    for (uint32_t k = g->start[v]; k < g->start[v + 1]; k++) {
        uint32_t u = g->column[k];
        uint8_t part = r->part[u];
        weight[part] += g->weight[u];
        inside[count] = u;
        count += part == KILN_SIDE_BETWEEN;
    }
    heap_insert(r, v, (int32_t)(g->weight[v] - weight[r->from]));
    return count;
}

static void come_in(kiln_refiner *r, uint32_t v)
{
    uint32_t weight = r->level->weight[v], *inside = r->near[1];
    uint32_t count = look_around(r, v, inside);
    r->part[v] = KILN_SIDE_BETWEEN;
    r->side[r->from] -= weight;
    r->side[KILN_SIDE_BETWEEN] += weight;
    r->inside[r->inside_count++] = v;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = r->place[inside[i]];
        if (at != NOWHERE)
            heap_up(r, at, (heap_item){r->heap[at].gain + (int32_t)weight, inside[i]});
    }
}

static void leave(kiln_refiner *r, uint32_t v)
{
    const kiln_level *g = r->level;
    uint32_t weight = g->weight[v], *beyond = r->near[0], count = 0;
    r->came[r->moves] = r->inside_count;
    r->moved[r->moves++] = v;
    r->part[v] = r->to;
    r->side[KILN_SIDE_BETWEEN] -= weight;
    r->side[r->to] += weight;
    for (uint32_t k = g->start[v]; k < g->start[v + 1]; k++) {
        uint32_t u = g->column[k];
        beyond[count] = u;
        count += r->part[u] == r->from;
    }
    for (uint32_t i = 0; i < count; i++)
        come_in(r, beyond[i]);
}

static void take_back(kiln_refiner *r, uint32_t moves)
{
    const uint32_t *weight = r->level->weight;
    while (r->moves > moves) {
        uint32_t v = r->moved[--r->moves];
        while (r->inside_count > r->came[r->moves]) {
            uint32_t u = r->inside[--r->inside_count];
            r->part[u] = r->from;
            r->side[r->from] += weight[u];
            r->side[KILN_SIDE_BETWEEN] -= weight[u];
        }
        r->part[v] = KILN_SIDE_BETWEEN;
        r->side[KILN_SIDE_BETWEEN] += weight[v];
        r->side[r->to] -= weight[v];
    }
}

/* By the costs of the factor alone, the cube of the separator and as much again for the squares of
 * the sides, sides that differ by a share d would cost as much as a separator larger by d^2 / 3.
 * Three times that keeps separators of coarse levels from drifting to where they only seem small.
 */
static double cost_of(const kiln_refiner *r)
{
    double left = r->side[KILN_SIDE_LEFT], right = r->side[KILN_SIDE_RIGHT];
    if (left == 0.0 || right == 0.0)
        return INFINITY;
    double d = (left - right) / r->level->total;
    return r->side[KILN_SIDE_BETWEEN] * (1.0 + d * d) + 1e-3 * d * d;
}

static bool may_leave(const kiln_refiner *r, uint32_t v)
{
    uint32_t after = r->side[r->to] + r->level->weight[v];
    return after <= r->most || after <= r->side[r->from];
}

static void keep_inside(kiln_refiner *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->inside_count; i++)
        if (r->part[r->inside[i]] == KILN_SIDE_BETWEEN)
            r->inside[kept++] = r->inside[i];
    r->inside_count = kept;
}

static void begin_pass(kiln_refiner *r, uint8_t to)
{
    r->to = to;
    r->from = 1 - to;
    r->moves = 0;
    for (uint32_t i = 0; i < r->inside_count; i++)
        look_around(r, r->inside[i], r->near[0]);
}

/* Goes on while the best state is no more moves ago than the separator has vertices, and a few. */
static bool run_pass(kiln_refiner *r, uint8_t to, uint32_t patience)
{
    double before = cost_of(r), best = before;
    uint32_t best_moves = 0;
    if (patience > r->inside_count + FEW_MOVES)
        patience = r->inside_count + FEW_MOVES;
    begin_pass(r, to);
    while (r->heap_count > 0 && r->moves - best_moves < patience) {
        uint32_t v = heap_pop(r);
        if (!may_leave(r, v))
            continue;
        leave(r, v);
        double cost = cost_of(r);
        if (cost < best) {
            best = cost;
            best_moves = r->moves;
        }
    }
    heap_clear(r);
    take_back(r, best_moves);
    keep_inside(r);
    return best < before;
}

static void attach(kiln_refiner *r, const kiln_level *level, uint8_t *part)
{
    r->level = level;
    r->part = part;
    r->most = (uint32_t)(MOST_SHARE * level->total);
    r->inside_count = 0;
    memset(r->side, 0, sizeof r->side);
    for (uint32_t v = 0; v < level->count; v++) {
        r->side[part[v]] += level->weight[v];
        if (part[v] == KILN_SIDE_BETWEEN)
            r->inside[r->inside_count++] = v;
    }
}

void kiln_refiner_grow(kiln_refiner *r, const kiln_level *level, uint32_t seed, uint8_t *part)
{
    memset(part, KILN_SIDE_RIGHT, level->count);
    part[seed] = KILN_SIDE_BETWEEN;
    attach(r, level, part);
    begin_pass(r, KILN_SIDE_LEFT);
    while (r->heap_count > 0 && r->side[KILN_SIDE_LEFT] < r->side[KILN_SIDE_RIGHT])
        leave(r, heap_pop(r));
    heap_clear(r);
}

double kiln_refiner_improve(kiln_refiner *r, const kiln_level *level, int passes, uint32_t patience,
                            uint8_t *part)
{
    attach(r, level, part);
    uint8_t to = r->side[KILN_SIDE_LEFT] <= r->side[KILN_SIDE_RIGHT] ? 0 : 1;
    for (int idle = 0; passes-- > 0 && idle < 2; to = 1 - to)
        idle = run_pass(r, to, patience) ? 0 : idle + 1;
    return cost_of(r);
}
