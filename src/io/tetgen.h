/* TetGen: points in NAME.node, tets in NAME.ele, triangles in NAME.face, edges in NAME.edge, text.
 * Any of the four names the set. Numbers start at 0 or 1, as the first point has it. Markers are
 * tags; a tet's only attribute is its tag if it is an integer everywhere; other attributes are the
 * field "attributes". */
#ifndef KILN_IO_TETGEN_H
#define KILN_IO_TETGEN_H

#include "io/format.h"

typedef enum kiln_tetgen_part {
    KILN_TETGEN_NODE,
    KILN_TETGEN_ELE,
    KILN_TETGEN_FACE,
    KILN_TETGEN_EDGE,
    KILN_TETGEN_PARTS
} kiln_tetgen_part;

/* The set `source` belongs to; from memory, `source` is the .node file and the only one. */
kiln_status kiln_tetgen_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
/* From open sources; all but the first may be NULL. */
kiln_status kiln_tetgen_read_parts(kiln_source *parts[KILN_TETGEN_PARTS], kiln_soup *soup,
                                   kiln_error *error);
/* Writes all four files, those without items too, so that no older file is taken for a part. */
kiln_status kiln_tetgen_write(kiln_context *context, const char *path, kiln_encoding encoding,
                              const kiln_soup *soup, kiln_error *error);

#endif
