#include "app/legend.h"

#include "app/stroke_font.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TICKS = 9 };

static float text_height(int height)
{
    return fmaxf(7.0f, (float)height / 60.0f);
}

/* Room for the title and for "-1.23e-05" beside the bar. */
int kiln_legend_width(const kiln_color_scale *scale, int width, int height)
{
    if (scale->paint == KILN_PAINT_BASE)
        return 0;
    float text = text_height(height);
    float wide = fmaxf(kiln_text_width(scale->title, 1.15f * text), 8.5f * text);
    int wanted = (int)(wide + 2.5f * text);
    return wanted < width / 3 ? wanted : width / 3;
}

static void fill_rectangle(kiln_image *image, float x0, float y0, float x1, float y1,
                           kiln_rgb color)
{
    for (int y = (int)floorf(y0); y < (int)ceilf(y1); y++)
        for (int x = (int)floorf(x0); x < (int)ceilf(x1); x++) {
            float w = fminf(x1, (float)x + 1) - fmaxf(x0, (float)x);
            float h = fminf(y1, (float)y + 1) - fmaxf(y0, (float)y);
            kiln_image_blend(image, x, y, color, fmaxf(w, 0) * fmaxf(h, 0));
        }
}

/* The round step (1, 2 or 5 times a power of ten) that gives at most MAX_TICKS - 1 intervals. */
static double tick_step(double range)
{
    double power = pow(10.0, floor(log10(range / 5.0)));
    static const double multiples[] = {1.0, 2.0, 2.5, 5.0, 10.0};
    for (int i = 0; i < 5; i++)
        if (range / (multiples[i] * power) <= 6.0)
            return multiples[i] * power;
    return range;
}

static void draw_ticks(kiln_image *image, const kiln_color_scale *scale, float x, float top,
                       float bottom, float text, kiln_rgb ink)
{
    double factor = scale->factor > 0.0 ? scale->factor : 1.0, low = scale->low / factor;
    double range = scale->high / factor - low, step = tick_step(range);
    double first = ceil(low / step - 1e-9);
    for (int i = 0; i < MAX_TICKS; i++) {
        double value = (first + i) * step;
        double t = (value - low) / range;
        if (!(t <= 1.0 + 1e-9))
            break;
        float y = bottom + (float)t * (top - bottom);
        char label[32];
        snprintf(label, sizeof label, "%.4g", fabs(value) < 1e-9 * range ? 0.0 : value);
        float line = fmaxf(1.0f, text / 10.0f);
        fill_rectangle(image, x, y - 0.5f * line, x + 0.5f * text, y + 0.5f * line, ink);
        kiln_text_draw(image, label, x + 0.9f * text, y + 0.5f * text, text, ink);
    }
}

static void draw_bar(kiln_image *image, const kiln_color_scale *scale, float left, float top,
                     float text, kiln_rgb ink)
{
    float bottom = 0.80f * (float)image->height, width = 1.35f * text;
    float line = fmaxf(1.0f, text / 10.0f);
    fill_rectangle(image, left - line, top - line, left + width + line, bottom + line, ink);
    for (int y = (int)top; y < (int)ceilf(bottom); y++) {
        float y0 = fmaxf((float)y, top), y1 = fminf((float)y + 1.0f, bottom);
        double t = 1.0 - (0.5 * (y0 + y1) - top) / (bottom - top);
        fill_rectangle(image, left, y0, left + width, y1, kiln_color_map_at(scale->map, t));
    }
    draw_ticks(image, scale, left + width + line, top, bottom, text, ink);
}

static void draw_kinds(kiln_image *image, const kiln_color_scale *scale, float left, float top,
                       float text, kiln_rgb ink)
{
    for (size_t i = 0; i < scale->kind_count; i++) {
        float y = top + (float)i * 2.0f * text;
        char label[32];
        bool more = i + 1 == KILN_MAX_KINDS && scale->kind_count > KILN_MAX_KINDS;
        snprintf(label, sizeof label, more ? "and others" : "%d", (int)scale->kind_tags[i]);
        if (!more)
            fill_rectangle(image, left, y, left + 1.3f * text, y + 1.3f * text,
                           kiln_color_of_kind(i));
        kiln_text_draw(image, label, left + (more ? 0.0f : 2.1f * text), y + 1.15f * text, text,
                       ink);
        if (more)
            return;
    }
}

/* A long title is drawn smaller, and past that cut, rather than run out of the picture. */
static void draw_title(kiln_image *image, const char *title, float left, float base, float text,
                       kiln_rgb ink)
{
    char shown[KILN_NAME_SIZE + 2];
    float room = (float)image->width - left - 0.5f * text, size = 1.15f * text;
    size_t length = (size_t)snprintf(shown, sizeof shown, "%.*s", KILN_NAME_SIZE - 1, title);
    float wide = kiln_text_width(shown, size);
    if (wide > room)
        size *= fmaxf(0.7f, room / wide);
    while (length > 1 && kiln_text_width(shown, size) > room * 1.001f) {
        length--;
        snprintf(shown, sizeof shown, "%.*s..", (int)length, title);
    }
    kiln_text_draw(image, shown, left, base, size, ink);
}

void kiln_legend_draw(kiln_image *image, const kiln_color_scale *scale, kiln_rgb ink)
{
    int room = kiln_legend_width(scale, image->width, image->height);
    if (room == 0)
        return;
    float text = text_height(image->height);
    float left = (float)(image->width - room) + 0.5f * text;
    float top = 0.20f * (float)image->height;
    draw_title(image, scale->title, left, top - 1.4f * text, text, ink);
    if (scale->paint == KILN_PAINT_MAP)
        draw_bar(image, scale, left, top, text, ink);
    else
        draw_kinds(image, scale, left, top, text, ink);
}
