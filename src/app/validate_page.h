/* The rows of a validation run, as a table on the terminal, JSON, and a Markdown page. */
#ifndef KILN_APP_VALIDATE_PAGE_H
#define KILN_APP_VALIDATE_PAGE_H

#include "base/array.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct kiln_validation_row {
    const char *name, *what; /* of the case */
    char quantity[128];
    double reference, measured, tolerance;
    bool pass;
} kiln_validation_row;
typedef KILN_ARRAY_OF(kiln_validation_row)
kiln_validation_rows;

size_t kiln_validation_failures(const kiln_validation_rows *rows);

void kiln_validation_print_table(const kiln_validation_rows *rows, FILE *out);
void kiln_validation_print_json(const kiln_validation_rows *rows, FILE *out);
/* `command` is what makes the page again. */
kiln_status kiln_validation_write_page(kiln_context *context, const kiln_validation_rows *rows,
                                       const char *command, const char *path, kiln_error *error);

#endif
