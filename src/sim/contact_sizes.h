/* What contact measures by: given by the scene, or preset by the sizes of its bodies. */
#ifndef KILN_SIM_CONTACT_SIZES_H
#define KILN_SIM_CONTACT_SIZES_H

#include "sim/world.h"

/* m. Preset: a tenth of the mean edge of the bodies' meshes, but not more than a tenth of the
 * smallest body. */
double kiln_contact_thickness(const kiln_scene *scene);
/* Warns of bodies for which thickness or friction speed are too large, once there is a solid. */
void kiln_contact_tell_small(const kiln_world *world);

#endif
