/* Which edges and vertices of surface and interfaces are features. */
#ifndef KILN_MESH_CLASSIFY_H
#define KILN_MESH_CLASSIFY_H

#include "mesh/mesh.h"

/* Sets feature-edge marks and vertex flags from scratch, in material space; required marks and user
 * features (already set as marks) stay. An edge is a feature where the surface or an interface
 * turns by more than `angle`, where face tags differ, or where sheets meet. A vertex is a corner
 * where features end, meet, or turn by more than `angle`; corners stay corners. Classification is
 * fixed for a step and inherited by splits. Inside a transaction what changes is logged, else it is
 * written straight away. */
kiln_status kiln_mesh_classify(kiln_mesh *mesh, double angle, kiln_error *error);

#endif
