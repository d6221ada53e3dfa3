#include "io/gmf.h"
#include "io/medit.h"

#include <math.h>
#include <stdio.h>

static const struct section {
    const char *word;
    int code;
    kiln_where where;
} sections[] = {
    {"SolAtVertices", KILN_GMF_SOL_AT_VERTICES, KILN_ON_VERTEX},
    {"SolAtTriangles", KILN_GMF_SOL_AT_TRIANGLES, KILN_ON_FACE},
    {"SolAtTetrahedra", KILN_GMF_SOL_AT_TETRAHEDRA, KILN_ON_TET},
};
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

/* Values per item by Medit's type code: 1 scalar, 2 vector, 3 symmetric tensor, 4 full tensor. */
static const uint32_t type_width[] = {0, 1, 3, 6, 9};
enum { MAX_TYPES = 64 };

/* Where in a soup's symmetric tensor (xx yy zz xy yz xz) Medit's component number k goes. */
static const uint32_t symmetric_place[6] = {0, 3, 1, 5, 4, 2};

static uint32_t place_of(uint32_t width, uint32_t component)
{
    return width == 6 ? symmetric_place[component] : component;
}

static int type_of(uint32_t width)
{
    for (int type = 1; type <= 4; type++)
        if (type_width[type] == width)
            return type;
    return 0;
}

/* One section being read: its fields are the last `types` of the soup. */
typedef struct reading {
    size_t items;
    size_t first_field;
    size_t types;
    uint32_t row; /* values per item, all types */
} reading;

static kiln_status check_items(kiln_source *source, const struct section *section, uint64_t items,
                               const kiln_soup *soup, kiln_error *error)
{
    size_t wanted = kiln_soup_count(soup, section->where);
    if (items == wanted)
        return KILN_OK;
    return kiln_source_fail(source, error, "%s for %llu items, but the mesh has %zu", section->word,
                            (unsigned long long)items, wanted);
}

static kiln_status add_type(kiln_source *source, kiln_soup *soup, const struct section *section,
                            int64_t type, reading *now, kiln_error *error)
{
    if (type < 1 || type > 4)
        return kiln_source_fail(source, error, "field type %lld is none of 1 to 4",
                                (long long)type);
    uint32_t width = type_width[type];
    /* Two bytes for a value in text are less than in any binary version. */
    KILN_TRY(
        kiln_source_claim(source, (uint64_t)now->items * (now->row + width), 2, "values", error));
    char name[KILN_NAME_SIZE];
    snprintf(name, sizeof name, "sol%zu", soup->fields.count - now->first_field + 1);
    for (int k = 2; kiln_soup_find_field(soup, section->where, name); k++)
        snprintf(name, sizeof name, "sol%zu_%d", soup->fields.count - now->first_field + 1, k);
    KILN_TRY(kiln_soup_add_field(soup, name, section->where, width, NULL, error));
    now->types++;
    now->row += width;
    return KILN_OK;
}

static kiln_status read_text_fields(kiln_source *source, const struct section *section,
                                    kiln_soup *soup, kiln_error *error)
{
    int64_t items, types, type;
    KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, section->word, &items, error));
    KILN_TRY(check_items(source, section, (uint64_t)items, soup, error));
    KILN_TRY(kiln_source_integer(source, 1, MAX_TYPES, "the number of fields", &types, error));
    reading now = {.items = (size_t)items, .first_field = soup->fields.count};
    for (int64_t i = 0; i < types; i++) {
        KILN_TRY(kiln_source_integer(source, 1, 4, "a field's type", &type, error));
        KILN_TRY(add_type(source, soup, section, type, &now, error));
    }
    for (size_t i = 0; i < now.items; i++)
        for (size_t k = 0; k < now.types; k++) {
            kiln_soup_field *field = &soup->fields.data[now.first_field + k];
            double *values = field->data.data + i * field->components;
            for (uint32_t c = 0; c < field->components; c++)
                KILN_TRY(kiln_source_double(source, "a value",
                                            &values[place_of(field->components, c)], error));
        }
    return KILN_OK;
}

static kiln_status read_text_section(kiln_source *source, kiln_text word, kiln_soup *soup,
                                     kiln_error *error)
{
    for (int i = 0; i < SECTION_COUNT; i++)
        if (kiln_text_is_nocase(word, sections[i].word))
            return read_text_fields(source, &sections[i], soup, error);
    return KILN_OK;
}

static kiln_status read_binary_values(kiln_gmf_reader *reader, const reading *now, kiln_soup *soup,
                                      kiln_error *error)
{
    kiln_source *source = reader->source;
    size_t real = kiln_gmf_real_size(reader->version);
    const char *at;
    KILN_TRY(kiln_source_bytes(source, (uint64_t)now->items * now->row * real, "the values", &at,
                               error));
    for (size_t i = 0; i < now->items; i++)
        for (size_t k = 0; k < now->types; k++) {
            kiln_soup_field *field = &soup->fields.data[now->first_field + k];
            double *values = field->data.data + i * field->components;
            for (uint32_t c = 0; c < field->components; c++, at += real) {
                double value = real == 8 ? kiln_load_f64(at, source->swap)
                                         : (double)kiln_load_f32(at, source->swap);
                if (!isfinite(value))
                    return kiln_source_fail_at(source, at, error, "a value is not finite");
                values[place_of(field->components, c)] = value;
            }
        }
    return KILN_OK;
}

static kiln_status read_binary_fields(kiln_gmf_reader *reader, const struct section *section,
                                      kiln_soup *soup, kiln_error *error)
{
    kiln_source *source = reader->source;
    uint64_t items;
    uint32_t types, type;
    KILN_TRY(kiln_gmf_count(reader, section->word, &items, error));
    KILN_TRY(check_items(source, section, items, soup, error));
    KILN_TRY(kiln_source_u32(source, "the number of fields", &types, error));
    if (types < 1 || types > MAX_TYPES)
        return kiln_source_fail(source, error, "%u fields, must be 1 to %d", types, MAX_TYPES);
    reading now = {.items = (size_t)items, .first_field = soup->fields.count};
    for (uint32_t i = 0; i < types; i++) {
        KILN_TRY(kiln_source_u32(source, "a field's type", &type, error));
        KILN_TRY(add_type(source, soup, section, type, &now, error));
    }
    return read_binary_values(reader, &now, soup, error);
}

static kiln_status read_binary_section(kiln_gmf_reader *reader, int code, kiln_soup *soup,
                                       kiln_error *error)
{
    for (int i = 0; i < SECTION_COUNT; i++)
        if (code == sections[i].code)
            return read_binary_fields(reader, &sections[i], soup, error);
    return KILN_OK;
}

kiln_status kiln_sol_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    static const kiln_gmf_sections either = {read_text_section, read_binary_section};
    return kiln_gmf_read(source, &either, soup, error);
}

/* The fields of a section that Medit can hold, in order. */
static size_t writable_fields(const kiln_soup *soup, kiln_where where,
                              const kiln_soup_field *fields[MAX_TYPES], uint32_t *row)
{
    size_t count = 0;
    *row = 0;
    for (size_t i = 0; i < soup->fields.count; i++) {
        const kiln_soup_field *field = &soup->fields.data[i];
        if (field->where != where || !type_of(field->components) || count == MAX_TYPES)
            continue;
        fields[count++] = field;
        *row += field->components;
    }
    return count;
}

static void warn_left_out(kiln_context *context, const char *path, const kiln_soup *soup)
{
    for (size_t i = 0; i < soup->fields.count; i++)
        if (!type_of(soup->fields.data[i].components))
            kiln_log(context, KILN_LOG_WARNING, "%s: field '%s' of %u components left out", path,
                     soup->fields.data[i].name, soup->fields.data[i].components);
}

static bool has_writable(const kiln_soup *soup)
{
    for (size_t i = 0; i < soup->fields.count; i++)
        if (type_of(soup->fields.data[i].components))
            return true;
    return false;
}

static void write_section(kiln_sink *sink, int version, const struct section *section,
                          const kiln_soup *soup)
{
    const kiln_soup_field *fields[MAX_TYPES];
    uint32_t row;
    size_t types = writable_fields(soup, section->where, fields, &row);
    size_t items = kiln_soup_count(soup, section->where);
    if (!types || !items)
        return;
    if (version) {
        kiln_gmf_write_section(sink, version, section->code, items,
                               4 + 4 * types + 8 * (uint64_t)items * row);
        kiln_sink_u32(sink, (uint32_t)types);
        for (size_t k = 0; k < types; k++)
            kiln_sink_u32(sink, (uint32_t)type_of(fields[k]->components));
    } else {
        kiln_sink_format(sink, "\n%s\n%zu\n%zu", section->word, items, types);
        for (size_t k = 0; k < types; k++)
            kiln_sink_format(sink, " %d", type_of(fields[k]->components));
        kiln_sink_char(sink, '\n');
    }
    for (size_t i = 0; i < items; i++)
        for (size_t k = 0; k < types; k++) {
            uint32_t width = fields[k]->components;
            const double *values = fields[k]->data.data + i * width;
            for (uint32_t c = 0; c < width; c++) {
                double value = values[place_of(width, c)];
                if (version) {
                    kiln_sink_f64(sink, value);
                } else {
                    kiln_sink_double(sink, value);
                    kiln_sink_char(sink, k + 1 == types && c + 1 == width ? '\n' : ' ');
                }
            }
        }
}

static int lowest_version(const kiln_soup *soup)
{
    uint64_t most = 0, bytes = 64;
    for (int i = 0; i < SECTION_COUNT; i++) {
        const kiln_soup_field *fields[MAX_TYPES];
        uint32_t row;
        size_t types = writable_fields(soup, sections[i].where, fields, &row);
        uint64_t items = types ? kiln_soup_count(soup, sections[i].where) : 0;
        most = items > most ? items : most;
        bytes += 32 + 4 * types + 8 * items * row;
    }
    return kiln_gmf_choose_version(most, bytes);
}

kiln_status kiln_sol_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error)
{
    bool binary = kiln_encoding_of(encoding, path, "b") == KILN_ENCODING_BINARY;
    int version = binary ? lowest_version(soup) : 0;
    warn_left_out(context, path, soup);
    if (!has_writable(soup))
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "there are no fields of 1, 3 or 6 components to write");
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, context, path, error));
    if (binary)
        kiln_gmf_write_begin(&sink, version);
    else
        kiln_sink_text(&sink, "MeshVersionFormatted 2\n\nDimension 3\n");
    for (int i = 0; i < SECTION_COUNT; i++)
        write_section(&sink, version, &sections[i], soup);
    if (binary)
        kiln_gmf_write_end(&sink, version);
    else
        kiln_sink_text(&sink, "\nEnd\n");
    return kiln_sink_commit(&sink, error);
}
