/* The figures of a benchmark run, as a table on the terminal and as a Markdown page. */
#ifndef KILN_APP_BENCH_PAGE_H
#define KILN_APP_BENCH_PAGE_H

#include "base/array.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct kiln_bench_row {
    char suite[32], name[96], unit[32], accuracy[160];
    double value, bar;      /* bar 0: none */
    double baseline, ratio; /* ns an item of the reference loop; items of it per item. 0: unknown */
    bool higher_is_better, pass;
} kiln_bench_row;
typedef KILN_ARRAY_OF(kiln_bench_row)
kiln_bench_row_array;

void kiln_bench_print_table(const kiln_bench_row_array *rows, FILE *out);
kiln_status kiln_bench_write_page(kiln_context *context, const kiln_bench_row_array *rows,
                                  const char *path, kiln_error *error);

#endif
