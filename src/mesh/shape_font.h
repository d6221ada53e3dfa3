/* The built-in letters: capitals, digits and a few marks as polygons with holes. */
#ifndef KILN_MESH_SHAPE_FONT_H
#define KILN_MESH_SHAPE_FONT_H

#include <stddef.h>

enum { KILN_FONT_HEIGHT = 12, KILN_FONT_GAP = 2 }; /* units of the outlines */

typedef struct kiln_glyph {
    char character;
    int width;
    const char *outline; /* see shape_font.c */
} kiln_glyph;

/* NULL when there is none; small letters are drawn as capitals. */
const kiln_glyph *kiln_font_glyph(char character);

/* All that can be drawn, for messages; returns `buffer`. */
const char *kiln_font_characters(char *buffer, size_t size);

#endif
