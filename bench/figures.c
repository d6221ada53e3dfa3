/* The figures of Wicke et al. 2010 against their Table 1, a row each: whole steps on one core. */
#include "bench/bench.h"
#include "measure/figure.h"

#include <math.h>
#include <stdio.h>

typedef struct table_row {
    const char *figure;
    kiln_figure run;
    double seconds; /* of a step, Table 1 */
    double times;   /* how many times faster at least */
    double tets;    /* most, Table 1 */
    double worst;   /* quality, Table 1 */
    bool returns;   /* elastic: coarse again at the end */
    bool shares;    /* counts for remeshing against solving */
} table_row;

#define BAR(case)                                                                                  \
    {                                                                                              \
        .scene = "bars", .sets = { "case=" case }                                                  \
    }
#define MASTICATOR(case)                                                                           \
    {                                                                                              \
        .scene = "masticator", .sets = { "case=" case }                                            \
    }
static const table_row rows[] = {
    {"bar 6b, elastic", BAR("elastic"), 0.31, 20, 3543, 0.15, true, false},
    {"bar 6c, low plasticity", BAR("low"), 3.50, 20, 2924, 0.15, false, false},
    {"bar 6d, medium plasticity", BAR("medium"), 2.65, 20, 2233, 0.15, false, false},
    {"bar 6e, high plasticity", BAR("high"), 2.46, 20, 2021, 0.15, false, false},
    {"bar 6g, two materials", BAR("two"), 0.93, 20, 2810, 0.144, false, false},
    {"masticator 2a, elastic", MASTICATOR("elastic"), 7.77, 20, 38211, 0.15, true, true},
    {"masticator 2c, plastic", MASTICATOR("plastic"), 59.21, 50, 27235, 0.15, false, true},
    {"drip 1", {.scene = "drip"}, 1.41, 20, 4143, 0.15, false, true},
    {"Enright 5", {.scene = "enright"}, 103.88, 50, 4733, 0.06, true, false},
};

static void report(kiln_bench *bench, const table_row *row, const kiln_figure_report *r)
{
    char name[96], remark[160];
    snprintf(
        remark, sizeof remark,
        "%.4g s a step; %zu steps; solves %.2g, plastic %.2g, size %.2g, remesh %.2g, transfer "
        "%.2g",
        r->step, r->steps, r->solve, r->plastic, r->size, r->remesh, r->transfer);
    snprintf(name, sizeof name, "%s: times faster than Table 1", row->figure);
    kiln_bench_report(bench, name, row->seconds / r->step, "x", row->times, 1, remark);
    snprintf(name, sizeof name, "%s: most tets", row->figure);
    snprintf(remark, sizeof remark, "%g at the begin, %g at the end", r->tets_begin, r->tets_end);
    kiln_bench_report(bench, name, r->tets_most, "tets", 1.2 * row->tets, 0, remark);
    snprintf(name, sizeof name, "%s: worst quality", row->figure);
    kiln_bench_report(bench, name, r->worst, "q", row->worst, 1, "");
    if (row->returns) {
        snprintf(name, sizeof name, "%s: tets at the end of those at the begin", row->figure);
        kiln_bench_report(bench, name, r->tets_end / r->tets_begin, "of begin", 2, 0, "");
    }
}

void kiln_bench_figures(kiln_bench *bench)
{
    double remeshing = 0.0, solving = 0.0;
    kiln_bench_calibrate(bench);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kiln_figure_report r;
        kiln_error error = {0};
        if (kiln_figure_run(kiln_bench_context(bench), &rows[i].run, &r, NULL, &error) != KILN_OK) {
            kiln_bench_report_failure(bench, rows[i].figure, error.message);
            continue;
        }
        report(bench, &rows[i], &r);
        if (rows[i].shares) {
            remeshing += (r.size + r.remesh + r.transfer) / r.step;
            solving += (r.solve + r.plastic) / r.step;
        }
    }
    kiln_bench_report(bench, "drip and masticator: sizes, remeshing and transfer over solves",
                      remeshing / solving, "of solves", 1, 0,
                      "mean shares of the steps; solves with relaxation");
}
