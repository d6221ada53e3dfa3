/* What the files of gap filling share. */
#ifndef KILN_TOPOLOGY_GAP_IMPL_H
#define KILN_TOPOLOGY_GAP_IMPL_H

#include "mesh/walk.h"
#include "topology/gap.h"

typedef struct kiln_sheet_vertex {
    uint32_t id;
    double p[2];   /* m, along the axes */
    double height; /* of the hull, m^2 */
    double length; /* m, mean of the sheet's edges there */
} kiln_sheet_vertex;

typedef struct kiln_sheet_face {
    uint32_t face, v[3]; /* rows of `vertices`, anticlockwise in the plane */
    double gradient[2];  /* of the heights */
} kiln_sheet_face;

typedef struct kiln_sheet_edge {
    uint32_t v[2];
    uint32_t f[2]; /* rows of `faces`, to the left and to the right */
} kiln_sheet_edge;

typedef struct kiln_sheet {
    KILN_ARRAY_OF(kiln_sheet_vertex)
    vertices;
    KILN_ARRAY_OF(kiln_sheet_face)
    faces;
    KILN_ARRAY_OF(kiln_sheet_edge)
    edges;             /* between two faces of the sheet */
    kiln_idset number; /* vertex -> row */
    kiln_idset taken;  /* faces */
} kiln_sheet;

typedef struct kiln_sheets {
    const kiln_mesh *mesh;
    const kiln_gap *gap;
    kiln_vec3 origin, axis[3]; /* the last from the first sheet to the second */
    kiln_sheet side[2];
    kiln_walker walker;
} kiln_sheets;

/* An edge of what was put in, from the one side to the other. */
typedef struct kiln_gap_edge {
    uint32_t a, b;
    double length; /* m */
} kiln_gap_edge;

/* gap_close.c: contracts those edges one by one, each where the worst tet about it becomes better
 * by it, to the best of its ends and its middle. */
kiln_verdict kiln_gap_close(kiln_txn *txn, const kiln_gap_edge *edges, size_t count);

/* gap_sheets.c. KILN_REFUSED_JUDGED where they are no such triangulations. */
kiln_verdict kiln_sheets_find(kiln_sheets *sheets);
void kiln_sheets_free(kiln_sheets *sheets);

#endif
