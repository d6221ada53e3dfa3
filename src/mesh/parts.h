/* Connected components of the tets, kept up through openings and gluings. */
#ifndef KILN_MESH_PARTS_H
#define KILN_MESH_PARTS_H

#include "mesh/mesh.h"

/* Numbers all components from scratch, by their lowest tet; body = part. For a mesh just built. */
kiln_status kiln_parts_number(kiln_mesh *mesh, kiln_error *error);

/* What the outermost commit does: joins parts across glued faces, then finds out whether opened
 * faces have separated any. The cost follows the smaller sides, not the mesh. Logged. */
kiln_status kiln_parts_settle(kiln_mesh *mesh, kiln_error *error);

/* All tets of the body's parts become one body of its own / go to another body: relabelling only.
 */
void kiln_body_assign(kiln_mesh *mesh, uint32_t part, uint32_t body);

#endif
