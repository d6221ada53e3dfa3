/* Whole parts out of a mesh and into one: rows with all their columns, bit for bit. */
#ifndef KILN_MESH_DIVIDE_H
#define KILN_MESH_DIVIDE_H

#include "mesh/mesh.h"

/* A mesh of the parts with take[part] set: the same fields, rows in the order they have, without
 * gaps; bodies and twin numbers stay. There may be none. Not inside a transaction or pass. */
kiln_status kiln_mesh_extract(const kiln_mesh *mesh, const uint8_t *take, kiln_mesh **out,
                              kiln_error *error);

/* A copy without fields: its shape, regions, tags, features, both places of its vertices. Rows as
 * above. Not inside a transaction or pass. */
kiln_status kiln_mesh_copy_bare(const kiln_mesh *mesh, kiln_mesh **out, kiln_error *error);

/* The rows of `more`, which has no gaps, after those of the mesh; its parts after the mesh's, with
 * their bodies. Both must have the same fields (KILN_ERR_INPUT). On failure the mesh is as it was.
 * Not inside a transaction or pass. */
kiln_status kiln_mesh_append(kiln_mesh *mesh, const kiln_mesh *more, kiln_error *error);

#endif
