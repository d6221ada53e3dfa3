/* The module of rigid things that bodies run into: they are where the scene says. */
#include "sim/motion.h"
#include "sim/world_impl.h"

#include <math.h>
#include <string.h>

typedef struct obstacles {
    kiln_world *world;
    kiln_obstacle **list; /* [scene->obstacles.count] */
    KILN_ARRAY_OF(kiln_pose)
    now, before; /* likewise: where they are, and were before the step that is tried */
} obstacles;

/* Velocities are those that carry the obstacle from where it was `h` ago to where it is. */
static kiln_status obstacle_pose(const kiln_scene_obstacle *obstacle, double time, double h,
                                 kiln_pose *pose, kiln_rigid *begin, kiln_error *error)
{
    kiln_rigid now, before;
    KILN_TRY(kiln_motion_of_obstacle(obstacle, time, &now, error));
    *begin = now;
    pose->rotation = now.rotation;
    pose->shift = kiln_rigid_apply(&now, kiln_v3(0, 0, 0));
    pose->linear = pose->spin = kiln_v3(0, 0, 0);
    if (h <= 0.0)
        return KILN_OK;
    KILN_TRY(kiln_motion_of_obstacle(obstacle, time - h, &before, error));
    *begin = before;
    kiln_vec3 slide = kiln_v3_scale(kiln_v3_sub(now.shift, before.shift), 1.0 / h);
    if (obstacle->motion.kind == KILN_MOTION_ROTATE)
        pose->spin =
            kiln_v3_scale(kiln_v3_normalize(obstacle->motion.axis), (now.angle - before.angle) / h);
    kiln_vec3 arm = kiln_v3_sub(pose->shift, kiln_v3_add(now.centre, now.shift));
    pose->linear = kiln_v3_add(slide, kiln_v3_cross(pose->spin, arm));
    return KILN_OK;
}

static kiln_status set_poses(obstacles *o, double time, double h, kiln_error *error)
{
    const kiln_scene *scene = o->world->scene;
    for (size_t i = 0; i < scene->obstacles.count; i++) {
        const kiln_scene_obstacle *obstacle = &scene->obstacles.data[i];
        kiln_pose pose;
        kiln_rigid begin;
        KILN_TRY(kiln_said_wrap(scene, &obstacle->said,
                                obstacle_pose(obstacle, time, h, &pose, &begin, error), error));
        kiln_obstacle_set_pose(o->list[i], &pose);
        kiln_obstacle_set_begin(o->list[i], begin.rotation,
                                kiln_rigid_apply(&begin, kiln_v3(0, 0, 0)));
        o->now.data[i] = pose;
    }
    return KILN_OK;
}

static kiln_status make_one(const obstacles *o, size_t row, kiln_error *error)
{
    const kiln_scene *scene = o->world->scene;
    const kiln_scene_obstacle *said = &scene->obstacles.data[row];
    kiln_obstacle_shape shape = said->shape;
    kiln_soup_init(&shape.surface, o->world->context);
    kiln_status status = KILN_OK;
    if (said->shape.kind == KILN_OBSTACLE_MESH)
        status = kiln_soup_append(&shape.surface, &said->shape.surface, 0, error);
    if (status == KILN_OK)
        status =
            kiln_obstacle_create(o->world->context, &shape, said->friction, &o->list[row], error);
    kiln_soup_free(&shape.surface);
    const kiln_wetting wetting = {said->contact_angle * (KILN_PI / 180.0), said->drag,
                                  said->no_slip};
    if (status == KILN_OK)
        kiln_obstacle_set_wetting(o->list[row], &wetting);
    if (status != KILN_ERR_INPUT || !error)
        return status;
    const kiln_error inner = *error; /* whose place is of the shape, not of the scene */
    return kiln_said_fail(scene, &said->said, error, "%.60s%s%.300s", inner.place,
                          inner.place[0] ? ": " : "", inner.message);
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    size_t count = world->scene->obstacles.count, size = count * sizeof(kiln_obstacle *);
    if (count == 0)
        return KILN_OK;
    obstacles *o = kiln_module_make(world, sizeof *o, self, error);
    if (!o)
        return KILN_ERR_MEMORY;
    o->world = world;
    o->list = kiln_resize(world->context, NULL, 0, size);
    if (!o->list)
        return kiln_fail_memory(error, size);
    for (size_t i = 0; i < count; i++)
        o->list[i] = NULL;
    KILN_TRY(kiln_array_reserve(world->context, &o->now, count, error));
    KILN_TRY(kiln_array_reserve(world->context, &o->before, count, error));
    for (size_t i = 0; i < count; i++)
        KILN_TRY(make_one(o, i, error));
    world->obstacles = o->list;
    world->obstacle_count = count;
    return set_poses(o, 0.0, 0.0, error);
}

static void destroy(void *self)
{
    obstacles *o = self;
    size_t count = o->world->scene->obstacles.count;
    kiln_context *context = o->world->context;
    for (size_t i = 0; i < count && o->list; i++)
        kiln_obstacle_destroy(o->list[i]);
    if (o->list)
        kiln_release(context, o->list, count * sizeof *o->list);
    kiln_array_free(context, &o->now);
    kiln_array_free(context, &o->before);
}

static kiln_status drive(void *self, const kiln_drive *drive, kiln_error *error)
{
    return set_poses(self, drive->time, drive->time - drive->begin, error);
}

static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment, (void)error;
    obstacles *o = self;
    memcpy(o->before.data, o->now.data, o->world->obstacle_count * sizeof *o->now.data);
    return KILN_OK;
}

static void step_back(void *self)
{
    obstacles *o = self;
    for (size_t i = 0; i < o->world->obstacle_count; i++) {
        o->now.data[i] = o->before.data[i];
        kiln_obstacle_set_pose(o->list[i], &o->now.data[i]);
    }
}

const kiln_module kiln_module_obstacles = {.name = "obstacles",
                                           .create = create,
                                           .destroy = destroy,
                                           .before_step = before_step,
                                           .drive = drive,
                                           .step_back = step_back};

static kiln_status outline_all(kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    kiln_vec3 low = mesh->x[0], high = mesh->x[0];
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->x[v];
        low = kiln_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = kiln_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    kiln_vec3 centre = kiln_v3_lerp(low, high, 0.5);
    double extent = 2.0 * kiln_v3_norm(kiln_v3_sub(high, low));
    for (size_t i = 0; i < world->obstacle_count; i++) {
        size_t first = soup->triangles.count;
        KILN_TRY(kiln_obstacle_outline(world->obstacles[i], centre, extent, soup, error));
        KILN_TRY(
            kiln_array_reserve(soup->context, &soup->triangle_tags, soup->triangles.count, error));
        soup->triangle_tags.count = soup->triangles.count;
        for (size_t f = first; f < soup->triangles.count; f++)
            soup->triangle_tags.data[f] = (int32_t)i + 1;
    }
    return KILN_OK;
}

kiln_status kiln_world_obstacle_surfaces(kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    kiln_soup_init(soup, world->context);
    kiln_status status = outline_all(world, soup, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}
