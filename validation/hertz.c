/* A ball of radius 1 against a plane (validation.md C3, C4): pressed by its equator, and thrown.
 * A quarter of it, whose plane faces slide along themselves. */
#include "validation/thrown.h"

#include "measure/fixture.h"

#include <math.h>
#include <stdio.h>

static const double young = 1e6, poisson = 0.3, density = 1000, layer = 1e-4;
static const double modulus = 1e6 / (1 - 0.3 * 0.3); /* of the half space */

/* Cells along an edge of an octant, the least at the pole. */
typedef struct lattice {
    int cells;
    double least, growth; /* m; of one cell over the one before */
} lattice;

static lattice lattice_of(int cells, double least)
{
    double low = 1.0 + 1e-9, high = 3.0;
    for (int i = 0; i < 60; i++) {
        double r = 0.5 * (low + high), length = least * (pow(r, cells) - 1) / (r - 1);
        *(length < 1.0 ? &low : &high) = r;
    }
    return (lattice){cells, least, low};
}

/* Where a cell begins that is this part of them away from the least one. */
static double graded(const lattice *l, double part)
{
    if (part == 1.0)
        return 1.0;
    return l->least * (pow(l->growth, l->cells * part) - 1) / (l->growth - 1);
}

/* A cube with its corner at the origin and its cells cut along the diagonals to the opposite one,
 * drawn into a ball: no tet has two faces on the sphere. The pole is at z = -1. */
static kiln_vec3 place_of(const lattice *l, kiln_vec3 p)
{
    p = kiln_v3(graded(l, p.x), graded(l, p.y), 1.0 - graded(l, 1.0 - p.z));
    double most = fmax(p.x, fmax(p.y, p.z)), length = kiln_v3_norm(p);
    double scale = length > 0.0 ? most / length : 0.0;
    return kiln_v3(scale * p.y, scale * p.x, -scale * p.z);
}

static kiln_status octant(kiln_context *context, const lattice *l, kiln_soup *soup,
                          kiln_error *error)
{
    char settings[60];
    snprintf(settings, sizeof settings, "nx=%d ny=%d nz=%d", l->cells, l->cells, l->cells);
    KILN_TRY(kiln_fixture_soup(context, "box", settings, soup, error));
    for (size_t i = 0; i < soup->points.count; i++)
        soup->points.data[i] = place_of(l, soup->points.data[i]);
    return KILN_OK;
}

enum { SIDE_Y = 1, SIDE_X = 3, EQUATOR = 5 }; /* patches: faces across y, x and z */

/* Joins what is above the equator to an octant. */
static kiln_status add_upper_half(kiln_soup *soup, kiln_error *error)
{
    kiln_context *context = soup->context;
    size_t points = soup->points.count, tets = soup->tets.count, kept = 0;
    kiln_u32_array upper = {0};
    kiln_status status = kiln_array_reserve(context, &upper, points, error);
    for (size_t i = 0; i < points && status == KILN_OK; i++) {
        kiln_vec3 p = soup->points.data[i];
        upper.data[i] = (uint32_t)(p.z == 0.0 ? i : soup->points.count);
        if (p.z != 0.0)
            status = kiln_array_push(context, &soup->points, kiln_v3(p.x, p.y, -p.z), error);
    }
    for (size_t t = 0; t < tets && status == KILN_OK; t++) {
        const uint32_t *v = soup->tets.data[t].v;
        kiln_soup_tet tet = {
            {upper.data[v[1]], upper.data[v[0]], upper.data[v[2]], upper.data[v[3]]}};
        status = kiln_array_push(context, &soup->tets, tet, error);
        if (status == KILN_OK && soup->tet_tags.count > 0)
            status = kiln_array_push(context, &soup->tet_tags, soup->tet_tags.data[t], error);
    }
    for (size_t i = 0; i < soup->triangles.count; i++) {
        if (soup->triangle_tags.data[i] == EQUATOR)
            continue;
        soup->triangle_tags.data[kept] = soup->triangle_tags.data[i];
        soup->triangles.data[kept++] = soup->triangles.data[i];
    }
    soup->triangles.count = soup->triangle_tags.count = kept;
    for (size_t i = 0; i < kept && status == KILN_OK; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        kiln_soup_triangle face = {{upper.data[v[0]], upper.data[v[2]], upper.data[v[1]]}};
        status = kiln_array_push(context, &soup->triangles, face, error);
        if (status == KILN_OK)
            status =
                kiln_array_push(context, &soup->triangle_tags, soup->triangle_tags.data[i], error);
    }
    kiln_array_free(context, &upper);
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
    kiln_status status = octant(trial->context, l, &soup, error);
    if (status == KILN_OK && whole)
        status = add_upper_half(&soup, error);
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

static const double depth[2] = {0.005, 0.02};

typedef struct press {
    int frames;
    double force[2];            /* of the whole ball, N */
    double touches[2], free[2]; /* radius of the last vertex in the layer, of the first above it */
} press;

static kiln_vec3 push(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    return kiln_v3(u.x, u.y, u.z - depth[time > 1.5]);
}

static void look(kiln_trial *trial)
{
    press *p = trial->user;
    const kiln_vec3 *reaction = kiln_trial_field(trial, "reaction");
    int at = p->frames++;
    if (at > 1 || !reaction)
        return;
    p->force[at] = p->touches[at] = 0.0;
    p->free[at] = INFINITY;
    for (size_t i = 0; i < trial->result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(trial, i), x = kiln_trial_x(trial, i);
        if (u.z > -1e-9)
            p->force[at] -= 4.0 * reaction[i].z;
        if (kiln_v3_norm(u) < 1 - 1e-9)
            continue;
        if (x.z < -1.0)
            p->touches[at] = fmax(p->touches[at], hypot(x.x, x.y));
        else
            p->free[at] = fmin(p->free[at], hypot(x.x, x.y));
    }
}

/* An equilibrium at 1 s and another at 2 s. */
static kiln_status press_ball(kiln_validation *validation, const kiln_view *view, const lattice *l,
                              press *p, kiln_error *error)
{
    kiln_trial trial;
    kiln_picks equator;
    kiln_trial_map map = {.trial = &trial, .place = push, .l = 1};
    *p = (press){.frames = -1};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = p;
    trial.on_frame = look;
    trial.scene.solid.newton.tolerance = 1e-9;
    trial.scene.output.frame = kiln_trial_number(&trial, 1.0, 0, 0, 1);
    trial.scene.duration = 2.0 * trial.scene.output.frame;
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

kiln_status kiln_validate_C3(kiln_validation *validation, kiln_error *error)
{
    static const double low[2] = {1.03, 1.06}, high[2] = {1.12, 1.18};
    bool brief = kiln_validation_is_brief(validation);
    lattice l = brief ? lattice_of(8, 0.03) : lattice_of(16, 0.01);
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++) {
        const char *view = kiln_view_at(v)->name;
        press p;
        KILN_TRY(press_ball(validation, kiln_view_at(v), &l, &p, error));
        for (int i = brief; i < 2; i++) {
            double hertz = 4.0 / 3.0 * modulus * pow(depth[i], 1.5);
            double radius = cbrt(0.75 * p.force[i] / modulus);
            double cell = (l.least + (l.growth - 1) * radius) / radius;
            kiln_validation_report(validation, p.force[i] / hertz, kiln_between(low[i], high[i]),
                                   "pushed by %g, %s: force over that of a half space", depth[i],
                                   view);
            kiln_validation_report(validation, p.touches[i] / radius, kiln_near(1.0, cell),
                                   "pushed by %g, %s: radius of the last vertex that touches, of "
                                   "what the force says",
                                   depth[i], view);
            kiln_validation_report(validation, p.free[i] / radius, kiln_near(1.0, cell),
                                   "pushed by %g, %s: of the first that does not", depth[i], view);
        }
        if (!brief)
            kiln_validation_report(validation,
                                   log(p.force[1] / p.force[0]) / log(depth[1] / depth[0]),
                                   kiln_between(1.48, 1.58), "%s: exponent of the force", view);
    }
    return KILN_OK;
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

/* From the first step with a hundredth of the largest force to the last. */
static double time_of(const kiln_moments *moments)
{
    double most = 0.0, begin = NAN, end = NAN;
    for (size_t i = 0; i < moments->count; i++)
        most = fmax(most, moments->data[i].force.z);
    for (size_t i = 0; i < moments->count; i++) {
        const kiln_moment *m = &moments->data[i];
        if (m->force.z < 0.01 * most)
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
    lattice l = lattice_of(brief ? 6 : 9, brief ? 0.06 : 0.03);
    for (size_t v = 0; v < (brief ? 1 : SIZE_MAX) && kiln_view_at(v); v++)
        for (int i = 0; i < 3; i++) {
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
