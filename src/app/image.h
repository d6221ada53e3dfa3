/* Pictures in memory: 8-bit sRGB, rows from the top. */
#ifndef KILN_APP_IMAGE_H
#define KILN_APP_IMAGE_H

#include "base/context.h"

/* Linear light, 1 is white. */
typedef struct kiln_rgb {
    float r, g, b;
} kiln_rgb;

typedef struct kiln_image {
    kiln_context *context; /* borrowed */
    int width, height;
    uint8_t *pixels; /* [height][width][3] */
} kiln_image;

kiln_status kiln_image_create(kiln_context *context, int width, int height, kiln_image *out,
                              kiln_error *error);
void kiln_image_destroy(kiln_image *image);

/* Mixes a colour over a pixel with the given coverage in [0, 1]; outside the picture: nothing. */
void kiln_image_blend(kiln_image *image, int x, int y, kiln_rgb color, float coverage);

/* The sRGB transfer function and its inverse, both on [0, 1]. */
float kiln_srgb_encode(float linear);
float kiln_srgb_decode(float encoded);
kiln_rgb kiln_rgb_from_hex(uint32_t rrggbb);
kiln_rgb kiln_rgb_mix(kiln_rgb a, kiln_rgb b, float t);

/* As a sink writes (io/sink.h): whole or not at all, through links, straight to devices. */
kiln_status kiln_png_write(const kiln_image *image, const char *path, kiln_error *error);

#endif
