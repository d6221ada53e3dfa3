/* What the uniting of fine surfaces is made of; the call itself is in remesh/embedded.h. */
#ifndef KILN_REMESH_EMBEDDED_UNITE_H
#define KILN_REMESH_EMBEDDED_UNITE_H

#include "geom/triangle_tree.h"
#include "mesh/mesh.h"
#include "remesh/surface_union.h"

typedef KILN_ARRAY_OF(kiln_triangle)
kiln_triangle_array;

/* Appends the outline of the bodies in the world, less the origin. `member` is [body]. */
kiln_status kiln_outline_of(const kiln_mesh *mesh, const uint8_t *member, kiln_vec3 origin,
                            kiln_triangle_array *out, kiln_error *error);

/* The closed surface of the piece of the new mesh `to` that joins what was not joined in `from`;
 * empty where nothing was. `fine` are the fine surfaces, less the origin, with edges of `size`. */
kiln_status kiln_bridge_find(const kiln_mesh *from, const kiln_mesh *to, const uint8_t *member,
                             kiln_vec3 origin, const kiln_triangle_tree *fine, double size,
                             kiln_shell *out, kiln_error *error);

#endif
