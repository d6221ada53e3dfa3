/* Vertex separators: a graph is taken apart into two sides and the vertices between them.
 *
 * Multilevel (Karypis and Kumar 1998): matched vertices are merged until few are left, separators
 * are grown there and refined on each level that is less coarse (dissect_refine.c). */
#ifndef KILN_SOLVE_DISSECT_BISECT_H
#define KILN_SOLVE_DISSECT_BISECT_H

#include "base/random.h"

#include <stdbool.h>

enum { KILN_SIDE_LEFT, KILN_SIDE_RIGHT, KILN_SIDE_BETWEEN };

/* A graph with weights, and what it becomes when it is made coarser. */
typedef struct kiln_level {
    uint32_t count;
    uint32_t total;   /* of the weights of the vertices */
    uint32_t *start;  /* [count + 1] */
    uint32_t *column; /* [start[count]] */
    uint32_t *edge;   /* [start[count]] weights */
    uint32_t *weight; /* [count] */
    uint32_t *merged; /* [count] vertex of the coarser level */
    uint8_t *part;    /* [count] sides */
} kiln_level;

/* Scratch that is taken from the front. */
typedef struct kiln_words {
    uint32_t *at;
    size_t left;
} kiln_words;

KILN_INLINE uint32_t *kiln_words_take(kiln_words *words, size_t count)
{
    uint32_t *taken = words->at;
    words->at += count;
    words->left -= count;
    return taken;
}

/* Fills `coarse`. False, and nothing is taken, when there is no room for it or too little would be
 * merged. Pairs are not heavier than `heaviest`. */
bool kiln_level_coarsen(kiln_level *fine, kiln_level *coarse, uint32_t heaviest, kiln_words *words,
                        kiln_random *random);

typedef struct kiln_refiner kiln_refiner;

/* Words that the refinement of `count` vertices takes, and the start of it. */
size_t kiln_refiner_words(size_t count);
kiln_refiner *kiln_refiner_start(size_t count, kiln_words *words);
/* A separator grown from a vertex until both sides weigh the same. */
void kiln_refiner_grow(kiln_refiner *refiner, const kiln_level *level, uint32_t seed,
                       uint8_t *part);
/* Moves vertices through the separator while that makes it better, and `patience` moves longer.
 * Returns what it costs: its weight, and more for sides of different weight; infinite when one side
 * is empty. */
double kiln_refiner_improve(kiln_refiner *refiner, const kiln_level *level, int passes,
                            uint32_t patience, uint8_t *part);

/* A graph as rows of neighbours that need not follow each other. */
typedef struct kiln_bisect_input {
    uint32_t count;
    const uint32_t *start, *degree; /* [count] */
    const uint32_t *column;
} kiln_bisect_input;

/* Words of scratch for a graph. */
size_t kiln_bisect_words(size_t vertices, size_t neighbours);
/* part[vertex] is a side. False when no separator leaves two sides. */
bool kiln_bisect(const kiln_bisect_input *graph, uint64_t seed, uint32_t *scratch, uint8_t *part);

#endif
