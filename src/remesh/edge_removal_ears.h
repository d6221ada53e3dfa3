/* The ears of a ring, all at a time. */
#ifndef KILN_REMESH_EDGE_REMOVAL_EARS_H
#define KILN_REMESH_EDGE_REMOVAL_EARS_H

#include "base/simd.h"
#include "remesh/edge_removal_ring.h"

enum { KILN_EAR_ROOM = KILN_RING_MOST + 1 + 2 + 8 };

/* The ring's points beginning with the last: entries 0..count + 1 are those of vertices count - 1,
 * 0, 1 .. count - 1, 0; what follows up to the next multiple of 8 must be finite. */
typedef struct kiln_ear_points {
    double x[KILN_EAR_ROOM], y[KILN_EAR_ROOM], z[KILN_EAR_ROOM];
} kiln_ear_points;

/* Bit i where both tets of the ear at vertex i may have a kiln_tet_quality above `floor` >= 0 (so 0
 * asks for their signs, rounded). A bit that is not set is certain; the others have to be looked
 * at. */
KILN_SIMD_DECLARE(uint32_t, kiln_ears_above, const kiln_ear_points *ring, uint32_t count,
                  kiln_vec3 a, kiln_vec3 b, double floor);

#endif
