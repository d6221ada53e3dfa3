#include "app/image.h"

#include <math.h>
#include <string.h>

static size_t image_bytes(const kiln_image *image)
{
    return (size_t)image->width * (size_t)image->height * 3;
}

kiln_status kiln_image_create(kiln_context *context, int width, int height, kiln_image *out,
                              kiln_error *error)
{
    kiln_image image = {.context = context, .width = width, .height = height};
    image.pixels = kiln_resize(context, NULL, 0, image_bytes(&image));
    if (!image.pixels)
        return kiln_fail_memory(error, image_bytes(&image));
    memset(image.pixels, 0, image_bytes(&image));
    *out = image;
    return KILN_OK;
}

void kiln_image_destroy(kiln_image *image)
{
    if (image->pixels)
        kiln_release(image->context, image->pixels, image_bytes(image));
    image->pixels = NULL;
}

float kiln_srgb_encode(float linear)
{
    if (linear <= 0.0031308f)
        return 12.92f * linear;
    return 1.055f * powf(linear, 1.0f / 2.4f) - 0.055f;
}

float kiln_srgb_decode(float encoded)
{
    if (encoded <= 0.04045f)
        return encoded / 12.92f;
    return powf((encoded + 0.055f) / 1.055f, 2.4f);
}

kiln_rgb kiln_rgb_from_hex(uint32_t rrggbb)
{
    return (kiln_rgb){kiln_srgb_decode((float)(rrggbb >> 16 & 255) / 255.0f),
                      kiln_srgb_decode((float)(rrggbb >> 8 & 255) / 255.0f),
                      kiln_srgb_decode((float)(rrggbb & 255) / 255.0f)};
}

kiln_rgb kiln_rgb_mix(kiln_rgb a, kiln_rgb b, float t)
{
    return (kiln_rgb){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

void kiln_image_blend(kiln_image *image, int x, int y, kiln_rgb color, float coverage)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height || coverage <= 0.0f)
        return;
    uint8_t *pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
    const float ink[3] = {color.r, color.g, color.b};
    /* Mixed in encoded values: text keeps its weight on light and dark alike. */
    for (int i = 0; i < 3; i++) {
        float mixed =
            (1.0f - coverage) * (float)pixel[i] + coverage * 255.0f * kiln_srgb_encode(ink[i]);
        pixel[i] = (uint8_t)(mixed + 0.5f);
    }
}
