#include "io/polygons.h"
#include "io/surface_formats.h"

/* "OFF" with any of the prefixes ST, C, N; 4 and n (other dimensions) are not read. */
static bool is_keyword(kiln_text word)
{
    const char *at = word.data, *end = word.data + word.size;
    if (end - at >= 2 && at[0] == 'S' && at[1] == 'T')
        at += 2;
    at += at != end && *at == 'C';
    at += at != end && *at == 'N';
    return end - at == 3 && memcmp(at, "OFF", 3) == 0;
}

static kiln_status read_head(kiln_source *source, kiln_error *error)
{
    const char *begin = source->at;
    kiln_text word;
    if (!kiln_source_word(source, &word))
        return kiln_source_fail(source, error, "the file is empty");
    if (!is_keyword(word)) {
        if (word.data[0] >= '0' && word.data[0] <= '9') {
            source->at = begin; /* the keyword is optional */
            return KILN_OK;
        }
        return kiln_source_fail_at(source, word.data, error, "expected OFF, found '%.*s'",
                                   KILN_SHOWN(word));
    }
    const char *after = source->at;
    if (kiln_source_skip_blank(source) && kiln_source_word(source, &word) &&
        kiln_text_is(word, "BINARY"))
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, source->name, 0, -1,
                         "binary OFF is not read; convert it to text");
    source->at = after;
    return KILN_OK;
}

static kiln_status read_faces(kiln_source *source, kiln_soup *soup, int64_t faces,
                              kiln_u32_array *corners, kiln_error *error)
{
    kiln_text rest;
    for (int64_t i = 0; i < faces; i++) {
        int64_t count, v;
        KILN_TRY(kiln_source_integer(source, 1, INT32_MAX, "the number of corners", &count, error));
        KILN_TRY(kiln_source_claim(source, (uint64_t)count, 2, "corners", error));
        corners->count = 0;
        for (int64_t k = 0; k < count; k++) {
            KILN_TRY(kiln_source_integer(source, 0, (int64_t)soup->points.count - 1,
                                         "a vertex number", &v, error));
            KILN_TRY(kiln_array_push(soup->context, corners, (uint32_t)v, error));
        }
        if (count >= 3) /* points and segments are passed over */
            KILN_TRY(kiln_polygon_split(soup, corners->data, corners->count, 0, error));
        kiln_source_line(source, &rest); /* colours */
    }
    return KILN_OK;
}

kiln_status kiln_off_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    int64_t points, faces, edges;
    kiln_text rest;
    source->comment = '#';
    KILN_TRY(read_head(source, error));
    KILN_TRY(kiln_source_integer(source, 1, INT64_MAX, "the number of vertices", &points, error));
    KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, "the number of faces", &faces, error));
    if (kiln_source_skip_blank(source)) /* some leave the edges out */
        KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, "the number of edges", &edges, error));
    KILN_TRY(kiln_source_claim(source, (uint64_t)points, 6, "vertices", error));
    KILN_TRY(kiln_source_claim(source, (uint64_t)faces, 2, "faces", error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, (size_t)points, error));
    for (int64_t i = 0; i < points; i++) {
        kiln_vec3 p;
        KILN_TRY(kiln_source_point(source, &p, error));
        soup->points.data[soup->points.count++] = p;
        kiln_source_line(source, &rest); /* normals, colours, texture */
    }
    kiln_u32_array corners = {0};
    kiln_status status = read_faces(source, soup, faces, &corners, error);
    kiln_array_free(soup->context, &corners);
    return status;
}

bool kiln_off_sniff(kiln_text start)
{
    size_t size = 0;
    while (size < start.size && size < 8 && (unsigned char)start.data[size] > ' ')
        size++;
    return is_keyword((kiln_text){start.data, size});
}

static void put_surface(kiln_sink *sink, const kiln_soup *soup, kiln_encoding encoding)
{
    (void)encoding;
    kiln_sink_format(sink, "OFF\n%zu %zu 0\n", soup->points.count, soup->triangles.count);
    kiln_surface_put_lines(sink, soup, "", "3", 0);
}

kiln_status kiln_off_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error)
{
    return kiln_surface_write(context, path, encoding, soup, put_surface, error);
}
