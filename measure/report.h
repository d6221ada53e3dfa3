/* The figures of a run of benches or of validation, with a verdict where there is something to
 * judge by: as a table on the terminal, as JSON, as a Markdown page, each with the instruction set
 * and the number of threads that made them. A figure without a verdict is
 * neither passed nor failed, and is counted apart. */
#ifndef KILN_MEASURE_REPORT_H
#define KILN_MEASURE_REPORT_H

#include "app/arguments.h"
#include "base/array.h"
#include "measure/bound.h"

typedef enum kiln_row_verdict { KILN_ROW_OPEN, KILN_ROW_OK, KILN_ROW_RED } kiln_row_verdict;

/* What was found about the figure besides its value, e.g. that its error is small enough. */
typedef enum kiln_row_check { KILN_CHECK_NONE, KILN_CHECK_HELD, KILN_CHECK_BROKEN } kiln_row_check;

typedef struct kiln_report_row {
    const char *group; /* suite or case; borrowed */
    const char *about; /* what the group looks at; borrowed */
    char name[128], unit[32], remark[160];
    double value;
    kiln_bound bound;
    kiln_row_check check;
    bool higher_is_better;
    double baseline, ratio; /* ns an item of the reference loop; items of it per item. 0: unknown */
} kiln_report_row;
typedef KILN_ARRAY_OF(kiln_report_row)
kiln_report_rows;

/* How a kind of report speaks. The words for group, name, value and remark head the columns and are
 * the keys of the JSON objects. */
typedef struct kiln_report_words {
    const char *command; /* "validate" */
    const char *title;   /* of the page */
    const char *note;    /* paragraph below the head of the page */
    const char *group, *name, *value, *remark;
    const char *red;    /* verdict of a row: "FAILED" */
    const char *missed; /* of several: "out of tolerance" */
    bool timed;         /* rows have units, ratios and remarks */
} kiln_report_words;

typedef struct kiln_report {
    kiln_context *context;
    const kiln_report_words *words;
    kiln_report_rows rows;
    kiln_error error; /* first failure to store a row */
    FILE *progress;   /* NULL: none */
} kiln_report;

typedef struct kiln_report_counts {
    size_t rows, ok, red, open;
} kiln_report_counts;

void kiln_report_begin(kiln_report *report, kiln_context *context, const kiln_report_words *words);
void kiln_report_end(kiln_report *report);

/* Copies the row and shows its name where a person waits. */
void kiln_report_add(kiln_report *report, const kiln_report_row *row);

kiln_row_verdict kiln_report_judge(const kiln_report_row *row);
kiln_report_counts kiln_report_count(const kiln_report *report);
/* "9 figures: 6 ok, 1 out of tolerance, 2 without a verdict" */
void kiln_report_sum_up(const kiln_report *report, char *text, size_t size);

void kiln_report_print_table(const kiln_report *report, FILE *out);
void kiln_report_print_json(const kiln_report *report, FILE *out);
/* `command` is what makes the page again. */
kiln_status kiln_report_write_page(const kiln_report *report, const char *command, const char *path,
                                   kiln_error *error);

/* What a command does with its figures: table or, with --json, objects to stdout, the page of
 * --write, and an error when a row is red. */
kiln_status kiln_report_publish(const kiln_report *report, const kiln_arguments *arguments,
                                kiln_error *error);

#endif
