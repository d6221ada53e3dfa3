/* An elastic block lands flat on a plane without friction. Nothing can take its energy: what of
 * it does not fly is in its vibration. From the nodes and velocities of each frame. */
#include "validation/trial.h"

#include <math.h>

static const double side = 0.2, young = 2e5, poisson = 0.3, density = 1000, speed = 0.1;

typedef struct landing {
    double first, last, most, least; /* energy: J; over the first */
} landing;

/* Linear elasticity, masses lumped. */
static double energy_of(const kiln_trial *trial)
{
    const kiln_vec3 *v = kiln_trial_field(trial, "v");
    double mu = young / (2 * (1 + poisson)), sum = 0.0;
    double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    for (size_t t = 0; t < trial->result.tets.count; t++) {
        double volume;
        kiln_mat3 F = kiln_trial_gradient(trial, t, &volume);
        kiln_mat3 strain = kiln_m3_scale(kiln_m3_add(F, kiln_m3_transpose(F)), 0.5);
        strain = kiln_m3_add(strain, kiln_m3_scale(kiln_m3_identity(), -1.0));
        double trace = strain.m[0][0] + strain.m[1][1] + strain.m[2][2];
        sum += volume * (mu * kiln_m3_norm2(strain) + 0.5 * lambda * trace * trace);
        for (int i = 0; i < 4; i++)
            sum += 0.125 * density * volume * kiln_v3_norm2(v[trial->result.tets.data[t].v[i]]);
    }
    return sum;
}

static void look(kiln_trial *trial)
{
    landing *l = trial->user;
    double now = energy_of(trial);
    if (l->first == 0.0)
        *l = (landing){.first = now, .least = 1.0};
    l->last = now / l->first;
    l->most = fmax(l->most, l->last);
    l->least = fmin(l->least, l->last);
}

static kiln_status set_up(kiln_trial *trial, int cells, kiln_error *error)
{
    const int n[3] = {cells, cells, cells};
    KILN_TRY(kiln_trial_material(trial, "linear", young, poisson, density, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(side, side, side), n, "kuhn", error));
    trial->scene.bodies.data[0].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -speed), 1, 0, -1));
    kiln_scene_obstacle floor = {
        .shape = {.kind = KILN_OBSTACLE_PLANE,
                  .point = kiln_trial_vector(trial, kiln_v3(0, 0, -1e-4), 1, 0, 0),
                  .normal = kiln_trial_vector(trial, kiln_v3(0, 0, 1), 0, 0, 0)},
        .motion.obstacle = -1};
    return kiln_array_push(trial->context, &trial->scene.obstacles, floor, error);
}

static kiln_status land(kiln_validation *validation, const kiln_view *view, int cells,
                        kiln_integrator integrator, double dt, landing *l, kiln_error *error)
{
    kiln_trial trial;
    *l = (landing){.first = 0.0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = integrator;
    trial.scene.pace.dt = kiln_trial_number(&trial, dt, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-3 * trial.scene.pace.dt;
    trial.scene.duration = kiln_trial_number(&trial, 0.05, 0, 0, 1);
    trial.scene.output.frame = kiln_trial_number(&trial, 0.002, 0, 0, 1);
    trial.user = l;
    trial.on_frame = look;
    kiln_status status = set_up(&trial, cells, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_impact(kiln_validation *validation, kiln_error *error)
{
    /* dt such that bdf2's own damping is small. */
    static const struct {
        kiln_integrator integrator;
        double dt, least;
    } rows[] = {
        {KILN_NEWMARK, 1e-3, 0.999}, {KILN_NEWMARK, 5e-4, 0.999}, {KILN_BDF2, 2.5e-4, 0.996}};
    landing l;
    for (size_t i = 0; i < 3; i++) {
        const char *name = kiln_integrator_name(rows[i].integrator);
        for (size_t v = 0; kiln_view_at(v); v++) {
            const kiln_view *view = kiln_view_at(v);
            KILN_TRY(land(validation, view, 3, rows[i].integrator, rows[i].dt, &l, error));
            kiln_validation_report(validation, l.last, kiln_between(rows[i].least, 1.0005),
                                   "%s, dt %g ms, %s: energy after a bounce, 162 tets", name,
                                   1e3 * rows[i].dt, view->name);
            kiln_validation_report(validation, l.most, kiln_at_most(1.0005),
                                   "%s, dt %g ms, %s: most energy", name, 1e3 * rows[i].dt,
                                   view->name);
        }
    }
    kiln_validation_report(validation, l.least, kiln_between(0.75, 0.9),
                           "least energy: the impact has taken some");
    KILN_TRY(land(validation, kiln_view_at(0), 6, KILN_NEWMARK, 5e-4, &l, error));
    kiln_validation_report(validation, l.last, kiln_between(0.96, 1.0005),
                           "newmark: energy after a bounce, 1296 tets");
    return KILN_OK;
}
