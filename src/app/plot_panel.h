/* One diagram: title, legend, axes, curves. */
#ifndef KILN_APP_PLOT_PANEL_H
#define KILN_APP_PLOT_PANEL_H

#include "app/plot_canvas.h"
#include "base/arena.h"

enum { KILN_PLOT_MAX_SERIES = 12 };

typedef struct kiln_plot_series {
    const char *label;
    const double *values; /* [row]; NaN: a gap */
    unsigned color;
} kiln_plot_series;

typedef struct kiln_plot_panel {
    const char *title, *unit; /* unit "": a plain number */
    kiln_plot_series series[KILN_PLOT_MAX_SERIES];
    size_t count;
    bool stacked;         /* areas on top of one another; values from 0 */
    bool from_zero;       /* the axis begins at 0 */
    const char *x_title;  /* of a panel with an axis of its own, or NULL */
    const double *across; /* likewise */
} kiln_plot_panel;

typedef struct kiln_plot_frame {
    double x, y, width, height;   /* of the whole panel */
    const char *x_title, *x_unit; /* unit "": a plain number */
    const double *across;         /* [row]; NaN: a gap */
    bool rises;                   /* from row to row, as it must where areas are stacked */
    bool points;                  /* no curves */
    bool logarithmic;             /* both axes; what is not positive is a gap */
    size_t rows;
} kiln_plot_frame;

/* KILN_ERR_MEMORY only. */
kiln_status kiln_plot_panel_draw(const kiln_plot_canvas *canvas, const kiln_plot_panel *panel,
                                 const kiln_plot_frame *frame, kiln_arena *scratch,
                                 kiln_error *error);

/* A round step (1, 2, 2.5 or 5 times a power of ten) that cuts `range` into at most `most`. */
double kiln_plot_tick_step(double range, int most);

#endif
