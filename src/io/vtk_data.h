/* What the VTK formats share: arrays of typed numbers, and cells turned into the lists of a soup.
 */
#ifndef KILN_IO_VTK_DATA_H
#define KILN_IO_VTK_DATA_H

#include "io/source.h"
#include "mesh/soup.h"

/* One row per type: enum name, name in .vtu, name in .vtk, bytes (a long of .vtk has 64 bits on all
 * machines that still write such files). */
#define KILN_VTK_TYPES(X)                                                                          \
    X(KILN_VTK_I8, "Int8", "char", 1)                                                              \
    X(KILN_VTK_U8, "UInt8", "unsigned_char", 1)                                                    \
    X(KILN_VTK_I16, "Int16", "short", 2)                                                           \
    X(KILN_VTK_U16, "UInt16", "unsigned_short", 2)                                                 \
    X(KILN_VTK_I32, "Int32", "int", 4)                                                             \
    X(KILN_VTK_U32, "UInt32", "unsigned_int", 4)                                                   \
    X(KILN_VTK_I64, "Int64", "long", 8)                                                            \
    X(KILN_VTK_U64, "UInt64", "unsigned_long", 8)                                                  \
    X(KILN_VTK_F32, "Float32", "float", 4)                                                         \
    X(KILN_VTK_F64, "Float64", "double", 8)

typedef enum kiln_vtk_type {
#define KILN_VTK_ENUM(name, vtu, legacy, bytes) name,
    KILN_VTK_TYPES(KILN_VTK_ENUM)
#undef KILN_VTK_ENUM
        KILN_VTK_TYPE_COUNT
} kiln_vtk_type;

typedef struct kiln_vtk_type_info {
    const char *vtu, *legacy;
    size_t size;
} kiln_vtk_type_info;

kiln_vtk_type_info kiln_vtk_type_about(kiln_vtk_type type);
KILN_INLINE bool kiln_vtk_type_is_integer(kiln_vtk_type type)
{
    return type < KILN_VTK_F32;
}

/* `count` numbers at any address; `block` is what must be freed, if anything. */
typedef struct kiln_vtk_values {
    kiln_vtk_type type;
    bool swap;
    const char *bytes;
    size_t count;
    char *block;
    size_t block_size;
} kiln_vtk_values;

/* A block of its own for `count` numbers, unset. */
kiln_status kiln_vtk_values_allocate(kiln_context *context, kiln_vtk_values *values,
                                     kiln_vtk_type type, size_t count, kiln_error *error);
void kiln_vtk_values_free(kiln_context *context, kiln_vtk_values *values);

void kiln_vtk_to_f64(const kiln_vtk_values *values, size_t first, size_t count, double *out);
/* What is no whole number in range becomes INT64_MIN, which no index or tag is. */
void kiln_vtk_to_i64(const kiln_vtk_values *values, size_t first, size_t count, int64_t *out);

/* Part of a file: points and cells of one .vtu piece, or all of a .vtk file. */
typedef struct kiln_vtk_piece {
    size_t point_base, point_count;
    size_t cell_base, cell_count;
    size_t base[3]; /* tets, triangles, edges before this piece */
} kiln_vtk_piece;

enum { KILN_VTK_IGNORED = 3 }; /* kinds 0, 1, 2: tet, triangle, edge */

typedef struct kiln_vtk_cells {
    kiln_context *context;
    KILN_ARRAY_OF(uint8_t)
    kinds; /* [cell] of all pieces */
} kiln_vtk_cells;

kiln_status kiln_vtk_add_points(kiln_soup *soup, const kiln_vtk_values *values,
                                kiln_vtk_piece *piece, kiln_error *error);

/* Cell i uses connectivity[ends[i-1] .. ends[i]), with ends[-1] = 0. */
kiln_status kiln_vtk_add_cells(kiln_vtk_cells *cells, const kiln_source *source, kiln_soup *soup,
                               const kiln_vtk_values *types, const kiln_vtk_values *ends,
                               const kiln_vtk_values *connectivity, kiln_vtk_piece *piece,
                               kiln_error *error);

/* Numbers per point or per cell into the field of that name (made when it is not there), or into
 * the tags when they are whole and the name is one that means tags. `only` restricts cell data to
 * KILN_ON_TET or KILN_ON_FACE; KILN_WHERE_COUNT: both. */
kiln_status kiln_vtk_add_point_data(kiln_soup *soup, kiln_text name, const kiln_vtk_values *values,
                                    uint32_t components, const kiln_vtk_piece *piece,
                                    kiln_error *error);
kiln_status kiln_vtk_add_cell_data(const kiln_vtk_cells *cells, kiln_soup *soup, kiln_text name,
                                   const kiln_vtk_values *values, uint32_t components,
                                   const kiln_vtk_piece *piece, kiln_where only, kiln_error *error);

/* zlib's allocator on a context: opaque is the context. */
void *kiln_zlib_allocate(void *context, unsigned items, unsigned size);
void kiln_zlib_release(void *context, void *block);

#endif
