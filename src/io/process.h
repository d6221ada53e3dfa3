/* Running another program in a folder of its own. No shell: arguments go through as they are. */
#ifndef KILN_IO_PROCESS_H
#define KILN_IO_PROCESS_H

#include "base/context.h"

enum { KILN_SCRATCH_PATH = 512 };

/* A private folder below TMPDIR or /tmp, gone with all its files at kiln_scratch_remove. Guarded
 * (base/context.h) while it is there. */
typedef struct kiln_scratch {
    kiln_context *context;        /* borrowed */
    char path[KILN_SCRATCH_PATH]; /* empty: none */
} kiln_scratch;

kiln_status kiln_scratch_make(kiln_scratch *scratch, kiln_context *context, kiln_error *error);
void kiln_scratch_remove(kiln_scratch *scratch);
/* Path of a file in it, in `buffer`, which is returned. */
const char *kiln_scratch_file(const kiln_scratch *scratch, const char *name,
                              char buffer[KILN_SCRATCH_PATH]);

/* Runs arguments[0], found by PATH, with stdout and stderr in the file `log`, and waits. After
 * `seconds` (0: no limit), or when the context stops, it is killed. `package` is the Debian package
 * to name when the program is not there. An error when it cannot be started, is killed or exits
 * with anything but 0. */
kiln_status kiln_process_run(kiln_context *context, const char *const *arguments, const char *log,
                             double seconds, const char *package, kiln_error *error);

/* A program that reads what is written to it from its standard input. Give it a folder (above) for
 * what it makes, so that an interruption waits until it is gone. */
typedef struct kiln_feed {
    kiln_context *context;     /* borrowed */
    const char *program, *log; /* borrowed */
    long pid;
    int channel; /* -1: closed */
} kiln_feed;

/* As kiln_process_run, without waiting. */
kiln_status kiln_feed_start(kiln_feed *feed, kiln_context *context, const char *const *arguments,
                            const char *log, const char *package, kiln_error *error);
/* All of it, or an error: the program ended early (its last words are in the message), or the
 * context stops. */
kiln_status kiln_feed_write(kiln_feed *feed, const void *bytes, size_t size, kiln_error *error);
/* Ends its input and waits for it as kiln_process_run does. The feed is gone afterwards. */
kiln_status kiln_feed_finish(kiln_feed *feed, double seconds, kiln_error *error);
/* Kills it. Does nothing to a feed that was finished or zeroed. */
void kiln_feed_abort(kiln_feed *feed);

#endif
