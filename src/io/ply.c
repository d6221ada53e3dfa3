/* Stanford PLY. The header is kept as lists of elements and properties; one cursor reads numbers of
 * any type from text or from either binary. */
#include "io/polygons.h"
#include "io/surface_formats.h"
#include "io/vtk_data.h"

enum { MOST_PROPERTIES = 128, MOST_ELEMENTS = 16 };

typedef struct property {
    kiln_text name;
    kiln_vtk_type type, count_type;
    bool list;
} property;

typedef struct element {
    kiln_text name;
    uint64_t count;
    int first, properties; /* in the list of all */
} element;

typedef struct ply {
    kiln_source *source;
    kiln_soup *soup;
    bool text;
    int elements, properties;
    element element[MOST_ELEMENTS];
    property property[MOST_PROPERTIES];
    kiln_u32_array corners;
    bool has_material;
    kiln_f64_array material; /* [point][3] */
} ply;

static bool read_type(kiln_text word, kiln_vtk_type *type)
{
    static const struct {
        const char *name;
        kiln_vtk_type type;
    } names[] = {
        {"char", KILN_VTK_I8},     {"int8", KILN_VTK_I8},     {"uchar", KILN_VTK_U8},
        {"uint8", KILN_VTK_U8},    {"short", KILN_VTK_I16},   {"int16", KILN_VTK_I16},
        {"ushort", KILN_VTK_U16},  {"uint16", KILN_VTK_U16},  {"int", KILN_VTK_I32},
        {"int32", KILN_VTK_I32},   {"uint", KILN_VTK_U32},    {"uint32", KILN_VTK_U32},
        {"float", KILN_VTK_F32},   {"float32", KILN_VTK_F32}, {"double", KILN_VTK_F64},
        {"float64", KILN_VTK_F64},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (kiln_text_is(word, names[i].name)) {
            *type = names[i].type;
            return true;
        }
    return false;
}

static kiln_status need_word(kiln_source *source, const char *what, kiln_text *word,
                             kiln_error *error)
{
    if (!kiln_source_skip_blank(source) || !kiln_source_word(source, word))
        return kiln_source_fail(source, error, "expected %s", what);
    return KILN_OK;
}

static kiln_status read_property(ply *p, kiln_error *error)
{
    kiln_source *s = p->source;
    kiln_text word;
    if (p->elements == 0)
        return kiln_source_fail(s, error, "a property before any element");
    if (p->properties == MOST_PROPERTIES)
        return kiln_source_fail(s, error, "more than %d properties", MOST_PROPERTIES);
    property *made = &p->property[p->properties];
    KILN_TRY(need_word(s, "a type", &word, error));
    made->list = kiln_text_is(word, "list");
    if (made->list) {
        KILN_TRY(need_word(s, "the type of a count", &word, error));
        if (!read_type(word, &made->count_type) || !kiln_vtk_type_is_integer(made->count_type))
            return kiln_source_fail_at(s, word.data, error, "the count of a list is no integer");
        KILN_TRY(need_word(s, "a type", &word, error));
    }
    if (!read_type(word, &made->type))
        return kiln_source_fail_at(s, word.data, error, "unknown type '%.*s'", KILN_SHOWN(word));
    KILN_TRY(need_word(s, "the name of a property", &made->name, error));
    p->properties++;
    p->element[p->elements - 1].properties++;
    return KILN_OK;
}

static kiln_status read_element(ply *p, kiln_error *error)
{
    int64_t count;
    if (p->elements == MOST_ELEMENTS)
        return kiln_source_fail(p->source, error, "more than %d elements", MOST_ELEMENTS);
    element *made = &p->element[p->elements];
    *made = (element){.first = p->properties};
    KILN_TRY(need_word(p->source, "the name of an element", &made->name, error));
    KILN_TRY(kiln_source_integer(p->source, 0, INT64_MAX, "a number of elements", &count, error));
    made->count = (uint64_t)count;
    p->elements++;
    return KILN_OK;
}

static kiln_status read_format(ply *p, kiln_error *error)
{
    kiln_text word;
    KILN_TRY(need_word(p->source, "a format", &word, error));
    p->text = kiln_text_is(word, "ascii");
    bool low = kiln_text_is(word, "binary_little_endian");
    if (!p->text && !low && !kiln_text_is(word, "binary_big_endian"))
        return kiln_source_fail_at(p->source, word.data, error, "unknown format '%.*s'",
                                   KILN_SHOWN(word));
    p->source->swap = !p->text && low != kiln_is_little_endian();
    return KILN_OK;
}

static kiln_status read_header(ply *p, kiln_error *error)
{
    kiln_source *s = p->source;
    kiln_text word, rest;
    bool format = false;
    if (!kiln_source_word(s, &word) || !kiln_text_is(word, "ply"))
        return kiln_source_fail(s, error, "expected 'ply'");
    while (kiln_source_word(s, &word)) {
        if (kiln_text_is(word, "format")) {
            KILN_TRY(read_format(p, error));
            format = true;
        } else if (kiln_text_is(word, "element")) {
            KILN_TRY(read_element(p, error));
        } else if (kiln_text_is(word, "property")) {
            KILN_TRY(read_property(p, error));
        } else if (!kiln_text_is(word, "comment") && !kiln_text_is(word, "obj_info") &&
                   !kiln_text_is(word, "end_header")) {
            return kiln_source_fail_at(s, word.data, error, "'%.*s' is not known in a PLY header",
                                       KILN_SHOWN(word));
        }
        bool end = kiln_text_is(word, "end_header");
        kiln_source_line(s, &rest);
        if (end)
            return format ? KILN_OK : kiln_source_fail(s, error, "the header names no format");
    }
    return kiln_source_fail(s, error, "the file ends before 'end_header'");
}

/* One number; whole ones in text must be written as such. */
static kiln_status read_number(ply *p, kiln_vtk_type type, const char *what, double *value,
                               kiln_error *error)
{
    if (p->text) {
        int64_t whole;
        if (!kiln_vtk_type_is_integer(type))
            return kiln_source_double(p->source, what, value, error);
        KILN_TRY(kiln_source_integer(p->source, INT32_MIN, UINT32_MAX, what, &whole, error));
        *value = (double)whole;
        return KILN_OK;
    }
    kiln_vtk_values one = {.type = type, .swap = p->source->swap, .count = 1};
    KILN_TRY(kiln_source_bytes(p->source, kiln_vtk_type_about(type).size, what, &one.bytes, error));
    kiln_vtk_to_f64(&one, 0, 1, value);
    return KILN_OK;
}

/* A list into `corners` (what is no index becomes UINT32_MAX), or passed over. */
static kiln_status read_list(ply *p, const property *q, bool keep, kiln_error *error)
{
    double count, value;
    KILN_TRY(read_number(p, q->count_type, "the length of a list", &count, error));
    if (!(count >= 0.0))
        return kiln_source_fail(p->source, error, "a list has a negative length");
    KILN_TRY(kiln_source_claim(p->source, (uint64_t)count,
                               p->text ? 2 : kiln_vtk_type_about(q->type).size, "items of a list",
                               error));
    if (keep)
        p->corners.count = 0;
    for (uint64_t i = 0; i < (uint64_t)count; i++) {
        KILN_TRY(read_number(p, q->type, "an item of a list", &value, error));
        if (!keep)
            continue;
        uint32_t v = value >= 0.0 && value < (double)UINT32_MAX ? (uint32_t)value : UINT32_MAX;
        KILN_TRY(kiln_array_push(p->soup->context, &p->corners, v, error));
    }
    return KILN_OK;
}

static kiln_status add_vertex(ply *p, const double xyz[3], kiln_error *error)
{
    return kiln_array_push(p->soup->context, &p->soup->points, kiln_v3(xyz[0], xyz[1], xyz[2]),
                           error);
}

static kiln_status add_face(ply *p, uint64_t row, double tag, kiln_error *error)
{
    size_t points = p->soup->points.count;
    if (p->corners.count < 3)
        return kiln_source_fail(p->source, error, "face %llu has %zu corners, it needs 3",
                                (unsigned long long)row + 1, p->corners.count);
    for (size_t i = 0; i < p->corners.count; i++)
        if (p->corners.data[i] >= points)
            return kiln_source_fail(p->source, error,
                                    "face %llu names vertex %u, but there are only %zu (from 0)",
                                    (unsigned long long)row + 1, p->corners.data[i], points);
    return kiln_polygon_split(p->soup, p->corners.data, p->corners.count,
                              fabs(tag) < 2147483648.0 ? (int32_t)tag : 0, error);
}

/* u_x, u_y, u_z: a material position. */
static bool is_material(kiln_text name)
{
    return name.size == 3 && name.data[0] == 'u' && name.data[1] == '_' && name.data[2] >= 'x' &&
           name.data[2] <= 'z';
}

static bool has_material(const ply *p, const element *e)
{
    int found = 0;
    for (int i = 0; i < e->properties; i++) {
        const property *q = &p->property[e->first + i];
        if (is_material(q->name) && !q->list)
            found |= 1 << (q->name.data[2] - 'x');
    }
    return found == 7;
}

static kiln_status add_material(ply *p, const double u[3], kiln_error *error)
{
    for (int k = 0; k < 3; k++) {
        if (!isfinite(u[k]))
            return kiln_source_fail(p->source, error, "a material position is not finite");
        KILN_TRY(kiln_array_push(p->soup->context, &p->material, u[k], error));
    }
    return KILN_OK;
}

static kiln_status read_row(ply *p, const element *e, uint64_t row, bool vertex, bool face,
                            kiln_error *error)
{
    double xyz[3] = {0, 0, 0}, material[3] = {0, 0, 0}, tag = 0, value;
    bool listed = false;
    for (int i = 0; i < e->properties; i++) {
        const property *q = &p->property[e->first + i];
        if (q->list) {
            bool keep = face && (kiln_text_is(q->name, "vertex_indices") ||
                                 kiln_text_is(q->name, "vertex_index"));
            KILN_TRY(read_list(p, q, keep, error));
            listed |= keep;
            continue;
        }
        KILN_TRY(read_number(p, q->type, "a property", &value, error));
        if (vertex && q->name.size == 1 && q->name.data[0] >= 'x' && q->name.data[0] <= 'z')
            xyz[q->name.data[0] - 'x'] = value;
        if (vertex && is_material(q->name))
            material[q->name.data[2] - 'x'] = value;
        if (face && kiln_text_is(q->name, "tag"))
            tag = value;
    }
    if (vertex && p->has_material)
        KILN_TRY(add_material(p, material, error));
    if (vertex)
        return add_vertex(p, xyz, error);
    return face && listed ? add_face(p, row, tag, error) : KILN_OK;
}

/* The least that one row takes in the file. */
static size_t row_size(const ply *p, const element *e)
{
    size_t size = 0;
    for (int i = 0; i < e->properties; i++) {
        const property *q = &p->property[e->first + i];
        size += p->text ? 2 : kiln_vtk_type_about(q->list ? q->count_type : q->type).size;
    }
    return size ? size : 1;
}

static kiln_status read_body(ply *p, kiln_error *error)
{
    bool any = false;
    p->source->binary = !p->text;
    for (int i = 0; i < p->elements; i++) {
        const element *e = &p->element[i];
        bool vertex = kiln_text_is(e->name, "vertex"), face = kiln_text_is(e->name, "face");
        KILN_TRY(kiln_source_claim(p->source, e->count, row_size(p, e), "rows", error));
        if (vertex && any)
            return kiln_source_fail(p->source, error, "two elements called vertex");
        any |= vertex;
        p->has_material |= vertex && has_material(p, e);
        if (vertex)
            KILN_TRY(
                kiln_array_reserve(p->soup->context, &p->soup->points, (size_t)e->count, error));
        for (uint64_t row = 0; e->properties > 0 && row < e->count; row++)
            KILN_TRY(read_row(p, e, row, vertex, face, error));
    }
    return any ? KILN_OK : kiln_source_fail(p->source, error, "there is no element vertex");
}

kiln_status kiln_ply_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    ply p = {.source = source, .soup = soup};
    kiln_soup_field *u = NULL;
    kiln_status status = read_header(&p, error);
    if (status == KILN_OK)
        status = read_body(&p, error);
    if (status == KILN_OK && p.has_material)
        status = kiln_soup_add_field(soup, "u", KILN_ON_VERTEX, 3, &u, error);
    if (u && p.material.count)
        memcpy(u->data.data, p.material.data, p.material.count * sizeof(double));
    kiln_array_free(soup->context, &p.material);
    kiln_array_free(soup->context, &p.corners);
    return status;
}

bool kiln_ply_sniff(kiln_text start)
{
    return start.size > 4 && memcmp(start.data, "ply", 3) == 0 &&
           (start.data[3] == '\n' || start.data[3] == '\r');
}

/* Material positions [point][3]; NULL: none. */
static const double *material_of(const kiln_soup *soup)
{
    const kiln_soup_field *u = kiln_soup_find_field(soup, KILN_ON_VERTEX, "u");
    return u && u->components == 3 ? u->data.data : NULL;
}

static void put_text(kiln_sink *sink, const kiln_soup *soup)
{
    const double *u = material_of(soup);
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_sink_point(sink, soup->points.data[i]);
        for (int k = 0; u && k < 3; k++) {
            kiln_sink_char(sink, ' ');
            kiln_sink_double(sink, u[3 * i + (size_t)k]);
        }
        kiln_sink_char(sink, '\n');
    }
    for (size_t i = 0; i < soup->triangles.count; i++) {
        kiln_surface_put_triangle(sink, "3", soup->triangles.data[i].v, 0);
        if (soup->triangle_tags.count) {
            kiln_sink_char(sink, ' ');
            kiln_sink_integer(sink, soup->triangle_tags.data[i]);
        }
        kiln_sink_char(sink, '\n');
    }
}

static void put_binary(kiln_sink *sink, const kiln_soup *soup)
{
    const double *u = material_of(soup);
    for (size_t i = 0; u && i < soup->points.count; i++) {
        kiln_sink_bytes(sink, &soup->points.data[i], sizeof soup->points.data[i]);
        kiln_sink_bytes(sink, u + 3 * i, 3 * sizeof *u);
    }
    if (!u)
        kiln_sink_bytes(sink, soup->points.data, soup->points.count * sizeof *soup->points.data);
    for (size_t i = 0; i < soup->triangles.count; i++) {
        kiln_sink_char(sink, 3);
        for (int k = 0; k < 3; k++)
            kiln_sink_u32(sink, soup->triangles.data[i].v[k]);
        if (soup->triangle_tags.count)
            kiln_sink_u32(sink, (uint32_t)soup->triangle_tags.data[i]);
    }
}

static void put_surface(kiln_sink *sink, const kiln_soup *soup, kiln_encoding encoding)
{
    bool text = encoding == KILN_ENCODING_ASCII, little = kiln_is_little_endian();
    kiln_sink_format(
        sink,
        "ply\nformat %s 1.0\ncomment kiln\nelement vertex %zu\nproperty double x\n"
        "property double y\nproperty double z\n%selement face %zu\n"
        "property list uchar uint vertex_indices\n%send_header\n",
        text     ? "ascii"
        : little ? "binary_little_endian"
                 : "binary_big_endian",
        soup->points.count,
        material_of(soup) ? "property double u_x\nproperty double u_y\nproperty double u_z\n" : "",
        soup->triangles.count, soup->triangle_tags.count ? "property int tag\n" : "");
    if (text)
        put_text(sink, soup);
    else
        put_binary(sink, soup);
}

kiln_status kiln_ply_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error)
{
    return kiln_surface_write(context, path, encoding, soup, put_surface, error);
}
