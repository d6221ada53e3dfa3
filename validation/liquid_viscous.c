/* Viscous liquids against closed forms (validation.md, 5), with each rule of their pressure. */
#include "mesh/walk.h"
#include "validation/trial.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static const kiln_vec3 *velocities(kiln_world *world)
{
    const kiln_field *field = kiln_mesh_field(kiln_world_mesh(world), KILN_ON_VERTEX, "v");
    return (const kiln_vec3 *)(const void *)field->data;
}

/* L6: all of it may go along x only. */

static kiln_vec3 shear(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    (void)time;
    return kiln_v3(1e-6 * cos(PI * u.z / 0.1), 0, 0);
}

/* Of the wave, by the mass of vertices. */
static double wave_amplitude(const kiln_trial *trial, kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_vec3 *v = velocities(world);
    const double *mass = kiln_mass_lumped(kiln_solid_mass(kiln_world_solid(world)));
    double sum = 0.0, weight = 0.0;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        double shape = cos(PI * kiln_trial_vector_back(trial, mesh->x[i], 1, 0, 0).z / 0.1);
        sum += mass[i] * shape * kiln_trial_vector_back(trial, v[i], 1, 0, -1).x;
        weight += mass[i] * shape * shape;
    }
    return sum / weight;
}

static kiln_status watch_wave(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    kiln_stats stats = {.time = 0.0};
    double first = wave_amplitude(trial, world);
    while (stats.time < trial->scene.duration * (1 - 1e-9))
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    *(double *)trial->user = wave_amplitude(trial, world) / first;
    return KILN_OK;
}

static kiln_status decay(kiln_validation *validation, const kiln_view *view,
                         kiln_integrator integrator, kiln_pressure_rule pressure, double *left,
                         kiln_error *error)
{
    kiln_trial trial;
    const int cells[3] = {2, 2, 10};
    kiln_trial_map map = {.place = shear, .l = 1, .t = -1};
    kiln_picks all;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.pressure = pressure;
    map.trial = &trial;
    kiln_trial_set_steps(&trial, integrator, 0.02, 50);
    trial.scene.solid.newton.tolerance = 1e-13;
    trial.user = left;
    kiln_status status = kiln_trial_liquid(&trial, 1000, 1, 0, error);
    if (status == KILN_OK)
        status = kiln_trial_box(&trial, kiln_v3(0.02, 0.02, 0.1), cells, "mirrored", error);
    if (status == KILN_OK)
        status = kiln_trial_pick_all(&trial, &all, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &all, 2 | 4, NULL, error);
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].velocity = kiln_trial_quantity(&map);
        status = kiln_trial_build(&trial, watch_wave, error);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_L6(kiln_validation *validation, kiln_error *error)
{
    const double rate = PI * PI * 1.0 / (1000 * 0.01), h = 0.02;
    for (size_t row = 0; kiln_view_at(row); row++)
        for (int rule = 0; rule < 3; rule++) {
            const char *pressure = kiln_trial_pressures[rule], *name = kiln_view_at(row)->name;
            double left;
            KILN_TRY(decay(validation, kiln_view_at(row), KILN_IMPLICIT_EULER,
                           (kiln_pressure_rule)rule, &left, error));
            kiln_validation_report(validation, (pow(left, -1.0 / 50) - 1.0) / h,
                                   kiln_near_relative(rate, 0.02),
                                   "%s, implicit-euler, %s: rate of decay, 1/s", pressure, name);
            KILN_TRY(decay(validation, kiln_view_at(row), KILN_BDF2, (kiln_pressure_rule)rule,
                           &left, error));
            kiln_validation_report(validation, -log(left), kiln_near_relative(rate, 0.02),
                                   "%s, bdf2, %s: rate of decay, 1/s", pressure, name);
        }
    return KILN_OK;
}

/* L7: between plates to which it sticks, along its weight. So light that it stays where it is over
 * a step in which inertia no longer counts. */

static const double LIGHT = 1e-6; /* of the weight that the case is about */

static kiln_status watch_channel(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    kiln_stats stats = {.time = 0.0};
    while (stats.time < trial->scene.duration * (1 - 1e-9))
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_vec3 *v = velocities(world);
    double *most = trial->user;
    *most = 0.0;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        *most = fmax(*most, kiln_trial_vector_back(trial, v[i], 1, 0, -1).x / LIGHT);
    return KILN_OK;
}

/* Ends are open: flow is straight there, and nothing pushes along it. */
static kiln_status hold_channel(kiln_trial *trial, kiln_error *error)
{
    static const int components[6] = {6, 6, 2, 2, 7, 7};
    for (int patch = 1; patch <= 6; patch++) {
        kiln_picks where;
        KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, components[patch - 1], NULL, error));
    }
    return KILN_OK;
}

static kiln_status run_channel(kiln_validation *validation, const kiln_view *view, int n,
                               kiln_pressure_rule pressure, double *speed, kiln_error *error)
{
    static const double height = 0.02;
    kiln_trial trial;
    const int cells[3] = {n, 1, n};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, KILN_IMPLICIT_EULER, 1000.0, 1);
    trial.pressure = pressure;
    trial.scene.gravity =
        kiln_quantity_vector(kiln_trial_vector(&trial, kiln_v3(LIGHT, 0, 0), 1, 0, -2));
    trial.scene.solid.newton.tolerance = 1e-12;
    trial.user = speed;
    kiln_status status = kiln_trial_liquid(&trial, 1000, 1, 0, error);
    if (status == KILN_OK)
        status =
            kiln_trial_box(&trial, kiln_v3(height, height / n, height), cells, "mirrored", error);
    if (status == KILN_OK)
        status = hold_channel(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_channel, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_L7(kiln_validation *validation, kiln_error *error)
{
    const double exact = 1000 * 1.0 * 0.02 * 0.02 / 8.0;
    for (size_t row = 0; kiln_view_at(row); row++)
        for (int i = 0; i < 6; i++) {
            int n = i % 2 ? 8 : 4;
            double speed;
            KILN_TRY(run_channel(validation, kiln_view_at(row), n, (kiln_pressure_rule)(i / 2),
                                 &speed, error));
            kiln_validation_report(validation, speed,
                                   kiln_near_relative(exact, n == 4 ? 0.03 : 0.01),
                                   "%s, %d cells, %s: largest speed, m/s",
                                   kiln_trial_pressures[i / 2], n, kiln_view_at(row)->name);
        }
    return KILN_OK;
}
