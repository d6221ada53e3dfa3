#include "io/tetgen.h"
#include "io/items.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static const char *const suffixes[KILN_TETGEN_PARTS] = {".node", ".ele", ".face", ".edge"};
static const char attributes_name[] = "attributes";
enum { MAX_ATTRIBUTES = 1000 };

static kiln_status skip_line(kiln_source *source, kiln_error *error)
{
    kiln_text rest;
    if (!kiln_source_line(source, &rest) && source->end != source->begin &&
        source->end[-1] != '\n' && source->end[-1] != '\r')
        return kiln_source_fail(source, error, "the file stops within a line");
    return KILN_OK;
}

/* The counts of the first line; those that are absent are 0. */
static kiln_status read_head(kiln_source *source, const char *what, int64_t *numbers, int count,
                             kiln_error *error)
{
    source->comment = '#';
    KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, what, &numbers[0], error));
    for (int i = 1; i < count; i++) {
        numbers[i] = 0;
        if (kiln_source_skip_blank(source))
            KILN_TRY(kiln_source_integer(source, 0, MAX_ATTRIBUTES, what, &numbers[i], error));
    }
    return skip_line(source, error);
}

static kiln_status read_tag(kiln_source *source, int32_t *tag, kiln_error *error)
{
    int64_t found;
    KILN_TRY(kiln_source_integer(source, INT32_MIN, INT32_MAX, "a marker", &found, error));
    *tag = (int32_t)found;
    return KILN_OK;
}

/* The number that opens each line counts up from the first one. */
static kiln_status read_number(kiln_source *source, int64_t wanted, kiln_error *error)
{
    int64_t number;
    KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, "an item's number", &number, error));
    if (number != wanted)
        return kiln_source_fail(source, error, "item number %lld where %lld was expected",
                                (long long)number, (long long)wanted);
    return KILN_OK;
}

static kiln_status add_attributes(kiln_soup *soup, kiln_where where, int64_t components,
                                  double **values, kiln_error *error)
{
    kiln_soup_field *field;
    *values = NULL;
    if (!components || !kiln_soup_count(soup, where))
        return KILN_OK;
    KILN_TRY(
        kiln_soup_add_field(soup, attributes_name, where, (uint32_t)components, &field, error));
    *values = field->data.data;
    return KILN_OK;
}

static kiln_status read_values(kiln_source *source, double *values, size_t item, int64_t count,
                               kiln_error *error)
{
    for (int64_t k = 0; k < count; k++)
        KILN_TRY(kiln_source_double(source, "an attribute",
                                    &values[item * (size_t)count + (size_t)k], error));
    return KILN_OK;
}

static kiln_status read_points(kiln_source *source, kiln_soup *soup, int64_t *base,
                               kiln_error *error)
{
    int64_t head[4];
    KILN_TRY(read_head(source, "the number of points", head, 4, error));
    if (head[1] != 3 && head[1] != 0)
        return kiln_source_fail(source, error, "the dimension is %lld, only 3 can be read",
                                (long long)head[1]);
    int64_t attributes = head[2];
    KILN_TRY(
        kiln_source_claim(source, (uint64_t)head[0], 8 + 2 * (size_t)attributes, "points", error));
    size_t count = (size_t)head[0];
    kiln_vec3 *points;
    int32_t *tags;
    double *values;
    KILN_TRY(kiln_points_extend(soup, count, &points, &tags, error));
    KILN_TRY(add_attributes(soup, KILN_ON_VERTEX, attributes, &values, error));
    *base = 1;
    for (size_t i = 0; i < count; i++) {
        tags[i] = 0;
        if (i == 0)
            KILN_TRY(kiln_source_integer(source, 0, 1, "the first point's number", base, error));
        else
            KILN_TRY(read_number(source, *base + (int64_t)i, error));
        KILN_TRY(kiln_source_point(source, &points[i], error));
        KILN_TRY(read_values(source, values, i, attributes, error));
        if (head[3])
            KILN_TRY(read_tag(source, &tags[i], error));
        KILN_TRY(skip_line(source, error));
    }
    return KILN_OK;
}

/* A lone attribute that is an integer on all tets is what the soup calls a tag. */
static void attributes_to_tags(kiln_soup *soup)
{
    const kiln_soup_field *field = kiln_soup_find_field(soup, KILN_ON_TET, attributes_name);
    if (!field || field->components != 1)
        return;
    for (size_t i = 0; i < field->data.count; i++) {
        double value = field->data.data[i];
        if (!(value >= INT32_MIN && value <= INT32_MAX) || value != (double)(int32_t)value)
            return;
    }
    for (size_t i = 0; i < field->data.count; i++)
        soup->tet_tags.data[i] = (int32_t)field->data.data[i];
    kiln_array_free(soup->context, &soup->fields.data[soup->fields.count - 1].data);
    soup->fields.count--;
}

static kiln_status read_items(kiln_source *source, kiln_soup *soup, kiln_item_kind kind,
                              int64_t base, kiln_error *error)
{
    kiln_item_info about = kiln_item_about(kind);
    bool tets = kind == KILN_ITEM_TET;
    int64_t head[3] = {0};
    KILN_TRY(read_head(source, about.many, head, tets ? 3 : 2, error));
    if (tets && head[1] != 4 && head[1] != 0)
        return kiln_source_fail(source, error,
                                "tetrahedra of %lld nodes; only linear ones can be read",
                                (long long)head[1]);
    int64_t attributes = tets ? head[2] : 0;
    bool marked = !tets && head[1];
    size_t width = (size_t)about.width;
    KILN_TRY(kiln_source_claim(source, (uint64_t)head[0], 2 * (1 + width + (size_t)attributes),
                               about.many, error));
    size_t count = (size_t)head[0];
    uint32_t *index;
    int32_t *tags;
    double *values;
    KILN_TRY(kiln_items_extend(soup, kind, count, &index, &tags, error));
    KILN_TRY(add_attributes(soup, KILN_ON_TET, attributes, &values, error));
    int64_t limit = base + (int64_t)soup->points.count - 1, number;
    for (size_t i = 0; i < count; i++) {
        tags[i] = 0;
        KILN_TRY(read_number(source, base + (int64_t)i, error));
        for (size_t j = 0; j < width; j++) {
            KILN_TRY(kiln_source_integer(source, base, limit, about.one, &number, error));
            index[i * width + j] = (uint32_t)(number - base);
        }
        KILN_TRY(read_values(source, values, i, attributes, error));
        if (marked)
            KILN_TRY(read_tag(source, &tags[i], error));
        KILN_TRY(skip_line(source, error));
    }
    if (tets)
        attributes_to_tags(soup);
    return KILN_OK;
}

kiln_status kiln_tetgen_read_parts(kiln_source *parts[KILN_TETGEN_PARTS], kiln_soup *soup,
                                   kiln_error *error)
{
    static const kiln_item_kind kinds[KILN_TETGEN_PARTS] = {
        [KILN_TETGEN_ELE] = KILN_ITEM_TET,
        [KILN_TETGEN_FACE] = KILN_ITEM_TRIANGLE,
        [KILN_TETGEN_EDGE] = KILN_ITEM_EDGE,
    };
    int64_t base;
    KILN_TRY(read_points(parts[KILN_TETGEN_NODE], soup, &base, error));
    for (int i = KILN_TETGEN_ELE; i < KILN_TETGEN_PARTS; i++)
        if (parts[i])
            KILN_TRY(read_items(parts[i], soup, kinds[i], base, error));
    return KILN_OK;
}

/* The paths of a set, in one block. */
typedef struct set_paths {
    char *path[KILN_TETGEN_PARTS];
    size_t size;
} set_paths;

static kiln_status make_paths(kiln_context *context, const char *path, set_paths *set,
                              kiln_error *error)
{
    size_t size = strlen(path), stem = size;
    for (int i = 0; i < KILN_TETGEN_PARTS && stem == size; i++) {
        size_t length = strlen(suffixes[i]);
        if (size > length &&
            kiln_text_is_nocase((kiln_text){path + size - length, length}, suffixes[i]))
            stem = size - length;
    }
    size_t each = stem + 6;
    set->size = each * KILN_TETGEN_PARTS;
    set->path[0] = kiln_resize(context, NULL, 0, set->size);
    if (!set->path[0])
        return kiln_fail_memory(error, set->size);
    for (int i = 0; i < KILN_TETGEN_PARTS; i++) {
        set->path[i] = set->path[0] + (size_t)i * each;
        memcpy(set->path[i], path, stem);
        memcpy(set->path[i] + stem, suffixes[i], strlen(suffixes[i]) + 1);
    }
    return KILN_OK;
}

static kiln_status read_set(kiln_context *context, const set_paths *set, kiln_soup *soup,
                            kiln_error *error)
{
    kiln_source sources[KILN_TETGEN_PARTS], *parts[KILN_TETGEN_PARTS] = {NULL};
    kiln_status status = KILN_OK;
    for (int i = 0; i < KILN_TETGEN_PARTS && status == KILN_OK; i++) {
        if (i != KILN_TETGEN_NODE && access(set->path[i], F_OK) != 0)
            continue;
        status = kiln_source_open(&sources[i], context, set->path[i], error);
        if (status == KILN_OK)
            parts[i] = &sources[i];
    }
    if (status == KILN_OK)
        status = kiln_tetgen_read_parts(parts, soup, error);
    for (int i = 0; i < KILN_TETGEN_PARTS; i++)
        if (parts[i])
            kiln_source_close(parts[i]);
    return status;
}

kiln_status kiln_tetgen_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    if (!source->in_file) {
        kiln_source *parts[KILN_TETGEN_PARTS] = {source};
        return kiln_tetgen_read_parts(parts, soup, error);
    }
    set_paths set;
    KILN_TRY(make_paths(source->context, source->name, &set, error));
    kiln_status status = read_set(source->context, &set, soup, error);
    kiln_release(source->context, set.path[0], set.size);
    return status;
}

static void put_values(kiln_sink *sink, const kiln_soup_field *field, size_t item)
{
    for (uint32_t c = 0; field && c < field->components; c++) {
        kiln_sink_char(sink, ' ');
        kiln_sink_double(sink, field->data.data[item * field->components + c]);
    }
}

static void put_points(kiln_sink *sink, const kiln_soup *soup)
{
    const kiln_soup_field *field = kiln_soup_find_field(soup, KILN_ON_VERTEX, attributes_name);
    bool tagged = soup->point_tags.count;
    kiln_sink_format(sink, "%zu 3 %u %d\n", soup->points.count, field ? field->components : 0,
                     tagged);
    for (size_t i = 0; i < soup->points.count; i++) {
        double xyz[3] = {soup->points.data[i].x, soup->points.data[i].y, soup->points.data[i].z};
        kiln_sink_integer(sink, (int64_t)i + 1);
        for (int j = 0; j < 3; j++) {
            kiln_sink_char(sink, ' ');
            kiln_sink_double(sink, xyz[j]);
        }
        put_values(sink, field, i);
        if (tagged) {
            kiln_sink_char(sink, ' ');
            kiln_sink_integer(sink, soup->point_tags.data[i]);
        }
        kiln_sink_char(sink, '\n');
    }
}

static void put_items(kiln_sink *sink, const kiln_soup *soup, kiln_item_kind kind)
{
    const uint32_t *index;
    const int32_t *tags;
    size_t count = kiln_items_view(soup, kind, &index, &tags);
    size_t width = (size_t)kiln_item_about(kind).width;
    const kiln_soup_field *field = NULL;
    if (kind == KILN_ITEM_TET && !tags)
        field = kiln_soup_find_field(soup, KILN_ON_TET, attributes_name);
    if (kind == KILN_ITEM_TET)
        kiln_sink_format(sink, "%zu 4 %u\n", count, tags ? 1 : field ? field->components : 0);
    else
        kiln_sink_format(sink, "%zu %d\n", count, tags != NULL);
    for (size_t i = 0; i < count; i++) {
        kiln_sink_integer(sink, (int64_t)i + 1);
        for (size_t j = 0; j < width; j++) {
            kiln_sink_char(sink, ' ');
            kiln_sink_integer(sink, (int64_t)index[i * width + j] + 1);
        }
        put_values(sink, field, i);
        if (tags) {
            kiln_sink_char(sink, ' ');
            kiln_sink_integer(sink, tags[i]);
        }
        kiln_sink_char(sink, '\n');
    }
}

/* All four are complete on disk before the first gets its name. */
static kiln_status write_set(kiln_context *context, const set_paths *set, const kiln_soup *soup,
                             kiln_error *error)
{
    kiln_sink sinks[KILN_TETGEN_PARTS] = {{0}};
    kiln_status status = KILN_OK;
    for (int i = 0; i < KILN_TETGEN_PARTS && status == KILN_OK; i++)
        status = kiln_sink_open(&sinks[i], context, set->path[i], error);
    if (status == KILN_OK) {
        put_points(&sinks[KILN_TETGEN_NODE], soup);
        put_items(&sinks[KILN_TETGEN_ELE], soup, KILN_ITEM_TET);
        put_items(&sinks[KILN_TETGEN_FACE], soup, KILN_ITEM_TRIANGLE);
        put_items(&sinks[KILN_TETGEN_EDGE], soup, KILN_ITEM_EDGE);
    }
    for (int i = 0; i < KILN_TETGEN_PARTS && status == KILN_OK; i++)
        status = kiln_sink_finish(&sinks[i], error);
    for (int i = 0; i < KILN_TETGEN_PARTS && status == KILN_OK; i++)
        status = kiln_sink_publish(&sinks[i], error);
    for (int i = 0; i < KILN_TETGEN_PARTS; i++)
        kiln_sink_discard(&sinks[i]);
    return status;
}

kiln_status kiln_tetgen_write(kiln_context *context, const char *path, kiln_encoding encoding,
                              const kiln_soup *soup, kiln_error *error)
{
    (void)encoding;
    set_paths set;
    KILN_TRY(make_paths(context, path, &set, error));
    kiln_status status = write_set(context, &set, soup, error);
    kiln_release(context, set.path[0], set.size);
    return status;
}
