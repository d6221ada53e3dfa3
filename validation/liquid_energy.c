/* Liquid that is remeshed gets no energy from it: a high wave in a tank, a whirl in a closed one.
 */
#include "mesh/walk.h"
#include "validation/trial.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const double DENSITY = 1000.0, GRAVITY = 9.81, WIDTH = 0.25;

typedef struct energies {
    double begin, end, most; /* J; of motion and weight */
    double moving;           /* J, of motion at the begin */
} energies;

/* Of motion, and the weight of the room that the liquid fills. */
static double energy_of(const kiln_trial *trial, kiln_world *world, const kiln_stats *stats)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double volume = 0.0, moment = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 x[4];
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int k = 0; k < 4; k++)
            x[k] = kiln_trial_vector_back(trial, mesh->x[mesh->tet[t].v[k]], 1, 0, 0);
        double v = kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(x[1], x[0]), kiln_v3_sub(x[2], x[0])),
                               kiln_v3_sub(x[3], x[0])) /
                   6.0;
        volume += v;
        moment += 0.25 * v * (x[0].z + x[1].z + x[2].z + x[3].z);
    }
    double mass = DENSITY * stats->rest_volume / kiln_trial_number(trial, 1, 3, 0, 0);
    return stats->e_kinetic / kiln_trial_number(trial, 1, 2, 1, -2) +
           mass * GRAVITY * moment / volume;
}

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    energies *out = trial->user;
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    out->moving = stats.e_kinetic / kiln_trial_number(trial, 1, 2, 1, -2);
    out->begin = out->end = out->most = energy_of(trial, world, &stats);
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        out->end = energy_of(trial, world, &stats);
        out->most = fmax(out->most, out->end);
    }
    return KILN_OK;
}

/* scenes/slosh.lua, size = 0.1. */
static kiln_vec3 wave(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    (void)time;
    double omega = sqrt(GRAVITY * PI * tanh(0.5 * PI)), size = 0.1 * omega / sinh(0.5 * PI);
    return kiln_v3(-size * sin(PI * u.x) * cosh(PI * u.z), 0,
                   size * cos(PI * u.x) * sinh(PI * u.z));
}

static kiln_vec3 whirl(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    (void)time;
    return kiln_v3(0.5 * sin(PI * u.x) * cos(PI * u.z), 0, -0.5 * cos(PI * u.x) * sin(PI * u.z));
}

static kiln_status run(kiln_validation *validation, const kiln_view *view, bool closed, int steps,
                       energies *out, kiln_error *error)
{
    kiln_trial trial;
    const int n = closed ? 8 : 12, cells[3] = {n, n / 4, closed ? n : n / 2};
    kiln_trial_map map = {.place = closed ? whirl : wave, .l = 1, .t = -1};
    kiln_picks lid;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    map.trial = &trial;
    kiln_trial_set_steps(&trial, KILN_BDF2, 0.01, steps);
    kiln_trial_set_gravity(&trial, GRAVITY);
    trial.user = out;
    kiln_status status = kiln_trial_liquid(&trial, DENSITY, 0, 0, error);
    kiln_scene_preset(&trial.scene);
    if (status == KILN_OK)
        status =
            kiln_trial_box(&trial, kiln_v3(1, WIDTH, closed ? 1 : 0.5), cells, "mirrored", error);
    if (status == KILN_OK)
        status = kiln_trial_hold_walls(&trial, error);
    if (status == KILN_OK && closed)
        status = kiln_trial_pick_patch(&trial, 6, &lid, error);
    if (status == KILN_OK && closed)
        status = kiln_trial_hold(&trial, &lid, 4, NULL, error);
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].velocity = kiln_trial_quantity(&map);
        status = kiln_trial_build(&trial, watch, error);
    }
    kiln_trial_end(&trial);
    return status;
}

static void report(kiln_validation *validation, const char *what, const char *view,
                   const energies *e)
{
    kiln_validation_report(validation, (e->most - e->begin) / e->moving, kiln_at_most(0.01),
                           "%s, %s: largest rise of energy, of that of motion", what, view);
    kiln_validation_report(validation, (e->begin - e->end) / e->moving, kiln_at_most(0.1),
                           "%s, %s: loss at the end, of that of motion", what, view);
}

kiln_status kiln_validate_liquid_energy(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++) {
        const char *view = kiln_view_at(row)->name;
        energies e;
        KILN_TRY(run(validation, kiln_view_at(row), true, brief ? 240 : 400, &e, error));
        report(validation, "whirl", view, &e);
        if (brief)
            continue;
        KILN_TRY(run(validation, kiln_view_at(row), false, 240, &e, error));
        report(validation, "wave", view, &e);
    }
    return KILN_OK;
}
