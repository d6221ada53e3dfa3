/* A table of numbers with named columns, as stats.csv holds it. */
#ifndef KILN_APP_PLOT_TABLE_H
#define KILN_APP_PLOT_TABLE_H

#include "base/arena.h"

typedef struct kiln_plot_table {
    kiln_arena arena; /* owns everything */
    size_t columns, rows;
    const char **names;    /* [column] */
    const double **values; /* [column][row]; NaN: an empty cell */
} kiln_plot_table;

/* Errors name the file and the line. A last line that is being written (without its end, and not
 * whole) is left out. */
kiln_status kiln_plot_table_read(kiln_context *context, const char *path, kiln_plot_table *out,
                                 kiln_error *error);
void kiln_plot_table_free(kiln_plot_table *table);

/* NULL: no such column. */
const double *kiln_plot_table_find(const kiln_plot_table *table, const char *name);

#endif
