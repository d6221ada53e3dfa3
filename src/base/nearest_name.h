/* The name that somebody who misspelt one probably meant. */
#ifndef KILN_BASE_NEAREST_NAME_H
#define KILN_BASE_NEAREST_NAME_H

#include <stddef.h>

/* The row of `names` (rows of `stride` bytes that begin with a char pointer) closest to `name` by
 * edit distance, or NULL when none is close. */
const char *kiln_nearest_name(const char *name, const void *names, size_t count, size_t stride);

#endif
