/* Do surfaces that were remeshed keep out of each other? Remeshing moves surfaces by what its
 * tolerance allows; where two are close that can be too much. */
#ifndef KILN_CONTACT_CLEARANCE_H
#define KILN_CONTACT_CLEARANCE_H

#include "contact/pair_table.h"
#include "contact/walls.h"
#include "mesh/mesh.h"

#define KILN_SINCE_EVER UINT32_MAX

typedef struct kiln_clearance {
    size_t pairs;     /* of faces that cross, by exact signs, or are nearer than the gap */
    uint32_t face[2]; /* the first of them, records of the mesh */
} kiln_clearance;

/* Faces in world space of tets made after the mesh's clock was `since` (KILN_SINCE_EVER: all)
 * against all faces, of bodies that meet (NULL: all). `gap` (m, 0 allowed) is asked of faces
 * without a common vertex. */
kiln_status kiln_contact_clearance(const kiln_mesh *mesh, uint32_t since,
                                   const kiln_pair_table *table, double gap, kiln_clearance *out,
                                   kiln_error *error);

/* The same against walls as they are at the end of a step; face[1] is one of theirs. Walls that a
 * body is in as a whole are not noticed. */
kiln_status kiln_wall_clearance(const kiln_mesh *mesh, uint32_t since, const kiln_pair_table *table,
                                const kiln_walls *walls, double gap, kiln_clearance *out,
                                kiln_error *error);

#endif
