/* The public face of scene, world and checkpoint (kiln/kiln.h). */
#include "io/checkpoint.h"
#include "io/format.h"
#include "io/scene.h"

#include <stdio.h>
#include <string.h>

struct kiln_simulation {
    kiln_context *context;
    kiln_scene_file *file;
    kiln_world *world;
    kiln_checkpoint_scene origin; /* text and settings, for checkpoints */
};

static kiln_status create(kiln_context *context, const char *path,
                          const kiln_scene_options *options, kiln_simulation *simulation,
                          kiln_error *error)
{
    KILN_TRY(kiln_scene_file_load(context, path, options, &simulation->file, error));
    return kiln_world_create(kiln_scene_file_scene(simulation->file), &simulation->world, error);
}

/* A copy through the context, with a terminating zero that `size` does not count. */
static char *copy_text(kiln_context *context, const char *text, size_t size)
{
    char *copy = kiln_resize(context, NULL, 0, size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

static kiln_status keep_origin(kiln_simulation *simulation, const kiln_scene_options *options,
                               kiln_error *error)
{
    size_t size, used = 0;
    const char *text = kiln_scene_file_text(simulation->file, &size);
    kiln_checkpoint_scene *origin = &simulation->origin;
    origin->text = copy_text(simulation->context, text, size);
    if (!origin->text)
        return kiln_fail_memory(error, size);
    origin->text_size = size;
    size = 0;
    for (size_t i = 0; i < options->set_count; i++)
        size += strlen(options->sets[i]) + 1;
    origin->sets = kiln_resize(simulation->context, NULL, 0, size + 1);
    if (!origin->sets)
        return kiln_fail_memory(error, size);
    origin->sets_size = size;
    origin->sets[0] = '\0';
    for (size_t i = 0; i < options->set_count; i++)
        used += (size_t)snprintf(origin->sets + used, size + 1 - used, "%s\n", options->sets[i]);
    return KILN_OK;
}

static kiln_status allocate(kiln_context *context, kiln_simulation **out, kiln_error *error)
{
    kiln_simulation *simulation = kiln_resize(context, NULL, 0, sizeof *simulation);
    if (!simulation)
        return kiln_fail_memory(error, sizeof *simulation);
    *simulation = (kiln_simulation){.context = context};
    *out = simulation;
    return KILN_OK;
}

kiln_status kiln_simulation_load(kiln_context *context, const char *scene,
                                 const kiln_simulation_options *options, kiln_simulation **out,
                                 kiln_error *error)
{
    kiln_scene_options chosen = {0};
    kiln_simulation *simulation = NULL;
    if (options) {
        chosen.sets = options->sets;
        chosen.set_count = options->set_count;
    }
    KILN_TRY(allocate(context, &simulation, error));
    kiln_status status = create(context, scene, &chosen, simulation, error);
    if (status == KILN_OK)
        status = keep_origin(simulation, &chosen, error);
    if (status != KILN_OK) {
        kiln_simulation_destroy(simulation);
        return status;
    }
    *out = simulation;
    return KILN_OK;
}

/* The lines of `origin->sets`, which are cut apart in place for as long as the scene is read. */
static kiln_status split_lines(kiln_checkpoint_scene *origin, const char **lines, size_t most,
                               size_t *count, kiln_error *error)
{
    char *at = origin->sets;
    *count = 0;
    while (at && *at) {
        if (*count == most)
            return kiln_fail(error, KILN_ERR_LIMIT, "checkpoint", 0, -1,
                             "keeps more than %zu settings", most);
        lines[(*count)++] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = '\0';
    }
    return KILN_OK;
}

static kiln_status restore(kiln_simulation *simulation, const char *scene, const char *checkpoint,
                           kiln_error *error)
{
    enum { MOST_SETS = 256 };
    const char *sets[MOST_SETS];
    kiln_checkpoint_scene *origin = &simulation->origin;
    KILN_TRY(kiln_checkpoint_read_scene(simulation->context, checkpoint, origin, error));
    kiln_scene_options options = {
        .sets = sets, .text = origin->text, .text_size = origin->text_size};
    KILN_TRY(split_lines(origin, sets, MOST_SETS, &options.set_count, error));
    KILN_TRY(create(simulation->context, scene, &options, simulation, error));
    for (size_t i = 0; i < origin->sets_size; i++)
        if (origin->sets[i] == '\0')
            origin->sets[i] = '\n';
    return kiln_checkpoint_read(checkpoint, simulation->world, error);
}

kiln_status kiln_simulation_resume(kiln_context *context, const char *scene, const char *checkpoint,
                                   kiln_simulation **out, kiln_error *error)
{
    kiln_simulation *simulation = NULL;
    KILN_TRY(allocate(context, &simulation, error));
    kiln_status status = restore(simulation, scene, checkpoint, error);
    if (status != KILN_OK) {
        kiln_simulation_destroy(simulation);
        return status;
    }
    *out = simulation;
    return KILN_OK;
}

kiln_status kiln_simulation_step(kiln_simulation *simulation, double until, kiln_error *error)
{
    kiln_stats stats;
    kiln_diagnosis diagnosis;
    bool gave_up = false;
    KILN_TRY(kiln_world_step(simulation->world, until, &stats, &gave_up, &diagnosis, error));
    if (gave_up)
        return kiln_fail(error, KILN_ERR_STATE, "step", 0, -1, "%s", diagnosis.text);
    return KILN_OK;
}

double kiln_simulation_time(const kiln_simulation *simulation)
{
    return kiln_world_get_state(simulation->world)->clock.time;
}

double kiln_simulation_duration(const kiln_simulation *simulation)
{
    return kiln_world_scene(simulation->world)->duration;
}

const kiln_mesh *kiln_simulation_mesh(const kiln_simulation *simulation)
{
    return kiln_world_mesh(simulation->world);
}

kiln_status kiln_simulation_save_frame(kiln_simulation *simulation, const char *path,
                                       kiln_error *error)
{
    kiln_soup soup;
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
