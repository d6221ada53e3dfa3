#include "validation/validation.h"

#include "app/command.h"
#include "measure/report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef enum case_part { SLOW, BRIEF, QUICK } case_part; /* cases.h */

typedef struct case_row {
    const char *name, *area, *what;
    case_part part;
    kiln_validation_case run;
} case_row;

static const case_row cases[] = {
#define KILN_VALIDATION_CASE(area, name, part, what)                                               \
    {#name, #area, what, part, kiln_validate_##name},
#include "validation/cases.h"
#undef KILN_VALIDATION_CASE
};
enum { CASES = sizeof cases / sizeof cases[0] };

static const kiln_report_words words = {
    .command = "validate",
    .title = "Validation",
    .note = "All figures are measured by the command; none is stored. A figure passes when it "
            "keeps to its bound; one without a\nbound has no verdict, and is not counted as "
            "passed.",
    .group = "case",
    .name = "quantity",
    .value = "measured",
    .remark = "remark",
    .red = "FAILED",
    .missed = "out of tolerance"};

struct kiln_validation {
    kiln_context *context;
    const case_row *now;
    bool brief;
    kiln_report report;
};

kiln_context *kiln_validation_context(kiln_validation *validation)
{
    return validation->context;
}

bool kiln_validation_is_brief(const kiln_validation *validation)
{
    return validation->brief;
}

void kiln_validation_report(kiln_validation *validation, double measured, kiln_bound bound,
                            const char *quantity, ...)
{
    kiln_report_row row = {.group = validation->now->name,
                           .about = validation->now->what,
                           .value = measured,
                           .bound = bound};
    va_list arguments;
    va_start(arguments, quantity);
    vsnprintf(row.name, sizeof row.name, quantity, arguments);
    va_end(arguments);
    kiln_report_add(&validation->report, &row);
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

/* Of those chosen the ones that take seconds. */
static kiln_status keep_quick(bool *chosen, kiln_error *error)
{
    bool any = false;
    for (int i = 0; i < CASES; i++) {
        chosen[i] = chosen[i] && cases[i].part != SLOW;
        any |= chosen[i];
    }
    return any ? KILN_OK
               : kiln_fail(error, KILN_ERR_INPUT, "validate", 0, -1,
                           "none of these cases is quick; 'kiln validate --list' says which are");
}

static void run_case(kiln_validation *validation, const case_row *row)
{
    kiln_error error = {0};
    char text[1024];
    validation->now = row;
    if (row->run(validation, &error) == KILN_OK)
        return;
    fprintf(stderr, "%s%s: %s\n", validation->report.progress ? "\n" : "", row->name,
            kiln_error_format(&error, text, sizeof text));
    kiln_validation_report(validation, NAN, kiln_unbound(), "the case did not run to its end");
}

static void list_cases(FILE *out)
{
    for (int i = 0; i < CASES; i++) {
        static const char *const parts[] = {[SLOW] = "", [BRIEF] = "brief", [QUICK] = "quick"};
        if (i == 0 || strcmp(cases[i].area, cases[i - 1].area) != 0)
            fprintf(out, "%sArea %s:\n", i ? "\n" : "", cases[i].area);
        fprintf(out, "  %-12s  %-5s  %s\n", cases[i].name, parts[cases[i].part], cases[i].what);
    }
}

static kiln_status run_validate(kiln_context *context, const kiln_arguments *arguments,
                                kiln_error *error)
{
    bool chosen[CASES];
    if (kiln_arguments_has(arguments, "list")) {
        list_cases(stdout);
        return KILN_OK;
    }
    KILN_TRY(choose_cases(arguments, chosen, error));
    kiln_validation validation = {.context = context,
                                  .brief = kiln_arguments_has(arguments, "quick")};
    if (validation.brief)
        KILN_TRY(keep_quick(chosen, error));
    kiln_report_begin(&validation.report, context, &words);
    for (int i = 0; i < CASES; i++)
        if (chosen[i])
            run_case(&validation, &cases[i]);
    kiln_status status = kiln_report_publish(&validation.report, arguments, error);
    kiln_report_end(&validation.report);
    return status;
}

static void explain(FILE *out)
{
    list_cases(out);
    fputs("\nNAME is a case or an area; without one all are run. The exit code is 1 when a figure "
          "is\nout of tolerance. With --quick only the cases marked quick run, and a shorter "
          "version of\nthose marked brief: about a minute, something of every area.\n",
          out);
}

int kiln_command_validate(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"quick", 0, NULL, "only what takes seconds"},
        {"list", 0, NULL, "print the cases, and which are quick"},
        {"json", 0, NULL, "print a list of objects instead of the table"},
        {"write", 0, "FILE", "also write the table as a Markdown page"}};
    static const kiln_usage usage = {.command = "validate",
                                     .synopsis =
                                         "[NAME...] [--quick] [--json] [--write FILE] | --list",
                                     .what = "Measures what has a known answer against it.",
                                     .example = "  kiln validate M1\n"
                                                "  kiln validate --quick\n"
                                                "  kiln validate --write docs/validation.md\n",
                                     .own = options,
                                     .own_count = sizeof options / sizeof options[0],
                                     .most_operands = KILN_MAX_OPERANDS,
                                     .details = explain};
    return kiln_command_frame(&usage, argc, argv, run_validate);
}
