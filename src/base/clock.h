/* Time spent, for reports and time limits; no computed number may depend on it. */
#ifndef KILN_BASE_CLOCK_H
#define KILN_BASE_CLOCK_H

#include "base/platform.h"

#include <sys/resource.h>
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

/* Processor time of the programs that the process has run and that have ended. */
KILN_INLINE double kiln_children_seconds(void)
{
    struct rusage r;
    getrusage(RUSAGE_CHILDREN, &r);
    return (double)r.ru_utime.tv_sec + (double)r.ru_stime.tv_sec +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

#endif
