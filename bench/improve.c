/* Improvement of whole meshes against the recorded figures of the programs known for it; suite
 * `peers` runs others beside Kiln. A mesh made here is held against the figures of the one it
 * resembles, times by the number of tets, and must not get more tets than it had. */
#include "app/mesh_table.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "bench/bench.h"
#include "bench/recorded.h"
#include "io/format.h"
#include "mesh/build.h"
#include "mesh/jitter.h"
#include "remesh/shape_change.h"
#include "topology/import.h"

#include <math.h>
#include <stdio.h>

typedef kiln_status (*mesh_maker)(kiln_context *context, kiln_mesh **out, kiln_error *error);

typedef struct improve_case {
    const char *name;
    const char *file; /* in the shared data; NULL: made */
    mesh_maker make;
    const kiln_recorded *like;
    bool threads; /* compare two with one */
} improve_case;

/* As `kiln mesh generate random`: points on the faces too, like those of the issue. */
static kiln_status make_cube(kiln_context *context, kiln_mesh **out, kiln_error *error)
{
    static const char *const settings[] = {"points=2200", "seed=77"};
    return kiln_mesh_generate(context, "random", 2, settings, out, error);
}

static kiln_status make_large_cube(kiln_context *context, kiln_mesh **out, kiln_error *error)
{
    static const char *const settings[] = {"points=18400", "seed=5"};
    return kiln_mesh_generate(context, "random", 2, settings, out, error);
}

/* Vertices inside moved at random; the mesh goes when that fails. */
static kiln_status jitter(kiln_mesh *mesh, double size, kiln_error *error)
{
    if (kiln_mesh_jitter(mesh, size, 9) == KILN_ACCEPTED)
        return KILN_OK;
    kiln_mesh_destroy(mesh);
    return kiln_fail_memory(error, 0);
}

static kiln_status make_ball(kiln_context *context, kiln_mesh **out, kiln_error *error)
{
    static const char *const settings[] = {"radius=1", "h=0.135"};
    KILN_TRY(kiln_mesh_generate(context, "ball", 2, settings, out, error));
    return jitter(*out, 0.055, error);
}

/* Stretched 1.8 times along its axis and turned by 180 degrees from end to end. */
static kiln_vec3 twisted(kiln_vec3 p, double height)
{
    double angle = acos(-1.0) * p.z / height, c = cos(angle), s = sin(angle);
    return kiln_v3(c * p.x - s * p.y, s * p.x + c * p.y, 1.8 * p.z);
}

static kiln_status make_cylinder(kiln_context *context, kiln_mesh **out, kiln_error *error)
{
    static const char *const settings[] = {"height=2", "h=0.11"};
    kiln_mesh *straight;
    kiln_soup soup;
    KILN_TRY(kiln_mesh_generate(context, "cylinder", 2, settings, &straight, error));
    kiln_status status = kiln_mesh_to_soup(straight, &soup, error);
    kiln_mesh_destroy(straight);
    KILN_TRY(status);
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i] = twisted(soup.points.data[i], 2.0);
    status = kiln_mesh_import(context, &soup, "cylinder", NULL, out, NULL, error);
    kiln_soup_free(&soup);
    return status == KILN_OK ? jitter(*out, 0.05, error) : status;
}

static kiln_status make_input(kiln_context *context, const improve_case *c, kiln_soup *out,
                              kiln_error *error)
{
    if (c->file) {
        char path[512];
        snprintf(path, sizeof path, "%s/remesh/%s", KILN_SHARED_DATA, c->file);
        return kiln_soup_read(context, path, NULL, out, error);
    }
    kiln_mesh *mesh;
    KILN_TRY(c->make(context, &mesh, error));
    kiln_status status = kiln_mesh_to_soup(mesh, out, error);
    kiln_mesh_destroy(mesh);
    return status;
}

/* One improvement and what became of the mesh. */
typedef struct outcome {
    double cpu, wall; /* s, least of the repeats */
    uint64_t hash;
    size_t tets, changed;
    double q, low, high;
    kiln_shape_change shape;
} outcome;

static kiln_status survey(const kiln_soup *soup, outcome *out, kiln_error *error)
{
    kiln_survey s = {.context = soup->context};
    kiln_status status = kiln_survey_take(soup, &s, error);
    out->tets = s.tets;
    out->q = s.q_min;
    out->low = s.dihedral_min;
    out->high = s.dihedral_max;
    kiln_survey_free(&s);
    return status;
}

static kiln_status look_at(const kiln_soup *input, const kiln_mesh *mesh,
                           const kiln_mesh_shape *before, outcome *out, kiln_error *error)
{
    kiln_soup soup;
    kiln_mesh_shape after = {0};
    KILN_TRY(kiln_mesh_to_soup(mesh, &soup, error));
    kiln_status status = survey(&soup, out, error);
    if (status == KILN_OK)
        status = kiln_changed_tets(input, &soup, &out->changed, error);
    if (status == KILN_OK)
        status = kiln_mesh_shape_take(mesh, KILN_SPACE_MATERIAL, &after, error);
    if (status == KILN_OK)
        status = kiln_shape_compare(mesh->context, before, &after, &out->shape, error);
    kiln_mesh_shape_free(mesh->context, &after);
    kiln_soup_free(&soup);
    return status;
}

/* Improves a fresh mesh, into out->cpu and wall where it was faster than before. */
static kiln_status improve_once(kiln_context *context, const kiln_soup *input,
                                const kiln_mesh_improve_options *options, bool look, outcome *out,
                                kiln_error *error)
{
    kiln_mesh *mesh;
    kiln_mesh_shape before = {0};
    KILN_TRY(kiln_mesh_import(context, input, "input", NULL, &mesh, NULL, error));
    kiln_status status =
        look ? kiln_mesh_shape_take(mesh, KILN_SPACE_MATERIAL, &before, error) : KILN_OK;
    double cpu = kiln_processor_seconds(), wall = kiln_wall_seconds();
    if (status == KILN_OK)
        status = kiln_mesh_improve(mesh, options, NULL, error);
    out->cpu = fmin(out->cpu, kiln_processor_seconds() - cpu);
    out->wall = fmin(out->wall, kiln_wall_seconds() - wall);
    if (status == KILN_OK)
        out->hash = kiln_mesh_hash(mesh);
    if (status == KILN_OK && look)
        status = look_at(input, mesh, &before, out, error);
    kiln_mesh_shape_free(context, &before);
    kiln_mesh_destroy(mesh);
    return status;
}

/* Short ones are repeated; one that takes a second is long enough to be measured once. */
static kiln_status improve(kiln_context *context, const kiln_soup *input,
                           const kiln_mesh_improve_options *options, bool look, outcome *out,
                           kiln_error *error)
{
    *out = (outcome){.cpu = INFINITY, .wall = INFINITY};
    KILN_TRY(improve_once(context, input, options, look, out, error));
    int repeats = (int)fmin(8.0, 0.5 / out->cpu);
    for (int i = 0; i < repeats; i++)
        KILN_TRY(improve_once(context, input, options, false, out, error));
    return KILN_OK;
}

static void row(kiln_bench *bench, const char *name, const char *what, double value,
                const char *unit, double bar, int higher, const char *remark)
{
    char text[96];
    snprintf(text, sizeof text, "%s, %s", name, what);
    kiln_bench_report(bench, text, value, unit, bar, higher, remark);
}

/* The first row says why when the mesh could not be had or improved. */
static void report_trouble(kiln_bench *bench, const char *name, const kiln_error *error)
{
    char text[800];
    kiln_bench_report_failure(bench, name, kiln_error_format(error, text, sizeof text));
}

static void report_aggressive(kiln_bench *bench, const improve_case *c, size_t tets,
                              const outcome *o)
{
    const kiln_recorded_figures *s = &c->like->stellar;
    const char *whose = c->file ? "Stellar" : "Stellar, like mesh";
    double scale = c->file ? 1.0 : (double)tets / c->like->tets;
    char text[160];
    snprintf(text, sizeof text, "%s %.3f (issue 4)", whose, s->q);
    row(bench, c->name, "aggressive: worst q", o->q, "", s->q - 0.01, 1, text);
    snprintf(text, sizeof text, "%s %.1f", whose, s->low);
    row(bench, c->name, "aggressive: least dihedral", o->low, "deg", s->low - 1.0, 1, text);
    snprintf(text, sizeof text, "%s %.1f", whose, s->high);
    row(bench, c->name, "aggressive: largest dihedral", o->high, "deg", s->high + 1.0, 0, text);
    snprintf(text, sizeof text, "of %.3f", 1e-3 * (double)tets);
    row(bench, c->name, "aggressive: tets out", 1e-3 * (double)o->tets, "k tets",
        1e-3 * (c->file ? s->tets : (double)tets), 0, text);
    snprintf(text, sizeof text, "%s %.3g s: %.0f times", whose, s->seconds * scale,
             s->seconds * scale / o->cpu);
    row(bench, c->name, "aggressive: CPU time", o->cpu, "s", s->seconds * scale / 20.0, 0, text);
    snprintf(text, sizeof text, "Hausdorff %.2e of the size %.3g, volume %+.1e", o->shape.hausdorff,
             o->shape.size, o->shape.volume);
    row(bench, c->name, "aggressive: surface, of its band", o->shape.of_band, "", 1.0, 0, text);
}

static void report_goal(kiln_bench *bench, const improve_case *c, size_t tets, const outcome *o)
{
    const kiln_recorded_figures *m = &c->like->mmg;
    double scale = c->file ? 1.0 : (double)tets / c->like->tets;
    char name[96], text[160];
    snprintf(name, sizeof name, "%s, to Mmg's worst q: CPU time", c->name);
    snprintf(text, sizeof text,
             "Mmg%s %.3g s (issue 4); %.1f-%.1f deg, surface %.2f of band; q below %.3f by",
             c->file ? "" : ", like mesh,", m->seconds * scale, o->low, o->high, o->shape.of_band,
             m->q);
    kiln_bench_report_checked(bench, name, o->cpu, "s", m->seconds * scale, 0, text,
                              fmax(m->q - o->q, 0.0), 0.0);
    snprintf(text, sizeof text, "of %.3f; out %.3f", 1e-3 * (double)tets, 1e-3 * (double)o->tets);
    row(bench, c->name, "to Mmg's worst q: changed tets", 1e-3 * (double)o->changed, "k tets", 0, 0,
        text);
}

static double busy(void *user, size_t item)
{
    double x = 1.0 + 1e-6 * (double)item;
    (void)user;
    for (int i = 0; i < 100; i++)
        x = sqrt(x + 1.0 / (double)(i + 1));
    return x;
}

static double busy_wall(kiln_context *context)
{
    double best = INFINITY, sum = 0.0;
    for (int i = 0; i < 9; i++) {
        double start = kiln_wall_seconds();
        kiln_parallel_sum(context, 20000, busy, NULL, &sum, NULL);
        best = fmin(best, kiln_wall_seconds() - start);
    }
    kiln_bench_keep(sum);
    return best;
}

/* Wall time, since two threads are at work, of runs in turn: what a loop of nothing but arithmetic
 * gains beside them says what the machine had to give. */
static void report_threads(kiln_bench *bench, const char *name, const kiln_soup *input,
                           const kiln_mesh_improve_options *options)
{
    kiln_context *context[2] = {kiln_bench_context(bench), NULL};
    kiln_context_options own = kiln_context_default_options();
    outcome o[2] = {{.cpu = INFINITY, .wall = INFINITY}, {.cpu = INFINITY, .wall = INFINITY}};
    kiln_error error;
    char text[160];
    own.threads = 2;
    own.isa = kiln_isa_name(context[0]->isa);
    kiln_status status = kiln_context_create(&own, &context[1], &error);
    for (int run = 0; run < 6 && status == KILN_OK; run++)
        status = improve_once(context[run % 2], input, options, false, &o[run % 2], &error);
    if (status == KILN_OK) {
        snprintf(text, sizeof text, "a parallel loop gains %.2f; result differs",
                 busy_wall(context[0]) / busy_wall(context[1]));
        kiln_bench_report_checked(bench, name, o[0].wall / o[1].wall, "x", 0, 1, text,
                                  o[0].hash != o[1].hash, 0.0);
    } else
        report_trouble(bench, name, &error);
    kiln_context_destroy(context[1]);
}

static kiln_status run_case(kiln_bench *bench, const improve_case *c, const kiln_soup *input,
                            kiln_error *error)
{
    kiln_context *context = kiln_bench_context(bench);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    outcome o;
    char name[96];
    options.goal = c->like->mmg.q;
    KILN_TRY(improve(context, input, &options, true, &o, error));
    kiln_bench_calibrate(bench);
    report_goal(bench, c, input->tets.count, &o);
    options.aggressive = true;
    KILN_TRY(improve(context, input, &options, true, &o, error));
    kiln_bench_calibrate(bench);
    report_aggressive(bench, c, input->tets.count, &o);
    if (c->threads) {
        snprintf(name, sizeof name, "%s, aggressive: gain of 2 threads", c->name);
        report_threads(bench, name, input, &options);
    }
    return KILN_OK;
}

void kiln_bench_improve(kiln_bench *bench)
{
    static const improve_case cases[] = {
        {"random cube", "rand10k.mesh", NULL, &kiln_recorded_random_cube, true},
        {"ball", "sphere.mesh", NULL, &kiln_recorded_ball, false},
        {"twisted bar", "bartwist.mesh", NULL, &kiln_recorded_twisted_bar, false},
        {"animal", "spot.mesh", NULL, &kiln_recorded_animal, false},
        {"another random cube", NULL, make_cube, &kiln_recorded_random_cube, false},
        {"jittered ball", NULL, make_ball, &kiln_recorded_ball, false},
        {"twisted cylinder", NULL, make_cylinder, &kiln_recorded_twisted_bar, false},
        {"random cube, large", NULL, make_large_cube, &kiln_recorded_large_cube, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_soup input;
        kiln_error error;
        kiln_soup_init(&input, kiln_bench_context(bench));
        kiln_status status = make_input(kiln_bench_context(bench), &cases[i], &input, &error);
        if (status == KILN_OK)
            status = run_case(bench, &cases[i], &input, &error);
        if (status != KILN_OK)
            report_trouble(bench, cases[i].name, &error);
        kiln_soup_free(&input);
    }
}
