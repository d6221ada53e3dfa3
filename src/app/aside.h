/* A file written beside its place and renamed over it when complete, so that a failure leaves
 * neither half a file nor a damaged old one. */
#ifndef KILN_APP_ASIDE_H
#define KILN_APP_ASIDE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct kiln_aside {
    FILE *file;
    const char *path; /* borrowed */
    char temporary[4096];
} kiln_aside;

kiln_status kiln_aside_open(kiln_aside *aside, const char *path, kiln_error *error);
/* Flushes to the disk and renames. On failure everything is discarded. */
kiln_status kiln_aside_commit(kiln_aside *aside, kiln_error *error);
void kiln_aside_discard(kiln_aside *aside);

#endif
