/* No command writes a mesh whose surface passes through itself where that of its input did not. */
#ifndef KILN_APP_MESH_OVERLAP_H
#define KILN_APP_MESH_OVERLAP_H

#include "topology/crossing.h"

/* KILN_ERR_INPUT with the place, of a mesh read from `path`, if it does already. */
kiln_status kiln_refuse_overlap(const kiln_mesh *mesh, kiln_space space,
                                const kiln_crossing *crossing, const char *path, kiln_error *error);
/* Likewise if more pairs of faces do than `before`. Operators keep sheets apart
 * (remesh/surface_room.c): this is for what they may have missed. */
kiln_status kiln_refuse_new_overlap(const kiln_mesh *mesh, kiln_space space, size_t before,
                                    const char *path, kiln_error *error);

#endif
