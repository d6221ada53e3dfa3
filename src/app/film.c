#include "app/film.h"

#include "app/command.h"
#include "app/film_encode.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum output_kind { OUTPUT_STILL, OUTPUT_SHEET, OUTPUT_FILM, OUTPUT_FOLDER } output_kind;

static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

static kiln_status kind_of(const kiln_film_request *request, output_kind *kind, kiln_error *error)
{
    const char *path = request->output, *ending = ending_of(path);
    size_t length = strlen(path);
    bool folder = (length > 0 && path[length - 1] == '/') || kiln_film_is_folder(path);
    bool film = strcmp(ending, ".mp4") == 0, sheet = request->columns > 0;
    if (sheet && (film || folder))
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "a sheet is one picture: the name must end in .png");
    if (folder || film) {
        *kind = folder ? OUTPUT_FOLDER : OUTPUT_FILM;
        return KILN_OK;
    }
    if (ending[0] && strcmp(ending, ".png") != 0 && strcmp(ending, ".PNG") != 0)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "the name must end in .mp4 (film), .png (picture) or / (folder of "
                         "pictures), not %.20s",
                         ending);
    *kind = sheet ? OUTPUT_SHEET : OUTPUT_STILL;
    return KILN_OK;
}

static kiln_status parse_frames(const char *text, size_t count, size_t *first, size_t *last,
                                kiln_error *error)
{
    char *end;
    if (strcmp(text, "last") == 0) {
        *first = *last = count - 1;
        return KILN_OK;
    }
    unsigned long a = strtoul(text, &end, 10), b = a;
    bool fine = end != text && text[0] != '-';
    if (fine && *end == ':') {
        const char *second = end + 1;
        b = *second ? strtoul(second, &end, 10) : count - 1;
        end = *second ? end : end + 1;
        fine = *second != '-' && (!*second || end != second);
    }
    if (!fine || *end || a > b)
        return kiln_fail(error, KILN_ERR_INPUT, "--frame", 0, -1,
                         "must be a number, FIRST:LAST or last, got '%s'", text);
    if (b >= count)
        return kiln_fail(error, KILN_ERR_INPUT, "--frame", 0, -1,
                         "there are frames 0 to %zu, got '%s'", count - 1, text);
    *first = a;
    *last = b;
    return KILN_OK;
}

kiln_status kiln_film_select(kiln_context *context, const kiln_film_list *list,
                             const kiln_film_request *request, kiln_film_selection *out,
                             kiln_error *error)
{
    output_kind kind;
    KILN_TRY(kind_of(request, &kind, error));
    size_t count = list->frames.count, first = 0, last = count - 1;
    if (request->frames)
        KILN_TRY(parse_frames(request->frames, count, &first, &last, error));
    else if (kind == OUTPUT_STILL)
        first = last;
    if (kind == OUTPUT_STILL && first != last)
        return kiln_fail(error, KILN_ERR_INPUT, "--frame", 0, -1,
                         "one picture shows one frame; for more say --sheet, or -o film.mp4");
    size_t each = (size_t)request->every, chosen = (last - first) / each + 1;
    size_t tiles = (size_t)request->columns * (size_t)request->rows;
    size_t wanted = kind == OUTPUT_SHEET && tiles < chosen ? tiles : chosen;
    for (size_t i = 0; i < wanted; i++) {
        /* Spread from the first to the last; a single tile shows the last, as a still does. */
        size_t gaps = wanted - 1;
        size_t at = wanted == chosen ? i : gaps ? (i * (chosen - 1) + gaps / 2) / gaps : chosen - 1;
        kiln_status status = kiln_array_push(context, out, (uint32_t)(first + at * each), error);
        if (status != KILN_OK) {
            kiln_array_free(context, out);
            return status;
        }
    }
    return KILN_OK;
}

typedef struct film_job {
    kiln_context *context;
    const kiln_film_list *list;
    const kiln_film_selection *shown;
    const kiln_film_request *request;
    const kiln_film_stage *stage;
    int decimals; /* of the time in captions */
} film_job;

static double shortest_interval(const kiln_film_list *list)
{
    double shortest = HUGE_VAL;
    for (size_t i = 1; i < list->frames.count; i++) {
        double step = list->frames.data[i].time - list->frames.data[i - 1].time;
        /* The last frame may follow the one before it closely: a run ends where it is told to. */
        if (step > 0.0 && (i + 1 < list->frames.count || !isfinite(shortest)))
            shortest = fmin(shortest, step);
    }
    return isfinite(shortest) ? shortest : 0.01;
}

/* As many as tell the times of the frames; one more than the interval has where none do. */
static int caption_decimals(const kiln_film_list *list)
{
    double interval = shortest_interval(list), digits = ceil(-log10(interval) - 1e-9);
    int fewest = (int)fmin(fmax(digits, 1.0), 9.0);
    for (int more = 0; more <= 3; more++) {
        double unit = pow(10.0, -fewest - more), off = 0.0;
        for (size_t i = 0; i + 1 < list->frames.count || i == 0; i++) {
            double time = list->frames.data[i].time;
            off = fmax(off, fabs(time - unit * round(time / unit)));
        }
        if (off < 1e-4 * interval)
            return fewest + more;
    }
    return fewest + 1;
}

static kiln_status draw(const film_job *job, size_t i, kiln_image *image, kiln_error *error)
{
    const kiln_film_frame *frame = &job->list->frames.data[job->shown->data[i]];
    kiln_render_options look = job->request->look;
    kiln_render_stage stage = *look.stage;
    char caption[64];
    snprintf(caption, sizeof caption, "t = %.*f s", job->decimals, frame->time);
    look.caption = caption;
    look.stage = &stage;
    kiln_soup soup;
    KILN_TRY(kiln_film_frame_read(job->context, frame, &look, &soup, error));
    kiln_film_scenery scenery;
    kiln_status status = kiln_film_scenery_read(job->context, frame->obstacles, look.up,
                                                &job->stage->bodies, &scenery, error);
    if (status == KILN_OK) {
        stage.floor = scenery.has_ground ? scenery.ground : stage.floor;
        kiln_film_scenery_open(&scenery, look.up, stage.camera.eye);
        look.scenery = &scenery.surface;
        status = kiln_render(job->context, &soup, &look, image, error);
        if (status == KILN_ERR_INPUT && !error->place[0])
            snprintf(error->place, sizeof error->place, "%s", frame->path);
        kiln_film_scenery_free(&scenery);
    }
    kiln_soup_free(&soup);
    return status;
}

static void show_progress(const film_job *job, size_t done)
{
    if (!kiln_stream_is_terminal(stderr))
        return;
    fprintf(stderr, "\rframe %zu of %zu%s", done, job->shown->count,
            done == job->shown->count ? "\n" : "");
}

static double default_fps(const film_job *job)
{
    double real = 1.0 / (shortest_interval(job->list) * job->request->every);
    return real >= 9.9 && real <= 60.5 ? real : 30.0;
}

static kiln_status make_film(const film_job *job, kiln_error *error)
{
    const kiln_film_request *request = job->request;
    int width = request->look.width, height = request->look.height;
    if (width % 2 || height % 2)
        return kiln_fail(error, KILN_ERR_INPUT, "--size", 0, -1,
                         "width and height of a film must be even, got %dx%d", width, height);
    double fps = request->fps > 0.0 ? request->fps : default_fps(job);
    kiln_film_encoder encoder;
    KILN_TRY(
        kiln_film_encoder_open(&encoder, job->context, request->output, width, height, fps, error));
    for (size_t i = 0; i < job->shown->count; i++) {
        kiln_image image;
        kiln_status status = draw(job, i, &image, error);
        if (status == KILN_OK) {
            status = kiln_film_encoder_add(&encoder, &image, error);
            kiln_image_destroy(&image);
        }
        if (status != KILN_OK) {
            kiln_film_encoder_discard(&encoder);
            return status;
        }
        show_progress(job, i + 1);
    }
    KILN_TRY(kiln_film_encoder_commit(&encoder, error));
    printf("%s: %zu frames, %.3g s at %.4g a second\n", request->output, job->shown->count,
           (double)job->shown->count / fps, fps);
    return KILN_OK;
}

static kiln_status make_folder(const film_job *job, kiln_error *error)
{
    const char *folder = job->request->output;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return kiln_fail(error, KILN_ERR_IO, folder, 0, -1, "cannot be made: %s", strerror(errno));
    size_t length = strlen(folder);
    const char *gap = length > 0 && folder[length - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < job->shown->count; i++) {
        char path[1100];
        snprintf(path, sizeof path, "%.1000s%s%06u.png", folder, gap,
                 (unsigned)job->shown->data[i]);
        kiln_image image;
        KILN_TRY(draw(job, i, &image, error));
        kiln_status status = kiln_png_write(&image, path, error);
        kiln_image_destroy(&image);
        KILN_TRY(status);
        show_progress(job, i + 1);
    }
    printf("%s: %zu pictures\n", folder, job->shown->count);
    return KILN_OK;
}

static void paste(kiln_image *sheet, const kiln_image *tile, int x, int y)
{
    size_t row = (size_t)tile->width * 3, width = (size_t)sheet->width;
    for (int i = 0; i < tile->height; i++)
        memcpy(sheet->pixels + 3 * ((size_t)(y + i) * width + (size_t)x),
               tile->pixels + (size_t)i * row, row);
}

static kiln_status fill_sheet(const film_job *job, int gap, kiln_image *sheet, kiln_error *error)
{
    const kiln_film_request *request = job->request;
    for (size_t i = 0; i < job->shown->count; i++) {
        int column = (int)i % request->columns, row = (int)i / request->columns;
        kiln_image tile;
        KILN_TRY(draw(job, i, &tile, error));
        paste(sheet, &tile, column * (tile.width + gap), row * (tile.height + gap));
        kiln_image_destroy(&tile);
        show_progress(job, i + 1);
    }
    return kiln_png_write(sheet, request->output, error);
}

/* Tiles a thin line of paper apart. */
static kiln_status make_sheet(const film_job *job, kiln_error *error)
{
    const kiln_film_request *request = job->request;
    int tile_width = request->look.width, tile_height = request->look.height;
    int gap = tile_width / 120 > 2 ? tile_width / 120 : 2;
    int width = request->columns * (tile_width + gap) - gap;
    int height = request->rows * (tile_height + gap) - gap;
    if (width > 16384 || height > 16384)
        return kiln_fail(error, KILN_ERR_INPUT, "--sheet", 0, -1,
                         "would be %d by %d pixels; at most 16384 each", width, height);
    kiln_image sheet;
    KILN_TRY(kiln_image_create(job->context, width, height, &sheet, error));
    memset(sheet.pixels, 255, (size_t)width * (size_t)height * 3);
    kiln_status status = fill_sheet(job, gap, &sheet, error);
    kiln_image_destroy(&sheet);
    if (status == KILN_OK)
        printf("%s: %zu frames\n", request->output, job->shown->count);
    return status;
}

static kiln_status make_still(const film_job *job, kiln_error *error)
{
    kiln_image image;
    KILN_TRY(draw(job, 0, &image, error));
    kiln_status status = kiln_png_write(&image, job->request->output, error);
    kiln_image_destroy(&image);
    if (status == KILN_OK)
        printf("%s: frame %u\n", job->request->output, (unsigned)job->shown->data[0]);
    return status;
}

kiln_status kiln_film_make(kiln_context *context, const kiln_film_list *list,
                           const kiln_film_selection *shown, kiln_film_request *request,
                           kiln_error *error)
{
    static kiln_status (*const makers[])(const film_job *,
                                         kiln_error *) = {[OUTPUT_STILL] = make_still,
                                                          [OUTPUT_SHEET] = make_sheet,
                                                          [OUTPUT_FILM] = make_film,
                                                          [OUTPUT_FOLDER] = make_folder};
    output_kind kind;
    KILN_TRY(kind_of(request, &kind, error));
    kiln_film_stage stage;
    KILN_TRY(kiln_film_stage_set(context, list, shown, &request->look, &stage, error));
    film_job job = {context, list, shown, request, &stage, caption_decimals(list)};
    kiln_status status = makers[kind](&job, error);
    kiln_film_stage_free(&stage);
    return status;
}
