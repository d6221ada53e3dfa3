/* Steps of a liquid: a tank of water whose slowest wave swings, and the same of honey, at the sizes
 * of SLI's table and above; a million tets. Iterations of the linear solves beside them, which are
 * to be the same for all sizes. Processor seconds of both threads, as in flow.c. */
#include "base/clock.h"
#include "bench/bench.h"
#include "measure/figure.h"

#include <math.h>
#include <stdio.h>

/* n x n/4 x n/2 cells of six tets. */
static const char scene[] =
    "local n, mu, dt = param('n', 20), param('mu', 0), 0.01\n"
    "local length, width, depth = 1, 0.25, 0.5\n"
    "local k = math.pi / length\n"
    "local function sinh(a) return (math.exp(a) - math.exp(-a)) / 2 end\n"
    "local function cosh(a) return (math.exp(a) + math.exp(-a)) / 2 end\n"
    "local omega = math.sqrt(9.81 * k * sinh(k * depth) / cosh(k * depth))\n"
    "local function wall(point, normal, along)\n"
    "    return hold { where = select.half_space { point = point, normal = normal },\n"
    "                  components = along }\n"
    "end\n"
    "return scene {\n"
    "    duration = param('steps', 2) * dt, gravity = { 0, 0, -9.81 },\n"
    "    step = { integrator = 'bdf2', dt = dt },\n"
    "    bodies = { body {\n"
    "        shape = shape.box { lx = length, ly = width, lz = depth, nx = n, ny = n // 4,\n"
    "                            nz = n // 2, pattern = 'mirrored' },\n"
    "        material = material { density = 1000, viscosity = mu, liquid = liquid {} },\n"
    "        velocity = function(u)\n"
    "            local v = 0.01 * omega / sinh(k * depth)\n"
    "            return { -v * math.sin(k * u[1]) * cosh(k * u[3]), 0,\n"
    "                     v * math.cos(k * u[1]) * sinh(k * u[3]) }\n"
    "        end,\n"
    "    } },\n"
    "    holds = {\n"
    "        wall({ 1e-6, 0, 0 }, { -1, 0, 0 }, 'x'), wall({ 1 - 1e-6, 0, 0 }, { 1, 0, 0 }, 'x'),\n"
    "        wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, 'y'),\n"
    "        wall({ 0, width - 1e-6, 0 }, { 0, 1, 0 }, 'y'),\n"
    "        wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, 'z'),\n"
    "    },\n"
    "}\n";

typedef struct tank {
    const char *name;
    int n, steps;
    double viscosity;
    double seconds; /* a step, at most: of SLI's two cores, a fiftieth; 0: none */
} tank;

static const tank tanks[] = {
    {"water, 6k tets", 20, 4, 1e-3, 0.25}, {"honey, 6k tets", 20, 4, 1e4, 0.25},
    {"water, 24k tets", 32, 3, 1e-3, 1.0}, {"water, 48k tets", 40, 3, 1e-3, 5.7},
    {"honey, 48k tets", 40, 3, 1e4, 5.7},  {"water, 197k tets", 64, 2, 1e-3, 0.0},
    {"honey, 197k tets", 64, 2, 1e4, 0.0}, {"water, a million tets", 110, 2, 1e-3, 0.0},
};

/* What flows and is remeshed on its way, as the figures of SLI are: scenes of the gallery. */
static const struct {
    tank tank; /* its name, steps and bound */
    const char *scene, *sets[3];
} remeshed[] = {
    {{.name = "a drop that falls, 6k tets, remeshed", .steps = 60, .seconds = 0.25},
     "droplet",
     {"case=fall", "speed=0.3", "h=0.3e-3"}},
    {{.name = "a dam that breaks, 6k tets, remeshed", .steps = 60, .seconds = 0.34},
     "dam",
     {"n=10", "width=0.5"}},
    {{.name = "a pipe past a sphere, 56k tets, remeshed", .steps = 4, .seconds = 5.7},
     "pipe",
     {"fine=1", "h=0.016"}},
};

/* From the second step on: the first has the scene, the pattern and a start without a step before
 * it. */
typedef struct times {
    double before, seconds;
    int steps, newton, linear;
    int remeshed; /* steps */
    double tets;
} times;

static void look(void *user, kiln_world *world, const kiln_stats *stats)
{
    times *t = user;
    (void)world;
    double now = kiln_processor_seconds();
    if (stats->step > 1) {
        t->seconds += now - t->before;
        t->steps++;
        t->newton += (int)stats->newton;
        t->linear += (int)stats->linear;
        t->remeshed += stats->changed > 0;
        t->tets = stats->tets;
    }
    t->before = now;
}

static void report_remeshed(kiln_bench *bench, const tank *of, const times *t)
{
    char name[96], remark[96];
    snprintf(name, sizeof name, "%s: processor seconds a step, 2 threads", of->name);
    snprintf(remark, sizeof remark, "%d steps, %d of them remeshed, %.0f tets at the end", t->steps,
             t->remeshed, t->tets);
    kiln_bench_report(bench, name, t->steps > 0 ? t->seconds / t->steps : NAN, "s", of->seconds, 0,
                      remark);
}

static void report(kiln_bench *bench, const tank *of, const times *t)
{
    char name[80], remark[96];
    bool done = t->steps > 0 && t->newton > 0;
    snprintf(name, sizeof name, "%s: processor seconds a step, 2 threads", of->name);
    snprintf(remark, sizeof remark, "%d steps, %.1f solves each", t->steps,
             done ? (double)t->newton / t->steps : 0.0);
    kiln_bench_report(bench, name, done ? t->seconds / t->steps : NAN, "s", of->seconds, 0, remark);
    snprintf(name, sizeof name, "%s: iterations a solve", of->name);
    kiln_bench_report(bench, name, done ? (double)t->linear / t->newton : NAN, "", 30, 0, "");
    snprintf(name, sizeof name, "%s: peak memory", of->name);
    kiln_bench_report(bench, name, done ? kiln_bench_peak_gigabytes() : NAN, "GiB", 0, 0, "");
}

static void run_tank(kiln_bench *bench, kiln_context *context, const tank *of)
{
    char n[24], steps[24], viscosity[40];
    kiln_error error = {0};
    kiln_figure_report r;
    times t = {0};
    snprintf(n, sizeof n, "n=%d", of->n);
    snprintf(steps, sizeof steps, "steps=%d", of->steps);
    snprintf(viscosity, sizeof viscosity, "mu=%g", of->viscosity);
    kiln_figure run = {
        .scene = "tank", .text = scene, .sets = {n, steps, viscosity}, .look = look, .user = &t};
    kiln_bench_reset_peak();
    if (kiln_figure_run(context, &run, &r, NULL, &error) == KILN_OK)
        report(bench, of, &t);
    else
        kiln_bench_report_failure(bench, of->name, error.message);
}

static void run_remeshed(kiln_bench *bench, kiln_context *context, const tank *of,
                         const char *scene_name, const char *const sets[3])
{
    kiln_error error = {0};
    kiln_figure_report r;
    times t = {0};
    kiln_figure run = {.scene = scene_name,
                       .sets = {sets[0], sets[1], sets[2]},
                       .most_steps = (size_t)of->steps,
                       .look = look,
                       .user = &t};
    if (kiln_figure_run(context, &run, &r, NULL, &error) == KILN_OK)
        report_remeshed(bench, of, &t);
    else
        kiln_bench_report_failure(bench, of->name, error.message);
}

void kiln_bench_liquid(kiln_bench *bench)
{
    kiln_context_options options = kiln_context_default_options();
    kiln_context *context = NULL;
    kiln_error error = {0};
    options.threads = 2;
    kiln_bench_calibrate(bench);
    if (kiln_context_create(&options, &context, &error) != KILN_OK) {
        kiln_bench_report_failure(bench, "liquid", error.message);
        return;
    }
    for (size_t i = 0; i < sizeof tanks / sizeof *tanks; i++)
        run_tank(bench, context, &tanks[i]);
    for (size_t i = 0; i < sizeof remeshed / sizeof *remeshed; i++)
        run_remeshed(bench, context, &remeshed[i].tank, remeshed[i].scene, remeshed[i].sets);
    kiln_context_destroy(context);
}
