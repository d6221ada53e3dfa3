/* The module of particles that go along with the matter and change nothing: they show where it
 * went.
 *
 * Between steps a particle is a place and the tet it was last seen in. In a step it keeps its
 * weights in its tet, so it goes where the matter does; when the mesh changes it stays where it is
 * and is looked for anew. One whose matter has gone (an outlet) goes too. */
#include "base/random.h"
#include "sim/through.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What a particle may lie outside its tet where no tet has it, of the tet: surfaces that are meshed
 * anew leave a little outside. */
static const double OUTSIDE = 0.5;

typedef struct tracer_settings {
    kiln_said said;
    int64_t count, most;
    kiln_picks where;
    double rate;
    int seed;
} tracer_settings;

static void start_settings(void *settings)
{
    *(tracer_settings *)settings = (tracer_settings){.most = 10000};
}

static kiln_status finish_settings(void *settings, const kiln_given *given, kiln_error *error)
{
    const tracer_settings *s = settings;
    (void)given;
    if (s->count > s->most)
        return kiln_fail_setting(error, "count", "must not be more than most, %lld, got %lld",
                                 (long long)s->most, (long long)s->count);
    if (s->count == 0 && s->rate == 0.0)
        return kiln_fail_setting(error, NULL, "must have a count or a rate, got neither");
    return KILN_OK;
}

#define MEMBER(member) offsetof(tracer_settings, member)
static const kiln_schema_row tracer_rows[] = {
    {"count", KILN_VALUE_LONG, MEMBER(count), KILN_WITHIN(0, 1e7), NULL, NULL,
     .meaning = "at the start, anywhere in `where`"},
    {"where", KILN_VALUE_SELECTION, MEMBER(where), .preset = "everything", .meaning = "the tets"},
    {"rate", KILN_VALUE_NUMBER, MEMBER(rate), KILN_NOT_NEGATIVE, "1/s", NULL,
     .meaning = "how many come in with the liquid of inlets"},
    {"most", KILN_VALUE_LONG, MEMBER(most), KILN_WITHIN(1, 1e7), NULL, NULL,
     .meaning = "there are never more than this; those that would come in then do not"},
    {"seed", KILN_VALUE_WHOLE, MEMBER(seed), KILN_WITHIN(0, 2147483647), NULL, NULL,
     .meaning = "another seed, other places"},
};
static const kiln_schema tracer_schema = {
    .name = "tracers",
    .about = "Particles that go along with the matter: surface/tracers-N.vtp beside the frames.",
    KILN_SCHEMA_ROWS(tracer_rows),
    .size = sizeof(tracer_settings),
    .start = start_settings,
    .finish = finish_settings,
    .has_said = true};

typedef struct particle {
    kiln_vec3 x;
    double since; /* s */
    uint64_t number, tet;
} particle;

typedef struct tracer_state {
    uint64_t count, numbers; /* now; and given so far */
    uint64_t layer;          /* of inlets that was seen */
    double due;              /* to come in with the next one */
} tracer_state;

typedef struct tracers {
    kiln_world *world;
    const tracer_settings *settings;
    tracer_state *state;  /* one block with the particles: what checkpoints keep */
    particle *particles;  /* [settings->most] */
    double (*weight)[4];  /* likewise, of the step that is being made */
    kiln_u32_array fresh; /* tets, and */
    kiln_f64_array sums;  /* their volumes, summed up */
} tracers;

static size_t state_size(const tracers *p)
{
    return sizeof *p->state + (size_t)p->settings->most * sizeof *p->particles;
}

static size_t weight_size(const tracers *p)
{
    return (size_t)p->settings->most * sizeof *p->weight;
}

static void find_weights(const kiln_mesh *mesh, uint32_t tet, kiln_vec3 x, double weight[4])
{
    const uint32_t *v = mesh->tet[tet].v;
    const kiln_vec3 p[4] = {mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]};
    double volume = kiln_tet_volume(p[0], p[1], p[2], p[3]);
    weight[0] = kiln_tet_volume(x, p[1], p[2], p[3]) / volume;
    weight[1] = kiln_tet_volume(p[0], x, p[2], p[3]) / volume;
    weight[2] = kiln_tet_volume(p[0], p[1], x, p[3]) / volume;
    weight[3] = 1.0 - weight[0] - weight[1] - weight[2];
}

static double least(const double weight[4])
{
    return fmin(fmin(weight[0], weight[1]), fmin(weight[2], weight[3]));
}

/* Where no tet has it: the one that nearly does. KILN_NONE: none. */
static uint32_t find_nearly(const kiln_mesh *mesh, kiln_vec3 x)
{
    uint32_t best = KILN_NONE;
    double most = -OUTSIDE, weight[4];
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 way = kiln_v3_sub(x, mesh->x[mesh->tet[t].v[0]]);
        double reach = 0.0;
        for (int k = 1; k < 4; k++)
            reach = fmax(reach, kiln_v3_norm2(kiln_v3_sub(mesh->x[mesh->tet[t].v[k]],
                                                          mesh->x[mesh->tet[t].v[0]])));
        if (kiln_v3_norm2(way) > 9.0 * reach)
            continue;
        find_weights(mesh, t, x, weight);
        if (least(weight) > most) {
            most = least(weight);
            best = t;
        }
    }
    return best;
}

/* All of them in the mesh as it is; those that are nowhere go. Between steps and after them the
 * spaces agree, so that the walk may be in either. */
static void find_all(tracers *p)
{
    const kiln_mesh *mesh = p->world->mesh;
    uint32_t used = mesh->table[KILN_ON_TET].used, last, visits;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < p->state->count; i++) {
        particle one = p->particles[i];
        uint32_t tet =
            kiln_locate(mesh, one.x, one.tet < used ? (uint32_t)one.tet : 0, &last, &visits);
        if (tet == KILN_NONE)
            tet = find_nearly(mesh, one.x);
        if (tet == KILN_NONE)
            continue;
        one.tet = tet;
        find_weights(mesh, tet, one.x, p->weight[kept]);
        p->particles[kept++] = one;
    }
    memset(p->particles + kept, 0, (size_t)(p->state->count - kept) * sizeof *p->particles);
    p->state->count = kept;
}

/* A place in one of the tets, each as likely as it is large. */
static void add_one(tracers *p)
{
    const kiln_mesh *mesh = p->world->mesh;
    const uint32_t count = (uint32_t)p->fresh.count;
    kiln_random random = kiln_random_start((uint64_t)p->settings->seed, p->state->numbers);
    double at = kiln_random_unit(&random) * p->sums.data[count - 1], share[3], left = 1.0;
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->sums.data[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    const uint32_t *v = mesh->tet[p->fresh.data[low]].v;
    kiln_vec3 x = {0, 0, 0};
    for (int k = 0; k < 3; k++) { /* uniform in the tet */
        share[k] = left * (1.0 - pow(kiln_random_unit(&random), 1.0 / (3 - k)));
        left -= share[k];
        x = kiln_v3_madd(x, share[k], mesh->x[v[k]]);
    }
    x = kiln_v3_madd(x, left, mesh->x[v[3]]);
    uint64_t row = p->state->count++;
    p->particles[row] = (particle){.x = x,
                                   .since = p->world->state.clock.time,
                                   .number = ++p->state->numbers,
                                   .tet = p->fresh.data[low]};
    find_weights(mesh, p->fresh.data[low], x, p->weight[row]);
}

static kiln_status add_some(tracers *p, uint64_t count, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    double sum = 0.0;
    if (p->fresh.count == 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(p->world->context, &p->sums, p->fresh.count, error));
    for (size_t i = 0; i < p->fresh.count; i++)
        p->sums.data[i] = sum += kiln_mesh_tet_volume(mesh, p->fresh.data[i]);
    for (; count > 0 && p->state->count < (uint64_t)p->settings->most; count--)
        add_one(p);
    return KILN_OK;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const tracer_settings *settings = kiln_scene_settings(world->scene, &tracer_schema);
    if (!settings)
        return KILN_OK;
    if (!world->moves)
        return kiln_said_fail(world->scene, &settings->said, error, "needs time steps");
    tracers *p = kiln_module_make(world, sizeof *p, self, error);
    if (!p)
        return KILN_ERR_MEMORY;
    p->world = world;
    p->settings = settings;
    p->state = kiln_resize(world->context, NULL, 0, state_size(p));
    p->weight = kiln_resize(world->context, NULL, 0, weight_size(p));
    if (!p->state || !p->weight)
        return kiln_fail_memory(error, state_size(p) + weight_size(p));
    memset(p->state, 0, state_size(p));
    p->particles = (particle *)(void *)(p->state + 1);
    KILN_TRY(kiln_said_wrap(
        world->scene, &settings->said,
        kiln_world_select(world, KILN_ON_TET, -1, &settings->where, &p->fresh, error), error));
    if (p->fresh.count == 0)
        return kiln_said_fail(world->scene, &settings->said, error, "selects no tet");
    return add_some(p, (uint64_t)settings->count, error);
}

static void destroy(void *self)
{
    tracers *p = self;
    kiln_context *context = p->world->context;
    if (p->state)
        kiln_release(context, p->state, state_size(p));
    if (p->weight)
        kiln_release(context, p->weight, weight_size(p));
    kiln_array_free(context, &p->fresh);
    kiln_array_free(context, &p->sums);
}

/* A checkpoint may have been tampered with. */
static bool is_sound(const tracers *p)
{
    bool sound = p->state->count <= (uint64_t)p->settings->most;
    for (uint64_t i = 0; sound && i < p->state->count; i++)
        sound = p->particles[i].tet < p->world->mesh->table[KILN_ON_TET].used &&
                kiln_v3_finite(p->particles[i].x);
    return sound;
}

static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    tracers *p = self;
    if (!is_sound(p))
        return kiln_said_fail(p->world->scene, &p->settings->said, error,
                              "the particles that the run goes on with are not in its mesh");
    for (uint64_t i = 0; i < p->state->count; i++)
        find_weights(p->world->mesh, (uint32_t)p->particles[i].tet, p->particles[i].x,
                     p->weight[i]);
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)error;
    tracers *p = self;
    const kiln_mesh *mesh = p->world->mesh;
    for (uint64_t i = 0; i < p->state->count; i++) {
        const uint32_t *v = mesh->tet[p->particles[i].tet].v;
        kiln_vec3 x = {0, 0, 0};
        for (int k = 0; k < 4; k++)
            x = kiln_v3_madd(x, p->weight[i][k], mesh->x[v[k]]);
        p->particles[i].x = x;
    }
    p->state->due += p->settings->rate * (moment->end - moment->begin);
    return KILN_OK;
}

/* The layers of inlets that are new. */
static kiln_status follow_inlets(tracers *p, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_LAYER);
    const uint32_t *layer = field ? (const uint32_t *)(const void *)field->data : NULL;
    uint64_t newest = p->state->layer;
    p->fresh.count = 0;
    for (uint32_t t = 0; layer && t < mesh->table[KILN_ON_TET].used; t++) {
        if (layer[t] <= p->state->layer)
            continue;
        newest = layer[t] > newest ? layer[t] : newest;
        KILN_TRY(kiln_array_push(p->world->context, &p->fresh, t, error));
    }
    if (p->fresh.count == 0)
        return KILN_OK;
    double come = floor(p->state->due);
    p->state->due -= come;
    p->state->layer = newest;
    return add_some(p, (uint64_t)come, error);
}

static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    (void)changes;
    tracers *p = self;
    find_all(p);
    return follow_inlets(p, error);
}

static void *state(void *self, size_t *size)
{
    tracers *p = self;
    *size = state_size(p);
    return p->state;
}

const kiln_module kiln_module_tracers = {.name = "tracers",
                                         .schema = &tracer_schema,
                                         .create = create,
                                         .destroy = destroy,
                                         .before_step = before_step,
                                         .after_step = after_step,
                                         .mesh_changed = mesh_changed,
                                         .state = state};

bool kiln_world_has_tracers(const kiln_world *world)
{
    return kiln_world_module(world, &kiln_module_tracers) != NULL;
}

size_t kiln_world_tracer_count(const kiln_world *world)
{
    const tracers *p = kiln_world_module(world, &kiln_module_tracers);
    return p && is_sound(p) ? (size_t)p->state->count : 0;
}

kiln_tracer_place kiln_world_tracer(const kiln_world *world, size_t row)
{
    const tracers *p = kiln_world_module(world, &kiln_module_tracers);
    const particle *one = &p->particles[row];
    const kiln_vec3 *v = (const kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, "v");
    kiln_tracer_place out = {one->x, {0, 0, 0}, world->state.clock.time - one->since, one->number};
    double weight[4];
    find_weights(world->mesh, (uint32_t)one->tet, one->x, weight);
    for (int k = 0; k < 4; k++)
        out.velocity = kiln_v3_madd(out.velocity, weight[k], v[world->mesh->tet[one->tet].v[k]]);
    return out;
}
