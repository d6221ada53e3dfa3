#include "app/validate.h"

#include "app/command.h"
#include "app/validate_page.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct case_row {
    const char *name, *area, *what;
    kiln_validation_case run;
} case_row;

static const case_row cases[] = {
#define KILN_VALIDATION_CASE(area, name, what) {#name, #area, what, kiln_validate_##name},
#include "app/validate_cases.h"
#undef KILN_VALIDATION_CASE
};
enum { CASES = sizeof cases / sizeof cases[0] };

struct kiln_validation {
    kiln_context *context;
    const case_row *now;
    kiln_validation_rows rows;
    kiln_error error; /* first failure to store a row */
    FILE *progress;   /* NULL: none */
};

kiln_context *kiln_validation_context(kiln_validation *validation)
{
    return validation->context;
}

void kiln_validation_report(kiln_validation *validation, double reference, double measured,
                            double tolerance, const char *quantity, ...)
{
    kiln_validation_row row = {.name = validation->now->name,
                               .what = validation->now->what,
                               .reference = reference,
                               .measured = measured,
                               .tolerance = tolerance,
                               .pass = fabs(measured - reference) <= tolerance};
    va_list arguments;
    va_start(arguments, quantity);
    vsnprintf(row.quantity, sizeof row.quantity, quantity, arguments);
    va_end(arguments);
    if (kiln_array_push(validation->context, &validation->rows, row, &validation->error) ==
            KILN_OK &&
        validation->progress)
        fprintf(validation->progress, "\r%s: %-60.60s", row.name, row.quantity);
}

/* A name is that of a case or of an area. */
static kiln_status choose_cases(const kiln_arguments *arguments, bool *chosen, kiln_error *error)
{
    const char *names[2 * CASES];
    for (int i = 0; i < CASES; i++) {
        chosen[i] = arguments->operand_count == 0;
        names[2 * i] = cases[i].name;
        names[2 * i + 1] = cases[i].area;
    }
    for (int k = 0; k < arguments->operand_count; k++) {
        const char *name = arguments->operands[k];
        bool found = false;
        for (int i = 0; i < CASES; i++)
            if (strcmp(cases[i].name, name) == 0 || strcmp(cases[i].area, name) == 0)
                chosen[i] = found = true;
        if (found)
            continue;
        const char *nearest = kiln_nearest_name(name, names, 2 * CASES, sizeof names[0]);
        return kiln_fail(error, KILN_ERR_INPUT, "validate", 0, -1,
                         nearest ? "unknown case '%s'; did you mean '%s'?"
                                 : "unknown case '%s'; 'kiln validate --help' lists them%s",
                         name, nearest ? nearest : "");
    }
    return KILN_OK;
}

static void run_case(kiln_validation *validation, const case_row *row)
{
    kiln_error error = {0};
    char text[1024];
    validation->now = row;
    if (row->run(validation, &error) == KILN_OK)
        return;
    fprintf(stderr, "%s%s: %s\n", validation->progress ? "\n" : "", row->name,
            kiln_error_format(&error, text, sizeof text));
    kiln_validation_report(validation, 1, 0, 0, "the case ran to its end");
}

static kiln_status finish(kiln_validation *validation, const kiln_arguments *arguments,
                          kiln_error *error)
{
    const kiln_validation_rows *rows = &validation->rows;
    if (validation->error.status != KILN_OK) {
        *error = validation->error;
        return error->status;
    }
    if (kiln_arguments_has(arguments, "json"))
        kiln_validation_print_json(rows, stdout);
    else
        kiln_validation_print_table(rows, stdout);
    const char *page = kiln_arguments_get(arguments, "write");
    if (page) {
        char command[4096] = "kiln validate";
        for (int k = 0; k < arguments->operand_count; k++) {
            size_t used = strlen(command);
            snprintf(command + used, sizeof command - used, " %s", arguments->operands[k]);
        }
        size_t used = strlen(command);
        snprintf(command + used, sizeof command - used, " --write %s", page);
        KILN_TRY(kiln_validation_write_page(validation->context, rows, command, page, error));
    }
    size_t failures = kiln_validation_failures(rows);
    if (failures)
        return kiln_fail(error, KILN_ERR_STATE, "validate", 0, -1,
                         "%zu of %zu figures are out of tolerance", failures, rows->count);
    return KILN_OK;
}

static kiln_status run_validate(kiln_context *context, const kiln_arguments *arguments,
                                kiln_error *error)
{
    bool chosen[CASES];
    KILN_TRY(choose_cases(arguments, chosen, error));
    kiln_validation validation = {.context = context,
                                  .progress = kiln_stream_is_terminal(stderr) ? stderr : NULL};
    for (int i = 0; i < CASES; i++)
        if (chosen[i])
            run_case(&validation, &cases[i]);
    if (validation.progress)
        fprintf(validation.progress, "\r%-78s\r", "");
    kiln_status status = finish(&validation, arguments, error);
    kiln_array_free(context, &validation.rows);
    return status;
}

static void list_cases(FILE *out)
{
    for (int i = 0; i < CASES; i++) {
        if (i == 0 || strcmp(cases[i].area, cases[i - 1].area) != 0)
            fprintf(out, "%sArea %s:\n", i ? "\n" : "", cases[i].area);
        fprintf(out, "  %-12s %s\n", cases[i].name, cases[i].what);
    }
    fputs("\nNAME is a case or an area; without one all are run. The exit code is 1 when a figure "
          "is\nout of tolerance.\n",
          out);
}

int kiln_command_validate(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"json", 0, NULL, "print a list of objects instead of the table"},
        {"write", 0, "FILE", "also write the table as a Markdown page"}};
    static const kiln_usage usage = {.command = "validate",
                                     .synopsis = "[NAME...] [--json] [--write FILE]",
                                     .what = "Measures what has a known answer against it.",
                                     .example = "  kiln validate M1\n"
                                                "  kiln validate --write docs/validation.md\n",
                                     .own = options,
                                     .own_count = sizeof options / sizeof options[0],
                                     .most_operands = KILN_MAX_OPERANDS,
                                     .details = list_cases};
    return kiln_command_frame(&usage, argc, argv, run_validate);
}
