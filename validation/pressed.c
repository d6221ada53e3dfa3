/* Blocks that are pressed: how far apart a clearance keeps them, what adaptive stiffness leaves of
 * the gap under a load that is far too large for a fixed one, and holds that lead into contact in
 * one go. */
#include "validation/thrown.h"

#include <math.h>
#include <stdio.h>

static const double side = 0.2, layer = 0.002, modulus = 1e5;

static size_t views_of(const kiln_validation *validation)
{
    return kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
}

/* Poisson's ratio is 0 and nothing moves sideways: one column beside the other. */
static kiln_status add_block(kiln_trial *trial, double z, int cells, kiln_error *error)
{
    char settings[100];
    snprintf(settings, sizeof settings, "lx=%g ly=%g lz=%g n=%d", side, side, side, cells);
    return kiln_trial_shape(trial, "box", settings, kiln_v3(-0.5 * side, -0.5 * side, z), error);
}

/* On the top of the last body. */
static kiln_status press_down(kiln_trial *trial, double pressure, kiln_error *error)
{
    kiln_picks all, top;
    KILN_TRY(kiln_trial_pick_all(trial, &all, error));
    KILN_TRY(kiln_trial_hold(trial, &all, 3, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 6, &top, error));
    KILN_TRY(kiln_trial_load(
        trial, KILN_LOAD_TRACTION, &top,
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -pressure), -1, 1, -2)),
        error));
    trial->scene.loads.data[0].body = (int)trial->scene.bodies.count - 1;
    return KILN_OK;
}

/* Clearance: as C2, 9.81e-3 of the stiffness leaves 0.943906 of the thickness, beyond it; up to
 * what the ripples of the pressure between two meshes do. */

static const double clearance = 0.01, squeeze = 9.81e-3, gap = 0.943906;

static kiln_status stack_blocks(kiln_trial *trial, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    double low = 0.5 * clearance - 0.03 * layer;
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = kiln_trial_number(trial, layer, 1, 0, 0);
    KILN_TRY(kiln_trial_material(trial, "linear", modulus, 0.0, 1000, error));
    KILN_TRY(add_block(trial, low, 4, error));
    KILN_TRY(add_block(trial, low + side + clearance + 0.97 * layer, 3, error));
    for (int b = 0; b < 2; b++)
        scene->bodies.data[b].clearance = kiln_trial_number(trial, clearance, 1, 0, 0);
    KILN_TRY(press_down(trial, squeeze * modulus, error));
    return kiln_trial_plane(trial, 0.0, 0.0, error);
}

typedef struct gaps {
    double wall, least, most; /* of the thickness, beyond the clearance */
} gaps;

/* The highest of the lower block, the lowest of the upper one. */
static void measure_gaps(kiln_trial *trial)
{
    gaps *g = trial->user;
    double below = INFINITY, top[2] = {INFINITY, -INFINITY}, bottom[2] = {INFINITY, -INFINITY};
    double middle = 0.5 * clearance + side + 0.5 * layer;
    for (size_t i = 0; i < trial->result.points.count; i++) {
        double z = kiln_trial_u(trial, i).z, at = kiln_trial_x(trial, i).z;
        below = fmin(below, at);
        double *face = z < middle                     ? z > middle - layer ? top : NULL
                       : z < middle + 2.0 * clearance ? bottom
                                                      : NULL;
        if (!face)
            continue;
        face[0] = fmin(face[0], at);
        face[1] = fmax(face[1], at);
    }
    g->wall = 1.0 + (below - 0.5 * clearance) / layer;
    g->least = (bottom[0] - top[1] - clearance) / layer;
    g->most = (bottom[1] - top[0] - clearance) / layer;
}

kiln_status kiln_validate_clearance(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        kiln_trial trial;
        gaps g = {NAN, NAN, NAN};
        kiln_trial_begin(&trial, kiln_validation_context(validation), view);
        trial.user = &g;
        trial.on_frame = measure_gaps;
        kiln_status status = stack_blocks(&trial, error);
        if (status == KILN_OK)
            status = kiln_trial_run(&trial, error);
        kiln_trial_end(&trial);
        KILN_TRY(status);
        kiln_validation_report(validation, fabs(g.wall - gap), kiln_at_most(1e-3),
                               "%s: gap over a plane beyond half the clearance, off %g of the "
                               "thickness by",
                               view->name, gap);
        kiln_validation_report(validation, g.least, kiln_near(0.9, 0.1),
                               "%s: least gap between blocks beyond the clearance, of the "
                               "thickness",
                               view->name);
        kiln_validation_report(validation, g.most - g.least, kiln_at_most(0.1),
                               "%s: most less least, of the thickness", view->name);
    }
    return KILN_OK;
}

/* Hard: C2 again, pressed 1000 times as hard as the stiffness. */

static const double load = 0.1, soft = 1e-4;

typedef struct hardship {
    double least; /* gap, of the thickness */
    double newton;
} hardship;

static void look_below(kiln_trial *trial)
{
    hardship *h = trial->user;
    h->least = INFINITY;
    for (size_t i = 0; i < trial->result.points.count; i++)
        h->least = fmin(h->least, 1.0 + kiln_trial_x(trial, i).z / layer);
}

static kiln_status count_iterations(kiln_trial *trial, const kiln_stats *stats, kiln_error *error)
{
    (void)error;
    hardship *h = trial->user;
    h->newton += isfinite(stats->newton) ? stats->newton : 0.0;
    return KILN_OK;
}

static kiln_status press_hard(kiln_validation *validation, const kiln_view *view, bool adaptive,
                              hardship *h, kiln_error *error)
{
    kiln_trial trial;
    *h = (hardship){.least = NAN};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = h;
    trial.on_frame = look_below;
    trial.on_step = count_iterations;
    trial.scene.contact.thickness = kiln_trial_number(&trial, layer, 1, 0, 0);
    trial.scene.contact.stiffness = soft;
    trial.scene.contact.adaptive = adaptive;
    kiln_status status = kiln_trial_material(&trial, "neo-hookean", modulus, 0.0, 1000, error);
    if (status == KILN_OK)
        status = add_block(&trial, -0.03 * layer, 4, error);
    if (status == KILN_OK)
        status = press_down(&trial, load * modulus, error);
    if (status == KILN_OK)
        status = kiln_trial_plane(&trial, 0.0, 0.0, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_hard(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++) {
        const char *name = kiln_view_at(v)->name;
        hardship fixed, adaptive;
        KILN_TRY(press_hard(validation, kiln_view_at(v), false, &fixed, error));
        KILN_TRY(press_hard(validation, kiln_view_at(v), true, &adaptive, error));
        kiln_validation_report(validation, fixed.least, kiln_unbound(),
                               "%s: gap that a fixed stiffness leaves, of the thickness", name);
        kiln_validation_report(validation, adaptive.least, kiln_at_least(0.01),
                               "%s: that an adaptive one does", name);
        kiln_validation_report(validation, adaptive.newton / fixed.newton, kiln_at_most(1.5),
                               "%s: its iterations over those of the fixed", name);
    }
    return KILN_OK;
}

/* Led: a bar that is held turns by 34 degrees a step and sweeps a block along a body that is held.
 */

static const double rate = 12.0, sweep_dt = 0.05, sweep_time = 0.3;

static kiln_vec3 turn_about_z(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    return kiln_m3_apply(kiln_m3_rotation(kiln_v3(0, 0, 1), rate * time), u);
}

typedef struct sweeping {
    double rejected; /* tries */
    double off;      /* m, of the bar from where it is led */
} sweeping;

static kiln_status count_rejected(kiln_trial *trial, const kiln_stats *stats, kiln_error *error)
{
    (void)error;
    sweeping *s = trial->user;
    s->rejected += isfinite(stats->rejected) ? stats->rejected : 0.0;
    return KILN_OK;
}

/* The bar is what was within 5 cm of its axis in the beginning, and above the floor. */
static void look_at_bar(kiln_trial *trial)
{
    sweeping *s = trial->user;
    s->off = 0.0;
    for (size_t i = 0; i < trial->result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(trial, i);
        if (fabs(u.y) > 0.055 || u.z < -1e-3)
            continue;
        kiln_vec3 off = kiln_v3_sub(kiln_trial_x(trial, i), turn_about_z(NULL, u, sweep_time));
        s->off = fmax(s->off, kiln_v3_norm(off));
    }
}

static kiln_status hold_last(kiln_trial *trial, kiln_trial_map *map, kiln_error *error)
{
    kiln_picks all;
    KILN_TRY(kiln_trial_pick_all(trial, &all, error));
    KILN_TRY(kiln_trial_hold(trial, &all, 7, map, error));
    trial->scene.holds.data[trial->scene.holds.count - 1].body =
        (int32_t)trial->scene.bodies.count - 1;
    return KILN_OK;
}

static kiln_status set_sweep(kiln_trial *trial, kiln_trial_map *map, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    *map = (kiln_trial_map){.trial = trial, .place = turn_about_z, .l = 1};
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = kiln_trial_number(trial, layer, 1, 0, 0);
    scene->duration = kiln_trial_number(trial, sweep_time, 0, 0, 1);
    scene->output.frame = scene->duration;
    scene->pace.dt = kiln_trial_number(trial, sweep_dt, 0, 0, 1);
    scene->pace.dt_min = 1e-3 * scene->pace.dt;
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", modulus, 0.4, 1000, error));
    KILN_TRY(kiln_trial_shape(trial, "box", "lx=0.8 ly=0.8 lz=0.1 nx=6 ny=6 nz=1",
                              kiln_v3(-0.4, -0.4, -0.105), error));
    KILN_TRY(hold_last(trial, NULL, error));
    KILN_TRY(kiln_trial_shape(trial, "box", "lx=0.1 ly=0.1 lz=0.1 nx=3 ny=3 nz=3",
                              kiln_v3(0.2, 0.06, 0), error));
    KILN_TRY(kiln_trial_shape(trial, "box", "lx=0.6 ly=0.1 lz=0.1 nx=6 ny=1 nz=1",
                              kiln_v3(-0.3, -0.05, 0), error));
    return hold_last(trial, map, error);
}

static kiln_status sweep(kiln_validation *validation, const kiln_view *view, kiln_integrator how,
                         kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_map map;
    sweeping s = {.off = NAN};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = how;
    trial.user = &s;
    trial.on_frame = look_at_bar;
    trial.on_step = count_rejected;
    kiln_status status = set_sweep(&trial, &map, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    KILN_TRY(status);
    kiln_validation_report(validation, s.rejected, kiln_exactly(0.0), "%s, %s: tries taken back",
                           kiln_integrator_name(how), view->name);
    kiln_validation_report(validation, s.off, kiln_at_most(1e-12),
                           "%s, %s: bar off where it is led, m", kiln_integrator_name(how),
                           view->name);
    return KILN_OK;
}

kiln_status kiln_validate_led(kiln_validation *validation, kiln_error *error)
{
    static const kiln_integrator how[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++)
        for (size_t i = 0; i < sizeof how / sizeof how[0]; i++)
            KILN_TRY(sweep(validation, kiln_view_at(v), how[i], error));
    return KILN_OK;
}
