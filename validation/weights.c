/* Bodies that press each other with `contact.weights = "once"` (validation.md C13): a block on a
 * slab that is cut otherwise keeps the gap that its pressure leaves, everywhere and however it is
 * turned. Two balls are in hertz.c (C14). */
#include "validation/thrown.h"

#include "measure/fixture.h"

#include <math.h>
#include <stdio.h>

/* As in C2: what p / kappa = 9.81e-3 leaves of the thickness. */
static const double side = 0.2, layer = 0.002, modulus = 1e5, squeeze = 9.81e-3, gap = 0.943906;

typedef struct lain {
    double mean, most; /* how far the gap below is off, of the way into the layer */
    size_t count;
} lain;

static void look_below(kiln_trial *trial)
{
    lain *l = trial->user;
    *l = (lain){0};
    for (size_t i = 0; i < trial->result.points.count; i++) {
        double u = kiln_trial_u(trial, i).z, x = kiln_trial_x(trial, i).z;
        if (u < 0.5 * layer || u > 1.5 * layer)
            continue;
        double off = (1.0 - x / layer) / (1.0 - gap) - 1.0;
        l->mean += off;
        l->most = fmax(l->most, fabs(off));
        l->count++;
    }
    l->mean /= (double)l->count;
}

/* Poisson's ratio is 0 and nothing moves sideways: one column beside the other. The slab is held.
 */
static kiln_status lay(kiln_trial *trial, int n, double turn, kiln_error *error)
{
    kiln_picks all, below, top;
    char slab[99], block[99];
    const double c = cos(turn), s = sin(turn), half = 0.5 * side;
    const kiln_mat3 turned = {{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    snprintf(slab, sizeof slab, "lx=%g ly=%g lz=%g nx=%d ny=%d nz=1", 2 * side, 2 * side,
             0.25 * side, 2 * n, 2 * n);
    snprintf(block, sizeof block, "lx=%g ly=%g lz=%g nx=%d ny=%d nz=2 pattern=mirrored", side, side,
             0.5 * side, 3 * n / 4, 3 * n / 4);
    trial->scene.contact.bodies = trial->scene.contact.self = true;
    trial->scene.contact.weights = KILN_WEIGHTS_ONCE;
    trial->scene.contact.thickness = kiln_trial_number(trial, layer, 1, 0, 0);
    KILN_TRY(kiln_trial_material(trial, "linear", modulus, 0.0, 1000, error));
    KILN_TRY(kiln_trial_shape(trial, "box", slab, kiln_v3(-side, -side, -0.25 * side), error));
    KILN_TRY(kiln_trial_turned_shape(
        trial, "box", block, turned,
        kiln_v3(-half * (c - s) + 0.011 * side, -half * (s + c) + 0.007 * side, 0.97 * layer),
        error));
    KILN_TRY(kiln_trial_pick_all(trial, &all, error));
    KILN_TRY(kiln_trial_hold(trial, &all, 3, NULL, error));
    KILN_TRY(kiln_trial_pick_below(trial, 0.5 * layer, &below, error));
    KILN_TRY(kiln_trial_hold(trial, &below, 4, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 6, &top, error));
    return kiln_trial_load(trial, KILN_LOAD_TRACTION, &top,
                           kiln_quantity_vector(kiln_trial_vector(
                               trial, kiln_v3(0, 0, -squeeze * modulus), -1, 1, -2)),
                           error);
}

static kiln_status report_gap(kiln_validation *validation, const kiln_view *view, int n,
                              double turn, double mean, double most, kiln_error *error)
{
    kiln_trial trial;
    lain l = {0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = &l;
    trial.on_frame = look_below;
    kiln_status status = lay(&trial, n, turn, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    KILN_TRY(status);
    const double degrees = turn * 45.0 / atan(1.0);
    kiln_validation_report(
        validation, l.mean, kiln_near(0.0, mean),
        "block of %d x %d cells on a slab of %d, turned by %.0f degrees, %s: way "
        "into the layer, mean, off by",
        3 * n / 4, 3 * n / 4, 2 * n, degrees, view->name);
    kiln_validation_report(
        validation, l.most, kiln_at_most(most),
        "block of %d x %d cells on a slab of %d, turned by %.0f degrees, %s: way "
        "into the layer, at most off by",
        3 * n / 4, 3 * n / 4, 2 * n, degrees, view->name);
    return KILN_OK;
}

kiln_status kiln_validate_C13(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    /* A hundredth is a fiftieth of the force; of three cells a row is a third of the block. */
    static const double mean[] = {0.05, 0.01, 0.01}, most = 0.15;
    const double turned = atan(1.0) * 17.0 / 45.0;
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++)
        for (int k = 0; k < (brief ? 2 : 3); k++)
            for (int t = 0; t < 2; t++)
                KILN_TRY(report_gap(validation, kiln_view_at(v), 4 << k, t * turned, mean[k], most,
                                    error));
    return KILN_OK;
}
