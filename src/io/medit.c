#include "io/medit.h"
#include "io/gmf.h"
#include "io/items.h"

#include <math.h>

static const struct section {
    const char *word;
    int code;
    kiln_item_kind kind;
} sections[] = {
    {"Tetrahedra", KILN_GMF_TETRAHEDRA, KILN_ITEM_TET},
    {"Triangles", KILN_GMF_TRIANGLES, KILN_ITEM_TRIANGLE},
    {"Edges", KILN_GMF_EDGES, KILN_ITEM_EDGE},
    {"Corners", KILN_GMF_CORNERS, KILN_ITEM_CORNER},
    {"RequiredVertices", KILN_GMF_REQUIRED_VERTICES, KILN_ITEM_REQUIRED_POINT},
    {"Ridges", KILN_GMF_RIDGES, KILN_ITEM_RIDGE},
    {"RequiredEdges", KILN_GMF_REQUIRED_EDGES, KILN_ITEM_REQUIRED_EDGE},
    {"RequiredTriangles", KILN_GMF_REQUIRED_TRIANGLES, KILN_ITEM_REQUIRED_TRIANGLE},
};
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

/* Elements that a mesh of tets has no place for. */
static const struct stranger {
    const char *word;
    int code;
} strangers[] = {
    {"Quadrilaterals", KILN_GMF_QUADRILATERALS},
    {"Prisms", KILN_GMF_PRISMS},
    {"Hexahedra", KILN_GMF_HEXAHEDRA},
    {"Pyramids", KILN_GMF_PYRAMIDS},
};
enum { STRANGER_COUNT = sizeof strangers / sizeof strangers[0] };

bool kiln_medit_sniff(kiln_text start)
{
    static const char word[] = "MeshVersionFormatted";
    return kiln_gmf_is_binary(start) ||
           (start.size >= sizeof word && memcmp(start.data, word, sizeof word - 1) == 0);
}

/* Numbers that an item may hold. Sections can come in any order; while what they point at is
 * unknown everything passes, and kiln_soup_check has the last word. */
static size_t number_limit(const kiln_soup *soup, kiln_item_kind kind)
{
    size_t limit = kiln_items_limit(soup, kind);
    return limit ? limit : UINT32_MAX - 1;
}

static kiln_status fail_twice(kiln_source *source, kiln_error *error)
{
    return kiln_source_fail(source, error, "a second list of vertices");
}

static kiln_status fail_quadratic(kiln_source *source, kiln_error *error)
{
    return kiln_source_fail(source, error, "quadratic tetrahedra; only linear ones can be read");
}

static void warn_ignored(kiln_source *source, uint64_t count, const char *what)
{
    if (count)
        kiln_log(source->context, KILN_LOG_WARNING, "%s: %llu %s ignored", source->name,
                 (unsigned long long)count, what);
}

/* Text. */

static kiln_status read_text_count(kiln_source *source, const char *what, size_t bytes_each,
                                   size_t *count, kiln_error *error)
{
    int64_t found;
    KILN_TRY(kiln_source_integer(source, 0, INT64_MAX, what, &found, error));
    KILN_TRY(kiln_source_claim(source, (uint64_t)found, bytes_each, what, error));
    *count = (size_t)found;
    return KILN_OK;
}

static kiln_status read_text_tag(kiln_source *source, int32_t *tag, kiln_error *error)
{
    int64_t found;
    KILN_TRY(kiln_source_integer(source, INT32_MIN, INT32_MAX, "a reference", &found, error));
    *tag = (int32_t)found;
    return KILN_OK;
}

static kiln_status read_text_vertices(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    size_t count;
    kiln_vec3 *points;
    int32_t *tags;
    if (soup->points.count)
        return fail_twice(source, error);
    KILN_TRY(read_text_count(source, "vertices", 8, &count, error));
    KILN_TRY(kiln_points_extend(soup, count, &points, &tags, error));
    for (size_t i = 0; i < count; i++) {
        KILN_TRY(kiln_source_point(source, &points[i], error));
        KILN_TRY(read_text_tag(source, &tags[i], error));
    }
    return KILN_OK;
}

static kiln_status read_text_items(kiln_source *source, kiln_soup *soup, kiln_item_kind kind,
                                   kiln_error *error)
{
    kiln_item_info about = kiln_item_about(kind);
    size_t count, width = (size_t)about.width;
    uint32_t *index;
    int32_t *tags;
    KILN_TRY(read_text_count(source, about.many, 2 * (width + about.tagged), &count, error));
    KILN_TRY(kiln_items_extend(soup, kind, count, &index, &tags, error));
    int64_t limit = (int64_t)number_limit(soup, kind), number;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < width; j++) {
            KILN_TRY(kiln_source_integer(source, 1, limit, about.one, &number, error));
            index[i * width + j] = (uint32_t)(number - 1);
        }
        if (tags)
            KILN_TRY(read_text_tag(source, &tags[i], error));
    }
    return KILN_OK;
}

/* Whatever is not a word, up to the next one. */
static void skip_numbers(kiln_source *source)
{
    kiln_text word;
    while (kiln_source_word(source, &word)) {
        char first = (char)(word.data[0] | 0x20);
        if (first >= 'a' && first <= 'z') {
            source->at = word.data;
            return;
        }
    }
}

static kiln_status read_text_section(kiln_source *source, kiln_text word, kiln_soup *soup,
                                     kiln_error *error)
{
    if (kiln_text_is_nocase(word, "Vertices"))
        return read_text_vertices(source, soup, error);
    for (int i = 0; i < SECTION_COUNT; i++)
        if (kiln_text_is_nocase(word, sections[i].word))
            return read_text_items(source, soup, sections[i].kind, error);
    if (kiln_text_is_nocase(word, "TetrahedraP2"))
        return fail_quadratic(source, error);
    for (int i = 0; i < STRANGER_COUNT; i++) {
        size_t count;
        if (!kiln_text_is_nocase(word, strangers[i].word))
            continue;
        KILN_TRY(read_text_count(source, strangers[i].word, 2, &count, error));
        warn_ignored(source, count, strangers[i].word);
    }
    char first = (char)(word.data[0] | 0x20);
    if (first < 'a' || first > 'z')
        return kiln_source_fail_at(source, word.data, error, "expected a keyword, found '%.*s'",
                                   KILN_SHOWN(word));
    skip_numbers(source);
    return KILN_OK;
}

/* Binary. */

static int64_t load_integer(const char *bytes, bool wide, bool swap)
{
    return wide ? (int64_t)kiln_load_u64(bytes, swap)
                : (int64_t)(int32_t)kiln_load_u32(bytes, swap);
}

static kiln_status load_tag(kiln_source *source, const char *bytes, bool wide, int32_t *tag,
                            kiln_error *error)
{
    int64_t found = load_integer(bytes, wide, source->swap);
    if (found < INT32_MIN || found > INT32_MAX)
        return kiln_source_fail_at(source, bytes, error, "reference %lld does not fit 32 bits",
                                   (long long)found);
    *tag = (int32_t)found;
    return KILN_OK;
}

static kiln_status read_binary_vertices(kiln_gmf_reader *reader, kiln_soup *soup, kiln_error *error)
{
    kiln_source *source = reader->source;
    uint64_t count;
    if (soup->points.count)
        return fail_twice(source, error);
    KILN_TRY(kiln_gmf_count(reader, "the number of vertices", &count, error));
    size_t real = kiln_gmf_real_size(reader->version), step;
    bool wide = reader->version >= 4;
    step = 3 * real + kiln_gmf_integer_size(reader->version);
    KILN_TRY(kiln_source_claim(source, count, step, "vertices", error));
    const char *at;
    kiln_vec3 *points;
    int32_t *tags;
    KILN_TRY(kiln_source_bytes(source, count * step, "the vertices", &at, error));
    KILN_TRY(kiln_points_extend(soup, count, &points, &tags, error));
    for (size_t i = 0; i < count; i++, at += step) {
        double xyz[3];
        for (size_t j = 0; j < 3; j++)
            xyz[j] = real == 8 ? kiln_load_f64(at + 8 * j, source->swap)
                               : (double)kiln_load_f32(at + 4 * j, source->swap);
        points[i] = (kiln_vec3){xyz[0], xyz[1], xyz[2]};
        if (!kiln_v3_finite(points[i]))
            return kiln_source_fail_at(source, at, error, "vertex %zu is not finite", i + 1);
        KILN_TRY(load_tag(source, at + 3 * real, wide, &tags[i], error));
    }
    return KILN_OK;
}

static kiln_status read_binary_items(kiln_gmf_reader *reader, kiln_soup *soup, kiln_item_kind kind,
                                     kiln_error *error)
{
    kiln_source *source = reader->source;
    kiln_item_info about = kiln_item_about(kind);
    uint64_t count;
    KILN_TRY(kiln_gmf_count(reader, about.many, &count, error));
    size_t width = (size_t)about.width, size = kiln_gmf_integer_size(reader->version);
    size_t step = (width + about.tagged) * size;
    bool wide = size == 8;
    KILN_TRY(kiln_source_claim(source, count, step, about.many, error));
    const char *at;
    uint32_t *index;
    int32_t *tags;
    KILN_TRY(kiln_source_bytes(source, count * step, about.many, &at, error));
    KILN_TRY(kiln_items_extend(soup, kind, count, &index, &tags, error));
    uint64_t limit = number_limit(soup, kind);
    for (size_t i = 0; i < count; i++, at += step) {
        for (size_t j = 0; j < width; j++) {
            int64_t number = load_integer(at + j * size, wide, source->swap);
            if (KILN_UNLIKELY((uint64_t)number - 1 >= limit))
                return kiln_source_fail_at(source, at, error, "%s %zu names number %lld of %llu",
                                           about.one, i + 1, (long long)number,
                                           (unsigned long long)limit);
            index[i * width + j] = (uint32_t)(number - 1);
        }
        if (tags)
            KILN_TRY(load_tag(source, at + width * size, wide, &tags[i], error));
    }
    return KILN_OK;
}

static kiln_status read_binary_section(kiln_gmf_reader *reader, int code, kiln_soup *soup,
                                       kiln_error *error)
{
    if (code == KILN_GMF_VERTICES)
        return read_binary_vertices(reader, soup, error);
    if (code == KILN_GMF_TETRAHEDRA_P2)
        return fail_quadratic(reader->source, error);
    for (int i = 0; i < SECTION_COUNT; i++)
        if (code == sections[i].code)
            return read_binary_items(reader, soup, sections[i].kind, error);
    for (int i = 0; i < STRANGER_COUNT; i++) {
        uint64_t count;
        if (code != strangers[i].code)
            continue;
        KILN_TRY(kiln_gmf_count(reader, strangers[i].word, &count, error));
        warn_ignored(reader->source, count, strangers[i].word);
    }
    return KILN_OK;
}

kiln_status kiln_medit_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    static const kiln_gmf_sections either = {read_text_section, read_binary_section};
    return kiln_gmf_read(source, &either, soup, error);
}

/* Writing. */

static void write_text_vertices(kiln_sink *sink, const kiln_soup *soup)
{
    kiln_sink_format(sink, "\nVertices\n%zu\n", soup->points.count);
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_sink_point(sink, soup->points.data[i]);
        kiln_sink_char(sink, ' ');
        kiln_sink_integer(sink, soup->point_tags.count ? soup->point_tags.data[i] : 0);
        kiln_sink_char(sink, '\n');
    }
}

static void write_text_items(kiln_sink *sink, const kiln_soup *soup, const struct section *section)
{
    const uint32_t *index;
    const int32_t *tags;
    kiln_item_info about = kiln_item_about(section->kind);
    size_t count = kiln_items_view(soup, section->kind, &index, &tags);
    size_t width = (size_t)about.width;
    if (count)
        kiln_sink_format(sink, "\n%s\n%zu\n", section->word, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < width; j++) {
            kiln_sink_integer(sink, (int64_t)index[i * width + j] + 1);
            kiln_sink_char(sink, j + 1 < width || about.tagged ? ' ' : '\n');
        }
        if (about.tagged) {
            kiln_sink_integer(sink, tags ? tags[i] : 0);
            kiln_sink_char(sink, '\n');
        }
    }
}

static void write_text(kiln_sink *sink, const kiln_soup *soup)
{
    kiln_sink_text(sink, "MeshVersionFormatted 2\n\nDimension 3\n");
    write_text_vertices(sink, soup);
    for (int i = 0; i < SECTION_COUNT; i++)
        write_text_items(sink, soup, &sections[i]);
    kiln_sink_text(sink, "\nEnd\n");
}

static void write_binary(kiln_sink *sink, int version, const kiln_soup *soup)
{
    size_t size = kiln_gmf_integer_size(version);
    kiln_gmf_write_begin(sink, version);
    kiln_gmf_write_section(sink, version, KILN_GMF_VERTICES, soup->points.count,
                           soup->points.count * (24 + size));
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_sink_f64(sink, soup->points.data[i].x);
        kiln_sink_f64(sink, soup->points.data[i].y);
        kiln_sink_f64(sink, soup->points.data[i].z);
        kiln_gmf_write_integer(sink, version,
                               soup->point_tags.count ? soup->point_tags.data[i] : 0);
    }
    for (int k = 0; k < SECTION_COUNT; k++) {
        const uint32_t *index;
        const int32_t *tags;
        kiln_item_info about = kiln_item_about(sections[k].kind);
        size_t count = kiln_items_view(soup, sections[k].kind, &index, &tags);
        size_t width = (size_t)about.width;
        if (!count)
            continue;
        kiln_gmf_write_section(sink, version, sections[k].code, count,
                               count * (width + about.tagged) * size);
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < width; j++)
                kiln_gmf_write_integer(sink, version, (int64_t)index[i * width + j] + 1);
            if (about.tagged)
                kiln_gmf_write_integer(sink, version, tags ? tags[i] : 0);
        }
    }
    kiln_gmf_write_end(sink, version);
}

static int lowest_version(const kiln_soup *soup)
{
    uint64_t most = soup->points.count, bytes = 64 + 28 * most;
    for (int k = 0; k < SECTION_COUNT; k++) {
        const uint32_t *index;
        const int32_t *tags;
        kiln_item_info about = kiln_item_about(sections[k].kind);
        size_t count = kiln_items_view(soup, sections[k].kind, &index, &tags);
        most = count > most ? count : most;
        bytes += 16 + count * 4 * ((uint64_t)about.width + about.tagged);
    }
    return kiln_gmf_choose_version(most, bytes);
}

kiln_status kiln_medit_write_version(kiln_context *context, const char *path, int version,
                                     const kiln_soup *soup, kiln_error *error)
{
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, context, path, error));
    write_binary(&sink, version, soup);
    return kiln_sink_commit(&sink, error);
}

kiln_status kiln_medit_write(kiln_context *context, const char *path, kiln_encoding encoding,
                             const kiln_soup *soup, kiln_error *error)
{
    if (kiln_encoding_of(encoding, path, "b") == KILN_ENCODING_BINARY)
        return kiln_medit_write_version(context, path, lowest_version(soup), soup, error);
    kiln_sink sink;
    KILN_TRY(kiln_sink_open(&sink, context, path, error));
    write_text(&sink, soup);
    return kiln_sink_commit(&sink, error);
}
