/* Sets of neighbours are sets of bits: vertices of the leaf first, then the halo. Of a large halo
 * only as much is seen as there are bits; that costs fill at most. */
#include "solve/dissect_leaf.h"

#include "base/hash.h"

#include <string.h>

enum { BITS = 512, WORDS = BITS / 64, TABLE = 1024, HALO_FIRST = 128, EMPTY = 0xFFFFFFFFu };

typedef struct leaf {
    uint64_t row[KILN_LEAF_MOST][WORDS];
    uint32_t degree[KILN_LEAF_MOST];
    uint32_t words;      /* that are used */
    uint32_t halo;       /* vertices */
    uint32_t key[TABLE]; /* a vertex of the halo, or EMPTY */
    uint16_t bit[TABLE];
} leaf;

static uint32_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (uint32_t)(x * 0x0101010101010101u >> 56);
}

static uint32_t degree_of(const leaf *l, uint32_t v)
{
    uint32_t sum = 0;
    for (uint32_t w = 0; w < l->words; w++)
        sum += count_bits(l->row[v][w]);
    return sum;
}

/* BITS when there is no room for it. */
static uint32_t halo_bit(leaf *l, uint32_t vertex)
{
    uint32_t at = vertex * 0x9E3779B1u >> 22;
    for (; l->key[at] != EMPTY; at = (at + 1) % TABLE)
        if (l->key[at] == vertex)
            return l->bit[at];
    if (HALO_FIRST + l->halo == BITS)
        return BITS;
    l->key[at] = vertex;
    l->bit[at] = (uint16_t)(HALO_FIRST + l->halo++);
    return l->bit[at];
}

static void fill(leaf *l, const kiln_row_graph *graph, const uint32_t *place, uint32_t first,
                 uint32_t count, const uint32_t *vertex)
{
    memset(l->row, 0, count * sizeof *l->row);
    memset(l->key, 0xFF, sizeof l->key);
    l->halo = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t k = graph->start[vertex[i]]; k < graph->start[vertex[i] + 1]; k++) {
            uint32_t u = graph->neighbour[k], local = place[u] - first;
            uint32_t bit = local < count ? local : halo_bit(l, u);
            if (bit < BITS)
                l->row[i][bit / 64] |= (uint64_t)1 << bit % 64;
        }
    l->words = (HALO_FIRST + l->halo + 63) / 64;
    for (uint32_t i = 0; i < count; i++)
        l->degree[i] = degree_of(l, i);
}

/* The neighbours of v become neighbours of each other. */
static void eliminate(leaf *l, uint32_t v)
{
    const uint64_t *gone = l->row[v];
    for (uint32_t w = 0; w < HALO_FIRST / 64; w++)
        for (uint64_t left = gone[w]; left; left &= left - 1) {
            uint32_t u = 64 * w + 63 - (uint32_t)KILN_LEADING_ZEROS64(left & -left);
            uint64_t *row = l->row[u];
            for (uint32_t k = 0; k < l->words; k++)
                row[k] |= gone[k];
            row[u / 64] &= ~((uint64_t)1 << u % 64);
            row[v / 64] &= ~((uint64_t)1 << v % 64);
            l->degree[u] = degree_of(l, u);
        }
    l->degree[v] = EMPTY;
}

void kiln_leaf_order(const kiln_row_graph *graph, const uint32_t *place, uint32_t first,
                     uint32_t count, uint32_t *vertex)
{
    leaf l;
    uint32_t given[KILN_LEAF_MOST];
    memcpy(given, vertex, count * sizeof *given);
    fill(&l, graph, place, first, count, given);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = 0;
        for (uint32_t v = 1; v < count; v++)
            if (l.degree[v] < l.degree[best])
                best = v;
        eliminate(&l, best);
        vertex[i] = given[best];
    }
}
