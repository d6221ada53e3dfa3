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
