#include "io/vtk_legacy.h"

#include "io/vtk_data.h"

typedef enum data_place { NO_DATA, POINT_DATA, CELL_DATA } data_place;

typedef struct reader {
    kiln_source *source;
    kiln_soup *soup;
    bool text;
    kiln_vtk_piece piece;
    kiln_vtk_cells cells;
    kiln_vtk_values ends, connectivity; /* from CELLS until CELL_TYPES */
    bool has_points, has_cells, has_types;
    data_place place;
} reader;

static kiln_status read_word(reader *r, const char *what, kiln_text *word, kiln_error *error)
{
    if (!kiln_source_word(r->source, word))
        return kiln_source_fail(r->source, error, "the file ends where %s was expected", what);
    return KILN_OK;
}

static kiln_status read_count(reader *r, const char *what, uint64_t *count, kiln_error *error)
{
    int64_t value;
    KILN_TRY(kiln_source_integer(r->source, 0, UINT32_MAX, what, &value, error));
    *count = (uint64_t)value;
    return KILN_OK;
}

static kiln_status read_type(reader *r, kiln_vtk_type *type, kiln_error *error)
{
    kiln_text word;
    KILN_TRY(read_word(r, "a type", &word, error));
    bool sized = word.size > 7 && kiln_text_is_nocase((kiln_text){word.data, 7}, "vtktype");
    kiln_text rest = sized ? (kiln_text){word.data + 7, word.size - 7} : word;
    for (int i = 0; i < KILN_VTK_TYPE_COUNT; i++) {
        kiln_vtk_type_info about = kiln_vtk_type_about((kiln_vtk_type)i);
        if (kiln_text_is_nocase(rest, sized ? about.vtu : about.legacy)) {
            *type = (kiln_vtk_type)i;
            return KILN_OK;
        }
    }
    if (!kiln_text_is_nocase(word, "vtkidtype"))
        return kiln_source_fail_at(r->source, word.data, error, "unknown type '%.*s'",
                                   KILN_SHOWN(word));
    *type = KILN_VTK_I32; /* as which it is written */
    return KILN_OK;
}

static kiln_status read_text_values(reader *r, kiln_vtk_type type, uint64_t count,
                                    kiln_vtk_values *values, kiln_error *error)
{
    bool whole = kiln_vtk_type_is_integer(type);
    KILN_TRY(kiln_source_claim(r->source, count, 2, "numbers", error));
    KILN_TRY(kiln_vtk_values_allocate(r->soup->context, values, whole ? KILN_VTK_I64 : KILN_VTK_F64,
                                      (size_t)count, error));
    for (uint64_t i = 0; i < count; i++) {
        int64_t n;
        double x;
        kiln_source_skip_space(r->source);
        if (whole) {
            KILN_TRY(
                kiln_source_integer(r->source, INT64_MIN + 1, INT64_MAX, "a value", &n, error));
            memcpy(values->block + 8 * i, &n, 8);
            continue;
        }
        const char *after = kiln_decimal_parse(r->source->at, r->source->end, &x);
        if (!after)
            return kiln_source_fail(r->source, error, "expected a number");
        r->source->at = after;
        memcpy(values->block + 8 * i, &x, 8);
    }
    return KILN_OK;
}

/* `count` numbers; binary ones start on the next line and have the large end first. */
static kiln_status read_values(reader *r, kiln_vtk_type type, uint64_t count,
                               kiln_vtk_values *values, kiln_error *error)
{
    *values = (kiln_vtk_values){0};
    if (r->text)
        return read_text_values(r, type, count, values, error);
    kiln_text rest;
    kiln_source_line(r->source, &rest);
    size_t size = kiln_vtk_type_about(type).size;
    KILN_TRY(kiln_source_claim(r->source, count, size, "numbers", error));
    *values =
        (kiln_vtk_values){.type = type, .swap = kiln_is_little_endian(), .count = (size_t)count};
    return kiln_source_bytes(r->source, count * size, "binary data", &values->bytes, error);
}

static kiln_status read_points(reader *r, kiln_error *error)
{
    uint64_t count;
    kiln_vtk_type type;
    kiln_vtk_values values;
    if (r->has_points)
        return kiln_source_fail(r->source, error, "POINTS comes twice");
    r->has_points = true;
    KILN_TRY(read_count(r, "the number of points", &count, error));
    KILN_TRY(read_type(r, &type, error));
    kiln_status status = read_values(r, type, 3 * count, &values, error);
    if (status == KILN_OK)
        status = kiln_vtk_add_points(r->soup, &values, &r->piece, error);
    kiln_vtk_values_free(r->soup->context, &values);
    return status;
}

/* Before version 5: each cell its number of points, then the points. Turned into ends and
 * connectivity. */
static kiln_status split_cells(reader *r, uint64_t count, const kiln_vtk_values *mixed,
                               kiln_error *error)
{
    kiln_context *context = r->soup->context;
    if (count > mixed->count)
        return kiln_source_fail(r->source, error, "%llu cells do not fit in %zu numbers",
                                (unsigned long long)count, mixed->count);
    KILN_TRY(kiln_vtk_values_allocate(context, &r->ends, KILN_VTK_I64, (size_t)count, error));
    KILN_TRY(kiln_vtk_values_allocate(context, &r->connectivity, KILN_VTK_I64,
                                      mixed->count - (size_t)count, error));
    size_t at = 0, used = 0;
    for (uint64_t i = 0; i < count; i++) {
        int64_t size = -1;
        if (at < mixed->count)
            kiln_vtk_to_i64(mixed, at++, 1, &size);
        if (size < 0 || (uint64_t)size > mixed->count - at ||
            (uint64_t)size > r->connectivity.count - used)
            return kiln_source_fail(r->source, error, "cell %llu reaches beyond the list of cells",
                                    (unsigned long long)i + 1);
        for (int64_t k = 0; k < size; k++, used++) {
            int64_t v;
            kiln_vtk_to_i64(mixed, at++, 1, &v);
            memcpy(r->connectivity.block + 8 * used, &v, 8);
        }
        int64_t end = (int64_t)used;
        memcpy(r->ends.block + 8 * i, &end, 8);
    }
    r->connectivity.count = used;
    return KILN_OK;
}

/* Version 5: CELLS <offsets> <numbers>, OFFSETS type ..., CONNECTIVITY type ... */
static kiln_status read_new_cells(reader *r, uint64_t offsets, uint64_t numbers, kiln_error *error)
{
    kiln_text word;
    kiln_vtk_type type;
    int64_t first = 0;
    KILN_TRY(read_word(r, "OFFSETS", &word, error));
    KILN_TRY(read_type(r, &type, error));
    KILN_TRY(read_values(r, type, offsets, &r->ends, error));
    if (offsets == 0)
        return kiln_source_fail(r->source, error, "OFFSETS must have at least one number");
    kiln_vtk_to_i64(&r->ends, 0, 1, &first);
    if (first != 0)
        return kiln_source_fail(r->source, error, "the first offset is %lld, not 0",
                                (long long)first);
    r->ends.bytes += kiln_vtk_type_about(r->ends.type).size;
    r->ends.count--;
    KILN_TRY(read_word(r, "CONNECTIVITY", &word, error));
    if (!kiln_text_is_nocase(word, "CONNECTIVITY"))
        return kiln_source_fail_at(r->source, word.data, error, "expected CONNECTIVITY");
    KILN_TRY(read_type(r, &type, error));
    return read_values(r, type, numbers, &r->connectivity, error);
}

static kiln_status read_cells(reader *r, kiln_error *error)
{
    uint64_t count, numbers;
    kiln_text word;
    if (r->has_cells)
        return kiln_source_fail(r->source, error, "CELLS comes twice");
    r->has_cells = true;
    KILN_TRY(read_count(r, "the number of cells", &count, error));
    KILN_TRY(read_count(r, "the size of the list of cells", &numbers, error));
    const char *here = r->source->at;
    bool is_new = kiln_source_word(r->source, &word) && kiln_text_is_nocase(word, "OFFSETS");
    r->source->at = here;
    if (is_new)
        return read_new_cells(r, count, numbers, error);
    kiln_vtk_values mixed;
    kiln_status status = read_values(r, KILN_VTK_I32, numbers, &mixed, error);
    if (status == KILN_OK)
        status = split_cells(r, count, &mixed, error);
    kiln_vtk_values_free(r->soup->context, &mixed);
    return status;
}

static kiln_status read_types(reader *r, kiln_error *error)
{
    uint64_t count;
    kiln_vtk_values types;
    if (!r->has_cells || !r->has_points || r->has_types)
        return kiln_source_fail(r->source, error, "CELL_TYPES must come once, after POINTS, CELLS");
    r->has_types = true;
    KILN_TRY(read_count(r, "the number of cell types", &count, error));
    if (count != r->ends.count)
        return kiln_source_fail(r->source, error, "%llu cell types for %zu cells",
                                (unsigned long long)count, r->ends.count);
    kiln_status status = read_values(r, KILN_VTK_I32, count, &types, error);
    if (status == KILN_OK)
        status = kiln_vtk_add_cells(&r->cells, r->source, r->soup, &types, &r->ends,
                                    &r->connectivity, &r->piece, error);
    kiln_vtk_values_free(r->soup->context, &types);
    return status;
}

/* Names have %20 and its like for what would end a word. */
static kiln_text plain_name(kiln_text name, char buffer[KILN_NAME_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < name.size && used + 1 < KILN_NAME_SIZE; i++) {
        int code = 0, digits = 0;
        for (; name.data[i] == '%' && digits < 2 && i + 1 + (size_t)digits < name.size; digits++) {
            char c = name.data[i + 1 + (size_t)digits];
            int d = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                           : -1;
            if (d < 0)
                break;
            code = 16 * code + d;
        }
        buffer[used++] = digits == 2 && code ? (char)code : name.data[i];
        i += digits == 2 && code ? 2 : 0;
    }
    return (kiln_text){buffer, used};
}

static uint64_t item_count(const reader *r)
{
    return r->place == POINT_DATA ? r->piece.point_count : r->piece.cell_count;
}

/* Numbers of one array; passed over when they are not per point or per cell. */
static kiln_status read_array(reader *r, kiln_text name, kiln_vtk_type type, uint64_t components,
                              uint64_t tuples, kiln_error *error)
{
    char buffer[KILN_NAME_SIZE];
    kiln_vtk_values values;
    name = plain_name(name, buffer);
    if (components > 1024)
        return kiln_source_fail(r->source, error, "%llu components are too many",
                                (unsigned long long)components);
    kiln_status status = read_values(r, type, components * tuples, &values, error);
    bool fits = r->place != NO_DATA && tuples == item_count(r) && components > 0;
    if (status == KILN_OK && fits && r->place == POINT_DATA)
        status =
            kiln_vtk_add_point_data(r->soup, name, &values, (uint32_t)components, &r->piece, error);
    else if (status == KILN_OK && fits)
        status = kiln_vtk_add_cell_data(&r->cells, r->soup, name, &values, (uint32_t)components,
                                        &r->piece, KILN_WHERE_COUNT, error);
    kiln_vtk_values_free(r->soup->context, &values);
    return status;
}

static kiln_status read_field(reader *r, kiln_error *error)
{
    kiln_text name;
    uint64_t arrays, components, tuples;
    kiln_vtk_type type;
    KILN_TRY(read_word(r, "the name of a field", &name, error));
    KILN_TRY(read_count(r, "the number of arrays", &arrays, error));
    for (uint64_t i = 0; i < arrays; i++) {
        KILN_TRY(read_word(r, "the name of an array", &name, error));
        if (kiln_text_is_nocase(name, "METADATA")) { /* of the array before */
            kiln_text line;
            kiln_source_line(r->source, &line);
            while (kiln_source_line(r->source, &line) && line.size > 0)
                ;
            i--;
            continue;
        }
        KILN_TRY(read_count(r, "the number of components", &components, error));
        KILN_TRY(read_count(r, "the number of tuples", &tuples, error));
        KILN_TRY(read_type(r, &type, error));
        KILN_TRY(read_array(r, name, type, components, tuples, error));
    }
    return KILN_OK;
}

static kiln_status read_scalars(reader *r, kiln_error *error)
{
    kiln_text name, word;
    kiln_vtk_type type;
    uint64_t components = 1;
    KILN_TRY(read_word(r, "a name", &name, error));
    KILN_TRY(read_type(r, &type, error));
    if (kiln_source_skip_blank(r->source))
        KILN_TRY(read_count(r, "the number of components", &components, error));
    KILN_TRY(read_word(r, "LOOKUP_TABLE", &word, error));
    if (!kiln_text_is_nocase(word, "LOOKUP_TABLE"))
        return kiln_source_fail_at(r->source, word.data, error, "expected LOOKUP_TABLE");
    KILN_TRY(read_word(r, "the name of a table", &word, error));
    return read_array(r, name, type, components, item_count(r), error);
}

/* The other attributes: the number of components is fixed, or named before the type. */
static kiln_status read_attribute(reader *r, kiln_text keyword, kiln_error *error)
{
    kiln_text name;
    kiln_vtk_type type = r->text ? KILN_VTK_F32 : KILN_VTK_U8; /* of colours */
    uint64_t components = kiln_text_is_nocase(keyword, "TENSORS")    ? 9
                          : kiln_text_is_nocase(keyword, "TENSORS6") ? 6
                                                                     : 3;
    KILN_TRY(read_word(r, "a name", &name, error));
    bool colours = kiln_text_is_nocase(keyword, "COLOR_SCALARS");
    if (kiln_text_is_nocase(keyword, "LOOKUP_TABLE")) {
        uint64_t rows;
        kiln_vtk_values values;
        KILN_TRY(read_count(r, "the size of a table", &rows, error));
        kiln_status status = read_values(r, type, 4 * rows, &values, error);
        kiln_vtk_values_free(r->soup->context, &values);
        return status;
    }
    if (colours || kiln_text_is_nocase(keyword, "TEXTURE_COORDINATES"))
        KILN_TRY(read_count(r, "the number of components", &components, error));
    if (!colours)
        KILN_TRY(read_type(r, &type, error));
    return read_array(r, name, type, components, item_count(r), error);
}

static kiln_status start_data(reader *r, data_place place, kiln_error *error)
{
    uint64_t count;
    KILN_TRY(read_count(r, "a number of items", &count, error));
    if (!r->has_points || (place == CELL_DATA && !r->has_types))
        return kiln_source_fail(r->source, error, "data before the points and cells it is for");
    r->place = place;
    if (count != item_count(r))
        return kiln_source_fail(r->source, error, "data for %llu items, but there are %llu",
                                (unsigned long long)count, (unsigned long long)item_count(r));
    return KILN_OK;
}

static kiln_status read_head(reader *r, kiln_error *error)
{
    kiln_text line, word;
    kiln_source *s = r->source;
    if (!kiln_source_line(s, &line) || !kiln_vtk_legacy_sniff(line))
        return kiln_source_fail_at(s, s->begin, error, "expected '# vtk DataFile Version'");
    kiln_source_line(s, &line); /* title */
    KILN_TRY(read_word(r, "ASCII or BINARY", &word, error));
    r->text = kiln_text_is_nocase(word, "ASCII");
    if (!r->text && !kiln_text_is_nocase(word, "BINARY"))
        return kiln_source_fail_at(s, word.data, error, "expected ASCII or BINARY");
    s->binary = !r->text;
    KILN_TRY(read_word(r, "DATASET", &word, error));
    if (kiln_text_is_nocase(word, "DATASET"))
        KILN_TRY(read_word(r, "UNSTRUCTURED_GRID", &word, error));
    if (!kiln_text_is_nocase(word, "UNSTRUCTURED_GRID"))
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, s->name, 0, -1,
                         "the data set is '%.*s', only UNSTRUCTURED_GRID is read",
                         KILN_SHOWN(word));
    return KILN_OK;
}

static kiln_status read_section(reader *r, kiln_text word, kiln_error *error)
{
    static const char *const attributes[] = {"VECTORS",     "NORMALS",       "TENSORS",
                                             "TENSORS6",    "COLOR_SCALARS", "TEXTURE_COORDINATES",
                                             "LOOKUP_TABLE"};
    kiln_text line;
    if (kiln_text_is_nocase(word, "POINTS"))
        return read_points(r, error);
    if (kiln_text_is_nocase(word, "CELLS"))
        return read_cells(r, error);
    if (kiln_text_is_nocase(word, "CELL_TYPES"))
        return read_types(r, error);
    if (kiln_text_is_nocase(word, "POINT_DATA"))
        return start_data(r, POINT_DATA, error);
    if (kiln_text_is_nocase(word, "CELL_DATA"))
        return start_data(r, CELL_DATA, error);
    if (kiln_text_is_nocase(word, "FIELD"))
        return read_field(r, error);
    if (kiln_text_is_nocase(word, "SCALARS"))
        return read_scalars(r, error);
    if (kiln_text_is_nocase(word, "METADATA")) { /* up to an empty line */
        kiln_source_line(r->source, &line);
        while (kiln_source_line(r->source, &line) && line.size > 0)
            ;
        return KILN_OK;
    }
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (kiln_text_is_nocase(word, attributes[i]))
            return read_attribute(r, word, error);
    return kiln_source_fail_at(r->source, word.data, error, "'%.*s' is not known here",
                               KILN_SHOWN(word));
}

static kiln_status read_all(reader *r, kiln_error *error)
{
    kiln_text word;
    KILN_TRY(read_head(r, error));
    while (kiln_source_word(r->source, &word))
        KILN_TRY(read_section(r, word, error));
    if (!r->has_points || (r->has_cells && !r->has_types))
        return kiln_source_fail(r->source, error, "the file ends before its %s",
                                r->has_points ? "CELL_TYPES" : "POINTS");
    return KILN_OK;
}

kiln_status kiln_vtk_legacy_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    reader r = {.source = source, .soup = soup, .cells = {.context = soup->context}};
    kiln_status status = read_all(&r, error);
    kiln_vtk_values_free(soup->context, &r.ends);
    kiln_vtk_values_free(soup->context, &r.connectivity);
    kiln_array_free(soup->context, &r.cells.kinds);
    return status;
}

bool kiln_vtk_legacy_sniff(kiln_text start)
{
    static const char word[] = "# vtk DataFile Version";
    return start.size >= sizeof word - 1 && memcmp(start.data, word, sizeof word - 1) == 0;
}
