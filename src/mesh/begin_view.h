/* Cheap reading of the mesh at the begin of a pass, for loops that visit many rows.
 *
 * A column names where the rows of one field are: in the archive where they changed since, in the
 * live column otherwise. Without a pass everything is live. Reading is safe from several threads;
 * a column is valid until the next change of the mesh. The LISTED flag of vertices is not masked
 * (kiln_archive_value does that). */
#ifndef KILN_MESH_BEGIN_VIEW_H
#define KILN_MESH_BEGIN_VIEW_H

#include "mesh/mesh.h"

#include <string.h>

typedef struct kiln_begin_column {
    const char *live;      /* [row] */
    const uint32_t *first; /* [row] word offset + 1 of the image, 0: none; NULL without a pass */
    const uint32_t *images;
    uint32_t stride; /* bytes of a row in the live column */
    uint32_t offset; /* bytes of the field in an image */
    uint32_t rows;   /* at the begin */
} kiln_begin_column;

kiln_begin_column kiln_begin_column_of(const kiln_mesh *mesh, kiln_where where, size_t field);

/* The row's value, aligned to 4 bytes only; `stride` is the column's, where it is a constant. */
KILN_INLINE const void *kiln_begin_fixed_row(const kiln_begin_column *column, uint32_t row,
                                             size_t stride)
{
    uint32_t first = column->first ? column->first[row] : 0;
    return first ? (const char *)(column->images + first - 1) + column->offset
                 : column->live + row * stride;
}
KILN_INLINE const void *kiln_begin_row(const kiln_begin_column *column, uint32_t row)
{
    return kiln_begin_fixed_row(column, row, column->stride);
}

/* What walks need: core columns by name. */
typedef struct kiln_begin_view {
    kiln_begin_column tet;      /* kiln_tet */
    kiln_begin_column info;     /* kiln_tet_info */
    kiln_begin_column position; /* kiln_vec3 in the space asked for */
} kiln_begin_view;

kiln_begin_view kiln_begin_view_of(const kiln_mesh *mesh, kiln_space space);
/* The mesh as it is now, pass or not, for code that reads either. */
kiln_begin_view kiln_live_view_of(const kiln_mesh *mesh, kiln_space space);

KILN_INLINE const kiln_tet *kiln_begin_tet(const kiln_begin_view *view, uint32_t tet)
{
    return kiln_begin_fixed_row(&view->tet, tet, sizeof(kiln_tet));
}
KILN_INLINE const kiln_tet_info *kiln_begin_info(const kiln_begin_view *view, uint32_t tet)
{
    return kiln_begin_fixed_row(&view->info, tet, sizeof(kiln_tet_info));
}
KILN_INLINE kiln_vec3 kiln_begin_position(const kiln_begin_view *view, uint32_t vertex)
{
    kiln_vec3 position;
    memcpy(&position, kiln_begin_fixed_row(&view->position, vertex, sizeof position),
           sizeof position);
    return position;
}
KILN_INLINE void kiln_begin_corners(const kiln_begin_view *view, const kiln_tet *tet,
                                    kiln_vec3 corners[4])
{
    for (int i = 0; i < 4; i++)
        corners[i] = kiln_begin_position(view, tet->v[i]);
}
/* True for a tet that was there at the begin; any number may be asked. */
KILN_INLINE bool kiln_begin_tet_live(const kiln_begin_view *view, uint32_t tet)
{
    return tet < view->tet.rows && kiln_begin_tet(view, tet)->v[0] != KILN_NONE;
}

/* Parts as they were, [part]; `count` may be NULL. */
const kiln_part *kiln_begin_parts(const kiln_mesh *mesh, size_t *count);

/* Appends the rows that changed or went since the begin, in the order of their first change. Their
 * number is what the pass cost, not the size of the mesh. */
kiln_status kiln_archive_touched_rows(const kiln_mesh *mesh, kiln_where where, kiln_u32_array *rows,
                                      kiln_error *error);

#endif
