/* Glyphs are strokes on a grid: two digits (x, y) per point, base line at y = 2 so that descenders
 * fit, small letters to 7, capitals to 9; strokes are separated by spaces. A stroke is a quadratic
 * B-spline over its points that meets both ends; a point given twice is a corner, a stroke of one
 * point given twice is a dot. */
#include "app/stroke_font.h"

#include <math.h>
#include <string.h>

enum { BASE = 2, CAPITAL = 7, LEADING = 2, MAX_SEGMENTS = 96, CURVE_STEPS = 6 };

static const struct {
    int advance;
    const char *strokes;
} glyphs[95] = {
    {4, ""},
    {3, "1914 1212"},                      /* ! */
    {4, "0907 2927"},                      /* " */
    {6, "1218 3238 0444 0646"},            /* # */
    {6, "4748080645430304 2921"},          /* $ */
    {7, "0259 192927070919 445452323444"}, /* % */
    {7, "521619393705024255"},             /* & */
    {2, "0907"},                           /* ' */
    {4, "29070220"},                       /* ( */
    {4, "09272200"},                       /* ) */
    {6, "2824 0745 0547"},                 /* * */
    {6, "2723 0545"},                      /* + */
    {3, "121100"},                         /* , */
    {5, "0535"},                           /* - */
    {3, "0202"},                           /* . */
    {6, "0149"},                           /* / */
    {6, "294942020929"},                   /* 0 */
    {6, "18393932"},                       /* 1 */
    {6, "08094946020242"},                 /* 2 */
    {6, "0809494616 1646420203"},          /* 3 */
    {6, "323939040444"},                   /* 4 */
    {6, "490909060647420203"},             /* 5 */
    {6, "39090242460604"},                 /* 6 */
    {6, "09494912"},                       /* 7 */
    {6, "294946060929 264642020626"},      /* 8 */
    {6, "12424909054547"},                 /* 9 */
    {3, "0606 0202"},                      /* : */
    {3, "1616 121100"},                    /* ; */
    {6, "47050543"},                       /* < */
    {6, "0444 0646"},                      /* = */
    {6, "07454503"},                       /* > */
    {6, "080949462524 2222"},              /* ? */
    {7, "362624444636 46435359090141"},    /* @ */
    {6, "02292942 1434"},                  /* A */
    {6, "020909494606 06464202"},          /* B */
    {6, "484909024243"},                   /* C */
    {6, "020909494202"},                   /* D */
    {5, "390909020232 0626"},              /* E */
    {5, "39090902 0626"},                  /* F */
    {6, "4849090242454525"},               /* G */
    {6, "0209 4249 0646"},                 /* H */
    {2, "0902"},                           /* I */
    {5, "39320204"},                       /* J */
    {6, "0902 4905 1642"},                 /* K */
    {5, "09020232"},                       /* L */
    {6, "0209092525494942"},               /* M */
    {6, "020909424249"},                   /* N */
    {6, "294942020929"},                   /* O */
    {6, "020909494505"},                   /* P */
    {6, "294942020929 2441"},              /* Q */
    {6, "020909494606 2642"},              /* R */
    {6, "4849090645420203"},               /* S */
    {6, "0949 2922"},                      /* T */
    {6, "09024249"},                       /* U */
    {6, "09222249"},                       /* V */
    {6, "0912122727323249"},               /* W */
    {6, "0942 4902"},                      /* X */
    {6, "09252549 2522"},                  /* Y */
    {6, "094949020242"},                   /* Z */
    {4, "290909000020"},                   /* [ */
    {6, "0941"},                           /* \ */
    {4, "092929202000"},                   /* ] */
    {6, "07292947"},                       /* ^ */
    {6, "0040"},                           /* _ */
    {3, "0918"},                           /* ` */
    {5, "06073732 3505023234"},            /* a */
    {5, "0902 040737320204"},              /* b */
    {5, "363707023233"},                   /* c */
    {5, "3932 343707023234"},              /* d */
    {5, "0535353707023233"},               /* e */
    {4, "391912 0727"},                    /* f */
    {5, "343707023234 37300001"},          /* g */
    {5, "0902 04073732"},                  /* h */
    {2, "0702 0909"},                      /* i */
    {3, "171000 1919"},                    /* j */
    {5, "0902 3704 1532"},                 /* k */
    {2, "0902"},                           /* l */
    {6, "0702 04072722 24274742"},         /* m */
    {5, "0702 04073732"},                  /* n */
    {5, "173732020717"},                   /* o */
    {5, "0700 040737320204"},              /* p */
    {5, "3730 343707023234"},              /* q */
    {4, "0702 040727"},                    /* r */
    {5, "3637070534320203"},               /* s */
    {4, "191222 0727"},                    /* t */
    {5, "07023235 3732"},                  /* u */
    {6, "07222247"},                       /* v */
    {6, "0712122626323247"},               /* w */
    {5, "0732 3702"},                      /* x */
    {6, "0722 4710"},                      /* y */
    {5, "073737020232"},                   /* z */
    {4, "2919160505141020"},               /* { */
    {2, "0900"},                           /* | */
    {4, "0919162525141000"},               /* } */
    {6, "05163445"},                       /* ~ */
};

static const char box_strokes[] = "0209094949424202";

typedef struct segment {
    float ax, ay, bx, by;
} segment;

typedef struct pen {
    segment segments[MAX_SEGMENTS];
    int count;
    float x, y; /* where the last segment ended */
} pen;

static void pen_to(pen *p, float x, float y)
{
    if (p->count < MAX_SEGMENTS)
        p->segments[p->count++] = (segment){p->x, p->y, x, y};
    p->x = x;
    p->y = y;
}

static void pen_curve(pen *p, float cx, float cy, float x, float y)
{
    float sx = p->x, sy = p->y;
    for (int i = 1; i <= CURVE_STEPS; i++) {
        float t = (float)i / CURVE_STEPS, u = 1.0f - t;
        pen_to(p, u * u * sx + 2 * u * t * cx + t * t * x, u * u * sy + 2 * u * t * cy + t * t * y);
    }
}

/* Points are `length / 2` pairs of digits. */
static void pen_stroke(pen *p, const char *digits, int length)
{
    int count = length / 2;
    p->x = (float)(digits[0] - '0');
    p->y = (float)(digits[1] - '0');
    for (int i = 1; i < count; i++) {
        float x = (float)(digits[2 * i] - '0'), y = (float)(digits[2 * i + 1] - '0');
        if (i + 1 == count) {
            pen_to(p, x, y);
            break;
        }
        float nx = (float)(digits[2 * i + 2] - '0'), ny = (float)(digits[2 * i + 3] - '0');
        if (i == 1)
            pen_to(p, (p->x + x) / 2, (p->y + y) / 2);
        pen_curve(p, x, y, (x + nx) / 2, (y + ny) / 2);
    }
}

static int glyph_advance(unsigned char c)
{
    return c < 32 || c > 126 ? 6 : glyphs[c - 32].advance;
}

static const char *glyph_strokes(unsigned char c)
{
    return c < 32 || c > 126 ? box_strokes : glyphs[c - 32].strokes;
}

float kiln_text_width(const char *text, float height)
{
    int units = 0;
    for (; *text; text++)
        units += glyph_advance((unsigned char)*text);
    return (float)(units > LEADING ? units - LEADING : 0) * height / CAPITAL;
}

static float distance_to(const segment *s, float x, float y)
{
    float dx = s->bx - s->ax, dy = s->by - s->ay;
    float length2 = dx * dx + dy * dy;
    float t = length2 > 0.0f ? ((x - s->ax) * dx + (y - s->ay) * dy) / length2 : 0.0f;
    t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
    return hypotf(x - s->ax - t * dx, y - s->ay - t * dy);
}

static void draw_glyph(kiln_image *image, const pen *p, float x, float y, float unit,
                       kiln_rgb color)
{
    float half_width = 0.5f * fmaxf(unit * 0.95f, 1.15f);
    int x0 = (int)floorf(x - 2), x1 = (int)ceilf(x + 6 * unit + 2);
    int y0 = (int)floorf(y - 8 * unit - 2), y1 = (int)ceilf(y + 2 * unit + 2);
    for (int py = y0; py <= y1; py++)
        for (int px = x0; px <= x1; px++) {
            float gx = ((float)px + 0.5f - x) / unit, gy = (y - (float)py - 0.5f) / unit + BASE;
            float nearest = 1e9f;
            for (int i = 0; i < p->count; i++)
                nearest = fminf(nearest, distance_to(&p->segments[i], gx, gy));
            float coverage = half_width + 0.5f - nearest * unit;
            kiln_image_blend(image, px, py, color, fminf(coverage, 1.0f));
        }
}

void kiln_text_draw(kiln_image *image, const char *text, float x, float y, float height,
                    kiln_rgb color)
{
    float unit = height / CAPITAL;
    for (; *text; text++) {
        pen p = {.count = 0};
        const char *strokes = glyph_strokes((unsigned char)*text);
        while (*strokes) {
            int length = (int)strcspn(strokes, " ");
            pen_stroke(&p, strokes, length);
            strokes += length + (strokes[length] == ' ');
        }
        if (p.count)
            draw_glyph(image, &p, x, y, unit, color);
        x += unit * (float)glyph_advance((unsigned char)*text);
    }
}
