/* Inlets and outlets: layers are as thick as their way, and the ledger closes (liquids-algorithms
 * 13.10). Plug flow through a duct that slides along its walls, with remeshing. */
#include "sim/through.h"
#include "validation/trial.h"

#include <math.h>

enum { LAYERS = 10, CELLS = 3 };
static const double WIDTH = 0.1, LENGTH = 0.3, SPEED = 0.1, DT = 1.0 / 30.0;

typedef struct duct {
    double layer;  /* off, of what ten layers have */
    double ledger; /* volume, mass and momentum off, of all there is */
    double mass, momentum;
    double speed; /* off that of the plug, of it */
} duct;

static double momentum_of(const kiln_trial *trial, kiln_vec3 p)
{
    return kiln_trial_vector_back(trial, p, 1, 1, -1).x;
}

static void look(const kiln_trial *trial, kiln_world *world, const kiln_stats *stats,
                 const kiln_stats *first, duct *out)
{
    kiln_passed in, gone;
    kiln_world_passed(world, &in, &gone);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *mass = (const double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "mass")->data;
    double total = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        total += mass[t];
    double density = kiln_trial_number(trial, 1000, -3, 1, 0);
    double start = density * first->rest_volume;
    kiln_vec3 v = {stats->px, stats->py, stats->pz}, v0 = {first->px, first->py, first->pz};
    double p0 = momentum_of(trial, v0);
    double off = momentum_of(trial, v) - p0 - momentum_of(trial, in.momentum) +
                 momentum_of(trial, gone.momentum);
    out->ledger =
        fmax(out->ledger, fabs(stats->rest_volume - first->rest_volume - in.volume + gone.volume) /
                              first->rest_volume);
    out->mass = fmax(out->mass, fabs(total - start - in.mass + gone.mass) / start);
    out->momentum = fmax(out->momentum, fabs(off) / p0);
    const kiln_vec3 *u =
        (const kiln_vec3 *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "v")->data;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        kiln_vec3 w = kiln_trial_vector_back(trial, u[i], 1, 0, -1);
        out->speed = fmax(out->speed, kiln_v3_norm(kiln_v3_sub(w, kiln_v3(SPEED, 0, 0))) / SPEED);
    }
}

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    duct *out = trial->user;
    kiln_stats first, stats = {.time = 0.0};
    kiln_world_measure(world, &first);
    double layer = kiln_trial_number(trial, WIDTH * WIDTH * WIDTH / CELLS, 3, 0, 0);
    out->layer = NAN;
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        look(trial, world, &stats, &first, out);
        if (isnan(out->layer) && stats.in_volume > (LAYERS - 0.5) * layer)
            out->layer = fabs(stats.in_volume / (LAYERS * layer) - 1.0);
    }
    return KILN_OK;
}

static kiln_status add_doors(kiln_trial *trial, kiln_error *error)
{
    void *settings;
    KILN_TRY(kiln_scene_add_settings(&trial->scene, &kiln_through_schema, &settings, error));
    kiln_scene_through *through = settings;
    kiln_scene_inlet inlet = {
        .velocity = kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(SPEED, 0, 0), 1, 0, -1)),
        .layer = kiln_trial_number(trial, WIDTH / CELLS, 1, 0, 0)};
    kiln_scene_outlet outlet = {.point = kiln_trial_vector(trial, kiln_v3(LENGTH, 0, 0), 1, 0, 0),
                                .normal = kiln_trial_vector(trial, kiln_v3(1, 0, 0), 0, 0, 0),
                                .pressure = kiln_quantity_number(0.0),
                                .every = 5};
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &inlet.where, error));
    KILN_TRY(kiln_array_push(trial->context, &through->inlets, inlet, error));
    return kiln_array_push(trial->context, &through->outlets, outlet, error);
}

static kiln_status make_duct(kiln_trial *trial, kiln_error *error)
{
    const int cells[3] = {3 * CELLS, CELLS, CELLS};
    KILN_TRY(kiln_trial_liquid(trial, 1000, 1e-3, 0, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(LENGTH, WIDTH, WIDTH), cells, "kuhn", error));
    trial->scene.bodies.data[0].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(SPEED, 0, 0), 1, 0, -1));
    for (int patch = 3; patch <= 6; patch++) {
        kiln_picks where;
        KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, 1 << (patch - 1) / 2, NULL, error));
    }
    return add_doors(trial, error);
}

static kiln_status flow_through(kiln_validation *validation, const kiln_view *view, int steps,
                                duct *out, kiln_error *error)
{
    kiln_trial trial;
    *out = (duct){.layer = NAN};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = KILN_BDF2;
    trial.scene.pace.dt = kiln_trial_number(&trial, DT, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-6 * trial.scene.pace.dt;
    trial.scene.duration = kiln_trial_number(&trial, DT * steps, 0, 0, 1);
    trial.scene.remesh.method = KILN_REMESH_LOCAL;
    trial.scene.remesh.space = KILN_SPACE_WORLD;
    trial.scene.remesh.follow = true;
    trial.user = out;
    kiln_status status = make_duct(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_inlets(kiln_validation *validation, kiln_error *error)
{
    const int steps = kiln_validation_is_brief(validation) ? 100 : 1000;
    for (size_t row = 0; kiln_view_at(row); row++) {
        const char *name = kiln_view_at(row)->name;
        duct d;
        KILN_TRY(flow_through(validation, kiln_view_at(row), steps, &d, error));
        kiln_validation_report(validation, d.layer, kiln_at_most(1e-13),
                               "%s: volume of ten layers off, of it", name);
        kiln_validation_report(validation, d.ledger, kiln_at_most(1e-12),
                               "%s: in - out - mesh over %d steps, of the volume", name, steps);
        kiln_validation_report(validation, d.mass, kiln_at_most(1e-12), "%s: the same of mass",
                               name);
        kiln_validation_report(validation, d.momentum, kiln_at_most(1e-9),
                               "%s: the same of momentum, which flows undisturbed", name);
        kiln_validation_report(validation, d.speed, kiln_at_most(1e-9),
                               "%s: velocities off that of the plug, of it", name);
    }
    return KILN_OK;
}
