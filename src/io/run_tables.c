#include "io/run_tables.h"

#include "io/decimal.h"
#include "io/sink.h"
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CELL_SIZE = 32 };

static kiln_status fail(const kiln_run_table *t, const char *what, int code, kiln_error *error)
{
    return kiln_fail(error, KILN_ERR_IO, t->path, 0, -1, "%s: %s", what, strerror(code));
}

void kiln_run_tables_init(kiln_run_tables *tables, kiln_context *context)
{
    *tables = (kiln_run_tables){.context = context, .stats.file = -1, .probes.file = -1};
}

void kiln_run_tables_close(kiln_run_tables *tables)
{
    if (tables->stats.file >= 0)
        close(tables->stats.file);
    if (tables->probes.file >= 0)
        close(tables->probes.file);
    kiln_array_free(tables->context, &tables->values);
    kiln_array_free(tables->context, &tables->row);
}

static kiln_status name_table(kiln_run_table *t, const char *folder, const char *name,
                              kiln_error *error)
{
    int length = snprintf(t->path, sizeof t->path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof t->path)
        return kiln_fail(error, KILN_ERR_INPUT, folder, 0, -1, "the path is too long");
    return KILN_OK;
}

static kiln_status open_table(kiln_run_table *t, int flags, kiln_error *error)
{
    return kiln_append_open(t->path, flags, &t->file, error);
}

/* Rows. */

/* Room for that many cells in an empty row. */
static kiln_status begin_row(kiln_run_tables *tables, size_t cells, size_t cell_size,
                             kiln_error *error)
{
    tables->row.count = 0;
    return kiln_array_reserve(tables->context, &tables->row, cells * (cell_size + 1) + 1, error);
}

static void put_name(kiln_run_tables *tables, const char *name)
{
    if (tables->row.count)
        tables->row.data[tables->row.count++] = ',';
    memcpy(tables->row.data + tables->row.count, name, strlen(name));
    tables->row.count += strlen(name);
}

/* Nothing for what is no number: it does not apply. */
static void put_cell(kiln_run_tables *tables, double value)
{
    if (tables->row.count)
        tables->row.data[tables->row.count++] = ',';
    if (isfinite(value))
        tables->row.count += kiln_decimal_print(value, tables->row.data + tables->row.count);
}

/* The row by one write; one that does not fit on the disk is taken back. */
static kiln_status put_row(const kiln_run_tables *tables, kiln_run_table *t, kiln_error *error)
{
    size_t done = 0, size = tables->row.count;
    while (done < size) {
        ssize_t now = write(t->file, tables->row.data + done, size - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0) {
            int code = now < 0 ? errno : ENOSPC;
            if (ftruncate(t->file, t->size) != 0)
                code = errno;
            return fail(t, "cannot write", code, error);
        }
        done += (size_t)now;
    }
    t->size += (off_t)size;
    return KILN_OK;
}

static kiln_status end_row(kiln_run_tables *tables, kiln_run_table *t, kiln_error *error)
{
    tables->row.data[tables->row.count++] = '\n';
    return put_row(tables, t, error);
}

static kiln_status name_stats(kiln_run_tables *tables, kiln_error *error)
{
    const char *name;
    KILN_TRY(begin_row(tables, sizeof(kiln_stats) / sizeof(double), CELL_SIZE, error));
    for (size_t i = 0; (name = kiln_stats_name(i)); i++)
        put_name(tables, name);
    return end_row(tables, &tables->stats, error);
}

kiln_status kiln_run_tables_create(kiln_run_tables *tables, const char *folder, kiln_error *error)
{
    KILN_TRY(name_table(&tables->stats, folder, "stats.csv", error));
    KILN_TRY(name_table(&tables->probes, folder, "probes.csv", error));
    KILN_TRY(open_table(&tables->stats, O_TRUNC, error));
    KILN_TRY(open_table(&tables->probes, O_TRUNC, error));
    return name_stats(tables, error);
}

kiln_status kiln_run_tables_stats(kiln_run_tables *tables, const kiln_stats *stats,
                                  kiln_error *error)
{
    KILN_TRY(begin_row(tables, sizeof *stats / sizeof(double), CELL_SIZE, error));
#define STATS_CELL(name) put_cell(tables, stats->name);
    KILN_STATS_TABLE(STATS_CELL)
#undef STATS_CELL
    return end_row(tables, &tables->stats, error);
}

/* Probes. */

/* The header, in the row. */
static kiln_status name_probes(kiln_run_tables *tables, const kiln_world *world, kiln_error *error)
{
    size_t count = kiln_world_probe_count(world), longest = CELL_SIZE;
    for (size_t i = 0; i < count; i++)
        if (strlen(kiln_world_probe_name(world, i)) > longest)
            longest = strlen(kiln_world_probe_name(world, i));
    KILN_TRY(begin_row(tables, count + 2, longest, error));
    put_name(tables, "step");
    put_name(tables, "time");
    for (size_t i = 0; i < count; i++)
        put_name(tables, kiln_world_probe_name(world, i));
    tables->row.data[tables->row.count++] = '\n';
    return KILN_OK;
}

static kiln_status put_probes_by(kiln_run_tables *tables, kiln_error *error)
{
    kiln_run_table *t = &tables->probes;
    char other[PATH_MAX + 16];
    struct stat info;
    int number = 0, stem = (int)(strlen(t->path) - strlen(".csv"));
    do
        snprintf(other, sizeof other, "%.*s-%d.csv", stem, t->path, ++number);
    while (stat(other, &info) == 0);
    if (rename(t->path, other) != 0)
        return fail(t, "cannot be renamed", errno, error);
    close(t->file);
    t->size = 0;
    return open_table(t, O_TRUNC, error);
}

/* The first row that this process writes: below a header that fits. */
static kiln_status begin_probes(kiln_run_tables *tables, const kiln_world *world, kiln_error *error)
{
    kiln_run_table *t = &tables->probes;
    KILN_TRY(name_probes(tables, world, error));
    if (t->size > 0) {
        kiln_source source;
        KILN_TRY(kiln_source_open(&source, tables->context, t->path, error));
        bool same = (size_t)(source.end - source.begin) >= tables->row.count &&
                    memcmp(source.begin, tables->row.data, tables->row.count) == 0;
        kiln_source_close(&source);
        if (!same)
            KILN_TRY(put_probes_by(tables, error));
    }
    if (t->size == 0)
        KILN_TRY(put_row(tables, t, error));
    tables->probes_named = true;
    return KILN_OK;
}

kiln_status kiln_run_tables_probes(kiln_run_tables *tables, kiln_world *world,
                                   const kiln_stats *stats, kiln_error *error)
{
    size_t count = kiln_world_probe_count(world);
    if (!tables->probes_named)
        KILN_TRY(begin_probes(tables, world, error));
    KILN_TRY(kiln_array_reserve(tables->context, &tables->values, count, error));
    KILN_TRY(kiln_world_probe(world, tables->values.data, error));
    KILN_TRY(begin_row(tables, count + 2, CELL_SIZE, error));
    put_cell(tables, stats->step);
    put_cell(tables, stats->time);
    for (size_t i = 0; i < count; i++)
        put_cell(tables, tables->values.data[i]);
    return end_row(tables, &tables->probes, error);
}

/* Going on. */

/* How many rows there are of the steps before `step`, and the steps of the first and the last, -1
 * without any. */
static kiln_status count_rows(const kiln_run_tables *tables, kiln_run_table *t, uint64_t step,
                              uint64_t *rows, double *begin, double *last, kiln_error *error)
{
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, tables->context, t->path, error));
    const char *at = source.begin;
    *rows = 0;
    *begin = *last = -1.0;
    for (bool first = true; at < source.end; first = false) {
        const char *end = memchr(at, '\n', (size_t)(source.end - at));
        double number = end && !first ? strtod(at, NULL) : -1.0;
        if (!end || number >= (double)step)
            break;
        *rows += !first;
        *begin = *rows == 1 ? number : *begin;
        *last = number;
        at = end + 1;
    }
    t->size = (off_t)(at - source.begin);
    kiln_source_close(&source);
    return KILN_OK;
}

static kiln_status cut(kiln_run_table *t, kiln_error *error)
{
    if (truncate(t->path, t->size) != 0)
        return fail(t, "cannot be cut", errno, error);
    return open_table(t, 0, error);
}

static bool is_missing(const kiln_run_table *t)
{
    struct stat info;
    return stat(t->path, &info) != 0 || info.st_size == 0;
}

static kiln_status resume_stats(kiln_run_tables *tables, uint64_t step, kiln_error *error)
{
    uint64_t rows;
    double begin, last;
    kiln_run_table *t = &tables->stats;
    if (is_missing(t)) { /* the steps before are lost; the run is not */
        KILN_TRY(open_table(t, 0, error));
        return name_stats(tables, error);
    }
    KILN_TRY(count_rows(tables, t, step, &rows, &begin, &last, error));
    if (rows > 0 && (last != (double)step - 1.0 || (double)rows != last - begin + 1.0))
        return kiln_fail(error, KILN_ERR_INPUT, t->path, 0, -1,
                         "has %llu rows, of steps %g to %g, the checkpoint comes after step %llu; "
                         "it was changed since (without it the run goes on, and writes it from "
                         "here)",
                         (unsigned long long)rows, begin, last, (unsigned long long)step - 1);
    KILN_TRY(cut(t, error));
    return t->size == 0 ? name_stats(tables, error) : KILN_OK;
}

static kiln_status resume_probes(kiln_run_tables *tables, uint64_t step, kiln_error *error)
{
    uint64_t rows;
    double begin, last;
    kiln_run_table *t = &tables->probes;
    if (is_missing(t))
        return open_table(t, 0, error);
    KILN_TRY(count_rows(tables, t, step, &rows, &begin, &last, error));
    if (rows > 0 && last != (double)step - 1.0)
        return kiln_fail(error, KILN_ERR_INPUT, t->path, 0, -1,
                         "ends with step %g, the checkpoint comes after step %llu; it was changed "
                         "since (without it the run goes on, and writes it from here)",
                         last, (unsigned long long)step - 1);
    return cut(t, error);
}

kiln_status kiln_run_tables_resume(kiln_run_tables *tables, const char *folder, uint64_t step,
                                   kiln_error *error)
{
    KILN_TRY(name_table(&tables->stats, folder, "stats.csv", error));
    KILN_TRY(name_table(&tables->probes, folder, "probes.csv", error));
    KILN_TRY(resume_stats(tables, step, error));
    return resume_probes(tables, step, error);
}

kiln_status kiln_run_tables_sync(const kiln_run_tables *tables, kiln_error *error)
{
    const kiln_run_table *both[] = {&tables->stats, &tables->probes};
    for (int i = 0; i < 2; i++)
        if (fsync(both[i]->file) != 0)
            return fail(both[i], "cannot write", errno, error);
    return KILN_OK;
}
