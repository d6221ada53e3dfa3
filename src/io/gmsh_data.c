/* The sections $NodeData and $ElementData: one field each. */
#include "io/gmsh_reader.h"

#include <stdio.h>

enum { MAX_COMPONENTS = 1000, MAX_TAGS = 1000, MAX_GROWTH = 32 };

typedef struct head {
    char name[KILN_NAME_SIZE];
    uint32_t components;
    uint64_t rows;
} head;

/* A string tag on its own line, in quotes or not. */
static kiln_status read_string(kiln_gmsh_reader *reader, char *name, kiln_error *error)
{
    kiln_text line;
    if (!kiln_source_skip_space(reader->source) || !kiln_source_line(reader->source, &line))
        return kiln_source_fail(reader->source, error, "the file ends where a name was expected");
    while (line.size && (unsigned char)line.data[line.size - 1] <= ' ')
        line.size--;
    if (line.size >= 2 && line.data[0] == '"' && line.data[line.size - 1] == '"') {
        line.data++;
        line.size -= 2;
    }
    size_t size = line.size < KILN_NAME_SIZE - 1 ? line.size : KILN_NAME_SIZE - 1;
    memcpy(name, line.data, size);
    name[size] = 0;
    return KILN_OK;
}

static kiln_status read_head(kiln_gmsh_reader *reader, head *found, kiln_error *error)
{
    kiln_source *source = reader->source;
    int64_t strings, reals, integers, value[3] = {0};
    double real;
    char unused[KILN_NAME_SIZE];
    *found = (head){{0}, 0, 0};
    KILN_TRY(kiln_source_integer(source, 0, MAX_TAGS, "the number of names", &strings, error));
    KILN_TRY(kiln_gmsh_end_line(reader, error));
    for (int64_t i = 0; i < strings; i++)
        KILN_TRY(read_string(reader, i ? unused : found->name, error));
    if (!found->name[0])
        snprintf(found->name, sizeof found->name, "data");
    KILN_TRY(kiln_source_integer(source, 0, MAX_TAGS, "the number of reals", &reals, error));
    for (int64_t i = 0; i < reals; i++)
        KILN_TRY(kiln_source_double(source, "a real tag", &real, error));
    KILN_TRY(kiln_source_integer(source, 3, MAX_TAGS, "the number of integers", &integers, error));
    for (int64_t i = 0; i < integers; i++) {
        int64_t one;
        KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, "an integer tag", &one, error));
        if (i < 3)
            value[i] = one;
    }
    KILN_TRY(kiln_gmsh_end_line(reader, error));
    if (value[1] < 1 || value[1] > MAX_COMPONENTS)
        return kiln_source_fail(source, error, "field '%s' has %lld components", found->name,
                                (long long)value[1]);
    found->components = (uint32_t)value[1];
    found->rows = (uint64_t)value[2];
    size_t width = found->components;
    return kiln_gmsh_claim(reader, found->rows, 1 + width, 4 + 8 * width, "rows", error);
}

/* The field of this name; a later time step overwrites an earlier one. */
static kiln_status find_field(kiln_gmsh_reader *reader, const head *now, kiln_where where,
                              size_t *field, kiln_error *error)
{
    kiln_soup *soup = reader->soup;
    for (*field = 0; *field < soup->fields.count; ++*field) {
        const kiln_soup_field *old = &soup->fields.data[*field];
        if (old->where != where || strcmp(old->name, now->name) != 0)
            continue;
        if (old->components == now->components)
            return KILN_OK;
        return kiln_source_fail(reader->source, error,
                                "field '%s' comes again with %u components instead of %u",
                                now->name, now->components, old->components);
    }
    /* A field that covers one node of many is as large as one that covers all, so rows do not bound
     * it; what no honest file reaches does. */
    uint64_t size = (uint64_t)(reader->source->end - reader->source->begin);
    reader->field_bytes += (uint64_t)kiln_soup_count(soup, where) * now->components * 8;
    if (reader->field_bytes > MAX_GROWTH * size)
        return kiln_source_fail(reader->source, error,
                                "the fields would take more than %d times the file's size",
                                MAX_GROWTH);
    return kiln_soup_add_field(soup, now->name, where, now->components, NULL, error);
}

static kiln_status finish_element_numbers(kiln_gmsh_reader *reader, kiln_error *error)
{
    if (!reader->elements_seen)
        return kiln_source_fail(reader->source, error, "$ElementData comes before $Elements");
    uint64_t twice;
    for (int i = 0; i <= KILN_ITEM_EDGE && !reader->items_finished; i++)
        KILN_TRY(kiln_id_map_finish(&reader->items[i], reader->source->context, &twice, error));
    reader->items_finished = true;
    return KILN_OK;
}

/* Which list an item number belongs to and where in it; false: to none that is kept. */
static bool find_item(const kiln_gmsh_reader *reader, bool on_nodes, uint64_t id, kiln_where *where,
                      uint32_t *item)
{
    *where = on_nodes ? KILN_ON_VERTEX : KILN_ON_TET;
    *item = kiln_id_map_find(on_nodes ? &reader->nodes : &reader->items[KILN_ITEM_TET], id);
    if (*item == KILN_ID_NONE && !on_nodes) {
        *where = KILN_ON_FACE;
        *item = kiln_id_map_find(&reader->items[KILN_ITEM_TRIANGLE], id);
    }
    return *item != KILN_ID_NONE;
}

kiln_status kiln_gmsh_read_data(kiln_gmsh_reader *reader, bool on_nodes, kiln_error *error)
{
    head now;
    if (!reader->nodes_seen)
        return kiln_source_fail(reader->source, error, "$NodeData comes before $Nodes");
    if (!on_nodes)
        KILN_TRY(finish_element_numbers(reader, error));
    KILN_TRY(read_head(reader, &now, error));
    size_t fields[KILN_WHERE_COUNT];
    bool known[KILN_WHERE_COUNT] = {false};
    double skipped;
    for (uint64_t i = 0; i < now.rows; i++) {
        int64_t id;
        kiln_where where;
        uint32_t item;
        KILN_TRY(kiln_gmsh_int(reader, "a row's number", &id, error));
        bool found = find_item(reader, on_nodes, (uint64_t)id, &where, &item);
        if (!found && on_nodes)
            return kiln_source_fail(reader->source, error, "field '%s' names node %lld of none",
                                    now.name, (long long)id);
        if (found && !known[where])
            KILN_TRY(find_field(reader, &now, where, &fields[where], error));
        known[where] |= found;
        double *row = found ? reader->soup->fields.data[fields[where]].data.data +
                                  (size_t)item * now.components
                            : NULL;
        for (uint32_t c = 0; c < now.components; c++)
            KILN_TRY(kiln_gmsh_double(reader, "a value", row ? &row[c] : &skipped, error));
    }
    return KILN_OK;
}
