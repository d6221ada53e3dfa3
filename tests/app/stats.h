/* What a run has written into its stats.csv, for the tests that look at it from outside. */
#ifndef KILN_TESTS_STATS_H
#define KILN_TESTS_STATS_H

#include "program.h"

enum { STATS_TEXT = 1 << 18 };

static inline void read_stats(const char *run, char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/stats.csv", run);
    read_file(path, text, STATS_TEXT);
}

/* The column of that number in the row of that number, from 0. */
static inline double figure(const char *run, int row, int column)
{
    char text[STATS_TEXT], *at = text;
    read_stats(run, text);
    for (int i = 0; i <= row; i++)
        at = strchr(at, '\n') + 1;
    for (int i = 0; i < column; i++)
        at = strchr(at, ',') + 1;
    return strtod(at, NULL);
}

static inline int rows_of(const char *run)
{
    char text[STATS_TEXT];
    int rows = -1; /* the head */
    read_stats(run, text);
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        rows++;
    return rows;
}

/* The last rows of the runs a and b, but for times: all that has come before is in them. */
static inline void expect_same_ends(const char *columns)
{
    char command[200];
    snprintf(command, sizeof command,
             "for r in a b; do cut -d, -f%s $r/stats.csv | tail -1 >$r.row; done; cmp a.row b.row",
             columns);
    ck_assert_int_eq(run_shell(command), 0);
}
#define STATE_COLUMNS "1-19"

#endif
