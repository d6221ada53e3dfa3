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

#endif
