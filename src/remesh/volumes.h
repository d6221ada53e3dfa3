/* Volumes that a change of the mesh is to keep: of each region in each part. Passes hold curved
 * surfaces within a band, which says where they are but not what they enclose; here they are moved
 * by the little that is missing. Flat sides and features stay where they are. */
#ifndef KILN_REMESH_VOLUMES_H
#define KILN_REMESH_VOLUMES_H

#include "remesh/remesher.h"

typedef struct kiln_volume {
    int32_t region;
    uint32_t part;
    double volume;
} kiln_volume;

typedef KILN_ARRAY_OF(kiln_volume)
kiln_volumes;

/* Of the mesh as it is, in order of part and region. */
kiln_status kiln_volumes_note(const kiln_mesh *mesh, kiln_space space, kiln_volumes *out,
                              kiln_error *error);

/* Moves vertices of curved surfaces and interfaces along their normals, by a length that is the
 * same all over one of them, until what was noted is there again. A vertex stays where its star
 * would fall below `goal` and below what it is; none goes farther than some half of its edges. In
 * a pass. */
kiln_status kiln_volumes_restore(kiln_remesher *remesher, const kiln_volumes *noted, double goal,
                                 kiln_error *error);

#endif
