#include "step/integrator.h"

#include <string.h>

enum { X = KILN_HISTORY_X, V, A, XM, VM };

static kiln_scheme euler(double h, double h_before)
{
    (void)h_before;
    return (kiln_scheme){
        .tau = h, .scale = h * h, .origin = {[X] = 1}, .centre = {[X] = 1, [V] = h}, .damps = h};
}

static kiln_scheme newmark(double h, double h_before)
{
    (void)h_before;
    return (kiln_scheme){.tau = h / 2,
                         .scale = h * h / 4,
                         .origin = {[X] = 1, [V] = h / 2},
                         .centre = {[X] = 1, [V] = h, [A] = h * h / 4},
                         .impulses = true};
}

#define ROOT_2 1.41421356237309504880

/* v = v_n + h ((1 - g) a_1 + g a), where the stage gave g h a_1 = v_1 - v_n, g the part; x alike.
 */
static kiln_scheme after_stage(double h)
{
    const double begin = -ROOT_2, stage = 1 + ROOT_2; /* (1 - g) / g */
    double tau = KILN_STAGE_PART * h;
    return (kiln_scheme){
        .tau = tau,
        .scale = tau * tau,
        .origin = {[X] = begin, [XM] = stage},
        .centre = {[X] = begin, [V] = tau * begin, [XM] = stage, [VM] = tau * stage}};
}

/* With w = h / h_m:  x - (1 + w)^2/(1 + 2w) x_n + w^2/(1 + 2w) x_m = tau v,
 * tau = h (1 + w)/(1 + 2w), and the same for v and a. */
static kiln_scheme bdf2(double h, double h_before)
{
    if (!(h_before > 0.0))
        return after_stage(h);
    double w = h / h_before, tau = h * (1 + w) / (1 + 2 * w);
    double now = (1 + w) * (1 + w) / (1 + 2 * w), before = -w * w / (1 + 2 * w);
    return (kiln_scheme){
        .tau = tau,
        .scale = tau * tau,
        .origin = {[X] = now, [XM] = before},
        .centre = {[X] = now, [V] = tau * now, [XM] = before, [VM] = tau * before}};
}

/* No inertia; friction and damping see a speed as if the increment took a second. */
static kiln_scheme no_motion(double h, double h_before)
{
    (void)h;
    (void)h_before;
    return (kiln_scheme){.tau = 1, .scale = 0, .origin = {[X] = 1}, .centre = {[X] = 1}};
}

static const struct {
    const char *name, *help;
    kiln_scheme (*scheme)(double h, double h_before);
} rows[KILN_INTEGRATOR_COUNT] = {
    [KILN_IMPLICIT_EULER] = {"implicit-euler", "first order, damps; the most robust", euler},
    [KILN_NEWMARK] = {"newmark", "second order, keeps the energy of linear motion", newmark},
    [KILN_BDF2] = {"bdf2", "second order, damps fast motion only", bdf2},
    [KILN_STATIC] = {"static", "no inertia: equilibrium at each moment", no_motion},
};

const char *kiln_integrator_name(kiln_integrator integrator)
{
    return rows[integrator].name;
}

bool kiln_integrator_moves(kiln_integrator integrator)
{
    return kiln_integrator_scheme(integrator, 1.0, 0.0).scale > 0.0;
}

const char *kiln_integrator_help(kiln_integrator integrator)
{
    return rows[integrator].help;
}

kiln_status kiln_integrator_find(const char *name, kiln_integrator *out, kiln_error *error)
{
    for (int i = 0; i < KILN_INTEGRATOR_COUNT; i++)
        if (strcmp(name, rows[i].name) == 0) {
            *out = (kiln_integrator)i;
            return KILN_OK;
        }
    return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                     "no integrator '%s'; there are implicit-euler, newmark, bdf2, static", name);
}

kiln_scheme kiln_integrator_scheme(kiln_integrator integrator, double h, double h_before)
{
    return rows[integrator].scheme(h, h_before);
}

double kiln_integrator_stage(kiln_integrator integrator, double h, double h_before)
{
    return integrator == KILN_BDF2 && !(h_before > 0.0) ? KILN_STAGE_PART * h : 0.0;
}
