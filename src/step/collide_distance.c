/* Distances of the pairs. */
#include "base/clock.h"
#include "base/parallel.h"
#include "contact/pair_bounds.h"
#include "step/collide_impl.h"

#include <string.h>

typedef struct evaluation {
    kiln_collide *collide;
    const kiln_vec3 *x;
    kiln_collide_sight sight;
    size_t begun; /* the first of those that acted at the begin */
} evaluation;

static double scale_of(const kiln_collide *c, size_t i)
{
    return c->hardness * c->options.stiffness * c->counted.data[i];
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
    c->counted.data[i] = 0.0;
    c->parts.data[i] = 0;
    if (!acts)
        return;
    kiln_counts counts;
    kiln_collide_count_pair(&e->sight, i, out, &counts);
    c->counted.data[i] = counts.own;
    c->parts.data[i] = (uint8_t)counts.parts;
    if (!kiln_collide_acts(c, i))
        return;
    c->scale.data[i] = scale_of(c, i);
    c->rub.data[i] = kiln_collide_friction_of(c, i);
    if (c->from)
        c->before.data[i] = kiln_surface_pair_distance(pair, kiln_collide_points(c->from)).d;
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

/* Behind the pairs, in their order. Few pairs have any. */
static void add_parts(const evaluation *e, size_t i)
{
    kiln_collide *c = e->collide;
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    kiln_counts counts;
    kiln_collide_count_pair(&e->sight, i, &c->distance.data[i], &counts);
    for (int k = 0; k < counts.parts; k++) {
        size_t at = c->found.pairs.count + c->part_of.count;
        const double *w = counts.part[k].weight, d = counts.part[k].distance;
        c->part_of.data[c->part_of.count++] = (uint32_t)i;
        c->distance.data[at] = (kiln_pair_distance){
            .d = d - pair->clearance,
            .normal = d > 0.0 ? kiln_v3_scale(counts.part[k].offset, 1.0 / d) : kiln_v3(0, 0, 0),
            .weight = {1.0, -w[0], -w[1], -w[2]}};
        c->before.data[at] = counts.part[k].before - pair->clearance;
        c->counted.data[at] = counts.part[k].count;
        c->scale.data[at] = scale_of(c, at);
        c->rub.data[at] = kiln_collide_friction_of(c, i);
    }
}

static void list_parts(const evaluation *e)
{
    kiln_collide *c = e->collide;
    size_t count = 0, pairs = c->found.pairs.count;
    c->part_of.count = 0;
    for (size_t i = 0; i < pairs; i++)
        count += c->parts.data[i];
    if (count == 0)
        return;
    if (c->failure == KILN_OK)
        c->failure = kiln_array_reserve(c->context, &c->part_of, count, &c->trouble);
    if (c->failure == KILN_OK)
        c->failure = kiln_collide_make_room(c, pairs + count, &c->trouble);
    for (size_t i = 0; i < pairs && c->failure == KILN_OK; i++)
        if (c->parts.data[i])
            add_parts(e, i);
}

static void list_acting(kiln_collide *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->found.pairs.count + c->part_of.count; i++)
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
    evaluation e = {.collide = c,
                    .x = kiln_collide_points(x),
                    .sight = {c, kiln_collide_rules(c), kiln_collide_points(x)},
                    .begun = c->found.pairs.count - c->begun.count};
    kiln_parallel_for(c->context, c->found.pairs.count, KILN_COLLIDE_GRAIN, distance_chunk, &e);
    list_parts(&e);
    list_acting(c);
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
