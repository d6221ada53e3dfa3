/* Smooths the sampled light over neighbouring pixels that see the same piece of surface. */
#ifndef KILN_APP_RENDER_FILTER_H
#define KILN_APP_RENDER_FILTER_H

#include "app/render_light.h"

/* `smooth` [height][width] receives light and openness; everything else is copied. */
void kiln_light_filter(kiln_context *context, const kiln_light_job *job, kiln_light_pixel *smooth);

#endif
