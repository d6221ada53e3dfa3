/* The module that keeps the forces of a step. By vertex, as fields of frames: what holds, obstacles
 * and other surfaces press with at its end, since the mesh that it was made with may change
 * afterwards, and the next try may fail. By hold, obstacle and pair of bodies, for rows: the mean
 * force and torque over the step, whose sum with gravity and loads is the change of momentum
 * (step/push.h). */
#include "geom/box.h"
#include "mesh/rewind.h"
#include "sim/boundary.h"
#include "sim/motion.h"

#include <math.h>
#include <string.h>

#define KILN_FIELD_REACTION "reaction"
#define KILN_FIELD_CONTACT  "contact"

/* Of an obstacle or a hold, in the last step. Plain doubles: taken back with a step, and kept in
 * checkpoints. */
typedef struct source {
    kiln_vec3 kept_force, kept_torque; /* what the integrator needs in the next step */
    kiln_wrench wrench;
    double acts; /* 0: not in that step */
} source;

typedef struct forces {
    kiln_world *world;
    source *sources;       /* [obstacles, then holds, then pairs of bodies] */
    kiln_hold_push *holds; /* [holds] */
    uint32_t (*pairs)[2];  /* bodies whose contact somebody looks at, from 0 */
    size_t obstacle_count, hold_count, pair_count;
    bool columns; /* load, gap and slip of vertices are asked for */
} forces;

static size_t source_count(const forces *f)
{
    return f->obstacle_count + f->hold_count + f->pair_count;
}

static kiln_status make_sources(forces *f, kiln_error *error)
{
    kiln_context *context = f->world->context;
    size_t size = source_count(f) * sizeof *f->sources, holds = f->hold_count * sizeof *f->holds;
    f->sources = kiln_resize(context, NULL, 0, size + 1);
    f->holds = kiln_resize(context, NULL, 0, holds + 1);
    if (!f->sources || !f->holds)
        return kiln_fail_memory(error, size + holds);
    memset(f->sources, 0, size);
    return KILN_OK;
}

/* The scene's probes with another body. */
static kiln_status list_pairs(forces *f, kiln_error *error)
{
    const kiln_scene *scene = f->world->scene;
    size_t size = scene->probes.count * sizeof *f->pairs + 1;
    f->pairs = kiln_resize(f->world->context, NULL, 0, size);
    if (!f->pairs)
        return kiln_fail_memory(error, size);
    for (size_t i = 0; i < scene->probes.count; i++) {
        const kiln_scene_probe *probe = &scene->probes.data[i];
        if (probe->with == 0)
            continue;
        f->pairs[f->pair_count][0] = (uint32_t)probe->body;
        f->pairs[f->pair_count++][1] = probe->with - 1;
    }
    return KILN_OK;
}

/* Columns that frames are made of, where the scene asks for them. */
static kiln_status add_columns(forces *f, kiln_error *error)
{
    const kiln_scene_output *output = &f->world->scene->output;
    const kiln_contact_options *contact = &f->world->options.contact;
    const kiln_said said = {.path = "output.fields"};
    f->columns = output->contact_pressure || output->gap || output->slip;
    if (output->gap && !contact->bodies && !contact->self && !contact->walls)
        return kiln_said_fail(f->world->scene, &said, error,
                              "gap needs contact of bodies, or obstacles that are surfaces");
    if (!f->columns)
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(f->world->mesh, KILN_FIELD_NORMAL, KILN_ON_VERTEX, KILN_F64, 1,
                                 KILN_RULE_CONSERVE, error));
    KILN_TRY(kiln_mesh_add_field(f->world->mesh, KILN_FIELD_GAP, KILN_ON_VERTEX, KILN_F64, 1,
                                 KILN_RULE_INTERPOLATE, error));
    return kiln_mesh_add_field(f->world->mesh, KILN_FIELD_SLIP, KILN_ON_VERTEX, KILN_F64, 1,
                               KILN_RULE_INTERPOLATE, error);
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    static const char *const names[] = {KILN_FIELD_REACTION, KILN_FIELD_CONTACT};
    forces *f = kiln_module_make(world, sizeof *f, self, error);
    if (!f)
        return KILN_ERR_MEMORY;
    f->world = world;
    f->obstacle_count = world->obstacle_count;
    f->hold_count = kiln_world_module(world, &kiln_module_boundary) ? world->scene->holds.count : 0;
    for (int i = 0; i < 2; i++)
        KILN_TRY(kiln_mesh_add_field(world->mesh, names[i], KILN_ON_VERTEX, KILN_F64, 3,
                                     KILN_RULE_CONSERVE, error));
    KILN_TRY(add_columns(f, error));
    KILN_TRY(list_pairs(f, error));
    world->options.watch.columns = f->columns;
    world->options.watch.pairs = (const uint32_t(*)[2])f->pairs;
    world->options.watch.pair_count = f->pair_count;
    return make_sources(f, error);
}

static void destroy(void *self)
{
    forces *f = self;
    kiln_context *context = f->world->context;
    size_t size = source_count(f) * sizeof *f->sources, holds = f->hold_count * sizeof *f->holds;
    kiln_release(context, f->sources, f->sources ? size + 1 : 0);
    kiln_release(context, f->holds, f->holds ? holds + 1 : 0);
    kiln_release(context, f->pairs,
                 f->pairs ? f->world->scene->probes.count * sizeof *f->pairs + 1 : 0);
}

static kiln_status keep(kiln_world *world, const char *name, const double *values,
                        kiln_error *error)
{
    size_t count = world->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_rewind_save(world->mesh, KILN_ON_VERTEX, name, KILN_SAVE_ALL, error));
    kiln_field *field = kiln_mesh_field(world->mesh, KILN_ON_VERTEX, name);
    memcpy(field->data, values, count * field->components * sizeof(double));
    return KILN_OK;
}

static kiln_status keep_columns(kiln_world *world, kiln_error *error)
{
    kiln_contact_columns columns = kiln_solid_contact_columns(world->solid);
    KILN_TRY(keep(world, KILN_FIELD_NORMAL, columns.load, error));
    KILN_TRY(keep(world, KILN_FIELD_GAP, columns.gap, error));
    return keep(world, KILN_FIELD_SLIP, columns.slip, error);
}

/* The middle of the shape, in the obstacle's own coordinates. */
static kiln_vec3 middle(const kiln_obstacle_shape *shape)
{
    if (shape->kind == KILN_OBSTACLE_BOX || shape->kind == KILN_OBSTACLE_CYLINDER ||
        shape->kind == KILN_OBSTACLE_CAPSULE)
        return kiln_v3_lerp(shape->point, shape->end, 0.5);
    if (shape->kind != KILN_OBSTACLE_MESH)
        return shape->point;
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < shape->surface.points.count; i++)
        box = kiln_box_grow(box, shape->surface.points.data[i]);
    return kiln_v3_lerp(box.low, box.high, 0.5);
}

/* What torques are about: the point that a thing turns about, or its middle; moving with it. */
static kiln_status place_obstacle(const kiln_scene_obstacle *obstacle, double time, kiln_vec3 *out,
                                  kiln_error *error)
{
    kiln_rigid move;
    KILN_TRY(kiln_motion_of_obstacle(obstacle, time, &move, error));
    *out = obstacle->motion.kind == KILN_MOTION_ROTATE
               ? kiln_v3_add(move.centre, move.shift)
               : kiln_rigid_apply(&move, middle(&obstacle->shape));
    return KILN_OK;
}

static void note(source *s, const kiln_push_rule *rule, const kiln_push *force,
                 const kiln_push *torque, kiln_vec3 place)
{
    s->wrench.place = place;
    s->wrench.force = kiln_push_mean(rule, force, &s->kept_force);
    s->wrench.torque = kiln_push_mean(rule, torque, &s->kept_torque);
    s->acts = 1.0;
}

static kiln_status note_obstacles(forces *f, double time, kiln_error *error)
{
    const kiln_scene *scene = f->world->scene;
    kiln_push_rule rule = kiln_solid_push_rule(f->world->solid);
    for (size_t i = 0; i < f->obstacle_count; i++) {
        const kiln_scene_obstacle *obstacle = &scene->obstacles.data[i];
        kiln_push force, torque;
        kiln_vec3 place;
        KILN_TRY(kiln_said_wrap(scene, &obstacle->said,
                                place_obstacle(obstacle, time, &place, error), error));
        kiln_solid_obstacle_push(f->world->solid, (uint32_t)i, place, &force, &torque);
        note(&f->sources[i], &rule, &force, &torque, place);
    }
    return KILN_OK;
}

static kiln_status note_holds(forces *f, const kiln_moment *moment, kiln_error *error)
{
    kiln_push_rule rule = kiln_solid_push_rule(f->world->solid);
    if (f->hold_count == 0)
        return KILN_OK;
    KILN_TRY(kiln_boundary_push(kiln_world_module(f->world, &kiln_module_boundary), moment,
                                f->holds, error));
    for (size_t i = 0; i < f->hold_count; i++) {
        source *s = &f->sources[f->obstacle_count + i];
        const kiln_hold_push *hold = &f->holds[i];
        if (hold->acts)
            note(s, &rule, &hold->force, &hold->torque, hold->place);
        else
            *s = (source){.acts = 0.0};
    }
    return KILN_OK;
}

/* The centre of mass; false: the body has become part of another. */
static bool find_centre(const kiln_world *world, uint32_t body, kiln_vec3 *centre)
{
    const kiln_mesh *mesh = world->mesh;
    const double *mass = kiln_mass_lumped(kiln_solid_mass(world->solid));
    kiln_vec3 base = {0, 0, 0}, moment = {0, 0, 0};
    double sum = 0.0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        uint32_t tet = mesh->vertex[v].tet;
        if (tet == KILN_NONE || mesh->parts.data[mesh->info[tet].part].body != body)
            continue;
        base = sum == 0.0 ? mesh->x[v] : base;
        sum += mass[v];
        moment = kiln_v3_madd(moment, mass[v], kiln_v3_sub(mesh->x[v], base));
    }
    if (sum > 0.0)
        *centre = kiln_v3_madd(base, 1.0 / sum, moment);
    return sum > 0.0;
}

static void note_pairs(forces *f)
{
    kiln_push_rule rule = kiln_solid_push_rule(f->world->solid);
    for (size_t i = 0; i < f->pair_count; i++) {
        source *s = &f->sources[f->obstacle_count + f->hold_count + i];
        const kiln_pair_push *push = kiln_solid_pair_push(f->world->solid, i);
        kiln_vec3 centre, other;
        if (!find_centre(f->world, f->pairs[i][0], &centre) ||
            !find_centre(f->world, f->pairs[i][1], &other)) {
            *s = (source){.acts = 0.0};
            continue;
        }
        kiln_push torque = kiln_push_torque(kiln_v3_sub(push->about, centre), &push->force);
        kiln_push_add(&torque, &push->torque);
        note(s, &rule, &push->force, &torque, centre);
    }
}

/* Impacts on obstacles are felt by holds, too. */
static void add_hits(kiln_world *world)
{
    double *reaction = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_REACTION);
    const double *hit = kiln_solid_hit(world->solid);
    size_t count = reaction && hit ? 3 * (size_t)world->mesh->table[KILN_ON_VERTEX].used : 0;
    for (size_t i = 0; i < count; i++)
        reaction[i] += hit[i];
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    forces *f = self;
    kiln_world *world = f->world;
    KILN_TRY(note_obstacles(f, moment->end, error));
    KILN_TRY(note_holds(f, moment, error));
    note_pairs(f);
    if (f->columns)
        KILN_TRY(keep_columns(world, error));
    KILN_TRY(keep(world, KILN_FIELD_REACTION, kiln_solid_reaction(world->solid), error));
    add_hits(world);
    return keep(world, KILN_FIELD_CONTACT, kiln_solid_contact(world->solid), error);
}

static void *state(void *self, size_t *size)
{
    const forces *f = self;
    *size = source_count(f) * sizeof *f->sources;
    return *size ? f->sources : NULL;
}

const double *kiln_world_reaction(const kiln_world *world)
{
    return kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_REACTION);
}

const double *kiln_world_contact(const kiln_world *world)
{
    return kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_CONTACT);
}

static bool wrench_of(const forces *f, size_t row, kiln_wrench *out)
{
    const source *s = &f->sources[row];
    const kiln_vec3 none = {NAN, NAN, NAN};
    *out = s->acts != 0.0 ? s->wrench : (kiln_wrench){none, none, none};
    return s->acts != 0.0;
}

bool kiln_world_obstacle_wrench(const kiln_world *world, size_t obstacle, kiln_wrench *out)
{
    return wrench_of(kiln_world_module(world, &kiln_module_forces), obstacle, out);
}

bool kiln_world_hold_wrench(const kiln_world *world, size_t hold, kiln_wrench *out)
{
    const forces *f = kiln_world_module(world, &kiln_module_forces);
    return wrench_of(f, f->obstacle_count + hold, out);
}

bool kiln_world_pair_wrench(const kiln_world *world, size_t pair, kiln_wrench *out)
{
    const forces *f = kiln_world_module(world, &kiln_module_forces);
    return wrench_of(f, f->obstacle_count + f->hold_count + pair, out);
}

static kiln_vec3 total(const forces *f, size_t begin, size_t end)
{
    kiln_vec3 sum = {0, 0, 0};
    for (size_t i = begin; i < end; i++)
        sum = kiln_v3_add(sum, f->sources[i].wrench.force);
    return sum;
}

static void measure(const void *self, kiln_stats *stats)
{
    const forces *f = self;
    const kiln_world *world = f->world;
    if (world->state.step == 0)
        return;
    if (f->hold_count > 0) {
        kiln_vec3 r = total(f, f->obstacle_count, f->obstacle_count + f->hold_count);
        stats->rx = r.x;
        stats->ry = r.y;
        stats->rz = r.z;
    }
    if (f->obstacle_count > 0) {
        kiln_vec3 sum = total(f, 0, f->obstacle_count);
        stats->t_contact = world->report.contact_seconds;
        stats->contacts = world->report.contacts;
        stats->fx = sum.x;
        stats->fy = sum.y;
        stats->fz = sum.z;
    }
}

const kiln_module kiln_module_forces = {.name = "forces",
                                        .create = create,
                                        .destroy = destroy,
                                        .after_step = after_step,
                                        .state = state,
                                        .measure = measure};
