/* Velocities that keep the linear momentum (SLI 6.3, eq. 14-16).
 *
 * Interpolated velocities on new tets do not carry the momentum of the old ones. What is missing in
 * each new tet goes to its four corners: as a change of velocity at once, or as an impulse for the
 * next step. SLI resamples the mean momentum of each old tet, which smears fields that
 * interpolation has right; here the part of an old tet that lies in a new one brings the momentum
 * of its own old velocities, exact for the linear field, so that the correction vanishes where the
 * field is linear. What of an old tet lies in no new one is shared among those it meets by volume,
 * as eq. 15 does.
 *
 * A new tet need not have just the mass of the shares it gets (transfer_amounts.c,
 * transfer_balance.c): it moves as fast as they did. What that changes of the momentum, and what is
 * missing of the angular momentum, is made up for last (transfer_motion.c). */
#include "base/parallel.h"
#include "remesh/transfer_impl.h"

#include <string.h>

double kiln_transfer_source_mass(const kiln_transfer_job *job, const kiln_transfer_tet *source)
{
    double value = 1.0;
    if (job->mass || job->density)
        memcpy(&value,
               kiln_begin_row(job->mass ? &job->mass->from : &job->density->from, source->tet),
               sizeof value);
    return job->mass ? value : value * source->volume;
}

double kiln_transfer_target_mass(const kiln_transfer_job *job, uint32_t tet)
{
    if (job->mass)
        return *(const double *)kiln_transfer_row(job->mass, tet);
    const kiln_vec3 *at = kiln_mesh_positions(job->to, job->space);
    const uint32_t *v = job->to->tet[tet].v;
    double volume = fabs(kiln_tet_volume(at[v[0]], at[v[1]], at[v[2]], at[v[3]]));
    return job->density ? volume * *(const double *)kiln_transfer_row(job->density, tet) : volume;
}

/* The vertices whose velocities may change: corners of the targets. */
typedef struct affected {
    kiln_context *context;
    kiln_idset numbers; /* vertex row -> index */
    kiln_u32_array rows;
    kiln_f64_array change; /* [index][component] missing momentum */
} affected;

static kiln_status number_corners(const kiln_transfer_job *job, affected *a, kiln_error *error)
{
    KILN_TRY(kiln_idset_clear(a->context, &a->numbers, 256, error));
    for (size_t t = 0; t < 4 * job->targets.count; t++) {
        uint32_t v = job->to->tet[job->targets.data[t / 4].tet].v[t % 4];
        kiln_idset_slot *slot = kiln_idset_at(&a->numbers, v);
        if (slot->epoch == a->numbers.epoch)
            continue;
        kiln_idset_add(&a->numbers, slot, v, (uint32_t)a->rows.count);
        KILN_TRY(kiln_array_push(a->context, &a->rows, v, error));
        if (2 * (size_t)a->numbers.members >= a->numbers.slots.count)
            KILN_TRY(kiln_idset_grow(a->context, &a->numbers, error));
    }
    return KILN_OK;
}

/* One component of the old velocity on a source. */
typedef struct linear_field {
    double at_corner, mean;
    kiln_vec3 gradient;
} linear_field;

typedef struct momentum_work {
    const kiln_transfer_job *job;
    const kiln_transfer_field *field;
    uint32_t component;
    linear_field *velocity; /* [source] */
    double *left;           /* [source] momentum that no target got yet */
    double *part;           /* [overlap] momentum that comes that way */
    double *missing;        /* [target] */
    double *stray;          /* [target] momentum of sources without overlap */
    double *stray_mass;     /* [target] */
} momentum_work;

static void find_velocities(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const momentum_work *w = user;
    for (size_t s = begin; s < end; s++) {
        const kiln_transfer_tet *source = &w->job->sources.data[s];
        const uint32_t *v = kiln_begin_tet(&w->job->view, source->tet)->v;
        double value[4];
        for (int i = 0; i < 4; i++)
            memcpy(&value[i],
                   (const char *)kiln_begin_row(&w->field->from, v[i]) + 8 * w->component,
                   sizeof value[i]);
        linear_field velocity = {.at_corner = value[0],
                                 .mean = 0.25 * (value[0] + value[1] + value[2] + value[3])};
        velocity.gradient = kiln_transfer_gradient(source->corner, value);
        w->velocity[s] = velocity;
        w->left[s] = kiln_transfer_source_mass(w->job, source) * velocity.mean;
    }
}

static void find_parts(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const momentum_work *w = user;
    const kiln_transfer_job *job = w->job;
    for (size_t i = begin; i < end; i++) {
        const kiln_overlap *o = &job->overlaps.data[i];
        const kiln_transfer_tet *s = &job->sources.data[o->source];
        const linear_field *v = &w->velocity[o->source];
        const kiln_moments *m = &job->moments.data[i];
        kiln_vec3 shift = kiln_v3_sub(job->targets.data[o->target].corner[0], s->corner[0]);
        double at_origin = v->at_corner + kiln_v3_dot(v->gradient, shift);
        double density = s->volume > 0.0 ? kiln_transfer_source_mass(job, s) / s->volume : 0.0;
        w->part[i] = density * (at_origin * m->volume + kiln_v3_dot(v->gradient, m->first));
    }
}

/* Mean velocity of what came into a target; false: nothing did. */
static bool find_speed(const momentum_work *w, size_t t, double *speed)
{
    const kiln_transfer_job *job = w->job;
    double momentum = w->stray[t], mass = w->stray_mass[t];
    for (uint32_t i = job->first.data[t]; i < job->first.data[t + 1]; i++) {
        const kiln_overlap *o = &job->overlaps.data[i];
        double covered = job->covered.data[o->source];
        double share = covered > 0.0 ? o->volume / covered : 0.0;
        momentum += w->part[i] + share * w->left[o->source];
        mass += share * kiln_transfer_source_mass(job, &job->sources.data[o->source]);
    }
    *speed = mass > 0.0 ? momentum / mass : 0.0;
    return mass > 0.0;
}

static void find_missing(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const momentum_work *w = user;
    const kiln_transfer_job *job = w->job;
    for (size_t t = begin; t < end; t++) {
        uint32_t tet = job->targets.data[t].tet;
        double mean = 0.0, speed;
        bool known = find_speed(w, t, &speed);
        for (int k = 0; k < 4; k++)
            mean +=
                0.25 *
                ((const double *)kiln_transfer_row(w->field, job->to->tet[tet].v[k]))[w->component];
        w->missing[t] = known ? kiln_transfer_target_mass(job, tet) * (speed - mean) : 0.0;
    }
}

static void find_strays(const momentum_work *w)
{
    const kiln_transfer_job *job = w->job;
    for (size_t t = 0; t < job->targets.count; t++)
        w->stray[t] = w->stray_mass[t] = 0.0;
    for (size_t i = 0; i < job->strays.count; i++) {
        const kiln_bvh_pair *stray = &job->strays.data[i];
        w->stray[stray->b] += w->left[stray->a];
        w->stray_mass[stray->b] += kiln_transfer_source_mass(job, &job->sources.data[stray->a]);
    }
}

static void gather_missing(momentum_work *w, affected *a)
{
    const kiln_transfer_job *job = w->job;
    uint32_t components = w->field->to->components;
    kiln_parallel_for(job->context, job->sources.count, KILN_TRANSFER_GRAIN, find_velocities, w);
    kiln_parallel_for(job->context, job->overlaps.count, 4 * KILN_TRANSFER_GRAIN, find_parts, w);
    for (size_t i = 0; i < job->overlaps.count; i++)
        w->left[job->overlaps.data[i].source] -= w->part[i];
    find_strays(w);
    kiln_parallel_for(job->context, job->targets.count, KILN_TRANSFER_GRAIN, find_missing, w);
    for (size_t t = 0; t < job->targets.count; t++) {
        const uint32_t *v = job->to->tet[job->targets.data[t].tet].v;
        for (int k = 0; k < 4; k++) {
            uint32_t i = kiln_idset_at(&a->numbers, v[k])->value;
            a->change.data[(size_t)i * components + w->component] += 0.25 * w->missing[t];
        }
    }
}

/* The field that gets the correction in place of velocities, or NULL. */
static kiln_status find_impulse(const kiln_transfer_job *job, const kiln_transfer_field *field,
                                kiln_field **impulse, kiln_error *error)
{
    *impulse = NULL;
    if (job->options.velocity && job->options.impulse &&
        strcmp(field->to->name, job->options.velocity) == 0)
        *impulse = kiln_mesh_field(job->to, KILN_ON_VERTEX, job->options.impulse);
    if (*impulse &&
        ((*impulse)->type != KILN_F64 || (*impulse)->components != field->to->components))
        return kiln_fail(error, KILN_ERR_INPUT, (*impulse)->name, 0, -1,
                         "the impulse field must have %u doubles like '%s'", field->to->components,
                         field->to->name);
    return KILN_OK;
}

static kiln_status correct(kiln_transfer_job *job, momentum_work *w, affected *a, kiln_error *error)
{
    KILN_TRY(number_corners(job, a, error));
    for (size_t f = 0; f < job->fields[KILN_ON_VERTEX].count; f++) {
        const kiln_transfer_field *field = &job->fields[KILN_ON_VERTEX].data[f];
        if (field->to->rule != KILN_RULE_MOMENTUM || field->to->type != KILN_F64)
            continue;
        size_t size = a->rows.count * field->to->components;
        KILN_TRY(kiln_array_reserve(a->context, &a->change, size, error));
        memset(a->change.data, 0, size * sizeof(double));
        w->field = field;
        for (w->component = 0; w->component < field->to->components; w->component++)
            gather_missing(w, a);
        kiln_field *impulse;
        KILN_TRY(find_impulse(job, field, &impulse, error));
        KILN_TRY(kiln_transfer_motion(job, field, impulse, &a->numbers, a->change.data, error));
    }
    return KILN_OK;
}

kiln_status kiln_transfer_momentum(kiln_transfer_job *job, kiln_error *error)
{
    kiln_context *context = job->context;
    if (job->targets.count == 0)
        return KILN_OK;
    size_t doubles = job->sources.count + job->overlaps.count + 3 * job->targets.count;
    size_t bytes = job->sources.count * sizeof(linear_field) + doubles * sizeof(double);
    momentum_work w = {.job = job, .velocity = kiln_resize(context, NULL, 0, bytes)};
    if (!w.velocity)
        return kiln_fail_memory(error, bytes);
    w.left = (double *)(w.velocity + job->sources.count);
    w.part = w.left + job->sources.count;
    w.missing = w.part + job->overlaps.count;
    w.stray = w.missing + job->targets.count;
    w.stray_mass = w.stray + job->targets.count;
    affected a = {.context = context};
    kiln_status status = correct(job, &w, &a, error);
    kiln_array_free(context, &a.numbers.slots);
    kiln_array_free(context, &a.rows);
    kiln_array_free(context, &a.change);
    kiln_release(context, w.velocity, bytes);
    return status;
}
