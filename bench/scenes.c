/* Whole steps of scenes in which remeshing is most of the work, for comparing one program with
 * another (`--against`): short enough for several repeats. `figures` has the whole runs. */
#include "base/clock.h"
#include "bench/bench.h"
#include "measure/figure.h"

#include <stdio.h>

static const struct {
    const char *name, *scene;
    size_t steps;
} scenes[] = {{"drip", "drip", 180}, {"Enright", "enright", 200}};

/* Processor seconds of the steps but the first, whose begin nobody sees. */
typedef struct steps {
    double before, sum;
    size_t count;
} steps;

static void look(void *user, kiln_world *world, const kiln_stats *stats)
{
    steps *s = user;
    double now = kiln_processor_seconds();
    (void)world, (void)stats;
    if (s->before > 0.0) {
        s->sum += now - s->before;
        s->count++;
    }
    s->before = now;
}

static void report(kiln_bench *bench, const char *scene, const steps *s,
                   const kiln_figure_report *r)
{
    char name[96], remark[160];
    double step = 1e3 * s->sum / (double)s->count;
    double share = (r->size + r->remesh + r->transfer) / r->step;
    snprintf(remark, sizeof remark, "%zu steps; %g to %g tets, worst q %.3g; by the clock %.3g ms",
             r->steps, r->tets_begin, r->tets_end, r->worst, 1e3 * r->step);
    snprintf(name, sizeof name, "%s: a step", scene);
    kiln_bench_report(bench, name, step, "ms", 0, 0, remark);
    snprintf(remark, sizeof remark, "by the clock %.3g, %.3g and %.3g ms", 1e3 * r->size,
             1e3 * r->remesh, 1e3 * r->transfer);
    snprintf(name, sizeof name, "%s: sizes, remeshing and transfer of a step", scene);
    kiln_bench_report(bench, name, share * step, "ms", 0, 0, remark);
    snprintf(name, sizeof name, "%s: the rest of a step", scene);
    kiln_bench_report(bench, name, (1.0 - share) * step, "ms", 0, 0, "");
    snprintf(name, sizeof name, "%s: share of sizes, remeshing and transfer", scene);
    kiln_bench_report(bench, name, 100.0 * share, "%", 0, 0, "");
}

void kiln_bench_scenes(kiln_bench *bench)
{
    kiln_bench_calibrate(bench);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        kiln_figure_report r;
        kiln_error error = {0};
        steps s = {0};
        kiln_figure run = {
            .scene = scenes[i].scene, .most_steps = scenes[i].steps, .look = look, .user = &s};
        if (kiln_figure_run(kiln_bench_context(bench), &run, &r, NULL, &error) == KILN_OK)
            report(bench, scenes[i].name, &s, &r);
        else
            kiln_bench_report_failure(bench, scenes[i].name, error.message);
    }
}
