/* Vertices that are held or led. */
#include "geom/box.h"
#include "mesh/rewind.h"
#include "sim/boundary.h"
#include "sim/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KILN_FIELD_ORIGIN "origin" /* x of the start */
/* Of the size of the world: places that differ by no more are one level. */
static const double LEVEL = 1e-10;
#define INDEPENDENT 1e-6 /* a direction that is free by less is held already */

/* The field becomes where the vertices are now; all of them, not only those of the hold: new ones
 * are interpolated from both. */
static kiln_status note_places(kiln_world *world, const char *field, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, field, KILN_SAVE_ALL, error));
    memcpy(kiln_world_column(world, KILN_ON_VERTEX, field), mesh->x,
           mesh->table[KILN_ON_VERTEX].used * sizeof *mesh->x);
    return KILN_OK;
}

static kiln_vec3 axis_of(const kiln_scene_hold *hold, int c)
{
    if (kiln_m3_norm2(hold->axes) > 0.0)
        return kiln_v3(hold->axes.m[c][0], hold->axes.m[c][1], hold->axes.m[c][2]);
    return kiln_v3(c == 0, c == 1, c == 2);
}

static void find_levels(const kiln_world *world, const kiln_scene_hold *hold, kiln_hold_set *set)
{
    for (int c = 0; c < 3; c++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < set->vertices.count; i++) {
            double at = kiln_v3_dot(axis_of(hold, c), world->mesh->x[set->vertices.data[i]]);
            least = fmin(least, at);
            most = fmax(most, at);
        }
        set->level[c] = 0.5 * (least + most);
        if ((hold->components >> c & 1) && most - least <= LEVEL * world->size)
            set->flat |= 1 << c;
    }
}

/* What the walls at each vertex say together. */
static void gather_levels(const kiln_boundary *b, kiln_held *held)
{
    const kiln_scene *scene = b->world->scene;
    for (size_t row = 0; row < scene->holds.count; row++) {
        const kiln_hold_set *set = &b->holds[row];
        for (int c = 0; c < 3 && !set->late; c++)
            for (size_t i = 0; i < set->vertices.count && set->flat >> c & 1; i++)
                kiln_held_add(&held[set->vertices.data[i]], axis_of(&scene->holds.data[row], c),
                              set->level[c], INDEPENDENT, NULL);
    }
}

/* One after the other would do only for walls at right angles: where others meet, a vertex put on
 * the second is off the first again. */
kiln_status kiln_boundary_level(const kiln_boundary *b, kiln_error *error)
{
    const kiln_world *world = b->world;
    size_t vertices = world->mesh->table[KILN_ON_VERTEX].used,
           size = (vertices + 1) * sizeof(kiln_held);
    if (!kiln_mesh_field(world->mesh, KILN_ON_VERTEX, KILN_FIELD_ORIGIN))
        return KILN_OK;
    KILN_TRY(
        kiln_rewind_save(world->mesh, KILN_ON_VERTEX, KILN_FIELD_ORIGIN, KILN_SAVE_COPY, error));
    kiln_held *held = kiln_resize(world->context, NULL, 0, size);
    if (!held)
        return kiln_fail_memory(error, size);
    memset(held, 0, size);
    gather_levels(b, held);
    kiln_vec3 *origin =
        (kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_ORIGIN);
    for (size_t v = 0; v < vertices; v++)
        for (int k = 0; k < held[v].count; k++) {
            kiln_vec3 axis = held[v].axis[k];
            origin[v] =
                kiln_v3_madd(origin[v], held[v].place[k] - kiln_v3_dot(axis, origin[v]), axis);
        }
    kiln_release(world->context, held, size);
    return KILN_OK;
}

void kiln_hold_name_origin(const kiln_scene *scene, size_t row, char name[KILN_HOLD_NAME])
{
    if (scene->holds.data[row].from > 0.0)
        snprintf(name, KILN_HOLD_NAME, "hold%u", (unsigned)row + 1);
    else
        snprintf(name, KILN_HOLD_NAME, KILN_FIELD_ORIGIN);
}

kiln_status kiln_boundary_make_hold(kiln_boundary *b, size_t row, kiln_error *error)
{
    kiln_world *world = b->world;
    const kiln_scene_hold *hold = &world->scene->holds.data[row];
    kiln_hold_set *set = &b->holds[row];
    KILN_TRY(kiln_said_wrap(
        world->scene, &hold->said,
        kiln_world_select(world, KILN_ON_VERTEX, hold->body, &hold->where, &set->vertices, error),
        error));
    if (set->vertices.count == 0)
        return kiln_said_fail(world->scene, &hold->said, error, "selects no vertex");
    set->late = hold->from > 0.0;
    find_levels(world, hold, set);
    kiln_hold_name_origin(world->scene, row, set->origin);
    if (kiln_mesh_field(world->mesh, KILN_ON_VERTEX, set->origin))
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(world->mesh, set->origin, KILN_ON_VERTEX, KILN_F64, 3,
                                 KILN_RULE_INTERPOLATE, error));
    return set->late ? KILN_OK : note_places(world, set->origin, error);
}

typedef struct hold_frame {
    kiln_rigid move;     /* since the world began, or of the obstacle to follow */
    kiln_rigid at_catch; /* of the obstacle, when the vertices were caught */
    bool by_function;    /* each vertex asks for its place */
} hold_frame;

static kiln_status hold_motion(const kiln_world *world, const kiln_scene_hold *hold, double time,
                               hold_frame *out, kiln_error *error)
{
    *out = (hold_frame){.by_function = false};
    if (hold->motion.kind != KILN_MOTION_FOLLOW)
        return kiln_motion_at(&hold->motion, time, &out->move, error);
    out->by_function = hold->motion.obstacle < 0;
    if (out->by_function)
        return KILN_OK;
    const kiln_scene_obstacle *leader = &world->scene->obstacles.data[hold->motion.obstacle];
    KILN_TRY(kiln_motion_of_obstacle(leader, time, &out->move, error));
    return kiln_motion_of_obstacle(leader, hold->from > 0.0 ? hold->from : 0.0, &out->at_catch,
                                   error);
}

static kiln_status hold_target(const kiln_world *world, const kiln_scene_hold *hold,
                               const hold_frame *frame, double time, uint32_t vertex,
                               kiln_vec3 origin, kiln_vec3 *target, kiln_error *error)
{
    if (frame->by_function) {
        kiln_circumstances at = {
            .time = time, .material = kiln_world_starts(world)[vertex], .world = origin};
        return kiln_quantity_vector_at(&hold->motion.place, &at, target, error);
    }
    if (hold->motion.kind == KILN_MOTION_FOLLOW)
        origin = kiln_rigid_undo(&frame->at_catch, origin);
    *target = kiln_rigid_apply(&frame->move, origin);
    return KILN_OK;
}

static kiln_status contradiction(const kiln_boundary *b, size_t row, uint32_t vertex, double time,
                                 kiln_error *error)
{
    const kiln_scene *scene = b->world->scene;
    const kiln_scene_hold *hold = &scene->holds.data[row];
    const char *other = "another hold";
    for (size_t i = 0; i < row; i++) {
        const kiln_u32_array *set = &b->holds[i].vertices;
        for (size_t k = 0; k < set->count; k++)
            if (set->data[k] == vertex)
                other = scene->holds.data[i].said.path[0] ? scene->holds.data[i].said.path : other;
    }
    kiln_vec3 u = b->world->mesh->u[vertex];
    return kiln_said_fail(scene, &hold->said, error,
                          "contradicts %s: at %g s both hold the vertex at (%g, %g, %g), in the "
                          "same direction, at different places",
                          other, time, u.x, u.y, u.z);
}

/* `share` of the way from where the vertices were caught to where they are sent. */
static kiln_status set_hold(const kiln_boundary *b, size_t row, double time, double share,
                            kiln_constraints *c, kiln_error *error)
{
    const kiln_world *world = b->world;
    const kiln_scene_hold *said = &world->scene->holds.data[row];
    const kiln_hold_set *set = &b->holds[row];
    const kiln_vec3 *origins =
        (const kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, set->origin);
    kiln_hold hold = {.components = said->components,
                      .axes = kiln_m3_norm2(said->axes) > 0.0 ? &said->axes : NULL,
                      .tolerance = 1e-9 * world->size};
    hold_frame frame;
    KILN_TRY(hold_motion(world, said, time, &frame, error));
    for (size_t i = 0; i < set->vertices.count; i++) {
        uint32_t v = set->vertices.data[i];
        kiln_vec3 origin = origins[v];
        KILN_TRY(hold_target(world, said, &frame, time, v, origin, &hold.target, error));
        if (share != 1.0)
            hold.target = kiln_v3_lerp(origin, hold.target, share);
        bool agrees;
        KILN_TRY(kiln_constraints_hold(c, v, &hold, &agrees, error));
        if (!agrees)
            return contradiction(b, row, v, time, error);
    }
    return KILN_OK;
}

kiln_status kiln_boundary_catch(kiln_boundary *b, double now, kiln_error *error)
{
    kiln_world *world = b->world;
    for (size_t i = 0; i < world->scene->holds.count; i++)
        if (b->holds[i].late &&
            fabs(now - world->scene->holds.data[i].from) <= kiln_world_tolerance(world))
            KILN_TRY(note_places(world, b->holds[i].origin, error));
    return KILN_OK;
}

/* Whether hold `row` is the first of those that share its origins, and all of them stand still. */
static bool leads_still(const kiln_boundary *b, size_t row)
{
    const kiln_scene *scene = b->world->scene;
    bool still = true;
    for (size_t i = 0; i < scene->holds.count; i++) {
        bool shares = strcmp(b->holds[i].origin, b->holds[row].origin) == 0;
        if (shares && i < row)
            return false;
        still &= !shares || scene->holds.data[i].motion.kind == KILN_MOTION_STILL;
    }
    return still;
}

/* Of liquid vertices that none of these holds holds. */
static kiln_status renew_origins(kiln_boundary *b, const char *field, kiln_error *error)
{
    const kiln_world *world = b->world;
    kiln_mesh *mesh = world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    uint8_t *held = kiln_resize(world->context, NULL, 0, vertices + 1);
    if (!held)
        return kiln_fail_memory(error, vertices + 1);
    memset(held, 0, vertices);
    for (size_t i = 0; i < world->scene->holds.count; i++)
        for (size_t k = 0; k < b->holds[i].vertices.count; k++)
            held[b->holds[i].vertices.data[k]] |= strcmp(b->holds[i].origin, field) == 0;
    kiln_status status = kiln_rewind_save(mesh, KILN_ON_VERTEX, field, KILN_SAVE_COPY, error);
    kiln_vec3 *origin = (kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, field);
    for (uint32_t v = 0; v < vertices && status == KILN_OK; v++)
        if (!held[v] && world->materials[material[mesh->vertex[v].tet]].liquid)
            origin[v] = mesh->x[v];
    kiln_release(world->context, held, vertices + 1);
    return status;
}

kiln_status kiln_boundary_pass_by(kiln_boundary *b, kiln_error *error)
{
    const kiln_world *world = b->world;
    bool liquid = false;
    for (size_t i = 0; i < world->scene->materials.count; i++)
        liquid |= world->materials[i].liquid;
    for (size_t i = 0; liquid && world->remeshes && i < world->scene->holds.count; i++)
        if (leads_still(b, i))
            KILN_TRY(renew_origins(b, b->holds[i].origin, error));
    return KILN_OK;
}

kiln_status kiln_boundary_hold(const kiln_boundary *b, const kiln_drive *drive, kiln_error *error)
{
    const kiln_scene *scene = b->world->scene;
    kiln_constraints *c = kiln_solid_constraints(drive->solid);
    for (size_t i = 0; i < scene->holds.count; i++) {
        const kiln_scene_hold *hold = &scene->holds.data[i];
        if (kiln_world_acts(b->world, hold->from, hold->until, drive->begin, drive->end))
            KILN_TRY(kiln_said_wrap(scene, &hold->said,
                                    set_hold(b, i, drive->time, drive->share, c, error), error));
    }
    return KILN_OK;
}

/* A direction of a vertex and who holds it: as kiln_constraints_hold finds them. */
typedef struct grip {
    size_t hold;
    kiln_vec3 direction, axis; /* axis: its part free of those before */
    double share;              /* direction . axis */
} grip;

enum { GRIPS = 3 };

static void add_grips(const kiln_scene_hold *hold, size_t row, kiln_held *held, grip *grips)
{
    kiln_mat3 axes = kiln_m3_norm2(hold->axes) > 0.0 ? hold->axes : kiln_m3_identity();
    for (int k = 0; k < 3; k++) {
        kiln_vec3 direction = kiln_v3(axes.m[k][0], axes.m[k][1], axes.m[k][2]);
        int at = held->count;
        if (!(hold->components >> k & 1))
            continue;
        double share = kiln_held_add(held, direction, 0.0, INDEPENDENT, NULL);
        if (share > 0.0)
            grips[at] = (grip){row, direction, held->axis[at], share};
    }
}

/* The part of the grip: the last one alone has a part along its axis, so they are taken off from
 * the last to the first. */
static kiln_vec3 take_off(kiln_vec3 *force, const grip *g)
{
    kiln_vec3 part = kiln_v3_scale(g->direction, kiln_v3_dot(*force, g->axis) / g->share);
    *force = kiln_v3_sub(*force, part);
    return part;
}

static void share_out(const grip *grips, int count, kiln_vec3 x, kiln_push push,
                      kiln_hold_push *out)
{
    for (int g = count - 1; g >= 0; g--) {
        kiln_hold_push *hold = &out[grips[g].hold];
        kiln_push force = {.end = take_off(&push.end, &grips[g]),
                           .hit = take_off(&push.hit, &grips[g]),
                           .left = take_off(&push.left, &grips[g]),
                           .cut = take_off(&push.cut, &grips[g]),
                           .before = take_off(&push.before, &grips[g])};
        kiln_push torque = kiln_push_torque(kiln_v3_sub(x, hold->place), &force);
        kiln_push_add(&hold->force, &force);
        kiln_push_add(&hold->torque, &torque);
    }
}

static kiln_status place_hold(const kiln_boundary *b, size_t row, double time, kiln_vec3 *out,
                              kiln_error *error)
{
    const kiln_world *world = b->world;
    const kiln_scene_hold *hold = &world->scene->holds.data[row];
    const kiln_u32_array *set = &b->holds[row].vertices;
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < set->count; i++)
        box = kiln_box_grow(box, world->mesh->x[set->data[i]]);
    *out = kiln_v3_lerp(box.low, box.high, 0.5);
    if (hold->motion.kind != KILN_MOTION_ROTATE)
        return KILN_OK;
    hold_frame frame;
    KILN_TRY(kiln_said_wrap(world->scene, &hold->said,
                            hold_motion(world, hold, time, &frame, error), error));
    *out = kiln_v3_add(frame.move.centre, frame.move.shift);
    return KILN_OK;
}

/* The vertex of a hold, KILN_NONE past the last. */
static uint32_t vertex_at(const kiln_boundary *b, size_t hold, size_t at)
{
    const kiln_u32_array *set = &b->holds[hold].vertices;
    return at < set->count ? set->data[at] : KILN_NONE;
}

/* The lists ascend: goes through all of them at once. */
static void share_all(const kiln_boundary *b, size_t *at, kiln_hold_push *out)
{
    const kiln_scene *scene = b->world->scene;
    for (;;) {
        uint32_t v = KILN_NONE;
        for (size_t i = 0; i < scene->holds.count; i++)
            if (out[i].acts && vertex_at(b, i, at[i]) < v)
                v = vertex_at(b, i, at[i]);
        if (v == KILN_NONE)
            return;
        grip grips[GRIPS];
        kiln_held held = {.count = 0};
        for (size_t i = 0; i < scene->holds.count; i++)
            if (out[i].acts && vertex_at(b, i, at[i]) == v) {
                add_grips(&scene->holds.data[i], i, &held, grips);
                at[i]++;
            }
        share_out(grips, held.count, b->world->mesh->x[v], kiln_solid_held_push(b->world->solid, v),
                  out);
    }
}

kiln_status kiln_boundary_push(const kiln_boundary *b, const kiln_moment *moment,
                               kiln_hold_push *out, kiln_error *error)
{
    const kiln_scene *scene = b->world->scene;
    size_t size = scene->holds.count * sizeof(size_t);
    for (size_t i = 0; i < scene->holds.count; i++) {
        const kiln_scene_hold *hold = &scene->holds.data[i];
        out[i] = (kiln_hold_push){
            .acts = kiln_world_acts(b->world, hold->from, hold->until, moment->begin, moment->end)};
        if (out[i].acts)
            KILN_TRY(place_hold(b, i, moment->end, &out[i].place, error));
    }
    size_t *at = kiln_resize(b->world->context, NULL, 0, size + 1);
    if (!at)
        return kiln_fail_memory(error, size);
    memset(at, 0, size);
    share_all(b, at, out);
    kiln_release(b->world->context, at, size + 1);
    return KILN_OK;
}

/* Holds that act from the start, tried at times spread over the run. What begins later is compared
 * when it begins, because where it catches its vertices is not known before. */
kiln_status kiln_boundary_check_holds(const kiln_boundary *b, kiln_error *error)
{
    enum { SAMPLES = 16 };
    const kiln_world *world = b->world;
    const kiln_scene *scene = world->scene;
    if (scene->holds.count < 2)
        return KILN_OK;
    kiln_constraints c;
    kiln_constraints_init(&c, world->context);
    kiln_status status = KILN_OK;
    for (int s = 0; s <= SAMPLES && status == KILN_OK; s++) {
        double time = scene->duration * s / SAMPLES;
        status = kiln_constraints_reset(&c, world->mesh->table[KILN_ON_VERTEX].used, error);
        for (size_t i = 0; i < scene->holds.count && status == KILN_OK; i++) {
            const kiln_scene_hold *hold = &scene->holds.data[i];
            if (!b->holds[i].late && time <= hold->until)
                status =
                    kiln_said_wrap(scene, &hold->said, set_hold(b, i, time, 1.0, &c, error), error);
        }
    }
    kiln_constraints_free(&c);
    return status;
}
