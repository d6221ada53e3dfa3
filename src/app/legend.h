/* The colour scale at the right of a picture. */
#ifndef KILN_APP_LEGEND_H
#define KILN_APP_LEGEND_H

#include "app/render_mesh.h"

/* Pixels to keep free at the right; 0 when the scale has no legend. */
int kiln_legend_width(const kiln_color_scale *scale, int width, int height);
void kiln_legend_draw(kiln_image *image, const kiln_color_scale *scale, kiln_rgb ink);

#endif
