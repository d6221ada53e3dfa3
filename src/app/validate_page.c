#include "app/validate_page.h"

#include "app/aside.h"
#include "app/json.h"
#include "app/provenance.h"

#include <string.h>

typedef struct cells {
    char reference[24], measured[24], tolerance[24];
    const char *verdict;
} cells;

static cells format_row(const kiln_validation_row *row)
{
    cells c = {.verdict = row->pass ? "ok" : "FAILED"};
    snprintf(c.reference, sizeof c.reference, "%.10g", row->reference);
    /* An error needs its size, a value the digits to compare. */
    snprintf(c.measured, sizeof c.measured, row->reference == 0.0 ? "%.3g" : "%.10g",
             row->measured);
    snprintf(c.tolerance, sizeof c.tolerance, "%.3g", row->tolerance);
    return c;
}

static bool starts_case(const kiln_validation_rows *rows, size_t i)
{
    return i == 0 || strcmp(rows->data[i].name, rows->data[i - 1].name) != 0;
}

size_t kiln_validation_failures(const kiln_validation_rows *rows)
{
    size_t failures = 0;
    for (size_t i = 0; i < rows->count; i++)
        failures += !rows->data[i].pass;
    return failures;
}

void kiln_validation_print_table(const kiln_validation_rows *rows, FILE *out)
{
    int width = 8;
    for (size_t i = 0; i < rows->count; i++) {
        int length = (int)strlen(rows->data[i].quantity);
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const kiln_validation_row *row = &rows->data[i];
        cells c = format_row(row);
        if (starts_case(rows, i))
            fprintf(out, "%s%s: %s\n  %-*s  %12s  %12s  %9s  verdict\n", i ? "\n" : "", row->name,
                    row->what, width, "quantity", "reference", "measured", "tolerance");
        fprintf(out, "  %-*s  %12s  %12s  %9s  %s\n", width, row->quantity, c.reference, c.measured,
                c.tolerance, c.verdict);
    }
    fprintf(out, "\n%zu figures, %zu out of tolerance\n", rows->count,
            kiln_validation_failures(rows));
}

void kiln_validation_print_json(const kiln_validation_rows *rows, FILE *out)
{
    kiln_json json = {.out = out};
    kiln_json_list(&json, NULL);
    for (size_t i = 0; i < rows->count; i++) {
        const kiln_validation_row *row = &rows->data[i];
        kiln_json_object(&json, NULL);
        kiln_json_text(&json, "case", row->name);
        kiln_json_text(&json, "quantity", row->quantity);
        kiln_json_number(&json, "reference", row->reference);
        kiln_json_number(&json, "measured", row->measured);
        kiln_json_number(&json, "tolerance", row->tolerance);
        kiln_json_bool(&json, "pass", row->pass);
        kiln_json_end(&json);
    }
    kiln_json_end(&json);
}

kiln_status kiln_validation_write_page(kiln_context *context, const kiln_validation_rows *rows,
                                       const char *command, const char *path, kiln_error *error)
{
    kiln_aside aside;
    KILN_TRY(kiln_aside_open(&aside, context, path, error));
    FILE *out = aside.file;
    fprintf(out, "# Validation\n\nWritten by `%s`, which makes it again; do not edit.\n\n",
            command);
    kiln_provenance_print(context, out);
    fprintf(out,
            "- result: %zu figures, %zu out of tolerance\n\nA figure passes when |measured - "
            "reference| <= tolerance. All are measured by the command; none is stored.\n",
            rows->count, kiln_validation_failures(rows));
    for (size_t i = 0; i < rows->count; i++) {
        const kiln_validation_row *row = &rows->data[i];
        cells c = format_row(row);
        if (starts_case(rows, i))
            fprintf(out,
                    "\n## %s\n\n%s\n\n| quantity | reference | measured | tolerance | verdict |\n"
                    "|---|--:|--:|--:|---|\n",
                    row->name, row->what);
        fprintf(out, "| %s | %s | %s | %s | %s |\n", row->quantity, c.reference, c.measured,
                c.tolerance, c.verdict);
    }
    return kiln_aside_commit(&aside, error);
}
