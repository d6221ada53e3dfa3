/* Where implicit contact must not give up (issue 13): steps of up to 0.05 s, a blow at 100 m/s, a
 * ball pressed flat, a stiffness of 1e9 Pa between two of 1e4 Pa, balls that pass each other within
 * a step. After scenes that the program of Li et al. (2020) was run on. */
#include "validation/thrown.h"
#include "validation/watch.h"

#include <math.h>
#include <stdio.h>

typedef struct ordeal {
    const char *name;
    double dt, duration, layer;
    kiln_bound steps;
    double at_play; /* energy, J; NAN: holds do work */
    bool damped;    /* under implicit Euler only, and at length: the others take minutes */
    kiln_vec3 gravity;
    kiln_status (*set_up)(kiln_trial *trial, kiln_trial_map maps[2], kiln_error *error);
    /* What has come out in the end, and what of it is right. */
    double (*result)(const kiln_watch *watch);
    const char *quantity;
    kiln_bound bound;
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

static double speed_back(const kiln_watch *watch)
{
    return watch->velocity[0].z;
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
    static const char plate[] = "lx=0.6 ly=0.6 lz=0.02 nx=6 ny=6 nz=1";
    const double height[2] = {-0.085, 0.065};
    maps[0] = (kiln_trial_map){.trial = trial, .place = go_up, .l = 1};
    maps[1] = (kiln_trial_map){.trial = trial, .place = go_down, .l = 1};
    KILN_TRY(
        add(trial, 1e5, "ball", "radius=0.06 h=0.04", kiln_m3_identity(), kiln_v3(0, 0, 0), error));
    for (int i = 0; i < 2; i++) {
        kiln_picks all;
        KILN_TRY(add(trial, 1e5, "box", plate, kiln_m3_identity(), kiln_v3(-0.3, -0.3, height[i]),
                     error));
        KILN_TRY(kiln_trial_pick_all(trial, &all, error));
        KILN_TRY(hold(trial, 1 + i, &all, &maps[i], error));
    }
    return KILN_OK;
}

static double height_left(const kiln_watch *watch)
{
    return watch->height[0] / 0.12;
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

/* Of the uppermost one, which has the farthest to fall. */
static double way_down(const kiln_watch *watch)
{
    return watch->first[2].z - watch->last[2].z;
}

/* Two cubes of six tets, one exactly above the other: all their edges are parallel. */
static kiln_status set_meeting(kiln_trial *trial, kiln_trial_map maps[2], kiln_error *error)
{
    static const char cube[] = "lx=0.2 ly=0.2 lz=0.2 n=1";
    (void)maps;
    KILN_TRY(add(trial, 1e5, "box", cube, kiln_m3_identity(), kiln_v3(0, 0, 0), error));
    KILN_TRY(add(trial, 1e5, "box", cube, kiln_m3_identity(), kiln_v3(0, 0, 0.25), error));
    trial->scene.bodies.data[1].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -1), 1, 0, -1));
    return KILN_OK;
}

/* One ball meets another off its centre. */
static kiln_status set_balls(kiln_trial *trial, double young, double speed, kiln_error *error)
{
    static const char ball[] = "radius=0.06 h=0.04";
    KILN_TRY(add(trial, young, "ball", ball, kiln_m3_identity(), kiln_v3(0, 0, 0), error));
    KILN_TRY(add(trial, young, "ball", ball, kiln_m3_identity(), kiln_v3(0.03, 0.01, 0.13), error));
    trial->scene.bodies.data[1].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -speed), 1, 0, -1));
    return KILN_OK;
}

static kiln_status set_hard_balls(kiln_trial *trial, kiln_trial_map maps[2], kiln_error *error)
{
    (void)maps;
    return set_balls(trial, 1e9, 10, error);
}

static kiln_status set_fast_balls(kiln_trial *trial, kiln_trial_map maps[2], kiln_error *error)
{
    (void)maps;
    return set_balls(trial, 3e6, 55, error);
}

static double speed_left(const kiln_watch *watch)
{
    return -watch->velocity[0].z;
}

static kiln_status undergo(kiln_validation *validation, const kiln_view *view,
                           kiln_integrator integrator, const ordeal *what, kiln_watch *watch,
                           kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_map maps[2];
    *watch = (kiln_watch){.floor = -INFINITY, .gravity = what->gravity};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_scene *scene = &trial.scene;
    scene->solid.integrator = integrator;
    scene->solid.newton.tolerance = 0.0; /* the preset */
    scene->pace.dt = kiln_trial_number(&trial, what->dt, 0, 0, 1);
    scene->pace.dt_min = 1e-6 * scene->pace.dt;
    scene->duration = kiln_trial_number(&trial, what->duration, 0, 0, 1);
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = kiln_trial_number(&trial, what->layer, 1, 0, 0);
    scene->gravity = kiln_quantity_vector(kiln_trial_vector(&trial, what->gravity, 1, 0, -2));
    kiln_status status = what->set_up(&trial, maps, error);
    if (status == KILN_OK)
        status = kiln_watch_run(watch, &trial, error);
    kiln_trial_end(&trial);
    return status;
}

static void report(kiln_validation *validation, const char *about, const ordeal *what,
                   const kiln_watch *watch)
{
    kiln_validation_report(validation, watch->time / what->duration, kiln_near(1.0, 1e-9),
                           "%s: part of the time that was reached", about);
    kiln_validation_report(validation, (double)watch->crossings, kiln_exactly(0),
                           "%s: crossings after any step, exact", about);
    kiln_validation_report(validation, watch->nearest / what->layer, kiln_between(1e-6, 1.0),
                           "%s: least distance, of the thickness", about);
    kiln_validation_report(validation, (double)watch->steps, what->steps, "%s: steps", about);
    kiln_validation_report(validation, what->result(watch), what->bound, "%s: %s", about,
                           what->quantity);
    if (!isnan(watch->drift))
        kiln_validation_report(validation, watch->drift / kiln_v3_norm(watch->momentum),
                               kiln_at_most(1e-9), "%s: drift of P", about);
    if (isnan(what->at_play))
        return;
    kiln_validation_report(validation, watch->above / what->at_play, kiln_at_most(1e-3),
                           "%s: most energy above that at the begin, of %g J", about,
                           what->at_play);
    kiln_validation_report(validation, watch->rise / what->at_play, kiln_unbound(),
                           "%s: most above what was least before, of %g J", about, what->at_play);
}

/* Only what the sheet throws back has not passed it. The other integrators, which damp little or
 * not at all, in one view. */
kiln_status kiln_validate_extremes(kiln_validation *validation, kiln_error *error)
{
    const kiln_bound any = kiln_unbound(), flat = kiln_at_most(0.1);
    const kiln_bound back = kiln_between(1, 100), down = kiln_between(0.02, 1.95);
    static const char height[] = "height, of that at the begin";
    static const char speed[] = "its speed on the way back, m/s";
    static const char speed_of_one[] = "speed that the lower one has got, m/s";
    static const char way_of_one[] = "way of the upper one, m";
    const kiln_vec3 none = {0, 0, 0}, weight = {0, 0, -9.81};
    const ordeal ordeals[] = {
        {"a ball pressed flat", 0.04, 0.3, 0.001, kiln_at_most(10), NAN, false, none, set_press,
         height_left, height, flat},
        {"a ball pressed flat", 0.01, 0.3, 0.001, any, NAN, false, none, set_press, height_left,
         height, flat},
        {"a ball pressed flat", 0.05, 0.3, 0.001, any, NAN, false, none, set_press, height_left,
         height, flat},
        {"1e9 Pa between 1e4 Pa", 0.05, 0.6, 0.001, any, 1, false, weight, set_cubes, way_down,
         way_of_one, down},
        {"1e9 Pa between 1e4 Pa", 0.01, 0.6, 0.001, any, 1, false, weight, set_cubes, way_down,
         way_of_one, down},
        {"faces that meet exactly", 0.01, 0.1, 0.02, kiln_at_most(10), 4, false, none, set_meeting,
         speed_left, speed_of_one, kiln_between(0.2, 0.8)},
        {"balls of 1e9 Pa at 10 m/s", 0.01, 0.2, 0.001, any, 40, false, none, set_hard_balls,
         speed_left, speed_of_one, kiln_between(1, 10)},
        {"balls at 55 m/s", 0.008, 0.16, 0.002, any, 1200, false, none, set_fast_balls, speed_left,
         speed_of_one, kiln_between(1, 55)},
        {"a ball at 100 m/s", 0.01, 0.1, 0.001, any, 4000, false, none, set_bullet, speed_back,
         speed, back},
        {"a ball at 100 m/s", 0.05, 0.5, 0.001, any, 4000, true, none, set_bullet, speed_back,
         speed, back},
    };
    static const kiln_integrator moving[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};
    bool brief = kiln_validation_is_brief(validation);
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++)
        for (size_t i = 0; i < sizeof ordeals / sizeof ordeals[0]; i++)
            for (int k = 0; k < (v > 0 || brief || ordeals[i].damped ? 1 : 3); k++) {
                kiln_watch watch;
                char about[120];
                if (brief && (ordeals[i].dt < 0.04 || ordeals[i].damped))
                    continue;
                snprintf(about, sizeof about, "%s, %s, dt %g s, %s", ordeals[i].name,
                         kiln_integrator_name(moving[k]), ordeals[i].dt, kiln_view_at(v)->name);
                KILN_TRY(
                    undergo(validation, kiln_view_at(v), moving[k], &ordeals[i], &watch, error));
                report(validation, about, &ordeals[i], &watch);
            }
    return KILN_OK;
}
