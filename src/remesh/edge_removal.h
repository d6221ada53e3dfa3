/* Edge removal: the tets round an edge are replaced by the best triangulation of its ring. */
#ifndef KILN_REMESH_EDGE_REMOVAL_H
#define KILN_REMESH_EDGE_REMOVAL_H

#include "remesh/proposal.h"

/* The edge of two corners of a tet. Interior edges (m tets become 2m - 4), edges of the surface (m
 * become 2m - 2, 2-2 among them; a single one that lies in it goes; where kiln_surface_allows it),
 * edges of an interface (both sectors with the same new diagonal). Rings of more than 16 are left
 * alone. */
bool kiln_edge_removal_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                               uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                               kiln_proposal *out);

#endif
