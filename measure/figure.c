#include "measure/figure.h"

#include "app/builtin_scenes.h"
#include "io/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static kiln_status load_text(kiln_context *context, const kiln_figure *figure, const char *text,
                             size_t size, kiln_scene_file **out, kiln_error *error)
{
    char name[80];
    snprintf(name, sizeof name, "scenes/%s.lua", figure->scene); /* files it names are there */
    kiln_scene_options options = {.sets = figure->sets, .text = text, .text_size = size};
    while (options.set_count < 4 && figure->sets[options.set_count])
        options.set_count++;
    return kiln_scene_file_load(context, figure->path ? figure->path : name, &options, out, error);
}

static kiln_status load(kiln_context *context, const kiln_figure *figure, kiln_scene_file **out,
                        kiln_error *error)
{
    if (figure->path)
        return load_text(context, figure, NULL, 0, out, error);
    if (figure->text)
        return load_text(context, figure, figure->text, strlen(figure->text), out, error);
    for (size_t i = 0; i < kiln_builtin_scene_count; i++) {
        const kiln_builtin_scene *scene = &kiln_builtin_scenes[i];
        if (strcmp(scene->name, figure->scene) == 0)
            return load_text(context, figure, (const char *)scene->text, scene->size, out, error);
    }
    return kiln_fail(error, KILN_ERR_INPUT, figure->scene, 0, -1, "is no scene of this program");
}

static void note(kiln_figure_report *sum, const kiln_stats *stats)
{
    sum->tets_most = fmax(sum->tets_most, stats->tets);
    sum->tets_end = stats->tets;
    sum->worst = fmin(sum->worst, stats->q_min);
    sum->steps++;
    sum->step += stats->t_step;
    sum->solve += stats->t_assemble + stats->t_factor + stats->t_solve;
    sum->plastic += fmax(stats->t_plastic, 0.0); /* NaN where nothing flows */
    sum->size += fmax(stats->t_size, 0.0);
    sum->remesh += fmax(stats->t_remesh, 0.0);
    sum->transfer += fmax(stats->t_transfer, 0.0);
}

static void take_means(kiln_figure_report *sum)
{
    double *times[] = {&sum->step, &sum->solve,  &sum->plastic,
                       &sum->size, &sum->remesh, &sum->transfer};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        *times[i] /= (double)sum->steps;
}

static kiln_status advance(const kiln_figure *figure, kiln_world *world, kiln_figure_report *report,
                           kiln_error *error)
{
    const kiln_scene *scene = kiln_world_scene(world);
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    *report =
        (kiln_figure_report){.tets_begin = stats.tets, .tets_most = stats.tets, .worst = INFINITY};
    size_t most = figure->most_steps ? figure->most_steps : SIZE_MAX;
    double end = scene->duration - 1e-9 * scene->pace.dt;
    while (report->steps < most && kiln_world_get_state(world)->clock.time < end) {
        bool gave_up;
        kiln_diagnosis diagnosis;
        KILN_TRY(kiln_world_step(world, scene->duration, &stats, &gave_up, &diagnosis, error));
        if (gave_up)
            return kiln_fail(error, KILN_ERR_STATE, figure->scene, 0, -1, "%s", diagnosis.text);
        note(report, &stats);
        if (figure->look)
            figure->look(figure->user, world, &stats);
    }
    take_means(report);
    return KILN_OK;
}

kiln_status kiln_figure_run(kiln_context *context, const kiln_figure *figure,
                            kiln_figure_report *report,
                            kiln_status (*finish)(void *user, kiln_world *world, kiln_error *error),
                            kiln_error *error)
{
    kiln_scene_file *file;
    kiln_world *world = NULL;
    KILN_TRY(load(context, figure, &file, error));
    kiln_status status = kiln_world_create(kiln_scene_file_scene(file), &world, error);
    if (status == KILN_OK)
        status = advance(figure, world, report, error);
    if (status == KILN_OK && finish)
        status = finish(figure->user, world, error);
    kiln_world_destroy(world);
    kiln_scene_file_destroy(file);
    return status;
}
