/* Particles of a world as a file of points (VTK PolyData). */
#ifndef KILN_IO_TRACERS_H
#define KILN_IO_TRACERS_H

#include "sim/world.h"

/* Places, velocity (m/s), age (s) and number of each. */
kiln_status kiln_tracers_write(kiln_context *context, const char *path, const kiln_world *world,
                               kiln_error *error);
/* Places and the field "v" into an empty soup, of a file that was written so. */
kiln_status kiln_tracers_read(kiln_context *context, const char *path, kiln_soup *soup,
                              kiln_error *error);

#endif
