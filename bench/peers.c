/* Meshes of the shared data, improved by Kiln and by other programs: Gmsh and Netgen live where
 * they are installed, Stellar and Mmg as recorded. A row is what one program made of one mesh;
 * Kiln's worst tet is held to the best of the others' and of the input, the hard meshes to their
 * limits of time and tets, organic ones to their mean (issue 15). */
#include "app/survey.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/recorded.h"
#include "io/format.h"
#include "mesh/build.h"
#include "topology/import.h"

#include <math.h>
#include <stdio.h>

static const double MOST_SECONDS = 30.0, MOST_GROWTH = 4.0, LEAST_MEAN = 0.74;
/* What has lost more of a region is not a mesh of the same body. */
static const double MOST_OFF = 0.01;
/* Worst qualities closer than this are the same (issue 4). */
static const double SAME = 0.01;

typedef enum mesh_kind { PLAIN, ORGANIC, HARD } mesh_kind;

typedef struct peers_case {
    const char *name, *file;
    mesh_kind kind;
    const kiln_recorded *recorded; /* NULL: not */
} peers_case;

static const peers_case cases[] = {
    {"random cube", "remesh/rand10k.mesh", PLAIN, &kiln_recorded_random_cube},
    {"ball", "remesh/sphere.mesh", PLAIN, &kiln_recorded_ball},
    {"twisted bar", "remesh/bartwist.mesh", PLAIN, &kiln_recorded_twisted_bar},
    {"animal", "remesh/spot.mesh", ORGANIC, &kiln_recorded_animal},
    {"beam", "itr/beam.msh", PLAIN, NULL},
    {"cube", "itr/cube.msh", PLAIN, NULL},
    {"monkey", "itr/monkey10k_u.msh", ORGANIC, NULL},
    {"roller", "itr/roller5k.msh", ORGANIC, NULL},
    {"sphere1K", "itr/sphere1K.msh", PLAIN, NULL},
    {"spike", "itr/spike.msh", PLAIN, NULL},
    {"bx_100_1", "hard/bx_100_1.meshb", HARD, NULL},
    {"far5", "hard/far5.meshb", HARD, NULL},
    {"lslot", "hard/lslot.meshb", HARD, NULL},
    {"needle", "hard/needle.meshb", HARD, NULL},
    {"nestS", "hard/nestS.meshb", HARD, NULL},
    {"nested", "hard/nested.meshb", HARD, NULL},
    {"plate", "hard/plate.meshb", HARD, NULL},
    {"rot1", "hard/rot1.meshb", HARD, NULL},
    {"rot2", "hard/rot2.meshb", HARD, NULL},
    {"rot3", "hard/rot3.meshb", HARD, NULL},
};

/* A mesh before or after, as one program left it. */
typedef struct state {
    double q, mean, low, high, seconds, tets;
    double regions; /* largest relative change of a region's volume */
} state;

typedef struct table {
    kiln_bench *bench;
    const peers_case *c;
    kiln_survey input;
    double best; /* worst q of the input and the peers so far */
} table;

static double change_of_regions(const kiln_survey *before, const kiln_survey *after)
{
    double most = before->regions.count == after->regions.count ? 0.0 : INFINITY;
    for (size_t i = 0; i < before->regions.count && isfinite(most); i++)
        most = fmax(most,
                    fabs(after->regions.data[i].measure / before->regions.data[i].measure - 1.0));
    return most;
}

static kiln_status survey(const table *t, const kiln_soup *soup, state *out, kiln_error *error)
{
    kiln_survey s = {.context = soup->context};
    kiln_status status = kiln_survey_take(soup, &s, error);
    out->q = s.q_min;
    out->mean = s.q_mean;
    out->low = s.dihedral_min;
    out->high = s.dihedral_max;
    out->tets = (double)s.tets;
    out->regions = change_of_regions(&t->input, &s);
    kiln_survey_free(&s);
    return status;
}

static void report(const table *t, const char *program, const state *s, double bar)
{
    char name[96], text[160];
    int used = 0;
    snprintf(name, sizeof name, "%s, %s: worst q", t->c->name, program);
    if (isfinite(s->mean))
        used = snprintf(text, sizeof text, "mean %.3f, ", s->mean);
    used += snprintf(text + used, sizeof text - (size_t)used, "%.1f-%.1f deg, %.0f tets, %.3g s",
                     s->low, s->high, s->tets, s->seconds);
    if (s->regions > 1e-6)
        snprintf(text + used, sizeof text - (size_t)used, "; a region's volume off by %.1e",
                 s->regions);
    kiln_bench_report(t->bench, name, s->q, "", bar, 1, text);
}

static void report_recorded(table *t, const char *program, const kiln_recorded_figures *f)
{
    state s = {.q = f->q,
               .mean = NAN,
               .low = f->low,
               .high = f->high,
               .seconds = f->seconds,
               .tets = f->tets};
    report(t, program, &s, 0.0);
    t->best = fmax(t->best, s.q);
}

static void report_peer(table *t, const kiln_soup *input, const kiln_peer *peer)
{
    kiln_soup soup;
    kiln_error error;
    kiln_peer_run run = {0};
    state s;
    char text[800];
    kiln_soup_init(&soup, kiln_bench_context(t->bench));
    kiln_status status = kiln_peer_improve(peer, input, &soup, &run, &error);
    if (status == KILN_OK)
        status = survey(t, &soup, &s, &error);
    kiln_soup_free(&soup);
    if (status == KILN_OK) {
        s.seconds = run.seconds;
        snprintf(text, sizeof text, "%s %s", peer->name, run.version);
        report(t, text, &s, 0.0);
        t->best = s.regions < MOST_OFF ? fmax(t->best, s.q) : t->best;
    } else {
        char name[96];
        snprintf(name, sizeof name, "%s, %s: worst q", t->c->name, peer->name);
        kiln_bench_report(t->bench, name, 0.0, "", 0, 1,
                          kiln_error_format(&error, text, sizeof text));
    }
}

static void report_limits(const table *t, const state *s)
{
    char name[96], text[64];
    if (t->c->kind == ORGANIC) {
        snprintf(name, sizeof name, "%s, Kiln --aggressive: mean q", t->c->name);
        kiln_bench_report(t->bench, name, s->mean, "", LEAST_MEAN, 1, "issue 15");
    }
    if (t->c->kind == HARD) {
        snprintf(name, sizeof name, "%s, Kiln --aggressive: CPU time", t->c->name);
        kiln_bench_report(t->bench, name, s->seconds, "s", MOST_SECONDS, 0, "issue 15");
        snprintf(name, sizeof name, "%s, Kiln --aggressive: times the tets", t->c->name);
        snprintf(text, sizeof text, "of %zu", t->input.tets);
        kiln_bench_report(t->bench, name, s->tets / (double)t->input.tets, "", MOST_GROWTH, 0,
                          text);
    }
}

static kiln_status improve(const table *t, kiln_mesh *mesh, bool aggressive, state *out,
                           kiln_error *error)
{
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_soup soup;
    options.aggressive = aggressive;
    double start = kiln_processor_seconds();
    KILN_TRY(kiln_mesh_improve(mesh, &options, NULL, error));
    double seconds = kiln_processor_seconds() - start;
    KILN_TRY(kiln_mesh_to_soup(mesh, &soup, error));
    kiln_status status = survey(t, &soup, out, error);
    out->seconds = seconds;
    kiln_soup_free(&soup);
    return status;
}

static kiln_status report_kiln(const table *t, const kiln_soup *input, bool aggressive,
                               kiln_error *error)
{
    kiln_mesh *mesh;
    state s;
    KILN_TRY(kiln_mesh_import(input->context, input, t->c->file, NULL, &mesh, NULL, error));
    kiln_status status = improve(t, mesh, aggressive, &s, error);
    kiln_mesh_destroy(mesh);
    KILN_TRY(status);
    double bar = aggressive ? fmax(t->best - SAME, t->input.q_min) : t->input.q_min;
    report(t, aggressive ? "Kiln --aggressive" : "Kiln to 0.15", &s, bar);
    if (aggressive)
        report_limits(t, &s);
    return KILN_OK;
}

static kiln_status run_case(table *t, const kiln_soup *input, kiln_error *error)
{
    KILN_TRY(kiln_survey_take(input, &t->input, error));
    const kiln_survey *i = &t->input;
    state s = {.q = i->q_min,
               .mean = i->q_mean,
               .low = i->dihedral_min,
               .high = i->dihedral_max,
               .tets = (double)i->tets};
    report(t, "input", &s, 0.0);
    t->best = i->q_min;
    if (t->c->recorded) {
        report_recorded(t, "Mmg 5.8 (recorded)", &t->c->recorded->mmg);
        report_recorded(t, "Stellar 1.0 (recorded)", &t->c->recorded->stellar);
    }
    const kiln_peer *peer;
    for (size_t k = 0; (peer = kiln_peer_at(k)) != NULL; k++)
        report_peer(t, input, peer);
    KILN_TRY(report_kiln(t, input, false, error));
    return report_kiln(t, input, true, error);
}

/* Repaired and as a mesh writes it: with all triangles of the surface and between regions, and no
 * others. */
static kiln_status read_input(kiln_context *context, const char *file, kiln_soup *out,
                              kiln_error *error)
{
    char path[512];
    kiln_soup soup;
    kiln_mesh *mesh;
    kiln_mesh_options options = kiln_mesh_default_options();
    options.policy = KILN_MESH_REPAIR;
    snprintf(path, sizeof path, "%s/%s", KILN_SHARED_DATA, file);
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_soup_read(context, path, NULL, &soup, error);
    if (status == KILN_OK)
        status = kiln_mesh_import(context, &soup, path, &options, &mesh, NULL, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    status = kiln_mesh_to_soup(mesh, out, error);
    kiln_mesh_destroy(mesh);
    return status;
}

void kiln_bench_peers(kiln_bench *bench)
{
    kiln_context *context = kiln_bench_context(bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        table t = {.bench = bench, .c = &cases[i], .input = {.context = context}};
        kiln_soup input;
        kiln_error error;
        char text[800];
        kiln_status status = read_input(context, cases[i].file, &input, &error);
        if (status == KILN_OK) {
            kiln_bench_calibrate(bench);
            status = run_case(&t, &input, &error);
            kiln_survey_free(&t.input);
            kiln_soup_free(&input);
        }
        if (status != KILN_OK)
            kiln_bench_report_failure(bench, cases[i].name,
                                      kiln_error_format(&error, text, sizeof text));
    }
}
