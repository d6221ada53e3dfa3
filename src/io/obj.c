#include "io/polygons.h"
#include "io/surface_formats.h"

/* One "a", "a/b", "a//c" or "a/b/c": the first number counts. */
static kiln_status read_corner(kiln_source *source, size_t points, uint32_t *v, kiln_error *error)
{
    const char *at = source->at;
    kiln_text word = {at, 0};
    while (at != source->end && (unsigned char)*at > ' ' && *at != '/' && *at != '#')
        at++;
    kiln_source number = *source;
    number.end = at;
    int64_t index;
    KILN_TRY(
        kiln_source_integer(&number, INT64_MIN + 1, INT64_MAX, "a vertex number", &index, error));
    int64_t found = index < 0 ? (int64_t)points + index : index - 1;
    if (index == 0 || found < 0 || (uint64_t)found >= points)
        return kiln_source_fail_at(source, word.data, error,
                                   "a face names vertex %lld, but there are only %zu so far",
                                   (long long)index, points);
    *v = (uint32_t)found;
    while (at != source->end && (unsigned char)*at > ' ' && *at != '#')
        at++;
    source->at = at;
    return KILN_OK;
}

/* To the next item of the line, across a backslash at its end. */
static bool more_on_line(kiln_source *source)
{
    while (kiln_source_skip_blank(source)) {
        const char *next = source->at + 1;
        if (*source->at != '\\' || next == source->end || (*next != '\n' && *next != '\r'))
            return true;
        source->at = next + 1;
        if (*next == '\r' && source->at != source->end && *source->at == '\n')
            source->at++;
    }
    return false;
}

static kiln_status read_face(kiln_source *source, kiln_soup *soup, kiln_u32_array *corners,
                             kiln_error *error)
{
    corners->count = 0;
    while (more_on_line(source)) {
        uint32_t v = 0;
        KILN_TRY(read_corner(source, soup->points.count, &v, error));
        KILN_TRY(kiln_array_push(soup->context, corners, v, error));
    }
    if (corners->count < 3)
        return kiln_source_fail(source, error, "a face has %zu corners, it needs 3",
                                corners->count);
    return kiln_polygon_split(soup, corners->data, corners->count, 0, error);
}

static kiln_status read_vertex(kiln_source *source, kiln_vec3 *p, kiln_error *error)
{
    static const char *const what[] = {"x of a vertex", "y of a vertex", "z of a vertex"};
    double *const to[] = {&p->x, &p->y, &p->z};
    for (int k = 0; k < 3; k++) {
        if (!more_on_line(source))
            return kiln_source_fail(source, error, "a vertex has %d coordinate%s, it needs 3", k,
                                    k == 1 ? "" : "s");
        KILN_TRY(kiln_source_double(source, what[k], to[k], error));
    }
    return KILN_OK;
}

static kiln_status read_lines(kiln_source *source, kiln_soup *soup, kiln_u32_array *corners,
                              kiln_error *error)
{
    kiln_text word, rest;
    while (kiln_source_word(source, &word)) {
        if (kiln_text_is(word, "v")) {
            kiln_vec3 p;
            KILN_TRY(read_vertex(source, &p, error));
            if (soup->points.count >= UINT32_MAX - 1)
                return kiln_source_fail(source, error, "too many vertices");
            KILN_TRY(kiln_array_push(soup->context, &soup->points, p, error));
        } else if (kiln_text_is(word, "f")) {
            KILN_TRY(read_face(source, soup, corners, error));
        } else {
            static const char *const passed[] = {"vt", "vn", "vp", "g",      "o",      "s",
                                                 "l",  "p",  "mg", "mtllib", "usemtl", "lod"};
            bool known = false;
            for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
                known |= kiln_text_is(word, passed[i]);
            if (!known)
                return kiln_source_fail_at(source, word.data, error,
                                           "'%.*s' is no statement of an OBJ file",
                                           KILN_SHOWN(word));
        }
        while (more_on_line(source))
            source->at++;
        kiln_source_line(source, &rest);
    }
    return KILN_OK;
}

kiln_status kiln_obj_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    kiln_u32_array corners = {0};
    source->comment = '#';
    kiln_status status = read_lines(source, soup, &corners, error);
    kiln_array_free(soup->context, &corners);
    if (status == KILN_OK && soup->points.count == 0)
        return kiln_source_fail(source, error, "there are no vertices in the file");
    return status;
}

static void put_surface(kiln_sink *sink, const kiln_soup *soup, kiln_encoding encoding)
{
    (void)encoding;
    kiln_sink_text(sink, "# kiln\n");
    kiln_surface_put_lines(sink, soup, "v ", "f", 1);
}

kiln_status kiln_obj_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error)
{
    return kiln_surface_write(context, path, encoding, soup, put_surface, error);
}
