/* E12 and E13: what must not see a body turn (damping), and what turns with it (pressure). */
#include "validation/trial.h"

#include <stdio.h>

/* E12. What is left of the angular momentum of a block that turns about its axis of least inertia,
 * 0.05 rad a step for a second. */
typedef struct turning {
    const char *name;
    kiln_integrator integrator;
    double stiffness, viscosity; /* s, Pa s */
    double first, last;          /* |L| */
} turning;

static void weigh_frame(kiln_trial *trial)
{
    turning *t = trial->user;
    const kiln_vec3 *v = kiln_trial_field(trial, "v");
    kiln_vec3 L = {0, 0, 0};
    for (size_t e = 0; v && e < trial->result.tets.count; e++) {
        double volume;
        kiln_trial_gradient(trial, e, &volume);
        for (int c = 0; c < 4; c++) {
            uint32_t i = trial->result.tets.data[e].v[c];
            kiln_vec3 p = kiln_v3_scale(v[i], 250 * volume);
            L = kiln_v3_add(L, kiln_v3_cross(kiln_trial_x(trial, i), p));
        }
    }
    t->last = kiln_v3_norm(L);
    if (t->first == 0.0)
        t->first = t->last;
}

static kiln_status turn(kiln_validation *validation, const kiln_view *view, turning *t,
                        kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = t->integrator;
    trial.scene.pace.dt = kiln_trial_number(&trial, 0.005, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-6 * trial.scene.pace.dt;
    trial.scene.duration = 200 * trial.scene.pace.dt;
    trial.scene.output.frame = trial.scene.duration;
    trial.on_frame = weigh_frame;
    trial.user = t;
    t->first = t->last = 0.0;
    kiln_status status = kiln_trial_material(&trial, "neo-hookean", 1e6, 0.3, 1000, error);
    if (status == KILN_OK) {
        kiln_material *material = &trial.scene.materials.data[0].base;
        material->damping_stiffness = kiln_trial_number(&trial, t->stiffness, 0, 0, 1);
        material->viscosity = kiln_trial_number(&trial, t->viscosity, -1, 1, -1);
        status =
            kiln_trial_box(&trial, kiln_v3(0.8, 0.4, 0.4), (int[]){4, 2, 2}, "mirrored", error);
    }
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].spin = kiln_trial_vector(&trial, kiln_v3(10, 0, 0), 0, 0, -1);
        status = kiln_trial_run(&trial, error);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_E12(kiln_validation *validation, kiln_error *error)
{
    static const char *const names[] = {"implicit-euler", "newmark", "bdf2"};
    for (int i = 0; i < 3; i++)
        for (size_t v = 0; kiln_view_at(v); v++) {
            turning t = {.integrator = (kiln_integrator)i};
            KILN_TRY(turn(validation, kiln_view_at(v), &t, error));
            double kept = t.last / t.first;
            if (v == 0)
                kiln_validation_report(validation, kept, kiln_unbound(), "%s: L kept undamped",
                                       names[i]);
            t.stiffness = 0.01;
            KILN_TRY(turn(validation, kiln_view_at(v), &t, error));
            kiln_validation_report(validation, t.last / t.first - kept, kiln_near(0.0, 1e-3),
                                   "%s, %s: beta 0.01 s, L kept more than undamped", names[i],
                                   kiln_view_at(v)->name);
            t.stiffness = 0.0, t.viscosity = 1000;
            KILN_TRY(turn(validation, kiln_view_at(v), &t, error));
            kiln_validation_report(validation, t.last / t.first - kept, kiln_near(0.0, 1e-3),
                                   "%s, %s: viscosity 1000 Pa s, L kept more than undamped",
                                   names[i], kiln_view_at(v)->name);
        }
    return KILN_OK;
}

/* E13. A free block at rest under p = E/10 on all of its surface: every tet has the stretch s with
 * (mu (s^2 - 1) + 3 lambda ln s) / s^3 = -p. */
static kiln_status press_block(kiln_validation *validation, const kiln_view *view, double pressure,
                               double worst[2], kiln_error *error)
{
    kiln_trial trial;
    kiln_picks where;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_status status = kiln_trial_material(&trial, "neo-hookean", 1e5, 0.3, 1000, error);
    if (status == KILN_OK)
        status = kiln_trial_box(&trial, kiln_v3(1, 1, 1), (int[]){3, 3, 3}, "mirrored", error);
    if (status == KILN_OK)
        status = kiln_trial_pick_surface(&trial, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_load(
            &trial, KILN_LOAD_PRESSURE, &where,
            kiln_quantity_number(kiln_trial_number(&trial, pressure, -1, 1, -2)), error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    worst[0] = INFINITY, worst[1] = 0.0;
    for (size_t t = 0; status == KILN_OK && t < trial.result.tets.count; t++) {
        double volume;
        kiln_mat3 F = kiln_trial_gradient(&trial, t, &volume);
        double s = cbrt(kiln_m3_det(F)), mu, lambda;
        kiln_lame_from_young(1e5, 0.3, &mu, &lambda);
        double p = -(mu * (s * s - 1.0) + 3.0 * lambda * log(s)) / (s * s * s);
        worst[0] = fmin(worst[0], p);
        worst[1] = fmax(worst[1], p);
    }
    kiln_trial_end(&trial);
    return status;
}

/* The elastica under a load that stays normal to it. With R the force of the load beyond s, EI
 * kappa' = -R.n and R' = -q n give EI kappa'' = q - EI kappa^3 / 2, and at the free end kappa =
 * kappa' = 0: an initial value problem from there. The tip's way down and its distance from the
 * clamp along the beam, for L = 1 and load = q / EI. */
static void normal_elastica(double load, double tip[2])
{
    enum { STEPS = 20000 };
    double kappa = 0.0, slope = 0.0, h = 1.0 / STEPS, angle = 0.0, x = 0.0, z = 0.0;
    for (int i = 0; i < STEPS; i++) {
        double k = kappa + 0.5 * h * slope;
        double s = slope + 0.5 * h * (load - 0.5 * kappa * kappa * kappa);
        double middle = angle + 0.5 * h * kappa;
        x += h * cos(middle), z += h * sin(middle); /* seen from the tip */
        angle += h * k;
        kappa += h * s;
        slope += h * (load - 0.5 * k * k * k);
    }
    tip[0] = x * sin(angle) - z * cos(angle);
    tip[1] = x * cos(angle) + z * sin(angle);
}

/* Pressed on its upper side, held at x = 0: where the end goes, {down, along}. */
static kiln_status press_beam(kiln_validation *validation, const kiln_view *view, double pressure,
                              double tip[2], kiln_error *error)
{
    kiln_trial trial;
    kiln_picks where;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_status status = kiln_trial_material(&trial, "neo-hookean", 1e6, 0.3, 1000, error);
    if (status == KILN_OK)
        status = kiln_trial_box(&trial, kiln_v3(1, 0.1, 0.1), (int[]){20, 2, 2}, "mirrored", error);
    if (status == KILN_OK)
        status = kiln_trial_pick_patch(&trial, 1, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &where, 7, NULL, error);
    if (status == KILN_OK)
        status = kiln_trial_pick_patch(&trial, 6, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_load(
            &trial, KILN_LOAD_PRESSURE, &where,
            kiln_quantity_number(kiln_trial_number(&trial, pressure, -1, 1, -2)), error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK) {
        kiln_vec3 end = kiln_trial_patch_mean(&trial, 2);
        tip[0] = -end.z, tip[1] = 1.0 + end.x;
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_E13(kiln_validation *validation, kiln_error *error)
{
    double worst[2], tip[2], should[2];
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        KILN_TRY(press_block(validation, view, 1e4, worst, error));
        kiln_validation_report(validation, worst[0], kiln_near_relative(1e4, 1e-6),
                               "free block under E/10, %s: least pressure, Pa", view->name);
        kiln_validation_report(validation, worst[1], kiln_near_relative(1e4, 1e-6),
                               "free block under E/10, %s: largest pressure, Pa", view->name);
        /* Linear tets are too stiff in bending: EI is what these have under a small load. */
        KILN_TRY(press_beam(validation, view, 0.1, tip, error));
        double stiffness = 0.01 / (8.0 * tip[0]);
        KILN_TRY(press_beam(validation, view, 50.0 * stiffness, tip, error));
        normal_elastica(5.0, should);
        kiln_validation_report(validation, tip[0], kiln_near_relative(should[0], 0.03),
                               "beam, q L^3 / EI = 5, %s: tip down, m", view->name);
        kiln_validation_report(validation, tip[1], kiln_near(should[1], 0.03),
                               "beam, q L^3 / EI = 5, %s: tip along, m", view->name);
    }
    return KILN_OK;
}
