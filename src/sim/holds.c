/* Vertices that are held or led. */
#include "mesh/rewind.h"
#include "sim/boundary.h"
#include "sim/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KILN_FIELD_ORIGIN "origin" /* x of the start */

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
    if (set->late)
        snprintf(set->origin, sizeof set->origin, "hold%u", (unsigned)row + 1);
    else
        snprintf(set->origin, sizeof set->origin, KILN_FIELD_ORIGIN);
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
