/* Whether matter has another shape than it had: for who looks at a mesh only then. */
#ifndef KILN_REMESH_RESHAPED_H
#define KILN_REMESH_RESHAPED_H

#include "mesh/mesh.h"

/* Some tet has an edge whose length in the world, or a volume, that has become larger or smaller by
 * this part since its corners were at `then` [vertex slot]. Motion alone changes neither. Quality
 * is made of both, so it has not changed by much more. Parallel. */
bool kiln_reshaped(const kiln_mesh *mesh, const kiln_vec3 *then, double part);

#endif
