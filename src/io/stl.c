#include "io/polygons.h"
#include "io/surface_formats.h"

enum { HEADER = 80, FACET = 50 };

static kiln_status add_facet(kiln_weld *weld, const kiln_vec3 corner[3], kiln_error *error)
{
    uint32_t v[3];
    for (int i = 0; i < 3; i++)
        KILN_TRY(kiln_weld_point(weld, corner[i], &v[i], error));
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
        return KILN_OK;
    return kiln_polygon_split(weld->soup, v, 3, 0, error);
}

/* Binary files may start with "solid" too, so the size decides. */
static bool is_binary(kiln_text start)
{
    if (start.size < HEADER + 4)
        return false;
    uint64_t count = kiln_load_u32(start.data + HEADER, !kiln_is_little_endian());
    return start.size == HEADER + 4 + count * FACET;
}

static bool is_text(kiln_text start)
{
    return start.size >= 5 && kiln_text_is_nocase((kiln_text){start.data, 5}, "solid");
}

static kiln_status read_binary(kiln_source *source, kiln_weld *weld, kiln_error *error)
{
    const char *bytes;
    uint32_t count;
    source->binary = true;
    source->swap = !kiln_is_little_endian();
    KILN_TRY(kiln_source_bytes(source, HEADER, "the header", &bytes, error));
    KILN_TRY(kiln_source_u32(source, "the number of facets", &count, error));
    KILN_TRY(kiln_source_claim(source, count, FACET, "facets", error));
    for (uint32_t i = 0; i < count; i++) {
        kiln_vec3 corner[3];
        KILN_TRY(kiln_source_bytes(source, FACET, "a facet", &bytes, error));
        for (int k = 0; k < 3; k++) {
            const char *at = bytes + 12 + 12 * k;
            corner[k] = kiln_v3((double)kiln_load_f32(at, source->swap),
                                (double)kiln_load_f32(at + 4, source->swap),
                                (double)kiln_load_f32(at + 8, source->swap));
            if (!kiln_v3_finite(corner[k]))
                return kiln_source_fail_at(source, at, error,
                                           "facet %u has a coordinate that is not finite", i + 1);
        }
        KILN_TRY(add_facet(weld, corner, error));
    }
    return KILN_OK;
}

static kiln_status expect_word(kiln_source *source, const char *wanted, kiln_error *error)
{
    kiln_text word;
    if (!kiln_source_word(source, &word))
        return kiln_source_fail(source, error, "the file ends where '%s' was expected", wanted);
    if (!kiln_text_is_nocase(word, wanted))
        return kiln_source_fail_at(source, word.data, error, "expected '%s', found '%.*s'", wanted,
                                   KILN_SHOWN(word));
    return KILN_OK;
}

static kiln_status read_facet(kiln_source *source, kiln_weld *weld, kiln_error *error)
{
    kiln_vec3 corner[3], normal;
    double *n[3] = {&normal.x, &normal.y, &normal.z};
    KILN_TRY(expect_word(source, "normal", error));
    for (int i = 0; i < 3; i++) { /* many programs write nan here: it is not used */
        kiln_text word;
        if (!kiln_source_word(source, &word) ||
            !kiln_decimal_parse(word.data, word.data + word.size, n[i]))
            return kiln_source_fail(source, error, "expected the three numbers of a normal");
    }
    KILN_TRY(expect_word(source, "outer", error));
    KILN_TRY(expect_word(source, "loop", error));
    for (int k = 0; k < 3; k++) {
        KILN_TRY(expect_word(source, "vertex", error));
        KILN_TRY(kiln_source_point(source, &corner[k], error));
    }
    KILN_TRY(expect_word(source, "endloop", error));
    KILN_TRY(expect_word(source, "endfacet", error));
    return add_facet(weld, corner, error);
}

/* One solid or several after each other. */
static kiln_status read_text(kiln_source *source, kiln_weld *weld, kiln_error *error)
{
    kiln_text word, line;
    bool inside = false;
    while (kiln_source_word(source, &word)) {
        if (!inside && kiln_text_is_nocase(word, "solid")) {
            kiln_source_line(source, &line);
            inside = true;
        } else if (inside && kiln_text_is_nocase(word, "facet")) {
            KILN_TRY(read_facet(source, weld, error));
        } else if (inside && kiln_text_is_nocase(word, "endsolid")) {
            kiln_source_line(source, &line);
            inside = false;
        } else {
            return kiln_source_fail_at(source, word.data, error, "expected %s, found '%.*s'",
                                       inside ? "'facet' or 'endsolid'" : "'solid'",
                                       KILN_SHOWN(word));
        }
    }
    return inside ? kiln_source_fail(source, error, "the file ends before 'endsolid'") : KILN_OK;
}

kiln_status kiln_stl_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    kiln_text whole = {source->at, kiln_source_left(source)};
    kiln_weld weld = {.soup = soup};
    bool text = !is_binary(whole) && is_text(whole);
    if (!text && whole.size < HEADER + 4)
        return kiln_source_fail(source, error,
                                "neither text ('solid ...') nor long enough for binary STL");
    kiln_status status = text ? read_text(source, &weld, error) : read_binary(source, &weld, error);
    if (status == KILN_OK && kiln_source_left(source) > 0)
        status = kiln_source_fail(source, error, "%zu bytes are left over after the last facet",
                                  kiln_source_left(source));
    kiln_weld_free(&weld);
    return status;
}

bool kiln_stl_sniff(kiln_text start)
{
    return is_binary(start) || is_text(start);
}

static kiln_vec3 facet_normal(const kiln_soup *soup, const uint32_t *v)
{
    const kiln_vec3 *p = soup->points.data;
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]])));
}

static void put_vector_text(kiln_sink *sink, const char *before, kiln_vec3 p)
{
    kiln_sink_text(sink, before);
    kiln_sink_point(sink, p);
    kiln_sink_char(sink, '\n');
}

static void put_text(kiln_sink *sink, const kiln_soup *soup)
{
    kiln_sink_text(sink, "solid kiln\n");
    for (size_t i = 0; i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        put_vector_text(sink, "facet normal ", facet_normal(soup, v));
        kiln_sink_text(sink, "outer loop\n");
        for (int k = 0; k < 3; k++)
            put_vector_text(sink, "vertex ", soup->points.data[v[k]]);
        kiln_sink_text(sink, "endloop\nendfacet\n");
    }
    kiln_sink_text(sink, "endsolid kiln\n");
}

static void put_float(kiln_sink *sink, double value, bool swap)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    kiln_sink_u32(sink, swap ? KILN_BSWAP32(bits) : bits);
}

static void put_binary(kiln_sink *sink, const kiln_soup *soup)
{
    bool swap = !kiln_is_little_endian();
    char header[HEADER] = "binary STL by kiln, metres";
    uint32_t count = (uint32_t)soup->triangles.count;
    kiln_sink_bytes(sink, header, sizeof header);
    kiln_sink_u32(sink, swap ? KILN_BSWAP32(count) : count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        kiln_vec3 row[4] = {facet_normal(soup, v), soup->points.data[v[0]], soup->points.data[v[1]],
                            soup->points.data[v[2]]};
        for (int k = 0; k < 4; k++) {
            put_float(sink, row[k].x, swap);
            put_float(sink, row[k].y, swap);
            put_float(sink, row[k].z, swap);
        }
        kiln_sink_bytes(sink, "\0\0", 2);
    }
}

static void put_surface(kiln_sink *sink, const kiln_soup *soup, kiln_encoding encoding)
{
    if (encoding == KILN_ENCODING_ASCII)
        put_text(sink, soup);
    else
        put_binary(sink, soup);
}

kiln_status kiln_stl_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error)
{
    return kiln_surface_write(context, path, encoding, soup, put_surface, error);
}
