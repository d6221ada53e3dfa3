/* Distances of the pairs. */
#include "base/clock.h"
#include "base/parallel.h"
#include "step/collide_impl.h"

#include <string.h>

typedef struct evaluation {
    kiln_collide *collide;
    const kiln_vec3 *x;
    size_t begun; /* the first of those that acted at the begin */
} evaluation;

static bool boxes_apart(const kiln_surface_pair *pair, const kiln_vec3 *x, double by)
{
    kiln_vec3 p[4];
    for (int k = 0; k < 4; k++)
        p[k] = x[pair->v[k]];
    kiln_box a = kiln_box_of(p, (int)pair->split);
    kiln_box b = kiln_box_of(p + pair->split, 4 - (int)pair->split);
    return a.low.x - b.high.x >= by || b.low.x - a.high.x >= by || a.low.y - b.high.y >= by ||
           b.low.y - a.high.y >= by || a.low.z - b.high.z >= by || b.low.z - a.high.z >= by;
}

/* Vertices before walls count once. */
static double share_of(const evaluation *e, const kiln_surface_pair *pair,
                       const kiln_pair_distance *at)
{
    const kiln_collide *c = e->collide;
    if (pair->split == 2 || !kiln_collide_is_wall(c, pair->v[1]))
        return 1.0;
    const double weight[3] = {-at->weight[1], -at->weight[2], -at->weight[3]};
    return kiln_walls_share(&c->walls, e->x + c->first_wall, pair->face, weight, e->x[pair->v[0]]);
}

static void distance_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const evaluation *e = user;
    for (size_t i = begin; i < end; i++) {
        const kiln_surface_pair *pair = kiln_collide_pair(e->collide, i);
        kiln_pair_distance *out = &e->collide->distance.data[i];
        bool begun = i >= e->begun;
        if (!begun && boxes_apart(pair, e->x, KILN_COLLIDE_EXPECTED * pair->reach))
            out->d = INFINITY;
        else
            *out = kiln_surface_pair_distance(pair, e->x);
        bool acts = begun || out->d < pair->reach;
        e->collide->counted.data[i] = acts ? pair->area * share_of(e, pair, out) : 0.0;
        if (acts && e->collide->from)
            e->collide->before.data[i] =
                kiln_surface_pair_distance(pair, kiln_collide_points(e->collide->from)).d;
    }
}

/* The same pairs at the same place: gradients are asked for where values were. */
static bool is_measured(const kiln_collide *c, const double *x)
{
    return c->measured_state == c->state &&
           memcmp(c->measured.data, x, 3 * c->given->rows * sizeof *x) == 0;
}

void kiln_collide_measure(kiln_collide *c, const double *x)
{
    double began = kiln_wall_seconds();
    if (is_measured(c, x))
        return;
    if (!kiln_collide_has_room(c, x, NULL))
        (void)kiln_collide_find(c, x, NULL, 0.0);
    memcpy(c->measured.data, x, 3 * c->given->rows * sizeof *x);
    c->measured_state = c->state;
    evaluation e = {
        .collide = c, .x = kiln_collide_points(x), .begun = c->found.pairs.count - c->begun.count};
    kiln_parallel_for(c->context, c->found.pairs.count, KILN_COLLIDE_GRAIN, distance_chunk, &e);
    c->seconds += kiln_wall_seconds() - began;
}

size_t kiln_collide_count(kiln_collide *c, const double *x)
{
    size_t count = 0;
    kiln_collide_measure(c, x);
    for (size_t i = 0; i < c->found.pairs.count; i++)
        count += kiln_collide_acts(c, i);
    return count;
}

uint32_t kiln_collide_touching(kiln_collide *c, const double *x)
{
    kiln_collide_measure(c, x);
    for (size_t i = 0; i < c->found.pairs.count; i++)
        if (!(c->distance.data[i].d > KILN_COLLIDE_TOUCHING * kiln_collide_pair(c, i)->reach))
            return kiln_collide_pair(c, i)->v[0];
    return KILN_NONE;
}
