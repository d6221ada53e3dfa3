#include "app/film_tracers.h"
#include "app/film_stage.h"

#include "app/film_parts.h"
#include "app/render_field.h"
#include "app/render_mesh.h"
#include "io/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_IN_ALL = 1 << 20, SAMPLES_PER_FRAME = 8192, LEAST_PER_FRAME = 256 };

static bool has_regions(const kiln_soup *soup)
{
    for (size_t i = 1; i < soup->tet_tags.count; i++)
        if (soup->tet_tags.data[i] != soup->tet_tags.data[0])
            return true;
    return false;
}

/* Numbers in the order of the parts' first points. */
static kiln_status tag_parts(kiln_soup *soup, kiln_error *error)
{
    size_t points = soup->points.count, bytes = 2 * points * sizeof(uint32_t);
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tet_tags, soup->tets.count, error));
    uint32_t *root = kiln_resize(soup->context, NULL, 0, bytes), *number = root + points;
    if (!root)
        return kiln_fail_memory(error, bytes);
    for (uint32_t v = 0; v < points; v++)
        root[v] = v;
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int k = 1; k < 4; k++)
            kiln_part_connect(root, soup->tets.data[t].v[0], soup->tets.data[t].v[k]);
    uint32_t parts = 0;
    for (uint32_t v = 0; v < points; v++)
        number[v] = root[v] == v ? parts++ : number[kiln_part_root(root, v)];
    soup->tet_tags.count = soup->tets.count;
    for (size_t t = 0; t < soup->tets.count; t++)
        soup->tet_tags.data[t] = (int32_t)number[soup->tets.data[t].v[0]];
    kiln_release(soup->context, root, bytes);
    return KILN_OK;
}

/* The body of each tet; NULL in frames of earlier versions, and in other files. */
static const kiln_soup_field *bodies_of(const kiln_soup *soup)
{
    const kiln_soup_field *field = kiln_soup_find_field(soup, KILN_ON_TET, "body");
    return field && field->components == 1 ? field : NULL;
}

static bool has_bodies(const kiln_soup *soup)
{
    const kiln_soup_field *body = bodies_of(soup);
    for (size_t t = 1; body && t < soup->tets.count; t++)
        if (body->data.data[t] != body->data.data[0])
            return true;
    return false;
}

static kiln_status tag_bodies(kiln_soup *soup, kiln_error *error)
{
    const double *body = bodies_of(soup)->data.data;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tet_tags, soup->tets.count, error));
    soup->tet_tags.count = soup->tets.count;
    for (size_t t = 0; t < soup->tets.count; t++)
        soup->tet_tags.data[t] = (int32_t)body[t];
    return KILN_OK;
}

/* What is coloured where no colour is asked for: bodies when the run begins with several, so that
 * each keeps its colour, and of those that merge the first one's is left; else regions; else
 * connected parts, where the frame does not know bodies. */
static kiln_status choose_tags(kiln_soup *soup, const kiln_render_options *options,
                               kiln_error *error)
{
    if (bodies_of(soup) && (options->by_body || has_bodies(soup)))
        return tag_bodies(soup, error);
    return bodies_of(soup) || has_regions(soup) ? KILN_OK : tag_parts(soup, error);
}

/* One region for each body that carries a surface. */
static kiln_status read_surfaces(kiln_context *context, const kiln_film_frame *frame,
                                 kiln_soup *soup, kiln_error *error)
{
    int32_t tag = 1;
    if (!frame->surfaces)
        return kiln_fail(error, KILN_ERR_INPUT, frame->path, 0, -1,
                         "there are no fine surfaces beside this frame; do bodies of the scene "
                         "have a 'surface'?");
    for (const kiln_film_surface *at = frame->surfaces; at; at = at->next, tag++) {
        size_t first = soup->triangles.count;
        kiln_soup one;
        kiln_soup_init(&one, context);
        kiln_status status = kiln_soup_read(context, at->path, NULL, &one, error);
        if (status == KILN_OK)
            status = kiln_soup_append(soup, &one, 0, error);
        kiln_soup_free(&one);
        KILN_TRY(status);
        size_t triangles = soup->triangles.count;
        KILN_TRY(kiln_array_reserve(context, &soup->triangle_tags, triangles, error));
        for (size_t i = first; i < triangles; i++)
            soup->triangle_tags.data[i] = tag;
        soup->triangle_tags.count = triangles;
    }
    return KILN_OK;
}

kiln_status kiln_film_frame_read(kiln_context *context, const kiln_film_frame *frame,
                                 const kiln_render_options *options, kiln_soup *soup,
                                 kiln_error *error)
{
    const char *color = options->color;
    kiln_soup_init(soup, context);
    kiln_status status = options->tracers ? kiln_film_tracers_read(context, frame, soup, error)
                         : options->surfaces
                             ? read_surfaces(context, frame, soup, error)
                             : kiln_soup_read(context, frame->path, NULL, soup, error);
    if (status == KILN_OK && soup->tets.count == 0 && soup->triangles.count == 0)
        status = kiln_fail(error, KILN_ERR_INPUT, frame->path, 0, -1, "there is nothing to show");
    if (status == KILN_OK)
        status = kiln_render_pick_field(soup, color, error);
    if (status == KILN_OK && options->smooth)
        status = kiln_render_smooth_field(soup, color, error);
    if (status == KILN_OK && !color && soup->tets.count > 0)
        status = choose_tags(soup, options, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

typedef struct survey {
    kiln_context *context;
    const kiln_render_options *options;
    kiln_film_stage *stage;
    kiln_camera_fit fit;
    kiln_f64_array values;
    size_t values_per_frame;
} survey;

static kiln_status add_tags(survey *s, const kiln_soup *soup, kiln_error *error)
{
    size_t count = soup->tets.count ? soup->tet_tags.count : soup->triangle_tags.count;
    const int32_t *tags = soup->tets.count ? soup->tet_tags.data : soup->triangle_tags.data;
    for (size_t i = 0; i < (count ? count : 1); i++) {
        int32_t tag = count ? tags[i] : 0;
        size_t at = 0, known = s->stage->tags.count;
        while (at < known && s->stage->tags.data[at] < tag)
            at++;
        if (at < known && s->stage->tags.data[at] == tag)
            continue;
        KILN_TRY(kiln_array_push(s->context, &s->stage->tags, tag, error));
        int32_t *list = s->stage->tags.data;
        memmove(list + at + 1, list + at, (known - at) * sizeof *list);
        list[at] = tag;
    }
    return KILN_OK;
}

static kiln_status add_values(survey *s, const kiln_soup *soup, kiln_error *error)
{
    const kiln_soup_field *field = NULL;
    for (size_t i = 0; s->options->color && i < soup->fields.count && !field; i++)
        if (strcmp(soup->fields.data[i].name, s->options->color) == 0)
            field = &soup->fields.data[i];
    if (!field || s->options->range)
        return KILN_OK;
    size_t items = field->data.count / field->components;
    size_t stride = items / s->values_per_frame + 1;
    for (size_t i = 0; i < items; i += stride) {
        double value = kiln_soup_field_size(field, i);
        if (isfinite(value))
            KILN_TRY(kiln_array_push(s->context, &s->values, value, error));
    }
    return KILN_OK;
}

static kiln_status add_frame(survey *s, const kiln_soup *soup, kiln_error *error)
{
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_vec3 p = kiln_render_turn_up(soup->points.data[i], s->options->up);
        s->stage->bodies = kiln_box_grow(s->stage->bodies, p);
        kiln_camera_fit_add(&s->fit, p);
    }
    KILN_TRY(add_tags(s, soup, error));
    return add_values(s, soup, error);
}

static int compare_values(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void set_range(const survey *s, kiln_render_options *options)
{
    size_t count = s->values.count;
    if (count == 0)
        return;
    qsort(s->values.data, count, sizeof *s->values.data, compare_values);
    size_t cut = count / 200;
    double low = s->values.data[cut], high = s->values.data[count - 1 - cut];
    if (low > 0.0 && low < 0.4 * high)
        low = 0.0;
    if (!(high > low))
        high = low + (low != 0.0 ? fabs(low) : 1.0);
    options->range = true;
    options->low = low;
    options->high = high;
}

/* The obstacles can be told apart only once the bodies' box is known. */
static kiln_status add_scenery(survey *s, const kiln_film_list *list,
                               const kiln_film_selection *shown, kiln_error *error)
{
    kiln_film_stage *stage = s->stage;
    stage->stage.floor = stage->bodies.low.z;
    kiln_box all = stage->bodies;
    const char *before = NULL;
    for (size_t i = 0; i < shown->count; i++) {
        const char *path = list->frames.data[shown->data[i]].obstacles;
        if (!path || path == before)
            continue;
        before = path;
        kiln_film_scenery scenery;
        KILN_TRY(kiln_film_scenery_read(s->context, path, s->options->up, &stage->bodies, &scenery,
                                        error));
        for (size_t k = 0; k < scenery.framed.count; k++) {
            kiln_vec3 p = kiln_render_turn_up(scenery.surface.points.data[scenery.framed.data[k]],
                                              s->options->up);
            kiln_camera_fit_add(&s->fit, p);
            all = kiln_box_grow(all, p);
        }
        if (scenery.has_ground)
            all.low.z = fmin(all.low.z, scenery.ground);
        stage->stage.floor = scenery.has_ground ? scenery.ground : all.low.z;
        kiln_film_scenery_free(&scenery);
    }
    kiln_vec3 half = kiln_v3_scale(kiln_v3_sub(all.high, all.low), 0.5);
    stage->stage.center = kiln_v3_lerp(all.low, all.high, 0.5);
    stage->stage.reach = fmax(half.x, fmax(half.y, half.z));
    if (!(stage->stage.reach > 0.0) || !isfinite(stage->stage.reach))
        return kiln_fail(error, KILN_ERR_INPUT, list->frames.data[0].path, 0, -1,
                         "the frames have no extent to show");
    return KILN_OK;
}

/* Whether the picture has a colour scale, and so a legend. */
static bool has_scale(const kiln_render_options *options)
{
    const char *color = options->color;
    if (!color)
        return options->clip;
    return strcmp(color, "none") != 0 && strcmp(color, "region") != 0;
}

static kiln_status look_through(survey *s, const kiln_film_list *list,
                                const kiln_film_selection *shown, kiln_render_options *options,
                                kiln_error *error)
{
    for (size_t i = 0; i < shown->count; i++) {
        if (kiln_context_is_stopping(s->context))
            return kiln_fail(error, KILN_ERR_STATE, "render", 0, -1, "interrupted");
        kiln_soup soup;
        KILN_TRY(kiln_film_frame_read(s->context, &list->frames.data[shown->data[i]], options,
                                      &soup, error));
        kiln_status status = add_frame(s, &soup, error);
        kiln_soup_free(&soup);
        KILN_TRY(status);
    }
    KILN_TRY(add_scenery(s, list, shown, error));
    if (!options->range)
        set_range(s, options);
    if (options->title == s->stage->title) {
        const char *name = options->color ? options->color : "quality";
        double largest = options->range ? fmax(fabs(options->low), fabs(options->high)) : 1.0;
        options->legend_factor = kiln_render_field_title(name, largest, s->stage->title);
    }
    s->stage->stage.camera = kiln_camera_fit_end(&s->fit);
    s->stage->stage.tags = s->stage->tags.data;
    s->stage->stage.tag_count = s->stage->tags.count;
    options->stage = &s->stage->stage;
    return KILN_OK;
}

/* The first frame of the run, whichever are shown, says whether bodies are told apart. */
static kiln_status begins_with_bodies(kiln_context *context, const kiln_film_list *list,
                                      const kiln_render_options *options, bool *out,
                                      kiln_error *error)
{
    *out = false;
    if (options->color || options->surfaces || options->tracers)
        return KILN_OK;
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_soup_read(context, list->frames.data[0].path, NULL, &soup, error);
    *out = status == KILN_OK && has_bodies(&soup);
    kiln_soup_free(&soup);
    return status;
}

kiln_status kiln_film_stage_set(kiln_context *context, const kiln_film_list *list,
                                const kiln_film_selection *shown, kiln_render_options *options,
                                kiln_film_stage *out, kiln_error *error)
{
    *out = (kiln_film_stage){.context = context, .bodies = kiln_box_empty()};
    bool scaled = has_scale(options);
    if (scaled && !options->title) {
        /* The camera is set before the range is known: room for the longest title. */
        kiln_render_field_title(options->color ? options->color : "quality", 1e3, out->title);
        options->title = out->title;
    }
    options->no_legend |= !scaled;
    const char *title = options->no_legend ? NULL : options->title;
    int legend = kiln_render_legend_width(title, options->width, options->height);
    size_t each = SAMPLES_IN_ALL / shown->count;
    each = each > SAMPLES_PER_FRAME ? SAMPLES_PER_FRAME : each;
    survey s = {.context = context,
                .options = options,
                .stage = out,
                .fit = kiln_camera_fit_begin(options->azimuth, options->elevation,
                                             options->width - legend, options->height),
                .values_per_frame = each < LEAST_PER_FRAME ? LEAST_PER_FRAME : each};
    kiln_status status = begins_with_bodies(context, list, options, &options->by_body, error);
    if (status == KILN_OK)
        status = look_through(&s, list, shown, options, error);
    kiln_array_free(context, &s.values);
    if (status != KILN_OK)
        kiln_film_stage_free(out);
    return status;
}

void kiln_film_stage_free(kiln_film_stage *stage)
{
    kiln_array_free(stage->context, &stage->tags);
}
