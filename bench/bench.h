/* Benchmarks: each suite times kernels and reports figures with the bar they must reach and the
 * accuracy they had. Times are CPU seconds of one thread, the minimum of at least 9 repeats; a
 * fixed reference loop (the scalar orient3d filter) is timed in the same process, so figures can be
 * compared as ratios on noisy machines. */
#ifndef KILN_BENCH_H
#define KILN_BENCH_H

#include "base/context.h"

typedef struct kiln_bench kiln_bench;

kiln_context *kiln_bench_context(kiln_bench *bench);

/* CPU seconds of body(user): minimum over at least 9 calls and at least 0.3 s in all. */
double kiln_bench_time(kiln_bench *bench, void (*body)(void *user), void *user);

/* For a suite with timing of its own: the reference loop is timed now, for the rows that follow. */
void kiln_bench_calibrate(kiln_bench *bench);

/* One row of the table. `bar` is the figure to reach (0: none, and the row has no verdict),
 * `higher_is_better` its sense; a value that is not finite misses any bar, and none. `accuracy` is
 * a short remark, "" for none. */
void kiln_bench_report(kiln_bench *bench, const char *name, double value, const char *unit,
                       double bar, int higher_is_better, const char *accuracy);

/* The same with a measured error, which must not be above `most_error` for the row to pass, bar or
 * none; the text goes before the two numbers. */
void kiln_bench_report_checked(kiln_bench *bench, const char *name, double value, const char *unit,
                               double bar, int higher_is_better, const char *what, double error,
                               double most_error);

/* A row that could not be measured, which never passes. */
void kiln_bench_report_failure(kiln_bench *bench, const char *name, const char *why);

/* The most memory resident, GiB, since it was last reset to what there is now; where the kernel
 * cannot reset it (Linux can: proc(5), clear_refs), that of the whole process, which is no less. */
void kiln_bench_reset_peak(void);
double kiln_bench_peak_gigabytes(void);

/* Keeps the optimiser from dropping a result. */
void kiln_bench_keep(double value);

typedef void (*kiln_bench_suite)(kiln_bench *bench);

#define KILN_BENCH_SUITE(name, what) void kiln_bench_##name(kiln_bench *bench);
#include "bench/suites.h"
#undef KILN_BENCH_SUITE

#endif
