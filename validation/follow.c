/* E12 to E14: what must not see a body turn (damping), and what turns with it (pressure). */
#include "measure/fixture.h"
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

static kiln_status turn_block(kiln_trial *trial, const turning *t, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, 0.3, 1000, error));
    kiln_material *material = &trial->scene.materials.data[0].base;
    material->damping_stiffness = kiln_trial_number(trial, t->stiffness, 0, 0, 1);
    material->viscosity = kiln_trial_number(trial, t->viscosity, -1, 1, -1);
    KILN_TRY(kiln_trial_box(trial, kiln_v3(0.8, 0.4, 0.4), (int[]){4, 2, 2}, "mirrored", error));
    trial->scene.bodies.data[0].spin = kiln_trial_vector(trial, kiln_v3(10, 0, 0), 0, 0, -1);
    return kiln_trial_run(trial, error);
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
    kiln_status status = turn_block(&trial, t, error);
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

/* Something at rest under a pressure that follows its surface: how it is made, pressed and run, and
 * the two figures that are looked at. */
typedef struct pressed {
    kiln_status (*run)(kiln_trial *trial, const struct pressed *how, kiln_error *error);
    void (*measure)(const kiln_trial *trial, double found[2]);
    double pressure;  /* Pa */
    const char *mesh; /* settings of its shape, where there are several */
} pressed;

static kiln_status press(kiln_validation *validation, const kiln_view *view, const pressed *what,
                         double found[2], kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_status status = what->run(&trial, what, error);
    if (status == KILN_OK)
        what->measure(&trial, found);
    kiln_trial_end(&trial);
    return status;
}

/* Takes the picks. */
static kiln_status run_pressed(kiln_trial *trial, kiln_picks *take_where, double pressure,
                               kiln_error *error)
{
    kiln_quantity amount = kiln_quantity_number(kiln_trial_number(trial, pressure, -1, 1, -2));
    KILN_TRY(kiln_trial_load(trial, KILN_LOAD_PRESSURE, take_where, amount, error));
    return kiln_trial_run(trial, error);
}

/* E13. A free block pressed on all of its surface: every tet has the stretch s with
 * (mu (s^2 - 1) + 3 lambda ln s) / s^3 = -p. */
static kiln_status run_block(kiln_trial *trial, const pressed *how, kiln_error *error)
{
    kiln_picks where;
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e5, 0.3, 1000, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 1, 1), (int[]){3, 3, 3}, "mirrored", error));
    KILN_TRY(kiln_trial_pick_surface(trial, &where, error));
    return run_pressed(trial, &where, how->pressure, error);
}

static void measure_block(const kiln_trial *trial, double range[2])
{
    range[0] = INFINITY, range[1] = 0.0;
    for (size_t t = 0; t < trial->result.tets.count; t++) {
        double volume;
        kiln_mat3 F = kiln_trial_gradient(trial, t, &volume);
        double s = cbrt(kiln_m3_det(F)), mu, lambda;
        kiln_lame_from_young(1e5, 0.3, &mu, &lambda);
        double p = -(mu * (s * s - 1.0) + 3.0 * lambda * log(s)) / (s * s * s);
        range[0] = fmin(range[0], p);
        range[1] = fmax(range[1], p);
    }
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

/* A beam pressed on its upper side, held at x = 0: where the end goes, {down, along}. */
static kiln_status run_beam(kiln_trial *trial, const pressed *how, kiln_error *error)
{
    kiln_picks where;
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, 0.3, 1000, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 0.1, 0.1), (int[]){20, 2, 2}, "mirrored", error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &where, error));
    KILN_TRY(kiln_trial_hold(trial, &where, 7, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 6, &where, error));
    return run_pressed(trial, &where, how->pressure, error);
}

static void measure_beam(const kiln_trial *trial, double tip[2])
{
    kiln_vec3 end = kiln_trial_patch_mean(trial, 2);
    tip[0] = -end.z, tip[1] = 1.0 + end.x;
}

kiln_status kiln_validate_E13(kiln_validation *validation, kiln_error *error)
{
    const pressed block = {run_block, measure_block, 1e4, NULL};
    double found[2], should[2];
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        KILN_TRY(press(validation, view, &block, found, error));
        kiln_validation_report(validation, found[0], kiln_near_relative(1e4, 1e-6),
                               "free block under E/10, %s: least pressure, Pa", view->name);
        kiln_validation_report(validation, found[1], kiln_near_relative(1e4, 1e-6),
                               "free block under E/10, %s: largest pressure, Pa", view->name);
        /* Linear tets are too stiff in bending: EI is what these have under a small load. */
        pressed beam = {run_beam, measure_beam, 0.1, NULL};
        KILN_TRY(press(validation, view, &beam, found, error));
        beam.pressure = 50.0 * 0.01 / (8.0 * found[0]);
        KILN_TRY(press(validation, view, &beam, found, error));
        normal_elastica(5.0, should);
        kiln_validation_report(validation, found[0], kiln_near_relative(should[0], 0.03),
                               "beam, q L^3 / EI = 5, %s: tip down, m", view->name);
        kiln_validation_report(validation, found[1], kiln_near(should[1], 0.03),
                               "beam, q L^3 / EI = 5, %s: tip along, m", view->name);
    }
    return KILN_OK;
}

/* E14. A thick hollow sphere under a pressure inside (Lame 1852): its lower half, with the rim in
 * its plane. */
static const double INSIDE = 0.5, OUTSIDE = 1.0, SHELL_YOUNG = 1e5, SHELL_POISSON = 0.3;

static kiln_status run_shell(kiln_trial *trial, const pressed *how, kiln_error *error)
{
    kiln_soup soup;
    kiln_picks where;
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", SHELL_YOUNG, SHELL_POISSON, 1000, error));
    KILN_TRY(kiln_fixture_soup(trial->context, "bowl", how->mesh, &soup, error));
    kiln_status status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    KILN_TRY(kiln_trial_pick_patch(trial, 3, &where, error));
    KILN_TRY(kiln_trial_hold(trial, &where, 4, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &where, error));
    return run_pressed(trial, &where, how->pressure, error);
}

/* How far the spheres go outward, mean over their vertices. Nothing holds it in the plane of its
 * rim: it may have moved there, and turned. */
static void measure_shell(const kiln_trial *trial, double out[2])
{
    double count[2] = {0, 0}, all = (double)trial->result.points.count;
    kiln_vec3 way = {0, 0, 0};
    for (size_t i = 0; i < trial->result.points.count; i++)
        way = kiln_v3_madd(way, 1.0 / all,
                           kiln_v3_sub(kiln_trial_x(trial, i), kiln_trial_u(trial, i)));
    way.z = 0.0;
    out[0] = out[1] = 0.0;
    for (size_t i = 0; i < trial->result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(trial, i), x = kiln_trial_x(trial, i);
        double r = kiln_v3_norm(u);
        int side = r > 0.5 * (INSIDE + OUTSIDE);
        if (fabs(r - (side ? OUTSIDE : INSIDE)) > 1e-6)
            continue;
        count[side]++;
        out[side] += (kiln_v3_norm(kiln_v3_sub(x, way)) - r - out[side]) / count[side];
    }
}

static double lame(double pressure, double r)
{
    double a3 = INSIDE * INSIDE * INSIDE, b3 = OUTSIDE * OUTSIDE * OUTSIDE;
    return pressure * a3 / (b3 - a3) / SHELL_YOUNG *
           ((1.0 - 2.0 * SHELL_POISSON) * r + (1.0 + SHELL_POISSON) * b3 / (2.0 * r * r));
}

/* The radial stretch at which the nominal stress P = mu (s - 1 / s) + lambda ln J / s, J = s t^2,
 * of a neo-Hookean with the stretch t along the sphere is as given. */
static double radial_stretch(double stress, double t, double guess)
{
    double mu, lambda, s = guess;
    kiln_lame_from_young(SHELL_YOUNG, SHELL_POISSON, &mu, &lambda);
    for (int i = 0; i < 40; i++) {
        double ln = lambda * log(s * t * t), f = mu * (s - 1.0 / s) + ln / s - stress;
        s -= f / (mu * (1.0 + 1.0 / (s * s)) + (lambda - ln) / (s * s));
    }
    return s;
}

/* Slopes by R of the radius and of the radial nominal stress: dP/dR = 2 (Q - P) / R with the
 * stress Q along the sphere. *s is a guess of the radial stretch and becomes it. */
static void shell_slopes(double R, double radius, double stress, double *s, double slope[2])
{
    double mu, lambda, t = radius / R;
    kiln_lame_from_young(SHELL_YOUNG, SHELL_POISSON, &mu, &lambda);
    *s = radial_stretch(stress, t, *s);
    double along = mu * (t - 1.0 / t) + lambda * log(*s * t * t) / t;
    slope[0] = *s;
    slope[1] = 2.0 * (along - stress) / R;
}

/* Where the inner sphere is when the outer one has gone out by that much; *pressure: what it takes,
 * by area of now. From the free outside inward. */
static double shell_inside(double out, double *pressure)
{
    enum { STEPS = 400 };
    double h = (INSIDE - OUTSIDE) / STEPS, radius = OUTSIDE + out, stress = 0.0, s = 1.0;
    for (int i = 0; i < STEPS; i++) {
        double R = OUTSIDE + i * h, slope[2];
        shell_slopes(R, radius, stress, &s, slope);
        shell_slopes(R + 0.5 * h, radius + 0.5 * h * slope[0], stress + 0.5 * h * slope[1], &s,
                     slope);
        radius += h * slope[0];
        stress += h * slope[1];
    }
    *pressure = -stress * INSIDE * INSIDE / (radius * radius);
    return radius - INSIDE;
}

/* How far the spheres of a shell that stretches much go, {inner, outer}. */
static void stretched_shell(double pressure, double out[2])
{
    double low = 0.0, high = 0.2 * OUTSIDE, found;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        shell_inside(middle, &found);
        *(found < pressure ? &low : &high) = middle;
    }
    out[1] = low;
    out[0] = shell_inside(low, &found);
}

/* On two meshes: the error falls with the square of the edge, and so extrapolated, what is found is
 * what it should be. */
static kiln_status report_shell(kiln_validation *validation, const kiln_view *view, pressed shell,
                                const double should[2], const char *name, kiln_error *error)
{
    static const char *const side[] = {"inside", "outside"};
    double coarse[2], fine[2];
    shell.mesh = "radius=1 thickness=0.5 h=0.2";
    KILN_TRY(press(validation, view, &shell, coarse, error));
    shell.mesh = "radius=1 thickness=0.5 h=0.1";
    KILN_TRY(press(validation, view, &shell, fine, error));
    for (int i = 0; i < 2; i++) {
        kiln_validation_report(
            validation, (coarse[i] - should[i]) / (fine[i] - should[i]), kiln_between(3.0, 5.0),
            "hollow sphere, %s, %s: %s, error at twice the edge", name, view->name, side[i]);
        kiln_validation_report(
            validation, fine[i] + (fine[i] - coarse[i]) / 3.0, kiln_near_relative(should[i], 0.01),
            "hollow sphere, %s, %s: %s goes out, extrapolated, m", name, view->name, side[i]);
    }
    return KILN_OK;
}

kiln_status kiln_validate_E14(kiln_validation *validation, kiln_error *error)
{
    const pressed small = {run_shell, measure_shell, 1.0, NULL};
    const pressed large = {run_shell, measure_shell, 2e4, NULL};
    const double linear[2] = {lame(small.pressure, INSIDE), lame(small.pressure, OUTSIDE)};
    double stretched[2];
    stretched_shell(large.pressure, stretched);
    for (size_t v = 0; kiln_view_at(v) && (v == 0 || !kiln_validation_is_brief(validation)); v++) {
        const kiln_view *view = kiln_view_at(v);
        KILN_TRY(report_shell(validation, view, small, linear, "small strain", error));
        KILN_TRY(report_shell(validation, view, large, stretched, "p = E/5", error));
    }
    return KILN_OK;
}
