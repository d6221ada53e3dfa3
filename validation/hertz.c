/* A ball of radius 1 against a plane (validation.md C3, C4): pressed by its equator, and thrown.
 * A quarter of it, whose plane faces slide along themselves. */
#include "validation/thrown.h"

#include "measure/fixture.h"

#include <math.h>
#include <stdio.h>

static const double young = 1e6, poisson = 0.3, density = 1000, layer = 1e-4;
static const double modulus = 1e6 / (1 - 0.3 * 0.3); /* of the half space */

/* Cells along an edge of an octant: some of the least size at the pole, then growing ones. */
typedef struct lattice {
    int cells, even;
    double least, growth; /* m; of one cell over the one before */
} lattice;

/* Where a cell begins, counted from the pole. */
static double graded(const lattice *l, double cell)
{
    double more = fmax(cell - l->even, 0.0), r = l->growth;
    return l->least * (cell - more + r * (pow(r, more) - 1) / (r - 1));
}

static lattice lattice_of(int cells, int even, double least)
{
    lattice l = {.cells = cells, .even = even, .least = least};
    double low = 1.0 + 1e-9, high = 9.0;
    for (int i = 0; i < 60; i++) {
        l.growth = 0.5 * (low + high);
        *(graded(&l, cells) < 1.0 ? &low : &high) = l.growth;
    }
    return l;
}

/* A cube with its corner at the origin and its cells cut along the diagonals to the opposite one,
 * drawn into an octant: no tet has two faces on the sphere. */
static kiln_vec3 drawn(kiln_vec3 p)
{
    double most = fmax(p.x, fmax(p.y, p.z)), length = kiln_v3_norm(p);
    return kiln_v3_scale(p, length > 0.0 ? most / length : 0.0);
}

static double coordinate(const lattice *l, double part)
{
    double cell = l->cells * part;
    return part == 1.0 ? 1.0 : graded(l, round(cell));
}

/* The one with the pole at z = -1. */
static kiln_status lower_octant(kiln_context *context, const lattice *l, kiln_soup *soup,
                                kiln_error *error)
{
    char settings[60];
    snprintf(settings, sizeof settings, "nx=%d ny=%d nz=%d", l->cells, l->cells, l->cells);
    KILN_TRY(kiln_fixture_soup(context, "box", settings, soup, error));
    for (size_t i = 0; i < soup->points.count; i++) {
        kiln_vec3 p = soup->points.data[i];
        p = drawn(kiln_v3(coordinate(l, p.x), coordinate(l, p.y), 1.0 - coordinate(l, 1.0 - p.z)));
        soup->points.data[i] = kiln_v3(p.y, p.x, -p.z);
    }
    return KILN_OK;
}

enum { SIDE_Y = 1, SIDE_X = 3, EQUATOR = 5 }; /* patches: faces across y, x and z */
enum { HELD = 9 };                            /* the equator of another ball */

enum { UPPER_LAYERS = 3 }; /* of cells: nothing happens there */

/* Number of a point of the upper octant in the whole. Both number the equator first, by rows of x,
 * but the lower one is turned over. */
static uint32_t joined(const lattice *l, size_t lower_points, uint32_t i)
{
    uint32_t side = (uint32_t)l->cells + 1, shared = side * side;
    return i < shared ? i % side * side + i / side : (uint32_t)lower_points - shared + i;
}

static kiln_status join(kiln_soup *lower, const kiln_soup *upper, const lattice *l,
                        kiln_error *error)
{
    kiln_context *context = lower->context;
    size_t points = lower->points.count, kept = 0;
    for (size_t i = 0; i < lower->triangles.count; i++)
        if (lower->triangle_tags.data[i] != EQUATOR) {
            lower->triangle_tags.data[kept] = lower->triangle_tags.data[i];
            lower->triangles.data[kept++] = lower->triangles.data[i];
        }
    lower->triangles.count = lower->triangle_tags.count = kept;
    for (uint32_t i = 0; i < upper->points.count; i++)
        if (joined(l, points, i) >= points)
            KILN_TRY(kiln_array_push(context, &lower->points, upper->points.data[i], error));
    for (size_t t = 0; t < upper->tets.count; t++) {
        kiln_soup_tet tet;
        for (int k = 0; k < 4; k++)
            tet.v[k] = joined(l, points, upper->tets.data[t].v[k]);
        KILN_TRY(kiln_array_push(context, &lower->tets, tet, error));
        KILN_TRY(kiln_array_push(context, &lower->tet_tags, upper->tet_tags.data[t], error));
    }
    for (size_t t = 0; t < upper->triangles.count; t++) {
        int32_t tag = upper->triangle_tags.data[t];
        kiln_soup_triangle face;
        if (tag == EQUATOR)
            continue;
        tag = tag == SIDE_X ? SIDE_Y : tag == SIDE_Y ? SIDE_X : tag;
        for (int k = 0; k < 3; k++)
            face.v[k] = joined(l, points, upper->triangles.data[t].v[k]);
        KILN_TRY(kiln_array_push(context, &lower->triangles, face, error));
        KILN_TRY(kiln_array_push(context, &lower->triangle_tags, tag, error));
    }
    return KILN_OK;
}

static kiln_status add_upper_octant(kiln_soup *soup, const lattice *l, kiln_error *error)
{
    char settings[60];
    kiln_soup upper;
    snprintf(settings, sizeof settings, "nx=%d ny=%d nz=%d", l->cells, l->cells, UPPER_LAYERS);
    KILN_TRY(kiln_fixture_soup(soup->context, "box", settings, &upper, error));
    for (size_t i = 0; i < upper.points.count; i++) {
        kiln_vec3 p = upper.points.data[i];
        upper.points.data[i] = drawn(kiln_v3(coordinate(l, p.x), coordinate(l, p.y), p.z));
    }
    kiln_status status = join(soup, &upper, l, error);
    kiln_soup_free(&upper);
    return status;
}

static kiln_status add_ball(kiln_trial *trial, const lattice *l, bool whole, kiln_error *error)
{
    static const struct {
        int patch, components;
    } sides[] = {{SIDE_X, 1}, {SIDE_Y, 2}};
    kiln_soup soup;
    kiln_picks side;
    trial->scene.contact.thickness = kiln_trial_number(trial, layer, 1, 0, 0);
    trial->scene.contact.obstacles = KILN_OBSTACLES_SURFACES;
    KILN_TRY(kiln_trial_material(trial, "linear", young, poisson, density, error));
    kiln_status status = lower_octant(trial->context, l, &soup, error);
    if (status == KILN_OK && whole)
        status = add_upper_octant(&soup, l, error);
    if (status == KILN_OK)
        status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    for (int i = 0; i < 2 && status == KILN_OK; i++) {
        status = kiln_trial_pick_patch(trial, sides[i].patch, &side, error);
        if (status == KILN_OK)
            status = kiln_trial_hold(trial, &side, sides[i].components, NULL, error);
    }
    return status == KILN_OK ? kiln_trial_plane(trial, -1.0, 0.0, error) : status;
}

/* C3 */

typedef struct press {
    double depth;
    double force;         /* of the whole ball, N */
    double touches, free; /* radius of the last vertex in the layer, of the first above it */
} press;

static kiln_vec3 push(const void *user, kiln_vec3 u, double time)
{
    (void)time;
    return kiln_v3(u.x, u.y, u.z - ((const press *)user)->depth);
}

static void look(kiln_trial *trial)
{
    press *p = trial->user;
    const kiln_vec3 *reaction = kiln_trial_field(trial, "reaction");
    *p = (press){.depth = p->depth, .free = INFINITY};
    for (size_t i = 0; i < trial->result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(trial, i), x = kiln_trial_x(trial, i);
        if (u.z > -1e-9)
            p->force -= 4.0 * reaction[i].z;
        if (kiln_v3_norm(u) < 1 - 1e-9)
            continue;
        if (x.z < -1.0)
            p->touches = fmax(p->touches, hypot(x.x, x.y));
        else
            p->free = fmin(p->free, hypot(x.x, x.y));
    }
}

static kiln_status press_ball(kiln_validation *validation, const kiln_view *view, const lattice *l,
                              press *p, kiln_error *error)
{
    kiln_trial trial;
    kiln_picks equator;
    kiln_trial_map map = {.trial = &trial, .place = push, .user = p, .l = 1};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = p;
    trial.on_frame = look;
    trial.scene.solid.newton.tolerance = 1e-9;
    kiln_status status = add_ball(&trial, l, false, error);
    if (status == KILN_OK)
        status = kiln_trial_pick_patch(&trial, EQUATOR, &equator, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &equator, 4, &map, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    return status;
}

static void report_press(kiln_validation *validation, const press *p, double cell, kiln_bound force,
                         const char *view)
{
    double hertz = 4.0 / 3.0 * modulus * pow(p->depth, 1.5);
    double radius = cbrt(0.75 * p->force / modulus);
    kiln_validation_report(validation, p->force / hertz, force,
                           "pushed by %g m, %s: force over that of a half space", p->depth, view);
    kiln_validation_report(validation, p->touches / radius, kiln_near(1.0, cell / radius),
                           "pushed by %g m, %s: radius of the last vertex that touches, of what "
                           "the force says",
                           p->depth, view);
    kiln_validation_report(validation, p->free / radius, kiln_near(1.0, cell / radius),
                           "pushed by %g m, %s: that of the first that does not", p->depth, view);
}

/* Radii to one cell. Two meshes that are alike: cells of 0.14 of the radius. */
kiln_status kiln_validate_C3(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    const lattice coarse = brief ? lattice_of(10, 6, 0.03) : lattice_of(15, 8, 0.02);
    const lattice fine = lattice_of(17, 8, 0.01);
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++) {
        const char *view = kiln_view_at(v)->name;
        press deep = {.depth = 0.02}, shallow = {.depth = 0.005};
        KILN_TRY(press_ball(validation, kiln_view_at(v), &coarse, &deep, error));
        report_press(validation, &deep, coarse.least, kiln_between(1.06, 1.18), view);
        if (brief)
            continue;
        KILN_TRY(press_ball(validation, kiln_view_at(v), &fine, &shallow, error));
        report_press(validation, &shallow, fine.least, kiln_between(1.03, 1.12), view);
        kiln_validation_report(validation,
                               log(deep.force / shallow.force) / log(deep.depth / shallow.depth),
                               kiln_between(1.48, 1.58), "%s: exponent of the force", view);
    }
    return KILN_OK;
}

/* C14 */

/* Turned over, so that its pole is below that of the other at z = -1; x and y change places. */
static kiln_status add_other(kiln_trial *trial, const lattice *l, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(lower_octant(trial->context, l, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i];
        soup.points.data[i] = kiln_v3(p.y, p.x, -2.0 - layer - p.z);
    }
    for (size_t t = 0; t < soup.triangle_tags.count; t++) {
        int32_t *tag = &soup.triangle_tags.data[t];
        *tag = *tag == SIDE_X ? SIDE_Y : *tag == SIDE_Y ? SIDE_X : *tag == EQUATOR ? HELD : *tag;
    }
    kiln_status status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

static kiln_status add_two(kiln_trial *trial, const lattice *l, const lattice *other,
                           kiln_trial_map *map, kiln_error *error)
{
    static const struct {
        int patch, components;
    } holds[] = {{SIDE_X, 1}, {SIDE_Y, 2}, {HELD, 4}, {EQUATOR, 4}};
    kiln_soup soup;
    trial->scene.contact.bodies = trial->scene.contact.self = true;
    trial->scene.contact.weights = KILN_WEIGHTS_ONCE;
    trial->scene.contact.thickness = kiln_trial_number(trial, layer, 1, 0, 0);
    KILN_TRY(kiln_trial_material(trial, "linear", young, poisson, density, error));
    KILN_TRY(lower_octant(trial->context, l, &soup, error));
    kiln_status status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    KILN_TRY(add_other(trial, other, error));
    for (int i = 0; i < 4; i++) {
        kiln_picks where;
        KILN_TRY(kiln_trial_pick_patch(trial, holds[i].patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, holds[i].components, i == 3 ? map : NULL, error));
    }
    return KILN_OK;
}

/* The approach is that of the layers' middles. */
static kiln_status press_two(kiln_validation *validation, const kiln_view *view, const lattice *l,
                             const lattice *other, press *p, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_map map = {.trial = &trial, .place = push, .user = p, .l = 1};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = p;
    trial.on_frame = look;
    trial.scene.solid.newton.tolerance = 1e-9;
    kiln_status status = add_two(&trial, l, other, &map, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    return status;
}

/* Half of the approach is that of one to a plane. */
static kiln_status report_two(kiln_validation *validation, const kiln_view *view, const lattice *a,
                              const lattice *b, kiln_error *error)
{
    press p = {.depth = 0.04};
    KILN_TRY(press_two(validation, view, a, b, &p, error));
    double hertz = 4.0 / 3.0 * modulus * pow(0.5 * p.depth, 1.5);
    kiln_validation_report(
        validation, p.force / hertz, kiln_between(1.06, 1.18),
        "cells of %g on cells of %g m, approach %g m, %s: force over that of half spaces", a->least,
        b->least, p.depth, view->name);
    return KILN_OK;
}

/* Meshes that do not match, either on the other. */
kiln_status kiln_validate_C14(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    const lattice a = lattice_of(8, 5, 0.036), b = lattice_of(10, 6, 0.03);
    const lattice fine = lattice_of(15, 8, 0.02);
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++) {
        KILN_TRY(report_two(validation, kiln_view_at(v), &a, &b, error));
        KILN_TRY(report_two(validation, kiln_view_at(v), &b, &a, error));
    }
    return brief ? KILN_OK : report_two(validation, kiln_view_at(0), &fine, &b, error);
}

/* C4 */

static kiln_status bounce(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    return kiln_trial_follow(trial, world, density, trial->user, error);
}

static kiln_status throw_ball(kiln_validation *validation, const kiln_view *view,
                              kiln_integrator integrator, const lattice *l, double dt,
                              kiln_moments *moments, kiln_error *error)
{
    kiln_trial trial;
    *moments = (kiln_moments){0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = moments;
    trial.scene.solid.integrator = integrator;
    trial.scene.solid.newton.tolerance = 1e-8;
    trial.scene.pace.dt = kiln_trial_number(&trial, dt, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-4 * trial.scene.pace.dt;
    trial.scene.duration = kiln_trial_number(&trial, 0.6, 0, 0, 1);
    kiln_status status = add_ball(&trial, l, true, error);
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].velocity =
            kiln_quantity_vector(kiln_trial_vector(&trial, kiln_v3(0, 0, -0.1), 1, 0, -1));
        status = kiln_trial_build(&trial, bounce, error);
    }
    kiln_trial_end(&trial);
    return status;
}

/* From the first step with a thousandth of the largest force to the last: bdf2 remembers. */
static double time_of(const kiln_moments *moments)
{
    double most = 0.0, begin = NAN, end = NAN;
    for (size_t i = 0; i < moments->count; i++)
        most = fmax(most, moments->data[i].force.z);
    for (size_t i = 0; i < moments->count; i++) {
        const kiln_moment *m = &moments->data[i];
        if (m->force.z < 1e-3 * most)
            continue;
        begin = isnan(begin) ? m->time - m->h : begin;
        end = m->time;
    }
    return end - begin;
}

kiln_status kiln_validate_C4(kiln_validation *validation, kiln_error *error)
{
    static const kiln_integrator moving[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};
    bool brief = kiln_validation_is_brief(validation);
    const lattice l = brief ? lattice_of(7, 3, 0.045) : lattice_of(9, 5, 0.03);
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++)
        for (int i = brief; i < 3; i++) { /* long steps of implicit Euler damp too much */
            const char *name = kiln_integrator_name(moving[i]), *view = kiln_view_at(v)->name;
            double deepest = 0.0, time = NAN;
            kiln_moments moments;
            kiln_status status = throw_ball(validation, kiln_view_at(v), moving[i], &l,
                                            brief ? 0.01 : 0.005, &moments, error);
            for (size_t k = 0; status == KILN_OK && k < moments.count; k++)
                deepest = fmax(deepest, moments.data[0].centre.z - moments.data[k].centre.z);
            if (status == KILN_OK)
                time = time_of(&moments);
            kiln_array_free(kiln_validation_context(validation), &moments);
            KILN_TRY(status);
            kiln_validation_report(validation, time, kiln_near_relative(0.490, 0.1),
                                   "%s, %s: time of contact, s", name, view);
            kiln_validation_report(validation, deepest, kiln_near_relative(0.0166, 0.1),
                                   "%s, %s: way of the centre, m", name, view);
        }
    return KILN_OK;
}
