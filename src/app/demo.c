#include "app/command.h"
#include "app/render.h"
#include "app/survey.h"
#include "io/fill.h"
#include "io/format.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static kiln_status make_folder(const char *path, kiln_error *error)
{
    char partial[512];
    snprintf(partial, sizeof partial, "%s", path);
    for (char *at = partial + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char kept = *at;
        *at = 0;
        if (mkdir(partial, 0777) != 0 && errno != EEXIST)
            return kiln_fail(error, KILN_ERR_IO, partial, 0, -1, "cannot be made: %s",
                             strerror(errno));
        *at = kept;
        if (!kept)
            return KILN_OK;
    }
}

static kiln_status picture(kiln_context *context, const kiln_soup *soup, const char *folder,
                           const char *name, const kiln_render_options *options, kiln_error *error)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    kiln_image image;
    KILN_TRY(kiln_render(context, soup, options, &image, error));
    kiln_status status = kiln_png_write(&image, path, error);
    kiln_image_destroy(&image);
    if (status == KILN_OK)
        printf("  %s\n", path);
    return status;
}

static kiln_status show(kiln_context *context, const kiln_arguments *arguments,
                        const kiln_soup *soup, const char *folder, kiln_error *error)
{
    char path[600];
    snprintf(path, sizeof path, "%s/kiln.meshb", folder);
    KILN_TRY(kiln_soup_write(context, path, NULL, soup, error));
    kiln_survey survey;
    KILN_TRY(kiln_survey_take(soup, &survey, error));
    kiln_survey_print(&survey, path, stdout);
    kiln_vec3 middle = kiln_v3_lerp(survey.low, survey.high, 0.5);
    kiln_survey_free(&survey);

    printf("\nlook at\n  %s\n", path);
    kiln_render_options outside = kiln_render_default_options();
    KILN_TRY(kiln_arguments_integer(arguments, "samples", 1, 4096, &outside.samples, error));
    outside.up = 'y';
    outside.edges = true;
    outside.azimuth = -66.0;
    outside.elevation = 16.0;
    KILN_TRY(picture(context, soup, folder, "kiln.png", &outside, error));
    kiln_render_options inside = outside;
    inside.clip = true;
    inside.clip_normal = kiln_v3(0, 0.25, 1);
    inside.clip_offset = middle.z + 0.25 * middle.y;
    return picture(context, soup, folder, "kiln-inside.png", &inside, error);
}

static kiln_status run_demo(kiln_context *context, const kiln_arguments *arguments,
                            kiln_error *error)
{
    const char *folder = kiln_arguments_get(arguments, "output");
    folder = folder ? folder : "out/demo";
    if (strlen(folder) >= 500)
        return kiln_fail(error, KILN_ERR_INPUT, "demo", 0, -1, "the folder's name is too long");
    KILN_TRY(make_folder(folder, error));
    const kiln_shape *shape;
    KILN_TRY(kiln_generator_find("text", &shape, error));
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    const char *const settings[] = {"text=KILN"};
    KILN_TRY(kiln_shape_make(shape, 1, settings, &soup, error));
    kiln_status status = show(context, arguments, &soup, folder, error);
    kiln_soup_free(&soup);
    return status;
}

int kiln_command_demo(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"output", 'o', "FOLDER", "where to put the results (default: out/demo)"},
        {"samples", 0, "N", "rays per pixel of the pictures"}};
    static const kiln_usage usage = {
        .command = "demo",
        .synopsis = "[-o FOLDER] [--samples N]",
        .what = "Makes a mesh, prints its table, renders it from outside and cut open.",
        .example = "  kiln demo\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0]};
    return kiln_command_frame(&usage, argc, argv, run_demo);
}
