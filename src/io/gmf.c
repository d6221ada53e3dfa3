#include "io/gmf.h"

static const uint32_t cookie = 1;

bool kiln_gmf_is_binary(kiln_text start)
{
    if (start.size < 8)
        return false;
    uint32_t first = kiln_load_u32(start.data, false);
    return first == cookie || KILN_BSWAP32(first) == cookie;
}

static kiln_status begin_binary(kiln_gmf_reader *reader, kiln_source *source, kiln_error *error)
{
    *reader = (kiln_gmf_reader){.source = source};
    source->binary = true;
    uint32_t first, version;
    KILN_TRY(kiln_source_u32(source, "the header", &first, error));
    source->swap = first != cookie;
    const char *place = source->at;
    KILN_TRY(kiln_source_u32(source, "the version", &version, error));
    if (version < 1 || version > 4)
        return kiln_source_fail_at(source, place, error, "version %u is none of 1 to 4", version);
    reader->version = (int)version;
    reader->next = source->at;
    return KILN_OK;
}

static kiln_status next_section(kiln_gmf_reader *reader, int *code, kiln_error *error)
{
    kiln_source *source = reader->source;
    if (!reader->next)
        return kiln_source_fail(source, error, "the file ends without an End section");
    if (source->at > reader->next)
        return kiln_source_fail(source, error, "a section runs into the next one");
    source->at = reader->next;
    const char *place = source->at;
    uint32_t found;
    uint64_t position;
    KILN_TRY(kiln_source_u32(source, "a keyword", &found, error));
    *code = found > 10000 ? 10000 : (int)found;
    if (*code == KILN_GMF_END)
        return KILN_OK;
    if (reader->version >= 3) {
        KILN_TRY(kiln_source_u64(source, "a section's length", &position, error));
    } else {
        uint32_t narrow;
        KILN_TRY(kiln_source_u32(source, "a section's length", &narrow, error));
        position = narrow;
    }
    uint64_t here = (uint64_t)(source->at - source->begin);
    uint64_t size = (uint64_t)(source->end - source->begin);
    if (position != 0 && (position < here || position > size))
        return kiln_source_fail_at(source, place, error,
                                   "the next section is said to be at byte %llu of %llu",
                                   (unsigned long long)position, (unsigned long long)size);
    reader->next = position ? source->begin + position : NULL;
    return KILN_OK;
}

kiln_status kiln_gmf_count(kiln_gmf_reader *reader, const char *what, uint64_t *count,
                           kiln_error *error)
{
    if (reader->version >= 4)
        return kiln_source_u64(reader->source, what, count, error);
    uint32_t narrow;
    KILN_TRY(kiln_source_u32(reader->source, what, &narrow, error));
    *count = narrow;
    return KILN_OK;
}

static kiln_status check_dimension(kiln_source *source, int64_t dimension, kiln_error *error)
{
    if (dimension == 3)
        return KILN_OK;
    return kiln_source_fail(source, error, "the dimension is %lld, only 3 can be read",
                            (long long)dimension);
}

static kiln_status begin_text(kiln_source *source, kiln_error *error)
{
    source->comment = '#';
    kiln_text word;
    if (!kiln_source_word(source, &word))
        return kiln_source_fail(source, error, "the file is empty");
    if (!kiln_text_is_nocase(word, "MeshVersionFormatted"))
        return kiln_source_fail(source, error,
                                "expected 'MeshVersionFormatted', found '%.*s': no Medit file",
                                KILN_SHOWN(word));
    int64_t version;
    return kiln_source_integer(source, 1, 4, "the version", &version, error);
}

static kiln_status read_text(kiln_source *source, const kiln_gmf_sections *sections,
                             kiln_soup *soup, kiln_error *error)
{
    int64_t dimension;
    kiln_text word;
    KILN_TRY(begin_text(source, error));
    while (kiln_source_word(source, &word)) {
        if (kiln_text_is_nocase(word, "End"))
            return KILN_OK;
        if (!kiln_text_is_nocase(word, "Dimension")) {
            KILN_TRY(sections->text(source, word, soup, error));
            continue;
        }
        KILN_TRY(kiln_source_integer(source, 0, INT32_MAX, "the dimension", &dimension, error));
        KILN_TRY(check_dimension(source, dimension, error));
    }
    return kiln_source_fail(source, error, "the file stops without 'End', it may be cut short");
}

static kiln_status read_binary(kiln_source *source, const kiln_gmf_sections *sections,
                               kiln_soup *soup, kiln_error *error)
{
    kiln_gmf_reader reader;
    uint32_t dimension;
    int code = KILN_GMF_END;
    KILN_TRY(begin_binary(&reader, source, error));
    for (;;) {
        KILN_TRY(next_section(&reader, &code, error));
        if (code == KILN_GMF_END)
            return KILN_OK;
        if (code != KILN_GMF_DIMENSION) {
            KILN_TRY(sections->binary(&reader, code, soup, error));
            continue;
        }
        KILN_TRY(kiln_source_u32(source, "the dimension", &dimension, error));
        KILN_TRY(check_dimension(source, dimension, error));
    }
}

kiln_status kiln_gmf_read(kiln_source *source, const kiln_gmf_sections *sections, kiln_soup *soup,
                          kiln_error *error)
{
    kiln_text all = {source->at, kiln_source_left(source)};
    return kiln_gmf_is_binary(all) ? read_binary(source, sections, soup, error)
                                   : read_text(source, sections, soup, error);
}

void kiln_gmf_write_integer(kiln_sink *sink, int version, int64_t value)
{
    if (version >= 4)
        kiln_sink_u64(sink, (uint64_t)value);
    else
        kiln_sink_u32(sink, (uint32_t)value);
}

static void write_position(kiln_sink *sink, int version, uint64_t position)
{
    if (version >= 3)
        kiln_sink_u64(sink, position);
    else
        kiln_sink_u32(sink, (uint32_t)position);
}

static size_t position_size(int version)
{
    return version >= 3 ? 8 : 4;
}

void kiln_gmf_write_begin(kiln_sink *sink, int version)
{
    kiln_sink_u32(sink, cookie);
    kiln_sink_u32(sink, (uint32_t)version);
    kiln_sink_u32(sink, KILN_GMF_DIMENSION);
    write_position(sink, version, kiln_sink_position(sink) + position_size(version) + 4);
    kiln_sink_u32(sink, 3);
}

void kiln_gmf_write_section(kiln_sink *sink, int version, int code, uint64_t count,
                            uint64_t data_size)
{
    kiln_sink_u32(sink, (uint32_t)code);
    write_position(sink, version,
                   kiln_sink_position(sink) + position_size(version) +
                       kiln_gmf_integer_size(version) + data_size);
    kiln_gmf_write_integer(sink, version, (int64_t)count);
}

void kiln_gmf_write_end(kiln_sink *sink, int version)
{
    kiln_sink_u32(sink, KILN_GMF_END);
    write_position(sink, version, 0);
}

int kiln_gmf_choose_version(uint64_t most_items, uint64_t file_size)
{
    return most_items > INT32_MAX ? 4 : file_size > INT32_MAX ? 3 : 2;
}
