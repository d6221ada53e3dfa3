/* Which value each triangle is coloured by, and the scale of the legend. */
#ifndef KILN_APP_RENDER_PAINT_H
#define KILN_APP_RENDER_PAINT_H

#include "app/render_mesh.h"

/* Fills value, paint and scale of `mesh`, whose triangles are `faces`. */
kiln_status kiln_render_paint(const kiln_soup *soup, const kiln_render_options *options,
                              const kiln_skin *faces, kiln_render_mesh *mesh, kiln_error *error);

#endif
