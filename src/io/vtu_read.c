/* VTK XML unstructured grids. The tags are read once into a list of arrays; then each array is
 * decoded where it stands: text, base64, or bytes of the appended section, plain or in zlib blocks.
 *
 * No allocation is larger than the file allows: text takes 2 bytes a number or more, plain binary
 * its own size, and zlib never shrinks data by more than 1032:1. */
#include "io/vtu.h"

#include "io/decimal.h"
#include "io/vtk_data.h"

#include <zlib.h>

typedef enum section {
    SECTION_NONE,
    SECTION_POINTS,
    SECTION_CELLS,
    SECTION_POINT_DATA,
    SECTION_CELL_DATA,
    SECTION_FIELD_DATA
} section;

typedef enum array_format { FORMAT_ASCII, FORMAT_BASE64, FORMAT_APPENDED } array_format;

enum { MOST_ATTRIBUTES = 24, ZLIB_RATIO = 1040 };

typedef struct tag {
    const char *place;
    kiln_text name;
    bool closing, empty;
    int attributes;
    kiln_text attribute[MOST_ATTRIBUTES], value[MOST_ATTRIBUTES];
} tag;

typedef struct data_array {
    section section;
    uint32_t piece;
    kiln_text name, where;
    kiln_vtk_type type;
    array_format format;
    uint64_t components, tuples, offset;
    const char *place; /* the tag, for messages */
    const char *content;
} data_array;

typedef struct reader {
    kiln_source *source;
    kiln_soup *soup;
    bool swap, compressed, wide; /* wide: 64-bit headers */
    section section;
    bool in_grid;
    KILN_ARRAY_OF(data_array)
    arrays;
    KILN_ARRAY_OF(kiln_vtk_piece)
    pieces;
    kiln_vtk_cells cells;
    const char *appended; /* first byte after the underscore; NULL: none */
    bool appended_base64;
    z_stream zlib;
    bool zlib_ready;
} reader;

static bool is_space(char c)
{
    return (unsigned char)c <= ' ';
}

static bool starts_with(const kiln_source *s, const char *word)
{
    size_t size = strlen(word);
    return kiln_source_left(s) >= size && memcmp(s->at, word, size) == 0;
}

static kiln_status skip_past(kiln_source *s, const char *word, kiln_error *error)
{
    while (s->at != s->end && !starts_with(s, word))
        s->at++;
    if (s->at == s->end)
        return kiln_source_fail(s, error, "the file ends before '%s'", word);
    s->at += strlen(word);
    return KILN_OK;
}

static kiln_status read_attribute(kiln_source *s, tag *t, kiln_error *error)
{
    const char *begin = s->at;
    while (s->at != s->end && *s->at != '=' && !is_space(*s->at) && *s->at != '>')
        s->at++;
    kiln_text name = {begin, (size_t)(s->at - begin)};
    kiln_source_skip_space(s);
    if (s->at == s->end || *s->at++ != '=')
        return kiln_source_fail_at(s, begin, error, "'%.*s': expected an attribute name=\"value\"",
                                   KILN_SHOWN(name));
    kiln_source_skip_space(s);
    char quote = s->at != s->end ? *s->at : 0;
    if (quote != '"' && quote != '\'')
        return kiln_source_fail(s, error, "expected a quoted value");
    begin = ++s->at;
    while (s->at != s->end && *s->at != quote)
        s->at++;
    if (s->at == s->end)
        return kiln_source_fail_at(s, begin, error, "a quoted value does not end");
    if (t->attributes == MOST_ATTRIBUTES)
        return kiln_source_fail_at(s, begin, error, "more than %d attributes", MOST_ATTRIBUTES);
    t->attribute[t->attributes] = name;
    t->value[t->attributes++] = (kiln_text){begin, (size_t)(s->at++ - begin)};
    return KILN_OK;
}

/* The next tag, past comments and processing instructions. */
static kiln_status next_tag(kiln_source *s, tag *t, kiln_error *error)
{
    for (;;) {
        while (s->at != s->end && *s->at != '<')
            s->at++;
        if (s->at == s->end)
            return kiln_source_fail(s, error, "the file ends before </VTKFile>");
        if (starts_with(s, "<!--"))
            KILN_TRY(skip_past(s, "-->", error));
        else if (starts_with(s, "<?"))
            KILN_TRY(skip_past(s, "?>", error));
        else
            break;
    }
    memset(t, 0, sizeof *t);
    t->place = s->at++;
    t->closing = s->at != s->end && *s->at == '/';
    s->at += t->closing;
    const char *begin = s->at;
    while (s->at != s->end && !is_space(*s->at) && *s->at != '>' && *s->at != '/')
        s->at++;
    t->name = (kiln_text){begin, (size_t)(s->at - begin)};
    while (kiln_source_skip_space(s)) {
        if (*s->at == '>') {
            s->at++;
            return KILN_OK;
        }
        if (*s->at == '/') {
            t->empty = true;
            s->at++;
            continue;
        }
        KILN_TRY(read_attribute(s, t, error));
    }
    return kiln_source_fail_at(s, t->place, error, "a tag does not end");
}

static kiln_text attribute(const tag *t, const char *name)
{
    for (int i = 0; i < t->attributes; i++)
        if (kiln_text_is(t->attribute[i], name))
            return t->value[i];
    return (kiln_text){"", 0};
}

static kiln_status count_attribute(const reader *r, const tag *t, const char *name, uint64_t preset,
                                   uint64_t *value, kiln_error *error)
{
    kiln_text text = attribute(t, name);
    uint64_t x = 0;
    *value = preset;
    if (text.size == 0)
        return KILN_OK;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || x > (uint64_t)INT64_MAX / 10 - 1)
            return kiln_source_fail_at(r->source, text.data, error,
                                       "%s must be a count, found '%.*s'", name, KILN_SHOWN(text));
        x = 10 * x + (uint64_t)(text.data[i] - '0');
    }
    *value = x;
    return KILN_OK;
}

static kiln_status open_file(reader *r, const tag *t, kiln_error *error)
{
    kiln_source *s = r->source;
    kiln_text type = attribute(t, "type"), order = attribute(t, "byte_order");
    kiln_text compressor = attribute(t, "compressor"), header = attribute(t, "header_type");
    if (!kiln_text_is(type, "UnstructuredGrid"))
        return kiln_source_fail_at(s, t->place, error,
                                   "the file is '%.*s', only UnstructuredGrid is read",
                                   KILN_SHOWN(type));
    r->swap = kiln_text_is(order, "BigEndian");
    if (!r->swap && order.size && !kiln_text_is(order, "LittleEndian"))
        return kiln_source_fail_at(s, order.data, error, "unknown byte_order");
    r->compressed = compressor.size != 0;
    if (r->compressed && !kiln_text_is(compressor, "vtkZLibDataCompressor"))
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, s->name, 0, -1,
                         "compressed by %.*s; only vtkZLibDataCompressor is read",
                         KILN_SHOWN(compressor));
    r->wide = kiln_text_is(header, "UInt64");
    if (!r->wide && header.size && !kiln_text_is(header, "UInt32"))
        return kiln_source_fail_at(s, header.data, error, "header_type must be UInt32 or UInt64");
    return KILN_OK;
}

static kiln_status open_piece(reader *r, const tag *t, kiln_error *error)
{
    uint64_t points, cells;
    KILN_TRY(count_attribute(r, t, "NumberOfPoints", 0, &points, error));
    KILN_TRY(count_attribute(r, t, "NumberOfCells", 0, &cells, error));
    if (points >= UINT32_MAX || cells >= UINT32_MAX)
        return kiln_source_fail_at(r->source, t->place, error,
                                   "%llu points and %llu cells are more than can be numbered",
                                   (unsigned long long)points, (unsigned long long)cells);
    kiln_vtk_piece piece = {.point_count = points, .cell_count = cells};
    return kiln_array_push(r->soup->context, &r->pieces, piece, error);
}

static kiln_status add_array(reader *r, const tag *t, kiln_error *error)
{
    kiln_source *s = r->source;
    data_array a = {.section = r->section,
                    .piece = r->pieces.count ? (uint32_t)r->pieces.count - 1 : 0,
                    .name = attribute(t, "Name"),
                    .where = attribute(t, "KilnWhere"),
                    .place = t->place,
                    .content = s->at};
    kiln_text type = attribute(t, "type"), format = attribute(t, "format");
    int found = 0;
    for (int i = 0; i < KILN_VTK_TYPE_COUNT && !found; i++)
        if (kiln_text_is(type, kiln_vtk_type_about((kiln_vtk_type)i).vtu)) {
            a.type = (kiln_vtk_type)i;
            found = 1;
        }
    if (!found) {
        if (kiln_text_is(type, "String"))
            return KILN_OK; /* notes in FieldData */
        return kiln_source_fail_at(s, t->place, error, "unknown type '%.*s' of a DataArray",
                                   KILN_SHOWN(type));
    }
    if (kiln_text_is(format, "appended"))
        a.format = FORMAT_APPENDED;
    else if (kiln_text_is(format, "binary"))
        a.format = FORMAT_BASE64;
    else if (kiln_text_is(format, "ascii") || format.size == 0)
        a.format = FORMAT_ASCII;
    else
        return kiln_source_fail_at(s, format.data, error, "unknown format of a DataArray");
    KILN_TRY(count_attribute(r, t, "NumberOfComponents", 1, &a.components, error));
    KILN_TRY(count_attribute(r, t, "NumberOfTuples", 0, &a.tuples, error));
    KILN_TRY(count_attribute(r, t, "offset", 0, &a.offset, error));
    a.components = a.components ? a.components : 1;
    if (a.components > 1024)
        return kiln_source_fail_at(s, t->place, error, "%llu components are too many",
                                   (unsigned long long)a.components);
    return kiln_array_push(r->soup->context, &r->arrays, a, error);
}

static section section_named(kiln_text name)
{
    static const struct {
        const char *name;
        section section;
    } names[] = {{"Points", SECTION_POINTS},
                 {"Cells", SECTION_CELLS},
                 {"PointData", SECTION_POINT_DATA},
                 {"CellData", SECTION_CELL_DATA},
                 {"FieldData", SECTION_FIELD_DATA}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (kiln_text_is(name, names[i].name))
            return names[i].section;
    return SECTION_NONE;
}

static kiln_status open_appended(reader *r, const tag *t, kiln_error *error)
{
    kiln_text encoding = attribute(t, "encoding");
    r->appended_base64 = kiln_text_is(encoding, "base64");
    if (!r->appended_base64 && !kiln_text_is(encoding, "raw"))
        return kiln_source_fail_at(r->source, t->place, error, "encoding must be raw or base64");
    KILN_TRY(skip_past(r->source, "_", error));
    r->appended = r->source->at;
    return KILN_OK;
}

static kiln_status read_tags(reader *r, kiln_error *error)
{
    tag t;
    KILN_TRY(next_tag(r->source, &t, error));
    if (t.closing || !kiln_text_is(t.name, "VTKFile"))
        return kiln_source_fail_at(r->source, t.place, error, "expected <VTKFile ...>");
    KILN_TRY(open_file(r, &t, error));
    for (;;) {
        KILN_TRY(next_tag(r->source, &t, error));
        section named = section_named(t.name);
        if (t.closing && kiln_text_is(t.name, "VTKFile"))
            return KILN_OK;
        if (named != SECTION_NONE)
            r->section = t.closing || t.empty ? SECTION_NONE : named;
        else if (t.closing)
            continue;
        else if (kiln_text_is(t.name, "Piece"))
            KILN_TRY(open_piece(r, &t, error));
        else if (kiln_text_is(t.name, "DataArray") && r->section != SECTION_NONE) {
            if (r->section != SECTION_FIELD_DATA && r->pieces.count == 0)
                return kiln_source_fail_at(r->source, t.place, error, "a DataArray before <Piece>");
            KILN_TRY(add_array(r, &t, error));
        } else if (kiln_text_is(t.name, "AppendedData"))
            return open_appended(r, &t, error);
    }
}

/* Bytes from plain data or from base64 text. */
typedef struct stream {
    const char *at, *end;
    bool base64;
    uint32_t bits; /* of base64: decoded but not taken yet */
    int bit_count;
    int in_group; /* characters taken of a group of four */
} stream;

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* At most this many bytes can still come. */
static uint64_t stream_left(const stream *s)
{
    uint64_t left = (uint64_t)(s->end - s->at);
    return s->base64 ? left / 4 * 3 + 3 : left;
}

static bool stream_take(stream *s, char *out, uint64_t size)
{
    if (!s->base64) {
        if (size > (uint64_t)(s->end - s->at))
            return false;
        memcpy(out, s->at, (size_t)size);
        s->at += size;
        return true;
    }
    for (uint64_t i = 0; i < size;) {
        if (s->bit_count == 0 && s->in_group == 0 && size - i >= 3 && s->end - s->at >= 4) {
            int a = sextet(s->at[0]), b = sextet(s->at[1]), c = sextet(s->at[2]),
                d = sextet(s->at[3]);
            if ((a | b | c | d) >= 0) {
                uint32_t word =
                    (uint32_t)a << 18 | (uint32_t)b << 12 | (uint32_t)c << 6 | (uint32_t)d;
                out[i++] = (char)(word >> 16);
                out[i++] = (char)(word >> 8);
                out[i++] = (char)word;
                s->at += 4;
                continue;
            }
        }
        while (s->bit_count < 8) {
            while (s->at != s->end && is_space(*s->at))
                s->at++;
            int next = s->at != s->end ? sextet(*s->at) : -1;
            if (next < 0)
                return false;
            s->at++;
            s->in_group = (s->in_group + 1) & 3;
            s->bits = s->bits << 6 | (uint32_t)next;
            s->bit_count += 6;
        }
        s->bit_count -= 8;
        out[i++] = (char)(s->bits >> s->bit_count);
    }
    return true;
}

/* Ends a base64 stream at its padding; another may follow. */
static void stream_finish(stream *s)
{
    while (s->base64 && s->in_group && s->at != s->end) {
        s->in_group = is_space(*s->at) ? s->in_group : (s->in_group + 1) & 3;
        s->at++;
    }
    s->bit_count = s->in_group = 0;
}

static bool stream_header(const reader *r, stream *s, uint64_t *value)
{
    char bytes[8];
    if (!stream_take(s, bytes, r->wide ? 8 : 4))
        return false;
    *value = r->wide ? kiln_load_u64(bytes, r->swap) : kiln_load_u32(bytes, r->swap);
    return true;
}

static kiln_status fail_array(const reader *r, const data_array *a, kiln_error *error,
                              const char *what)
{
    return kiln_source_fail_at(r->source, a->place, error, "array '%.*s': %s", KILN_SHOWN(a->name),
                               what);
}

static kiln_status decode_text(reader *r, const data_array *a, uint64_t count,
                               kiln_vtk_values *values, kiln_error *error)
{
    kiln_source s = *r->source;
    s.at = a->content;
    if (count > (kiln_source_left(&s) + 1) / 2)
        return fail_array(r, a, error, "more numbers than the file can hold");
    bool integer = kiln_vtk_type_is_integer(a->type);
    KILN_TRY(kiln_vtk_values_allocate(r->soup->context, values,
                                      integer ? KILN_VTK_I64 : KILN_VTK_F64, (size_t)count, error));
    for (uint64_t i = 0; i < count; i++) {
        char *out = values->block + 8 * i;
        if (integer) {
            int64_t x;
            KILN_TRY(kiln_source_integer(&s, INT64_MIN + 1, INT64_MAX, "a value", &x, error));
            memcpy(out, &x, sizeof x);
        } else {
            double x;
            kiln_source_skip_space(&s);
            const char *after = kiln_decimal_parse(s.at, s.end, &x);
            if (!after)
                return kiln_source_fail(&s, error, "expected a number of array '%.*s'",
                                        KILN_SHOWN(a->name));
            s.at = after;
            memcpy(out, &x, sizeof x);
        }
    }
    return KILN_OK;
}

static kiln_status decode_plain(reader *r, const data_array *a, stream *s, uint64_t count,
                                kiln_vtk_values *values, kiln_error *error)
{
    uint64_t size = count * kiln_vtk_type_about(a->type).size, stored;
    if (!stream_header(r, s, &stored) || stored != size)
        return fail_array(r, a, error, "its size in bytes is not that of its numbers");
    if (size > stream_left(s))
        return fail_array(r, a, error, "the file ends inside it");
    if (!s->base64) {
        *values = (kiln_vtk_values){a->type, r->swap, s->at, (size_t)count, NULL, 0};
        return KILN_OK;
    }
    KILN_TRY(kiln_vtk_values_allocate(r->soup->context, values, a->type, (size_t)count, error));
    values->swap = r->swap;
    if (!stream_take(s, values->block, size))
        return fail_array(r, a, error, "the base64 text ends inside it");
    return KILN_OK;
}

/* Sizes of the blocks, from the head of a compressed array. */
typedef struct block_list {
    uint64_t count, size, last; /* bytes of a block when unpacked, and of the last one */
    KILN_ARRAY_OF(uint64_t)
    packed;
} block_list;

static kiln_status read_blocks(reader *r, const data_array *a, stream *s, uint64_t size,
                               block_list *blocks, kiln_error *error)
{
    uint64_t partial, packed = 0;
    if (!stream_header(r, s, &blocks->count) ||
        (blocks->count && (!stream_header(r, s, &blocks->size) || !stream_header(r, s, &partial))))
        return fail_array(r, a, error, "the file ends inside its block sizes");
    if (blocks->count == 0)
        return size == 0 ? KILN_OK : fail_array(r, a, error, "it is empty");
    blocks->last = partial ? partial : blocks->size;
    if (blocks->size == 0 || blocks->size > UINT32_MAX || blocks->last > blocks->size ||
        blocks->count - 1 > size / blocks->size ||
        (blocks->count - 1) * blocks->size + blocks->last != size)
        return fail_array(r, a, error, "its blocks do not add up to the size of its numbers");
    if (blocks->count > stream_left(s) / (r->wide ? 8 : 4))
        return fail_array(r, a, error, "more blocks than the file can hold");
    KILN_TRY(kiln_array_reserve(r->soup->context, &blocks->packed, (size_t)blocks->count, error));
    for (uint64_t i = 0; i < blocks->count; i++) {
        uint64_t one;
        if (!stream_header(r, s, &one))
            return fail_array(r, a, error, "the file ends inside its block sizes");
        if (one > stream_left(s) || one > UINT32_MAX)
            return fail_array(r, a, error, "a block is larger than the file");
        blocks->packed.data[blocks->packed.count++] = one;
        packed += one;
    }
    stream_finish(s);
    if (packed > stream_left(s))
        return fail_array(r, a, error, "the file ends inside it");
    if (size / ZLIB_RATIO > packed)
        return fail_array(r, a, error, "its size cannot come from so few compressed bytes");
    return KILN_OK;
}

static kiln_status inflate_block(reader *r, const data_array *a, const char *packed,
                                 uint64_t packed_size, char *out, uint64_t size, kiln_error *error)
{
    z_stream *z = &r->zlib;
    if (!r->zlib_ready) {
        z->zalloc = kiln_zlib_allocate;
        z->zfree = kiln_zlib_release;
        z->opaque = r->soup->context;
        if (inflateInit(z) != Z_OK)
            return kiln_fail_memory(error, 0);
        r->zlib_ready = true;
    } else {
        inflateReset(z);
    }
    z->next_in = (z_const Bytef *)packed;
    z->avail_in = (uInt)packed_size;
    z->next_out = (Bytef *)out;
    z->avail_out = (uInt)size;
    int result = inflate(z, Z_FINISH);
    if (result == Z_MEM_ERROR)
        return kiln_fail_memory(error, 0);
    if (result != Z_STREAM_END || z->avail_out != 0)
        return fail_array(r, a, error, "a compressed block is damaged");
    return KILN_OK;
}

static kiln_status inflate_blocks(reader *r, const data_array *a, stream *s,
                                  const block_list *blocks, char *out, kiln_error *error)
{
    kiln_context *context = r->soup->context;
    KILN_ARRAY_OF(char)
    scratch = {0};
    kiln_status status = KILN_OK;
    for (uint64_t i = 0; i < blocks->count && status == KILN_OK; i++) {
        uint64_t packed = blocks->packed.data[i];
        const char *from = s->at;
        if (s->base64) {
            status = kiln_array_reserve(context, &scratch, (size_t)packed + 1, error);
            if (status == KILN_OK && !stream_take(s, scratch.data, packed))
                status = fail_array(r, a, error, "the base64 text ends inside it");
            from = scratch.data;
        } else {
            s->at += packed;
        }
        if (status == KILN_OK)
            status = inflate_block(r, a, from, packed, out + i * blocks->size,
                                   i + 1 == blocks->count ? blocks->last : blocks->size, error);
    }
    kiln_array_free(context, &scratch);
    return status;
}

static kiln_status decode_zlib(reader *r, const data_array *a, stream *s, uint64_t count,
                               kiln_vtk_values *values, kiln_error *error)
{
    block_list blocks = {0};
    uint64_t size = count * kiln_vtk_type_about(a->type).size;
    kiln_status status = read_blocks(r, a, s, size, &blocks, error);
    if (status == KILN_OK)
        status = kiln_vtk_values_allocate(r->soup->context, values, a->type, (size_t)count, error);
    if (status == KILN_OK) {
        values->swap = r->swap;
        status = inflate_blocks(r, a, s, &blocks, values->block, error);
    }
    kiln_array_free(r->soup->context, &blocks.packed);
    return status;
}

/* `count` numbers of an array; the caller frees them whatever happens. */
static kiln_status decode(reader *r, const data_array *a, uint64_t count, kiln_vtk_values *values,
                          kiln_error *error)
{
    *values = (kiln_vtk_values){0};
    if (count > UINT64_MAX / 16 || count > SIZE_MAX / 16)
        return fail_array(r, a, error, "it is too large");
    if (a->format == FORMAT_ASCII)
        return decode_text(r, a, count, values, error);
    stream s = {.at = a->content, .end = r->source->end, .base64 = true};
    if (a->format == FORMAT_APPENDED) {
        if (!r->appended || a->offset > (uint64_t)(r->source->end - r->appended))
            return fail_array(r, a, error, "its offset is outside the appended data");
        s.at = r->appended + a->offset;
        s.base64 = r->appended_base64;
    } else {
        while (s.at != s.end && is_space(*s.at))
            s.at++;
    }
    /* An array without numbers may have a zero for a head, or no head at all. */
    if (count == 0)
        return KILN_OK;
    return r->compressed ? decode_zlib(r, a, &s, count, values, error)
                         : decode_plain(r, a, &s, count, values, error);
}

static const data_array *find_array(const reader *r, section where, uint32_t piece,
                                    const char *name)
{
    for (size_t i = 0; i < r->arrays.count; i++) {
        const data_array *a = &r->arrays.data[i];
        if (a->section == where && a->piece == piece && (!name || kiln_text_is(a->name, name)))
            return a;
    }
    return NULL;
}

static kiln_status read_points(reader *r, uint32_t number, kiln_error *error)
{
    kiln_vtk_piece *piece = &r->pieces.data[number];
    const data_array *a = find_array(r, SECTION_POINTS, number, NULL);
    if (!a && piece->point_count > 0)
        return kiln_source_fail(r->source, error, "piece %u has no points", number + 1);
    if (a && a->components != 3)
        return fail_array(r, a, error, "points must have 3 components");
    kiln_vtk_values values = {0};
    kiln_status status = KILN_OK;
    if (a)
        status = decode(r, a, 3 * (uint64_t)piece->point_count, &values, error);
    if (status == KILN_OK)
        status = kiln_vtk_add_points(r->soup, &values, piece, error);
    kiln_vtk_values_free(r->soup->context, &values);
    return status;
}

static kiln_status read_cells(reader *r, uint32_t number, kiln_error *error)
{
    kiln_context *context = r->soup->context;
    kiln_vtk_piece *piece = &r->pieces.data[number];
    const data_array *types = find_array(r, SECTION_CELLS, number, "types");
    const data_array *ends = find_array(r, SECTION_CELLS, number, "offsets");
    const data_array *connectivity = find_array(r, SECTION_CELLS, number, "connectivity");
    uint64_t count = piece->cell_count;
    kiln_vtk_values t = {0}, e = {0}, c = {0};
    if (count > 0 && (!types || !ends || !connectivity))
        return kiln_source_fail(r->source, error, "piece %u lacks connectivity, offsets or types",
                                number + 1);
    kiln_status status = KILN_OK;
    if (count > 0) {
        int64_t total = 0;
        status = decode(r, types, count, &t, error);
        if (status == KILN_OK)
            status = decode(r, ends, count, &e, error);
        if (status == KILN_OK) {
            kiln_vtk_to_i64(&e, (size_t)count - 1, 1, &total);
            if (total < 0)
                status = fail_array(r, ends, error, "the last offset is negative");
        }
        if (status == KILN_OK)
            status = decode(r, connectivity, (uint64_t)total, &c, error);
    }
    if (status == KILN_OK)
        status = kiln_vtk_add_cells(&r->cells, r->source, r->soup, &t, &e, &c, piece, error);
    kiln_vtk_values_free(context, &t);
    kiln_vtk_values_free(context, &e);
    kiln_vtk_values_free(context, &c);
    return status;
}

/* "a&amp;b" and its like; at most the size of a field's name. */
static kiln_text plain_name(kiln_text name, char buffer[KILN_NAME_SIZE])
{
    static const struct {
        const char *code;
        char byte;
    } entities[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    size_t used = 0;
    for (size_t i = 0; i < name.size && used + 1 < KILN_NAME_SIZE;) {
        size_t step = 1;
        char byte = name.data[i];
        for (size_t k = 0; byte == '&' && step == 1 && k < sizeof entities / sizeof entities[0];
             k++)
            if (name.size - i >= strlen(entities[k].code) &&
                memcmp(name.data + i, entities[k].code, strlen(entities[k].code)) == 0) {
                step = strlen(entities[k].code);
                byte = entities[k].byte;
                break;
            }
        buffer[used++] = byte ? byte : ' ';
        i += step;
    }
    return (kiln_text){buffer, used};
}

static kiln_status read_data(reader *r, const data_array *a, kiln_error *error)
{
    kiln_vtk_piece *piece = &r->pieces.data[a->piece];
    char buffer[KILN_NAME_SIZE];
    kiln_text name = plain_name(a->name, buffer);
    uint64_t items = a->section == SECTION_POINT_DATA ? piece->point_count : piece->cell_count;
    uint32_t components = (uint32_t)a->components;
    kiln_vtk_values values = {0};
    kiln_status status = decode(r, a, items * a->components, &values, error);
    kiln_where only = kiln_text_is(a->where, "tets")    ? KILN_ON_TET
                      : kiln_text_is(a->where, "faces") ? KILN_ON_FACE
                                                        : KILN_WHERE_COUNT;
    if (status == KILN_OK && a->section == SECTION_POINT_DATA)
        status = kiln_vtk_add_point_data(r->soup, name, &values, components, piece, error);
    else if (status == KILN_OK && items > 0)
        status = kiln_vtk_add_cell_data(&r->cells, r->soup, name, &values, components, piece, only,
                                        error);
    kiln_vtk_values_free(r->soup->context, &values);
    return status;
}

/* The marks that our writer keeps in FieldData. */
static kiln_status read_marks(reader *r, const data_array *a, kiln_error *error)
{
    kiln_u32_array *list = NULL;
    for (int i = 0; i < KILN_VTU_MARKS; i++)
        if (kiln_text_is(a->name, kiln_vtu_mark_name(i)))
            list = kiln_vtu_mark_list(r->soup, i);
    if (!list || list->count > 0)
        return KILN_OK;
    kiln_vtk_values values = {0};
    kiln_status status = a->tuples > UINT32_MAX
                             ? fail_array(r, a, error, "it is too large")
                             : decode(r, a, a->tuples * a->components, &values, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(r->soup->context, list, values.count, error);
    for (size_t i = 0; status == KILN_OK && i < values.count; i++) {
        int64_t mark;
        kiln_vtk_to_i64(&values, i, 1, &mark);
        if (mark < 0 || mark >= UINT32_MAX)
            status = fail_array(r, a, error, "a number is out of range");
        else
            list->data[list->count++] = (uint32_t)mark;
    }
    kiln_vtk_values_free(r->soup->context, &values);
    return status;
}

static kiln_status read_all(reader *r, kiln_error *error)
{
    KILN_TRY(read_tags(r, error));
    r->source->binary = r->appended != NULL;
    for (uint32_t i = 0; i < r->pieces.count; i++) {
        KILN_TRY(read_points(r, i, error));
        KILN_TRY(read_cells(r, i, error));
    }
    for (size_t i = 0; i < r->arrays.count; i++) {
        const data_array *a = &r->arrays.data[i];
        if (a->section == SECTION_POINT_DATA || a->section == SECTION_CELL_DATA)
            KILN_TRY(read_data(r, a, error));
        else if (a->section == SECTION_FIELD_DATA)
            KILN_TRY(read_marks(r, a, error));
    }
    return KILN_OK;
}

kiln_status kiln_vtu_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    reader r = {.source = source, .soup = soup, .cells = {.context = soup->context}};
    kiln_status status = read_all(&r, error);
    if (r.zlib_ready)
        inflateEnd(&r.zlib);
    kiln_array_free(soup->context, &r.arrays);
    kiln_array_free(soup->context, &r.pieces);
    kiln_array_free(soup->context, &r.cells.kinds);
    return status;
}

bool kiln_vtu_sniff(kiln_text start)
{
    size_t limit = start.size < 512 ? start.size : 512;
    for (size_t i = 0; i + 8 <= limit; i++)
        if (memcmp(start.data + i, "<VTKFile", 8) == 0)
            return true;
    return false;
}
