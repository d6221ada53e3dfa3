#include "bench/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cursor over the text; `at` is NULL after anything unexpected. */
typedef struct reader {
    const char *at;
} reader;

static bool take(reader *r, char wanted)
{
    if (!r->at)
        return false;
    r->at += strspn(r->at, " \t\r\n");
    if (*r->at != wanted)
        return false;
    r->at++;
    return true;
}

static void demand(reader *r, char wanted)
{
    if (!take(r, wanted))
        r->at = NULL;
}

/* Escapes other than \" and \\ do not occur in what is compared; their letters are kept. */
static void read_string(reader *r, char *out, size_t size)
{
    size_t used = 0;
    demand(r, '"');
    while (r->at && *r->at != '"') {
        if (*r->at == '\\')
            r->at++;
        if (!*r->at) {
            r->at = NULL;
            break;
        }
        if (used + 1 < size)
            out[used++] = *r->at;
        r->at++;
    }
    out[used] = 0;
    demand(r, '"');
}

/* A number, true, false or null; what is no number is NaN, true is 1 and false 0. */
static double read_plain(reader *r)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"true", 1.0}, {"false", 0.0}, {"null", NAN}};
    for (size_t i = 0; r->at && i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(r->at, words[i].word, length) == 0) {
            r->at += length;
            return words[i].value;
        }
    }
    char *end = NULL;
    double value = r->at ? strtod(r->at, &end) : NAN;
    r->at = end != r->at ? end : NULL;
    return value;
}

static void read_member(reader *r, kiln_bench_row *row)
{
    char key[32], text[512];
    read_string(r, key, sizeof key);
    demand(r, ':');
    if (r->at)
        r->at += strspn(r->at, " \t\r\n");
    if (r->at && *r->at == '"') {
        read_string(r, text, sizeof text);
        if (strcmp(key, "suite") == 0)
            snprintf(row->suite, sizeof row->suite, "%.31s", text);
        else if (strcmp(key, "name") == 0)
            snprintf(row->name, sizeof row->name, "%.127s", text);
        else if (strcmp(key, "unit") == 0)
            snprintf(row->unit, sizeof row->unit, "%.31s", text);
        return;
    }
    double value = read_plain(r);
    if (strcmp(key, "value") == 0)
        row->value = value;
    else if (strcmp(key, "higher_is_better") == 0)
        row->higher_is_better = value == 1.0;
}

static void read_object(reader *r, kiln_bench_row *row)
{
    demand(r, '{');
    if (take(r, '}'))
        return;
    do
        read_member(r, row);
    while (take(r, ','));
    demand(r, '}');
}

kiln_status kiln_bench_rows_read(kiln_context *context, const char *text, kiln_bench_rows *rows,
                                 kiln_error *error)
{
    reader r = {strchr(text, '[')};
    demand(&r, '[');
    bool over = take(&r, ']');
    while (r.at && !over) {
        kiln_bench_row row = {.value = NAN};
        read_object(&r, &row);
        if (r.at)
            KILN_TRY(kiln_array_push(context, rows, row, error));
        over = take(&r, ']');
        if (!over)
            demand(&r, ',');
    }
    return r.at ? KILN_OK
                : kiln_fail(error, KILN_ERR_INPUT, "bench", 0, -1, "no whole list of figures");
}

bool kiln_bench_row_is_speed(const kiln_bench_row *row)
{
    static const char *const times[] = {"ns", "us", "ms", "s"};
    size_t length = strlen(row->unit);
    if (strcmp(row->unit, "x") == 0)
        return true;
    if (length >= 2 && strcmp(row->unit + length - 2, "/s") == 0)
        return true;
    size_t first = strcspn(row->unit, "/ ");
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (strlen(times[i]) == first && strncmp(row->unit, times[i], first) == 0)
            return true;
    return false;
}

double kiln_bench_row_cost(const kiln_bench_row *row)
{
    return row->higher_is_better ? 1.0 / row->value : row->value;
}
