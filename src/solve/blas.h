/* The BLAS the direct solvers use: OpenBLAS, whose state belongs to the process.
 *
 * Version 0.3.21 takes processors it does not know for a "Prescott" of 2004 and runs kernels at a
 * quarter of the speed. Unless OPENBLAS_CORETYPE is set by the user, kiln_blas_prepare has it
 * choose again, before the first BLAS call of the process (ours: what others call is theirs). */
#ifndef KILN_SOLVE_BLAS_H
#define KILN_SOLVE_BLAS_H

#include "base/error.h"

#include <stdbool.h>

typedef struct kiln_blas_state {
    char found[32];   /* kernel it had chosen by itself */
    char kernel[32];  /* kernel in use */
    const char *note; /* what was done about it */
} kiln_blas_state;

/* Once per process, from any thread; later calls return the same. */
const kiln_blas_state *kiln_blas_prepare(void);

/* Prepares, and has OpenBLAS take its work buffer, which it keeps: at a call that cannot have one
 * it asks for it for ever. KILN_ERR_MEMORY: there is no room for it. */
kiln_status kiln_blas_reserve(kiln_error *error);

/* Threads of the BLAS calls to come (of the whole process). */
void kiln_blas_set_threads(int threads);

/* CHOLMOD's own loops ask for four OpenMP threads, which wait by spinning against ours. These keep
 * them on the calling thread; `end` gets what `begin` returned. */
int kiln_openmp_begin_serial(void);
void kiln_openmp_end_serial(int before);

#endif
