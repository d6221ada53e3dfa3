/* A new mesh must not have more energy than the old: where surfaces have moved, rest shapes that
 * were carried over do not fit any more. What is too much is let flow. */
#ifndef KILN_SIM_KEEP_ENERGY_H
#define KILN_SIM_KEEP_ENERGY_H

#include "sim/world_impl.h"

/* Rest shapes of the tets with fresh[tet] set go as far towards stress-free ones as brings `energy`
 * down to `most`, and no farther; rest volumes of a part of one material towards an even density,
 * their sum kept. All the way where that is not enough. Where material and world are one. */
kiln_status kiln_energy_keep(kiln_world *world, const uint8_t *fresh, double most,
                             double (*energy)(const kiln_world *world), kiln_error *error);

#endif
