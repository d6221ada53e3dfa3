/* P5: a copper bar flies against a wall (Taylor's test), a quarter of it between symmetry planes.
 * Frictionless, and the wall does not pull: the bar may rebound. */
#include "mesh/shapes.h"
#include "validation/trial.h"

#include <stdio.h>
#include <string.h>

static const double radius = 3.2e-3, height = 32.4e-3, speed = 227.0, density = 8930.0;
static const double young = 117e9, poisson = 0.35, yield_stress = 400e6, hardening = 100e6;

enum { ARC = 8 }; /* sides of a quarter of the circle */

typedef struct taylor {
    bool nodal;
    double h, dt;                   /* edges, m; s */
    kiln_vec3 *start;               /* [point] */
    double length, foot, largest;   /* m: mean radius of the foot, and the largest */
    double strain, kinetic, volume; /* largest; the last two over the first */
} taylor;

static kiln_status quarter(kiln_trial *trial, double h, kiln_error *error)
{
    char points[600], depth[40], edge[40];
    const char *const settings[] = {points, depth, edge};
    size_t count, at = (size_t)snprintf(points, sizeof points, "points=0,0");
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *polygon;
    kiln_soup soup;
    for (int i = 0; i <= ARC; i++) {
        double angle = 0.5 * KILN_PI * i / ARC;
        at += (size_t)snprintf(points + at, sizeof points - at, " %.17g,%.17g",
                               i == ARC ? 0.0 : radius * cos(angle),
                               i == 0 ? 0.0 : radius * sin(angle));
    }
    snprintf(depth, sizeof depth, "depth=%.17g", height);
    snprintf(edge, sizeof edge, "h=%.17g", h);
    KILN_TRY(kiln_shape_find(shapes, count, "polygon", &polygon, error));
    kiln_soup_init(&soup, trial->context);
    KILN_TRY(kiln_shape_make(polygon, 3, settings, &soup, error));
    return kiln_trial_body(trial, &soup, error);
}

/* The sides that go through the axis; patches count from 3 along the corners. */
static kiln_status hold_symmetry(kiln_trial *trial, kiln_error *error)
{
    kiln_picks where;
    KILN_TRY(kiln_trial_pick_patch(trial, 3, &where, error));
    KILN_TRY(kiln_trial_hold(trial, &where, 2, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 3 + ARC + 1, &where, error));
    return kiln_trial_hold(trial, &where, 1, NULL, error);
}

/* sigma_y = 400 + 100 eps MPa in a tension test: sqrt(2/3) of it in the norm, and H / (3 mu). */
static kiln_status set_up(kiln_trial *trial, const taylor *t, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "neo-hookean-split", young, poisson, density, error));
    kiln_material *m = &trial->scene.materials.data[0].base;
    double yield = kiln_trial_number(trial, sqrt(2.0 / 3.0) * yield_stress, -1, 1, -2);
    m->nodal_pressure = t->nodal;
    m->plastic = (kiln_plastic){.flows = true,
                                .instant = true,
                                .norm = KILN_YIELD_MISES,
                                .yield = yield,
                                .hardening = hardening * 2.0 * (1.0 + poisson) / (3.0 * young)};
    KILN_TRY(quarter(trial, t->h, error));
    trial->scene.bodies.data[0].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -speed), 1, 0, -1));
    KILN_TRY(hold_symmetry(trial, error));
    kiln_vec3 up = kiln_trial_vector(trial, kiln_v3(0, 0, 1), 0, 0, 0);
    kiln_scene_obstacle wall = {.shape = {.kind = KILN_OBSTACLE_PLANE, .normal = up},
                                .motion.obstacle = -1};
    return kiln_array_push(trial->context, &trial->scene.obstacles, wall, error);
}

/* Largest radius that a line of the round side has now, mean over the lines. */
static double mean_foot(const kiln_trial *trial, const kiln_vec3 *start)
{
    double sum = 0.0;
    int lines = 0;
    for (size_t i = 0; i < trial->result.points.count; i++) {
        if (start[i].z > 1e-9 || hypot(start[i].x, start[i].y) < 0.99 * radius)
            continue;
        double angle = atan2(start[i].y, start[i].x), largest = 0.0;
        for (size_t k = 0; k < trial->result.points.count; k++) {
            kiln_vec3 x = kiln_trial_x(trial, k);
            if (hypot(start[k].x, start[k].y) > 0.99 * radius &&
                fabs(atan2(start[k].y, start[k].x) - angle) < 1e-6)
                largest = fmax(largest, hypot(x.x, x.y));
        }
        sum += largest;
        lines++;
    }
    return sum / lines;
}

static void look(kiln_trial *trial)
{
    taylor *t = trial->user;
    const kiln_soup *frame = &trial->result;
    const kiln_vec3 *v = kiln_trial_field(trial, "v");
    const kiln_soup_field *strain = kiln_soup_find_field(frame, KILN_ON_TET, "plastic_strain");
    size_t bytes = frame->points.count * sizeof *t->start;
    double low = INFINITY, high = -INFINITY, volume = 0.0, first = 0.0, energy = 0.0;
    if (!t->start) {
        t->start = kiln_resize(trial->context, NULL, 0, bytes);
        memcpy(t->start, frame->points.data, bytes);
    }
    t->strain = t->largest = 0.0;
    for (size_t i = 0; i < frame->points.count; i++) {
        kiln_vec3 x = kiln_trial_x(trial, i);
        low = fmin(low, x.z);
        high = fmax(high, x.z);
        t->largest = fmax(t->largest, hypot(x.x, x.y));
    }
    for (size_t k = 0; k < frame->tets.count; k++) {
        const uint32_t *c = frame->tets.data[k].v;
        kiln_vec3 a = t->start[c[0]], x = kiln_trial_x(trial, c[0]);
        kiln_mat3 D =
            kiln_m3_columns(kiln_v3_sub(t->start[c[1]], a), kiln_v3_sub(t->start[c[2]], a),
                            kiln_v3_sub(t->start[c[3]], a));
        kiln_mat3 Dw = kiln_m3_columns(kiln_v3_sub(kiln_trial_x(trial, c[1]), x),
                                       kiln_v3_sub(kiln_trial_x(trial, c[2]), x),
                                       kiln_v3_sub(kiln_trial_x(trial, c[3]), x));
        double piece = kiln_m3_det(D) / 6.0;
        volume += kiln_m3_det(Dw) / 6.0;
        first += piece;
        t->strain = fmax(t->strain, strain->data.data[k]);
        for (int i = 0; i < 4; i++)
            energy += 0.125 * piece * kiln_v3_norm2(v[c[i]]);
    }
    t->length = high - low;
    t->foot = mean_foot(trial, t->start);
    t->volume = volume / first;
    t->kinetic = energy / (0.5 * first * speed * speed);
}

static kiln_status strike(kiln_validation *validation, const kiln_view *view, taylor *t,
                          kiln_error *error)
{
    kiln_trial trial;
    size_t points = 0;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = KILN_BDF2;
    trial.scene.solid.newton.tolerance = 1e-7;
    trial.scene.pace.dt = kiln_trial_number(&trial, t->dt, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-4 * trial.scene.pace.dt;
    trial.scene.duration = kiln_trial_number(&trial, 80e-6, 0, 0, 1);
    trial.scene.output.plastic_strain = true;
    trial.user = t;
    trial.on_frame = look;
    kiln_status status = set_up(&trial, t, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    points = trial.result.points.count;
    if (t->start)
        kiln_release(trial.context, t->start, points * sizeof *t->start);
    t->start = NULL;
    kiln_trial_end(&trial);
    return status;
}

static kiln_status measure_bar(kiln_validation *validation, kiln_error *error)
{
    taylor t = {.nodal = true, .h = 0.85e-3, .dt = 2e-7};
    KILN_TRY(strike(validation, kiln_view_at(0), &t, error));
    kiln_validation_report(validation, 1e3 * t.length, kiln_near(21.4, 0.3), "length, mm");
    kiln_validation_report(validation, 1e3 * t.foot, kiln_near(7.0, 0.3), "radius of the foot, mm");
    kiln_validation_report(validation, t.volume, kiln_near(1.0, 0.003), "volume over the first");
    kiln_validation_report(validation, t.kinetic, kiln_at_most(0.06),
                           "kinetic energy over the first");
    kiln_validation_report(validation, t.strain, kiln_near(2.96, 0.3),
                           "largest plastic strain (reference code 2.96)");
    taylor locked = {.nodal = false, .h = 0.85e-3, .dt = 2e-7};
    KILN_TRY(strike(validation, kiln_view_at(0), &locked, error));
    kiln_validation_report(validation, 1e3 * locked.foot, kiln_between(4.5, 6.5),
                           "without nodal pressure it locks: radius, mm");
    kiln_validation_report(validation, locked.strain, kiln_between(0.8, 1.64),
                           "without nodal pressure: largest plastic strain");
    return KILN_OK;
}

static kiln_status compare_views(kiln_validation *validation, size_t views, double h, double dt,
                                 kiln_error *error)
{
    taylor plain = {.nodal = true, .h = h, .dt = dt};
    KILN_TRY(strike(validation, kiln_view_at(0), &plain, error));
    for (size_t i = 1; i < views && kiln_view_at(i); i++) {
        taylor seen = {.nodal = true, .h = h, .dt = dt};
        KILN_TRY(strike(validation, kiln_view_at(i), &seen, error));
        kiln_validation_report(validation, seen.length / plain.length, kiln_near(1.0, 1e-3),
                               "coarse, %s: length over that of the plain one",
                               kiln_view_at(i)->name);
        kiln_validation_report(validation, seen.foot / plain.foot, kiln_near(1.0, 1e-3),
                               "coarse, %s: radius of the foot over that of the plain one",
                               kiln_view_at(i)->name);
    }
    return KILN_OK;
}

kiln_status kiln_validate_P5(kiln_validation *validation, kiln_error *error)
{
    if (kiln_validation_is_brief(validation))
        return compare_views(validation, 2, 1.6e-3, 8e-7, error);
    KILN_TRY(measure_bar(validation, error));
    return compare_views(validation, SIZE_MAX, 1.1e-3, 4e-7, error);
}
