/* The vertex with the fewest edges that are left goes without, its neighbour with the most is
 * chosen: exact for trees, close to it for the few edges to a vertex that contact makes. */
#include "solve/dissect_cover.h"

#include <string.h>

enum { NONE = 0xFFFFFFFFu };

typedef struct cover {
    uint32_t vertices;
    uint32_t *start, *neighbour;
    uint32_t *degree;        /* edges that are not covered */
    uint32_t *head;          /* [degree] list of the vertices that have it */
    uint32_t *next, *before; /* in that list */
} cover;

size_t kiln_cover_words(size_t vertices, size_t edges)
{
    return (vertices + 1) + 2 * edges + vertices + (2 * edges + 1) + 2 * vertices;
}

static void fill_rows(cover *c, size_t edges, const uint32_t (*edge)[2])
{
    memset(c->start, 0, (c->vertices + (size_t)1) * sizeof *c->start);
    for (size_t i = 0; i < edges; i++)
        for (int e = 0; e < 2; e++)
            c->start[edge[i][e]]++;
    for (uint32_t v = 0, sum = 0; v <= c->vertices; v++) {
        uint32_t count = v < c->vertices ? c->start[v] : 0;
        if (v < c->vertices)
            c->degree[v] = count;
        sum += count;
        c->start[v] = sum;
    }
    for (size_t i = edges; i-- > 0;)
        for (int e = 0; e < 2; e++)
            c->neighbour[--c->start[edge[i][e]]] = edge[i][1 - e];
}

static void enlist(cover *c, uint32_t v)
{
    uint32_t *head = &c->head[c->degree[v]];
    c->before[v] = NONE;
    c->next[v] = *head;
    if (*head != NONE)
        c->before[*head] = v;
    *head = v;
}

static void delist(cover *c, uint32_t v)
{
    if (c->before[v] == NONE)
        c->head[c->degree[v]] = c->next[v];
    else
        c->next[c->before[v]] = c->next[v];
    if (c->next[v] != NONE)
        c->before[c->next[v]] = c->before[v];
}

static uint32_t busiest_neighbour(const cover *c, uint32_t v, const uint8_t *chosen)
{
    uint32_t best = NONE;
    for (uint32_t k = c->start[v]; k < c->start[v + 1]; k++) {
        uint32_t u = c->neighbour[k];
        if (!chosen[u] && (best == NONE || c->degree[u] > c->degree[best]))
            best = u;
    }
    return best;
}

/* Returns the lowest degree that may have changed. */
static uint32_t choose(cover *c, uint32_t v, uint32_t lowest, uint8_t *chosen)
{
    delist(c, v);
    chosen[v] = 1;
    for (uint32_t k = c->start[v]; k < c->start[v + 1]; k++) {
        uint32_t u = c->neighbour[k];
        if (chosen[u])
            continue;
        delist(c, u);
        c->degree[u]--;
        enlist(c, u);
        if (c->degree[u] < lowest && c->degree[u] > 0)
            lowest = c->degree[u];
    }
    return lowest;
}

void kiln_cover_edges(uint32_t vertices, size_t edges, const uint32_t (*edge)[2], uint32_t *scratch,
                      uint8_t *chosen)
{
    cover c = {.vertices = vertices, .start = scratch};
    c.neighbour = c.start + vertices + 1;
    c.degree = c.neighbour + 2 * edges;
    c.next = c.degree + vertices;
    c.before = c.next + vertices;
    c.head = c.before + vertices;
    fill_rows(&c, edges, edge);
    memset(chosen, 0, vertices);
    memset(c.head, 0xFF, (2 * edges + 1) * sizeof *c.head);
    for (uint32_t v = vertices; v-- > 0;)
        enlist(&c, v);
    for (uint32_t degree = 1; degree <= 2 * edges;) {
        uint32_t v = c.head[degree];
        if (v == NONE)
            degree++;
        else
            degree = choose(&c, busiest_neighbour(&c, v, chosen), degree, chosen);
    }
}
