/* Time spent, for reports and time limits; no computed number may depend on it. */
#ifndef KILN_BASE_CLOCK_H
#define KILN_BASE_CLOCK_H

#include "base/platform.h"

#include <time.h>

/* Of a clock that runs steadily from some moment on; only differences have a meaning. */
KILN_INLINE double kiln_wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of all threads of the process. */
KILN_INLINE double kiln_processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
