#include "app/color_map.h"

#include <math.h>

typedef struct oklab {
    float l, a, b;
} oklab;

/* Ottosson, "A perceptual color space for image processing" (2020). */
static oklab to_oklab(kiln_rgb c)
{
    float l = cbrtf(0.4122214708f * c.r + 0.5363325363f * c.g + 0.0514459929f * c.b);
    float m = cbrtf(0.2119034982f * c.r + 0.6806995451f * c.g + 0.1073969566f * c.b);
    float s = cbrtf(0.0883024619f * c.r + 0.2817188376f * c.g + 0.6299787005f * c.b);
    return (oklab){0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s,
                   1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s,
                   0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s};
}

static float clamp01(float x)
{
    return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x;
}

static kiln_rgb from_oklab(oklab c)
{
    float l = c.l + 0.3963377774f * c.a + 0.2158037573f * c.b;
    float m = c.l - 0.1055613458f * c.a - 0.0638541728f * c.b;
    float s = c.l - 0.0894841775f * c.a - 1.2914855480f * c.b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return (kiln_rgb){clamp01(4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s),
                      clamp01(-1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s),
                      clamp01(-0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s)};
}

enum { STOPS = 6 };
static const uint32_t stops[KILN_MAP_COUNT][STOPS] = {
    [KILN_MAP_QUALITY] = {0x9b1b30, 0xe0592f, 0xf7b955, 0xf3ecc2, 0x5bb8b0, 0x1f5f93},
    [KILN_MAP_FIELD] = {0x3a64a8, 0x62aac4, 0xd3e6c6, 0xf8d479, 0xe8813e, 0xa81f35},
};

kiln_rgb kiln_color_map_at(kiln_color_map map, double t)
{
    double scaled = (t > 0.0 ? t < 1.0 ? t : 1.0 : 0.0) * (STOPS - 1);
    int i = (int)scaled;
    i = i > STOPS - 2 ? STOPS - 2 : i;
    float f = (float)(scaled - i);
    oklab a = to_oklab(kiln_rgb_from_hex(stops[map][i]));
    oklab b = to_oklab(kiln_rgb_from_hex(stops[map][i + 1]));
    return from_oklab((oklab){a.l + f * (b.l - a.l), a.a + f * (b.a - a.a), a.b + f * (b.b - a.b)});
}

kiln_rgb kiln_color_of_kind(size_t kind)
{
    static const uint32_t palette[] = {0xcb6b48, 0x4f86a6, 0xe0b04c, 0x6f9e6b, 0x8d6a9f, 0xd98e8e,
                                       0x5fb3a8, 0xa8835c, 0x7486c4, 0xb6b45a, 0xb0567a, 0x6d7780};
    return kiln_rgb_from_hex(palette[kind % (sizeof palette / sizeof palette[0])]);
}
