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

#endif
