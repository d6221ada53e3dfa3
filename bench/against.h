/* Benches of this program and of another one in one run: both are started again and again in turns,
 * so that what else the machine does meets both alike, and each row is compared by the best of its
 * repeats. */
#ifndef KILN_BENCH_AGAINST_H
#define KILN_BENCH_AGAINST_H

#include "bench/rows.h"
#include "measure/report.h"

enum { KILN_MOST_ROUNDS = 32 };

typedef struct kiln_against {
    const char *other;         /* path of the other program */
    const char *isa, *threads; /* given to both; NULL: what each finds best */
    int rounds; /* of each, at most KILN_MOST_ROUNDS; as many again to confirm a slow row */
} kiln_against;

/* How the figures of a comparison are shown. */
extern const kiln_report_words kiln_against_words;

/* A row of the report for each row that both programs have: its cost here over that there, at most
 * 1 plus the noise where it is a speed, without a verdict otherwise. Rows that only one has are
 * named on stderr. */
kiln_status kiln_against_suite(const kiln_against *against, const char *suite, const char *about,
                               kiln_report *report, kiln_error *error);

/* The repeats of one row. */
typedef struct kiln_repeats {
    double cost[2 * KILN_MOST_ROUNDS];
    int count;
} kiln_repeats;

/* Cost here over cost there, least of each. `noise` is how far the repeats of a program are apart,
 * the larger of both, the worst repeat left out where there are three or more; no less than 2 %. */
double kiln_against_ratio(const kiln_repeats *here, const kiln_repeats *there, double *noise);

#endif
