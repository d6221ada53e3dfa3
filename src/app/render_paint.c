#include "app/render_paint.h"

#include "app/render_field.h"
#include "geom/tet_quality.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t clay = 0xcd6f4c, bisque = 0xd8cfc2; /* the body alone; beside coloured tets */

static void paint_all(kiln_render_mesh *mesh, kiln_paint paint)
{
    memset(mesh->paint, paint, mesh->body_triangles);
    memset(mesh->value, 0, mesh->body_triangles * sizeof *mesh->value);
}

/* With a clip plane only the opened tets carry the colour: the outside stays calm. */
static void paint_quality(const kiln_soup *soup, const kiln_skin *faces,
                          const kiln_render_options *options, kiln_render_mesh *mesh)
{
    kiln_color_scale *scale = &mesh->scale;
    *scale = (kiln_color_scale){.paint = KILN_PAINT_MAP,
                                .map = KILN_MAP_QUALITY,
                                .low = options->range ? options->low : 0.0,
                                .high = options->range ? options->high : 1.0,
                                .base = kiln_rgb_from_hex(bisque)};
    snprintf(scale->title, sizeof scale->title, "quality");
    for (size_t i = 0; i < faces->count; i++) {
        if (options->clip && !faces->data[i].cut)
            continue;
        kiln_vec3 p[4];
        for (int k = 0; k < 4; k++)
            p[k] = soup->points.data[soup->tets.data[faces->data[i].tet].v[k]];
        double quality = kiln_tet_quality(&p[0], &p[1], &p[2], &p[3]);
        mesh->paint[i] = KILN_PAINT_MAP;
        for (int k = 0; k < 3; k++)
            mesh->value[i][k] = (float)((quality - scale->low) / (scale->high - scale->low));
    }
}

static int compare_tags(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return a < b ? -1 : a > b;
}

static int32_t tag_of(const kiln_soup *soup, const kiln_skin_face *face, size_t i)
{
    if (face->tet != UINT32_MAX)
        return soup->tet_tags.count ? soup->tet_tags.data[face->tet] : 0;
    return soup->triangle_tags.count ? soup->triangle_tags.data[i] : 0;
}

/* The tags on what is shown, each once, ascending; `out` in the mesh's arena. */
static kiln_status list_tags(const kiln_soup *soup, const kiln_skin *faces, kiln_arena *arena,
                             const int32_t **out, size_t *count, kiln_error *error)
{
    int32_t *tags = kiln_arena_array(arena, int32_t, faces->count);
    if (!tags)
        return kiln_fail_memory(error, faces->count * sizeof *tags);
    for (size_t i = 0; i < faces->count; i++)
        tags[i] = tag_of(soup, &faces->data[i], i);
    qsort(tags, faces->count, sizeof *tags, compare_tags);
    size_t kinds = 0;
    for (size_t i = 0; i < faces->count; i++)
        if (i == 0 || tags[i] != tags[i - 1])
            tags[kinds++] = tags[i];
    *out = tags;
    *count = kinds;
    return KILN_OK;
}

static kiln_status paint_regions(const kiln_soup *soup, const kiln_skin *faces,
                                 const kiln_render_stage *stage, kiln_render_mesh *mesh,
                                 kiln_error *error)
{
    const int32_t *tags = stage ? stage->tags : NULL;
    size_t kinds = stage ? stage->tag_count : 0;
    if (kinds == 0)
        KILN_TRY(list_tags(soup, faces, mesh->arena, &tags, &kinds, error));
    kiln_color_scale *scale = &mesh->scale;
    *scale = (kiln_color_scale){.paint = KILN_PAINT_KIND, .kind_count = kinds};
    snprintf(scale->title, sizeof scale->title, "region");
    memcpy(scale->kind_tags, tags,
           (kinds < KILN_MAX_KINDS ? kinds : KILN_MAX_KINDS) * sizeof *tags);
    paint_all(mesh, KILN_PAINT_KIND);
    for (size_t i = 0; i < faces->count; i++) {
        int32_t tag = tag_of(soup, &faces->data[i], i);
        const int32_t *found = bsearch(&tag, tags, kinds, sizeof *tags, compare_tags);
        for (int k = 0; k < 3; k++)
            mesh->value[i][k] = found ? (float)(found - tags) : 0.0f;
    }
    return KILN_OK;
}

/* The field's item for a corner of face `i`; SIZE_MAX when the face has none. */
static size_t field_item(const kiln_soup_field *field, const kiln_skin_face *face, size_t i, int k)
{
    if (field->where == KILN_ON_VERTEX)
        return face->v[k];
    if (field->where == KILN_ON_TET)
        return face->tet == UINT32_MAX ? SIZE_MAX : face->tet;
    return face->tet == UINT32_MAX ? i : SIZE_MAX;
}

static kiln_status paint_field(const kiln_soup_field *field, const kiln_skin *faces,
                               const kiln_render_options *options, kiln_render_mesh *mesh,
                               kiln_error *error)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < 3 * faces->count; i++) {
        size_t item = field_item(field, &faces->data[i / 3], i / 3, (int)(i % 3));
        double value = item == SIZE_MAX ? NAN : kiln_soup_field_size(field, item);
        if (isfinite(value)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    if (!(low <= high))
        return kiln_fail(error, KILN_ERR_INPUT, KILN_COLOR_OPTION, 0, -1,
                         "field '%s' has no finite value on what is shown", field->name);
    if (options->range) {
        low = options->low;
        high = options->high;
    }
    if (low == high)
        high = low + (low != 0.0 ? fabs(low) : 1.0);
    kiln_color_scale *scale = &mesh->scale;
    *scale = (kiln_color_scale){.paint = KILN_PAINT_MAP,
                                .map = KILN_MAP_FIELD,
                                .low = low,
                                .high = high,
                                .base = kiln_rgb_from_hex(bisque)};
    snprintf(scale->title, sizeof scale->title, "%s", field->name);
    for (size_t i = 0; i < 3 * faces->count; i++) {
        size_t item = field_item(field, &faces->data[i / 3], i / 3, (int)(i % 3));
        double value = item == SIZE_MAX ? NAN : kiln_soup_field_size(field, item);
        if (isfinite(value))
            mesh->value[i / 3][i % 3] = (float)((value - low) / (high - low));
        mesh->paint[i / 3] = isfinite(value) ? KILN_PAINT_MAP : KILN_PAINT_BASE;
    }
    return KILN_OK;
}

static kiln_status find_field(const kiln_soup *soup, const char *name, const kiln_soup_field **out,
                              kiln_error *error)
{
    for (size_t i = 0; i < soup->fields.count; i++)
        if (strcmp(soup->fields.data[i].name, name) == 0) {
            *out = &soup->fields.data[i];
            return KILN_OK;
        }
    char list[300] = "quality, region, none";
    size_t length = strlen(list);
    for (size_t i = 0; i < soup->fields.count && length < sizeof list - 1; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, ", %s",
                                   soup->fields.data[i].name);
    return kiln_fail(error, KILN_ERR_INPUT, KILN_COLOR_OPTION, 0, -1, "'%s' is none of: %s", name,
                     list);
}

static bool has_regions(const kiln_soup *soup)
{
    for (size_t i = 1; i < soup->tet_tags.count; i++)
        if (soup->tet_tags.data[i] != soup->tet_tags.data[0])
            return true;
    return false;
}

/* In a film a frame with one kind has the colour that this kind has in the others. */
static bool tells_apart(const kiln_render_options *options)
{
    return options->stage && options->stage->tag_count > 1;
}

kiln_status kiln_render_paint(const kiln_soup *soup, const kiln_render_options *options,
                              const kiln_skin *faces, kiln_render_mesh *mesh, kiln_error *error)
{
    const char *color = options->color;
    bool has_tets = soup->tets.count > 0;
    if (!color)
        color = options->clip && has_tets                                        ? "quality"
                : options->surfaces || has_regions(soup) || tells_apart(options) ? "region"
                                                                                 : "none";
    paint_all(mesh, KILN_PAINT_BASE);
    mesh->scale = (kiln_color_scale){.base = kiln_rgb_from_hex(clay)};
    kiln_status status = KILN_OK;
    const kiln_soup_field *field;
    if (options->range && (strcmp(color, "none") == 0 || strcmp(color, "region") == 0))
        return kiln_fail(error, KILN_ERR_INPUT, "--range", 0, -1,
                         "needs --color quality or the name of a field");
    if (strcmp(color, "none") == 0)
        return KILN_OK;
    if (strcmp(color, "quality") == 0 && !has_tets)
        return kiln_fail(error, KILN_ERR_INPUT, KILN_COLOR_OPTION, 0, -1,
                         "a surface without tets has no quality to show");
    if (strcmp(color, "quality") == 0) {
        paint_quality(soup, faces, options, mesh);
    } else if (strcmp(color, "region") == 0) {
        status = paint_regions(soup, faces, options->stage, mesh, error);
    } else {
        KILN_TRY(find_field(soup, color, &field, error));
        status = paint_field(field, faces, options, mesh, error);
    }
    if (options->title)
        snprintf(mesh->scale.title, sizeof mesh->scale.title, "%s", options->title);
    mesh->scale.factor = options->legend_factor;
    if (options->no_legend)
        mesh->scale.paint = KILN_PAINT_BASE;
    return status;
}
