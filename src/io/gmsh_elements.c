/* The section $Elements. */
#include "io/gmsh_reader.h"

enum { TYPE_LINE = 1, TYPE_TRIANGLE = 2, TYPE_TET = 4, TYPE_POINT = 15, MAX_NODES = 1000 };

/* Nodes of Gmsh's element types 1 to 31; 0 elsewhere. */
static int nodes_of_type(int64_t type)
{
    static const int nodes[] = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
    int64_t known = sizeof nodes / sizeof nodes[0];
    return type > 0 && type < known ? nodes[type] : type == 92 ? 64 : type == 93 ? 125 : 0;
}

static bool is_higher_tet(int64_t type)
{
    return type == 11 || (type >= 29 && type <= 31) || (type >= 71 && type <= 75);
}

/* A run of elements of one type. In 2.2 each has its own tags, in 4.1 they share the entity's. */
typedef struct block {
    int64_t type;
    uint64_t count;
    int64_t tag_count; /* of each element, 2.2 */
    int32_t physical;  /* of all, 4.1 */
    int nodes;
} block;

static kiln_status set_type(kiln_gmsh_reader *reader, block *now, int64_t type, kiln_error *error)
{
    now->type = type;
    now->nodes = nodes_of_type(type);
    if (is_higher_tet(type))
        return kiln_source_fail(reader->source, error,
                                "tetrahedra of higher order (type %lld); only linear ones can be "
                                "read",
                                (long long)type);
    if (!now->nodes)
        return kiln_source_fail(reader->source, error, "unknown element type %lld",
                                (long long)type);
    return KILN_OK;
}

static bool kind_of_type(int64_t type, kiln_item_kind *kind)
{
    *kind = type == TYPE_TET        ? KILN_ITEM_TET
            : type == TYPE_TRIANGLE ? KILN_ITEM_TRIANGLE
                                    : KILN_ITEM_EDGE;
    return type == TYPE_TET || type == TYPE_TRIANGLE || type == TYPE_LINE;
}

static kiln_status fail_node(kiln_gmsh_reader *reader, const char *place, int64_t element,
                             int64_t node, kiln_error *error)
{
    return kiln_source_fail_at(reader->source, place, error,
                               "element %lld names node %lld, which does not exist",
                               (long long)element, (long long)node);
}

/* How binary elements lie in the file. */
typedef struct layout {
    const char *at;
    size_t step;
    size_t nodes_at;    /* bytes from the element's start; its number is at 0 */
    size_t physical_at; /* 0: none */
    bool wide;          /* 64-bit numbers */
    bool swap;
} layout;

KILN_INLINE int64_t load_number(const char *bytes, bool wide, bool swap)
{
    return wide ? (int64_t)kiln_load_u64(bytes, swap)
                : (int64_t)(int32_t)kiln_load_u32(bytes, swap);
}

/* Converts items until a node is unknown; returns how many were fine. Inlined with constant width,
 * encoding and kind of map: this loop decides how fast large files load. */
KILN_INLINE size_t convert_items(const kiln_id_map *map, layout lay, size_t count, int width,
                                 bool wide, bool swap, bool shift, uint32_t *index)
{
    uint64_t first = map->first, range = map->range;
    for (size_t i = 0; i < count; i++) {
        const char *node = lay.at + i * lay.step + lay.nodes_at;
        uint32_t bad = 0;
        for (int j = 0; j < width; j++) {
            int64_t id = load_number(node + (size_t)j * (wide ? 8 : 4), wide, swap);
            uint64_t offset = (uint64_t)id - first;
            uint32_t found = shift ? (uint32_t)offset : kiln_id_map_find(map, (uint64_t)id);
            bad |= shift ? offset >= range : found == KILN_ID_NONE;
            index[i * (size_t)width + (size_t)j] = found;
        }
        if (KILN_UNLIKELY(bad))
            return i;
    }
    return count;
}

static size_t convert(const kiln_id_map *map, layout lay, size_t count, int width, uint32_t *index)
{
    bool shift = kiln_id_map_is_shift(map);
    if (!lay.wide && !lay.swap && width == 4)
        return shift ? convert_items(map, lay, count, 4, false, false, true, index)
                     : convert_items(map, lay, count, 4, false, false, false, index);
    if (lay.wide && !lay.swap && width == 4)
        return shift ? convert_items(map, lay, count, 4, true, false, true, index)
                     : convert_items(map, lay, count, 4, true, false, false, index);
    return convert_items(map, lay, count, width, lay.wide, lay.swap, false, index);
}

/* The numbers of the elements themselves, for $ElementData. */
static kiln_status keep_numbers(kiln_gmsh_reader *reader, kiln_item_kind kind, layout lay,
                                uint64_t count, kiln_error *error)
{
    kiln_context *context = reader->source->context;
    kiln_id_map *map = &reader->items[kind];
    int64_t first = count ? load_number(lay.at, lay.wide, lay.swap) : 0;
    bool gap = false;
    int64_t lowest = first;
    for (uint64_t i = 0; i < count; i++) {
        int64_t id = load_number(lay.at + i * lay.step, lay.wide, lay.swap);
        gap |= (uint64_t)id != (uint64_t)first + i;
        lowest = id < lowest ? id : lowest;
    }
    if (lowest < 0)
        return kiln_source_fail_at(reader->source, lay.at, error,
                                   "an element of this block has the number %lld",
                                   (long long)lowest);
    if (!gap)
        return kiln_id_map_push_run(map, context, (uint64_t)first, (uint32_t)count, error);
    for (uint64_t i = 0; i < count; i++)
        KILN_TRY(kiln_id_map_push(
            map, context, (uint64_t)load_number(lay.at + i * lay.step, lay.wide, lay.swap), error));
    return KILN_OK;
}

static kiln_status read_binary_points(kiln_gmsh_reader *reader, const block *now, layout lay,
                                      kiln_error *error)
{
    for (uint64_t i = 0; i < now->count; i++, lay.at += lay.step) {
        int64_t node = load_number(lay.at + lay.nodes_at, lay.wide, lay.swap);
        uint32_t point = kiln_id_map_find(&reader->nodes, (uint64_t)node);
        if (point == KILN_ID_NONE)
            return fail_node(reader, lay.at, load_number(lay.at, lay.wide, lay.swap), node, error);
        int32_t tag = lay.physical_at ? (int32_t)kiln_load_u32(lay.at + lay.physical_at, lay.swap)
                                      : now->physical;
        if (tag)
            reader->soup->point_tags.data[point] = tag;
    }
    return KILN_OK;
}

static kiln_status read_binary_block(kiln_gmsh_reader *reader, const block *now, kiln_error *error)
{
    kiln_source *source = reader->source;
    bool wide = reader->version4;
    size_t number = wide ? 8 : 4, head = number + 4 * (size_t)now->tag_count;
    layout lay = {.step = head + number * (size_t)now->nodes,
                  .nodes_at = head,
                  .physical_at = now->tag_count ? number : 0,
                  .wide = wide,
                  .swap = source->swap};
    KILN_TRY(kiln_source_claim(source, now->count, lay.step, "elements", error));
    KILN_TRY(kiln_source_bytes(source, now->count * lay.step, "the elements", &lay.at, error));
    if (now->type == TYPE_POINT)
        return read_binary_points(reader, now, lay, error);
    kiln_item_kind kind;
    if (!kind_of_type(now->type, &kind)) {
        reader->ignored += now->count;
        return KILN_OK;
    }
    uint32_t *index;
    int32_t *tags;
    KILN_TRY(kiln_items_extend(reader->soup, kind, now->count, &index, &tags, error));
    size_t fine = convert(&reader->nodes, lay, now->count, now->nodes, index);
    if (fine < now->count) {
        const char *place = lay.at + fine * lay.step;
        int64_t node = 0;
        for (int j = 0; j < now->nodes; j++) {
            node = load_number(place + head + (size_t)j * number, wide, lay.swap);
            if (kiln_id_map_find(&reader->nodes, (uint64_t)node) == KILN_ID_NONE)
                break;
        }
        return fail_node(reader, place, load_number(place, wide, lay.swap), node, error);
    }
    for (size_t i = 0; i < now->count; i++)
        tags[i] = lay.physical_at
                      ? (int32_t)kiln_load_u32(lay.at + i * lay.step + lay.physical_at, lay.swap)
                      : now->physical;
    return keep_numbers(reader, kind, lay, now->count, error);
}

/* One element in text, from its nodes on. */
static kiln_status read_text_element(kiln_gmsh_reader *reader, const block *now, int64_t id,
                                     kiln_error *error)
{
    kiln_source *source = reader->source;
    kiln_item_kind kind;
    bool kept = kind_of_type(now->type, &kind);
    uint32_t points[MAX_NODES];
    for (int j = 0; j < now->nodes; j++) {
        int64_t node;
        KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, "a node's number", &node, error));
        points[j] = kiln_id_map_find(&reader->nodes, (uint64_t)node);
        if (points[j] == KILN_ID_NONE)
            return fail_node(reader, source->at, id, node, error);
    }
    if (now->type == TYPE_POINT) {
        if (now->physical)
            reader->soup->point_tags.data[points[0]] = now->physical;
        return KILN_OK;
    }
    if (!kept) {
        reader->ignored++;
        return KILN_OK;
    }
    uint32_t *index;
    int32_t *tags;
    KILN_TRY(kiln_items_extend(reader->soup, kind, 1, &index, &tags, error));
    memcpy(index, points, (size_t)now->nodes * sizeof *index);
    tags[0] = now->physical;
    return kiln_id_map_push(&reader->items[kind], source->context, (uint64_t)id, error);
}

static kiln_status read_text_2(kiln_gmsh_reader *reader, uint64_t total, kiln_error *error)
{
    kiln_source *source = reader->source;
    for (uint64_t i = 0; i < total; i++) {
        block now = {.count = 1};
        int64_t id, type, tag;
        KILN_TRY(kiln_source_integer(source, 0, INT32_MAX, "an element's number", &id, error));
        KILN_TRY(kiln_gmsh_int(reader, "an element's type", &type, error));
        KILN_TRY(set_type(reader, &now, type, error));
        KILN_TRY(kiln_source_integer(source, 0, 1000, "the number of tags", &now.tag_count, error));
        for (int64_t k = 0; k < now.tag_count; k++) {
            KILN_TRY(kiln_gmsh_int(reader, "a tag", &tag, error));
            if (k == 0)
                now.physical = (int32_t)tag;
        }
        KILN_TRY(read_text_element(reader, &now, id, error));
    }
    return KILN_OK;
}

static kiln_status read_binary_2(kiln_gmsh_reader *reader, uint64_t total, kiln_error *error)
{
    kiln_source *source = reader->source;
    for (uint64_t left = total; left;) {
        block now = {0};
        int64_t type, count;
        KILN_TRY(kiln_gmsh_int(reader, "an element type", &type, error));
        KILN_TRY(set_type(reader, &now, type, error));
        KILN_TRY(kiln_gmsh_int(reader, "the elements of a block", &count, error));
        KILN_TRY(kiln_gmsh_int(reader, "the number of tags", &now.tag_count, error));
        if (count < 1 || (uint64_t)count > left)
            return kiln_source_fail(source, error,
                                    "a block of %lld elements where %llu are left to come",
                                    (long long)count, (unsigned long long)left);
        if (now.tag_count < 0 || now.tag_count > 1000)
            return kiln_source_fail(source, error, "%lld tags per element",
                                    (long long)now.tag_count);
        now.count = (uint64_t)count;
        left -= now.count;
        KILN_TRY(read_binary_block(reader, &now, error));
    }
    return KILN_OK;
}

static int32_t physical_of(const kiln_gmsh_reader *reader, int64_t dimension, int64_t tag)
{
    size_t low = 0, high = reader->entities.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        kiln_gmsh_entity entity = reader->entities.data[middle];
        if (entity.dimension == dimension && entity.tag == tag)
            return entity.physical;
        if (entity.dimension < dimension || (entity.dimension == dimension && entity.tag < tag))
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static kiln_status read_block_4(kiln_gmsh_reader *reader, uint64_t *left, kiln_error *error)
{
    kiln_source *source = reader->source;
    block now = {0};
    int64_t dimension, tag, type, id;
    KILN_TRY(kiln_gmsh_int(reader, "an entity's dimension", &dimension, error));
    KILN_TRY(kiln_gmsh_int(reader, "an entity", &tag, error));
    KILN_TRY(kiln_gmsh_int(reader, "an element type", &type, error));
    KILN_TRY(set_type(reader, &now, type, error));
    KILN_TRY(kiln_gmsh_block_count(reader, "elements", left, &now.count, error));
    now.physical = physical_of(reader, dimension, tag);
    if (source->binary)
        return read_binary_block(reader, &now, error);
    KILN_TRY(kiln_source_claim(source, now.count, 2 * ((size_t)now.nodes + 1), "elements", error));
    for (uint64_t i = 0; i < now.count; i++) {
        KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, "an element's number", &id, error));
        KILN_TRY(read_text_element(reader, &now, id, error));
    }
    return KILN_OK;
}

kiln_status kiln_gmsh_read_elements(kiln_gmsh_reader *reader, kiln_error *error)
{
    if (!reader->nodes_seen)
        return kiln_source_fail(reader->source, error, "$Elements comes before $Nodes");
    if (reader->elements_seen)
        return kiln_source_fail(reader->source, error, "a second $Elements section");
    reader->elements_seen = true;
    if (reader->version4)
        return kiln_gmsh_blocks(reader, "elements", 2, 16, read_block_4, error);
    uint64_t total;
    KILN_TRY(kiln_gmsh_line_count(reader, "elements", &total, error));
    KILN_TRY(kiln_gmsh_claim(reader, total, 4, 8, "elements", error));
    return reader->source->binary ? read_binary_2(reader, total, error)
                                  : read_text_2(reader, total, error);
}
