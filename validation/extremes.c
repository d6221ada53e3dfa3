/* Where implicit contact must not give up (issue 13): steps of up to 0.05 s, a blow at 100 m/s, a
 * ball pressed flat, a stiffness of 1e9 Pa between two of 1e4 Pa. After scenes that the program of
 * Li et al. (2020) was run on. */
#include "validation/thrown.h"
#include "validation/watch.h"

#include <math.h>

static const double layer = 0.001;

typedef struct ordeal {
    const char *name;
    double dt, duration;
    double most_steps; /* over those that were asked for */
    kiln_vec3 gravity;
    kiln_status (*set_up)(kiln_trial *trial, kiln_trial_map maps[2], kiln_error *error);
    void (*report)(kiln_validation *validation, const struct ordeal *what, const char *view,
                   const kiln_watch *watch);
} ordeal;

static kiln_status add(kiln_trial *trial, double young, const char *shape, const char *settings,
                       kiln_mat3 turn, kiln_vec3 place, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", young, 0.4, 1000, error));
    return kiln_trial_turned_shape(trial, shape, settings, turn, place, error);
}

/* Of one body; takes the picks. */
static kiln_status hold(kiln_trial *trial, int body, kiln_picks *take_where, kiln_trial_map *map,
                        kiln_error *error)
{
    KILN_TRY(kiln_trial_hold(trial, take_where, 7, map, error));
    trial->scene.holds.data[trial->scene.holds.count - 1].body = body;
    return KILN_OK;
}

/* A ball meets a sheet of 4 mm that is held at its sides. */
static kiln_status set_bullet(kiln_trial *trial, kiln_trial_map maps[2], kiln_error *error)
{
    (void)maps;
    KILN_TRY(add(trial, 1e6, "ball", "radius=0.06 h=0.045", kiln_m3_identity(), kiln_v3(0, 0, 0.1),
                 error));
    trial->scene.bodies.data[0].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -100), 1, 0, -1));
    KILN_TRY(add(trial, 1e6, "box", "lx=0.3 ly=0.3 lz=0.004 nx=16 ny=16 nz=1", kiln_m3_identity(),
                 kiln_v3(-0.15, -0.15, 0), error));
    for (int side = 1; side <= 4; side++) {
        kiln_picks where;
        KILN_TRY(kiln_trial_pick_patch(trial, side, &where, error));
        KILN_TRY(hold(trial, 1, &where, NULL, error));
    }
    return KILN_OK;
}

/* Only what the sheet throws back has not passed it. */
static void report_bullet(kiln_validation *validation, const ordeal *what, const char *view,
                          const kiln_watch *watch)
{
    kiln_validation_report(validation, watch->velocity[0].z, kiln_between(1.0, 100.0),
                           "%s, dt %g s, %s: speed of the ball on its way back, m/s", what->name,
                           what->dt, view);
}

static double way(double time)
{
    return fmin(0.25 * time, 0.062);
}

static kiln_vec3 go_up(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    return kiln_v3(u.x, u.y, u.z + way(time));
}

static kiln_vec3 go_down(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    return kiln_v3(u.x, u.y, u.z - way(time));
}

/* A ball between two plates that leave 6 mm of 120. */
static kiln_status set_press(kiln_trial *trial, kiln_trial_map maps[2], kiln_error *error)
{
    static const char plate[] = "lx=0.2 ly=0.2 lz=0.02 nx=4 ny=4 nz=1";
    const double height[2] = {-0.085, 0.065};
    maps[0] = (kiln_trial_map){.trial = trial, .place = go_up, .l = 1};
    maps[1] = (kiln_trial_map){.trial = trial, .place = go_down, .l = 1};
    KILN_TRY(
        add(trial, 1e5, "ball", "radius=0.06 h=0.04", kiln_m3_identity(), kiln_v3(0, 0, 0), error));
    for (int i = 0; i < 2; i++) {
        kiln_picks all;
        KILN_TRY(add(trial, 1e5, "box", plate, kiln_m3_identity(), kiln_v3(-0.1, -0.1, height[i]),
                     error));
        KILN_TRY(kiln_trial_pick_all(trial, &all, error));
        KILN_TRY(hold(trial, 1 + i, &all, &maps[i], error));
    }
    return KILN_OK;
}

static void report_press(kiln_validation *validation, const ordeal *what, const char *view,
                         const kiln_watch *watch)
{
    kiln_validation_report(validation, watch->height[0] / 0.12, kiln_at_most(0.1),
                           "%s, dt %g s, %s: height of the ball over that at the begin", what->name,
                           what->dt, view);
}

/* A hard cube falls on a soft one, and another soft one on it. */
static kiln_status set_cubes(kiln_trial *trial, kiln_trial_map maps[2], kiln_error *error)
{
    static const char cube[] = "lx=0.1 ly=0.1 lz=0.1 n=3";
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(0, 0, 1), 20 * 3.14159265358979323846 / 180);
    kiln_picks foot;
    (void)maps;
    KILN_TRY(add(trial, 1e4, "box", cube, kiln_m3_identity(), kiln_v3(0, 0, 0), error));
    KILN_TRY(add(trial, 1e9, "box", cube, turn, kiln_v3(0.02, 0.01, 0.12), error));
    KILN_TRY(add(trial, 1e4, "box", cube, kiln_m3_identity(), kiln_v3(0.01, 0, 0.24), error));
    KILN_TRY(kiln_trial_pick_below(trial, 1e-6, &foot, error));
    return hold(trial, 0, &foot, NULL, error);
}

static kiln_status undergo(kiln_validation *validation, const kiln_view *view, const ordeal *what,
                           kiln_watch *watch, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_map maps[2];
    *watch = (kiln_watch){.floor = -INFINITY, .gravity = what->gravity};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_scene *scene = &trial.scene;
    scene->solid.integrator = KILN_IMPLICIT_EULER;
    scene->solid.newton.tolerance = 3e-4; /* 1e-4 m: where the other program stopped, too */
    scene->pace.dt = kiln_trial_number(&trial, what->dt, 0, 0, 1);
    scene->pace.dt_min = 1e-6 * scene->pace.dt;
    scene->duration = kiln_trial_number(&trial, what->duration, 0, 0, 1);
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = kiln_trial_number(&trial, layer, 1, 0, 0);
    scene->gravity = kiln_quantity_vector(kiln_trial_vector(&trial, what->gravity, 1, 0, -2));
    kiln_status status = what->set_up(&trial, maps, error);
    if (status == KILN_OK)
        status = kiln_watch_run(watch, &trial, error);
    kiln_trial_end(&trial);
    return status;
}

static void report(kiln_validation *validation, const ordeal *what, const char *view,
                   const kiln_watch *watch)
{
    kiln_validation_report(validation, watch->time / what->duration, kiln_near(1.0, 1e-9),
                           "%s, dt %g s, %s: part of the time that was reached", what->name,
                           what->dt, view);
    kiln_validation_report(validation, (double)watch->crossings, kiln_exactly(0),
                           "%s, dt %g s, %s: crossings after any step, exact", what->name, what->dt,
                           view);
    kiln_validation_report(validation, watch->nearest / layer, kiln_between(1e-6, 1.0),
                           "%s, dt %g s, %s: least distance, of the thickness", what->name,
                           what->dt, view);
    kiln_validation_report(validation, (double)watch->steps * what->dt / what->duration,
                           kiln_at_most(what->most_steps),
                           "%s, dt %g s, %s: steps over those asked for", what->name, what->dt,
                           view);
    if (what->report)
        what->report(validation, what, view, watch);
}

kiln_status kiln_validate_extremes(kiln_validation *validation, kiln_error *error)
{
    static const ordeal ordeals[] = {
        {"a ball pressed to a tenth", 0.04, 0.3, 1.34, {0, 0, 0}, set_press, report_press},
        {"a ball pressed to a tenth", 0.01, 0.3, 1.34, {0, 0, 0}, set_press, report_press},
        {"a ball pressed to a tenth", 0.05, 0.3, 1.34, {0, 0, 0}, set_press, report_press},
        {"1e9 Pa between 1e4 Pa", 0.05, 0.6, 1.34, {0, 0, -9.81}, set_cubes, NULL},
        {"1e9 Pa between 1e4 Pa", 0.01, 0.6, 1.34, {0, 0, -9.81}, set_cubes, NULL},
        {"a ball at 100 m/s", 0.01, 0.1, 1.34, {0, 0, 0}, set_bullet, report_bullet},
        {"a ball at 100 m/s", 0.05, 0.5, 1.34, {0, 0, 0}, set_bullet, report_bullet},
    };
    bool brief = kiln_validation_is_brief(validation);
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++)
        for (size_t i = 0; i < sizeof ordeals / sizeof ordeals[0]; i++) {
            kiln_watch watch;
            if (brief && ordeals[i].dt < 0.04)
                continue;
            KILN_TRY(undergo(validation, kiln_view_at(v), &ordeals[i], &watch, error));
            report(validation, &ordeals[i], kiln_view_at(v)->name, &watch);
        }
    return KILN_OK;
}
