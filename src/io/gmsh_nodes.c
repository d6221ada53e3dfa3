/* The sections $Entities and $Nodes. */
#include "io/gmsh_reader.h"

#include <stdlib.h>

static int by_dimension_and_tag(const void *left, const void *right)
{
    const kiln_gmsh_entity *a = left, *b = right;
    if (a->dimension != b->dimension)
        return a->dimension < b->dimension ? -1 : 1;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

/* A list of tags; *first is the first of them, 0 without any. */
static kiln_status read_tags(kiln_gmsh_reader *reader, const char *what, int32_t *first,
                             kiln_error *error)
{
    uint64_t count;
    int64_t tag;
    KILN_TRY(kiln_gmsh_size(reader, what, &count, error));
    KILN_TRY(kiln_gmsh_claim(reader, count, 1, 4, what, error));
    *first = 0;
    for (uint64_t i = 0; i < count; i++) {
        KILN_TRY(kiln_gmsh_int(reader, what, &tag, error));
        if (i == 0)
            *first = (int32_t)tag;
    }
    return KILN_OK;
}

static kiln_status read_entity(kiln_gmsh_reader *reader, int dimension, kiln_error *error)
{
    kiln_gmsh_entity entity = {.dimension = dimension};
    KILN_TRY(kiln_gmsh_int(reader, "an entity", &entity.tag, error));
    double unused;
    for (int i = 0; i < (dimension ? 6 : 3); i++)
        KILN_TRY(kiln_gmsh_double(reader, "an entity's box", &unused, error));
    KILN_TRY(read_tags(reader, "physical groups", &entity.physical, error));
    int32_t boundary;
    if (dimension)
        KILN_TRY(read_tags(reader, "bounding entities", &boundary, error));
    return kiln_array_push(reader->source->context, &reader->entities, entity, error);
}

kiln_status kiln_gmsh_read_entities(kiln_gmsh_reader *reader, kiln_error *error)
{
    uint64_t counts[4];
    for (int i = 0; i < 4; i++)
        KILN_TRY(kiln_gmsh_size(reader, "the number of entities", &counts[i], error));
    for (int i = 0; i < 4; i++) {
        KILN_TRY(kiln_gmsh_claim(reader, counts[i], i ? 9 : 5, i ? 68 : 36, "entities", error));
        for (uint64_t k = 0; k < counts[i]; k++)
            KILN_TRY(read_entity(reader, i, error));
    }
    if (reader->entities.count)
        qsort(reader->entities.data, reader->entities.count, sizeof *reader->entities.data,
              by_dimension_and_tag);
    return KILN_OK;
}

static kiln_status read_point(kiln_gmsh_reader *reader, kiln_vec3 *point, kiln_error *error)
{
    KILN_TRY(kiln_gmsh_double(reader, "a coordinate", &point->x, error));
    KILN_TRY(kiln_gmsh_double(reader, "a coordinate", &point->y, error));
    return kiln_gmsh_double(reader, "a coordinate", &point->z, error);
}

static kiln_status read_nodes_2(kiln_gmsh_reader *reader, kiln_error *error)
{
    kiln_source *source = reader->source;
    uint64_t count;
    kiln_vec3 *points;
    int32_t *tags;
    KILN_TRY(kiln_gmsh_line_count(reader, "nodes", &count, error));
    KILN_TRY(kiln_gmsh_claim(reader, count, 4, 28, "nodes", error));
    KILN_TRY(kiln_points_extend(reader->soup, count, &points, &tags, error));
    for (uint64_t i = 0; i < count; i++) {
        int64_t id;
        tags[i] = 0;
        KILN_TRY(kiln_gmsh_int(reader, "a node's number", &id, error));
        if (id < 0)
            return kiln_source_fail(source, error, "node number %lld is negative", (long long)id);
        KILN_TRY(kiln_id_map_push(&reader->nodes, source->context, (uint64_t)id, error));
        KILN_TRY(read_point(reader, &points[i], error));
    }
    return KILN_OK;
}

static kiln_status read_node_block(kiln_gmsh_reader *reader, uint64_t *left, kiln_error *error)
{
    int64_t dimension, tag, parametric;
    uint64_t count, id;
    kiln_soup *soup = reader->soup;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, soup->points.count + *left, error));
    KILN_TRY(kiln_gmsh_int(reader, "an entity's dimension", &dimension, error));
    KILN_TRY(kiln_gmsh_int(reader, "an entity", &tag, error));
    KILN_TRY(kiln_gmsh_int(reader, "the parametric flag", &parametric, error));
    if (dimension < 0 || dimension > 3 || parametric < 0 || parametric > 1)
        return kiln_source_fail(reader->source, error, "no head of a block of nodes");
    KILN_TRY(kiln_gmsh_block_count(reader, "nodes", left, &count, error));
    int extra = parametric ? (int)dimension : 0;
    KILN_TRY(
        kiln_gmsh_claim(reader, count, 4 + (size_t)extra, 32 + 8 * (size_t)extra, "nodes", error));
    for (uint64_t i = 0; i < count; i++) {
        KILN_TRY(kiln_gmsh_size(reader, "a node's number", &id, error));
        if (id > INT64_MAX)
            return kiln_source_fail(reader->source, error, "a node's number is negative");
        KILN_TRY(kiln_id_map_push(&reader->nodes, reader->source->context, id, error));
    }
    kiln_vec3 *points;
    int32_t *tags;
    double unused;
    KILN_TRY(kiln_points_extend(reader->soup, count, &points, &tags, error));
    for (uint64_t i = 0; i < count; i++) {
        tags[i] = 0;
        KILN_TRY(read_point(reader, &points[i], error));
        for (int k = 0; k < extra; k++)
            KILN_TRY(kiln_gmsh_double(reader, "a parameter", &unused, error));
    }
    return KILN_OK;
}

kiln_status kiln_gmsh_read_nodes(kiln_gmsh_reader *reader, kiln_error *error)
{
    if (reader->nodes_seen)
        return kiln_source_fail(reader->source, error, "a second $Nodes section");
    reader->nodes_seen = true;
    KILN_TRY(reader->version4 ? kiln_gmsh_blocks(reader, "nodes", 4, 32, read_node_block, error)
                              : read_nodes_2(reader, error));
    uint64_t twice;
    KILN_TRY(kiln_id_map_finish(&reader->nodes, reader->source->context, &twice, error));
    if (twice != UINT64_MAX)
        return kiln_source_fail(reader->source, error, "two nodes have the number %llu",
                                (unsigned long long)twice);
    return KILN_OK;
}
