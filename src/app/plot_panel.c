#include "app/plot_panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const unsigned ink = 0x2b2f36, pale = 0x6b7078, grid = 0xe4e6ea, frame_color = 0xb8bdc4;
static const double small = 11.0, large = 13.0;

/* Room around the curves. */
static const double left_room = 58.0, right_room = 14.0, top_room = 34.0, bottom_room = 36.0;

double kiln_plot_tick_step(double range, int most)
{
    static const double multiples[] = {1.0, 2.0, 2.5, 5.0, 10.0};
    double power = pow(10.0, floor(log10(range / most)));
    for (int i = 0; i < 5; i++)
        if (range / (multiples[i] * power) <= most + 1e-9)
            return multiples[i] * power;
    return 10.0 * power;
}

typedef struct axis {
    double low, high, step; /* of the decimal logarithms on a logarithmic axis */
    bool logarithmic;
    double factor;   /* numbers shown are values divided by this */
    char unit[40];   /* with the prefix or power of ten that stands for the factor */
    double from, to; /* places of low and high */
} axis;

/* Thousands are taken into the unit: Pa becomes kPa, what has no simple unit gets a power of ten.
 */
static void choose_factor(axis *a, const char *unit)
{
    static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T"};
    double largest = fmax(fabs(a->low), fabs(a->high));
    int thousands = largest > 0.0 ? (int)floor(log10(largest * 1.0000001) / 3.0) : 0;
    bool simple = strcmp(unit, "s") == 0 || strcmp(unit, "J") == 0 || strcmp(unit, "N") == 0 ||
                  strcmp(unit, "Pa") == 0 || strcmp(unit, "m") == 0;
    bool plain = simple ? largest >= 0.1 && largest < 1e3 : largest >= 1e-3 && largest < 1e6;
    thousands = plain || largest == 0.0 ? 0 : thousands;
    if (simple && (thousands < -3 || thousands > 4))
        simple = false;
    a->factor = pow(1000.0, thousands);
    if (thousands == 0)
        snprintf(a->unit, sizeof a->unit, "%s", unit);
    else if (simple)
        snprintf(a->unit, sizeof a->unit, "%s%s", prefixes[thousands + 3], unit);
    else
        snprintf(a->unit, sizeof a->unit, "10^%d%s%s", 3 * thousands, unit[0] ? " " : "", unit);
}

static axis make_axis(double low, double high, int most, const char *unit, bool rounded)
{
    axis a = {.low = low, .high = high};
    double size = fmax(fabs(low), fabs(high));
    if (!(a.high - a.low > 1e-9 * size)) { /* as good as constant */
        double room = size > 0.0 ? 0.05 * size : 1.0;
        a.low -= room;
        a.high += room;
    }
    a.step = kiln_plot_tick_step(a.high - a.low, most);
    if (rounded) {
        a.low = a.step * floor(a.low / a.step + 1e-9);
        a.high = a.step * ceil(a.high / a.step - 1e-9);
    }
    choose_factor(&a, unit);
    return a;
}

/* Whole decades, as many between ticks as leave room for their labels. */
static axis make_log_axis(double low, double high, int most, const char *unit)
{
    axis a = {.logarithmic = true, .factor = 1.0};
    bool any = low <= high; /* else nothing is positive */
    a.low = any ? floor(log10(low) + 1e-9) : 0.0;
    a.high = any ? ceil(log10(high) - 1e-9) : 1.0;
    a.high = a.high > a.low ? a.high : a.low + 1.0;
    a.step = ceil((a.high - a.low) / most);
    snprintf(a.unit, sizeof a.unit, "%s", unit);
    return a;
}

/* NaN: nowhere. */
static double place(const axis *a, double value)
{
    if (a->logarithmic)
        value = value > 0.0 ? log10(value) : (double)NAN;
    return a->from + (value - a->low) / (a->high - a->low) * (a->to - a->from);
}

static void tick_label(const axis *a, double value, char text[32])
{
    if (a->logarithmic) {
        snprintf(text, 32, "%g", value);
        return;
    }
    double step = a->step / a->factor, shown = value / a->factor;
    double digits = -floor(log10(step) + 1e-9);
    /* 2.5 and its like have a digit more than their power of ten. */
    double scaled = step * pow(10.0, digits);
    if (fabs(scaled - floor(scaled + 0.5)) > 1e-6)
        digits += 1.0;
    snprintf(text, 32, "%.*f", (int)fmin(fmax(digits, 0.0), 12.0),
             fabs(shown) < 1e-9 * step ? 0.0 : shown);
}

static size_t tick_count(const axis *a)
{
    return (size_t)(floor(a->high / a->step + 1e-9) - ceil(a->low / a->step - 1e-9)) + 1;
}

static double tick_value(const axis *a, size_t i)
{
    double at = (ceil(a->low / a->step - 1e-9) + (double)i) * a->step;
    return a->logarithmic ? pow(10.0, at) : at;
}

static void rule(const kiln_plot_canvas *canvas, double x0, double y0, double x1, double y1,
                 unsigned color)
{
    const kiln_plot_point ends[2] = {{x0, y0}, {x1, y1}};
    canvas->line(canvas->self, ends, 2, 1.0, color);
}

static void draw_axes(const kiln_plot_canvas *canvas, const axis *x, const axis *y,
                      const char *x_title)
{
    char text[64];
    for (size_t i = 0; i < tick_count(y); i++) {
        double value = tick_value(y, i), at = place(y, value);
        rule(canvas, x->from, at, x->to, at, grid);
        tick_label(y, value, text);
        canvas->text(canvas->self, x->from - 7.0, at + 0.35 * small, small, KILN_ANCHOR_RIGHT, pale,
                     text);
    }
    for (size_t i = 0; i < tick_count(x); i++) {
        double value = tick_value(x, i), at = place(x, value);
        rule(canvas, at, y->from, at, y->from + 4.0, frame_color);
        tick_label(x, value, text);
        canvas->text(canvas->self, at, y->from + 8.0 + small, small, KILN_ANCHOR_MIDDLE, pale,
                     text);
    }
    rule(canvas, x->from, y->from, x->to, y->from, frame_color);
    snprintf(text, sizeof text, x->unit[0] ? "%s (%s)" : "%s", x_title, x->unit);
    canvas->text(canvas->self, x->to, y->from + 11.0 + 2.0 * small, small, KILN_ANCHOR_RIGHT, pale,
                 text);
}

static void draw_heading(const kiln_plot_canvas *canvas, const kiln_plot_panel *panel,
                         const kiln_plot_frame *frame, const axis *y)
{
    char title[96];
    bool both = panel->title[0] && y->unit[0];
    snprintf(title, sizeof title, both ? "%s (%s)" : "%s%s", panel->title, y->unit);
    double base = frame->y + 18.0, at = frame->x + 10.0;
    canvas->text(canvas->self, at, base, large, KILN_ANCHOR_LEFT, ink, title);
    if (panel->count < 2)
        return;
    double room = frame->width - right_room - kiln_plot_text_width(title, large) - 30.0, wide = 0.0;
    for (size_t i = 0; i < panel->count; i++)
        wide += 26.0 + kiln_plot_text_width(panel->series[i].label, small);
    double size = wide > room ? fmax(7.0, small * room / wide) : small, shrink = size / small;
    double x = frame->x + frame->width - right_room - fmin(wide * shrink, wide);
    for (size_t i = 0; i < panel->count; i++) {
        const kiln_plot_series *s = &panel->series[i];
        canvas->box(canvas->self, x, base - 0.62 * size, 11.0 * shrink, panel->stacked ? 8.0 : 3.0,
                    s->color);
        canvas->text(canvas->self, x + 15.0 * shrink, base, size, KILN_ANCHOR_LEFT, pale, s->label);
        x += (26.0 + kiln_plot_text_width(s->label, small)) * shrink;
    }
}

/* Rows in order, but of those that fall on one half unit only the lowest and highest: what the eye
 * can tell apart. `rows` has room for all rows. */
static size_t thin(const kiln_plot_frame *frame, const double *values, const axis *x,
                   uint32_t *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < frame->rows;) {
        double bucket = floor(2.0 * place(x, frame->across[i]));
        size_t low = i, high = i, end = i;
        while (end < frame->rows && floor(2.0 * place(x, frame->across[end])) == bucket) {
            if (values[end] < values[low] || isnan(values[low]))
                low = end;
            if (values[end] > values[high] || isnan(values[high]))
                high = end;
            end++;
        }
        size_t first = low < high ? low : high, second = low < high ? high : low;
        rows[count++] = (uint32_t)first;
        if (second != first)
            rows[count++] = (uint32_t)second;
        i = end > i ? end : i + 1;
    }
    return count;
}

/* The same where the curve may go back and forth: rows that the eye can tell from the one before.
 */
static size_t thin_path(const kiln_plot_frame *frame, const double *values, const axis *x,
                        const axis *y, uint32_t *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < frame->rows; i++) {
        size_t last = count ? rows[count - 1] : 0;
        double dx = place(x, frame->across[i]) - place(x, frame->across[last]);
        double dy = place(y, values[i]) - place(y, values[last]);
        if (count == 0 || !(fabs(dx) < 0.5 && fabs(dy) < 0.5)) /* gaps are kept */
            rows[count++] = (uint32_t)i;
    }
    return count;
}

static void dot(const kiln_plot_canvas *canvas, kiln_plot_point at, unsigned color)
{
    canvas->box(canvas->self, at.x - 1.5, at.y - 1.5, 3.0, 3.0, color);
}

/* Gaps part it; a value alone is a dot. */
static void draw_curve(const kiln_plot_canvas *canvas, const kiln_plot_frame *frame,
                       const kiln_plot_series *series, const axis *x, const axis *y, uint32_t *rows,
                       kiln_plot_point *points)
{
    size_t shown = frame->rises && !frame->points ? thin(frame, series->values, x, rows)
                                                  : thin_path(frame, series->values, x, y, rows);
    size_t count = 0;
    for (size_t i = 0; i <= shown; i++) {
        kiln_plot_point p = {NAN, NAN};
        if (i < shown)
            p = (kiln_plot_point){place(x, frame->across[rows[i]]),
                                  place(y, series->values[rows[i]])};
        bool gap = isnan(p.x) || isnan(p.y);
        if (!gap)
            points[count++] = p;
        if (!gap && !frame->points)
            continue;
        if (count == 1)
            dot(canvas, points[0], series->color);
        else if (count > 1)
            canvas->line(canvas->self, points, count, 1.6, series->color);
        count = 0;
    }
}

/* Rows that fall on one place are averaged, so that the areas keep their size. */
static void draw_stack(const kiln_plot_canvas *canvas, const kiln_plot_panel *panel,
                       const kiln_plot_frame *frame, const axis *x, const axis *y,
                       kiln_plot_point *top, kiln_plot_point *bottom)
{
    for (size_t s = 0; s < panel->count; s++) {
        size_t count = 0;
        for (size_t i = 0; i < frame->rows;) {
            double bucket = floor(place(x, frame->across[i])), below = 0.0, value = 0.0;
            size_t end = i;
            for (; end < frame->rows && floor(place(x, frame->across[end])) == bucket; end++) {
                for (size_t k = 0; k < s; k++)
                    below += fmax(0.0, panel->series[k].values[end]);
                value += fmax(0.0, panel->series[s].values[end]);
            }
            double n = (double)(end - i), at = place(x, frame->across[i]);
            top[count] = (kiln_plot_point){at, place(y, (below + value) / n)};
            bottom[count++] = (kiln_plot_point){at, place(y, below / n)};
            i = end;
        }
        if (count > 1)
            canvas->area(canvas->self, top, bottom, count, panel->series[s].color);
    }
}

/* Of a logarithmic axis only what is positive. */
static void stretch(double *low, double *high, double value, bool logarithmic)
{
    if (logarithmic && !(value > 0.0))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static axis value_axis(const kiln_plot_panel *panel, const kiln_plot_frame *frame)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < frame->rows; i++) {
        double sum = 0.0;
        for (size_t s = 0; s < panel->count; s++) {
            double value = panel->series[s].values[i];
            sum += panel->stacked ? fmax(0.0, value) : 0.0; /* fmax passes over NaN */
            if (panel->stacked)
                value = sum;
            stretch(&low, &high, value, frame->logarithmic);
        }
    }
    if (frame->logarithmic)
        return make_log_axis(low, high, 5, panel->unit);
    if (!(low <= high))
        low = high = 0.0;
    if (low == 0.0 && high == 0.0 && (panel->stacked || panel->from_zero))
        high = 1.0;
    if (panel->stacked || (panel->from_zero && low > 0.0))
        low = 0.0;
    return make_axis(low, high, 5, panel->unit, true);
}

static axis across_axis(const kiln_plot_frame *frame)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < frame->rows; i++)
        stretch(&low, &high, frame->across[i], frame->logarithmic);
    return frame->logarithmic ? make_log_axis(low, high, 7, frame->x_unit)
                              : make_axis(low, high, 7, frame->x_unit, false);
}

kiln_status kiln_plot_panel_draw(const kiln_plot_canvas *canvas, const kiln_plot_panel *panel,
                                 const kiln_plot_frame *frame, kiln_arena *scratch,
                                 kiln_error *error)
{
    kiln_arena_mark mark = kiln_arena_set_mark(scratch);
    uint32_t *rows = kiln_arena_array(scratch, uint32_t, frame->rows + 2);
    kiln_plot_point *points = kiln_arena_array(scratch, kiln_plot_point, 2 * (frame->rows + 2));
    if (!rows || !points)
        return kiln_fail_memory(error, 2 * (frame->rows + 2) * sizeof *points);
    axis y = value_axis(panel, frame), x = across_axis(frame);
    x.from = frame->x + left_room;
    x.to = frame->x + frame->width - right_room;
    y.from = frame->y + frame->height - bottom_room;
    y.to = frame->y + top_room;
    draw_axes(canvas, &x, &y, frame->x_title);
    draw_heading(canvas, panel, frame, &y);
    if (panel->stacked)
        draw_stack(canvas, panel, frame, &x, &y, points, points + frame->rows + 2);
    for (size_t s = 0; s < panel->count && !panel->stacked; s++)
        draw_curve(canvas, frame, &panel->series[s], &x, &y, rows, points);
    kiln_arena_release(scratch, mark);
    return KILN_OK;
}
