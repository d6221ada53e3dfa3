/* What a whole mesh is, in one of its spaces. */
#ifndef KILN_REMESH_MEASURED_H
#define KILN_REMESH_MEASURED_H

#include "geom/tet_quality.h"
#include "mesh/mesh.h"

double kiln_volume_in(const kiln_mesh *mesh, kiln_space space);
double kiln_tet_volume_in(const kiln_mesh *mesh, kiln_space space, uint32_t tet);
/* The least by this measure; INFINITY without tets. */
double kiln_worst_in(const kiln_mesh *mesh, kiln_space space, kiln_measure measure);

#endif
