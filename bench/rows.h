/* The rows that `kiln bench --json` printed, of this program or an older one, read back. */
#ifndef KILN_BENCH_ROWS_H
#define KILN_BENCH_ROWS_H

#include "base/array.h"

#include <stdbool.h>

typedef struct kiln_bench_row {
    char suite[32], name[128], unit[32];
    double value; /* NaN: could not be measured */
    bool higher_is_better;
} kiln_bench_row;
typedef KILN_ARRAY_OF(kiln_bench_row)
kiln_bench_rows;

/* Adds the objects of the first list in the text; what is before and after it, and keys not known
 * here, are passed over. An error when there is no whole list. */
kiln_status kiln_bench_rows_read(kiln_context *context, const char *text, kiln_bench_rows *rows,
                                 kiln_error *error);

/* Whether the row says how fast something is: a time, a rate, or how many times faster than others
 * ("x"). Counts, qualities and sizes do not. */
bool kiln_bench_row_is_speed(const kiln_bench_row *row);
/* What the figure costs: the value, or one over it where higher is better. */
double kiln_bench_row_cost(const kiln_bench_row *row);

#endif
