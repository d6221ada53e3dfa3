/* Random changes of a mesh that keep its outline, for cases that look at what a remesh does. */
#ifndef KILN_MEASURE_CHANGE_H
#define KILN_MEASURE_CHANGE_H

#include "base/random.h"
#include "mesh/mesh.h"

typedef struct kiln_change_limits {
    double move;      /* largest move of an inner vertex along each axis, m */
    double flattest;  /* no flip makes a tet of less volume, m^3 */
    kiln_vec3 centre; /* only tets with all corners within `reach` of it; reach 0: all */
    double reach;
    uint32_t first, count; /* tet rows to choose from; count 0: all */
} kiln_change_limits;

/* Attempts at a flip, a split or a move of an inner vertex, each a transaction. Returns how many
 * were kept. */
int kiln_fixture_change(kiln_mesh *mesh, kiln_random *random, int attempts,
                        const kiln_change_limits *limits);

#endif
