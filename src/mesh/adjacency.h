/* Links of a mesh whose tets have vertices but no neighbours yet. */
#ifndef KILN_MESH_ADJACENCY_H
#define KILN_MESH_ADJACENCY_H

#include "mesh/build.h"

/* Fills n[] of all tets (rows [0, used), all live) in parallel: a neighbour, or for an outside face
 * KILN_LINK_SURFACE + the number of the listed triangle with its corners, or KILN_NONE. Faces with
 * defects stay outside and are counted. triangle_uses[i] gets how many tet faces triangle i is. */
kiln_status kiln_adjacency_find(kiln_mesh *mesh, const kiln_soup_triangle *triangles,
                                size_t triangle_count, uint8_t *triangle_uses,
                                kiln_build_report *report, kiln_error *error);

#endif
