#include "app/bench_page.h"

#include "app/aside.h"
#include "app/provenance.h"

#include <string.h>

typedef struct cells {
    char value[24], bar[28], ratio[24];
    const char *verdict;
} cells;

static cells format_row(const kiln_bench_row *row)
{
    cells c = {.verdict = !row->pass ? "MISSED" : row->bar == 0.0 ? "" : "ok"};
    snprintf(c.value, sizeof c.value, "%.4g", row->value);
    if (row->bar != 0.0)
        snprintf(c.bar, sizeof c.bar, "%s %.4g", row->higher_is_better ? ">=" : "<=", row->bar);
    if (row->ratio > 0.0)
        snprintf(c.ratio, sizeof c.ratio, "%.3g", row->ratio);
    return c;
}

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

void kiln_bench_print_table(const kiln_bench_row_array *rows, FILE *out)
{
    int name = 4, unit = 4, accuracy = 8;
    size_t missed = 0;
    for (size_t i = 0; i < rows->count; i++) {
        name = wider(name, rows->data[i].name);
        unit = wider(unit, rows->data[i].unit);
        accuracy = wider(accuracy, rows->data[i].accuracy);
        missed += !rows->data[i].pass;
    }
    fprintf(out, "%-*s  %10s  %-*s  %10s  %-7s  %8s  %s\n", name, "name", "value", unit, "unit",
            "bar", "verdict", "ratio", "accuracy");
    for (size_t i = 0; i < rows->count; i++) {
        const kiln_bench_row *row = &rows->data[i];
        cells c = format_row(row);
        if (i > 0 && strcmp(row->suite, rows->data[i - 1].suite) != 0)
            fputc('\n', out);
        fprintf(out, "%-*s  %10s  %-*s  %10s  %-7s  %8s  %s\n", name, row->name, c.value, unit,
                row->unit, c.bar, c.verdict, c.ratio, row->accuracy);
    }
    fprintf(out, "\n%zu figures, %zu missed their bar\n", rows->count, missed);
}

kiln_status kiln_bench_write_page(kiln_context *context, const kiln_bench_row_array *rows,
                                  const char *path, kiln_error *error)
{
    kiln_aside aside;
    KILN_TRY(kiln_aside_open(&aside, context, path, error));
    FILE *out = aside.file;
    fputs("# Performance\n\nWritten by `kiln bench --write`; do not edit.\n\n", out);
    kiln_provenance_print(context, out);
    fputs(
        "\nCPU time of one thread, minimum of many repeats. *ratio*: time of one item in units of "
        "the reference loop\n(the scalar orient3d filter) timed beside it.\n",
        out);
    for (size_t i = 0; i < rows->count; i++) {
        const kiln_bench_row *row = &rows->data[i];
        cells c = format_row(row);
        if (i == 0 || strcmp(row->suite, rows->data[i - 1].suite) != 0)
            fprintf(out,
                    "\n## %s\n\n| name | value | unit | bar | verdict | ratio | accuracy |\n"
                    "|---|--:|---|--:|---|--:|---|\n",
                    row->suite);
        fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", row->name, c.value, row->unit, c.bar,
                c.verdict, c.ratio, row->accuracy);
    }
    return kiln_aside_commit(&aside, error);
}
