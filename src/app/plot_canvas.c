#include "app/plot_canvas.h"

#include "app/stroke_font.h"

#include <math.h>
#include <string.h>

static const double capital = 0.70; /* height of capitals for a font of size 1 */

double kiln_plot_text_width(const char *text, double size)
{
    return kiln_text_width(text, (float)(capital * size));
}

/* SVG. Coordinates to a hundredth: finer than any screen. */

static void svg_points(FILE *file, const kiln_plot_point *points, size_t count, bool backwards)
{
    for (size_t i = 0; i < count; i++) {
        const kiln_plot_point *p = &points[backwards ? count - 1 - i : i];
        fprintf(file, "%s%.2f,%.2f", i ? " " : "", p->x, p->y);
    }
}

static void svg_line(void *self, const kiln_plot_point *points, size_t count, double width,
                     unsigned color)
{
    fputs("<polyline points=\"", self);
    svg_points(self, points, count, false);
    fprintf(self,
            "\" fill=\"none\" stroke=\"#%06x\" stroke-width=\"%.3g\" stroke-linejoin=\"round\"/>\n",
            color, width);
}

static void svg_area(void *self, const kiln_plot_point *top, const kiln_plot_point *bottom,
                     size_t count, unsigned color)
{
    fputs("<polygon points=\"", self);
    svg_points(self, top, count, false);
    fputc(' ', self);
    svg_points(self, bottom, count, true);
    fprintf(self, "\" fill=\"#%06x\"/>\n", color);
}

static void svg_box(void *self, double x, double y, double width, double height, unsigned color)
{
    fprintf(self, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%06x\"/>\n",
            x, y, width, height, color);
}

static void svg_text(void *self, double x, double y, double size, kiln_plot_anchor anchor,
                     unsigned color, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(self,
            "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.3g\" text-anchor=\"%s\" fill=\"#%06x\">", x,
            y, size, anchors[anchor], color);
    for (const char *at = text; *at; at++) {
        if (*at == '<' || *at == '>' || *at == '&' || *at == '"')
            fprintf(self, "&#%d;", *at);
        else if ((unsigned char)*at < ' ')
            fputc(' ', self); /* XML has no control characters */
        else
            fputc(*at, self);
    }
    fputs("</text>\n", self);
}

kiln_plot_canvas kiln_plot_svg_begin(FILE *file, double width, double height)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, sans-serif\">\n",
            width, height, width, height);
    return (kiln_plot_canvas){file, svg_line, svg_area, svg_box, svg_text};
}

void kiln_plot_svg_end(const kiln_plot_canvas *canvas)
{
    fputs("</svg>\n", canvas->self);
}

/* Pictures. */

static double clamp01(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

typedef struct strokes {
    int x0, y0, x1, y1;
} strokes;

static strokes around(const kiln_image *image, kiln_plot_point a, kiln_plot_point b, double half)
{
    strokes s = {(int)floor(fmin(a.x, b.x) - half - 1), (int)floor(fmin(a.y, b.y) - half - 1),
                 (int)ceil(fmax(a.x, b.x) + half + 1), (int)ceil(fmax(a.y, b.y) + half + 1)};
    s.x0 = s.x0 < 0 ? 0 : s.x0;
    s.y0 = s.y0 < 0 ? 0 : s.y0;
    s.x1 = s.x1 > image->width ? image->width : s.x1;
    s.y1 = s.y1 > image->height ? image->height : s.y1;
    return s;
}

/* Pixels are covered by how far their middle is inside the stroke; where pieces of a line meet, by
 * the larger of both. */
static void cover_segment(kiln_plot_picture *picture, kiln_plot_point a, kiln_plot_point b,
                          double half)
{
    double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    strokes s = around(picture->image, a, b, half);
    for (int y = s.y0; y < s.y1; y++)
        for (int x = s.x0; x < s.x1; x++) {
            double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
            double t = length2 > 0.0 ? clamp01((px * dx + py * dy) / length2) : 0.0;
            double away = hypot(px - t * dx, py - t * dy);
            uint8_t cover = (uint8_t)(255.0 * clamp01(half + 0.5 - away));
            uint8_t *now = &picture->cover[(size_t)y * (size_t)picture->image->width + (size_t)x];
            *now = cover > *now ? cover : *now;
        }
}

static void ink_segment(kiln_plot_picture *picture, kiln_plot_point a, kiln_plot_point b,
                        double half, kiln_rgb ink)
{
    strokes s = around(picture->image, a, b, half);
    for (int y = s.y0; y < s.y1; y++)
        for (int x = s.x0; x < s.x1; x++) {
            uint8_t *now = &picture->cover[(size_t)y * (size_t)picture->image->width + (size_t)x];
            kiln_image_blend(picture->image, x, y, ink, (float)*now / 255.0f);
            *now = 0;
        }
}

static kiln_plot_point enlarge(kiln_plot_point p)
{
    return (kiln_plot_point){KILN_PLOT_PIXELS * p.x, KILN_PLOT_PIXELS * p.y};
}

static void image_line(void *self, const kiln_plot_point *points, size_t count, double width,
                       unsigned color)
{
    kiln_rgb ink = kiln_rgb_from_hex(color);
    double half = 0.5 * KILN_PLOT_PIXELS * width;
    for (size_t i = 1; i < count; i++)
        cover_segment(self, enlarge(points[i - 1]), enlarge(points[i]), half);
    for (size_t i = 1; i < count; i++)
        ink_segment(self, enlarge(points[i - 1]), enlarge(points[i]), half, ink);
}

static void fill_column(kiln_image *image, int x, double top, double bottom, kiln_rgb ink)
{
    for (int y = (int)floor(top); y < (int)ceil(bottom); y++)
        kiln_image_blend(image, x, y, ink, (float)clamp01(fmin(bottom, y + 1.0) - fmax(top, y)));
}

/* Columns of pixels whose middle is in the area: neighbouring areas leave no seam. */
static void image_area(void *self, const kiln_plot_point *top, const kiln_plot_point *bottom,
                       size_t count, unsigned color)
{
    kiln_plot_picture *picture = self;
    kiln_rgb ink = kiln_rgb_from_hex(color);
    for (size_t i = 1; i < count; i++) {
        kiln_plot_point a = enlarge(top[i - 1]), b = enlarge(top[i]);
        double c = KILN_PLOT_PIXELS * bottom[i - 1].y, d = KILN_PLOT_PIXELS * bottom[i].y;
        for (int x = (int)ceil(a.x - 0.5); x + 0.5 < b.x; x++) {
            double t = (x + 0.5 - a.x) / (b.x - a.x);
            fill_column(picture->image, x, a.y + t * (b.y - a.y), c + t * (d - c), ink);
        }
    }
}

static void image_box(void *self, double x, double y, double width, double height, unsigned color)
{
    const kiln_plot_point top[2] = {{x, y}, {x + width, y}};
    const kiln_plot_point bottom[2] = {{x, y + height}, {x + width, y + height}};
    image_area(self, top, bottom, 2, color);
}

static void image_text(void *self, double x, double y, double size, kiln_plot_anchor anchor,
                       unsigned color, const char *text)
{
    double wide = kiln_plot_text_width(text, size);
    x -= anchor == KILN_ANCHOR_RIGHT ? wide : anchor == KILN_ANCHOR_MIDDLE ? 0.5 * wide : 0.0;
    kiln_plot_picture *picture = self;
    kiln_text_draw(picture->image, text, (float)(KILN_PLOT_PIXELS * x),
                   (float)(KILN_PLOT_PIXELS * y), (float)(KILN_PLOT_PIXELS * capital * size),
                   kiln_rgb_from_hex(color));
}

kiln_plot_canvas kiln_plot_picture_begin(kiln_plot_picture *picture)
{
    return (kiln_plot_canvas){picture, image_line, image_area, image_box, image_text};
}
