/* Gradation: no metric may be coarser than what a neighbour's, grown by the length of the edge
 * between them, allows (kiln_metric_grow). Sweeps over the vertices that have a neighbour changed
 * in the sweep before; all read the old values and write their own, so the result does not depend
 * on the order. A sweep carries a change across one edge, and changes die out as they grow, so the
 * work is a few visits a vertex. */
#include "remesh/sizing_impl.h"

#include <string.h>

enum { SWEEPS = 200 };

typedef struct gradation {
    kiln_sizing *sizing;
    double growth;
    uint32_t *neighbour; /* lists, one after the other */
    uint32_t *degree;    /* [vertex] */
    uint32_t *seen;      /* [thread][vertex] by which vertex it was met last */
    kiln_sym3 *next;     /* [vertex] */
    uint8_t *active, *changed;
} gradation;

/* Those of a vertex: three places for every tet of its star, and one that is written to in vain. */
static uint32_t *neighbours(const gradation *g, size_t v)
{
    return g->neighbour + 3 * (size_t)g->sizing->stars.first[v] + v;
}

static void collect_neighbours(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    gradation *g = user;
    const kiln_sizing *s = g->sizing;
    uint32_t *seen = g->seen + (size_t)worker * s->vertex_rows;
    (void)chunk;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        uint32_t *list = neighbours(g, v), count = 0;
        seen[v] = v;
        for (uint32_t i = s->stars.first[v]; i < s->stars.first[v + 1]; i++) {
            const uint32_t *c = s->tet[s->stars.tets[i]].v;
            for (int k = 0; k < 4; k++) {
                list[count] = c[k];
                count += seen[c[k]] != v;
                seen[c[k]] = v;
            }
        }
        g->degree[v] = count;
    }
}

static void sweep_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    gradation *g = user;
    const kiln_sizing *s = g->sizing;
    (void)chunk, (void)worker;
    for (size_t v = begin; v < end; v++) {
        const uint32_t *list = neighbours(g, v);
        kiln_sym3 m = s->metric[v];
        g->changed[v] = 0;
        if (!g->active[v])
            continue;
        for (uint32_t i = 0; i < g->degree[v]; i++) {
            const kiln_sym3 *from = &s->metric[list[i]];
            if (!(from->xx > 0.0))
                continue;
            kiln_vec3 e = kiln_v3_sub(s->point[v], s->point[list[i]]);
            kiln_sym3 grown = kiln_metric_grow(from, e, g->growth);
            if (m.xx > 0.0 && kiln_metric_covers(&m, &grown))
                continue;
            m = m.xx > 0.0 ? kiln_metric_intersect(m, grown) : grown;
            g->changed[v] = 1;
        }
        g->next[v] = m;
    }
}

/* Takes the new values over; true where something goes on. */
static bool advance(gradation *g)
{
    kiln_sizing *s = g->sizing;
    bool any = false;
    for (uint32_t v = 0; v < s->vertex_rows; v++)
        g->active[v] = 0;
    for (uint32_t v = 0; v < s->vertex_rows; v++) {
        if (!g->changed[v])
            continue;
        const uint32_t *list = neighbours(g, v);
        s->metric[v] = g->next[v];
        for (uint32_t i = 0; i < g->degree[v]; i++)
            g->active[list[i]] = 1;
        any = true;
    }
    return any;
}

static kiln_status allocate(gradation *g, kiln_error *error)
{
    kiln_sizing *s = g->sizing;
    size_t rows = s->vertex_rows, lists = 3 * 4 * (size_t)s->tet_rows + rows;
    g->neighbour = kiln_sizing_room(s, uint32_t, lists);
    g->degree = kiln_sizing_room(s, uint32_t, rows);
    g->seen = kiln_sizing_room(s, uint32_t, rows * (size_t)s->context->threads);
    g->next = kiln_sizing_room(s, kiln_sym3, rows);
    g->active = kiln_sizing_room(s, uint8_t, rows);
    g->changed = kiln_sizing_room(s, uint8_t, rows);
    if (!g->neighbour || !g->degree || !g->seen || !g->next || !g->active || !g->changed)
        return kiln_fail_memory(error, lists * sizeof *g->neighbour);
    memset(g->seen, 0xff, rows * (size_t)s->context->threads * sizeof *g->seen);
    memset(g->active, 1, rows);
    return KILN_OK;
}

kiln_status kiln_sizing_gradate(kiln_sizing *sizing, double growth, kiln_error *error)
{
    gradation g = {.sizing = sizing, .growth = growth};
    KILN_TRY(kiln_sizing_need_stars(sizing, error));
    kiln_arena_mark mark = kiln_arena_set_mark(&sizing->arena);
    kiln_status status = allocate(&g, error);
    if (status == KILN_OK) {
        uint32_t rows = sizing->vertex_rows;
        kiln_context *context = sizing->context;
        kiln_parallel_for(context, rows, KILN_SIZING_GRAIN, collect_neighbours, &g);
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            kiln_parallel_for(context, rows, KILN_SIZING_GRAIN, sweep_chunk, &g);
            if (!advance(&g))
                break;
        }
    }
    kiln_arena_release(&sizing->arena, mark);
    return status;
}
