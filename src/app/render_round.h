/* Facets made round: each triangle of a body becomes a curved one (Vlachos et al., "Curved PN
 * triangles", 2001) through its corners and across the mean normals there, cut into small ones.
 * Smooth surfaces get smooth outlines, and what light goes through bends it smoothly; sharp corners
 * stay. */
#ifndef KILN_APP_RENDER_ROUND_H
#define KILN_APP_RENDER_ROUND_H

#include "app/render_mesh.h"

/* Replaces the bodies' triangles, scenery stays behind them. Triangles then have corners of their
 * own, and `across` is UINT32_MAX: nothing may be drawn along their edges. */
kiln_status kiln_render_round(kiln_render_mesh *mesh, kiln_error *error);

#endif
