/* Particles of a frame to look at. */
#ifndef KILN_APP_FILM_TRACERS_H
#define KILN_APP_FILM_TRACERS_H

#include "app/film_list.h"
#include "mesh/soup.h"

/* A bead for each particle beside the frame (tag 2), and the hollows of the frame's bodies (tag 1),
 * which are what they flow round, as triangles of an empty soup; the field "v" on points. */
kiln_status kiln_film_tracers_read(kiln_context *context, const kiln_film_frame *frame,
                                   kiln_soup *soup, kiln_error *error);

#endif
