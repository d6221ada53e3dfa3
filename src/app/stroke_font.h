/* A small font of pen strokes for legends: printable ASCII, any size, drawn anti-aliased. */
#ifndef KILN_APP_STROKE_FONT_H
#define KILN_APP_STROKE_FONT_H

#include "app/image.h"

/* Width in pixels of a line whose capitals are `height` pixels high. */
float kiln_text_width(const char *text, float height);

/* (x, y) is the left end of the base line. Characters outside ASCII are drawn as a box. */
void kiln_text_draw(kiln_image *image, const char *text, float x, float y, float height,
                    kiln_rgb color);

#endif
