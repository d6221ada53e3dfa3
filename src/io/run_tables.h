/* The tables of a run's folder, stats.csv and probes.csv: they grow by whole rows, one a step, the
 * first of which names the columns. Used by run_folder.c. */
#ifndef KILN_IO_RUN_TABLES_H
#define KILN_IO_RUN_TABLES_H

#include "sim/world.h"

#include <limits.h>
#include <sys/types.h>

typedef struct kiln_run_table {
    char path[PATH_MAX];
    int file;   /* -1: closed */
    off_t size; /* of whole rows */
} kiln_run_table;

typedef struct kiln_run_tables {
    kiln_context *context; /* borrowed */
    kiln_run_table stats, probes;
    bool probes_named;     /* the columns of probes.csv are those of the world */
    kiln_f64_array values; /* of a row of probes.csv */
    KILN_ARRAY_OF(char)
    row; /* being written */
} kiln_run_tables;

void kiln_run_tables_init(kiln_run_tables *tables, kiln_context *context);
void kiln_run_tables_close(kiln_run_tables *tables);
/* Empty ones. */
kiln_status kiln_run_tables_create(kiln_run_tables *tables, const char *folder, kiln_error *error);
/* Cut after the rows of the steps before `step`. stats.csv must have them all; probes.csv may begin
 * late, after a run of a version that did not write it. */
kiln_status kiln_run_tables_resume(kiln_run_tables *tables, const char *folder, uint64_t step,
                                   kiln_error *error);
kiln_status kiln_run_tables_stats(kiln_run_tables *tables, const kiln_stats *stats,
                                  kiln_error *error);
/* Rows with other columns than those of the file before a resume begin a new file; the rows so far
 * are put by as probes-1.csv. */
kiln_status kiln_run_tables_probes(kiln_run_tables *tables, kiln_world *world,
                                   const kiln_stats *stats, kiln_error *error);
kiln_status kiln_run_tables_sync(const kiln_run_tables *tables, kiln_error *error); /* to disk */

#endif
