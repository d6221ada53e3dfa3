/* Liquid inside an elastic shell, both in one mesh: pressed from outside it bears the pressure that
 * Lame's thick sphere says, and flying free, while the mesh changes, each keeps what it has. */
#include "measure/fixture.h"
#include "mesh/walk.h"
#include "step/liquid.h"
#include "validation/trial.h"

#include <math.h>
#include <stdio.h>

static const double RADIUS = 0.1, YOUNG = 1e5, POISSON = 0.3, DENSITY = 1000.0, LOAD = 100.0;

/* A ball of `n` layers, the outer `skin` of them solid. */
static kiln_status make_ball(kiln_trial *trial, double young, int n, int skin, kiln_error *error)
{
    char settings[100];
    kiln_soup soup;
    kiln_scene_region core = {.tag = -1};
    KILN_TRY(kiln_trial_liquid(trial, DENSITY, 1e-3, 0.0, error));
    core.material = (uint32_t)trial->scene.materials.count - 1;
    KILN_TRY(kiln_trial_material(trial, "stable-neo-hookean", young, POISSON, DENSITY, error));
    snprintf(settings, sizeof settings, "radius=%.17g h=%.17g", RADIUS, 1.08 * RADIUS / n);
    KILN_TRY(kiln_fixture_soup(trial->context, "ball", settings, &soup, error));
    KILN_TRY(kiln_trial_body(trial, &soup, error));
    KILN_TRY(
        kiln_trial_pick_ball(trial, kiln_v3(0, 0, 0), RADIUS * (n - skin) / n, &core.where, error));
    return kiln_array_push(trial->context, &trial->scene.bodies.data[0].regions, core, error);
}

static double volume_of(const kiln_vec3 x[4])
{
    return kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(x[1], x[0]), kiln_v3_sub(x[2], x[0])),
                       kiln_v3_sub(x[3], x[0])) /
           6.0;
}

static const double *column(const kiln_mesh *mesh, kiln_where where, const char *name)
{
    return (const double *)(const void *)kiln_mesh_field(mesh, where, name)->data;
}

/* Of the liquid, 0, and the solid, 1. */
typedef struct halves {
    double volume[2], mass[2], rest[2]; /* m^3, kg, m^3 */
    double pressure;                    /* mean in the liquid, Pa */
    double radius;                      /* mean of the outer vertices, m */
} halves;

static halves look(const kiln_trial *trial, kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *p = column(mesh, KILN_ON_VERTEX, KILN_FIELD_LIQUID_PRESSURE);
    const double *mass = column(mesh, KILN_ON_TET, "mass");
    const double *rest = column(mesh, KILN_ON_TET, "rest_volume");
    const uint32_t *material =
        (const uint32_t *)(const void *)kiln_mesh_field(mesh, KILN_ON_TET, "material")->data;
    halves h = {0};
    double outer = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 x[4];
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int k = 0; k < 4; k++)
            x[k] = kiln_trial_vector_back(trial, mesh->x[mesh->tet[t].v[k]], 1, 0, 0);
        int solid = material[t] == 1;
        double volume = volume_of(x);
        h.volume[solid] += volume;
        h.mass[solid] += mass[t] / kiln_trial_number(trial, 1, 0, 1, 0);
        h.rest[solid] += rest[t] / kiln_trial_number(trial, 1, 3, 0, 0);
        for (int k = 0; k < 4 && !solid; k++)
            h.pressure += 0.25 * volume * p[mesh->tet[t].v[k]];
    }
    h.pressure /= h.volume[0] * kiln_trial_number(trial, 1, -1, 1, -2);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_SURFACE) {
            h.radius += kiln_v3_norm(kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0));
            outer++;
        }
    h.radius /= outer;
    return h;
}

/* Pressed from outside. */

typedef struct pressed {
    double pressure, displacement; /* Pa, m */
} pressed;

/* u = A (r - a^3 / r^2): the liquid keeps a. */
static pressed lame(double a, double b)
{
    double mu = YOUNG / (2.0 * (1.0 + POISSON));
    double lambda = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
    double bulk = 3.0 * lambda + 2.0 * mu, a3 = a * a * a;
    double A = -LOAD / (bulk + 4.0 * mu * a3 / (b * b * b));
    return (pressed){-A * (bulk + 4.0 * mu), A * (b - a3 / (b * b))};
}

static kiln_status press(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    pressed *out = trial->user;
    double before = look(trial, world).radius;
    kiln_stats stats = {.time = 0.0};
    while (stats.time < trial->scene.duration * (1 - 1e-9))
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    halves h = look(trial, world);
    *out = (pressed){h.pressure, h.radius - before};
    return KILN_OK;
}

static kiln_status run_pressed(kiln_validation *validation, const kiln_view *view, int n,
                               pressed *out, kiln_error *error)
{
    kiln_trial trial;
    kiln_picks outside;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, KILN_IMPLICIT_EULER, 1.0, 8);
    trial.user = out;
    kiln_status status = make_ball(&trial, YOUNG, n, n / 3, error);
    kiln_scene_preset(&trial.scene);
    if (status == KILN_OK)
        status = kiln_trial_pick_surface(&trial, &outside, error);
    if (status == KILN_OK)
        status = kiln_trial_load(&trial, KILN_LOAD_PRESSURE, &outside,
                                 kiln_quantity_number(kiln_trial_number(&trial, LOAD, -1, 1, -2)),
                                 error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, press, error);
    kiln_trial_end(&trial);
    return status;
}

static kiln_status report_pressed(kiln_validation *validation, const kiln_view *view, int n,
                                  kiln_error *error)
{
    pressed p, exact = lame(RADIUS * (n - n / 3) / n, RADIUS);
    KILN_TRY(run_pressed(validation, view, n, &p, error));
    kiln_validation_report(validation, p.pressure, kiln_near_relative(exact.pressure, 0.04),
                           "%s, %d layers, pressed: pressure in the liquid, Pa", view->name, n);
    kiln_validation_report(validation, 1e6 * p.displacement,
                           kiln_near_relative(1e6 * exact.displacement, 0.02),
                           "%s, %d layers, pressed: way of the surface, um", view->name, n);
    return KILN_OK;
}

/* Flying free. */

typedef struct flight {
    double kept[2], volume; /* largest change of mass and of rest volume, of the liquid's volume */
    double momentum, turning; /* change of what it has, of it */
    double rise, loss;        /* of energy, of that of motion at the begin */
    double changed;           /* tets, by the mesh */
} flight;

/* Drawn out along x, thrown and spun. */
static kiln_vec3 thrown(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    (void)time;
    return kiln_v3(0.4 + 8.0 * u.x + 2.0 * u.z, -4.0 * u.y, -4.0 * u.z - 2.0 * u.x);
}

static double off(kiln_vec3 then, kiln_vec3 now)
{
    return kiln_v3_norm(kiln_v3_sub(now, then)) / kiln_v3_norm(then);
}

static void compare(flight *f, const halves *first, const halves *now)
{
    for (int i = 0; i < 2; i++) {
        f->kept[0] = fmax(f->kept[0], fabs(now->mass[i] / first->mass[i] - 1.0));
        f->kept[1] = fmax(f->kept[1], fabs(now->rest[i] / first->rest[i] - 1.0));
    }
    f->volume = fmax(f->volume, fabs(now->volume[0] / first->volume[0] - 1.0));
}

static kiln_status fly(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    flight *f = trial->user;
    const halves begin = look(trial, world);
    kiln_stats first, stats;
    kiln_world_measure(world, &first);
    stats = first;
    double least = first.e_kinetic + first.e_elastic;
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        const halves now = look(trial, world);
        compare(f, &begin, &now);
        double energy = stats.e_kinetic + stats.e_elastic;
        f->changed += stats.changed;
        f->rise = fmax(f->rise, (energy - least) / first.e_kinetic);
        least = fmin(least, energy);
    }
    f->loss = (first.e_kinetic + first.e_elastic - least) / first.e_kinetic;
    f->momentum = off(kiln_v3(first.px, first.py, first.pz), kiln_v3(stats.px, stats.py, stats.pz));
    f->turning = off(kiln_v3(first.lx, first.ly, first.lz), kiln_v3(stats.lx, stats.ly, stats.lz));
    return KILN_OK;
}

static kiln_status run_flight(kiln_validation *validation, const kiln_view *view,
                              kiln_integrator integrator, flight *out, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_map map = {.trial = &trial, .place = thrown, .l = 1, .t = -1};
    *out = (flight){0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, integrator, 2e-3, 60);
    trial.user = out;
    kiln_status status = make_ball(&trial, 2e4, 5, 1, error);
    kiln_scene_preset(&trial.scene);
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].velocity = kiln_trial_quantity(&map);
        status = kiln_trial_build(&trial, fly, error);
    }
    kiln_trial_end(&trial);
    return status;
}

static void report_flight(kiln_validation *validation, const char *name, const flight *f)
{
    kiln_validation_report(validation, f->changed, kiln_at_least(100.0),
                           "%s, thrown: tets that remeshing changed", name);
    kiln_validation_report(validation, f->kept[0], kiln_at_most(1e-12),
                           "%s, thrown: mass of liquid and of solid, off, of it", name);
    kiln_validation_report(validation, f->kept[1], kiln_at_most(1e-12),
                           "%s, thrown: rest volume of each, off, of it", name);
    kiln_validation_report(validation, f->volume, kiln_at_most(5e-3),
                           "%s, thrown: volume of the liquid, off, of it", name);
    kiln_validation_report(validation, f->momentum, kiln_at_most(1e-9),
                           "%s, thrown: momentum, off, of it", name);
    kiln_validation_report(validation, f->turning, kiln_at_most(1e-6),
                           "%s, thrown: angular momentum, off, of it", name);
    kiln_validation_report(validation, f->rise, kiln_at_most(1e-3),
                           "%s, thrown: rise of energy, of that of motion", name);
    kiln_validation_report(validation, f->loss, kiln_unbound(),
                           "%s, thrown: loss of it, of that of motion", name);
}

kiln_status kiln_validate_L17(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    static const kiln_integrator integrators[] = {KILN_BDF2, KILN_IMPLICIT_EULER};
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++) {
        const kiln_view *view = kiln_view_at(row);
        KILN_TRY(report_pressed(validation, view, 6, error));
        for (int i = 0; i < (brief ? 1 : 2); i++) {
            char name[80];
            flight f;
            snprintf(name, sizeof name, "%s, %s", view->name, kiln_integrator_name(integrators[i]));
            KILN_TRY(run_flight(validation, view, integrators[i], &f, error));
            report_flight(validation, name, &f);
        }
    }
    return KILN_OK;
}
