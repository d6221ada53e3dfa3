#include "mesh/soup.h"

#include <stdio.h>
#include <string.h>

void kiln_soup_init(kiln_soup *soup, kiln_context *context)
{
    memset(soup, 0, sizeof *soup);
    soup->context = context;
}

void kiln_soup_free(kiln_soup *soup)
{
    kiln_context *context = soup->context;
    for (size_t i = 0; i < soup->fields.count; i++)
        kiln_array_free(context, &soup->fields.data[i].data);
    kiln_array_free(context, &soup->points);
    kiln_array_free(context, &soup->tets);
    kiln_array_free(context, &soup->triangles);
    kiln_array_free(context, &soup->edges);
    kiln_array_free(context, &soup->point_tags);
    kiln_array_free(context, &soup->tet_tags);
    kiln_array_free(context, &soup->triangle_tags);
    kiln_array_free(context, &soup->triangle_regions);
    kiln_array_free(context, &soup->edge_tags);
    kiln_array_free(context, &soup->corners);
    kiln_array_free(context, &soup->required_points);
    kiln_array_free(context, &soup->ridges);
    kiln_array_free(context, &soup->required_edges);
    kiln_array_free(context, &soup->required_triangles);
    kiln_array_free(context, &soup->fields);
    kiln_soup_init(soup, context);
}

size_t kiln_soup_count(const kiln_soup *soup, kiln_where where)
{
    switch (where) {
    case KILN_ON_VERTEX:
        return soup->points.count;
    case KILN_ON_TET:
        return soup->tets.count;
    default:
        return soup->triangles.count;
    }
}

kiln_status kiln_soup_add_field(kiln_soup *soup, const char *name, kiln_where where,
                                uint32_t components, kiln_soup_field **out, kiln_error *error)
{
    size_t values = kiln_soup_count(soup, where) * components;
    kiln_soup_field field = {.where = where, .components = components};
    snprintf(field.name, sizeof field.name, "%s", name);
    KILN_TRY(kiln_array_reserve(soup->context, &field.data, values ? values : 1, error));
    memset(field.data.data, 0, values * sizeof(double));
    field.data.count = values;
    kiln_status status = kiln_array_push(soup->context, &soup->fields, field, error);
    if (status != KILN_OK) {
        kiln_array_free(soup->context, &field.data);
        return status;
    }
    if (out)
        *out = &soup->fields.data[soup->fields.count - 1];
    return KILN_OK;
}

const kiln_soup_field *kiln_soup_find_field(const kiln_soup *soup, kiln_where where,
                                            const char *name)
{
    for (size_t i = 0; i < soup->fields.count; i++) {
        const kiln_soup_field *field = &soup->fields.data[i];
        if (field->where == where && strcmp(field->name, name) == 0)
            return field;
    }
    return NULL;
}

/* Items are `width` consecutive indices each. */
static kiln_status check_indices(const uint32_t *index, size_t items, int width, size_t limit,
                                 const char *what, const char *place, kiln_error *error)
{
    for (size_t i = 0; i < items * (size_t)width; i++)
        if (index[i] >= limit)
            return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                             "%s %zu names number %lld, but there are only %zu", what,
                             i / (size_t)width + 1, (long long)index[i] + 1, limit);
    return KILN_OK;
}

static kiln_status check_length(size_t found, size_t items, const char *what, const char *place,
                                kiln_error *error)
{
    if (found == 0 || found == items)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1, "%zu %s for %zu items", found, what,
                     items);
}

kiln_status kiln_soup_check(const kiln_soup *soup, const char *place, kiln_error *error)
{
    size_t points = soup->points.count;
    for (size_t i = 0; i < points; i++)
        if (!kiln_v3_finite(soup->points.data[i]))
            return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                             "point %zu has a coordinate that is not finite", i + 1);
    const struct {
        const void *index;
        size_t items;
        int width;
        size_t limit;
        const char *what;
    } lists[] = {
        {soup->tets.data, soup->tets.count, 4, points, "tetrahedron"},
        {soup->triangles.data, soup->triangles.count, 3, points, "triangle"},
        {soup->edges.data, soup->edges.count, 2, points, "edge"},
        {soup->corners.data, soup->corners.count, 1, points, "corner"},
        {soup->required_points.data, soup->required_points.count, 1, points, "required vertex"},
        {soup->ridges.data, soup->ridges.count, 1, soup->edges.count, "ridge"},
        {soup->required_edges.data, soup->required_edges.count, 1, soup->edges.count,
         "required edge"},
        {soup->required_triangles.data, soup->required_triangles.count, 1, soup->triangles.count,
         "required triangle"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        KILN_TRY(check_indices(lists[i].index, lists[i].items, lists[i].width, lists[i].limit,
                               lists[i].what, place, error));
    KILN_TRY(check_length(soup->point_tags.count, points, "point tags", place, error));
    KILN_TRY(check_length(soup->tet_tags.count, soup->tets.count, "tet tags", place, error));
    KILN_TRY(check_length(soup->triangle_tags.count, soup->triangles.count, "triangle tags", place,
                          error));
    KILN_TRY(check_length(soup->edge_tags.count, soup->edges.count, "edge tags", place, error));
    for (size_t i = 0; i < soup->fields.count; i++) {
        const kiln_soup_field *field = &soup->fields.data[i];
        size_t wanted = kiln_soup_count(soup, field->where) * field->components;
        if (field->data.count != wanted)
            return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                             "field '%s' has %zu values of %zu", field->name, field->data.count,
                             wanted);
    }
    return KILN_OK;
}

/* Tags of two lists one after the other; stays empty while both are. */
#define APPEND_TAGS(list, old_items, other_list, other_items, offset)                              \
    do {                                                                                           \
        if ((list)->count == 0 && (other_list)->count == 0 && (offset) == 0)                       \
            break;                                                                                 \
        KILN_TRY(kiln_array_reserve(context, (list), (old_items) + (other_items), error));         \
        for (size_t i_ = (list)->count; i_ < (old_items); i_++)                                    \
            (list)->data[i_] = 0;                                                                  \
        for (size_t i_ = 0; i_ < (other_items); i_++)                                              \
            (list)->data[(old_items) + i_] =                                                       \
                ((other_list)->count ? (other_list)->data[i_] : 0) + (offset);                     \
        (list)->count = (old_items) + (other_items);                                               \
    } while (0)

/* Items of `other` appended with every index raised by `shift`. */
#define APPEND_INDEXED(list, other_list, shift)                                                    \
    do {                                                                                           \
        size_t old_ = (list)->count, more_ = (other_list)->count;                                  \
        KILN_TRY(kiln_array_reserve(context, (list), old_ + more_, error));                        \
        if (more_)                                                                                 \
            memcpy((list)->data + old_, (other_list)->data, more_ * sizeof *(list)->data);         \
        uint32_t *index_ = (uint32_t *)((list)->data + old_);                                      \
        for (size_t i_ = 0; i_ < more_ * (sizeof *(list)->data / sizeof(uint32_t)); i_++)          \
            index_[i_] += (uint32_t)(shift);                                                       \
        (list)->count = old_ + more_;                                                              \
    } while (0)

static kiln_status append_fields(kiln_soup *soup, const kiln_soup *other, const size_t *old_count,
                                 kiln_error *error)
{
    for (size_t i = 0; i < other->fields.count; i++) {
        const kiln_soup_field *theirs = &other->fields.data[i];
        if (!kiln_soup_find_field(soup, theirs->where, theirs->name))
            KILN_TRY(kiln_soup_add_field(soup, theirs->name, theirs->where, theirs->components,
                                         NULL, error));
    }
    for (size_t i = 0; i < soup->fields.count; i++) {
        kiln_soup_field *ours = &soup->fields.data[i];
        size_t start = old_count[ours->where] * ours->components;
        size_t total = kiln_soup_count(soup, ours->where) * ours->components;
        KILN_TRY(kiln_array_reserve(soup->context, &ours->data, total, error));
        memset(ours->data.data + start, 0, (total - start) * sizeof(double));
        ours->data.count = total;
        const kiln_soup_field *theirs = kiln_soup_find_field(other, ours->where, ours->name);
        if (theirs && theirs->components == ours->components)
            memcpy(ours->data.data + start, theirs->data.data, (total - start) * sizeof(double));
    }
    return KILN_OK;
}

kiln_status kiln_soup_append(kiln_soup *soup, const kiln_soup *other, int32_t tag_offset,
                             kiln_error *error)
{
    kiln_context *context = soup->context;
    size_t points = soup->points.count, tets = soup->tets.count;
    size_t triangles = soup->triangles.count, edges = soup->edges.count;
    size_t old_count[KILN_WHERE_COUNT] = {points, tets, triangles};
    if (points + other->points.count >= UINT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "too many points");

    APPEND_TAGS(&soup->point_tags, points, &other->point_tags, other->points.count, 0);
    APPEND_TAGS(&soup->tet_tags, tets, &other->tet_tags, other->tets.count, tag_offset);
    APPEND_TAGS(&soup->triangle_tags, triangles, &other->triangle_tags, other->triangles.count, 0);
    APPEND_TAGS(&soup->edge_tags, edges, &other->edge_tags, other->edges.count, 0);
    APPEND_INDEXED(&soup->tets, &other->tets, points);
    APPEND_INDEXED(&soup->triangles, &other->triangles, points);
    APPEND_INDEXED(&soup->edges, &other->edges, points);
    APPEND_INDEXED(&soup->corners, &other->corners, points);
    APPEND_INDEXED(&soup->required_points, &other->required_points, points);
    APPEND_INDEXED(&soup->ridges, &other->ridges, edges);
    APPEND_INDEXED(&soup->required_edges, &other->required_edges, edges);
    APPEND_INDEXED(&soup->required_triangles, &other->required_triangles, triangles);
    KILN_TRY(kiln_array_reserve(context, &soup->points, points + other->points.count, error));
    for (size_t i = 0; i < other->points.count; i++)
        soup->points.data[points + i] = other->points.data[i];
    soup->points.count = points + other->points.count;
    return append_fields(soup, other, old_count, error);
}
