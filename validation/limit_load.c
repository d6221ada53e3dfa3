/* Limit loads of perfectly plastic bodies: static steps up to them take few iterations, and they
 * are where theory has them. A quarter of a thick tube under pressure from inside, in plane strain,
 * and a bar in tension. Of other bodies the limit is first found in small steps; then parts of it
 * are put on them at once. */
#include "measure/fixture.h"
#include "sim/world.h"
#include "validation/trial.h"

#include <stdio.h>
#include <string.h>

static const double young = 1e5, poisson = 0.3, yield_stress = 100;
static const double inside = 1.0, outside = 2.0; /* m, of the tube */

static const double theory_parts[] = {0.5, 0.9, 0.97, 0.99, 1.0, 1.01, 1.02, 1.03, 1.05, 1.1};
enum { THEORY_PARTS = sizeof theory_parts / sizeof theory_parts[0] };

typedef struct limit {
    kiln_trial *trial;
    const double *parts; /* of the load, one each second, until one is not borne */
    int count;
    double load;     /* Pa by theory, plain */
    kiln_vec3 along; /* of a traction; not of pressure */
    double reached;  /* the largest part that was borne */
    double most;     /* iterations of a step */
    bool said;       /* that matter does not bear more */
    kiln_yield_norm norm;
} limit;

/* Tube: mean m and half difference k of the stresses in the plane, where all of it flows, obey
 * d(m - k) / d ln r = 2 k. Mises: k = sigma_y / sqrt(3). Frobenius: 2 k^2 + 3 m^2 = sigma_y^2, so
 * with m sqrt(3) = sigma_y sin a and k sqrt(2) = sigma_y cos a
 *     ln r = a / sqrt(6) - ln(cos a) / 2,    m = k outside. */
static double log_radius(double a)
{
    return a / sqrt(6.0) - 0.5 * log(cos(a));
}

static double tube_limit(kiln_yield_norm norm)
{
    if (norm == KILN_YIELD_MISES)
        return 2.0 / sqrt(3.0) * yield_stress * log(outside / inside);
    double low = -atan(sqrt(2.0 / 3.0)), high = atan(sqrt(1.5));
    double wanted = log_radius(high) - log(outside / inside);
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        *(log_radius(middle) > wanted ? &high : &low) = middle;
    }
    return yield_stress * (cos(low) / sqrt(2.0) - sin(low) / sqrt(3.0));
}

static kiln_status load_now(void *self, const kiln_circumstances *at, double *out, int components,
                            kiln_error *error)
{
    const limit *l = self;
    (void)error;
    int second = (int)(at->time / kiln_trial_number(l->trial, 1.0, 0, 0, 1) + 0.5);
    double part = second == 0 ? 0.0 : l->parts[second <= l->count ? second - 1 : l->count - 1];
    double amount = part * kiln_trial_number(l->trial, l->load, -1, 1, -2);
    kiln_vec3 force = kiln_m3_apply(l->trial->view->rotation, l->along);
    for (int i = 0; i < components; i++)
        out[i] = components == 1 ? amount : amount * (&force.x)[i];
    return KILN_OK;
}

static kiln_status step_up(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    limit *l = trial->user;
    for (int i = 0; i < l->count; i++) {
        kiln_stats stats;
        kiln_diagnosis diagnosis = {{0}};
        bool gave_up;
        double until = kiln_trial_number(trial, i + 1.0, 0, 0, 1);
        KILN_TRY(kiln_world_step(world, until, &stats, &gave_up, &diagnosis, error));
        if (gave_up) {
            l->said = strstr(diagnosis.text, "does not bear this load") != NULL;
            return KILN_OK;
        }
        l->most = fmax(l->most, stats.newton);
        l->reached = l->parts[i];
    }
    return KILN_OK;
}

static kiln_status begin(kiln_trial *trial, limit *l, const char *model, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, model, young, poisson, 1.0, error));
    kiln_material *m = &trial->scene.materials.data[0].base;
    double threshold = (l->norm == KILN_YIELD_MISES ? sqrt(2.0 / 3.0) : 1.0) * yield_stress;
    m->nodal_pressure = true;
    m->plastic = (kiln_plastic){.flows = true,
                                .instant = true,
                                .norm = l->norm,
                                .yield = kiln_trial_number(trial, threshold, -1, 1, -2)};
    double dt = kiln_trial_number(trial, 1.0, 0, 0, 1);
    trial->scene.solid.integrator = KILN_STATIC;
    trial->scene.duration = l->count * dt;
    trial->scene.pace = (kiln_pace_limits){.dt = dt, .dt_min = dt, .patience = 4};
    trial->user = l;
    l->trial = trial;
    return KILN_OK;
}

static kiln_status hold_patches(kiln_trial *trial, const int (*holds)[2], size_t count,
                                kiln_error *error)
{
    for (size_t i = 0; i < count; i++) {
        kiln_picks where;
        KILN_TRY(kiln_trial_pick_patch(trial, holds[i][0], &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, holds[i][1], NULL, error));
    }
    return KILN_OK;
}

/* x of a box becomes the radius, y the angle, z stays. */
static kiln_status make_tube(kiln_trial *trial, int n, kiln_error *error)
{
    char settings[100];
    kiln_soup soup;
    snprintf(settings, sizeof settings, "lx=1 ly=1 lz=%.17g nx=%d ny=%d nz=1 pattern=mirrored",
             0.8 / n, n, 2 * n);
    KILN_TRY(kiln_fixture_soup(trial->context, "box", settings, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 *p = &soup.points.data[i];
        double r = inside + (outside - inside) * p->x, angle = 0.5 * acos(-1.0) * p->y;
        *p = kiln_v3(r * cos(angle), r * sin(angle), p->z);
    }
    return kiln_trial_body(trial, &soup, error);
}

static kiln_status press_tube(kiln_trial *trial, limit *l, const char *model, int n,
                              kiln_error *error)
{
    static const int holds[][2] = {{3, 2}, {4, 1}, {5, 4}, {6, 4}};
    kiln_picks where;
    l->load = tube_limit(l->norm);
    KILN_TRY(begin(trial, l, model, error));
    KILN_TRY(make_tube(trial, n, error));
    KILN_TRY(hold_patches(trial, holds, 4, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &where, error));
    KILN_TRY(kiln_trial_load(trial, KILN_LOAD_PRESSURE, &where,
                             (kiln_quantity){.self = l, .evaluate = load_now}, error));
    return kiln_trial_build(trial, step_up, error);
}

static kiln_status pull_bar(kiln_trial *trial, limit *l, const char *model, int n,
                            kiln_error *error)
{
    static const int holds[][2] = {{1, 1}, {3, 2}, {5, 4}};
    kiln_picks where;
    l->load = yield_stress;
    l->along = kiln_v3(1, 0, 0);
    KILN_TRY(begin(trial, l, model, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 0.25, 0.25), (int[]){4 * n, n, n}, "kuhn", error));
    KILN_TRY(hold_patches(trial, holds, 3, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &where, error));
    KILN_TRY(kiln_trial_load(trial, KILN_LOAD_TRACTION, &where,
                             (kiln_quantity){.self = l, .evaluate = load_now}, error));
    return kiln_trial_build(trial, step_up, error);
}

/* A bar with a waist, pulled askew. */
static kiln_status pull_waist(kiln_trial *trial, limit *l, const char *model, int n,
                              kiln_error *error)
{
    char settings[100];
    kiln_soup soup;
    kiln_picks root, tip;
    l->load = yield_stress;
    l->along = kiln_v3(1, 0.1, -0.05);
    KILN_TRY(begin(trial, l, model, error));
    snprintf(settings, sizeof settings, "lx=1 ly=0.4 lz=0.3 nx=%d ny=%d nz=%d pattern=mirrored",
             3 * n, n + 1, n);
    KILN_TRY(kiln_fixture_soup(trial->context, "box", settings, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 *p = &soup.points.data[i];
        double narrow = 1.0 - 0.4 * exp(-30.0 * (p->x - 0.6) * (p->x - 0.6));
        *p = kiln_v3(p->x, 0.2 + narrow * (p->y - 0.2), narrow * p->z);
    }
    KILN_TRY(kiln_trial_body(trial, &soup, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &root, error));
    KILN_TRY(kiln_trial_hold(trial, &root, 7, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &tip, error));
    KILN_TRY(kiln_trial_load(trial, KILN_LOAD_TRACTION, &tip,
                             (kiln_quantity){.self = l, .evaluate = load_now}, error));
    return kiln_trial_build(trial, step_up, error);
}

/* A slab on two of its edges, loaded from above. */
static kiln_status press_slab(kiln_trial *trial, limit *l, const char *model, int n,
                              kiln_error *error)
{
    kiln_picks where;
    l->load = 0.1 * yield_stress;
    l->along = kiln_v3(0, 0.1, -1);
    KILN_TRY(begin(trial, l, model, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 0.6, 0.2), (int[]){3 * n, 2 * n, n}, "kuhn", error));
    for (int patch = 1; patch <= 2; patch++) {
        KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, 7, NULL, error));
    }
    KILN_TRY(kiln_trial_pick_patch(trial, 6, &where, error));
    KILN_TRY(kiln_trial_load(trial, KILN_LOAD_TRACTION, &where,
                             (kiln_quantity){.self = l, .evaluate = load_now}, error));
    return kiln_trial_build(trial, step_up, error);
}

typedef struct limit_case {
    const char *name, *model;
    kiln_status (*run)(kiln_trial *trial, limit *l, const char *model, int n, kiln_error *error);
    kiln_yield_norm norm;
    int n;
    bool quick;
    double tolerance; /* of the limit load; facets and tets of the coarse tube */
} limit_case;

static kiln_status measure(kiln_validation *validation, const kiln_view *view, const limit_case *c,
                           kiln_error *error)
{
    const char *norm = c->norm == KILN_YIELD_MISES ? "mises" : "frobenius";
    kiln_trial trial;
    limit l = {.norm = c->norm, .parts = theory_parts, .count = THEORY_PARTS};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_status status = c->run(&trial, &l, c->model, c->n, error);
    kiln_trial_end(&trial);
    KILN_TRY(status);
    kiln_validation_report(validation, l.reached, kiln_near(1.0, c->tolerance),
                           "%s %d, %s, %s, %s: load that is borne, of the limit", c->name, c->n,
                           c->model, norm, view->name);
    kiln_validation_report(validation, l.most, kiln_at_most(15),
                           "%s %d, %s, %s, %s: most iterations of a step", c->name, c->n, c->model,
                           norm, view->name);
    kiln_validation_report(validation, l.said, kiln_exactly(1),
                           "%s %d, %s, %s, %s: the next load is said to be too much", c->name, c->n,
                           c->model, norm, view->name);
    return KILN_OK;
}

static kiln_status run_parts(kiln_validation *validation, const limit_case *c, const double *parts,
                             int count, limit *l, kiln_error *error)
{
    kiln_trial trial;
    *l = (limit){.norm = c->norm, .parts = parts, .count = count};
    kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(0));
    kiln_status status = c->run(&trial, l, c->model, c->n, error);
    kiln_trial_end(&trial);
    return status;
}

/* The largest part of the load that is borne at once, to 1 %. */
static kiln_status find_limit(kiln_validation *validation, const limit_case *c, double *limit_part,
                              kiln_error *error)
{
    double low = 0.02, high = 20.0;
    while (high > 1.01 * low) {
        limit one;
        double middle = sqrt(low * high);
        KILN_TRY(run_parts(validation, c, &middle, 1, &one, error));
        *(one.reached > 0.0 ? &low : &high) = middle;
    }
    *limit_part = low;
    return KILN_OK;
}

/* 90, 97 and 99 % of the limit in one step each, half as much again, and up to it in frames. */
static kiln_status measure_at_once(kiln_validation *validation, const limit_case *c,
                                   kiln_error *error)
{
    static const double at_once[] = {0.9, 0.97, 0.99}, frames[] = {0.5, 0.8, 0.9, 0.95, 0.99, 1.5};
    const char *norm = c->norm == KILN_YIELD_MISES ? "mises" : "frobenius";
    double whole, loads[6];
    limit l;
    KILN_TRY(find_limit(validation, c, &whole, error));
    for (size_t i = 0; i < sizeof at_once / sizeof at_once[0]; i++) {
        double part = at_once[i] * whole;
        KILN_TRY(run_parts(validation, c, &part, 1, &l, error));
        kiln_validation_report(validation, l.reached > 0.0 ? l.most : INFINITY, kiln_at_most(15),
                               "%s %d, %s, %s: iterations for %g %% of the limit at once", c->name,
                               c->n, c->model, norm, 100.0 * at_once[i]);
    }
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
        loads[i] = frames[i] * whole;
    KILN_TRY(run_parts(validation, c, loads, 6, &l, error));
    kiln_validation_report(validation, l.most, kiln_at_most(15),
                           "%s %d, %s, %s: most iterations of a frame", c->name, c->n, c->model,
                           norm);
    kiln_validation_report(validation, l.said, kiln_exactly(1),
                           "%s %d, %s, %s: 1.5 times the limit is said to be too much", c->name,
                           c->n, c->model, norm);
    return KILN_OK;
}

/* Bodies and loads that nothing was tuned on. */
static kiln_status measure_others(kiln_validation *validation, kiln_error *error)
{
    static const limit_case cases[] = {
        {"waist", "linear", pull_waist, KILN_YIELD_MISES, 3, true, 0},
        {"waist", "linear", pull_waist, KILN_YIELD_FROBENIUS, 3, true, 0},
        {"waist", "neo-hookean-split", pull_waist, KILN_YIELD_MISES, 3, false, 0},
        {"waist", "corotated", pull_waist, KILN_YIELD_FROBENIUS, 3, false, 0},
        {"waist", "linear", pull_waist, KILN_YIELD_MISES, 6, false, 0},
        {"slab", "linear", press_slab, KILN_YIELD_MISES, 2, true, 0},
        {"slab", "linear", press_slab, KILN_YIELD_FROBENIUS, 2, false, 0},
        {"slab", "neo-hookean-split", press_slab, KILN_YIELD_MISES, 2, false, 0},
        {"slab", "linear", press_slab, KILN_YIELD_MISES, 4, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (cases[i].quick || !kiln_validation_is_brief(validation))
            KILN_TRY(measure_at_once(validation, &cases[i], error));
    return KILN_OK;
}

kiln_status kiln_validate_limit_load(kiln_validation *validation, kiln_error *error)
{
    static const limit_case cases[] = {
        {"tube", "neo-hookean-split", press_tube, KILN_YIELD_MISES, 4, true, 0.03},
        {"tube", "corotated", press_tube, KILN_YIELD_FROBENIUS, 4, true, 0.035},
        {"tube", "neo-hookean-split", press_tube, KILN_YIELD_MISES, 8, false, 0.025},
        {"tube", "corotated", press_tube, KILN_YIELD_FROBENIUS, 8, false, 0.025},
        {"bar", "corotated", pull_bar, KILN_YIELD_MISES, 2, true, 0.011},
        {"bar", "corotated", pull_bar, KILN_YIELD_FROBENIUS, 2, true, 0.011},
        {"tube", "linear", press_tube, KILN_YIELD_MISES, 4, true, 0.03},
        {"tube", "linear", press_tube, KILN_YIELD_FROBENIUS, 4, true, 0.035},
        {"tube", "linear", press_tube, KILN_YIELD_MISES, 8, false, 0.025},
        {"bar", "linear", pull_bar, KILN_YIELD_MISES, 2, true, 0.011},
    };
    bool brief = kiln_validation_is_brief(validation);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t v = 0; kiln_view_at(v) && (v == 0 || (cases[i].quick && !brief)); v++)
            if (cases[i].quick || !brief)
                KILN_TRY(measure(validation, kiln_view_at(v), &cases[i], error));
    return measure_others(validation, error);
}
