/* What opening a liquid has lost of its room, given back elsewhere: the surface goes out along its
 * normals. */
#ifndef KILN_TOPOLOGY_SWELL_H
#define KILN_TOPOLOGY_SWELL_H

#include "mesh/txn.h"

typedef struct kiln_swell {
    kiln_vec3 centre;
    double near, far; /* m from it: nearer nothing goes, farther less and less up to `far`;
                         INFINITY: all beyond `near` goes alike */
    double most;      /* m, the way of a vertex in a round */
    /* The part of a way that a vertex may go; NULL: all of it. */
    kiln_vec3 (*may_go)(const void *user, uint32_t vertex, kiln_vec3 way);
    const void *user;
} kiln_swell;

/* What hangs together with a tet gets `volume` more, as far as its surface may go. */
kiln_verdict kiln_surface_swell(kiln_txn *txn, const kiln_swell *how, uint32_t tet, double volume);

#endif
