#include "app/plot_table.h"

#include "base/array.h"
#include "io/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 4096, CELL_SIZE = 64 };

/* Beyond it differences and powers of numbers are none, below its inverse they are nothing. */
static const double LARGEST = 1e305;

static kiln_text trim(kiln_text text)
{
    while (text.size && (unsigned char)text.data[0] <= ' ') {
        text.data++;
        text.size--;
    }
    while (text.size && (unsigned char)text.data[text.size - 1] <= ' ')
        text.size--;
    return text;
}

/* Cells of a line; the number of them, at most MOST_COLUMNS + 1. */
static size_t cut(kiln_text line, kiln_text *cells)
{
    size_t count = 0;
    const char *at = line.data, *end = line.data + line.size;
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        if (count < MOST_COLUMNS)
            cells[count] = trim((kiln_text){at, (size_t)(stop - at)});
        count++;
        if (!comma || count > MOST_COLUMNS)
            return count;
        at = comma + 1;
    }
}

static kiln_status read_header(kiln_source *source, kiln_plot_table *out, kiln_error *error)
{
    kiln_text line, cells[MOST_COLUMNS];
    const char *start = source->at;
    if (!kiln_source_line(source, &line))
        return kiln_source_fail(source, error, "is empty: expected a line of column names");
    out->columns = cut(line, cells);
    if (out->columns > MOST_COLUMNS)
        return kiln_source_fail_at(source, start, error, "more than %d columns", (int)MOST_COLUMNS);
    out->names = kiln_arena_alloc(&out->arena, out->columns * sizeof *out->names);
    out->values = kiln_arena_alloc(&out->arena, out->columns * sizeof *out->values);
    if (!out->names || !out->values)
        return kiln_fail_memory(error, out->columns * sizeof *out->values);
    for (size_t i = 0; i < out->columns; i++) {
        if (cells[i].size == 0)
            return kiln_source_fail_at(source, start, error, "column %zu has no name", i + 1);
        char first = cells[i].data[0];
        if ((first >= '0' && first <= '9') || first == '-' || first == '.')
            return kiln_source_fail_at(
                source, start, error, "expected column names, got the number '%.*s'",
                (int)(cells[i].size < 20 ? cells[i].size : 20), cells[i].data);
        char *name = kiln_arena_alloc(&out->arena, cells[i].size + 1);
        if (!name)
            return kiln_fail_memory(error, cells[i].size + 1);
        memcpy(name, cells[i].data, cells[i].size);
        name[cells[i].size] = 0;
        out->names[i] = name;
    }
    return KILN_OK;
}

static kiln_status read_cell(const kiln_source *source, kiln_text cell, const char *name,
                             double *value, kiln_error *error)
{
    *value = NAN;
    if (cell.size == 0)
        return KILN_OK;
    char text[CELL_SIZE], *end;
    snprintf(text, sizeof text, "%.*s", (int)(cell.size < CELL_SIZE ? cell.size : CELL_SIZE - 1),
             cell.data);
    *value = strtod(text, &end);
    if (end == text || *end)
        return kiln_source_fail_at(source, cell.data, error, "%s: expected a number, got '%s'",
                                   name, text);
    if (!isfinite(*value))
        return kiln_source_fail_at(source, cell.data, error, "%s: '%s' is not finite", name, text);
    if (fabs(*value) > LARGEST)
        return kiln_source_fail_at(source, cell.data, error,
                                   "%s: '%s' is too large to be drawn, %g is not", name, text,
                                   LARGEST);
    if (fabs(*value) < 1.0 / LARGEST)
        *value = 0.0;
    return KILN_OK;
}

static kiln_status read_row(kiln_source *source, const kiln_plot_table *table, kiln_text line,
                            kiln_f64_array *cells, kiln_error *error)
{
    kiln_text text[MOST_COLUMNS];
    size_t count = cut(line, text);
    if (count != table->columns)
        return kiln_source_fail_at(source, line.data, error, "has %zu cells, the header %zu", count,
                                   table->columns);
    KILN_TRY(kiln_array_reserve(source->context, cells, cells->count + count, error));
    for (size_t i = 0; i < count; i++)
        KILN_TRY(
            read_cell(source, text[i], table->names[i], &cells->data[cells->count + i], error));
    cells->count += count;
    return KILN_OK;
}

static kiln_status read_rows(kiln_source *source, kiln_plot_table *out, kiln_f64_array *cells,
                             kiln_error *error)
{
    kiln_text line;
    while (kiln_source_line(source, &line)) {
        bool being_written = source->at == source->end && source->end[-1] != '\n';
        if (trim(line).size == 0)
            continue;
        kiln_status status = read_row(source, out, line, cells, error);
        if (status == KILN_ERR_INPUT && being_written)
            break;
        KILN_TRY(status);
    }
    out->rows = cells->count / out->columns;
    if (out->rows == 0)
        return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1, "has no steps yet");
    for (size_t c = 0; c < out->columns; c++) {
        double *column = kiln_arena_array(&out->arena, double, out->rows);
        if (!column)
            return kiln_fail_memory(error, out->rows * sizeof *column);
        for (size_t r = 0; r < out->rows; r++)
            column[r] = cells->data[r * out->columns + c];
        out->values[c] = column;
    }
    return KILN_OK;
}

kiln_status kiln_plot_table_read(kiln_context *context, const char *path, kiln_plot_table *out,
                                 kiln_error *error)
{
    *out = (kiln_plot_table){0};
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, context, path, error));
    kiln_arena_init(&out->arena, context);
    kiln_f64_array cells = {0};
    kiln_status status = read_header(&source, out, error);
    if (status == KILN_OK)
        status = read_rows(&source, out, &cells, error);
    kiln_array_free(context, &cells);
    kiln_source_close(&source);
    if (status != KILN_OK)
        kiln_arena_destroy(&out->arena);
    return status;
}

static kiln_status join_column(kiln_plot_table *table, const kiln_plot_table *other, size_t column,
                               const double *key, const double *other_key, kiln_error *error)
{
    size_t size = strlen(other->names[column]) + 1, from = 0;
    char *name = kiln_arena_alloc(&table->arena, size);
    double *values = kiln_arena_array(&table->arena, double, table->rows);
    if (!name || !values)
        return kiln_fail_memory(error, table->rows * sizeof *values);
    memcpy(name, other->names[column], size);
    for (size_t r = 0; r < table->rows; r++) {
        while (from < other->rows && other_key[from] < key[r])
            from++;
        bool both = from < other->rows && other_key[from] == key[r];
        values[r] = both ? other->values[column][from] : NAN;
    }
    table->names[table->columns] = name;
    table->values[table->columns++] = values;
    return KILN_OK;
}

kiln_status kiln_plot_table_join(kiln_plot_table *table, const kiln_plot_table *other,
                                 const char *key, kiln_error *error)
{
    const double *here = kiln_plot_table_find(table, key),
                 *there = kiln_plot_table_find(other, key);
    size_t room = table->columns + other->columns;
    const char **names = kiln_arena_alloc(&table->arena, room * sizeof *names);
    const double **values = kiln_arena_alloc(&table->arena, room * sizeof *values);
    if (!names || !values)
        return kiln_fail_memory(error, room * sizeof *values);
    memcpy(names, table->names, table->columns * sizeof *names);
    memcpy(values, table->values, table->columns * sizeof *values);
    table->names = names;
    table->values = values;
    for (size_t c = 0; here && there && c < other->columns; c++)
        if (!kiln_plot_table_find(table, other->names[c]))
            KILN_TRY(join_column(table, other, c, here, there, error));
    return KILN_OK;
}

void kiln_plot_table_free(kiln_plot_table *table)
{
    kiln_arena_destroy(&table->arena);
}

const double *kiln_plot_table_find(const kiln_plot_table *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->names[i], name) == 0)
            return table->values[i];
    return NULL;
}
