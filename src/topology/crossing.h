/* Does the surface of a mesh pass through itself? */
#ifndef KILN_TOPOLOGY_CROSSING_H
#define KILN_TOPOLOGY_CROSSING_H

#include "topology/among.h"

/* So many are counted, of each kind; who stacks a thousand bodies in one place learns no more from
 * all. */
enum { KILN_CROSSING_MOST = 100000 };

typedef struct kiln_crossing {
    size_t pairs;     /* of surface faces that pass through each other, or lie on each other with
                         matter behind both, by exact signs */
    uint32_t face[2]; /* the first of them, records of the mesh */
    size_t touching;  /* pairs of two parts that have points in common, and no more than that */
    uint32_t touching_face[2];
} kiln_crossing;

/* Faces that merely touch, as those of two bodies side by side do, do not cross; what neighbours
 * share does not count at all. */
kiln_status kiln_surface_find_crossing(const kiln_mesh *mesh, kiln_space space, kiln_crossing *out,
                                       kiln_error *error);
/* Only of bodies that meet. */
kiln_status kiln_surface_find_crossing_among(const kiln_mesh *mesh, kiln_space space,
                                             const kiln_among *among, kiln_crossing *out,
                                             kiln_error *error);

#endif
