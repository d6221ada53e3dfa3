#include "sim/world_impl.h"

#include "mesh/rewind.h"

kiln_mesh *kiln_world_mesh(kiln_world *world)
{
    return world->mesh;
}

kiln_solid *kiln_world_solid(kiln_world *world)
{
    return world->solid;
}

const kiln_scene *kiln_world_scene(const kiln_world *world)
{
    return world->scene;
}

kiln_world_state *kiln_world_get_state(kiln_world *world)
{
    return &world->state;
}

const char *kiln_world_backend(const kiln_world *world)
{
    return world->report.newton.backend;
}

const char *kiln_world_backend_reason(const kiln_world *world)
{
    return world->report.newton.reason;
}

void *kiln_world_module(const kiln_world *world, const kiln_module *module)
{
    for (size_t m = 0; world->modules[m]; m++)
        if (world->modules[m] == module)
            return world->self[m];
    return NULL;
}

static kiln_status drive(void *self, kiln_solid *solid, double end, double load, kiln_error *error)
{
    const kiln_world *world = self;
    double begin = world->moment.begin;
    kiln_drive drive = {.solid = solid,
                        .begin = begin,
                        .end = end,
                        .time = load == 1.0 ? end : begin + load * (end - begin),
                        .share = world->moment.first ? load : 1.0};
    KILN_EACH_MODULE(world, drive, &drive, error)
    return KILN_OK;
}

kiln_status kiln_world_add_stepper(kiln_world *world, const kiln_stepper *stepper,
                                   kiln_error *error)
{
    if (world->stepper_count == KILN_STEPPER_ROOM)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "more than %d steppers",
                         KILN_STEPPER_ROOM);
    world->steppers[world->stepper_count++] = *stepper;
    return KILN_OK;
}

kiln_status kiln_world_put_stepper_first(kiln_world *world, const kiln_stepper *stepper,
                                         kiln_error *error)
{
    KILN_TRY(kiln_world_add_stepper(world, stepper, error));
    memmove(world->steppers + 1, world->steppers,
            (world->stepper_count - 1) * sizeof *world->steppers);
    world->steppers[0] = *stepper;
    return KILN_OK;
}

kiln_stepper *kiln_world_solid_stepper(kiln_world *world)
{
    kiln_stepper *stepper = world->steppers;
    while (stepper->self != &world->course)
        stepper++;
    return stepper;
}

static kiln_status make_solid(kiln_world *world, kiln_error *error)
{
    KILN_TRY(kiln_solid_create(world->mesh, &world->options, world->materials,
                               world->scene->materials.count, world->obstacles,
                               world->obstacle_count, &world->solid, error));
    world->course = (kiln_solid_course){world->solid, {world, drive}, &world->state.clock};
    kiln_stepper stepper = kiln_solid_stepper(&world->course);
    return kiln_world_add_stepper(world, &stepper, error);
}

static kiln_status build(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    world->options = scene->solid;
    world->options.least_step = scene->pace.dt_min * (1.0 + 1e-9);
    world->options.usual_step = scene->pace.dt;
    world->moves = kiln_integrator_moves(scene->solid.integrator);
    for (size_t m = 0; world->modules[m]; m++)
        if (world->modules[m]->plan)
            world->modules[m]->plan(world);
    world->options.mass = kiln_scene_mass(scene);
    KILN_TRY(kiln_world_build_mesh(world, error));
    for (size_t m = 0; world->modules[m]; m++)
        KILN_TRY(world->modules[m]->create(world, &world->self[m], error));
    KILN_TRY(make_solid(world, error));
    KILN_TRY(kiln_world_set_motion(world, error));
    KILN_EACH_MODULE(world, start, error)
    kiln_pace_init(&world->state.pace, &scene->pace);
    return kiln_world_check_start(world, error);
}

static size_t materials_size(const kiln_scene *scene)
{
    return (scene->materials.count + 1) * sizeof(kiln_material);
}

kiln_status kiln_world_create(const kiln_scene *scene, kiln_world **out, kiln_error *error)
{
    kiln_context *context = scene->context;
    KILN_TRY(kiln_modules_check(scene->modules ? scene->modules : kiln_modules, error));
    kiln_world *world = kiln_resize(context, NULL, 0, sizeof *world);
    if (!world)
        return kiln_fail_memory(error, sizeof *world);
    *world = (kiln_world){.context = context,
                          .scene = scene,
                          .modules = scene->modules ? scene->modules : kiln_modules};
    world->materials = kiln_resize(context, NULL, 0, materials_size(scene));
    kiln_status status =
        world->materials ? build(world, error) : kiln_fail_memory(error, materials_size(scene));
    if (status != KILN_OK) {
        kiln_world_destroy(world);
        return status;
    }
    *out = world;
    return KILN_OK;
}

void kiln_world_destroy(kiln_world *world)
{
    if (!world)
        return;
    kiln_context *context = world->context;
    for (size_t m = KILN_MODULE_ROOM; m-- > 0;) /* some borrow the solid */
        if (world->self[m]) {
            if (world->modules[m]->destroy)
                world->modules[m]->destroy(world->self[m]);
            kiln_release(context, world->self[m], world->self_size[m]);
        }
    kiln_solid_destroy(world->solid);
    kiln_array_free(context, &world->events);
    kiln_array_free(context, &world->kept);
    if (world->materials)
        kiln_release(context, world->materials, materials_size(world->scene));
    kiln_mesh_destroy(world->mesh);
    kiln_release(context, world, sizeof *world);
}

kiln_status kiln_world_changed(kiln_world *world, const kiln_changes *changes, kiln_error *error)
{
    KILN_EACH_MODULE(world, mesh_changed, changes, error)
    for (size_t i = 0; i < world->stepper_count; i++)
        if (world->steppers[i].mesh_changed)
            KILN_TRY(world->steppers[i].mesh_changed(world->steppers[i].self, changes, error));
    return KILN_OK;
}

kiln_status kiln_world_material_moves(kiln_world *world, kiln_error *error)
{
    KILN_EACH_MODULE(world, material_moves, error)
    return KILN_OK;
}

kiln_status kiln_world_material_moved(kiln_world *world, kiln_error *error)
{
    KILN_EACH_MODULE(world, material_moved, error)
    return KILN_OK;
}

kiln_status kiln_world_carry(kiln_world *world, const kiln_mesh *to, kiln_error *error)
{
    KILN_EACH_MODULE(world, carry, to, error)
    return KILN_OK;
}

kiln_status kiln_world_renew(kiln_world *world, kiln_error *error)
{
    const kiln_changes all = {.all = true};
    world->stale = true;
    KILN_EACH_MODULE(world, mesh_changed, &all, error)
    for (size_t i = 0; i < world->stepper_count; i++)
        if (world->steppers[i].renew)
            KILN_TRY(world->steppers[i].renew(world->steppers[i].self, error));
    world->stale = false;
    return KILN_OK;
}

kiln_status kiln_world_ready(kiln_world *world, kiln_error *error)
{
    return world->stale ? kiln_world_renew(world, error) : KILN_OK;
}

kiln_status kiln_world_replace_mesh(kiln_world *world, kiln_mesh *take_mesh, kiln_error *error)
{
    kiln_status status = kiln_world_check_mesh(world, take_mesh, error);
    if (status == KILN_OK) /* borrowed by its address, so the contents change places */
        status = kiln_mesh_exchange(world->mesh, take_mesh, error);
    kiln_mesh_destroy(take_mesh);
    KILN_TRY(status);
    return kiln_world_renew(world, error);
}

void *kiln_world_module_state(kiln_world *world, size_t row, const char **name, size_t *size)
{
    const kiln_module *module = world->modules[row];
    *name = module ? module->name : NULL;
    *size = 0;
    if (!module || !world->self[row] || !module->state)
        return NULL;
    return module->state(world->self[row], size);
}
