/* Droplets that become part of the nearest liquid (remesh.droplets = "merge"). */
#ifndef KILN_SIM_DROPLETS_H
#define KILN_SIM_DROPLETS_H

#include "mesh/txn.h"
#include "sim/world_impl.h"

/* The parts with small[part] give what they have to the nearest part that has not, of the same
 * material: mass and rest volume to all of its tets of that, by their mass; momentum and angular
 * momentum as a motion of the whole. Their own tets are then to be taken away. Parts that find none
 * get small[part] = 0. What was given is added to *given. */
kiln_verdict kiln_droplets_give(kiln_world *world, kiln_txn *txn, uint32_t *small,
                                kiln_passed *given);

#endif
