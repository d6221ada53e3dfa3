/* Gradation: no metric may be coarser than what a neighbour's, grown by the length of the edge
 * between them, allows (kiln_metric_grow). Sweeps over the vertices that have a neighbour changed
 * in the sweep before; all read the old values and write their own, so the result does not depend
 * on the order. A sweep carries a change across one edge, and changes die out as they grow, so the
 * work is a few visits a vertex. */
#include "remesh/sizing_impl.h"

enum { SWEEPS = 200 };

typedef struct gradation {
    kiln_sizing *sizing;
    double growth;
    const kiln_sizing_stars *stars;
    uint32_t *neighbour; /* those of v from 3 * stars.first[v] on */
    uint32_t *degree;    /* [vertex] */
    kiln_sym3 *next;     /* [vertex] */
    uint8_t *active, *changed;
} gradation;

static void collect_neighbours(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    gradation *g = user;
    (void)chunk, (void)worker;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        uint32_t *list = g->neighbour + 3 * (size_t)g->stars->first[v], count = 0;
        for (uint32_t i = g->stars->first[v]; i < g->stars->first[v + 1]; i++) {
            const uint32_t *c = g->sizing->tet[g->stars->tets[i]].v;
            for (int k = 0; k < 4; k++) {
                uint32_t j = 0;
                while (j < count && list[j] != c[k])
                    j++;
                if (j == count && c[k] != v)
                    list[count++] = c[k];
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
        const uint32_t *list = g->neighbour + 3 * (size_t)g->stars->first[v];
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
        const uint32_t *list = g->neighbour + 3 * (size_t)g->stars->first[v];
        s->metric[v] = g->next[v];
        for (uint32_t i = 0; i < g->degree[v]; i++)
            g->active[list[i]] = 1;
        any = true;
    }
    return any;
}

/* Room for neighbours: three in every tet of a star. */
static size_t links(const gradation *g)
{
    return 3 * 4 * (size_t)g->sizing->tet_rows;
}

static kiln_status allocate(gradation *g, kiln_error *error)
{
    const kiln_sizing *s = g->sizing;
    KILN_TRY(kiln_sizing_need_stars(g->sizing, error));
    g->neighbour = kiln_sizing_alloc(s, links(g), sizeof *g->neighbour);
    g->degree = kiln_sizing_alloc(s, s->vertex_rows, sizeof *g->degree);
    g->next = kiln_sizing_alloc(s, s->vertex_rows, sizeof *g->next);
    g->active = kiln_sizing_alloc(s, s->vertex_rows, 1);
    g->changed = kiln_sizing_alloc(s, s->vertex_rows, 1);
    if (g->neighbour && g->degree && g->next && g->active && g->changed)
        return KILN_OK;
    return kiln_fail_memory(error, links(g) * sizeof *g->neighbour);
}

static void free_all(gradation *g)
{
    const kiln_sizing *s = g->sizing;
    kiln_sizing_free(s, g->neighbour, links(g), sizeof *g->neighbour);
    kiln_sizing_free(s, g->degree, s->vertex_rows, sizeof *g->degree);
    kiln_sizing_free(s, g->next, s->vertex_rows, sizeof *g->next);
    kiln_sizing_free(s, g->active, s->vertex_rows, 1);
    kiln_sizing_free(s, g->changed, s->vertex_rows, 1);
}

kiln_status kiln_sizing_gradate(kiln_sizing *sizing, double growth, kiln_error *error)
{
    gradation g = {.sizing = sizing, .growth = growth, .stars = &sizing->stars};
    kiln_status status = allocate(&g, error);
    if (status == KILN_OK) {
        uint32_t rows = sizing->vertex_rows;
        kiln_context *context = sizing->context;
        kiln_parallel_for(context, rows, KILN_SIZING_GRAIN, collect_neighbours, &g);
        for (uint32_t v = 0; v < rows; v++)
            g.active[v] = 1;
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            kiln_parallel_for(context, rows, KILN_SIZING_GRAIN, sweep_chunk, &g);
            if (!advance(&g))
                break;
        }
    }
    free_all(&g);
    return status;
}
