/* Polygons and text, filled with triangles in the plane and drawn out along z as prisms. */
#include "mesh/shape_build.h"

#include "mesh/shape_font.h"
#include "mesh/shape_plane.h"

#include <stdlib.h>
#include <string.h>

enum { PATCH_BOTTOM = 1, PATCH_TOP = 2, PATCH_SIDE = 3 };

/* Outlines as they are read. */
typedef struct outline {
    kiln_context *context;
    KILN_ARRAY_OF(kiln_plane_point)
    corners;
    kiln_u32_array ends;
} outline;

static void outline_free(outline *o)
{
    kiln_array_free(o->context, &o->corners);
    kiln_array_free(o->context, &o->ends);
}

static kiln_status outline_corner(outline *o, double x, double y, kiln_error *error)
{
    return kiln_array_push(o->context, &o->corners, ((kiln_plane_point){x, y}), error);
}

static kiln_status outline_close(outline *o, kiln_error *error)
{
    return kiln_array_push(o->context, &o->ends, (uint32_t)o->corners.count, error);
}

/* What the surface needs to know: plane points per layer, and the rim edge that leaves each. */
typedef struct extrusion {
    kiln_soup *soup;
    kiln_plane plane;
    double depth, scale, shift; /* plane coordinates times scale, moved along x */
    int32_t patch_sides;        /* each polygon edge its own patch, or all one */
    uint32_t layers, first;
    kiln_u32_array after, side; /* [plane point], UINT32_MAX inside */
} extrusion;

static kiln_status find_rim(extrusion *x, kiln_error *error)
{
    kiln_context *context = x->soup->context;
    size_t count = x->plane.points.count;
    KILN_TRY(kiln_array_reserve(context, &x->after, count, error));
    KILN_TRY(kiln_array_reserve(context, &x->side, count, error));
    memset(x->after.data, 0xff, count * sizeof(uint32_t));
    memset(x->side.data, 0xff, count * sizeof(uint32_t));
    for (size_t t = 0; t < x->plane.triangles.count; t++) {
        const kiln_plane_triangle *triangle = &x->plane.triangles.data[t];
        for (int e = 0; e < 3; e++)
            if (triangle->next[e] == UINT32_MAX) {
                uint32_t from = triangle->v[(e + 1) % 3];
                x->after.data[from] = triangle->v[(e + 2) % 3];
                x->side.data[from] = triangle->side[e];
            }
    }
    return KILN_OK;
}

static int32_t extrusion_patch(void *user, const uint32_t v[3])
{
    const extrusion *x = user;
    uint32_t count = (uint32_t)x->plane.points.count, layer[3], at[3];
    for (int i = 0; i < 3; i++) {
        layer[i] = (v[i] - x->first) / count;
        at[i] = (v[i] - x->first) % count;
    }
    if (layer[0] == layer[1] && layer[1] == layer[2])
        return layer[0] == 0 ? PATCH_BOTTOM : PATCH_TOP;
    uint32_t a = at[0], b = at[1] == a ? at[2] : at[1];
    uint32_t side = x->after.data[a] == b ? x->side.data[a] : x->side.data[b];
    return x->patch_sides ? PATCH_SIDE + (int32_t)side : PATCH_SIDE;
}

static kiln_status draw_out(extrusion *x, kiln_error *error)
{
    kiln_soup *soup = x->soup;
    uint32_t count = (uint32_t)x->plane.points.count;
    KILN_TRY(kiln_shape_reserve(soup, (double)count * (x->layers + 1.0),
                                3.0 * (double)x->plane.triangles.count * x->layers, error));
    for (uint32_t layer = 0; layer <= x->layers; layer++)
        for (uint32_t i = 0; i < count; i++) {
            kiln_plane_point p = x->plane.points.data[i];
            double z = layer == x->layers ? x->depth : x->depth * layer / x->layers;
            kiln_vec3 at = {x->shift + x->scale * p.x, x->scale * p.y, z};
            KILN_TRY(kiln_shape_point(soup, at, NULL, error));
        }
    for (uint32_t layer = 0; layer < x->layers; layer++)
        for (size_t t = 0; t < x->plane.triangles.count; t++) {
            uint32_t a[3], b[3];
            for (int i = 0; i < 3; i++) {
                a[i] = x->plane.triangles.data[t].v[i] + layer * count;
                b[i] = a[i] + count;
            }
            KILN_TRY(kiln_shape_prism(soup, a, b, error));
        }
    KILN_TRY(find_rim(x, error));
    return kiln_shape_surface(soup, extrusion_patch, x, error);
}

/* One polygon with its holes into an empty soup. */
static kiln_status extrude(extrusion *x, const outline *o, double h, kiln_error *error)
{
    kiln_context *context = x->soup->context;
    x->plane.context = context;
    x->layers = kiln_shape_divisions(x->depth, KILN_PRISM_HEIGHT * h, 1);
    kiln_plane_loops loops = {o->corners.data, o->ends.data, (uint32_t)o->ends.count};
    kiln_status status = kiln_plane_fill(&x->plane, &loops, h / x->scale, error);
    if (status == KILN_OK)
        status = draw_out(x, error);
    kiln_plane_free(&x->plane);
    kiln_array_free(context, &x->after);
    kiln_array_free(context, &x->side);
    return status;
}

enum { POLYGON_POINTS, POLYGON_DEPTH, POLYGON_H };

/* "x,y x,y x,y; x,y x,y x,y": loops apart by semicolons. */
static kiln_status read_outline(const char *text, outline *o, kiln_error *error)
{
    const char *at = text;
    for (;;) {
        at += strspn(at, " \t\n");
        if (*at == ';' || *at == '\0') {
            KILN_TRY(outline_close(o, error));
            if (*at++ == '\0')
                return KILN_OK;
            continue;
        }
        char *end;
        double x = strtod(at, &end), y = 0.0;
        int good = end != at && *end == ',';
        if (good) {
            at = end + 1;
            y = strtod(at, &end);
            good = end != at && isfinite(x) && isfinite(y) && fabs(x) <= 1e9 && fabs(y) <= 1e9;
        }
        if (!good)
            return kiln_fail(error, KILN_ERR_INPUT, "points", 0, (long long)(at - text),
                             "expected x,y (two numbers up to 1e9), found '%.20s'", at);
        KILN_TRY(outline_corner(o, x, y, error));
        at = end;
    }
}

/* The fill makes about area / h^2 points one by one: a bound keeps a slip of the pen from taking
 * hours. */
static kiln_status check_size(const outline *o, double h, kiln_error *error)
{
    kiln_plane_point low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < o->corners.count; i++) {
        kiln_plane_point p = o->corners.data[i];
        low.x = fmin(low.x, p.x);
        low.y = fmin(low.y, p.y);
        high.x = fmax(high.x, p.x);
        high.y = fmax(high.y, p.y);
    }
    double cells = ((high.x - low.x) / h + 1) * ((high.y - low.y) / h + 1);
    if (cells > 1e6)
        return kiln_fail(error, KILN_ERR_LIMIT, "h", 0, -1,
                         "the outline is %g by %g: at %g that is about %.3g points a layer, at "
                         "most 1e6 are made",
                         high.x - low.x, high.y - low.y, h, cells);
    return KILN_OK;
}

static kiln_status generate_polygon(const kiln_shape_values *values, kiln_soup *soup,
                                    kiln_error *error)
{
    outline o = {.context = soup->context};
    extrusion x = {
        .soup = soup, .depth = values->number[POLYGON_DEPTH], .scale = 1.0, .patch_sides = 1};
    double h = values->number[POLYGON_H];
    kiln_status status = read_outline(values->text[POLYGON_POINTS], &o, error);
    if (status == KILN_OK)
        status = check_size(&o, h, error);
    if (status == KILN_OK)
        status = extrude(&x, &o, h, error);
    outline_free(&o);
    return status;
}

enum { TEXT_TEXT, TEXT_HEIGHT, TEXT_DEPTH, TEXT_H };

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* One outline of a glyph, in its own whole units; `at` is left at the next one or at the end. */
static kiln_status read_glyph(const char **at, outline *o, kiln_error *error)
{
    o->corners.count = o->ends.count = 0;
    for (; **at != '\0' && **at != '|'; *at += 2) {
        if (**at == '/') {
            KILN_TRY(outline_close(o, error));
            ++*at;
        }
        KILN_TRY(outline_corner(o, digit((*at)[0]), digit((*at)[1]), error));
    }
    if (**at == '|')
        ++*at;
    return outline_close(o, error);
}

static kiln_status add_glyph(kiln_soup *soup, const kiln_glyph *glyph, double x,
                             const kiln_shape_values *values, outline *o, kiln_error *error)
{
    double scale = values->number[TEXT_HEIGHT] / KILN_FONT_HEIGHT, h = values->number[TEXT_H];
    const char *at = glyph->outline;
    while (*at != '\0') {
        kiln_soup part;
        kiln_soup_init(&part, soup->context);
        extrusion e = {
            .soup = &part, .depth = values->number[TEXT_DEPTH], .scale = scale, .shift = x};
        kiln_status status = read_glyph(&at, o, error);
        if (status == KILN_OK)
            status = check_size(o, h / scale, error);
        if (status == KILN_OK)
            status = extrude(&e, o, h, error);
        if (status == KILN_OK)
            status = kiln_soup_append(soup, &part, 0, error);
        kiln_soup_free(&part);
        KILN_TRY(status);
    }
    return KILN_OK;
}

/* Letters are made one by one, a thousand tets each as they are preset: a bound for the same
 * reason as above. */
enum { MOST_LETTERS = 1000 };

static kiln_status generate_text(const kiln_shape_values *values, kiln_soup *soup,
                                 kiln_error *error)
{
    const char *text = values->text[TEXT_TEXT];
    if (strlen(text) > MOST_LETTERS)
        return kiln_fail(error, KILN_ERR_LIMIT, "text", 0, -1,
                         "has %zu letters, at most %d are made", strlen(text), MOST_LETTERS);
    double unit = values->number[TEXT_HEIGHT] / KILN_FONT_HEIGHT, x = 0.0;
    outline o = {.context = soup->context};
    kiln_status status = KILN_OK;
    for (const char *at = text; *at != '\0' && status == KILN_OK; at++) {
        if (*at == ' ') {
            x += 6 * unit;
            continue;
        }
        const kiln_glyph *glyph = kiln_font_glyph(*at);
        if (!glyph) {
            char known[80];
            int bytes = 1; /* of the character in UTF-8 */
            while ((at[bytes] & 0xC0) == 0x80)
                bytes++;
            status = kiln_fail(error, KILN_ERR_INPUT, "text", 0, (long long)(at - text),
                               "no letter for '%.*s'; there are: space %s", bytes, at,
                               kiln_font_characters(known, sizeof known));
            break;
        }
        status = add_glyph(soup, glyph, x, values, &o, error);
        x += (glyph->width + KILN_FONT_GAP) * unit;
    }
    outline_free(&o);
    if (status == KILN_OK && soup->tets.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, "text", 0, -1, "there is no letter in '%.60s'",
                         text);
    return status;
}

static const kiln_shape_param polygon_params[] = {
    [POLYGON_POINTS] = {"points", KILN_PARAM_TEXT, 0, 0, 0,
                        "0,0 2,0 2,1 1,1 1,2 0,2; 0.3,0.3 0.7,0.3 0.7,0.7 0.3,0.7",
                        "corners x,y apart by spaces; after a semicolon the next hole"},
    [POLYGON_DEPTH] = {"depth", KILN_PARAM_NUMBER, 0.5, 1e-9, 1e9, NULL, "extent along z"},
    [POLYGON_H] = {"h", KILN_PARAM_NUMBER, 0.15, 1e-12, 1e9, NULL, "edge length wanted"},
};

const kiln_shape kiln_shape_polygon = {
    "polygon",
    "polygon with holes in the plane z = 0, drawn out along z",
    "1 bottom, 2 top, 3... the sides in the order of the corners",
    polygon_params,
    sizeof polygon_params / sizeof polygon_params[0],
    generate_polygon,
};

static const kiln_shape_param text_params[] = {
    [TEXT_TEXT] = {"text", KILN_PARAM_TEXT, 0, 0, 0, "KILN",
                   "letters (as capitals), digits, space and . - + ! : = / ? _ '"},
    [TEXT_HEIGHT] = {"height", KILN_PARAM_NUMBER, 1, 1e-9, 1e9, NULL, "height of the letters"},
    [TEXT_DEPTH] = {"depth", KILN_PARAM_NUMBER, 0.25, 1e-9, 1e9, NULL, "extent along z"},
    [TEXT_H] = {"h", KILN_PARAM_NUMBER, 0.085, 1e-12, 1e9, NULL,
                "edge length wanted (strokes are a sixth of the height wide)"},
};

const kiln_shape kiln_shape_text = {
    "text",
    "letters in the plane z = 0, reading along x, drawn out along z",
    "1 back, 2 front, 3 sides",
    text_params,
    sizeof text_params / sizeof text_params[0],
    generate_text,
};
