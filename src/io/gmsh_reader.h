/* The state of reading one .msh file, shared by the files that read its sections. */
#ifndef KILN_IO_GMSH_READER_H
#define KILN_IO_GMSH_READER_H

#include "io/gmsh.h"
#include "io/id_map.h"
#include "io/items.h"

typedef struct kiln_gmsh_entity {
    int64_t dimension, tag;
    int32_t physical; /* its first physical group */
} kiln_gmsh_entity;

typedef struct kiln_gmsh_reader {
    kiln_source *source;
    kiln_soup *soup;
    bool version4; /* 4.1, otherwise 2.2 */
    kiln_id_map nodes;
    kiln_id_map items[KILN_ITEM_EDGE + 1]; /* element numbers by kiln_item_kind */
    bool items_finished;
    KILN_ARRAY_OF(kiln_gmsh_entity)
    entities; /* sorted by dimension and tag */
    uint64_t ignored;
    uint64_t field_bytes; /* of the fields so far */
    bool nodes_seen, elements_seen;
} kiln_gmsh_reader;

/* Numbers of either encoding. A size has 64 bits in binary 4.1 files. */
kiln_status kiln_gmsh_int(kiln_gmsh_reader *reader, const char *what, int64_t *value,
                          kiln_error *error);
kiln_status kiln_gmsh_size(kiln_gmsh_reader *reader, const char *what, uint64_t *value,
                           kiln_error *error);
kiln_status kiln_gmsh_double(kiln_gmsh_reader *reader, const char *what, double *value,
                             kiln_error *error);
/* A count that stands as text on a line of its own even in binary files; binary data follow the
 * line's end. */
kiln_status kiln_gmsh_line_count(kiln_gmsh_reader *reader, const char *what, uint64_t *value,
                                 kiln_error *error);
kiln_status kiln_gmsh_end_line(kiln_gmsh_reader *reader, kiln_error *error);

/* kiln_source_claim for items of `numbers` numbers (2 bytes each in text), `bytes` in binary. */
kiln_status kiln_gmsh_claim(const kiln_gmsh_reader *reader, uint64_t count, size_t numbers,
                            size_t bytes, const char *what, kiln_error *error);

/* Nodes or elements of a 4.1 file, `what`: the head of their section, then `read` for each block,
 * which claims what it has of what is `left`. Each takes `numbers` and `bytes` at least. */
typedef kiln_status (*kiln_gmsh_read_block)(kiln_gmsh_reader *reader, uint64_t *left,
                                            kiln_error *error);
kiln_status kiln_gmsh_blocks(kiln_gmsh_reader *reader, const char *what, size_t numbers,
                             size_t bytes, kiln_gmsh_read_block read, kiln_error *error);
/* The number of items in a block. */
kiln_status kiln_gmsh_block_count(kiln_gmsh_reader *reader, const char *what, uint64_t *left,
                                  uint64_t *count, kiln_error *error);

/* The sections, from behind the line with their name up to $End... */
kiln_status kiln_gmsh_read_entities(kiln_gmsh_reader *reader, kiln_error *error);
kiln_status kiln_gmsh_read_nodes(kiln_gmsh_reader *reader, kiln_error *error);
kiln_status kiln_gmsh_read_elements(kiln_gmsh_reader *reader, kiln_error *error);
kiln_status kiln_gmsh_read_data(kiln_gmsh_reader *reader, bool on_nodes, kiln_error *error);

#endif
