/* The vertices of a mesh that are on its surface, ascending. */
#ifndef KILN_CONTACT_SURFACE_VERTICES_H
#define KILN_CONTACT_SURFACE_VERTICES_H

#include "mesh/mesh.h"

KILN_INLINE bool kiln_vertex_on_surface(const kiln_mesh *mesh, uint32_t v)
{
    return kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_SURFACE;
}

kiln_status kiln_surface_vertices_build(kiln_u32_array *vertices, const kiln_mesh *mesh,
                                        kiln_error *error);
/* The same when the list was right before `rows` (ascending) became others and rows past the end of
 * the table went. On failure unchanged. */
kiln_status kiln_surface_vertices_update(kiln_u32_array *vertices, const kiln_mesh *mesh,
                                         const kiln_u32_array *rows, kiln_error *error);

#endif
