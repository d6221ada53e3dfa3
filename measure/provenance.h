/* Where figures come from: lines for the head of a generated page. */
#ifndef KILN_MEASURE_PROVENANCE_H
#define KILN_MEASURE_PROVENANCE_H

#include "base/context.h"

#include <stdio.h>

/* Markdown list items: machine, compiler, version and commit. The commit is that of the source tree
 * in the current folder, where such pages are usually written from. */
void kiln_provenance_print(const kiln_context *context, FILE *out);

#endif
