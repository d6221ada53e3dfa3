/* Writing .vtu. Each array is described as stretches of memory or a rule; blocks of it are gathered
 * and packed in parallel, a fixed number at a time, and joined in order, so the file does not
 * depend on the number of threads. */
#include "io/vtu.h"

#include "base/parallel.h"
#include "io/vtk_data.h"

#include <zlib.h>

enum {
    BLOCK = 1 << 18, /* bytes packed at a time */
    GROUP = 32,      /* blocks in flight */
    SAMPLE = 1024,   /* bytes that tell whether a block can be packed */
    STORED_PIECE = 65535,
    MOST_SEGMENTS = 3 /* tets, triangles, edges */
};

typedef enum value_source { FROM_MEMORY, FROM_OFFSETS, FROM_TYPES } value_source;

/* The numbers of an array, `memory` NULL: zeros. */
typedef struct segment {
    const void *memory;
    size_t count;
} segment;

typedef struct array {
    const char *name, *where;
    kiln_vtk_type type, held; /* in the file, in memory: bytes of wider numbers, or the same */
    bool whole;               /* numbers of things */
    uint32_t components;
    size_t count; /* numbers in all */
    value_source source;
    segment segments[MOST_SEGMENTS];
    int strategy;    /* zlib's */
    uint64_t offset; /* in the appended data */
} array;

typedef struct packer {
    z_stream zlib;
    bool ready;
    char *raw; /* one block */
} packer;

typedef struct writer {
    kiln_context *context;
    const kiln_soup *soup;
    kiln_vtu_layout layout;
    kiln_sink sink;
    KILN_ARRAY_OF(array)
    arrays;
    size_t marks, point_data, cell_data, ends; /* where the sections begin in `arrays` */
    KILN_ARRAY_OF(char)
    packed; /* head and blocks of arrays */
    KILN_ARRAY_OF(char)
    text; /* the same in base64 */
    packer packers[KILN_MAX_THREADS];
    char *slots; /* [GROUP][slot_size] */
    size_t slot_size;
    /* the group being packed */
    const array *current;
    size_t first_block;
    size_t slot_used[GROUP]; /* 0: failed */
} writer;

const char *kiln_vtu_mark_name(int mark)
{
    static const char *const names[KILN_VTU_MARKS] = {"kiln:corners", "kiln:required_points",
                                                      "kiln:ridges", "kiln:required_edges",
                                                      "kiln:required_triangles"};
    return names[mark];
}

kiln_u32_array *kiln_vtu_mark_list(kiln_soup *soup, int mark)
{
    kiln_u32_array *const lists[KILN_VTU_MARKS] = {&soup->corners, &soup->required_points,
                                                   &soup->ridges, &soup->required_edges,
                                                   &soup->required_triangles};
    return lists[mark];
}

static size_t cell_count(const kiln_soup *soup)
{
    return soup->tets.count + soup->triangles.count + soup->edges.count;
}

static void fill_offsets(const kiln_soup *soup, kiln_vtk_type type, size_t first, size_t count,
                         char *out)
{
    uint64_t tets = soup->tets.count, faces = tets + soup->triangles.count;
    for (size_t i = 0; i < count; i++) {
        uint64_t n = first + i + 1, end = 4 * (n < tets ? n : tets);
        end += n > tets ? 3 * ((n < faces ? n : faces) - tets) : 0;
        end += n > faces ? 2 * (n - faces) : 0;
        if (type == KILN_VTK_I32) {
            uint32_t narrow = (uint32_t)end;
            memcpy(out + 4 * i, &narrow, 4);
        } else {
            memcpy(out + 8 * i, &end, 8);
        }
    }
}

static void fill_types(const kiln_soup *soup, size_t first, size_t count, char *out)
{
    size_t tets = soup->tets.count, faces = tets + soup->triangles.count;
    for (size_t i = 0; i < count; i++)
        out[i] = first + i < tets ? 10 : first + i < faces ? 5 : 3;
}

static void fill_bytes(kiln_vtk_type held, const void *memory, size_t count, char *out)
{
    const int32_t *tags = memory;
    const double *numbers = memory;
    if (held == KILN_VTK_I32)
        for (size_t i = 0; i < count; i++)
            out[i] = (char)tags[i];
    else
        for (size_t i = 0; i < count; i++)
            out[i] = (char)(uint8_t)numbers[i];
}

/* Numbers [first, first + count) of the array, as bytes. */
static void fill(const writer *w, const array *a, size_t first, size_t count, char *out)
{
    size_t width = kiln_vtk_type_about(a->held).size;
    size_t size = kiln_vtk_type_about(a->type).size;
    if (a->source == FROM_OFFSETS) {
        fill_offsets(w->soup, a->type, first, count, out);
        return;
    }
    if (a->source == FROM_TYPES) {
        fill_types(w->soup, first, count, out);
        return;
    }
    for (int s = 0; s < MOST_SEGMENTS && count > 0; s++) {
        const segment *from = &a->segments[s];
        if (first >= from->count) {
            first -= from->count;
            continue;
        }
        size_t here = from->count - first < count ? from->count - first : count;
        const char *memory = from->memory;
        if (!memory)
            memset(out, 0, here * size);
        else if (a->held == a->type)
            memcpy(out, memory + first * size, here * size);
        else
            fill_bytes(a->held, memory + first * width, here, out);
        out += here * size;
        count -= here;
        first = 0;
    }
}

/* Are these numbers of few things, 0 to 255? */
static bool are_bytes(kiln_vtk_type held, const segment *s)
{
    const int32_t *tags = s->memory;
    const double *numbers = s->memory;
    uint32_t bits = 0;
    for (size_t i = 0; tags && held == KILN_VTK_I32 && i < s->count; i++)
        bits |= (uint32_t)tags[i];
    for (size_t i = 0; numbers && held == KILN_VTK_F64 && i < s->count; i++)
        bits |= numbers[i] >= 0.0 && numbers[i] <= 255.0 ? (uint32_t)numbers[i] : UINT32_MAX;
    return bits <= UINT8_MAX;
}

/* Whole numbers, in bytes where that is enough: most of packing is what there is to pack. */
static void narrow(array *a)
{
    bool fit = true;
    for (int s = 0; fit && s < MOST_SEGMENTS; s++)
        fit = are_bytes(a->held, &a->segments[s]);
    a->type = fit ? KILN_VTK_U8 : a->held;
}

static kiln_status add_array(writer *w, array a, kiln_error *error)
{
    a.held = a.type;
    if (a.whole)
        narrow(&a);
    for (int s = 0; a.source == FROM_MEMORY && s < MOST_SEGMENTS; s++)
        a.count += a.segments[s].count;
    return kiln_array_push(w->context, &w->arrays, a, error);
}

static kiln_status add_geometry(writer *w, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    size_t cells = cell_count(soup);
    uint64_t corners = 4 * (uint64_t)soup->tets.count + 3 * (uint64_t)soup->triangles.count +
                       2 * (uint64_t)soup->edges.count;
    /* Run-length matches only: level 1 spends its time on matches that coordinates do not have. */
    KILN_TRY(add_array(w,
                       (array){.name = "Points",
                               .type = KILN_VTK_F64,
                               .components = 3,
                               .strategy = Z_RLE,
                               .segments = {{soup->points.data, 3 * soup->points.count}}},
                       error));
    KILN_TRY(add_array(w,
                       (array){.name = "connectivity",
                               .type = KILN_VTK_I32,
                               .components = 1,
                               .segments = {{soup->tets.data, 4 * soup->tets.count},
                                            {soup->triangles.data, 3 * soup->triangles.count},
                                            {soup->edges.data, 2 * soup->edges.count}}},
                       error));
    KILN_TRY(add_array(w,
                       (array){.name = "offsets",
                               .type = corners <= INT32_MAX ? KILN_VTK_I32 : KILN_VTK_I64,
                               .components = 1,
                               .count = cells,
                               .strategy = Z_RLE,
                               .source = FROM_OFFSETS},
                       error));
    return add_array(w,
                     (array){.name = "types",
                             .type = KILN_VTK_U8,
                             .components = 1,
                             .count = cells,
                             .strategy = Z_RLE,
                             .source = FROM_TYPES},
                     error);
}

static kiln_status add_point_data(writer *w, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    if (soup->point_tags.count)
        KILN_TRY(add_array(w,
                           (array){.name = "region",
                                   .type = KILN_VTK_I32,
                                   .whole = true,
                                   .components = 1,
                                   .strategy = Z_RLE,
                                   .segments = {{soup->point_tags.data, soup->points.count}}},
                           error));
    for (size_t i = 0; i < soup->fields.count; i++) {
        const kiln_soup_field *field = &soup->fields.data[i];
        if (field->where == KILN_ON_VERTEX)
            KILN_TRY(add_array(w,
                               (array){.name = field->name,
                                       .type = KILN_VTK_F64,
                                       .components = field->components,
                                       .strategy = Z_RLE,
                                       .segments = {{field->data.data, field->data.count}}},
                               error));
    }
    return KILN_OK;
}

static const void *tags_or_null(const int32_t *tags, size_t count)
{
    return count ? tags : NULL;
}

/* A field of the tets together with one of the triangles of the same name and width. */
static kiln_status add_cell_field(writer *w, const kiln_soup_field *tets,
                                  const kiln_soup_field *faces, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    const kiln_soup_field *any = tets ? tets : faces;
    uint32_t n = any->components;
    bool alone = (tets ? soup->triangles.count : soup->tets.count) > 0 && !(tets && faces);
    array a = {.name = any->name,
               .where = !alone ? NULL
                        : tets ? "tets"
                               : "faces",
               .type = KILN_VTK_F64,
               .whole = any->whole,
               .components = n,
               .strategy = Z_RLE,
               .segments = {{tets ? tets->data.data : NULL, n * soup->tets.count},
                            {faces ? faces->data.data : NULL, n * soup->triangles.count},
                            {NULL, n * soup->edges.count}}};
    return add_array(w, a, error);
}

/* "region": tags of the tets, and of the tets behind triangles. "patch": those of triangles and
 * edges. A mesh without tets has one kind of tags: "region". */
static kiln_status add_cell_tags(writer *w, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    const segment tets = {tags_or_null(soup->tet_tags.data, soup->tet_tags.count),
                          soup->tets.count};
    const segment faces = {tags_or_null(soup->triangle_tags.data, soup->triangle_tags.count),
                           soup->triangles.count};
    const segment edges = {tags_or_null(soup->edge_tags.data, soup->edge_tags.count),
                           soup->edges.count};
    const segment behind = {tags_or_null(soup->triangle_regions.data, soup->triangle_regions.count),
                            soup->triangles.count};
    array a = {
        .name = "region", .type = KILN_VTK_I32, .whole = true, .components = 1, .strategy = Z_RLE};
    bool surface = soup->tets.count == 0, tagged = faces.memory || edges.memory;
    if (tets.memory || (surface && tagged)) {
        a.segments[0] = tets;
        a.segments[1] = surface ? faces : behind;
        a.segments[2] = surface ? edges : (segment){NULL, edges.count};
        KILN_TRY(add_array(w, a, error));
    }
    if (surface || !tagged)
        return KILN_OK;
    a.name = "patch";
    a.where = "faces";
    a.segments[0] = (segment){NULL, tets.count};
    a.segments[1] = faces;
    a.segments[2] = edges;
    return add_array(w, a, error);
}

static kiln_status add_cell_data(writer *w, kiln_error *error)
{
    const kiln_soup *soup = w->soup;
    KILN_TRY(add_cell_tags(w, error));
    for (size_t i = 0; i < soup->fields.count; i++) {
        const kiln_soup_field *field = &soup->fields.data[i], *other;
        if (field->where == KILN_ON_TET) {
            other = kiln_soup_find_field(soup, KILN_ON_FACE, field->name);
            if (other && other->components != field->components)
                other = NULL;
            KILN_TRY(add_cell_field(w, field, other, error));
        } else if (field->where == KILN_ON_FACE) {
            other = kiln_soup_find_field(soup, KILN_ON_TET, field->name);
            if (!other || other->components != field->components)
                KILN_TRY(add_cell_field(w, NULL, field, error));
        }
    }
    return KILN_OK;
}

static kiln_status list_arrays(writer *w, kiln_error *error)
{
    KILN_TRY(add_geometry(w, error));
    w->point_data = w->arrays.count;
    KILN_TRY(add_point_data(w, error));
    w->cell_data = w->arrays.count;
    KILN_TRY(add_cell_data(w, error));
    w->marks = w->arrays.count;
    kiln_soup copy = *w->soup; /* for the address of its lists only */
    for (int i = 0; i < KILN_VTU_MARKS; i++) {
        const kiln_u32_array *list = kiln_vtu_mark_list(&copy, i);
        if (list->count)
            KILN_TRY(add_array(w,
                               (array){.name = kiln_vtu_mark_name(i),
                                       .type = KILN_VTK_U32,
                                       .components = 1,
                                       .segments = {{list->data, list->count}}},
                               error));
    }
    w->ends = w->arrays.count;
    return KILN_OK;
}

static size_t block_values(const writer *w, const array *a)
{
    uint32_t block = w->layout.block_size ? w->layout.block_size : BLOCK;
    size_t values = block / kiln_vtk_type_about(a->type).size;
    return values ? values : 1;
}

/* The block as it is, in the frame of a zlib stream (RFC 1950, RFC 1951 3.2.4): the size of it. */
static size_t store_block(const char *raw, size_t size, char *out)
{
    char *at = out;
    *at++ = 0x78;
    *at++ = 0x01;
    for (size_t done = 0; done < size || done == 0;) {
        size_t piece = size - done < STORED_PIECE ? size - done : STORED_PIECE;
        *at++ = done + piece == size;
        *at++ = (char)(piece & 255);
        *at++ = (char)(piece >> 8);
        *at++ = (char)(~piece & 255);
        *at++ = (char)(~piece >> 8 & 255);
        memcpy(at, raw + done, piece);
        at += piece;
        done += piece;
        if (size == 0)
            break;
    }
    uLong sum = adler32(adler32(0, NULL, 0), (const Bytef *)raw, (uInt)size);
    for (int shift = 24; shift >= 0; shift -= 8)
        *at++ = (char)(sum >> shift & 255);
    return (size_t)(at - out);
}

static size_t deflate_bytes(packer *p, const char *bytes, size_t size, char *out, size_t room)
{
    deflateReset(&p->zlib);
    p->zlib.next_in = (Bytef *)(uintptr_t)bytes;
    p->zlib.avail_in = (uInt)size;
    p->zlib.next_out = (Bytef *)out;
    p->zlib.avail_out = (uInt)room;
    return deflate(&p->zlib, Z_FINISH) == Z_STREAM_END ? room - p->zlib.avail_out : 0;
}

/* Coordinates and stresses are noise but for a byte in eight: packing them takes most of the time
 * of a frame and saves a few per cent. A piece from the middle tells. Nor is the pattern of offsets
 * one that zlib sees cheaply. */
static bool is_noise(packer *p, const array *a, size_t size, char *out, size_t room)
{
    if (size < 16 * SAMPLE || (a->type != KILN_VTK_F64 && a->source != FROM_OFFSETS))
        return false;
    return a->source == FROM_OFFSETS ||
           deflate_bytes(p, p->raw + size / 2, SAMPLE, out, room) > SAMPLE - SAMPLE / 10;
}

static void pack_block(void *user, size_t slot, size_t begin, size_t end, int worker)
{
    (void)begin;
    (void)end;
    writer *w = user;
    packer *p = &w->packers[worker];
    const array *a = w->current;
    size_t values = block_values(w, a), first = (w->first_block + slot) * values;
    size_t count = a->count - first < values ? a->count - first : values;
    fill(w, a, first, count, p->raw);
    size_t size = count * kiln_vtk_type_about(a->type).size;
    char *out = w->slots + slot * w->slot_size;
    if (is_noise(p, a, size, out, w->slot_size))
        w->slot_used[slot] = store_block(p->raw, size, out);
    else
        w->slot_used[slot] = deflate_bytes(p, p->raw, size, out, w->slot_size);
}

static kiln_status prepare_packers(writer *w, kiln_error *error)
{
    size_t block = w->layout.block_size > BLOCK ? w->layout.block_size : BLOCK;
    w->slot_size = block + block / 16 + 64; /* beyond deflateBound at any strategy */
    w->slots = kiln_resize(w->context, NULL, 0, GROUP * w->slot_size);
    if (!w->slots)
        return kiln_fail_memory(error, GROUP * w->slot_size);
    for (int i = 0; i < w->context->threads; i++) {
        packer *p = &w->packers[i];
        p->raw = kiln_resize(w->context, NULL, 0, block);
        p->zlib.zalloc = kiln_zlib_allocate;
        p->zlib.zfree = kiln_zlib_release;
        p->zlib.opaque = w->context;
        if (!p->raw || deflateInit(&p->zlib, 1) != Z_OK)
            return kiln_fail_memory(error, block);
        p->ready = true;
    }
    return KILN_OK;
}

static void release_packers(writer *w)
{
    size_t block = w->layout.block_size > BLOCK ? w->layout.block_size : BLOCK;
    for (int i = 0; i < KILN_MAX_THREADS; i++) {
        if (w->packers[i].ready)
            deflateEnd(&w->packers[i].zlib);
        kiln_release(w->context, w->packers[i].raw, block);
    }
    kiln_release(w->context, w->slots, w->slots ? GROUP * w->slot_size : 0);
}

static void put_header(writer *w, size_t at, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (w->layout.narrow)
        memcpy(w->packed.data + at, &narrow, 4);
    else
        memcpy(w->packed.data + at, &value, 8);
}

static kiln_status pack_zlib(writer *w, const array *a, size_t *head, kiln_error *error)
{
    size_t values = block_values(w, a), size = kiln_vtk_type_about(a->type).size;
    size_t blocks = kiln_chunk_count(a->count, values), wide = w->layout.narrow ? 4 : 8;
    size_t start = w->packed.count;
    *head = (blocks ? 3 + blocks : 1) * wide;
    KILN_TRY(kiln_array_reserve(w->context, &w->packed, start + *head, error));
    w->packed.count = start + *head;
    put_header(w, start, blocks);
    if (blocks == 0)
        return KILN_OK;
    put_header(w, start + wide, values * size);
    put_header(w, start + 2 * wide, a->count % values * size);
    for (int i = 0; i < w->context->threads; i++) {
        deflateReset(&w->packers[i].zlib);
        deflateParams(&w->packers[i].zlib, 1, a->strategy);
    }
    w->current = a;
    for (w->first_block = 0; w->first_block < blocks; w->first_block += GROUP) {
        size_t group = blocks - w->first_block < GROUP ? blocks - w->first_block : GROUP;
        kiln_parallel_for(w->context, group, 1, pack_block, w);
        for (size_t i = 0; i < group; i++) {
            size_t used = w->slot_used[i];
            if (used == 0)
                return kiln_fail(error, KILN_ERR_STATE, w->sink.path, 0, -1, "zlib failed");
            KILN_TRY(kiln_array_reserve(w->context, &w->packed, w->packed.count + used, error));
            memcpy(w->packed.data + w->packed.count, w->slots + i * w->slot_size, used);
            w->packed.count += used;
            put_header(w, start + (3 + w->first_block + i) * wide, used);
        }
    }
    return KILN_OK;
}

/* Head and data of the array at the end of `packed`. */
static kiln_status pack(writer *w, const array *a, size_t *head, kiln_error *error)
{
    size_t size = a->count * kiln_vtk_type_about(a->type).size;
    if (w->layout.narrow && size > UINT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, w->sink.path, 0, -1,
                         "array '%s' has %zu bytes, too many for 32-bit headers", a->name, size);
    if (w->layout.compressed)
        return pack_zlib(w, a, head, error);
    size_t start = w->packed.count;
    *head = w->layout.narrow ? 4 : 8;
    KILN_TRY(kiln_array_reserve(w->context, &w->packed, start + *head + size, error));
    put_header(w, start, size);
    fill(w, a, 0, a->count, w->packed.data + start + *head);
    w->packed.count = start + *head + size;
    return KILN_OK;
}

static kiln_status encode_base64(writer *w, const char *bytes, size_t size, kiln_error *error)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t groups = (size + 2) / 3;
    KILN_TRY(kiln_array_reserve(w->context, &w->text, w->text.count + 4 * groups, error));
    char *out = w->text.data + w->text.count;
    for (size_t i = 0; i < size; i += 3, out += 4) {
        uint32_t left = (uint32_t)(size - i), word = (uint32_t)(unsigned char)bytes[i] << 16;
        word |= left > 1 ? (uint32_t)(unsigned char)bytes[i + 1] << 8 : 0;
        word |= left > 2 ? (uint32_t)(unsigned char)bytes[i + 2] : 0;
        out[0] = digits[word >> 18];
        out[1] = digits[word >> 12 & 63];
        out[2] = left > 1 ? digits[word >> 6 & 63] : '=';
        out[3] = left > 2 ? digits[word & 63] : '=';
    }
    w->text.count += 4 * groups;
    return KILN_OK;
}

/* The array in base64 at the end of `text`; a compressed one has its head encoded apart. */
static kiln_status pack_base64(writer *w, const array *a, kiln_error *error)
{
    size_t head = 0;
    w->packed.count = 0;
    KILN_TRY(pack(w, a, &head, error));
    if (!w->layout.compressed)
        return encode_base64(w, w->packed.data, w->packed.count, error);
    KILN_TRY(encode_base64(w, w->packed.data, head, error));
    return encode_base64(w, w->packed.data + head, w->packed.count - head, error);
}

static kiln_status pack_appended(writer *w, kiln_error *error)
{
    for (size_t i = 0; i < w->arrays.count; i++) {
        array *a = &w->arrays.data[i];
        size_t head = 0;
        a->offset = w->layout.place == KILN_VTU_APPENDED_RAW ? w->packed.count : w->text.count;
        if (w->layout.place == KILN_VTU_APPENDED_RAW)
            KILN_TRY(pack(w, a, &head, error));
        else
            KILN_TRY(pack_base64(w, a, error));
    }
    return KILN_OK;
}

static void put_escaped(kiln_sink *sink, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            kiln_sink_text(sink, "&amp;");
            break;
        case '<':
            kiln_sink_text(sink, "&lt;");
            break;
        case '>':
            kiln_sink_text(sink, "&gt;");
            break;
        case '"':
            kiln_sink_text(sink, "&quot;");
            break;
        default:
            kiln_sink_char(sink, *text);
        }
}

static void put_numbers(writer *w, const array *a)
{
    size_t size = kiln_vtk_type_about(a->type).size, line = a->components > 1 ? a->components : 12;
    char bytes[8];
    for (size_t i = 0; i < a->count; i++) {
        kiln_vtk_values one = {a->type, false, bytes, 1, NULL, 0};
        fill(w, a, i, 1, bytes);
        if (kiln_vtk_type_is_integer(a->type)) {
            int64_t x;
            kiln_vtk_to_i64(&one, 0, 1, &x);
            kiln_sink_integer(&w->sink, x);
        } else {
            double x;
            memcpy(&x, bytes, size);
            kiln_sink_double(&w->sink, x);
        }
        kiln_sink_char(&w->sink, (i + 1) % line == 0 || i + 1 == a->count ? '\n' : ' ');
    }
}

/* What the numbers of a tensor are called: frames have these two. */
static void put_component_names(kiln_sink *sink, const array *a)
{
    static const struct {
        const char *name, *const parts[10];
    } rows[] = {{"stress", {"xx", "yy", "zz", "xy", "yz", "xz"}},
                {"deformation", {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t count = 0;
        while (rows[i].parts[count])
            count++;
        if (strcmp(a->name, rows[i].name) != 0 || a->components != count)
            continue;
        for (uint32_t k = 0; k < count; k++)
            kiln_sink_format(sink, " ComponentName%u=\"%s\"", k, rows[i].parts[k]);
    }
}

static kiln_status put_array(writer *w, const array *a, bool tuples, kiln_error *error)
{
    static const char *const formats[] = {"appended", "appended", "binary", "ascii"};
    kiln_sink *sink = &w->sink;
    kiln_sink_format(sink, "<DataArray type=\"%s\" Name=\"", kiln_vtk_type_about(a->type).vtu);
    put_escaped(sink, a->name);
    kiln_sink_format(sink, "\" NumberOfComponents=\"%u\" format=\"%s\"", a->components,
                     formats[w->layout.place]);
    put_component_names(sink, a);
    if (tuples)
        kiln_sink_format(sink, " NumberOfTuples=\"%zu\"", a->count);
    if (a->where)
        kiln_sink_format(sink, " KilnWhere=\"%s\"", a->where);
    if (w->layout.place <= KILN_VTU_APPENDED_BASE64) {
        kiln_sink_format(sink, " offset=\"%llu\"/>\n", (unsigned long long)a->offset);
        return KILN_OK;
    }
    kiln_sink_text(sink, ">\n");
    if (w->layout.place == KILN_VTU_ASCII) {
        put_numbers(w, a);
    } else {
        w->text.count = 0;
        KILN_TRY(pack_base64(w, a, error));
        kiln_sink_bytes(sink, w->text.data, w->text.count);
        kiln_sink_char(sink, '\n');
    }
    kiln_sink_text(sink, "</DataArray>\n");
    return KILN_OK;
}

static kiln_status put_section(writer *w, const char *name, size_t from, size_t to,
                               kiln_error *error)
{
    kiln_sink_format(&w->sink, "<%s>\n", name);
    for (size_t i = from; i < to; i++)
        KILN_TRY(put_array(w, &w->arrays.data[i], from == w->marks, error));
    kiln_sink_format(&w->sink, "</%s>\n", name);
    return KILN_OK;
}

static kiln_status put_file(writer *w, kiln_error *error)
{
    kiln_sink *sink = &w->sink;
    const bool appended = w->layout.place <= KILN_VTU_APPENDED_BASE64;
    const char *order = kiln_is_little_endian() ? "LittleEndian" : "BigEndian";
    if (appended)
        KILN_TRY(pack_appended(w, error));
    kiln_sink_text(sink, "<?xml version=\"1.0\"?>\n");
    kiln_sink_format(
        sink, "<VTKFile type=\"UnstructuredGrid\" version=\"%s\" byte_order=\"%s\"%s%s>\n",
        w->layout.narrow ? "0.1" : "1.0", order, w->layout.narrow ? "" : " header_type=\"UInt64\"",
        w->layout.compressed ? " compressor=\"vtkZLibDataCompressor\"" : "");
    kiln_sink_text(sink, "<UnstructuredGrid>\n");
    if (w->marks < w->ends)
        KILN_TRY(put_section(w, "FieldData", w->marks, w->ends, error));
    kiln_sink_format(sink, "<Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n",
                     w->soup->points.count, cell_count(w->soup));
    KILN_TRY(put_section(w, "PointData", w->point_data, w->cell_data, error));
    KILN_TRY(put_section(w, "CellData", w->cell_data, w->marks, error));
    KILN_TRY(put_section(w, "Points", 0, 1, error));
    KILN_TRY(put_section(w, "Cells", 1, 4, error));
    kiln_sink_text(sink, "</Piece>\n</UnstructuredGrid>\n");
    if (appended) {
        bool raw = w->layout.place == KILN_VTU_APPENDED_RAW;
        kiln_sink_format(sink, "<AppendedData encoding=\"%s\">\n_", raw ? "raw" : "base64");
        kiln_sink_bytes(sink, raw ? w->packed.data : w->text.data,
                        raw ? w->packed.count : w->text.count);
        kiln_sink_text(sink, "\n</AppendedData>\n");
    }
    kiln_sink_text(sink, "</VTKFile>\n");
    return KILN_OK;
}

static kiln_status write_all(writer *w, kiln_error *error)
{
    if (w->soup->points.count > INT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, w->sink.path, 0, -1,
                         "%zu points are too many for 32-bit numbers", w->soup->points.count);
    KILN_TRY(list_arrays(w, error));
    if (w->layout.compressed)
        KILN_TRY(prepare_packers(w, error));
    return put_file(w, error);
}

kiln_status kiln_vtu_write_as(kiln_context *context, const char *path,
                              const kiln_vtu_layout *layout, const kiln_soup *soup,
                              kiln_error *error)
{
    writer *w = kiln_resize(context, NULL, 0, sizeof *w); /* large: keep it off the stack */
    if (!w)
        return kiln_fail_memory(error, sizeof *w);
    memset(w, 0, sizeof *w);
    w->context = context;
    w->soup = soup;
    w->layout = *layout;
    if (layout->place == KILN_VTU_ASCII)
        w->layout.compressed = false;
    kiln_status status = kiln_sink_open(&w->sink, context, path, error);
    if (status == KILN_OK) {
        status = write_all(w, error);
        if (status == KILN_OK)
            status = kiln_sink_commit(&w->sink, error);
        else
            kiln_sink_discard(&w->sink);
    }
    release_packers(w);
    kiln_array_free(context, &w->arrays);
    kiln_array_free(context, &w->packed);
    kiln_array_free(context, &w->text);
    kiln_release(context, w, sizeof *w);
    return status;
}

kiln_status kiln_vtu_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error)
{
    const kiln_vtu_layout text = {.place = KILN_VTU_ASCII};
    const kiln_vtu_layout packed = {.place = KILN_VTU_APPENDED_RAW, .compressed = true};
    return kiln_vtu_write_as(context, path, encoding == KILN_ENCODING_ASCII ? &text : &packed, soup,
                             error);
}
