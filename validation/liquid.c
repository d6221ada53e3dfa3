/* Liquids against closed forms (validation.md, 5). */
#include "measure/fixture.h"
#include "mesh/walk.h"
#include "step/liquid.h"
#include "validation/trial.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

static double *column(kiln_world *world, const char *name)
{
    const kiln_field *field = kiln_mesh_field(kiln_world_mesh(world), KILN_ON_VERTEX, name);
    return (double *)(void *)field->data;
}

/* L1. */

typedef struct tank {
    double speed, pressure; /* largest, of the scene's units; off, of the deepest */
} tank;

static kiln_status watch_tank(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    static const double height = 0.5, density = 997.0;
    tank *out = trial->user;
    kiln_stats stats = {.time = 0.0};
    while (stats.time < trial->scene.duration * (1 - 1e-9))
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_vec3 *v = (const kiln_vec3 *)(const void *)column(world, "v");
    const double *p = column(world, KILN_FIELD_LIQUID_PRESSURE);
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        kiln_vec3 x = kiln_trial_vector_back(trial, mesh->x[i], 1, 0, 0);
        double deepest = density * 9.81 * height, exact = density * 9.81 * (height - x.z);
        kiln_vec3 speed = kiln_trial_vector_back(trial, v[i], 1, 0, -1);
        out->speed = fmax(out->speed, kiln_v3_norm(speed));
        out->pressure = fmax(out->pressure,
                             fabs(p[i] / kiln_trial_number(trial, 1, -1, 1, -2) - exact) / deepest);
    }
    return KILN_OK;
}

static kiln_status fill_tank(kiln_validation *validation, const kiln_view *view,
                             const char *pattern, kiln_integrator integrator,
                             kiln_pressure_rule pressure, tank *out, kiln_error *error)
{
    kiln_trial trial;
    const int cells[3] = {2, 2, 5};
    *out = (tank){0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.pressure = pressure;
    kiln_trial_set_steps(&trial, integrator, 0.01, 3);
    kiln_trial_set_gravity(&trial, 9.81);
    trial.scene.solid.newton.tolerance = 1e-15;
    trial.user = out;
    kiln_status status = kiln_trial_liquid(&trial, 997, 0, 0, error);
    if (status == KILN_OK)
        status = kiln_trial_box(&trial, kiln_v3(0.2, 0.2, 0.5), cells, pattern, error);
    if (status == KILN_OK)
        status = kiln_trial_hold_walls(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_tank, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_L1(kiln_validation *validation, kiln_error *error)
{
    static const char *const patterns[] = {"kuhn", "mirrored"};
    static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2};
    for (size_t row = 0; kiln_view_at(row); row++)
        for (int i = 0; i < 12; i++) {
            const kiln_view *view = kiln_view_at(row);
            const char *name = kiln_integrator_name(integrators[i % 2]);
            const char *pattern = patterns[i / 2 % 2], *pressure = kiln_trial_pressures[i / 4];
            tank t;
            KILN_TRY(fill_tank(validation, view, pattern, integrators[i % 2],
                               (kiln_pressure_rule)(i / 4), &t, error));
            kiln_validation_report(validation, t.speed, kiln_at_most(1e-12),
                                   "%s, %s, %s, %s: largest speed after three steps, m/s", pressure,
                                   name, pattern, view->name);
            kiln_validation_report(validation, t.pressure, kiln_at_most(1e-8),
                                   "%s, %s, %s, %s: pressure off, of the deepest", pressure, name,
                                   pattern, view->name);
        }
    return KILN_OK;
}

/* L2 to L5: drops. */

typedef struct swing {
    double last, time, at[3]; /* a value, and when it changed its sign */
    int count;
    double pressure;  /* mean, by volume, Pa */
    double volume[2]; /* first, and farthest off it, of it */
    double centre;    /* m, farthest off the first */
    double turn[2];   /* a value at a turn that is highest, of the first; and when */
} swing;

static void follow(swing *s, double value, double time)
{
    if (s->count < 3 && time > 0.0 && s->last * value < 0.0)
        s->at[s->count++] = s->time + (time - s->time) * s->last / (s->last - value);
    s->last = value;
    s->time = time;
}

/* When a value that falls at first is highest again: where the parabola through three of them is.
 */
static void find_turn(swing *s, const double value[3], double time, double h)
{
    double bend = value[0] - 2.0 * value[1] + value[2], slope = 0.5 * (value[2] - value[0]);
    if (s->turn[1] > 0.0 || !(value[1] > value[0] && value[1] >= value[2]))
        return;
    s->turn[0] = value[1] - 0.5 * slope * slope / bend;
    s->turn[1] = time - h * (1.0 + slope / bend);
}

typedef struct drop_sums {
    double volume, pressure, spread; /* of x^2 less half of y^2 + z^2 */
    kiln_vec3 centre;
} drop_sums;

static drop_sums sum_drop(const kiln_trial *trial, kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *p = column(world, KILN_FIELD_LIQUID_PRESSURE);
    drop_sums sum = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 x[4], mean = {0, 0, 0};
        double pressure = 0.0, square = 0.0;
        if (mesh->tet[t].v[0] == KILN_NONE)
            continue;
        for (int k = 0; k < 4; k++) {
            x[k] = kiln_trial_vector_back(trial, mesh->x[mesh->tet[t].v[k]], 1, 0, 0);
            mean = kiln_v3_madd(mean, 0.25, x[k]);
            pressure += 0.25 * p[mesh->tet[t].v[k]];
        }
        for (int k = 0; k < 5; k++) { /* integrals of squares: corners and the mean */
            kiln_vec3 q = k < 4 ? x[k] : mean;
            square += (k < 4 ? 0.05 : 0.8) * (q.x * q.x - 0.5 * (q.y * q.y + q.z * q.z));
        }
        double volume = kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(x[1], x[0]), kiln_v3_sub(x[2], x[0])),
                                    kiln_v3_sub(x[3], x[0])) /
                        6.0;
        sum.volume += volume;
        sum.pressure += volume * pressure;
        sum.spread += volume * square;
        sum.centre = kiln_v3_madd(sum.centre, volume, mean);
    }
    sum.pressure /= sum.volume * kiln_trial_number(trial, 1, -1, 1, -2);
    sum.centre = kiln_v3_scale(sum.centre, 1.0 / sum.volume);
    return sum;
}

static kiln_status watch_drop(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    swing *out = trial->user;
    kiln_stats stats = {.time = 0.0};
    drop_sums first = sum_drop(trial, world);
    double spread[3] = {0.0, 0.0, first.spread};
    follow(out, first.spread, 0.0);
    out->volume[0] = first.volume;
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        drop_sums now = sum_drop(trial, world);
        double time = stats.time / kiln_trial_number(trial, 1, 0, 0, 1);
        follow(out, now.spread, time);
        spread[0] = spread[1], spread[1] = spread[2], spread[2] = now.spread;
        if (stats.step >= 3)
            find_turn(out, spread, time, stats.dt / kiln_trial_number(trial, 1, 0, 0, 1));
        out->pressure = now.pressure;
        out->volume[1] = fmax(out->volume[1], fabs(now.volume / first.volume - 1.0));
        out->centre = fmax(out->centre, kiln_v3_norm(kiln_v3_sub(now.centre, first.centre)));
    }
    out->turn[0] /= first.spread;
    return KILN_OK;
}

typedef struct drop_case {
    const char *settings; /* of a ball of radius 1 */
    double radius, aspect, density, tension, dt;
    int steps;
    kiln_integrator integrator;
    double viscosity;
    bool remeshed;
    kiln_pressure_rule pressure;
} drop_case;

static kiln_status run_drop(kiln_validation *validation, const kiln_view *view, const drop_case *c,
                            swing *out, kiln_error *error)
{
    kiln_trial trial;
    kiln_soup soup;
    *out = (swing){0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, c->integrator, c->dt, c->steps);
    trial.pressure = c->pressure;
    trial.user = out;
    kiln_status status = kiln_trial_liquid(&trial, c->density, c->viscosity, c->tension, error);
    if (c->remeshed)
        kiln_scene_preset(&trial.scene);
    if (status == KILN_OK)
        status = kiln_fixture_soup(trial.context, "ball", c->settings, &soup, error);
    if (status == KILN_OK) {
        double volume = 0.0, across = pow(c->aspect, -1.0 / 3.0), along = c->aspect * across;
        for (size_t t = 0; t < soup.tets.count; t++) {
            const kiln_vec3 *p = soup.points.data;
            const uint32_t *v = soup.tets.data[t].v;
            volume += kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]),
                                                kiln_v3_sub(p[v[2]], p[v[0]])),
                                  kiln_v3_sub(p[v[3]], p[v[0]])) /
                      6.0;
        }
        double size = c->radius * cbrt(4.0 / 3.0 * PI / volume); /* the volume of the ball */
        for (size_t i = 0; i < soup.points.count; i++) {
            kiln_vec3 *p = &soup.points.data[i];
            *p = kiln_v3(size * along * p->x, size * across * p->y, size * across * p->z);
        }
        status = kiln_trial_body(&trial, &soup, error);
    }
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_drop, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_L2(kiln_validation *validation, kiln_error *error)
{
    static const drop_case c = {
        "radius=1 h=0.3",        2e-3, 1.0, 997, 70.38e-3, 1e-5, 1, KILN_IMPLICIT_EULER, 0, false,
        KILN_PRESSURE_STABILISED};
    for (size_t row = 0; kiln_view_at(row); row++) {
        swing s;
        KILN_TRY(run_drop(validation, kiln_view_at(row), &c, &s, error));
        kiln_validation_report(validation, s.pressure, kiln_near_relative(70.38, 0.006),
                               "%s: mean pressure, Pa", kiln_view_at(row)->name);
    }
    return KILN_OK;
}

/* The rules of pressure that are not the preset one in the first view and, remeshed, in the second.
 */
kiln_status kiln_validate_L3(kiln_validation *validation, kiln_error *error)
{
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++)
        for (int rule = 0; rule < (row < 2 ? 3 : 1); rule++) {
            const drop_case c = {.settings = "radius=1 h=0.3",
                                 .radius = 2.5198e-3,
                                 .aspect = 1.2,
                                 .density = 997,
                                 .tension = 70.38e-3,
                                 .dt = 0.25e-3,
                                 .steps = 180,
                                 .integrator = KILN_BDF2,
                                 .remeshed = rule > 0 && row > 0,
                                 .pressure = (kiln_pressure_rule)rule};
            const char *name = kiln_view_at(row)->name, *pressure = kiln_trial_pressures[rule];
            swing s;
            KILN_TRY(run_drop(validation, kiln_view_at(row), &c, &s, error));
            kiln_validation_report(validation, s.count == 3 ? 1e3 * (s.at[2] - s.at[0]) : NAN,
                                   kiln_near_relative(33.443 * 1.0071, 0.015), "%s, %s: period, ms",
                                   pressure, name);
            kiln_validation_report(validation, s.volume[1], kiln_at_most(0.005),
                                   "%s, %s: volume off, of it", pressure, name);
            kiln_validation_report(validation, s.centre / c.radius, kiln_at_most(0.005),
                                   "%s, %s: centre off, of the radius", pressure, name);
        }
    return KILN_OK;
}

/* L4: the drop of the paper, half as long again as it is thick, twice, remeshed. */
kiln_status kiln_validate_L4(kiln_validation *validation, kiln_error *error)
{
    static const drop_case c = {.settings = "radius=1 h=0.2",
                                .radius = 2.5198e-3,
                                .aspect = 2.0,
                                .density = 997,
                                .tension = 70.38e-3,
                                .dt = 0.25e-3,
                                .steps = 152,
                                .integrator = KILN_BDF2,
                                .remeshed = true};
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++) {
        const char *name = kiln_view_at(row)->name;
        swing s;
        KILN_TRY(run_drop(validation, kiln_view_at(row), &c, &s, error));
        kiln_validation_report(validation, s.turn[1] > 0.0 ? 1e3 * s.turn[1] : NAN,
                               kiln_between(35.4, 37.4), "%s: first return, ms", name);
        kiln_validation_report(validation, s.turn[0], kiln_unbound(),
                               "%s: how much of its length is back", name);
        kiln_validation_report(validation, s.volume[1], kiln_at_most(0.005),
                               "%s: volume off, of it", name);
        kiln_validation_report(validation, s.centre / c.radius, kiln_at_most(0.005),
                               "%s: centre off, of the radius", name);
    }
    return KILN_OK;
}

/* L5: what the swing of L3 loses in its first period, by integrator and viscosity. */
kiln_status kiln_validate_L5(kiln_validation *validation, kiln_error *error)
{
    static const double omega = 2.0 * 3.14159265358979 / (33.443e-3 * 1.0071), lamb = 7.90;
    static const struct {
        kiln_integrator integrator;
        double dt, viscosity;
        int steps;
    } rows[] = {{KILN_IMPLICIT_EULER, 0.2e-3, 0, 175},
                {KILN_IMPLICIT_EULER, 0.1e-3, 0, 350},
                {KILN_BDF2, 0.25e-3, 0, 140},
                {KILN_BDF2, 0.25e-3, 0.01, 140}};
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            const drop_case c = {"radius=1 h=0.3",
                                 2.5198e-3,
                                 1.2,
                                 997,
                                 70.38e-3,
                                 rows[i].dt,
                                 rows[i].steps,
                                 rows[i].integrator,
                                 rows[i].viscosity,
                                 true,
                                 KILN_PRESSURE_STABILISED};
            bool euler = rows[i].integrator == KILN_IMPLICIT_EULER;
            double rate = euler                   ? 0.5 * omega * omega * rows[i].dt
                          : rows[i].viscosity > 0 ? lamb
                                                  : 0.0;
            swing s;
            KILN_TRY(run_drop(validation, kiln_view_at(row), &c, &s, error));
            double found = s.turn[1] > 0.0 ? -log(s.turn[0]) / s.turn[1] : NAN;
            kiln_validation_report(validation, found,
                                   euler        ? kiln_between(rate / 1.3, 2.0 * rate)
                                   : rate > 0.0 ? kiln_near_relative(rate, 0.15)
                                                : kiln_unbound(),
                                   "%s, dt %g ms, %g Pa s, %s: rate of decay, 1/s (in theory %.3g)",
                                   kiln_integrator_name(rows[i].integrator), 1e3 * rows[i].dt,
                                   rows[i].viscosity, kiln_view_at(row)->name, rate);
        }
    return KILN_OK;
}

/* L8. */

static kiln_status watch_column(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    kiln_stats stats = {.time = 0.0};
    while (stats.time < trial->scene.duration * (1 - 1e-9))
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_vec3 *v = (const kiln_vec3 *)(const void *)column(world, "v");
    double sum = 0.0, highest = -INFINITY;
    int count = 0;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        highest = fmax(highest, kiln_trial_vector_back(trial, mesh->x[i], 1, 0, 0).z);
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        if (kiln_trial_vector_back(trial, mesh->x[i], 1, 0, 0).z > highest - 1e-4) {
            sum -= kiln_trial_vector_back(trial, v[i], 1, 0, -1).z;
            count++;
        }
    *(double *)trial->user = sum / count;
    return KILN_OK;
}

static kiln_status sink(kiln_validation *validation, const kiln_view *view, const char *settings,
                        double *speed, kiln_error *error)
{
    kiln_trial trial;
    kiln_soup soup;
    kiln_picks base;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, KILN_IMPLICIT_EULER, 2.5e-3, 10);
    kiln_trial_set_gravity(&trial, 9.81e-3); /* so little that it keeps its height meanwhile */
    trial.user = speed;
    kiln_status status = kiln_trial_liquid(&trial, 1000, 1e3, 0, error);
    if (status == KILN_OK)
        status = kiln_fixture_soup(trial.context, "cylinder", settings, &soup, error);
    if (status == KILN_OK) {
        double lowest = INFINITY;
        for (size_t i = 0; i < soup.points.count; i++)
            lowest = fmin(lowest, soup.points.data[i].z);
        for (size_t i = 0; i < soup.points.count; i++)
            soup.points.data[i].z -= lowest;
        status = kiln_trial_body(&trial, &soup, error);
    }
    if (status == KILN_OK)
        status = kiln_trial_pick_below(&trial, 1e-6, &base, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &base, 4, NULL, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_column, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_L8(kiln_validation *validation, kiln_error *error)
{
    const double speed = 1000 * 9.81e-3 * 0.01 / 6e3;
    for (size_t row = 0; kiln_view_at(row); row++) {
        double measured;
        KILN_TRY(sink(validation, kiln_view_at(row), "radius=0.01 height=0.1 h=0.005", &measured,
                      error));
        kiln_validation_report(validation, measured, kiln_near_relative(speed, 0.01),
                               "%s: speed of the top, m/s", kiln_view_at(row)->name);
    }
    return KILN_OK;
}

/* L9: begins level, with the velocities of the mode. */

static kiln_vec3 mode(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    (void)time;
    double omega = sqrt(9.81 * PI * tanh(0.5 * PI)), size = 0.01 * omega / sinh(0.5 * PI);
    return kiln_v3(-size * sin(PI * u.x) * cosh(PI * u.z), 0,
                   size * cos(PI * u.x) * sinh(PI * u.z));
}

static kiln_status watch_slosh(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    swing *out = trial->user;
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    do {
        kiln_vec3 P =
            kiln_trial_vector_back(trial, kiln_v3(stats.px, stats.py, stats.pz), 1, 1, -1);
        follow(out, P.x, stats.time / kiln_trial_number(trial, 1, 0, 0, 1));
        if (stats.time >= trial->scene.duration * (1 - 1e-9))
            return KILN_OK;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    } while (true);
}

static kiln_status slosh(kiln_validation *validation, const kiln_view *view, int n, swing *out,
                         kiln_error *error)
{
    kiln_trial trial;
    const int cells[3] = {n, 1, n / 2};
    kiln_trial_map map = {.place = mode, .l = 1, .t = -1};
    *out = (swing){0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    map.trial = &trial;
    kiln_trial_set_steps(&trial, KILN_BDF2, 0.01, 160);
    kiln_trial_set_gravity(&trial, 9.81);
    trial.user = out;
    kiln_status status = kiln_trial_liquid(&trial, 1000, 0, 0, error);
    if (status == KILN_OK)
        status = kiln_trial_box(&trial, kiln_v3(1, 1.0 / n, 0.5), cells, "kuhn", error);
    if (status == KILN_OK)
        status = kiln_trial_hold_walls(&trial, error);
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].velocity = kiln_trial_quantity(&map);
        status = kiln_trial_build(&trial, watch_slosh, error);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_L9(kiln_validation *validation, kiln_error *error)
{
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++)
        for (int n = 8; n <= 16; n *= 2) {
            swing s;
            KILN_TRY(slosh(validation, kiln_view_at(row), n, &s, error));
            kiln_validation_report(validation, s.count == 3 ? s.at[2] - s.at[0] : NAN,
                                   kiln_near_relative(1.1818, 0.02), "%s, %d cells: period, s",
                                   kiln_view_at(row)->name, n);
        }
    return KILN_OK;
}

/* L10: Martin and Moyce. */

static const double DAM = 0.05715; /* m */

typedef struct dam {
    double times[5], at[5]; /* T, and where the front is then, of the column's width */
    double last, time, fastest;
    int count;
    double volume; /* farthest off, of it */
} dam;

static double front_of(const kiln_trial *trial, kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double front = -INFINITY;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        if (kiln_vertex_live(mesh, i))
            front = fmax(front, kiln_trial_vector_back(trial, mesh->x[i], 1, 0, 0).x);
    return front / DAM;
}

static kiln_status watch_dam(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    dam *d = trial->user;
    double unit = kiln_trial_number(trial, sqrt(DAM / (2.0 * 9.81)), 0, 0, 1), volume;
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    d->last = front_of(trial, world);
    volume = stats.volume;
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        double front = front_of(trial, world), time = stats.time / unit;
        double rate = (front - d->last) / (time - d->time);
        for (; d->count < 5 && time >= d->times[d->count]; d->count++)
            d->at[d->count] = front + rate * (d->times[d->count] - time);
        d->fastest = fmax(d->fastest, rate);
        d->volume = fmax(d->volume, fabs(stats.volume / volume - 1.0));
        d->last = front;
        d->time = time;
    }
    return KILN_OK;
}

static kiln_status break_dam(kiln_validation *validation, const kiln_view *view, dam *out,
                             kiln_error *error)
{
    kiln_trial trial;
    const int cells[3] = {8, 2, 16}, walls[] = {1, 3, 4, 5};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, KILN_BDF2, 1e-3, 218);
    kiln_trial_set_gravity(&trial, 9.81);
    trial.user = out;
    kiln_status status = kiln_trial_liquid(&trial, 998, 1e-3, 0.073, error);
    kiln_scene_preset(&trial.scene);
    if (status == KILN_OK)
        status =
            kiln_trial_box(&trial, kiln_v3(DAM, 0.25 * DAM, 2.0 * DAM), cells, "mirrored", error);
    for (int i = 0; i < 4 && status == KILN_OK; i++) {
        kiln_picks where;
        status = kiln_trial_pick_patch(&trial, walls[i], &where, error);
        if (status == KILN_OK)
            status = kiln_trial_hold(&trial, &where, 1 << (walls[i] - 1) / 2, NULL, error);
    }
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_dam, error);
    kiln_trial_end(&trial);
    return status;
}

/* Of the very set-up, without gate and friction: the plane potential flow with tension, by boundary
 * elements (docs/liquids.md), to T = 2.55. */
static const double FREE_FRONT[3] = {1.7245, 2.6091, 3.3519};

kiln_status kiln_validate_L10(kiln_validation *validation, kiln_error *error)
{
    static const double front[5] = {1.47, 2.29, 3.00, 4.13, 4.94};
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++) {
        const char *name = kiln_view_at(row)->name;
        dam d = {.times = {1.22, 2.00, 2.55, 3.35, 4.03}};
        KILN_TRY(break_dam(validation, kiln_view_at(row), &d, error));
        for (int i = 0; i < 5; i++)
            kiln_validation_report(validation, i < d.count ? d.at[i] : NAN,
                                   kiln_between(0.95 * front[i], 1.12 * front[i]),
                                   "%s: front at T = %g, of the width", name, d.times[i]);
        for (int i = 0; i < 3; i++)
            kiln_validation_report(validation, i < d.count ? d.at[i] : NAN,
                                   kiln_near_relative(FREE_FRONT[i], 0.02),
                                   "%s: front at T = %g, as boundary elements", name, d.times[i]);
        kiln_validation_report(validation, d.fastest, kiln_at_most(2.0),
                               "%s: dZ/dT of the front, largest", name);
        kiln_validation_report(validation, d.volume, kiln_at_most(0.005), "%s: volume off, of it",
                               name);
    }
    return KILN_OK;
}

/* L14: half a wave of a thread between planes. By Rayleigh s^2 = tension / (density R^3) kR (1 -
 * (kR)^2) I1(kR) / I0(kR). */

typedef struct thread {
    double wave; /* kR */
    int steps;
    kiln_integrator by;
    swing swing;
    double grown; /* of the first */
} thread;

static const double THREAD = 1e-3, BULGE = 0.02; /* m; of it */
static const double THREAD_STEP = 0.25e-3;       /* s */

/* Integral of the wave over the volume. */
static double bulge_of(const kiln_trial *trial, kiln_world *world, double k)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 x[4];
        double wave = 0.0;
        if (mesh->tet[t].v[0] == KILN_NONE)
            continue;
        for (int i = 0; i < 4; i++) {
            x[i] = kiln_trial_vector_back(trial, mesh->x[mesh->tet[t].v[i]], 1, 0, 0);
            wave += 0.25 * cos(k * x[i].z);
        }
        sum += wave * kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(x[1], x[0]), kiln_v3_sub(x[2], x[0])),
                                  kiln_v3_sub(x[3], x[0]));
    }
    return sum;
}

static kiln_status watch_thread(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    thread *out = trial->user;
    kiln_stats stats = {.time = 0.0};
    double k = out->wave / THREAD, first = bulge_of(trial, world, k);
    follow(&out->swing, 1.0, 0.0);
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        out->grown = bulge_of(trial, world, k) / first;
        follow(&out->swing, out->grown, stats.time / kiln_trial_number(trial, 1, 0, 0, 1));
    }
    return KILN_OK;
}

static kiln_status pull_thread(kiln_validation *validation, const kiln_view *view, thread *out,
                               kiln_error *error)
{
    kiln_trial trial;
    kiln_soup soup;
    char settings[96];
    double k = out->wave / THREAD, length = PI / k;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, out->by, THREAD_STEP, out->steps);
    trial.user = out;
    snprintf(settings, sizeof settings, "radius=%.17g height=%.17g h=%.17g", THREAD, length,
             0.3 * THREAD);
    kiln_status status = kiln_trial_liquid(&trial, 997, 0, 70.38e-3, error);
    kiln_scene_preset(&trial.scene);
    if (status == KILN_OK)
        status = kiln_fixture_soup(trial.context, "cylinder", settings, &soup, error);
    if (status == KILN_OK) {
        for (size_t i = 0; i < soup.points.count; i++) {
            kiln_vec3 *p = &soup.points.data[i];
            double wide = 1.0 + BULGE * cos(k * p->z);
            *p = kiln_v3(wide * p->x, wide * p->y, p->z);
        }
        status = kiln_trial_body(&trial, &soup, error);
    }
    for (int patch = 2; patch <= 3 && status == KILN_OK; patch++) {
        kiln_picks end;
        status = kiln_trial_pick_patch(&trial, patch, &end, error);
        if (status == KILN_OK)
            status = kiln_trial_hold(&trial, &end, 4, NULL, error);
    }
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_thread, error);
    kiln_trial_end(&trial);
    return status;
}

/* 1/s; NAN: it does not grow. */
static kiln_status find_growth(kiln_validation *validation, const kiln_view *view, double wave,
                               kiln_integrator by, double *growth, kiln_error *error)
{
    thread grows = {.wave = wave, .steps = 60, .by = by};
    KILN_TRY(pull_thread(validation, view, &grows, error));
    *growth = grows.grown > 1.0 ? acosh(grows.grown) / (grows.steps * THREAD_STEP) : NAN;
    return KILN_OK;
}

/* Where the parabola through three points is highest. */
static double highest(const double x[3], const double y[3])
{
    double a = (y[1] - y[0]) / (x[1] - x[0]), b = (y[2] - y[1]) / (x[2] - x[1]);
    double bend = (b - a) / (x[2] - x[0]);
    return 0.5 * (x[0] + x[1]) - 0.5 * a / bend;
}

static kiln_status report_growth(kiln_validation *validation, const kiln_view *view,
                                 kiln_error *error)
{
    static const double wave[3] = {0.6, 0.697, 0.8}, right[3] = {88.26, 91.22, 86.87};
    double growth[3];
    for (int i = 0; i < 3; i++) {
        KILN_TRY(find_growth(validation, view, wave[i], KILN_BDF2, &growth[i], error));
        kiln_validation_report(validation, growth[i], kiln_near_relative(right[i], 0.05),
                               "%s, kR = %g: rate of growth, 1/s", view->name, wave[i]);
    }
    kiln_validation_report(validation, 2.0 * PI / highest(wave, growth),
                           kiln_near_relative(9.014, 0.05), "%s: the wave that grows fastest, of R",
                           view->name);
    KILN_TRY(find_growth(validation, view, wave[1], KILN_IMPLICIT_EULER, &growth[1], error));
    kiln_validation_report(
        validation, growth[1],
        kiln_near_relative(right[1] * (1.0 + 0.5 * right[1] * THREAD_STEP), 0.05),
        "%s, kR = %g, implicit Euler: rate of growth, 1/s", view->name, wave[1]);
    return KILN_OK;
}

kiln_status kiln_validate_L14(kiln_validation *validation, kiln_error *error)
{
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++) {
        thread swings = {.wave = 1.3, .steps = 110, .by = KILN_BDF2};
        KILN_TRY(report_growth(validation, kiln_view_at(row), error));
        KILN_TRY(pull_thread(validation, kiln_view_at(row), &swings, error));
        const double *at = swings.swing.at;
        kiln_validation_report(validation, swings.swing.count >= 2 ? PI / (at[1] - at[0]) : NAN,
                               kiln_near_relative(185.4, 0.05), "%s, kR = 1.3: frequency, 1/s",
                               kiln_view_at(row)->name);
    }
    return KILN_OK;
}
