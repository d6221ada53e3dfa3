/* A table of numbers with named columns, as stats.csv and probes.csv hold it. */
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

/* Adds the columns of the other that the table does not have, row by row where both have the same
 * number in the column `key`, which rises in both; empty cells elsewhere. */
kiln_status kiln_plot_table_join(kiln_plot_table *table, const kiln_plot_table *other,
                                 const char *key, kiln_error *error);

/* NULL: no such column. */
const double *kiln_plot_table_find(const kiln_plot_table *table, const char *name);

#endif
