/* Whole runs of bodies that touch, beside what the IPC authors' program takes (same mesh, material,
 * dt, thickness and tolerance as metres): seconds of one thread for a step of the scene's own
 * length, however many it was cut into. The scenes are in the shared data. */
#include "bench/bench.h"
#include "measure/figure.h"

#include <math.h>
#include <stdio.h>

static const double GAIN_SECONDS = 12.0; /* of runs, after which no other round begins */

typedef struct window {
    const char *what;
    double from, to; /* s of the scene */
    double seconds;  /* a step, at most */
    double steps;    /* in all, at most; 0: any */
    double newton;   /* a step, at most; 0: any */
} window;

typedef struct touching_run {
    const char *file;
    const char *sets[4];
    window windows[2];
    double gain; /* by two threads, at least; 0: not measured */
} touching_run;

static const touching_run runs[] = {
    {"bar",
     {"T=3"},
     {{"bar twisted, to 2.65 s", 0, 2.65, 0.010, 0, 0},
      {"bar twisted, 2.3 to 3 s", 2.3, 3, 0.04, 70, 0}},
     0},
    {"ball", {"wall=plane"}, {{"ball on a plane", 0, 0.003, 0.15, 0, 0}}, 0},
    {"ball", {"wall=body"}, {{"ball on a held body", 0, 0.003, 0.25, 0, 0}}, 0},
    {"mattwist", {"T=4"}, {{"mat twisted", 0, 4, 0.12, 0, 0}}, 0},
    {"mats",
     {"T=1"},
     {{"mats before they meet", 0, 0.225, 0.4, 0, 0}, {"mats after", 0.225, 1, 1.6, 0, 0}},
     1.6},
    {"pile", {"n=20", "T=0.4"}, {{"pile of 20", 0, 0.4, 0.06, 0, 0}}, 1.6},
    {"pile",
     {"n=20", "T=0.4", "friction=0.2"},
     {{"pile of 20 with friction", 0, 0.4, 0.10, 0, 0}},
     1.6},
    {"pile", {"n=100", "T=0.4"}, {{"pile of 100, 0.25 to 0.4 s", 0.25, 0.4, 1.2, 0, 0}}, 1.6},
    {"gear", {NULL}, {{"gear in a press", 0, 1, 0.15, 0, 10}}, 0},
    {"bullet", {NULL}, {{"ball of 100 m/s on a sheet", 0, 0.1, 0.2, 0, 0}}, 0},
    {"squeeze", {"dt=0.04"}, {{"squeezed at dt 0.04 s", 0, 0.3, 0, 10, 0}}, 0},
};

/* What fell into each window. */
typedef struct tally {
    const touching_run *run;
    double seconds[2], steps[2], newton[2];
    double dt, all; /* s: of the scene, of the whole run */
} tally;

static void add_step(void *user, kiln_world *world, const kiln_stats *stats)
{
    tally *t = user;
    double middle = kiln_world_get_state(world)->clock.time - 0.5 * stats->dt;
    t->dt = kiln_world_scene(world)->pace.dt;
    t->all += stats->t_step;
    for (int w = 0; w < 2; w++) {
        const window *here = &t->run->windows[w];
        if (!here->what || middle < here->from || middle > here->to)
            continue;
        t->seconds[w] += stats->t_step;
        t->steps[w] += 1.0;
        t->newton[w] += stats->newton;
    }
}

static kiln_status run_once(kiln_context *context, const touching_run *run, tally *out,
                            kiln_error *error)
{
    char path[512];
    kiln_figure_report report;
    snprintf(path, sizeof path, "%s/contact/%s.lua", KILN_SHARED_DATA, run->file);
    *out = (tally){.run = run};
    kiln_figure figure = {.scene = run->file, .path = path, .look = add_step, .user = out};
    for (int i = 0; i < 4; i++)
        figure.sets[i] = run->sets[i];
    return kiln_figure_run(context, &figure, &report, NULL, error);
}

static void report_window(kiln_bench *bench, const tally *t, int w)
{
    const window *here = &t->run->windows[w];
    char name[96], remark[96];
    double nominal = round((here->to - here->from) / t->dt);
    snprintf(remark, sizeof remark, "%g steps of %g, %.1f iterations a step", t->steps[w], nominal,
             t->newton[w] / t->steps[w]);
    snprintf(name, sizeof name, "%s: seconds a step", here->what);
    kiln_bench_report(bench, name, t->seconds[w] / nominal, "s", here->seconds, 0, remark);
    if (here->steps > 0.0) {
        snprintf(name, sizeof name, "%s: steps", here->what);
        kiln_bench_report(bench, name, t->steps[w], "", here->steps, 0, "");
    }
    if (here->newton > 0.0) {
        snprintf(name, sizeof name, "%s: iterations a step", here->what);
        kiln_bench_report(bench, name, t->newton[w] / t->steps[w], "", here->newton, 0, "");
    }
}

/* The least of some runs each in turn, since each by itself is off by what else the machine does.
 */
static kiln_status measure_gain(const touching_run *run, double *gain, kiln_error *error)
{
    kiln_context *context[2] = {NULL};
    double least[2] = {INFINITY, INFINITY}, spent = 0.0;
    kiln_status status = KILN_OK;
    for (int i = 0; i < 2 && status == KILN_OK; i++) {
        kiln_context_options options = kiln_context_default_options();
        options.threads = i + 1;
        status = kiln_context_create(&options, &context[i], error);
    }
    for (int round = 0; round < 10 && spent < GAIN_SECONDS && status == KILN_OK; round++)
        for (int i = 0; i < 2 && status == KILN_OK; i++) {
            tally t;
            status = run_once(context[i], run, &t, error);
            least[i] = fmin(least[i], t.all);
            spent += t.all;
        }
    kiln_context_destroy(context[0]);
    kiln_context_destroy(context[1]);
    *gain = least[0] / least[1];
    return status;
}

static void report_gain(kiln_bench *bench, const touching_run *run)
{
    kiln_error error = {0};
    double gain;
    char name[96];
    snprintf(name, sizeof name, "%s: gain by 2 threads", run->windows[0].what);
    if (measure_gain(run, &gain, &error) == KILN_OK)
        kiln_bench_report(bench, name, gain, "x", run->gain, 1, "whole run, the least of each");
    else
        kiln_bench_report_failure(bench, name, error.message);
}

void kiln_bench_touching(kiln_bench *bench)
{
    kiln_bench_calibrate(bench);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        tally t;
        kiln_error error = {0};
        if (run_once(kiln_bench_context(bench), &runs[i], &t, &error) != KILN_OK) {
            kiln_bench_report_failure(bench, runs[i].windows[0].what, error.message);
            continue;
        }
        for (int w = 0; w < 2; w++)
            if (runs[i].windows[w].what)
                report_window(bench, &t, w);
        if (runs[i].gain > 0.0)
            report_gain(bench, &runs[i]);
    }
}
