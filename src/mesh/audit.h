/* Does the mesh keep its invariants? Names the first that is broken (mesh.h lists them). */
#ifndef KILN_MESH_AUDIT_H
#define KILN_MESH_AUDIT_H

#include "mesh/walk.h"

/* kiln_mesh_audit (kiln/kiln.h) checks the whole mesh; not inside a transaction. */

/* One tet with its links, faces, anchors and corners' stars: what the fuzz build checks after every
 * operation. */
kiln_status kiln_mesh_audit_tet(const kiln_mesh *mesh, uint32_t tet, kiln_walker *walker,
                                kiln_audit_report *report, kiln_error *error);

/* Only what holds inside a transaction as well: links, orientation, marks. */
void kiln_mesh_audit_links(const kiln_mesh *mesh, uint32_t tet, kiln_audit_report *report);

#endif
