#include "solve/dissect_bisect.h"

enum { ALONE = 0xFFFFFFFFu };

/* Heaviest edge first; among equal ones the lighter vertex. */
static uint32_t choose_mate(const kiln_level *g, const uint32_t *mate, uint32_t v,
                            uint32_t heaviest)
{
    uint32_t best = v, best_edge = 0, best_weight = 0;
    for (uint32_t k = g->start[v]; k < g->start[v + 1]; k++) {
        uint32_t u = g->column[k], edge = g->edge[k];
        if (mate[u] != ALONE || edge < best_edge || g->weight[u] + g->weight[v] > heaviest)
            continue;
        if (edge > best_edge || g->weight[u] < best_weight) {
            best = u;
            best_edge = edge;
            best_weight = g->weight[u];
        }
    }
    return best;
}

/* Vertices are visited in an order that is random within blocks: near vertices have near numbers,
 * and the whole at random would miss the cache at each step. Returns the number of pairs. */
static uint32_t match(const kiln_level *g, uint32_t *mate, uint32_t heaviest, kiln_random *random)
{
    enum { BLOCK = 64 };
    uint32_t pairs = 0, turn[BLOCK];
    for (uint32_t v = 0; v < g->count; v++)
        mate[v] = ALONE;
    for (uint32_t first = 0; first < g->count; first += BLOCK) {
        uint32_t count = g->count - first < BLOCK ? g->count - first : BLOCK;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t j = kiln_random_below(random, i + 1);
            turn[i] = turn[j];
            turn[j] = first + i;
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = turn[i];
            if (mate[v] != ALONE)
                continue;
            uint32_t u = choose_mate(g, mate, v, heaviest);
            mate[v] = u;
            mate[u] = v;
            pairs += u != v;
        }
    }
    return pairs;
}

static void number_pairs(kiln_level *fine, kiln_level *coarse, const uint32_t *mate)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < fine->count; v++) {
        if (mate[v] < v) {
            fine->merged[v] = fine->merged[mate[v]];
            continue;
        }
        fine->merged[v] = count;
        coarse->weight[count++] = fine->weight[v] + (mate[v] != v ? fine->weight[mate[v]] : 0);
    }
}

/* slot[c] is one more than where the row has its edge to c; smaller ones are of earlier rows. */
static uint32_t add_row(const kiln_level *fine, kiln_level *coarse, uint32_t *slot, uint32_t v,
                        uint32_t row, uint32_t end)
{
    uint32_t first = coarse->start[row];
    for (uint32_t k = fine->start[v]; k < fine->start[v + 1]; k++) {
        uint32_t c = fine->merged[fine->column[k]];
        if (c == row)
            continue;
        if (slot[c] > first) {
            coarse->edge[slot[c] - 1] += fine->edge[k];
            continue;
        }
        coarse->column[end] = c;
        coarse->edge[end] = fine->edge[k];
        slot[c] = ++end;
    }
    return end;
}

static void merge_edges(const kiln_level *fine, kiln_level *coarse, const uint32_t *mate,
                        uint32_t *slot)
{
    uint32_t end = 0, row = 0;
    for (uint32_t c = 0; c < coarse->count; c++)
        slot[c] = 0;
    for (uint32_t v = 0; v < fine->count; v++) {
        if (mate[v] < v)
            continue;
        coarse->start[row] = end;
        end = add_row(fine, coarse, slot, v, row, end);
        if (mate[v] != v)
            end = add_row(fine, coarse, slot, mate[v], row, end);
        row++;
    }
    coarse->start[row] = end;
}

bool kiln_level_coarsen(kiln_level *fine, kiln_level *coarse, uint32_t heaviest, kiln_words *words,
                        kiln_random *random)
{
    size_t n = fine->count, neighbours = fine->start[n];
    if (words->left < 6 * n + 2 + 2 * neighbours)
        return false;
    uint32_t *mate = words->at + words->left - n, *slot = mate - n;
    uint32_t pairs = match(fine, mate, heaviest, random);
    if (10 * (size_t)pairs < n)
        return false;
    *coarse = (kiln_level){.count = fine->count - pairs, .total = fine->total};
    coarse->weight = kiln_words_take(words, coarse->count);
    coarse->merged = kiln_words_take(words, coarse->count);
    coarse->start = kiln_words_take(words, coarse->count + (size_t)1);
    coarse->part = (uint8_t *)kiln_words_take(words, coarse->count / 4 + (size_t)1);
    coarse->column = words->at;
    coarse->edge = words->at + neighbours;
    number_pairs(fine, coarse, mate);
    merge_edges(fine, coarse, mate, slot);
    /* Close the gap between what was reserved for columns and what is there. */
    size_t kept = coarse->start[coarse->count];
    kiln_words_take(words, kept);
    uint32_t *edge = kiln_words_take(words, kept);
    for (size_t k = 0; k < kept; k++)
        edge[k] = coarse->edge[k];
    coarse->edge = edge;
    return true;
}
