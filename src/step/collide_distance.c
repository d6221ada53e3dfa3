/* Distances of the pairs. */
#include "base/clock.h"
#include "base/parallel.h"
#include "contact/pair_bounds.h"
#include "step/collide_impl.h"

#include <string.h>

typedef struct evaluation {
    kiln_collide *collide;
    const kiln_vec3 *x;
    size_t begun; /* the first of those that acted at the begin */
} evaluation;

double kiln_collide_parting(const kiln_surface_pair *pair, const kiln_pair_distance *at,
                            const double *v)
{
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
        sum += at->weight[k] * kiln_v3_dot(at->normal, kiln_collide_points(v)[pair->v[k]]);
    return sum;
}

/* The part of a vertex's motion against its wall that is no bounce of the body: of the squares of
 * u, how fast it is carried as by a rigid one, and w, how fast it moves besides. */
static double calm_of(const kiln_collide *c, const kiln_surface_pair *pair,
                      const kiln_pair_distance *at)
{
    if (!c->carried || !kiln_collide_is_flat(c, pair))
        return 0.0;
    double u = kiln_collide_parting(pair, at, c->carried);
    double w = kiln_collide_parting(pair, at, c->besides);
    return w != 0.0 ? w * w / (w * w + u * u) : 0.0;
}

static void measure_begin(kiln_collide *c, size_t i)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    kiln_pair_distance at = kiln_surface_pair_distance(pair, kiln_collide_points(c->from));
    c->before.data[i] = at.d;
    c->calm.data[i] = calm_of(c, pair, &at);
}

/* `far`: surely beyond reach. */
static void measure_pair(const evaluation *e, size_t i, bool far)
{
    kiln_collide *c = e->collide;
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    kiln_pair_distance *out = &c->distance.data[i];
    bool begun = i >= e->begun;
    if (far && !begun)
        out->d = INFINITY;
    else
        *out = kiln_surface_pair_distance(pair, e->x);
    bool acts = begun || out->d < pair->reach;
    c->counted.data[i] = acts ? pair->area : 0.0;
    if (!kiln_collide_acts(c, i))
        return;
    c->scale.data[i] = kiln_collide_scale_of(c, i);
    c->rub.data[i] = kiln_collide_friction_of(c, i);
    if (c->from)
        measure_begin(c, i);
}

static double square(double x)
{
    return x * x;
}

static void distance_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const evaluation *e = user;
    for (size_t i = begin; i < end; i += KILN_COLLIDE_BLOCK) {
        double near2[KILN_COLLIDE_BLOCK];
        size_t count = kiln_collide_block(i, end);
        const kiln_surface_pair *pair = kiln_collide_pair(e->collide, i);
        kiln_pair_distances2(e->collide->context, pair, count, e->x, KILN_PAIR_LOSS, near2);
        for (size_t k = 0; k < count; k++)
            measure_pair(e, i + k, near2[k] > square(pair[k].reach + pair[k].clearance));
    }
}

static void list_acting(kiln_collide *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->found.pairs.count; i++)
        if (kiln_collide_acts(c, i))
            c->acting.data[count++] = (uint32_t)i;
    c->acting.count = count;
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
    kiln_parallel_for(c->context, c->found.pairs.count, KILN_COLLIDE_BLOCK, distance_chunk, &e);
    list_acting(c);
    kiln_collide_count_all(c, x);
    c->measures++;
    c->seconds += kiln_wall_seconds() - began;
}

size_t kiln_collide_count(kiln_collide *c, const double *x)
{
    kiln_collide_measure(c, x);
    return c->acting.count;
}

uint32_t kiln_collide_touching(kiln_collide *c, const double *x)
{
    kiln_collide_measure(c, x);
    for (size_t i = 0; i < c->found.pairs.count; i++)
        if (!(c->distance.data[i].d > KILN_COLLIDE_TOUCHING * kiln_collide_pair(c, i)->reach))
            return kiln_collide_pair(c, i)->v[0];
    return KILN_NONE;
}
