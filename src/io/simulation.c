/* The public face of scene, world and checkpoint (kiln/kiln.h). */
#include "io/checkpoint.h"
#include "io/format.h"

#include <math.h>

struct kiln_simulation {
    kiln_context *context;
    kiln_scene_file *file;
    kiln_world *world;
    kiln_checkpoint_scene origin; /* text and settings, for checkpoints */
};

static kiln_status allocate(kiln_context *context, kiln_simulation **out, kiln_error *error)
{
    kiln_simulation *simulation = kiln_resize(context, NULL, 0, sizeof *simulation);
    if (!simulation)
        return kiln_fail_memory(error, sizeof *simulation);
    *simulation = (kiln_simulation){.context = context};
    *out = simulation;
    return KILN_OK;
}

static kiln_status start(kiln_simulation *simulation, const char *scene,
                         const kiln_scene_options *options, kiln_error *error)
{
    kiln_context *context = simulation->context;
    KILN_TRY(kiln_scene_file_load(context, scene, options, &simulation->file, error));
    KILN_TRY(kiln_checkpoint_scene_keep(context, simulation->file, options->sets,
                                        options->set_count, &simulation->origin, error));
    return kiln_world_create(kiln_scene_file_scene(simulation->file), &simulation->world, error);
}

static void tell(const kiln_simulation *simulation)
{
    const kiln_scene *scene = kiln_world_scene(simulation->world);
    const kiln_mesh *mesh = kiln_world_mesh(simulation->world);
    kiln_log(simulation->context, KILN_LOG_INFO, "%s: %zu tets, %zu vertices, %s, %.6g s to %.6g s",
             scene->name, kiln_mesh_count(mesh, KILN_ON_TET), kiln_mesh_count(mesh, KILN_ON_VERTEX),
             kiln_integrator_name(scene->solid.integrator),
             kiln_world_get_state(simulation->world)->clock.time, scene->duration);
}

kiln_status kiln_simulation_load(kiln_context *context, const char *scene,
                                 const kiln_simulation_options *options, kiln_simulation **out,
                                 kiln_error *error)
{
    kiln_scene_options chosen = {0};
    kiln_simulation *simulation = NULL;
    KILN_TRY(kiln_need(context, "context", error));
    KILN_TRY(kiln_need(scene, "scene", error));
    KILN_TRY(kiln_need(out, "out", error));
    if (options) {
        KILN_TRY(kiln_need_texts(options->sets, options->set_count, "sets", error));
        chosen.sets = options->sets;
        chosen.set_count = options->set_count;
    }
    KILN_TRY(allocate(context, &simulation, error));
    kiln_status status = start(simulation, scene, &chosen, error);
    if (status != KILN_OK) {
        kiln_simulation_destroy(simulation);
        return status;
    }
    tell(simulation);
    *out = simulation;
    return KILN_OK;
}

static kiln_status restore(kiln_simulation *simulation, const char *scene, const char *checkpoint,
                           kiln_error *error)
{
    kiln_context *context = simulation->context;
    KILN_TRY(kiln_checkpoint_read_scene(context, checkpoint, &simulation->origin, error));
    KILN_TRY(
        kiln_checkpoint_scene_load(context, scene, &simulation->origin, &simulation->file, error));
    KILN_TRY(kiln_world_create(kiln_scene_file_scene(simulation->file), &simulation->world, error));
    return kiln_checkpoint_read(checkpoint, simulation->world, error);
}

kiln_status kiln_simulation_resume(kiln_context *context, const char *scene, const char *checkpoint,
                                   kiln_simulation **out, kiln_error *error)
{
    kiln_simulation *simulation = NULL;
    KILN_TRY(kiln_need(context, "context", error));
    KILN_TRY(kiln_need(scene, "scene", error));
    KILN_TRY(kiln_need(checkpoint, "checkpoint", error));
    KILN_TRY(kiln_need(out, "out", error));
    KILN_TRY(allocate(context, &simulation, error));
    kiln_status status = restore(simulation, scene, checkpoint, error);
    if (status != KILN_OK) {
        kiln_simulation_destroy(simulation);
        return status;
    }
    tell(simulation);
    *out = simulation;
    return KILN_OK;
}

/* The end of a static scene of no duration is its begin. A time too close for a step is reached:
 * whoever steps until the clock is there must arrive. */
static kiln_status check_until(kiln_simulation *simulation, double until, bool *reached,
                               kiln_error *error)
{
    const kiln_scene *scene = kiln_world_scene(simulation->world);
    kiln_world_state *state = kiln_world_get_state(simulation->world);
    double left = until - state->clock.time, moment = kiln_scene_moment(scene);
    if (!(fabs(until) <= KILN_LARGEST) || left < -moment)
        return kiln_fail(error, KILN_ERR_INPUT, "until", 0, -1,
                         "must be a time from now, %g s, to %g s, got %g", state->clock.time,
                         KILN_LARGEST, until);
    bool first = !kiln_integrator_moves(scene->solid.integrator) && state->step <= 1;
    *reached = left <= moment && !first;
    if (*reached && left > 0.0)
        state->clock.time = until;
    return KILN_OK;
}

kiln_status kiln_simulation_step(kiln_simulation *simulation, double until, kiln_error *error)
{
    kiln_stats stats;
    kiln_diagnosis diagnosis;
    bool gave_up = false, reached = false;
    KILN_TRY(kiln_need(simulation, "simulation", error));
    KILN_TRY(check_until(simulation, until, &reached, error));
    if (reached)
        return KILN_OK;
    KILN_TRY(kiln_world_step(simulation->world, until, &stats, &gave_up, &diagnosis, error));
    if (!gave_up)
        return KILN_OK;
    kiln_log(simulation->context, KILN_LOG_WARNING, "%s", diagnosis.text);
    return kiln_fail(error, KILN_ERR_STATE, "step", 0, -1, "%s", diagnosis.text);
}

double kiln_simulation_time(const kiln_simulation *simulation)
{
    return simulation ? kiln_world_get_state(simulation->world)->clock.time : 0.0;
}

double kiln_simulation_duration(const kiln_simulation *simulation)
{
    return simulation ? kiln_world_scene(simulation->world)->duration : 0.0;
}

const kiln_mesh *kiln_simulation_mesh(const kiln_simulation *simulation)
{
    return simulation ? kiln_world_mesh(simulation->world) : NULL;
}

kiln_status kiln_simulation_save_frame(kiln_simulation *simulation, const char *path,
                                       kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_need(simulation, "simulation", error));
    KILN_TRY(kiln_need(path, "path", error));
    kiln_soup_init(&soup, simulation->context);
    kiln_status status = kiln_world_frame(simulation->world, &soup, error);
    if (status == KILN_OK)
        status = kiln_soup_write(simulation->context, path, NULL, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

kiln_status kiln_simulation_save_checkpoint(kiln_simulation *simulation, const char *path,
                                            kiln_error *error)
{
    KILN_TRY(kiln_need(simulation, "simulation", error));
    KILN_TRY(kiln_need(path, "path", error));
    KILN_TRY(kiln_checkpoint_write(simulation->world, &simulation->origin, path, error));
    return kiln_world_renew(simulation->world, error);
}

void kiln_simulation_destroy(kiln_simulation *simulation)
{
    if (!simulation)
        return;
    kiln_world_destroy(simulation->world);
    kiln_scene_file_destroy(simulation->file);
    kiln_checkpoint_scene_free(simulation->context, &simulation->origin);
    kiln_release(simulation->context, simulation, sizeof *simulation);
}
