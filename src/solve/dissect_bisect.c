#include "solve/dissect_bisect.h"

#include <math.h>
#include <string.h>

enum { COARSEST = 100, LEVELS = 40 };
enum { PASSES = 6, TRIES = 4, TRY_PASSES = 2, TRY_PATIENCE = 10 };
/* Graphs of more than LARGE vertices are coarsened in RUNS ways from a MIDDLE_PART of them on. */
enum { LARGE = 2000, RUNS = 3, MIDDLE_PART = 16, MIDDLE_LEAST = 500 };

/* Vertices of all levels together, and neighbours, as multiples of those of the graph. What does
 * not fit is not made coarser: it only takes longer. */
enum { LEVEL_VERTICES = 4, LEVEL_NEIGHBOURS = 2 };

typedef struct bisection {
    kiln_level level[LEVELS];
    kiln_words words;
    kiln_random random;
    kiln_refiner *refiner;
    uint8_t *spare[2]; /* [count] */
    uint32_t heaviest;
} bisection;

size_t kiln_bisect_words(size_t count, size_t neighbours)
{
    size_t finest = 3 * count + 1 + 2 * neighbours, parts = 3 * (count / 4 + 1);
    size_t levels = LEVEL_VERTICES * 4 * count + LEVEL_NEIGHBOURS * 2 * neighbours + LEVELS;
    return finest + parts + kiln_refiner_words(count) + levels;
}

static void set_finest(bisection *b, const kiln_bisect_input *in, size_t neighbours)
{
    kiln_level *g = &b->level[0];
    uint32_t end = 0;
    *g = (kiln_level){.count = in->count, .total = in->count};
    g->start = kiln_words_take(&b->words, in->count + (size_t)1);
    g->weight = kiln_words_take(&b->words, in->count);
    g->merged = kiln_words_take(&b->words, in->count);
    g->part = (uint8_t *)kiln_words_take(&b->words, in->count / 4 + (size_t)1);
    g->column = kiln_words_take(&b->words, neighbours);
    g->edge = kiln_words_take(&b->words, neighbours);
    for (uint32_t v = 0; v < in->count; v++) {
        g->start[v] = end;
        g->weight[v] = 1;
        memcpy(g->column + end, in->column + in->start[v], in->degree[v] * sizeof(uint32_t));
        end += in->degree[v];
    }
    g->start[in->count] = end;
    for (uint32_t k = 0; k < end; k++)
        g->edge[k] = 1;
}

/* Makes coarser levels until one has no more than `enough` vertices; returns the last. */
static int coarsen(bisection *b, int level, uint32_t enough)
{
    while (level + 1 < LEVELS && b->level[level].count > enough &&
           kiln_level_coarsen(&b->level[level], &b->level[level + 1], b->heaviest, &b->words,
                              &b->random))
        level++;
    return level;
}

/* The best of some separators that are grown from random vertices. */
static double find_first(bisection *b, int level)
{
    const kiln_level *g = &b->level[level];
    double best = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        kiln_refiner_grow(b->refiner, g, kiln_random_below(&b->random, g->count), b->spare[0]);
        double cost = kiln_refiner_improve(b->refiner, g, TRY_PASSES, TRY_PATIENCE, b->spare[0]);
        if (i > 0 && !(cost < best))
            continue;
        best = cost;
        memcpy(g->part, b->spare[0], g->count);
    }
    return kiln_refiner_improve(b->refiner, g, PASSES, UINT32_MAX, g->part);
}

/* From level `from` to the finer level `to`. */
static double refine(bisection *b, int from, int to, double cost)
{
    for (int l = from - 1; l >= to; l--) {
        const kiln_level *g = &b->level[l];
        for (uint32_t v = 0; v < g->count; v++)
            g->part[v] = g[1].part[g->merged[v]];
        cost = kiln_refiner_improve(b->refiner, g, PASSES, UINT32_MAX, g->part);
    }
    return cost;
}

static double find_separator(bisection *b, int level)
{
    int last = coarsen(b, level, COARSEST);
    return refine(b, last, level, find_first(b, last));
}

/* What is merged decides which separators can be found, so the coarser levels of a large graph are
 * made several times. Returns the level at which the best of them is. */
static int find_best(bisection *b, double *cost)
{
    uint32_t count = b->level[0].count, enough = count / MIDDLE_PART;
    if (count <= LARGE) {
        *cost = find_separator(b, 0);
        return 0;
    }
    int middle = coarsen(b, 0, enough > MIDDLE_LEAST ? enough : MIDDLE_LEAST);
    const kiln_level *g = &b->level[middle];
    const kiln_words words = b->words;
    *cost = INFINITY;
    for (int i = 0; i < RUNS; i++) {
        b->words = words;
        double found = find_separator(b, middle);
        if (i > 0 && !(found < *cost))
            continue;
        *cost = found;
        memcpy(b->spare[1], g->part, g->count);
    }
    memcpy(g->part, b->spare[1], g->count);
    return middle;
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
        b.spare[i] = (uint8_t *)kiln_words_take(&b.words, graph->count / 4 + (size_t)1);
    set_finest(&b, graph, neighbours);
    b.heaviest = 3 * (b.level[0].total / (2 * COARSEST)) + 1;
    double cost;
    int level = find_best(&b, &cost);
    cost = refine(&b, level, 0, cost);
    memcpy(part, b.level[0].part, graph->count);
    return cost < INFINITY;
}
