#include "measure/report.h"

#include "app/command.h"

#include <string.h>

void kiln_report_begin(kiln_report *report, kiln_context *context, const kiln_report_words *words)
{
    *report = (kiln_report){.context = context,
                            .words = words,
                            .progress = kiln_stream_is_terminal(stderr) ? stderr : NULL};
}

void kiln_report_end(kiln_report *report)
{
    kiln_array_free(report->context, &report->rows);
}

void kiln_report_add(kiln_report *report, const kiln_report_row *row)
{
    if (kiln_array_push(report->context, &report->rows, *row, &report->error) == KILN_OK &&
        report->progress)
        fprintf(report->progress, "\r%s: %-60.60s", row->group, row->name);
}

kiln_row_verdict kiln_report_judge(const kiln_report_row *row)
{
    if (row->check == KILN_CHECK_BROKEN || !kiln_bound_holds(&row->bound, row->value))
        return KILN_ROW_RED;
    bool judged = row->bound.kind != KILN_BOUND_NONE || row->check == KILN_CHECK_HELD;
    return judged ? KILN_ROW_OK : KILN_ROW_OPEN;
}

kiln_report_counts kiln_report_count(const kiln_report *report)
{
    kiln_report_counts counts = {.rows = report->rows.count};
    for (size_t i = 0; i < report->rows.count; i++) {
        kiln_row_verdict verdict = kiln_report_judge(&report->rows.data[i]);
        counts.ok += verdict == KILN_ROW_OK;
        counts.red += verdict == KILN_ROW_RED;
        counts.open += verdict == KILN_ROW_OPEN;
    }
    return counts;
}

void kiln_report_sum_up(const kiln_report *report, char *text, size_t size)
{
    kiln_report_counts c = kiln_report_count(report);
    snprintf(text, size, "%zu figures: %zu ok, %zu %s, %zu without a verdict", c.rows, c.ok, c.red,
             report->words->missed, c.open);
}

/* The command line but for what changes no figure: threads, objects to stdout. */
static void command_line(const kiln_arguments *arguments, char *text, size_t size)
{
    const kiln_usage *usage = arguments->usage;
    size_t used = (size_t)snprintf(text, size, "kiln %s", usage->command);
    for (int k = 0; k < arguments->operand_count && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, " %s", arguments->operands[k]);
    const char *isa = kiln_arguments_get(arguments, "isa");
    if (isa && used < size)
        used += (size_t)snprintf(text + used, size - used, " --isa %s", isa);
    for (int i = 0; i < usage->own_count && used < size; i++) {
        const char *value = kiln_arguments_get(arguments, usage->own[i].name);
        if (value && strcmp(usage->own[i].name, "json") != 0)
            used += (size_t)snprintf(text + used, size - used, " --%s%s%s", usage->own[i].name,
                                     value[0] ? " " : "", value);
    }
}

kiln_status kiln_report_publish(const kiln_report *report, const kiln_arguments *arguments,
                                kiln_error *error)
{
    if (report->progress)
        fprintf(report->progress, "\r%-78s\r", "");
    if (report->error.status != KILN_OK) {
        *error = report->error;
        return error->status;
    }
    if (kiln_arguments_has(arguments, "json"))
        kiln_report_print_json(report, stdout);
    else
        kiln_report_print_table(report, stdout);
    const char *page = kiln_arguments_get(arguments, "write");
    if (page) {
        char command[4096];
        command_line(arguments, command, sizeof command);
        KILN_TRY(kiln_report_write_page(report, command, page, error));
    }
    kiln_report_counts counts = kiln_report_count(report);
    if (counts.red)
        return kiln_fail(error, KILN_ERR_STATE, report->words->command, 0, -1,
                         "%zu of %zu figures %s", counts.red, counts.rows, report->words->missed);
    return KILN_OK;
}
