/* The three shapes of a report. Columns in which no row has anything are left out. */
#include "app/aside.h"
#include "io/json.h"
#include "measure/provenance.h"
#include "measure/report.h"

#include <string.h>

enum { NAME, VALUE, UNIT, BOUND, VERDICT, RATIO, REMARK, COLUMNS, CELL = 192 };
static const bool to_the_right[COLUMNS] = {[VALUE] = true, [BOUND] = true, [RATIO] = true};

typedef struct layout {
    const char *head[COLUMNS];
    int width[COLUMNS]; /* 0: left out */
} layout;

static const char *verdict_word(const kiln_report *report, const kiln_report_row *row)
{
    kiln_row_verdict verdict = kiln_report_judge(row);
    return verdict == KILN_ROW_RED ? report->words->red : verdict == KILN_ROW_OK ? "ok" : "none";
}

static void fill_cells(const kiln_report *report, const kiln_report_row *row,
                       char cells[COLUMNS][CELL])
{
    /* A value needs the digits to compare with its answer, an error only its size. */
    bool exact = row->bound.kind == KILN_BOUND_NEAR && row->bound.reference != 0.0;
    char bound[KILN_BOUND_TEXT];
    kiln_bound_print(&row->bound, bound);
    snprintf(cells[NAME], CELL, "%s", row->name);
    snprintf(cells[VALUE], CELL, exact ? "%.10g" : "%.4g", row->value);
    snprintf(cells[UNIT], CELL, "%s", row->unit);
    snprintf(cells[BOUND], CELL, "%s", bound);
    snprintf(cells[VERDICT], CELL, "%s", verdict_word(report, row));
    cells[RATIO][0] = 0;
    if (row->ratio > 0.0)
        snprintf(cells[RATIO], CELL, "%.3g", row->ratio);
    snprintf(cells[REMARK], CELL, "%s", row->remark);
}

static layout lay_out(const kiln_report *report)
{
    const kiln_report_words *words = report->words;
    layout l = {
        .head = {words->name, words->value, "unit", "bound", "verdict", "ratio", words->remark}};
    char cells[COLUMNS][CELL];
    for (size_t i = 0; i < report->rows.count; i++) {
        fill_cells(report, &report->rows.data[i], cells);
        for (int c = 0; c < COLUMNS; c++) {
            int length = (int)strlen(cells[c]);
            l.width[c] = length > l.width[c] ? length : l.width[c];
        }
    }
    for (int c = 0; c < COLUMNS; c++) {
        int length = (int)strlen(l.head[c]);
        if (l.width[c] > 0 && l.width[c] < length)
            l.width[c] = length;
    }
    return l;
}

static bool starts_group(const kiln_report_rows *rows, size_t i)
{
    return i == 0 || strcmp(rows->data[i].group, rows->data[i - 1].group) != 0;
}

static void print_line(const layout *l, const char *const *cells, FILE *out)
{
    int last = COLUMNS - 1;
    while (last > 0 && !(l->width[last] && cells[last][0]))
        last--;
    for (int c = 0; c <= last; c++)
        if (l->width[c] > 0)
            fprintf(out, "  %*s", (to_the_right[c] ? 1 : -1) * (c < last ? l->width[c] : 0),
                    cells[c]);
    fputc('\n', out);
}

void kiln_report_print_table(const kiln_report *report, FILE *out)
{
    const kiln_report_rows *rows = &report->rows;
    layout l = lay_out(report);
    char cells[COLUMNS][CELL], text[KILN_MACHINE_TEXT];
    const char *line[COLUMNS];
    kiln_provenance_machine(report->context, text, sizeof text);
    fprintf(out, "%s\n\n", text);
    for (int c = 0; c < COLUMNS; c++)
        line[c] = cells[c];
    for (size_t i = 0; i < rows->count; i++) {
        fill_cells(report, &rows->data[i], cells);
        if (starts_group(rows, i)) {
            fprintf(out, "%s%s: %s\n", i ? "\n" : "", rows->data[i].group, rows->data[i].about);
            print_line(&l, l.head, out);
        }
        print_line(&l, line, out);
    }
    kiln_report_sum_up(report, text, sizeof text);
    fprintf(out, "\n%s\n", text);
}

static void put_limits(kiln_json *json, const kiln_bound *bound)
{
    char text[KILN_BOUND_TEXT];
    bool near = bound->kind == KILN_BOUND_NEAR, between = bound->kind == KILN_BOUND_BETWEEN;
    kiln_bound_print(bound, text);
    kiln_json_text(json, "bound", text);
    kiln_json_number(json, "at_least",
                     between || bound->kind == KILN_BOUND_AT_LEAST ? bound->low : NAN);
    kiln_json_number(json, "at_most",
                     between || bound->kind == KILN_BOUND_AT_MOST ? bound->high : NAN);
    kiln_json_number(json, "reference", near ? bound->reference : NAN);
    kiln_json_number(json, "tolerance", near ? bound->tolerance : NAN);
}

static void put_row(kiln_json *json, const kiln_report *report, const kiln_report_row *row)
{
    const kiln_report_words *words = report->words;
    kiln_row_verdict verdict = kiln_report_judge(row);
    kiln_json_object(json, NULL);
    kiln_json_text(json, words->group, row->group);
    kiln_json_text(json, words->name, row->name);
    kiln_json_number(json, words->value, row->value);
    if (words->timed) {
        kiln_json_text(json, "unit", row->unit);
        kiln_json_number(json, "baseline", row->baseline);
        kiln_json_number(json, "ratio", row->ratio > 0.0 ? row->ratio : NAN);
        kiln_json_bool(json, "higher_is_better", row->higher_is_better);
        kiln_json_text(json, words->remark, row->remark);
    }
    put_limits(json, &row->bound);
    kiln_json_text(json, "instructions", kiln_isa_name(report->context->isa));
    kiln_json_number(json, "threads", report->context->threads);
    if (verdict == KILN_ROW_OPEN)
        kiln_json_null(json, "pass");
    else
        kiln_json_bool(json, "pass", verdict == KILN_ROW_OK);
    kiln_json_end(json);
}

void kiln_report_print_json(const kiln_report *report, FILE *out)
{
    kiln_json json = kiln_json_to_stream(out);
    kiln_json_list(&json, NULL);
    for (size_t i = 0; i < report->rows.count; i++)
        put_row(&json, report, &report->rows.data[i]);
    kiln_json_end(&json);
}

/* A bar in a cell would end it. */
static void put_markdown(const char *text, FILE *out)
{
    fputs("| ", out);
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
    fputc(' ', out);
}

static void write_head(const layout *l, const kiln_report_row *row, FILE *out)
{
    fprintf(out, "\n## %s\n\n%s\n\n", row->group, row->about);
    for (int c = 0; c < COLUMNS; c++)
        if (l->width[c] > 0)
            put_markdown(l->head[c], out);
    fputs("|\n", out);
    for (int c = 0; c < COLUMNS; c++)
        if (l->width[c] > 0)
            fputs(to_the_right[c] ? "|--:" : "|---", out);
    fputs("|\n", out);
}

kiln_status kiln_report_write_page(const kiln_report *report, const char *command, const char *path,
                                   kiln_error *error)
{
    kiln_aside aside;
    KILN_TRY(kiln_aside_open(&aside, report->context, path, error));
    FILE *out = aside.file;
    layout l = lay_out(report);
    char cells[COLUMNS][CELL], text[160];
    kiln_report_sum_up(report, text, sizeof text);
    fprintf(out, "# %s\n\nWritten by `%s`, which makes it again; do not edit.\n\n",
            report->words->title, command);
    kiln_provenance_print(report->context, out);
    fprintf(out, "- result: %s\n\n%s\n", text, report->words->note);
    for (size_t i = 0; i < report->rows.count; i++) {
        fill_cells(report, &report->rows.data[i], cells);
        if (starts_group(&report->rows, i))
            write_head(&l, &report->rows.data[i], out);
        for (int c = 0; c < COLUMNS; c++)
            if (l.width[c] > 0)
                put_markdown(cells[c], out);
        fputs("|\n", out);
    }
    return kiln_aside_commit(&aside, error);
}
