/* What is looked at before a try of a step is taken: numbers, tets inside out, bodies adrift, and
 * how much was changed in one step. */
#include "base/parallel.h"
#include "geom/predicates.h"
#include "geom/shrink.h"
#include "step/solid_impl.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 512 };

typedef struct inspection {
    const kiln_attempt *trial;
    atomic_uint_least32_t worst; /* lowest slot that fails, KILN_NONE */
    atomic_uint_least64_t most;  /* bits of the largest measure, which is not negative */
} inspection;

static void note_failure(inspection *i, uint32_t slot)
{
    uint_least32_t known = atomic_load(&i->worst);
    while (slot < known && !atomic_compare_exchange_weak(&i->worst, &known, slot))
        ;
}

static void note_measure(inspection *i, double measure)
{
    uint64_t bits;
    memcpy(&bits, &measure, sizeof bits);
    uint_least64_t known = atomic_load(&i->most);
    while (bits > known && !atomic_compare_exchange_weak(&i->most, &known, bits))
        ;
}

static void finite_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    inspection *i = user;
    const kiln_solid *s = i->trial->solid;
    for (size_t v = begin; v < end; v++) {
        double sum = 0.0; /* stays finite only if all are; overflow is no place for a body */
        for (size_t c = 3 * v; c < 3 * v + 3; c++)
            sum += 0.0 * s->x.data[c] + 0.0 * s->rate.data[c];
        if (sum != 0.0)
            note_failure(i, (uint32_t)v);
    }
}

/* M3: positive in world space by the exact predicate. */
static void inverted_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    inspection *i = user;
    const kiln_mesh *mesh = i->trial->solid->mesh;
    const kiln_vec3 *x = (const kiln_vec3 *)(const void *)i->trial->solid->x.data;
    for (size_t t = begin; t < end; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (v[0] != KILN_NONE && !(kiln_orient3d(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) > 0.0))
            note_failure(i, (uint32_t)t);
    }
}

static void acceleration_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    inspection *i = user;
    const kiln_attempt *t = i->trial;
    double limit = t->solid->options.max_acceleration * t->h;
    const double *new = t->solid->rate.data, *old = t->history[KILN_HISTORY_V];
    for (size_t v = begin; v < end; v++) {
        kiln_vec3 d = kiln_v3(new[3 * v] - old[3 * v], new[3 * v + 1] - old[3 * v + 1],
                              new[3 * v + 2] - old[3 * v + 2]);
        if (kiln_v3_norm2(d) > limit * limit)
            note_failure(i, (uint32_t)v);
    }
}

/* With nothing to hold it a body falls until its forces are lost in the rounding of its place,
 * which to Newton looks like rest. */
static void adrift_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    inspection *i = user;
    const kiln_solid *s = i->trial->solid;
    double limit = KILN_STATIC_FARTHEST * s->length;
    const double *now = s->x.data, *before = i->trial->history[KILN_HISTORY_X];
    for (size_t v = begin; v < end; v++) {
        kiln_vec3 d = kiln_v3(now[3 * v] - before[3 * v], now[3 * v + 1] - before[3 * v + 1],
                              now[3 * v + 2] - before[3 * v + 2]);
        if (kiln_v3_norm2(d) > limit * limit)
            note_failure(i, (uint32_t)v);
    }
}

/* What its body measured at most is in *most, unless that is NULL. */
static bool passes_measured(kiln_attempt *t, kiln_step_outcome outcome, size_t count,
                            kiln_chunk_body body, double *most)
{
    inspection i = {.trial = t};
    atomic_init(&i.worst, KILN_NONE);
    atomic_init(&i.most, 0);
    kiln_parallel_for(t->solid->context, count, GRAIN, body, &i);
    uint32_t worst = atomic_load(&i.worst);
    uint64_t bits = atomic_load(&i.most);
    if (most)
        memcpy(most, &bits, sizeof bits);
    if (worst == KILN_NONE)
        return true;
    t->report->outcome = outcome;
    t->report->element = worst;
    return false;
}

static bool passes(kiln_attempt *t, kiln_step_outcome outcome, size_t count, kiln_chunk_body body)
{
    return passes_measured(t, outcome, count, body, NULL);
}

/* A tet whose vertices come to move against each other by more than an edge in a step is none that
 * the step before foresaw, whatever it looks like at the end (VPF 5). What a body does as a whole,
 * falling or turning with a hold, does not count. */
static void jolt_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    inspection *i = user;
    const kiln_attempt *t = i->trial;
    const kiln_vec3 *x = (const kiln_vec3 *)(const void *)t->history[KILN_HISTORY_X];
    const kiln_vec3 *old = (const kiln_vec3 *)(const void *)t->history[KILN_HISTORY_V];
    const kiln_vec3 *new = (const kiln_vec3 *)(const void *)t->solid->rate.data;
    double most = 0.0; /* of the squares */
    for (size_t k = begin; k < end; k++) {
        const uint32_t *v = t->solid->mesh->tet[k].v;
        for (int e = 0; e < 6 && v[0] != KILN_NONE; e++) {
            uint32_t a = v[kiln_edge_ends[e][0]], b = v[kiln_edge_ends[e][1]];
            kiln_vec3 change =
                kiln_v3_sub(kiln_v3_sub(new[a], new[b]), kiln_v3_sub(old[a], old[b]));
            double way = kiln_v3_norm2(change) * t->h * t->h,
                   edge = kiln_v3_norm2(kiln_v3_sub(x[a], x[b]));
            if (way > most * edge)
                most = way / edge;
            if (way > edge)
                note_failure(i, a);
        }
    }
    note_measure(i, sqrt(most));
}

/* Liquid: the part of its volume that a tet is to have left on its way through a step, and of an
 * edge by how much its ends may go against each other. Steps are chosen for the latter as far as
 * the velocities at their begin say (sim/liquid_pace.c): where liquid meets something, or tension
 * begins to pull, they do not. In steps shorter than this part of the usual one nothing of it
 * counts: one bad edge does not stop all. */
static const double LEAST_VOLUME = 0.1, MOST_WAY = 0.6, LEAST_OF_USUAL = 1.0 / 32.0;
static const double LOOKED_AHEAD =
    4.0; /* steps: what would not be crushed in so many is no limit */

static double edge_way(const kiln_vec3 x[4], const kiln_vec3 way[4])
{
    double most = 0.0;
    for (int e = 0; e < 6; e++) {
        int a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
        most = fmax(most, kiln_v3_norm2(kiln_v3_sub(way[a], way[b])) /
                              kiln_v3_norm2(kiln_v3_sub(x[a], x[b])));
    }
    return sqrt(most);
}

/* What would be crushed is never inverted: the barrier of its material keeps it from that, and
 * Newton's steps become short. */
static void crushed_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    inspection *i = user;
    const kiln_solid *s = i->trial->solid;
    const kiln_vec3 *old = (const kiln_vec3 *)(const void *)i->trial->history[KILN_HISTORY_X];
    const kiln_vec3 *new = (const kiln_vec3 *)(const void *)s->x.data;
    double most = 0.0;
    for (size_t k = begin; k < end; k++) {
        uint32_t tet = s->liquid.rings.kept.data[k];
        kiln_vec3 x[4], way[4];
        for (int c = 0; c < 4; c++) {
            uint32_t v = s->mesh->tet[tet].v[c];
            x[c] = old[v];
            way[c] = kiln_v3_sub(new[v], old[v]);
        }
        double used = fmax(1.0 / kiln_tet_shrinks_at(x, way, LEAST_VOLUME, LOOKED_AHEAD),
                           edge_way(x, way) / MOST_WAY);
        most = fmax(most, used);
        if (used > 1.0)
            note_failure(i, tet);
    }
    note_measure(i, most);
}

static void check_liquid(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    double used;
    double least = fmax(s->options.least_step, LEAST_OF_USUAL * s->options.usual_step);
    if (!s->liquid.used || t->scheme.scale == 0.0 || !(t->h > least))
        return;
    passes_measured(t, KILN_STEP_CRUSHED, s->liquid.rings.kept.count, crushed_chunk, &used);
    t->report->strained = fmax(t->report->strained, used);
}

static bool accelerates_slowly(kiln_attempt *t, bool preset)
{
    kiln_solid *s = t->solid;
    if (t->scheme.scale > 0.0 && s->options.max_acceleration > 0.0)
        return passes(t, KILN_STEP_ACCELERATION, s->rows, acceleration_chunk);
    return !preset || passes_measured(t, KILN_STEP_ACCELERATION, s->mesh->table[KILN_ON_TET].used,
                                      jolt_chunk, &t->report->strained);
}

/* Asked after accelerations, whose verdict stands. */
static void check_stretch(kiln_attempt *t, bool preset)
{
    kiln_solid *s = t->solid;
    uint32_t worst;
    double limit = s->options.max_stretch > 0.0 ? s->options.max_stretch
                   : preset                     ? KILN_FLOW_STRETCH
                                                : INFINITY;
    if (limit == INFINITY)
        return;
    double most = kiln_elements_stretch(s->elements, s->x.data, kiln_solid_positions(s), &worst);
    t->report->strained = fmax(t->report->strained, (most - 1.0) / limit);
    if (most > 1.0 + limit && t->report->outcome == KILN_STEP_DONE) {
        t->report->outcome = KILN_STEP_STRETCH;
        t->report->element = worst;
    }
}

void kiln_attempt_check(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    const kiln_mesh *mesh = s->mesh;
    t->report->strained = 0.0;
    if (!passes(t, KILN_STEP_NOT_FINITE, s->rows, finite_chunk))
        return;
    if (t->scheme.scale == 0.0 && !passes(t, KILN_STEP_ADRIFT, s->rows, adrift_chunk))
        return;
    if (mesh->world_policy == KILN_WORLD_REJECT &&
        !passes(t, KILN_STEP_INVERTED, mesh->table[KILN_ON_TET].used, inverted_chunk))
        return;
    /* Where nobody asked for limits they shorten steps, but end no run. */
    bool preset = s->flows && t->scheme.scale > 0.0 && t->h > s->options.least_step &&
                  mesh->world_policy == KILN_WORLD_REJECT;
    if (accelerates_slowly(t, preset) || t->report->strained > 0.0)
        check_stretch(t, preset);
    if (t->report->outcome == KILN_STEP_DONE)
        check_liquid(t);
}
