/* VTK XML unstructured grids (.vtu). Tets, triangles and edges are cells in that order, tags of
 * tets are the integer array "region", those of triangles and edges "patch" (files without it, such
 * as surfaces and older ones: "region" too), fields are arrays of their names; arrays that belong
 * to tets or to triangles only say so in an attribute KilnWhere, which VTK passes over. Marks are
 * FieldData. */
#ifndef KILN_IO_VTU_H
#define KILN_IO_VTU_H

#include "io/format.h"

typedef enum kiln_vtu_place {
    KILN_VTU_APPENDED_RAW, /* what frames are written as */
    KILN_VTU_APPENDED_BASE64,
    KILN_VTU_INLINE_BASE64,
    KILN_VTU_ASCII
} kiln_vtu_place;

typedef struct kiln_vtu_layout {
    kiln_vtu_place place;
    bool compressed;     /* zlib, level 1 */
    bool narrow;         /* 32-bit block headers, for programs before VTK 6 */
    uint32_t block_size; /* bytes of a compressed block before packing; 0: our choice */
} kiln_vtu_layout;

kiln_status kiln_vtu_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
/* Text for KILN_ENCODING_ASCII, else appended and compressed. */
kiln_status kiln_vtu_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error);
kiln_status kiln_vtu_write_as(kiln_context *context, const char *path,
                              const kiln_vtu_layout *layout, const kiln_soup *soup,
                              kiln_error *error);
bool kiln_vtu_sniff(kiln_text start);

/* Lists of marks by position, and their names in FieldData. */
enum { KILN_VTU_MARKS = 5 };
const char *kiln_vtu_mark_name(int mark);
kiln_u32_array *kiln_vtu_mark_list(kiln_soup *soup, int mark);

#endif
