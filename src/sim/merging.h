/* Liquid that becomes one with liquid where surfaces have met (merging.c). */
#ifndef KILN_SIM_MERGING_H
#define KILN_SIM_MERGING_H

#include "sim/world.h"

/* Whether what faces each other is left to a new mesh of the whole bodies. */
bool kiln_merging_is_left(const kiln_world *world);

#endif
