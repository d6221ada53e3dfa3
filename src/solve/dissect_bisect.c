#include "solve/dissect_bisect.h"

#include <math.h>
#include <string.h>

enum { COARSEST = 100, LEVELS = 40, TRIES = 8, CARRIED = 4 };

/* Vertices of all levels together, and neighbours, as multiples of those of the graph. What does
 * not fit is not made coarser: it only takes longer. */
enum { LEVEL_VERTICES = 4, LEVEL_NEIGHBOURS = 2 };

typedef struct candidate {
    uint8_t *part;
    double cost;
} candidate;

typedef struct bisection {
    kiln_level level[LEVELS];
    int levels;
    kiln_words words;
    kiln_random random;
    kiln_refiner *refiner;
    uint8_t *room[2]; /* parts of the candidates of one level and of the next */
    candidate best[CARRIED];
    int carried;
} bisection;

size_t kiln_bisect_words(size_t count, size_t neighbours)
{
    size_t finest = 3 * count + 1 + 2 * neighbours, parts = 2 * (count / 4 + 1);
    size_t levels = LEVEL_VERTICES * 3 * count + LEVEL_NEIGHBOURS * 2 * neighbours + LEVELS;
    return finest + parts + kiln_refiner_words(count) + levels;
}

static void set_finest(bisection *b, const kiln_bisect_input *in, size_t neighbours)
{
    kiln_level *g = &b->level[0];
    uint32_t end = 0;
    *g = (kiln_level){.count = in->count};
    g->start = kiln_words_take(&b->words, in->count + (size_t)1);
    g->weight = kiln_words_take(&b->words, in->count);
    g->merged = kiln_words_take(&b->words, in->count);
    g->column = kiln_words_take(&b->words, neighbours);
    g->edge = kiln_words_take(&b->words, neighbours);
    for (uint32_t v = 0; v < in->count; v++) {
        g->start[v] = end;
        g->total += g->weight[v] = in->weight ? in->weight[v] : 1;
        memcpy(g->column + end, in->column + in->start[v], in->degree[v] * sizeof(uint32_t));
        end += in->degree[v];
    }
    g->start[in->count] = end;
    for (uint32_t k = 0; k < end; k++)
        g->edge[k] = 1;
}

static void coarsen(bisection *b)
{
    uint32_t heaviest = 3 * b->level[0].total / (2 * COARSEST);
    for (b->levels = 1; b->levels < LEVELS; b->levels++) {
        kiln_level *fine = &b->level[b->levels - 1];
        if (fine->count <= COARSEST ||
            !kiln_level_coarsen(fine, fine + 1, heaviest, &b->words, &b->random))
            break;
    }
}

/* How many separators are carried to a level: all together are smaller than the graph. */
static int carried_to(const bisection *b, const kiln_level *level)
{
    uint32_t fit = b->level[0].count / (4 * level->count);
    return fit < 1 ? 1 : fit > CARRIED ? CARRIED : (int)fit;
}

static void rank(candidate *best, int count, candidate next)
{
    for (int i = 0; i < count; i++)
        if (next.cost < best[i].cost) {
            candidate t = best[i];
            best[i] = next;
            next = t;
        }
}

/* The worst of the list gives its place to the next try. */
static void find_first(bisection *b)
{
    const kiln_level *g = &b->level[b->levels - 1];
    b->carried = carried_to(b, g);
    for (int i = 0; i < b->carried; i++)
        b->best[i] = (candidate){b->room[0] + (size_t)i * g->count, INFINITY};
    uint8_t *part = b->room[1];
    for (int i = 0; i < TRIES; i++) {
        kiln_refiner_grow(b->refiner, g, kiln_random_below(&b->random, g->count), part);
        double cost = kiln_refiner_improve(b->refiner, g, part);
        candidate *last = &b->best[b->carried - 1];
        if (!(cost < last->cost))
            continue;
        memcpy(last->part, part, g->count);
        candidate next = {last->part, cost};
        last->cost = INFINITY;
        rank(b->best, b->carried, next);
    }
}

static void project(const kiln_level *fine, const uint8_t *coarse_part, uint8_t *part)
{
    for (uint32_t v = 0; v < fine->count; v++)
        part[v] = coarse_part[fine->merged[v]];
}

static void refine(bisection *b)
{
    for (int l = b->levels - 2; l >= 0; l--) {
        const kiln_level *g = &b->level[l];
        uint8_t *room = b->room[(b->levels - 1 - l) % 2];
        int carried = carried_to(b, g);
        candidate next[CARRIED];
        if (carried > b->carried)
            carried = b->carried;
        for (int i = 0; i < carried; i++) {
            next[i] = (candidate){room + (size_t)i * g->count, INFINITY};
            project(g, b->best[i].part, next[i].part);
            double cost = kiln_refiner_improve(b->refiner, g, next[i].part);
            rank(next, i + 1, (candidate){next[i].part, cost});
        }
        memcpy(b->best, next, sizeof next);
        b->carried = carried;
    }
}

bool kiln_bisect(const kiln_bisect_input *graph, uint64_t seed, uint32_t *scratch, uint8_t *part)
{
    size_t neighbours = 0;
    for (uint32_t v = 0; v < graph->count; v++)
        neighbours += graph->degree[v];
    bisection b = {.words = {scratch, kiln_bisect_words(graph->count, neighbours)},
                   .random = kiln_random_start(seed, 0)};
    b.refiner = kiln_refiner_start(graph->count, &b.words);
    for (int i = 0; i < 2; i++)
        b.room[i] = (uint8_t *)kiln_words_take(&b.words, graph->count / 4 + (size_t)1);
    set_finest(&b, graph, neighbours);
    coarsen(&b);
    find_first(&b);
    refine(&b);
    memcpy(part, b.best[0].part, graph->count);
    return b.best[0].cost < INFINITY;
}
