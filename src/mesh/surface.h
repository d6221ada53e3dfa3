/* The surface of a mesh as a whole: how many pieces it has, and their topology. */
#ifndef KILN_MESH_SURFACE_H
#define KILN_MESH_SURFACE_H

#include "mesh/mesh.h"

/* Components of the surface (a cavity is one of its own), and the Euler characteristic V - E + F
 * summed over them: 2 for each sphere, 2 less for each handle. */
typedef struct kiln_surface_topology {
    uint32_t components;
    int64_t euler;
} kiln_surface_topology;

/* The mesh must keep M1 to M5; not inside a transaction. Fails only for lack of memory. */
kiln_status kiln_mesh_surface_topology(const kiln_mesh *mesh, kiln_surface_topology *out,
                                       kiln_error *error);

/* m^2, of all of it in the world. */
double kiln_mesh_surface_area(const kiln_mesh *mesh);

#endif
