/* The surface of all bodies of a mesh as contact sees it: its vertices, edges and faces, what share
 * of the area each stands for, and which of its vertices are neighbours in the mesh. */
#ifndef KILN_CONTACT_CONTACT_SURFACE_H
#define KILN_CONTACT_CONTACT_SURFACE_H

#include "mesh/changes.h"

/* Zero-initialise. */
typedef struct kiln_contact_surface {
    kiln_context *context;
    kiln_u32_array vertices;  /* slots, ascending */
    kiln_u32_array edges;     /* [edge][2] slots, ascending */
    kiln_u32_array faces;     /* [face][3] slots, outward */
    kiln_f64_array area;      /* [vertex slot] a third of the faces at it in u, m^2 */
    kiln_f64_array edge_area; /* [edge] likewise */
    kiln_u32_array body;      /* [vertex slot], of surface vertices; 0 elsewhere */
    kiln_u32_array part;      /* likewise */
    /* [vertex slot]: surface vertices that an edge of a tet joins to it, ascending, in
     * near.data[near_start.data[v]] to near.data[near_start.data[v + 1] - 1]. */
    kiln_u32_array near, near_start;
    /* Vertices that the last update looked at again, ascending: all whose row or star is another.
     * For what others keep by vertex. */
    kiln_u32_array renewed;
} kiln_contact_surface;

/* From the whole mesh. On failure the surface is empty. */
kiln_status kiln_contact_surface_build(kiln_contact_surface *surface, const kiln_mesh *mesh,
                                       kiln_error *error);
/* The same bits from what has changed since the surface was that of the mesh, at the cost of that
 * and of one pass over the surface. Builds it when it cannot be updated. On failure the surface is
 * empty. */
kiln_status kiln_contact_surface_update(kiln_contact_surface *surface, const kiln_mesh *mesh,
                                        const kiln_changes *changes, kiln_error *error);
/* Whether the surface is that of the mesh before the changes and they are told. */
KILN_INLINE bool kiln_contact_surface_can_update(const kiln_contact_surface *surface,
                                                 const kiln_changes *changes)
{
    return !changes->all &&
           surface->near_start.count == (size_t)changes->before[KILN_ON_VERTEX] + 1;
}
/* The areas again, after positions in the material alone have changed. */
void kiln_contact_surface_measure(kiln_contact_surface *surface, const kiln_mesh *mesh);
void kiln_contact_surface_free(kiln_contact_surface *surface);
bool kiln_contact_surface_near(const kiln_contact_surface *surface, uint32_t a, uint32_t b);
size_t kiln_contact_surface_bytes(const kiln_contact_surface *surface);

#endif
