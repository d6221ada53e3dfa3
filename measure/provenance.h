/* Where figures come from: lines for the head of a generated page. */
#ifndef KILN_MEASURE_PROVENANCE_H
#define KILN_MEASURE_PROVENANCE_H

#include "base/context.h"

#include <stdio.h>

enum { KILN_MACHINE_TEXT = 256 };
/* "AMD EPYC, avx2 instructions, 2 threads": figures are the same bits for any number of threads,
 * but differ in their last bits, and after many steps in more, between instruction sets. */
void kiln_provenance_machine(const kiln_context *context, char *text, size_t size);

/* Markdown list items: machine, compiler, version and commit. The commit is that of the source tree
 * in the current folder, where such pages are usually written from. */
void kiln_provenance_print(const kiln_context *context, FILE *out);

#endif
