/* The container under Medit's binary .meshb and .solb: a header that tells byte order and version,
 * then sections {keyword code, position of the next section, data}. Version 1 has 32-bit reals;
 * positions have 64 bits from version 3, integers from version 4. */
#ifndef KILN_IO_GMF_H
#define KILN_IO_GMF_H

#include "io/sink.h"
#include "io/source.h"
#include "mesh/soup.h"

enum {
    KILN_GMF_DIMENSION = 3,
    KILN_GMF_VERTICES = 4,
    KILN_GMF_EDGES = 5,
    KILN_GMF_TRIANGLES = 6,
    KILN_GMF_QUADRILATERALS = 7,
    KILN_GMF_TETRAHEDRA = 8,
    KILN_GMF_PRISMS = 9,
    KILN_GMF_HEXAHEDRA = 10,
    KILN_GMF_CORNERS = 13,
    KILN_GMF_RIDGES = 14,
    KILN_GMF_REQUIRED_VERTICES = 15,
    KILN_GMF_REQUIRED_EDGES = 16,
    KILN_GMF_REQUIRED_TRIANGLES = 17,
    KILN_GMF_TETRAHEDRA_P2 = 30,
    KILN_GMF_PYRAMIDS = 49,
    KILN_GMF_END = 54,
    KILN_GMF_SOL_AT_VERTICES = 62,
    KILN_GMF_SOL_AT_TRIANGLES = 64,
    KILN_GMF_SOL_AT_TETRAHEDRA = 66
};

/* Whether the first bytes are a binary header, of either byte order. */
bool kiln_gmf_is_binary(kiln_text start);

typedef struct kiln_gmf_reader {
    kiln_source *source;
    int version;
    const char *next; /* start of the next section; NULL: this is the last */
} kiln_gmf_reader;

/* The number of items at the start of a section. */
kiln_status kiln_gmf_count(kiln_gmf_reader *reader, const char *what, uint64_t *count,
                           kiln_error *error);

KILN_INLINE size_t kiln_gmf_integer_size(int version)
{
    return version >= 4 ? 8 : 4;
}

KILN_INLINE size_t kiln_gmf_real_size(int version)
{
    return version == 1 ? 4 : 8;
}

/* What a file of either encoding is made of, for a format that lives in the container. */
typedef struct kiln_gmf_sections {
    kiln_status (*text)(kiln_source *source, kiln_text word, kiln_soup *soup, kiln_error *error);
    kiln_status (*binary)(kiln_gmf_reader *reader, int code, kiln_soup *soup, kiln_error *error);
} kiln_gmf_sections;

/* Hands over each section but the dimension, which must be 3, and the end, which must be there: a
 * file cut between two sections looks complete but for its last word. */
kiln_status kiln_gmf_read(kiln_source *source, const kiln_gmf_sections *sections, kiln_soup *soup,
                          kiln_error *error);

/* Header with the dimension, and the head of a section with `data_size` bytes after its count. */
void kiln_gmf_write_begin(kiln_sink *sink, int version);
void kiln_gmf_write_section(kiln_sink *sink, int version, int code, uint64_t count,
                            uint64_t data_size);
void kiln_gmf_write_end(kiln_sink *sink, int version);
void kiln_gmf_write_integer(kiln_sink *sink, int version, int64_t value);
/* The lowest version that can number `most_items` and address `file_size` bytes. */
int kiln_gmf_choose_version(uint64_t most_items, uint64_t file_size);

#endif
