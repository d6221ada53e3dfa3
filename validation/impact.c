/* An elastic block lands on a plane without friction, flat, on an edge or on a corner. Nothing can
 * take its energy: what of it does not fly is in its vibration. From the nodes and velocities of
 * each frame. */
#include "validation/trial.h"

#include <math.h>

static const double side = 0.2, young = 2e5, poisson = 0.3, density = 1000, speed = 0.1;

typedef struct landing {
    kiln_integrator integrator;
    double dt, least_kept;
    kiln_mass_kind mass;
    int cells;
    double normal[3]; /* of the plane, towards the corner at the origin */
    double size;      /* of edges after remeshing, m; 0: none */
    const char *name;
} landing;

typedef struct course {
    const landing *what;
    double first, last, most, least; /* energy: J; over the first */
} course;

/* Twice the kinetic energy of a tet, over its mass. */
static double square_speed(const kiln_vec3 *v, const uint32_t *corner, kiln_mass_kind mass)
{
    double sum = 0.0;
    kiln_vec3 all = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        sum += kiln_v3_norm2(v[corner[i]]);
        all = kiln_v3_add(all, v[corner[i]]);
    }
    return mass == KILN_MASS_LUMPED ? 0.25 * sum : 0.05 * (sum + kiln_v3_norm2(all));
}

/* Linear elasticity. */
static double energy_of(const kiln_trial *trial, kiln_mass_kind mass)
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
        sum += 0.5 * density * volume * square_speed(v, trial->result.tets.data[t].v, mass);
    }
    return sum;
}

static void look(kiln_trial *trial)
{
    course *c = trial->user;
    double now = energy_of(trial, c->what->mass);
    if (c->first == 0.0)
        *c = (course){.what = c->what, .first = now, .least = 1.0};
    c->last = now / c->first;
    c->most = fmax(c->most, c->last);
    c->least = fmin(c->least, c->last);
}

static kiln_status set_up(kiln_trial *trial, const landing *l, kiln_error *error)
{
    const int n[3] = {l->cells, l->cells, l->cells};
    kiln_vec3 up = kiln_v3_normalize(kiln_v3(l->normal[0], l->normal[1], l->normal[2]));
    KILN_TRY(kiln_trial_material(trial, "linear", young, poisson, density, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(side, side, side), n, "kuhn", error));
    trial->scene.bodies.data[0].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3_scale(up, -speed), 1, 0, -1));
    kiln_scene_obstacle floor = {
        .shape = {.kind = KILN_OBSTACLE_PLANE,
                  .point = kiln_trial_vector(trial, kiln_v3_scale(up, -1e-4), 1, 0, 0),
                  .normal = kiln_trial_vector(trial, up, 0, 0, 0)},
        .motion.obstacle = -1};
    return kiln_array_push(trial->context, &trial->scene.obstacles, floor, error);
}

static kiln_status land(kiln_validation *validation, const kiln_view *view, const landing *l,
                        course *c, kiln_error *error)
{
    kiln_trial trial;
    *c = (course){.what = l};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = l->integrator;
    trial.scene.solid.mass = l->mass;
    trial.scene.pace.dt = kiln_trial_number(&trial, l->dt, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-3 * trial.scene.pace.dt;
    /* Edges and corners stay longer in the layer before the plane. */
    trial.scene.duration = kiln_trial_number(&trial, l->normal[0] > 0.0 ? 0.2 : 0.05, 0, 0, 1);
    trial.scene.output.frame = kiln_trial_number(&trial, 0.002, 0, 0, 1);
    if (l->size > 0.0) {
        trial.scene.remesh.method = KILN_REMESH_LOCAL;
        trial.scene.remesh.size = kiln_trial_number(&trial, l->size, 1, 0, 0);
    }
    trial.user = c;
    trial.on_frame = look;
    kiln_status status = set_up(&trial, l, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    return status;
}

static void report(kiln_validation *validation, const landing *l, const char *view, const course *c)
{
    const char *name = kiln_integrator_name(l->integrator);
    kiln_validation_report(validation, c->last, kiln_between(l->least_kept, 1.0002),
                           "%s, dt %g ms, %s, %s: energy after a bounce", name, 1e3 * l->dt,
                           l->name, view);
    kiln_validation_report(validation, c->most, kiln_at_most(1.0002),
                           "%s, dt %g ms, %s, %s: most energy", name, 1e3 * l->dt, l->name, view);
}

kiln_status kiln_validate_impact(kiln_validation *validation, kiln_error *error)
{
    /* dt such that bdf2's own damping is small. */
    static const landing rows[] = {
        {KILN_NEWMARK, 1e-3, 0.999, KILN_MASS_LUMPED, 3, {0, 0, 1}, 0, "lumped, flat"},
        {KILN_NEWMARK, 5e-4, 0.999, KILN_MASS_LUMPED, 3, {0, 0, 1}, 0, "lumped, flat"},
        {KILN_NEWMARK, 5e-4, 0.97, KILN_MASS_CONSISTENT, 3, {0, 0, 1}, 0, "consistent, flat"},
        {KILN_NEWMARK, 5e-4, 0.99, KILN_MASS_CONSISTENT, 3, {1, 0, 1}, 0, "consistent, on an edge"},
        {KILN_NEWMARK,
         5e-4,
         0.99,
         KILN_MASS_CONSISTENT,
         3,
         {1, 1, 1},
         0,
         "consistent, on a corner"},
        {KILN_BDF2, 2.5e-4, 0.95, KILN_MASS_CONSISTENT, 3, {0, 0, 1}, 0, "consistent, flat"},
        {KILN_BDF2, 2.5e-4, 0.996, KILN_MASS_LUMPED, 3, {0, 0, 1}, 0, "lumped, flat"},
    };
    static const landing fine[] = {
        {KILN_NEWMARK, 5e-4, 0.96, KILN_MASS_LUMPED, 6, {0, 0, 1}, 0, "lumped, flat, 1296 tets"},
        {KILN_NEWMARK,
         5e-4,
         0.95,
         KILN_MASS_CONSISTENT,
         6,
         {0, 0, 1},
         0,
         "consistent, flat, 1296 tets"},
        {KILN_NEWMARK,
         5e-4,
         0.95,
         KILN_MASS_CONSISTENT,
         3,
         {0, 0, 1},
         0.06,
         "consistent, flat, remeshed"},
        {KILN_BDF2,
         2.5e-4,
         0.93,
         KILN_MASS_CONSISTENT,
         3,
         {0, 0, 1},
         0.06,
         "consistent, flat, remeshed"},
    };
    course c;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t v = 0; kiln_view_at(v); v++) {
            KILN_TRY(land(validation, kiln_view_at(v), &rows[i], &c, error));
            report(validation, &rows[i], kiln_view_at(v)->name, &c);
        }
    kiln_validation_report(validation, c.least, kiln_between(0.75, 0.9),
                           "least energy: the impact has taken some");
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        KILN_TRY(land(validation, kiln_view_at(0), &fine[i], &c, error));
        report(validation, &fine[i], kiln_view_at(0)->name, &c);
    }
    return KILN_OK;
}
