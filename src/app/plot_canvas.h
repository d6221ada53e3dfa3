/* What plots are drawn on: an SVG file or a picture. Units are those of the SVG (pixels at normal
 * size), y downwards; colours 0xrrggbb. */
#ifndef KILN_APP_PLOT_CANVAS_H
#define KILN_APP_PLOT_CANVAS_H

#include "app/image.h"

#include <stddef.h>
#include <stdio.h>

typedef struct kiln_plot_point {
    double x, y;
} kiln_plot_point;

typedef enum kiln_plot_anchor {
    KILN_ANCHOR_LEFT,
    KILN_ANCHOR_MIDDLE,
    KILN_ANCHOR_RIGHT
} kiln_plot_anchor;

typedef struct kiln_plot_canvas {
    void *self;
    void (*line)(void *self, const kiln_plot_point *points, size_t count, double width,
                 unsigned color);
    /* Between the curve of `top` and that of `bottom`, which have the same x. */
    void (*area)(void *self, const kiln_plot_point *top, const kiln_plot_point *bottom,
                 size_t count, unsigned color);
    void (*box)(void *self, double x, double y, double width, double height, unsigned color);
    /* (x, y) is on the base line; size as fonts have it. */
    void (*text)(void *self, double x, double y, double size, kiln_plot_anchor anchor,
                 unsigned color, const char *text);
} kiln_plot_canvas;

/* On an open file; the caller writes nothing else to it. */
kiln_plot_canvas kiln_plot_svg_begin(FILE *file, double width, double height);
void kiln_plot_svg_end(const kiln_plot_canvas *canvas);

enum { KILN_PLOT_PIXELS = 2 }; /* of a picture, for one unit */
typedef struct kiln_plot_picture {
    kiln_image *image; /* borrowed, KILN_PLOT_PIXELS times the size */
    uint8_t *cover;    /* borrowed, [height][width] zero: scratch */
} kiln_plot_picture;

kiln_plot_canvas kiln_plot_picture_begin(kiln_plot_picture *picture);

/* About what a text takes. */
double kiln_plot_text_width(const char *text, double size);

#endif
