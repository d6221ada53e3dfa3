/* Time integrators: they differ only in the inertia target, its weight and the velocity update.
 *
 * A step minimises  (x - centre)' M (x - centre) / (2 scale) + potentials(x).  Afterwards
 * v = (x - origin) / tau and a = (x - centre) / scale:
 *   implicit-euler  centre x_n + h v_n,                    scale h^2
 *   newmark         centre x_n + h v_n + h^2/4 a_n,        scale h^2/4   (beta 1/4, gamma 1/2)
 *   bdf2            centre (4 x_n - x_m)/3 + 2h/9 (4 v_n - v_m), scale 4 h^2/9 (erratum 8)
 *   static          no inertia
 * Forces that resist or that end at once (damping, contact, friction) must not push again in the
 * step after: newmark's a_n has none of them, and they act through the step at their mean, which
 * is h^2/2 of a place and h of a velocity (Kane, Repetto, Ortiz and Marsden 1999): `impulse`. Their
 * own speed is then that of the way, (x - x_n) / h.
 * bdf2 with a step h after one of h_m uses the variable-step coefficients. Its first step, unless
 * x_m, v_m were given, has two stages (Alexander's SDIRK of second order, which damps as bdf2
 * does): an implicit Euler step of (1 - sqrt(1/2)) h, whose end is x_m, v_m for the second, origin
 * (1 + sqrt 2) x_m - sqrt 2 x_n, the same for v, tau (1 - sqrt(1/2)) h. One row each in
 * integrator.c. */
#ifndef KILN_STEP_INTEGRATOR_H
#define KILN_STEP_INTEGRATOR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum kiln_integrator {
    KILN_IMPLICIT_EULER,
    KILN_NEWMARK,
    KILN_BDF2,
    KILN_STATIC,
    KILN_INTEGRATOR_COUNT
} kiln_integrator;

const char *kiln_integrator_name(kiln_integrator integrator);
bool kiln_integrator_moves(kiln_integrator integrator); /* has inertia; false: rest at each time */
const char *kiln_integrator_help(kiln_integrator integrator);
kiln_status kiln_integrator_find(const char *name, kiln_integrator *out, kiln_error *error);

/* What origin and centre are made of: the state at the begin of the step and the one before. */
enum {
    KILN_HISTORY_X,        /* x_n */
    KILN_HISTORY_V,        /* v_n */
    KILN_HISTORY_A,        /* a_n */
    KILN_HISTORY_X_BEFORE, /* x_m; after a stage its end */
    KILN_HISTORY_V_BEFORE, /* v_m */
    KILN_HISTORY_COUNT
};

typedef struct kiln_scheme {
    double tau, scale;                 /* s, s^2; scale 0: no inertia */
    double origin[KILN_HISTORY_COUNT]; /* weights */
    double centre[KILN_HISTORY_COUNT];
    bool impulses; /* brief forces have twice the weight and see x - x_n over h */
    double damps;  /* s: it damps by itself as stiffness would with this beta, to first order */
} kiln_scheme;

/* The first stage's part of a step of two (Alexander 1977, SIAM J. Numer. Anal. 14(6), s = 2): 1
 * less the root of a half. */
#define KILN_STAGE_PART (1.0 - 0.70710678118654752440)
/* For a step of length h after one of h_before (0: there was none). */
kiln_scheme kiln_integrator_scheme(kiln_integrator integrator, double h, double h_before);
/* Such a step begins with a stage of this length, by implicit Euler; 0: with none. */
double kiln_integrator_stage(kiln_integrator integrator, double h, double h_before);

#endif
