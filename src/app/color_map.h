/* Colour scales. Control colours are mixed in Oklab, where equal steps look equal. */
#ifndef KILN_APP_COLOR_MAP_H
#define KILN_APP_COLOR_MAP_H

#include "app/image.h"

typedef enum kiln_color_map {
    KILN_MAP_QUALITY, /* red (bad) over cream to deep blue (good) */
    KILN_MAP_FIELD,   /* blue (low) over pale green and yellow to red (high) */
    KILN_MAP_COUNT
} kiln_color_map;

/* t is clamped to [0, 1]. */
kiln_rgb kiln_color_map_at(kiln_color_map map, double t);

/* A distinct colour for each of the first 12 kinds, then again from the start. */
kiln_rgb kiln_color_of_kind(size_t kind);

#endif
