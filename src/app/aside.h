/* A text file that appears whole or not at all: printed into memory, then written through a sink
 * (io/sink.h). */
#ifndef KILN_APP_ASIDE_H
#define KILN_APP_ASIDE_H

#include "base/context.h"

#include <stdio.h>

typedef struct kiln_aside {
    kiln_context *context; /* borrowed */
    const char *path;      /* borrowed */
    FILE *file;
    char *text; /* what was printed, [size], up to date after a flush */
    size_t size;
} kiln_aside;

kiln_status kiln_aside_open(kiln_aside *aside, kiln_context *context, const char *path,
                            kiln_error *error);
/* Writes the file; the aside is gone afterwards, whatever happened. */
kiln_status kiln_aside_commit(kiln_aside *aside, kiln_error *error);
/* Writes nothing. */
void kiln_aside_discard(kiln_aside *aside);

#endif
