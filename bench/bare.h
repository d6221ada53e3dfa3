/* CHOLMOD called as its manual has it (scalar lower triangle, METIS, supernodal), for benches to
 * compare with. Builds with another direct solver have none. */
#ifndef KILN_BENCH_BARE_H
#define KILN_BENCH_BARE_H

#include "solve/bsr.h"

#include <stdbool.h>

typedef struct kiln_bare_call kiln_bare_call;

/* Copies the matrix and the right side, and analyses. NULL when out of memory. */
kiln_bare_call *kiln_bare_start(const kiln_bsr *matrix, const double *b, double *analyse_seconds);
/* CPU seconds of one factorisation and one solve on one thread; NaN when either fails. */
double kiln_bare_run(kiln_bare_call *bare);
void kiln_bare_stop(kiln_bare_call *bare); /* NULL allowed */

/* order[place] by METIS, and the CPU seconds it took. */
bool kiln_bare_metis(const kiln_bsr *matrix, uint32_t *order, double *seconds);

#endif
