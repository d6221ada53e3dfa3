/* The tets at each vertex, for loops that write row by row: each row is then written by one chunk
 * and in one order, and the bits do not depend on threads. */
#ifndef KILN_FEM_VERTEX_STARS_H
#define KILN_FEM_VERTEX_STARS_H

#include "mesh/mesh.h"

typedef struct kiln_vertex_stars {
    size_t rows, tets;     /* vertex and tet slots */
    kiln_u32_array corner; /* [tet slot][4] vertices: cliques; KILN_NONE where there is no tet */
    KILN_ARRAY_OF(uint64_t)
    first;              /* [rows + 1] */
    kiln_u32_array tet; /* [entry] tet slot * 4 + corner, ascending in a row */
} kiln_vertex_stars;

/* Zero-initialise. On failure it is empty. */
kiln_status kiln_vertex_stars_build(kiln_vertex_stars *stars, const kiln_mesh *mesh,
                                    kiln_error *error);
void kiln_vertex_stars_free(kiln_vertex_stars *stars, kiln_context *context);

#endif
