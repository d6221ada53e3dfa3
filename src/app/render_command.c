#include "app/command.h"
#include "app/render.h"
#include "io/format.h"

#include <stdlib.h>
#include <string.h>

static kiln_status parse_size(const char *text, kiln_render_options *options, kiln_error *error)
{
    char *end;
    long width = strtol(text, &end, 10), height = 0;
    const char *second = end + 1;
    bool fine = end != text && *end == 'x';
    if (fine) {
        height = strtol(second, &end, 10);
        fine = end != second && *end == 0;
    }
    if (!fine || width < 16 || height < 16 || width > 8192 || height > 8192)
        return kiln_fail(error, KILN_ERR_INPUT, "--size", 0, -1,
                         "must be WIDTHxHEIGHT, each from 16 to 8192, got '%s'", text);
    options->width = (int)width;
    options->height = (int)height;
    return KILN_OK;
}

/* The lowest and highest coordinate along one axis. */
static void extent(const kiln_soup *soup, int axis, double *low, double *high)
{
    *low = HUGE_VAL;
    *high = -HUGE_VAL;
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i];
        double value = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

/* "x=0.5", "x=50%", "-x=0.5" (the other side stays) or "nx,ny,nz,d". */
static kiln_status parse_clip(const char *text, const kiln_soup *soup, kiln_render_options *options,
                              kiln_error *error)
{
    options->clip = true;
    bool other_side = text[0] == '-' && text[1] >= 'x' && text[1] <= 'z';
    const char *axis = text + other_side;
    if (axis[0] >= 'x' && axis[0] <= 'z' && axis[1] == '=') {
        char number[64];
        snprintf(number, sizeof number, "%s", axis + 2);
        size_t length = strlen(number);
        bool percent = length > 0 && number[length - 1] == '%';
        if (percent)
            number[length - 1] = 0;
        double value, low, high;
        KILN_TRY(kiln_numbers_parse(number, 1, &value, "--clip", error));
        extent(soup, axis[0] - 'x', &low, &high);
        if (percent)
            value = low + 0.01 * value * (high - low);
        double n = other_side ? -1.0 : 1.0;
        options->clip_normal =
            kiln_v3(axis[0] == 'x' ? n : 0.0, axis[0] == 'y' ? n : 0.0, axis[0] == 'z' ? n : 0.0);
        options->clip_offset = n * value;
        return KILN_OK;
    }
    double plane[4];
    KILN_TRY(kiln_numbers_parse(text, 4, plane, "--clip", error));
    options->clip_normal = kiln_v3(plane[0], plane[1], plane[2]);
    options->clip_offset = plane[3];
    if (!(kiln_v3_norm2(options->clip_normal) > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--clip", 0, -1, "the normal must not be zero");
    return KILN_OK;
}

static kiln_status parse_view(const kiln_arguments *arguments, kiln_render_options *options,
                              kiln_error *error)
{
    const char *up = kiln_arguments_get(arguments, "up");
    if (up && (strlen(up) != 1 || up[0] < 'x' || up[0] > 'z'))
        return kiln_fail(error, KILN_ERR_INPUT, "--up", 0, -1, "must be x, y or z, got '%s'", up);
    if (up)
        options->up = up[0];
    const char *view = kiln_arguments_get(arguments, "view");
    if (!view) {
        if (options->clip)
            kiln_render_face_clip(options);
        return KILN_OK;
    }
    double angles[2];
    KILN_TRY(kiln_numbers_parse(view, 2, angles, "--view", error));
    if (fabs(angles[1]) > 89.9)
        return kiln_fail(error, KILN_ERR_INPUT, "--view", 0, -1,
                         "the elevation must be between -89.9 and 89.9 degrees, got %g", angles[1]);
    options->azimuth = fmod(angles[0], 360.0);
    options->elevation = angles[1];
    return KILN_OK;
}

static kiln_status parse_range(const char *text, kiln_render_options *options, kiln_error *error)
{
    double ends[2];
    KILN_TRY(kiln_numbers_parse(text, 2, ends, "--range", error));
    if (!(ends[0] < ends[1]) || !isfinite(ends[1] - ends[0]))
        return kiln_fail(error, KILN_ERR_INPUT, "--range", 0, -1,
                         "must be LOW,HIGH with the lower number first, got '%s'", text);
    options->range = true;
    options->low = ends[0];
    options->high = ends[1];
    return KILN_OK;
}

static kiln_status parse_options(const kiln_arguments *arguments, const kiln_soup *soup,
                                 kiln_render_options *options, kiln_error *error)
{
    const char *text;
    *options = kiln_render_default_options();
    if ((text = kiln_arguments_get(arguments, "size")))
        KILN_TRY(parse_size(text, options, error));
    if ((text = kiln_arguments_get(arguments, "clip")))
        KILN_TRY(parse_clip(text, soup, options, error));
    KILN_TRY(parse_view(arguments, options, error));
    if ((text = kiln_arguments_get(arguments, "background")))
        options->background = text;
    KILN_TRY(kiln_arguments_integer(arguments, "samples", 1, 4096, &options->samples, error));
    options->color = kiln_arguments_get(arguments, "color");
    if ((text = kiln_arguments_get(arguments, "range")))
        KILN_TRY(parse_range(text, options, error));
    options->title = kiln_arguments_get(arguments, "title");
    options->edges = kiln_arguments_has(arguments, "edges");
    options->flat = kiln_arguments_has(arguments, "flat");
    options->no_ground = kiln_arguments_has(arguments, "no-ground");
    return KILN_OK;
}

static kiln_status render_soup(kiln_context *context, const kiln_arguments *arguments,
                               const kiln_soup *soup, kiln_error *error)
{
    kiln_render_options options;
    kiln_image image;
    KILN_TRY(parse_options(arguments, soup, &options, error));
    kiln_status status = kiln_render(context, soup, &options, &image, error);
    if (status != KILN_OK) {
        if (!error->place[0] && status == KILN_ERR_INPUT)
            snprintf(error->place, sizeof error->place, "%s", arguments->operands[0]);
        return status;
    }
    status = kiln_png_write(&image, kiln_arguments_get(arguments, "output"), error);
    kiln_image_destroy(&image);
    return status;
}

static kiln_status run_render(kiln_context *context, const kiln_arguments *arguments,
                              kiln_error *error)
{
    if (!kiln_arguments_has(arguments, "output"))
        return kiln_fail(error, KILN_ERR_INPUT, "render", 0, -1, "where to? Say -o picture.png");
    const char *path = kiln_arguments_get(arguments, "output"), *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    /* Without an end (a pipe, /dev/stdout) it is a PNG, too. */
    if (dot && strcmp(dot, ".png") != 0 && strcmp(dot, ".PNG") != 0)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "pictures are PNG files: the name must end in .png, not %.20s", dot);
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    KILN_TRY(kiln_soup_read(context, arguments->operands[0], NULL, &soup, error));
    kiln_status status = render_soup(context, arguments, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

int kiln_command_render(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"output", 'o', "FILE", "the PNG file to write (needed)"},
        {"size", 0, "WxH", "pixels (default: 1280x720)"},
        {"clip", 0, "PLANE",
         "look inside: x=0.5, y=50%, -z=1 or nx,ny,nz,d keeps the whole tets\n"
         "                               whose centre has n.c <= d"},
        {"color", 'c', "WHAT",
         "quality, region, none or the name of a field (default: quality of\n"
         "                               the opened tets with --clip)"},
        {"range", 0, "LOW,HIGH",
         "ends of the colour scale, to compare pictures (default: the values')"},
        {"title", 0, "TEXT", "title of the legend"},
        {"edges", 'e', NULL, "draw the edges of the mesh"},
        {"flat", 0, NULL, "show the facets: no smooth shading"},
        {"view", 0, "AZ,EL", "where from, in degrees: round the vertical axis, above the horizon"},
        {"up", 0, "AXIS", "which axis of the mesh is up: x, y or z (default: z)"},
        {"no-ground", 0, NULL, "no shadow on the ground"},
        {"background", 'b', "COLOR", "light, dark, white, black or #rrggbb (default: light)"},
        {"samples", 0, "N", "rays per pixel (default: 6); more is smoother and slower"}};
    static const kiln_usage usage = {
        .command = "render",
        .synopsis = "MESH -o FILE.png [options]",
        .what = "Renders a picture of a mesh file, without a display.",
        .example = "  kiln render ball.mesh -o ball.png --edges\n"
                   "  kiln render ball.mesh -o inside.png --edges --clip x=50%\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .least_operands = 1,
        .most_operands = 1};
    return kiln_command_frame(&usage, argc, argv, run_render);
}
