/* A run may go on with another scene than the one it began with.
 *
 * What its state is made of stays: the bodies (how many, their names, shapes, places, regions, the
 * velocities they began with, their mass), how many holds, loads and obstacles there are, in their
 * order, what holds and loads select, the shapes of obstacles. What has begun or ended stays so.
 * Matter that may flow and meshes that may change stay so, in the same space and by the same
 * method. All the rest may change, integrator, materials and functions included. */
#ifndef KILN_SIM_CHANGE_H
#define KILN_SIM_CHANGE_H

#include "sim/world.h"

/* Both worlds are as their scenes begin; `time` is where the run of `before` is now, s. An error
 * names the place in the scene of `after` and the rule. */
kiln_status kiln_world_check_change(const kiln_world *before, const kiln_world *after, double time,
                                    kiln_error *error);

/* `after` has the mesh and the state of a run of `before`: the first step will be one of the new
 * scene. KILN_ERR_INPUT where the new scene cannot bear what the bodies are like now. */
kiln_status kiln_world_take_change(kiln_world *after, const kiln_scene *before, kiln_error *error);

/* Whether a field that the old scene did not have may begin with zeros. Others begin as they do in
 * the mesh of the start, and only where that has not changed since. */
bool kiln_change_may_be_zero(const char *field);

#endif
