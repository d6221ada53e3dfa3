/* Is matter of two parts in the same place? Surfaces that do not cross can still hold it: one part
 * wholly inside another, or two whose surfaces meet along edges only, as boxes of one grid do. */
#ifndef KILN_TOPOLOGY_IMMERSED_H
#define KILN_TOPOLOGY_IMMERSED_H

#include "topology/among.h"

typedef struct kiln_immersed {
    bool found;
    uint32_t tet[2]; /* of two parts: behind the first such surface face, and the one it is in */
} kiln_immersed;

/* Looks just behind every surface face for a tet of another part, by exact signs. Parts that touch
 * from outside do not count, nor does one in a hole of another. */
kiln_status kiln_parts_find_immersed(const kiln_mesh *mesh, kiln_space space,
                                     const kiln_among *among, kiln_immersed *out,
                                     kiln_error *error);

/* A point of others that is in a tet, or on one, among those that count. */
typedef struct kiln_swallowed {
    bool (*counts)(const void *user, uint32_t tet, uint32_t point);
    const void *user;
    uint32_t tet, point; /* found; KILN_NONE: there is none */
} kiln_swallowed;

kiln_status kiln_mesh_find_swallowed(const kiln_mesh *mesh, kiln_space space,
                                     const kiln_vec3 *points, size_t count, kiln_swallowed *out,
                                     kiln_error *error);

#endif
