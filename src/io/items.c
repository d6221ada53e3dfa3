#include "io/items.h"

#include <string.h>

kiln_item_info kiln_item_about(kiln_item_kind kind)
{
    static const kiln_item_info about[KILN_ITEM_KINDS] = {
        [KILN_ITEM_TET] = {"tetrahedron", "tetrahedra", 4, true, KILN_ITEM_KINDS},
        [KILN_ITEM_TRIANGLE] = {"triangle", "triangles", 3, true, KILN_ITEM_KINDS},
        [KILN_ITEM_EDGE] = {"edge", "edges", 2, true, KILN_ITEM_KINDS},
        [KILN_ITEM_CORNER] = {"corner", "corners", 1, false, KILN_ITEM_KINDS},
        [KILN_ITEM_REQUIRED_POINT] = {"required vertex", "required vertices", 1, false,
                                      KILN_ITEM_KINDS},
        [KILN_ITEM_RIDGE] = {"ridge", "ridges", 1, false, KILN_ITEM_EDGE},
        [KILN_ITEM_REQUIRED_EDGE] = {"required edge", "required edges", 1, false, KILN_ITEM_EDGE},
        [KILN_ITEM_REQUIRED_TRIANGLE] = {"required triangle", "required triangles", 1, false,
                                         KILN_ITEM_TRIANGLE},
    };
    return about[kind];
}

size_t kiln_items_limit(const kiln_soup *soup, kiln_item_kind kind)
{
    kiln_item_kind of = kiln_item_about(kind).of;
    return of == KILN_ITEM_EDGE       ? soup->edges.count
           : of == KILN_ITEM_TRIANGLE ? soup->triangles.count
                                      : soup->points.count;
}

/* One tag for each of the `old` + `more` items; the new ones unset. */
#define EXTEND_TAGS(list, old, more)                                                               \
    do {                                                                                           \
        KILN_TRY(kiln_array_reserve(soup->context, (list), (old) + (more), error));                \
        if ((list)->count < (old))                                                                 \
            memset((list)->data + (list)->count, 0, ((old) - (list)->count) * sizeof(int32_t));    \
        (list)->count = (old) + (more);                                                            \
        *tags = (list)->data ? (list)->data + (old) : NULL;                                        \
    } while (0)

#define EXTEND_LIST(list, more)                                                                    \
    do {                                                                                           \
        size_t old_ = (list)->count;                                                               \
        if ((more) > UINT32_MAX - 1 - old_)                                                        \
            return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "too many items of one kind");    \
        KILN_TRY(kiln_array_reserve(soup->context, (list), old_ + (more), error));                 \
        *index = (list)->data ? (uint32_t *)((list)->data + old_) : NULL;                          \
        (list)->count = old_ + (more);                                                             \
    } while (0)

kiln_status kiln_items_extend(kiln_soup *soup, kiln_item_kind kind, size_t count, uint32_t **index,
                              int32_t **tags, kiln_error *error)
{
    *tags = NULL;
    switch (kind) {
    case KILN_ITEM_TET:
        EXTEND_TAGS(&soup->tet_tags, soup->tets.count, count);
        EXTEND_LIST(&soup->tets, count);
        break;
    case KILN_ITEM_TRIANGLE:
        EXTEND_TAGS(&soup->triangle_tags, soup->triangles.count, count);
        EXTEND_LIST(&soup->triangles, count);
        break;
    case KILN_ITEM_EDGE:
        EXTEND_TAGS(&soup->edge_tags, soup->edges.count, count);
        EXTEND_LIST(&soup->edges, count);
        break;
    case KILN_ITEM_CORNER:
        EXTEND_LIST(&soup->corners, count);
        break;
    case KILN_ITEM_REQUIRED_POINT:
        EXTEND_LIST(&soup->required_points, count);
        break;
    case KILN_ITEM_RIDGE:
        EXTEND_LIST(&soup->ridges, count);
        break;
    case KILN_ITEM_REQUIRED_EDGE:
        EXTEND_LIST(&soup->required_edges, count);
        break;
    default:
        EXTEND_LIST(&soup->required_triangles, count);
        break;
    }
    return KILN_OK;
}

kiln_status kiln_points_extend(kiln_soup *soup, size_t count, kiln_vec3 **points, int32_t **tags,
                               kiln_error *error)
{
    size_t old = soup->points.count;
    if (old + count > UINT32_MAX - 1)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "too many points");
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, old + count, error));
    EXTEND_TAGS(&soup->point_tags, old, count);
    soup->points.count = old + count;
    *points = soup->points.data ? soup->points.data + old : NULL;
    return KILN_OK;
}

size_t kiln_items_view(const kiln_soup *soup, kiln_item_kind kind, const uint32_t **index,
                       const int32_t **tags)
{
#define VIEW(list) (*index = (const uint32_t *)(list).data, (list).count)
    *tags = NULL;
    switch (kind) {
    case KILN_ITEM_TET:
        *tags = soup->tet_tags.count ? soup->tet_tags.data : NULL;
        return VIEW(soup->tets);
    case KILN_ITEM_TRIANGLE:
        *tags = soup->triangle_tags.count ? soup->triangle_tags.data : NULL;
        return VIEW(soup->triangles);
    case KILN_ITEM_EDGE:
        *tags = soup->edge_tags.count ? soup->edge_tags.data : NULL;
        return VIEW(soup->edges);
    case KILN_ITEM_CORNER:
        return VIEW(soup->corners);
    case KILN_ITEM_REQUIRED_POINT:
        return VIEW(soup->required_points);
    case KILN_ITEM_RIDGE:
        return VIEW(soup->ridges);
    case KILN_ITEM_REQUIRED_EDGE:
        return VIEW(soup->required_edges);
    default:
        return VIEW(soup->required_triangles);
    }
#undef VIEW
}

static bool all_zero(const int32_t *tags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tags[i])
            return false;
    return true;
}

void kiln_items_drop_zero_tags(kiln_soup *soup)
{
#define DROP(list)                                                                                 \
    if (all_zero((list)->data, (list)->count))                                                     \
    kiln_array_free(soup->context, (list))
    DROP(&soup->point_tags);
    DROP(&soup->tet_tags);
    DROP(&soup->triangle_tags);
    DROP(&soup->edge_tags);
#undef DROP
}
