/* Viscoplastic flow of 200,000 tets with whole-domain remeshing (VPF), two threads: two lumps of
 * dough run into each other on the floor of a box, and one remesh of both makes them one. */
#include "base/clock.h"
#include "bench/bench.h"
#include "measure/figure.h"

#include <math.h>
#include <stdio.h>

/* In runs of scenes/merge.lua a remesh comes every 12 steps or so; here one in 6. */
static const char scene[] =
    "local dough = material {\n"
    "    young = 3e4, poisson = 0.4, density = 1000, damping_stiffness = 0.002,\n"
    "    plastic = plastic { yield = 250, rate = 40 },\n"
    "}\n"
    "local function lump(name, x, speed, h)\n"
    "    return body {\n"
    "        name = name, shape = shape.ball { radius = 0.1, h = h }, material = dough,\n"
    "        at = { x, 0, 0.1005 }, velocity = { speed, 0, -0.5 },\n"
    "    }\n"
    "end\n"
    "return scene {\n"
    "    duration = 0.024,\n"
    "    gravity = { 0, 0, -9.81 },\n"
    "    step = {\n"
    "        dt = 0.004, friction_speed = 0.01, newton = { tolerance = 1e-5 },\n"
    "        solver = { backend = 'pcg-jacobi', tolerance = 1e-3 },\n"
    "    },\n"
    "    remesh = remesh { method = 'global' },\n"
    "    bodies = { lump('left', -0.105, 0.5, 0.006), lump('right', 0.105, -0.5, 0.0062) },\n"
    "    obstacles = { obstacle.box {\n"
    "        name = 'box', inside_out = true, friction = 0.5,\n"
    "        from = { -0.5, -0.5, 0 }, to = { 0.5, 0.5, 9 },\n"
    "    } },\n"
    "}\n";

/* Processor time of both threads, reading the scene in the first step's: the clock of two quiet
 * cores shows no more, and a busy machine does not change it. */
typedef struct times {
    double before, plain, remesh; /* sums over steps without a whole-domain remesh, with one */
    int plain_steps, remesh_steps;
    uint64_t remeshes;
} times;

static void look(void *user, kiln_world *world, const kiln_stats *stats)
{
    times *t = user;
    (void)stats;
    uint64_t remeshes = kiln_world_remeshes(world);
    double now = kiln_processor_seconds(), seconds = now - t->before;
    t->before = now;
    if (remeshes > t->remeshes) {
        t->remesh += seconds;
        t->remesh_steps++;
    } else {
        t->plain += seconds;
        t->plain_steps++;
    }
    t->remeshes = remeshes;
}

static void report(kiln_bench *bench, const times *t, const kiln_figure_report *r)
{
    bool fair = t->remesh_steps > 0 && t->plain_steps > 0 && r->tets_begin >= 200000;
    char remark[160];
    double plain = t->plain / t->plain_steps;
    snprintf(remark, sizeof remark,
             "%g to %g tets; %d plain steps of %.3g s, %d with a remesh of %.3g s; by the clock "
             "%.3g s a step",
             r->tets_begin, r->tets_end, t->plain_steps, plain, t->remesh_steps,
             t->remesh / t->remesh_steps - plain, r->step);
    kiln_bench_report(bench, "viscoplastic, 200k tets: processor seconds a step, 2 threads",
                      fair ? (t->plain + t->remesh) / (double)r->steps : NAN, "s", 8, 0, remark);
    kiln_bench_report(bench, "viscoplastic, 200k tets: peak memory",
                      fair ? kiln_bench_peak_gigabytes() : NAN, "GiB", 2, 0,
                      "of the process, from before its scene is read");
    kiln_bench_report(bench, "viscoplastic, 200k tets: worst quality", r->worst, "q", 0.15, 1, "");
}

void kiln_bench_flow(kiln_bench *bench)
{
    kiln_context_options options = kiln_context_default_options();
    kiln_context *context = NULL;
    kiln_error error = {0};
    kiln_figure_report r;
    times t = {0};
    kiln_figure run = {.scene = "flow", .text = scene, .look = look, .user = &t};
    options.threads = 2;
    kiln_bench_calibrate(bench);
    kiln_bench_reset_peak();
    kiln_status status = kiln_context_create(&options, &context, &error);
    t.before = kiln_processor_seconds();
    if (status == KILN_OK)
        status = kiln_figure_run(context, &run, &r, NULL, &error);
    if (status == KILN_OK)
        report(bench, &t, &r);
    else
        kiln_bench_report_failure(bench, "viscoplastic, 200k tets", error.message);
    if (context)
        kiln_context_destroy(context);
}
