/* The lists of a soup seen alike: so many vertex (or edge, or triangle) numbers per item, with or
 * without a tag. Readers and writers loop over kinds instead of repeating themselves. */
#ifndef KILN_IO_ITEMS_H
#define KILN_IO_ITEMS_H

#include "mesh/soup.h"

#include <stdbool.h>

typedef enum kiln_item_kind {
    KILN_ITEM_TET,
    KILN_ITEM_TRIANGLE,
    KILN_ITEM_EDGE,
    KILN_ITEM_CORNER,
    KILN_ITEM_REQUIRED_POINT,
    KILN_ITEM_RIDGE,
    KILN_ITEM_REQUIRED_EDGE,
    KILN_ITEM_REQUIRED_TRIANGLE,
    KILN_ITEM_KINDS
} kiln_item_kind;

typedef struct kiln_item_info {
    const char *one, *many; /* "tetrahedron", "tetrahedra" */
    int width;              /* numbers per item */
    bool tagged;
    kiln_item_kind of; /* what the numbers count: edges, triangles; points: KILN_ITEM_KINDS */
} kiln_item_info;

kiln_item_info kiln_item_about(kiln_item_kind kind);

/* Appends `count` items, contents unset; index[item][width] and tags[item] (NULL if the kind has
 * none) point at them. Tags of earlier items that had none become 0. */
kiln_status kiln_items_extend(kiln_soup *soup, kiln_item_kind kind, size_t count, uint32_t **index,
                              int32_t **tags, kiln_error *error);

/* The items there are; *tags is NULL when all are 0. */
size_t kiln_items_view(const kiln_soup *soup, kiln_item_kind kind, const uint32_t **index,
                       const int32_t **tags);

/* How many things the numbers of a kind can name. */
size_t kiln_items_limit(const kiln_soup *soup, kiln_item_kind kind);

/* The same as kiln_items_extend for points. */
kiln_status kiln_points_extend(kiln_soup *soup, size_t count, kiln_vec3 **points, int32_t **tags,
                               kiln_error *error);

/* Frees lists of tags that are all 0. */
void kiln_items_drop_zero_tags(kiln_soup *soup);

#endif
