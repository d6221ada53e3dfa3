/* A vertex goes a part of its way if its tets bear it. */
#ifndef KILN_TOPOLOGY_NUDGE_H
#define KILN_TOPOLOGY_NUDGE_H

#include "mesh/txn.h"
#include "mesh/walk.h"

/* No tet comes out with less than `quality`, unless the worst had less. A vertex that must stay, or
 * that is refused, is where it was, and that is KILN_ACCEPTED too. */
kiln_verdict kiln_nudge(kiln_txn *txn, kiln_walker *walker, uint32_t vertex, kiln_vec3 to,
                        double part, double quality);

#endif
