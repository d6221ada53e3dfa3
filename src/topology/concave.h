/* How a surface bends at an edge and about a vertex, in the world. */
#ifndef KILN_TOPOLOGY_CONCAVE_H
#define KILN_TOPOLOGY_CONCAVE_H

#include "mesh/walk.h"

/* The angle between the two faces of a surface edge on the side where there is no matter, radians;
 * pi where it is flat, 0 at the tip of a slit that is closed. An edge inside has none: 2 pi. */
double kiln_air_angle(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b);

/* The lesser principal curvature at a surface vertex, 1/m, negative where the surface is hollow
 * (a saddle or a dent), by a quadric through what is two edges about it, and the mean length of the
 * edges at the vertex. 0 where there are too few vertices for a quadric. `far` is scratch. */
kiln_status kiln_least_curvature(const kiln_mesh *mesh, uint32_t vertex, kiln_walker *walker,
                                 kiln_idset *far, double *curvature, double *edge,
                                 kiln_error *error);

#endif
