#include "io/gmsh_reader.h"

bool kiln_gmsh_sniff(kiln_text start)
{
    static const char word[] = "$MeshFormat";
    return start.size >= sizeof word && memcmp(start.data, word, sizeof word - 1) == 0;
}

kiln_status kiln_gmsh_int(kiln_gmsh_reader *reader, const char *what, int64_t *value,
                          kiln_error *error)
{
    if (!reader->source->binary)
        return kiln_source_integer(reader->source, INT32_MIN, INT32_MAX, what, value, error);
    uint32_t found;
    KILN_TRY(kiln_source_u32(reader->source, what, &found, error));
    *value = (int32_t)found;
    return KILN_OK;
}

kiln_status kiln_gmsh_size(kiln_gmsh_reader *reader, const char *what, uint64_t *value,
                           kiln_error *error)
{
    if (reader->source->binary)
        return kiln_source_u64(reader->source, what, value, error);
    int64_t found;
    KILN_TRY(kiln_source_integer(reader->source, 0, INT64_MAX, what, &found, error));
    *value = (uint64_t)found;
    return KILN_OK;
}

kiln_status kiln_gmsh_double(kiln_gmsh_reader *reader, const char *what, double *value,
                             kiln_error *error)
{
    kiln_source *source = reader->source;
    if (!source->binary)
        return kiln_source_double(source, what, value, error);
    const char *bytes;
    KILN_TRY(kiln_source_bytes(source, sizeof *value, what, &bytes, error));
    *value = kiln_load_f64(bytes, source->swap);
    if (!(*value - *value == 0.0))
        return kiln_source_fail_at(source, bytes, error, "%s is not finite", what);
    return KILN_OK;
}

kiln_status kiln_gmsh_end_line(kiln_gmsh_reader *reader, kiln_error *error)
{
    kiln_source *source = reader->source;
    kiln_text rest;
    if (kiln_source_skip_blank(source) || !kiln_source_line(source, &rest))
        return kiln_source_fail(source, error, "expected the end of the line");
    return KILN_OK;
}

kiln_status kiln_gmsh_line_count(kiln_gmsh_reader *reader, const char *what, uint64_t *value,
                                 kiln_error *error)
{
    int64_t found;
    KILN_TRY(kiln_source_integer(reader->source, 0, INT64_MAX, what, &found, error));
    *value = (uint64_t)found;
    return kiln_gmsh_end_line(reader, error);
}

kiln_status kiln_gmsh_claim(const kiln_gmsh_reader *reader, uint64_t count, size_t numbers,
                            size_t bytes, const char *what, kiln_error *error)
{
    return kiln_source_claim(reader->source, count, reader->source->binary ? bytes : 2 * numbers,
                             what, error);
}

kiln_status kiln_gmsh_blocks(kiln_gmsh_reader *reader, const char *what, size_t numbers,
                             size_t bytes, kiln_gmsh_read_block read, kiln_error *error)
{
    uint64_t blocks, total, unused;
    KILN_TRY(kiln_gmsh_size(reader, "the number of blocks", &blocks, error));
    KILN_TRY(kiln_gmsh_size(reader, "the number in all blocks", &total, error));
    KILN_TRY(kiln_gmsh_size(reader, "the lowest number", &unused, error));
    KILN_TRY(kiln_gmsh_size(reader, "the highest number", &unused, error));
    KILN_TRY(kiln_gmsh_claim(reader, blocks, 4, 20, "blocks", error));
    KILN_TRY(kiln_gmsh_claim(reader, total, numbers, bytes, what, error));
    uint64_t left = total;
    for (uint64_t i = 0; i < blocks; i++)
        KILN_TRY(read(reader, &left, error));
    if (left)
        return kiln_source_fail(reader->source, error, "%llu %s announced, %llu are missing",
                                (unsigned long long)total, what, (unsigned long long)left);
    return KILN_OK;
}

kiln_status kiln_gmsh_block_count(kiln_gmsh_reader *reader, const char *what, uint64_t *left,
                                  uint64_t *count, kiln_error *error)
{
    KILN_TRY(kiln_gmsh_size(reader, "the size of a block", count, error));
    if (*count > *left)
        return kiln_source_fail(reader->source, error,
                                "a block of %llu %s where %llu are left to come",
                                (unsigned long long)*count, what, (unsigned long long)*left);
    *left -= *count;
    return KILN_OK;
}

static kiln_status read_format(kiln_gmsh_reader *reader, kiln_error *error)
{
    kiln_source *source = reader->source;
    kiln_text version;
    int64_t binary, size;
    if (!kiln_source_word(source, &version))
        return kiln_source_fail(source, error, "the file ends in its header");
    reader->version4 = kiln_text_is(version, "4.1");
    if (!reader->version4 && !kiln_text_is(version, "2.2") && !kiln_text_is(version, "2"))
        return kiln_source_fail(source, error, "version %.*s; 2.2 and 4.1 can be read",
                                KILN_SHOWN(version));
    KILN_TRY(kiln_source_integer(source, 0, 1, "the file type", &binary, error));
    KILN_TRY(kiln_source_integer(source, 8, 8, "the data size", &size, error));
    KILN_TRY(kiln_gmsh_end_line(reader, error));
    if (!binary)
        return KILN_OK;
    source->binary = true;
    uint32_t one;
    KILN_TRY(kiln_source_u32(source, "the byte order mark", &one, error));
    source->swap = one == KILN_BSWAP32(1u);
    if (one != 1 && !source->swap)
        return kiln_source_fail(source, error, "the byte order mark is %u, not 1", one);
    return KILN_OK;
}

/* Past "$End<name>", which must be next. */
static kiln_status expect_end(kiln_source *source, kiln_text name, kiln_error *error)
{
    kiln_text word;
    if (!kiln_source_word(source, &word))
        return kiln_source_fail(source, error, "the file ends where $End%.*s was expected",
                                (int)name.size, name.data);
    if (word.size != name.size + 4 || memcmp(word.data, "$End", 4) != 0 ||
        memcmp(word.data + 4, name.data, name.size) != 0)
        return kiln_source_fail_at(source, word.data, error,
                                   "expected $End%.*s; the section holds more or less than it says",
                                   (int)name.size, name.data);
    return KILN_OK;
}

/* To "$End<name>" through data of unknown structure. */
static kiln_status skip_section(kiln_source *source, kiln_text name, kiln_error *error)
{
    const char *place = source->at;
    while (kiln_source_left(source) > name.size + 3) {
        const char *dollar = memchr(source->at, '$', kiln_source_left(source) - name.size - 3);
        if (!dollar)
            break;
        source->at = dollar;
        if (memcmp(dollar, "$End", 4) == 0 && memcmp(dollar + 4, name.data, name.size) == 0)
            return KILN_OK;
        source->at++;
    }
    return kiln_source_fail_at(source, place, error, "section $%.*s has no $End%.*s",
                               (int)name.size, name.data, (int)name.size, name.data);
}

static kiln_status read_section(kiln_gmsh_reader *reader, kiln_text name, kiln_error *error)
{
    if (kiln_text_is(name, "Entities") && reader->version4)
        return kiln_gmsh_read_entities(reader, error);
    if (kiln_text_is(name, "Nodes"))
        return kiln_gmsh_read_nodes(reader, error);
    if (kiln_text_is(name, "Elements"))
        return kiln_gmsh_read_elements(reader, error);
    if (kiln_text_is(name, "NodeData"))
        return kiln_gmsh_read_data(reader, true, error);
    if (kiln_text_is(name, "ElementData"))
        return kiln_gmsh_read_data(reader, false, error);
    return skip_section(reader->source, name, error);
}

/* "$Name" at the start of a section, without the dollar. */
static kiln_status read_name(kiln_gmsh_reader *reader, kiln_text *name, kiln_error *error)
{
    kiln_source *source = reader->source;
    if (!kiln_source_word(source, name))
        return kiln_source_fail(source, error, "the file is empty");
    if (name->size < 2 || name->data[0] != '$' || name->size > 64)
        return kiln_source_fail_at(source, name->data, error, "expected a section such as $Nodes");
    name->data++;
    name->size--;
    return kiln_gmsh_end_line(reader, error);
}

static kiln_status read_file(kiln_gmsh_reader *reader, kiln_error *error)
{
    kiln_source *source = reader->source;
    kiln_text name;
    KILN_TRY(read_name(reader, &name, error));
    if (!kiln_text_is(name, "MeshFormat"))
        return kiln_source_fail(source, error, "expected $MeshFormat: no Gmsh file");
    KILN_TRY(read_format(reader, error));
    KILN_TRY(expect_end(source, name, error));
    while (kiln_source_skip_space(source)) {
        KILN_TRY(read_name(reader, &name, error));
        KILN_TRY(read_section(reader, name, error));
        KILN_TRY(expect_end(source, name, error));
    }
    if (!reader->nodes_seen || !reader->elements_seen)
        return kiln_source_fail(source, error, "the file has no $%s section",
                                reader->nodes_seen ? "Elements" : "Nodes");
    if (reader->ignored)
        kiln_log(source->context, KILN_LOG_WARNING,
                 "%s: %llu elements ignored that are no points, lines, triangles or tetrahedra",
                 source->name, (unsigned long long)reader->ignored);
    return KILN_OK;
}

kiln_status kiln_gmsh_read(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    kiln_gmsh_reader reader = {.source = source, .soup = soup};
    kiln_status status = read_file(&reader, error);
    kiln_id_map_free(&reader.nodes, source->context);
    for (int i = 0; i <= KILN_ITEM_EDGE; i++)
        kiln_id_map_free(&reader.items[i], source->context);
    kiln_array_free(source->context, &reader.entities);
    return status;
}
