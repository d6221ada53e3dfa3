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

/* Of vertices without a shape of their own (`smooth` [vertex slot] not 0), such as those of liquid:
 * an edge of the surface between two of them is a feature where its faces differ in `sheet` [face
 * slot] or by their tags, whatever it was before; a vertex is a corner where such lines end or
 * meet. Others stay as they are. */
kiln_status kiln_mesh_draw_lines(kiln_mesh *mesh, const uint8_t *smooth, const uint32_t *sheet,
                                 kiln_error *error);

#endif
