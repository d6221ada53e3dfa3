/* Which number of a field a picture shows. */
#ifndef KILN_APP_RENDER_FIELD_H
#define KILN_APP_RENDER_FIELD_H

#include "mesh/soup.h"

/* What messages call the option: it has two names. */
#define KILN_COLOR_OPTION "--color or --field"

/* Prepares `soup` so that kiln_render can colour by `asked` (NULL, "quality", "region" and "none"
 * need nothing): a field of numbers or vectors (their length) stays, symmetric tensors become their
 * Frobenius norm, stresses their von Mises value. Made from others when no field has the name:
 *   speed         length of v
 *   displacement  distance of the points from u
 *   mises, pressure   from stress
 *   NAME.x ... NAME.zz, NAME.0 ...   a component of field NAME
 * An unknown name is refused with the list of what there is. */
kiln_status kiln_render_pick_field(kiln_soup *soup, const char *asked, kiln_error *error);

/* Makes a picked field on tets one of numbers on points: means over the tets around each, weighted
 * by volume. Leaves everything else as it is. */
kiln_status kiln_render_smooth_field(kiln_soup *soup, const char *asked, kiln_error *error);

/* The name with the unit of what it measures, for legends: Pa, kPa ... as suits values up to
 * `largest`. Returns what values are to be divided by. */
double kiln_render_field_title(const char *asked, double largest, char title[KILN_NAME_SIZE]);

#endif
