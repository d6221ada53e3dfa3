#include "app/command.h"
#include "app/film.h"
#include "app/render.h"
#include "app/render_field.h"
#include "app/render_look.h"
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
    if (kiln_numbers_parse(text, 4, plane, "--clip", NULL) != KILN_OK)
        return kiln_fail(error, KILN_ERR_INPUT, "--clip", 0, -1,
                         "must be like x=0.5, y=50%% or -z=0 (the other side stays), or "
                         "nx,ny,nz,d, got '%.60s'",
                         text);
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
    const char *camera = kiln_arguments_get(arguments, "camera");
    if (!view && !camera) {
        if (options->clip)
            kiln_render_face_clip(options);
        return KILN_OK;
    }
    double angles[3] = {0.0, 0.0, 1.0};
    const char *text = camera ? camera : view, *place = camera ? "--camera" : "--view";
    const char *comma = strchr(text, ',');
    bool zooms = camera && comma && strchr(comma + 1, ',');
    KILN_TRY(kiln_numbers_parse(text, zooms ? 3 : 2, angles, place, error));
    if (fabs(angles[1]) > 89.9)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                         "the elevation must be between -89.9 and 89.9 degrees, got %g", angles[1]);
    if (!(angles[2] >= 0.05) || angles[2] > 20.0)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                         "the zoom must be from 0.05 to 20, got %g", angles[2]);
    options->azimuth = fmod(angles[0], 360.0);
    options->elevation = angles[1];
    options->zoom = angles[2];
    return KILN_OK;
}

static kiln_status parse_range(const char *text, kiln_render_options *options, kiln_error *error)
{
    double ends[2];
    char numbers[100];
    snprintf(numbers, sizeof numbers, "%s", text);
    char *colon = strchr(numbers, ':');
    if (colon)
        *colon = ',';
    KILN_TRY(kiln_numbers_parse(numbers, 2, ends, "--range", error));
    if (!(ends[0] < ends[1]) || !isfinite(ends[1] - ends[0]))
        return kiln_fail(error, KILN_ERR_INPUT, "--range", 0, -1,
                         "must be LOW:HIGH with the lower number first, got '%s'", text);
    options->range = true;
    options->low = ends[0];
    options->high = ends[1];
    return KILN_OK;
}

static kiln_status parse_look(const kiln_arguments *arguments, const char *text,
                              kiln_render_options *options, kiln_error *error)
{
    static const char *const coloured[] = {"field", "color", "edges", "flat"};
    KILN_TRY(kiln_look_find(text, &options->look, error));
    for (size_t i = 0; options->look && i < sizeof coloured / sizeof coloured[0]; i++)
        if (kiln_arguments_has(arguments, coloured[i]))
            return kiln_fail(error, KILN_ERR_INPUT, "--look", 0, -1,
                             "%s is clear: --%s has nothing to show on it", text, coloured[i]);
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
    if (!options->color)
        options->color = kiln_arguments_get(arguments, "field");
    if ((text = kiln_arguments_get(arguments, "range")))
        KILN_TRY(parse_range(text, options, error));
    options->title = kiln_arguments_get(arguments, "title");
    options->smooth = kiln_arguments_has(arguments, "smooth");
    options->surfaces = kiln_arguments_has(arguments, "surface");
    options->tracers = kiln_arguments_has(arguments, "tracers");
    if ((text = kiln_arguments_get(arguments, "look")))
        KILN_TRY(parse_look(arguments, text, options, error));
    options->edges = kiln_arguments_has(arguments, "edges");
    options->flat = kiln_arguments_has(arguments, "flat");
    options->no_ground = kiln_arguments_has(arguments, "no-ground");
    return KILN_OK;
}

static kiln_status render_soup(kiln_context *context, const kiln_arguments *arguments,
                               kiln_soup *soup, kiln_error *error)
{
    kiln_render_options options;
    kiln_image image;
    KILN_TRY(parse_options(arguments, soup, &options, error));
    KILN_TRY(kiln_render_pick_field(soup, options.color, error));
    if (options.smooth)
        KILN_TRY(kiln_render_smooth_field(soup, options.color, error));
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

static kiln_status render_mesh(kiln_context *context, const kiln_arguments *arguments,
                               kiln_error *error)
{
    static const char *const of_runs[] = {"frame", "every", "sheet", "fps", "surface", "tracers"};
    for (size_t i = 0; i < sizeof of_runs / sizeof of_runs[0]; i++)
        if (kiln_arguments_has(arguments, of_runs[i]))
            return kiln_fail(error, KILN_ERR_INPUT, arguments->operands[0], 0, -1,
                             "--%s is for the folder of a run, and this is none", of_runs[i]);
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

static kiln_status parse_sheet(const char *text, kiln_film_request *request, kiln_error *error)
{
    char *end;
    long columns = strtol(text, &end, 10), rows = 0;
    bool fine = end != text && *end == 'x';
    if (fine) {
        const char *second = end + 1;
        rows = strtol(second, &end, 10);
        fine = end != second && *end == 0;
    }
    if (!fine || columns < 1 || rows < 1 || columns > 64 || rows > 64)
        return kiln_fail(error, KILN_ERR_INPUT, "--sheet", 0, -1,
                         "must be COLUMNSxROWS, each from 1 to 64, got '%s'", text);
    request->columns = (int)columns;
    request->rows = (int)rows;
    return KILN_OK;
}

/* What of the request does not depend on the frames. */
static kiln_status parse_request(const kiln_arguments *arguments, kiln_film_request *request,
                                 kiln_error *error)
{
    const char *text;
    *request = (kiln_film_request){.output = kiln_arguments_get(arguments, "output"),
                                   .frames = kiln_arguments_get(arguments, "frame"),
                                   .every = 1};
    KILN_TRY(kiln_arguments_integer(arguments, "every", 1, 1000000, &request->every, error));
    if ((text = kiln_arguments_get(arguments, "sheet")))
        KILN_TRY(parse_sheet(text, request, error));
    if (!(text = kiln_arguments_get(arguments, "fps")))
        return KILN_OK;
    KILN_TRY(kiln_numbers_parse(text, 1, &request->fps, "--fps", error));
    if (!(request->fps >= 0.1) || request->fps > 240.0)
        return kiln_fail(error, KILN_ERR_INPUT, "--fps", 0, -1, "must be from 0.1 to 240, got %g",
                         request->fps);
    return KILN_OK;
}

/* Without a name the result goes into the run's folder. */
static void name_output(const char *folder, char path[1100], kiln_film_request *request)
{
    if (request->output)
        return;
    const char *name = request->columns ? "sheet.png" : request->frames ? "frame.png" : "film.mp4";
    size_t length = strlen(folder);
    const char *gap = length > 0 && folder[length - 1] == '/' ? "" : "/";
    snprintf(path, 1100, "%.1000s%s%s", folder, gap, name);
    request->output = path;
}

static kiln_status complete_request(kiln_context *context, const kiln_arguments *arguments,
                                    const kiln_film_list *list, const kiln_film_selection *shown,
                                    kiln_film_request *request, kiln_error *error)
{
    kiln_soup first;
    kiln_render_options plain = kiln_render_default_options();
    KILN_TRY(
        kiln_film_frame_read(context, &list->frames.data[shown->data[0]], &plain, &first, error));
    kiln_status status = parse_options(arguments, &first, &request->look, error);
    kiln_soup_free(&first);
    bool sheet = request->columns > 0;
    if (sheet && !kiln_arguments_has(arguments, "size")) {
        request->look.width = 480;
        request->look.height = 360;
    }
    if (!kiln_arguments_has(arguments, "samples"))
        request->look.samples = sheet || shown->count == 1 ? 16 : 5;
    return status;
}

static kiln_status render_run(kiln_context *context, const kiln_arguments *arguments,
                              kiln_error *error)
{
    kiln_film_request request;
    char path[1100];
    kiln_film_list list;
    kiln_film_selection shown = {0};
    KILN_TRY(parse_request(arguments, &request, error));
    name_output(arguments->operands[0], path, &request);
    KILN_TRY(kiln_film_list_read(context, arguments->operands[0], &list, error));
    kiln_status status = kiln_film_select(context, &list, &request, &shown, error);
    if (status == KILN_OK)
        status = complete_request(context, arguments, &list, &shown, &request, error);
    if (status == KILN_OK)
        status = kiln_film_make(context, &list, &shown, &request, error);
    kiln_array_free(context, &shown);
    kiln_film_list_free(&list);
    return status;
}

static kiln_status run_render(kiln_context *context, const kiln_arguments *arguments,
                              kiln_error *error)
{
    KILN_TRY(kiln_film_check_operand(arguments->operands[0], error));
    if (kiln_film_is_folder(arguments->operands[0]))
        return render_run(context, arguments, error);
    return render_mesh(context, arguments, error);
}

static void print_details(FILE *out)
{
    fputs(
        "Of a folder that 'kiln run' writes: -o film.mp4 is a film, -o picture.png one frame\n"
        "(--frame, default the last) or a sheet of them (--sheet), -o folder/ a picture of each.\n"
        "The camera sees all frames shown, the colour scale covers them all; works while the run\n"
        "goes on. Fields: those of the frames (a vector's length, von Mises of a stress), speed,\n"
        "displacement, and components such as v.z or stress.xx.\n",
        out);
}

int kiln_command_render(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"output", 'o', "FILE", "what to write (default, of a run: film.mp4 in its folder)"},
        {"size", 0, "WxH", "pixels of each picture (default: 1280x720)"},
        {"field", 'f', "NAME", "colour by this; the same as --color"},
        {"color", 'c', "WHAT",
         "quality, region, none or the name of a field (default: quality of\n"
         "                               the opened tets with --clip, else region)"},
        {"range", 0, "LOW:HIGH",
         "ends of the colour scale, to compare pictures (default: the values')"},
        {"frame", 0, "N", "of a run: frame N, last, or FIRST:LAST"},
        {"every", 0, "K", "of a run: each K-th frame only"},
        {"sheet", 0, "CxR", "of a run: one PNG with C by R frames, evenly spaced"},
        {"fps", 0, "N",
         "of a run: frames per second (default: as the simulated time goes\n"
         "                               when that is 10 to 60, else 30)"},
        {"clip", 0, "PLANE",
         "look inside: x=0.5, y=50%, -z=1 or nx,ny,nz,d keeps the whole tets\n"
         "                               whose centre has n.c <= d"},
        {"surface", 0, NULL,
         "of a run: the fine surfaces that bodies carry in place of their meshes"},
        {"tracers", 0, NULL, "of a run: its particles in place of the bodies, and hollows in them"},
        {"smooth", 's', NULL, "average fields of tets around vertices"},
        {"title", 0, "TEXT", "title of the legend"},
        {"look", 0, "MATTER",
         "clay, water, honey or glass: light goes through what is clear, is\n"
         "                               bent, thrown back and coloured by the way it has there"},
        {"edges", 'e', NULL, "draw the edges of the mesh"},
        {"flat", 0, NULL, "show the facets: no smooth shading"},
        {"camera", 0, "AZ,EL[,ZOOM]",
         "where from, in degrees: round the vertical axis, above the horizon"},
        {"view", 0, "AZ,EL", "the same as --camera"},
        {"up", 0, "AXIS", "which axis of the mesh is up: x, y or z (default: z)"},
        {"no-ground", 0, NULL, "no shadow on the ground"},
        {"background", 'b', "COLOR", "light, dark, white, black or #rrggbb (default: light)"},
        {"samples", 0, "N",
         "rays per pixel (default: 5 or 6, stills of runs 16); more is smoother"}};
    static const kiln_usage usage = {
        .command = "render",
        .synopsis = "MESH -o FILE.png | RUN [-o FILE.mp4|FILE.png|FOLDER/] [options]",
        .what = "Renders pictures of a mesh file, or pictures and films of a run, without a "
                "display.",
        .example = "  kiln render ball.mesh -o inside.png --edges --clip x=50%\n"
                   "  kiln render out/bounce -o bounce.mp4 --field speed\n"
                   "  kiln render out/bounce -o bounce.png --sheet 4x2\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .least_operands = 1,
        .most_operands = 1,
        .details = print_details};
    return kiln_command_frame(&usage, argc, argv, run_render);
}
