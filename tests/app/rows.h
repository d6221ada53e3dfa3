/* What a run of liquid that breaks says in stats.csv, row by row. */
#ifndef KILN_TESTS_ROWS_H
#define KILN_TESTS_ROWS_H

#include "stats.h"

typedef struct row {
    double quality, volume, rest_volume, p[3], l[3], energy, breaks, holes, gone, joined, tears,
        torn_area, newton;
} row;

enum { MOST = 200 };

static int column_of(const char *text, const char *name)
{
    size_t length = strlen(name);
    int column = 0;
    for (const char *at = text; *at && *at != '\n'; at++) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\n') &&
            (at == text || at[-1] == ','))
            return column;
        column += *at == ',';
    }
    ck_abort_msg("no column %s", name);
    return -1;
}

static double value_at(const char *line, int column)
{
    for (; column > 0; column--)
        line = strchr(line, ',') + 1;
    return strtod(line, NULL);
}

/* Row by row from the second line on; how many there are. */
static int read_rows(const char *run, row *rows)
{
    static char text[STATS_TEXT];
    int count = 0;
    read_stats(run, text);
    int quality = column_of(text, "q_min"), breaks = column_of(text, "breaks");
    int gone = column_of(text, "gone_volume"), holes = column_of(text, "holes"),
        kinetic = column_of(text, "e_kinetic");
    int tears = column_of(text, "tears");
    int p = column_of(text, "px"), l = column_of(text, "lx"), volume = column_of(text, "volume");
    for (char *at = strchr(text, '\n') + 1; *at && count < MOST; at = strchr(at, '\n') + 1) {
        row *r = &rows[count++];
        *r = (row){.quality = value_at(at, quality),
                   .volume = value_at(at, volume),
                   .rest_volume = value_at(at, volume + 1)};
        for (int k = 0; k < 3; k++) {
            r->p[k] = value_at(at, p + k);
            r->l[k] = value_at(at, l + k);
            r->energy += value_at(at, kinetic + k);
        }
        r->breaks = value_at(at, breaks);
        r->holes = value_at(at, holes);
        r->gone = value_at(at, gone);
        r->tears = value_at(at, tears);
        r->joined = value_at(at, tears - 2);
        r->torn_area = value_at(at, tears + 1);
        r->newton = value_at(at, kinetic + 3);
    }
    return count;
}

#endif
