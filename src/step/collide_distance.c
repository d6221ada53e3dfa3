/* Distances of the pairs that are watched. */
#include "base/clock.h"
#include "base/parallel.h"
#include "step/collide_impl.h"

#include <string.h>

/* Of its reach: nearer is contact. */
#define TOUCHING 1e-6

typedef struct evaluation {
    kiln_collide *collide;
    const kiln_vec3 *x;
    const uint32_t *items; /* pairs, NULL: all */
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

static void distance_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const evaluation *e = user;
    for (size_t i = begin; i < end; i++) {
        size_t item = e->items ? e->items[i] : i;
        const kiln_surface_pair *pair = kiln_collide_pair(e->collide, item);
        double watched = KILN_COLLIDE_EXPECTED * pair->reach + e->collide->watch;
        kiln_pair_distance *out = &e->collide->distance.data[item];
        if (boxes_apart(pair, e->x, watched))
            out->d = INFINITY;
        else
            *out = kiln_surface_pair_distance(pair, e->x);
    }
}

double kiln_collide_drift(const kiln_collide *c, const double *x, const double *dx)
{
    double most = 0.0;
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        kiln_vec3 way =
            kiln_v3_sub(kiln_collide_points(x)[v], kiln_collide_points(c->measured.data)[v]);
        most = fmax(most, kiln_v3_norm2(dx ? kiln_v3_add(way, kiln_collide_points(dx)[v]) : way));
    }
    return sqrt(most);
}

void kiln_collide_measure_all(kiln_collide *c, const double *x)
{
    evaluation e = {.collide = c, .x = kiln_collide_points(x)};
    kiln_parallel_for(c->context, c->found.pairs.count, KILN_COLLIDE_GRAIN, distance_chunk, &e);
    c->watched.count = 0;
    for (size_t i = 0; i < c->found.pairs.count; i++)
        if (c->distance.data[i].d <
            KILN_COLLIDE_EXPECTED * kiln_collide_pair(c, i)->reach + c->watch)
            c->watched.data[c->watched.count++] = (uint32_t)i;
        else
            c->distance.data[i].d = INFINITY;
    memcpy(c->measured.data, x, 3 * c->given->rows * sizeof(double));
}

void kiln_collide_measure(kiln_collide *c, const double *x)
{
    double began = kiln_wall_seconds();
    if (2.0 * kiln_collide_drift(c, x, NULL) > c->watch) {
        kiln_collide_measure_all(c, x);
    } else {
        evaluation e = {.collide = c, .x = kiln_collide_points(x), .items = c->watched.data};
        kiln_parallel_for(c->context, c->watched.count, KILN_COLLIDE_GRAIN, distance_chunk, &e);
    }
    c->seconds += kiln_wall_seconds() - began;
}

size_t kiln_collide_count(kiln_collide *c, const double *x)
{
    size_t count = 0;
    kiln_collide_measure(c, x);
    for (size_t w = 0; w < c->watched.count; w++)
        count += kiln_collide_acts(c, c->watched.data[w]);
    return count;
}

uint32_t kiln_collide_touching(kiln_collide *c, const double *x)
{
    kiln_collide_measure(c, x);
    for (size_t w = 0; w < c->watched.count; w++) {
        size_t i = c->watched.data[w];
        if (!(c->distance.data[i].d > TOUCHING * kiln_collide_pair(c, i)->reach))
            return kiln_collide_pair(c, i)->v[0];
    }
    return KILN_NONE;
}
