/* The parts of io/fill.h. */
#ifndef KILN_IO_FILL_IMPL_H
#define KILN_IO_FILL_IMPL_H

#include "io/fill.h"

typedef struct kiln_fill_job {
    const kiln_soup *in;
    bool surface;           /* its triangles are facets; otherwise the points alone count */
    bool plain;             /* no points for quality or size */
    const kiln_vec3 *holes; /* points in cavities */
    size_t hole_count;
} kiln_fill_job;

/* Runs TetGen. `out` gets points (those of the input first, to the bit), positive tets with tag 1,
 * and with a surface the triangles that lie on it, which triangle_tags say by number. */
kiln_status kiln_fill_run(const kiln_fill_job *job, const kiln_fill_options *options,
                          kiln_soup *out, kiln_error *error);

/* What TetGen filled, told apart by the triangles: spaces that an odd number of them divides from
 * the outside stay, or with `regions` all of them with tags of their own. Triangles turn outward;
 * those between two regions go, since the regions say as much. A point in each cavity is appended
 * to `holes` when it is not NULL. */
typedef struct kiln_fill_cells {
    size_t regions, cavities;
} kiln_fill_cells;
typedef KILN_ARRAY_OF(kiln_vec3)
kiln_vec3_array;
kiln_status kiln_fill_sort_cells(kiln_soup *filled, bool regions, const char *place,
                                 kiln_vec3_array *holes, kiln_fill_cells *cells, kiln_error *error);

/* The worst tet, where it is, and what the surface there has to do with it. */
kiln_status kiln_fill_judge(const kiln_soup *surface, const uint32_t *from, const kiln_soup *filled,
                            kiln_fill_report *report, kiln_error *error);

#endif
