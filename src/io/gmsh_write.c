#include "io/gmsh.h"
#include "io/items.h"

#include <stdlib.h>

/* What Gmsh calls elements, in its order: tagged points, lines, triangles, tets. */
enum { GROUPS = 4 };
static const struct {
    int type;
    kiln_item_kind kind; /* of groups past the points */
} groups[GROUPS] = {
    {15, KILN_ITEM_KINDS}, {1, KILN_ITEM_EDGE}, {2, KILN_ITEM_TRIANGLE}, {4, KILN_ITEM_TET}};

typedef KILN_ARRAY_OF(int32_t)
tag_list;

typedef struct writer {
    kiln_sink sink;
    kiln_context *context;
    const kiln_soup *soup;
    bool binary, version4;
    uint64_t count[GROUPS];
    uint64_t first[GROUPS]; /* number of a group's first element */
    tag_list tags[GROUPS]; /* distinct, sorted; entity k + 1 of the group's dimension has tags[k] */
    uint64_t blocks;
} writer;

static void put_int(writer *w, int64_t value, char after)
{
    if (w->binary) {
        kiln_sink_u32(&w->sink, (uint32_t)value);
        return;
    }
    kiln_sink_integer(&w->sink, value);
    kiln_sink_char(&w->sink, after);
}

static void put_size(writer *w, uint64_t value, char after)
{
    if (w->binary) {
        kiln_sink_u64(&w->sink, value);
        return;
    }
    kiln_sink_integer(&w->sink, (int64_t)value);
    kiln_sink_char(&w->sink, after);
}

static void put_double(writer *w, double value, char after)
{
    if (w->binary) {
        kiln_sink_f64(&w->sink, value);
        return;
    }
    kiln_sink_double(&w->sink, value);
    kiln_sink_char(&w->sink, after);
}

static void put_point(writer *w, kiln_vec3 point, char after)
{
    put_double(w, point.x, ' ');
    put_double(w, point.y, ' ');
    put_double(w, point.z, after);
}

static void put_section_end(writer *w, const char *name)
{
    if (w->binary)
        kiln_sink_char(&w->sink, '\n');
    kiln_sink_format(&w->sink, "$End%s\n", name);
}

/* One element of a group: `nodes` numbers at `node`. */
typedef struct element {
    uint32_t node[4];
    int nodes;
    int32_t tag;
} element;

/* Steps through a group; points without a tag are no elements. */
static bool next_element(const writer *w, int group, uint64_t *item, element *out)
{
    const kiln_soup *soup = w->soup;
    if (group == 0) {
        while (*item < soup->point_tags.count && !soup->point_tags.data[*item])
            ++*item;
        if (*item >= soup->point_tags.count)
            return false;
        *out = (element){{(uint32_t)*item}, 1, soup->point_tags.data[*item]};
    } else {
        const uint32_t *index;
        const int32_t *tags;
        if (*item >= kiln_items_view(soup, groups[group].kind, &index, &tags))
            return false;
        out->nodes = group + 1;
        memcpy(out->node, index + *item * (uint64_t)out->nodes, (size_t)out->nodes * sizeof *index);
        out->tag = tags ? tags[*item] : 0;
    }
    ++*item;
    return true;
}

static int by_value(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Counts elements and blocks (runs of one tag) and collects the distinct tags. */
static kiln_status survey(writer *w, kiln_error *error)
{
    uint64_t next = 1;
    for (int g = 0; g < GROUPS; g++) {
        tag_list *tags = &w->tags[g];
        element e;
        for (uint64_t item = 0; next_element(w, g, &item, &e); w->count[g]++) {
            if (w->count[g] && e.tag == tags->data[tags->count - 1])
                continue;
            w->blocks++;
            KILN_TRY(kiln_array_push(w->context, tags, e.tag, error));
        }
        w->first[g] = next;
        next += w->count[g];
        if (!tags->count)
            continue;
        qsort(tags->data, tags->count, sizeof *tags->data, by_value);
        size_t kept = 1;
        for (size_t i = 1; i < tags->count; i++)
            if (tags->data[i] != tags->data[kept - 1])
                tags->data[kept++] = tags->data[i];
        tags->count = kept;
    }
    return KILN_OK;
}

static int64_t entity_of(const writer *w, int group, int32_t tag)
{
    const tag_list *tags = &w->tags[group];
    const int32_t *found = bsearch(&tag, tags->data, tags->count, sizeof tag, by_value);
    return found - tags->data + 1;
}

static uint64_t element_count(const writer *w)
{
    return w->first[GROUPS - 1] + w->count[GROUPS - 1] - 1;
}

static void put_header(writer *w)
{
    kiln_sink_format(&w->sink, "$MeshFormat\n%s %d 8\n", w->version4 ? "4.1" : "2.2", w->binary);
    if (w->binary) {
        kiln_sink_u32(&w->sink, 1);
        kiln_sink_char(&w->sink, '\n');
    }
    kiln_sink_text(&w->sink, "$EndMeshFormat\n");
}

static void put_nodes_22(writer *w)
{
    kiln_sink_format(&w->sink, "$Nodes\n%zu\n", w->soup->points.count);
    for (size_t i = 0; i < w->soup->points.count; i++) {
        put_int(w, (int64_t)i + 1, ' ');
        put_point(w, w->soup->points.data[i], '\n');
    }
    put_section_end(w, "Nodes");
}

static void put_elements_22(writer *w)
{
    kiln_sink_format(&w->sink, "$Elements\n%llu\n", (unsigned long long)element_count(w));
    for (int g = 0; g < GROUPS; g++) {
        if (w->binary && w->count[g]) {
            put_int(w, groups[g].type, ' ');
            put_int(w, (int64_t)w->count[g], ' ');
            put_int(w, 2, ' ');
        }
        element e;
        uint64_t number = w->first[g];
        for (uint64_t item = 0; next_element(w, g, &item, &e); number++) {
            put_int(w, (int64_t)number, ' ');
            if (!w->binary) {
                put_int(w, groups[g].type, ' ');
                put_int(w, 2, ' ');
            }
            put_int(w, e.tag, ' ');
            put_int(w, entity_of(w, g, e.tag), ' ');
            for (int j = 0; j < e.nodes; j++)
                put_int(w, (int64_t)e.node[j] + 1, j + 1 < e.nodes ? ' ' : '\n');
        }
    }
    put_section_end(w, "Elements");
}

static kiln_vec3 first_with_tag(const kiln_soup *soup, int32_t tag)
{
    size_t i = 0;
    while (soup->point_tags.data[i] != tag)
        i++;
    return soup->points.data[i];
}

static void find_box(const kiln_soup *soup, kiln_vec3 *low, kiln_vec3 *high)
{
    *low = *high = soup->points.count ? soup->points.data[0] : (kiln_vec3){0, 0, 0};
    for (size_t i = 1; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i];
        low->x = p.x < low->x ? p.x : low->x;
        low->y = p.y < low->y ? p.y : low->y;
        low->z = p.z < low->z ? p.z : low->z;
        high->x = p.x > high->x ? p.x : high->x;
        high->y = p.y > high->y ? p.y : high->y;
        high->z = p.z > high->z ? p.z : high->z;
    }
}

static void put_entities(writer *w)
{
    kiln_vec3 low, high;
    find_box(w->soup, &low, &high);
    kiln_sink_text(&w->sink, "$Entities\n");
    for (int g = 0; g < GROUPS; g++)
        put_size(w, w->tags[g].count, g + 1 < GROUPS ? ' ' : '\n');
    for (int g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < w->tags[g].count; i++) {
            int32_t tag = w->tags[g].data[i];
            put_int(w, (int64_t)i + 1, ' ');
            put_point(w, g ? low : first_with_tag(w->soup, tag), ' ');
            if (g)
                put_point(w, high, ' ');
            put_size(w, tag != 0, g || tag ? ' ' : '\n');
            if (tag)
                put_int(w, tag, g ? ' ' : '\n');
            if (g)
                put_size(w, 0, '\n');
        }
    put_section_end(w, "Entities");
}

static void put_nodes_41(writer *w)
{
    size_t count = w->soup->points.count;
    int dimension = GROUPS - 1;
    while (dimension && !w->tags[dimension].count)
        dimension--;
    kiln_sink_text(&w->sink, "$Nodes\n");
    put_size(w, 1, ' ');
    put_size(w, count, ' ');
    put_size(w, 1, ' ');
    put_size(w, count, '\n');
    put_int(w, dimension, ' ');
    put_int(w, 1, ' ');
    put_int(w, 0, ' ');
    put_size(w, count, '\n');
    for (size_t i = 0; i < count; i++)
        put_size(w, i + 1, '\n');
    for (size_t i = 0; i < count; i++)
        put_point(w, w->soup->points.data[i], '\n');
    put_section_end(w, "Nodes");
}

/* The run of elements with one tag that starts at `item`, with its head. */
static uint64_t put_block_41(writer *w, int group, uint64_t item, uint64_t *number)
{
    element e;
    uint64_t length = 0, at = item;
    int32_t tag = 0;
    while (next_element(w, group, &at, &e) && (length == 0 || e.tag == tag)) {
        tag = e.tag;
        length++;
    }
    if (length == 0)
        return item;
    put_int(w, group, ' ');
    put_int(w, entity_of(w, group, tag), ' ');
    put_int(w, groups[group].type, ' ');
    put_size(w, length, '\n');
    for (; length; length--) {
        next_element(w, group, &item, &e);
        put_size(w, (*number)++, ' ');
        for (int j = 0; j < e.nodes; j++)
            put_size(w, (uint64_t)e.node[j] + 1, j + 1 < e.nodes ? ' ' : '\n');
    }
    return item;
}

static void put_elements_41(writer *w)
{
    uint64_t total = element_count(w), number = 1;
    kiln_sink_text(&w->sink, "$Elements\n");
    put_size(w, w->blocks, ' ');
    put_size(w, total, ' ');
    put_size(w, total ? 1 : 0, ' ');
    put_size(w, total, '\n');
    for (int g = 0; g < GROUPS; g++)
        for (uint64_t item = 0, next; w->count[g]; item = next) {
            next = put_block_41(w, g, item, &number);
            if (next == item)
                break;
        }
    put_section_end(w, "Elements");
}

static void put_field(writer *w, const kiln_soup_field *field)
{
    size_t items = kiln_soup_count(w->soup, field->where);
    const char *section = field->where == KILN_ON_VERTEX ? "NodeData" : "ElementData";
    uint64_t first = field->where == KILN_ON_VERTEX ? 1
                     : field->where == KILN_ON_TET  ? w->first[3]
                                                    : w->first[2];
    char name[KILN_NAME_SIZE];
    memcpy(name, field->name, sizeof name);
    for (char *at = name; *at; at++)
        if (*at == '"' || (unsigned char)*at < ' ')
            *at = '_';
    kiln_sink_format(&w->sink, "$%s\n1\n\"%s\"\n1\n0\n3\n0\n%u\n%zu\n", section, name,
                     field->components, items);
    for (size_t i = 0; i < items; i++) {
        put_int(w, (int64_t)(first + i), ' ');
        for (uint32_t c = 0; c < field->components; c++)
            put_double(w, field->data.data[i * field->components + c],
                       c + 1 < field->components ? ' ' : '\n');
    }
    put_section_end(w, section);
}

static kiln_status check_limits(const writer *w, const char *path, kiln_error *error)
{
    bool narrow = !w->version4 || w->soup->fields.count;
    if (narrow && (w->soup->points.count > INT32_MAX || element_count(w) > INT32_MAX))
        return kiln_fail(error, KILN_ERR_LIMIT, path, 0, -1,
                         "too large: %s numbers nodes and elements with 31 bits",
                         w->version4 ? "a field in this format" : "Gmsh 2.2");
    return KILN_OK;
}

static void put_file(writer *w)
{
    put_header(w);
    if (w->version4) {
        put_entities(w);
        put_nodes_41(w);
        put_elements_41(w);
    } else {
        put_nodes_22(w);
        put_elements_22(w);
    }
    for (size_t i = 0; i < w->soup->fields.count; i++)
        put_field(w, &w->soup->fields.data[i]);
}

static kiln_status write_file(kiln_context *context, const char *path, kiln_encoding encoding,
                              bool version4, const kiln_soup *soup, kiln_error *error)
{
    writer w = {.context = context,
                .soup = soup,
                .binary = encoding != KILN_ENCODING_ASCII,
                .version4 = version4};
    kiln_status status = survey(&w, error);
    if (status == KILN_OK)
        status = check_limits(&w, path, error);
    if (status == KILN_OK)
        status = kiln_sink_open(&w.sink, context, path, error);
    if (status == KILN_OK) {
        put_file(&w);
        status = kiln_sink_commit(&w.sink, error);
    }
    for (int g = 0; g < GROUPS; g++)
        kiln_array_free(context, &w.tags[g]);
    return status;
}

kiln_status kiln_gmsh_write_22(kiln_context *context, const char *path, kiln_encoding encoding,
                               const kiln_soup *soup, kiln_error *error)
{
    return write_file(context, path, encoding, false, soup, error);
}

kiln_status kiln_gmsh_write_41(kiln_context *context, const char *path, kiln_encoding encoding,
                               const kiln_soup *soup, kiln_error *error)
{
    return write_file(context, path, encoding, true, soup, error);
}
