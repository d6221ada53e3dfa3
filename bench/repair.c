/* Dynamic repair is local (a row misses where a tet is left below the goal, or more than 12 have
 * changed for each that was damaged): damaged parts of a good mesh are brought back to the goal,
 * and what it costs and changes goes with the damage, not with the mesh. Two regions, so that there
 * is an interface; damage of every kind, inside, at the surface and at the interface. */
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/meshes.h"
#include "mesh/build.h"
#include "mesh/classify.h"
#include "mesh/jitter.h"
#include "remesh/improve.h"
#include "topology/damage.h"

#include <stdio.h>

typedef struct repair_case {
    const char *size; /* setting of the box */
    const char *name;
    double fraction;
    bool clustered;

} repair_case;

typedef struct outcome {
    size_t tets, damaged, left, changed;
    double worst, begin_seconds, seconds;
} outcome;

static kiln_status cut_in_two(kiln_mesh *mesh, kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    if (txn.depth == 0)
        return kiln_fail_memory(error, 0);
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && verdict == KILN_ACCEPTED; t++) {
        double x = 0.0;
        for (int k = 0; k < 4; k++)
            x += 0.25 * mesh->u[mesh->tet[t].v[k]].x;
        verdict = kiln_txn_set_region(&txn, t, x > 0.5);
    }
    if (kiln_txn_settle(&txn, verdict) != KILN_ACCEPTED)
        return kiln_fail_memory(error, 0);
    return kiln_mesh_classify(mesh, kiln_build_default_options().feature_angle, error);
}

static kiln_status make_mesh(kiln_context *context, const char *size, kiln_mesh **mesh,
                             kiln_error *error)
{
    const char *const settings[2] = {size, "pattern=bcc"};
    KILN_TRY(kiln_bench_shape(context, "box", 2, settings, mesh, error));
    return cut_in_two(*mesh, error);
}

static kiln_status repair(kiln_mesh *mesh, outcome *out, kiln_error *error)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher remesher;
    double start = kiln_processor_seconds();
    KILN_TRY(kiln_remesher_begin(mesh, &options, &remesher, error));
    double begun = kiln_processor_seconds();
    kiln_status status = kiln_dynamic_improve(&remesher, &improve, &report, error);
    double end = kiln_processor_seconds();
    kiln_remesher_end(&remesher);
    out->begin_seconds = begun - start;
    out->seconds = end - begun;
    out->left = report.bad_after;
    out->changed = report.changed;
    out->worst = report.worst_after;
    return status;
}

static kiln_status run(kiln_context *context, const repair_case *c, outcome *out, kiln_error *error)
{
    kiln_mesh *mesh = NULL;
    kiln_damage_report report = {0};
    kiln_damage_options options = kiln_damage_default_options();
    options.fraction = c->fraction;
    options.clustered = c->clustered;
    options.seed = 3;
    kiln_status status = make_mesh(context, c->size, &mesh, error);
    if (status == KILN_OK)
        status = kiln_mesh_damage(mesh, &options, &report, error);
    if (status == KILN_OK) {
        out->tets = mesh->table[KILN_ON_TET].live;
        out->damaged = report.tets.count;
        status = repair(mesh, out, error);
    }
    kiln_damage_report_free(context, &report);
    if (mesh)
        kiln_mesh_destroy(mesh);
    return status;
}

void kiln_bench_repair(kiln_bench *bench)
{
    static const repair_case cases[] = {
        {"n=9", "10k, 0.1 %", 0.001, false}, {"n=9", "10k, 1 %", 0.01, false},
        {"n=9", "10k, 10 %", 0.1, false},    {"n=20", "100k, 0.1 %", 0.001, false},
        {"n=20", "100k, 1 %", 0.01, false},  {"n=20", "100k, 1 %, clustered", 0.01, true},
        {"n=20", "100k, 10 %", 0.1, false},  {"n=43", "1M, 0.1 %", 0.001, false},
        {"n=43", "1M, 1 %", 0.01, false},    {"n=43", "1M, 10 %", 0.1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome out = {0};
        char name[64], remark[128];
        snprintf(name, sizeof name, "repair: %s", cases[i].name);
        if (run(kiln_bench_context(bench), &cases[i], &out, NULL) != KILN_OK) {
            kiln_bench_report_failure(bench, name, "not run");
            continue;
        }
        snprintf(remark, sizeof remark,
                 "%zu tets, %zu bad, %.1f changed each, %.2f s + %.2f s begin, worst %.3f, left",
                 out.tets, out.damaged, (double)out.changed / (double)out.damaged, out.seconds,
                 out.begin_seconds, out.worst);
        bool spread = out.changed > 12 * out.damaged;
        kiln_bench_report_checked(bench, name, (double)(out.damaged - out.left) / out.seconds,
                                  "tets/s", 5000.0, 1, remark, (double)out.left + spread, 0.0);
    }
}
