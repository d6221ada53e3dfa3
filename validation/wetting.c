/* Drops and puddles on plates that they wet (validation.md, L12, L13), and drops at rest (L16). */
#include "measure/fixture.h"
#include "mesh/walk.h"
#include "validation/trial.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;
static const double TENSION = 70.38e-3, DENSITY = 997.0, GRAVITY = 9.81;

/* A drop on the plate z = 0, or without one, and what became of it. */
typedef struct drop {
    const char *shape, *settings; /* of unit size, on the plate */
    double volume;                /* m^3 */
    double angle;                 /* degrees; less than 0: there is no plate */
    double gravity, viscosity;    /* m/s^2, Pa s */
    double dt;                    /* s */
    int steps;
    kiln_integrator integrator;
    bool remeshed;
    double falls; /* m, from that above the plate, remeshed as liquid is without a word */

    double height, base;  /* m, the base that of a circle of the area that is wet */
    double off, contacts; /* of the volume; vertices on the plate */
    double lowest;        /* m */
    double speed;         /* largest, m/s */
} drop;

static double volume_of(const kiln_vec3 x[4])
{
    return kiln_v3_dot(kiln_v3_cross(kiln_v3_sub(x[1], x[0]), kiln_v3_sub(x[2], x[0])),
                       kiln_v3_sub(x[3], x[0])) /
           6.0;
}

static double wet_area(const kiln_trial *trial, const kiln_mesh *mesh, double within)
{
    double sum = 0.0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        kiln_vec3 p[3];
        double highest = 0.0;
        if (!kiln_face_live(mesh, f))
            continue;
        for (int k = 0; k < 3; k++) {
            uint32_t at = mesh->face[f].at, v = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
            p[k] = kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0);
            highest = fmax(highest, fabs(p[k].z));
        }
        if (highest <= within)
            sum +=
                0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
    }
    return sum;
}

static void look_at(const kiln_trial *trial, kiln_world *world, drop *d)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    const kiln_vec3 *v = (const kiln_vec3 *)(const void *)field->data;
    double volume = 0.0;
    d->height = d->contacts = d->speed = 0.0;
    d->lowest = INFINITY;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        double z = kiln_trial_vector_back(trial, mesh->x[i], 1, 0, 0).z;
        d->height = fmax(d->height, z);
        d->lowest = fmin(d->lowest, z);
        d->contacts += fabs(z) <= 1e-9;
        d->speed = fmax(d->speed, kiln_v3_norm(kiln_trial_vector_back(trial, v[i], 1, 0, -1)));
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 x[4];
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            x[k] = kiln_trial_vector_back(trial, mesh->x[mesh->tet[t].v[k]], 1, 0, 0);
        volume += kiln_tet_live(mesh, t) ? volume_of(x) : 0.0;
    }
    d->off = fabs(volume / d->volume - 1.0);
    d->base = sqrt(wet_area(trial, mesh, 1e-9) / PI);
}

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    kiln_stats stats = {.time = 0.0};
    while (stats.time < trial->scene.duration * (1 - 1e-9))
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    look_at(trial, world, trial->user);
    return KILN_OK;
}

static kiln_status add_plate(kiln_trial *trial, double degrees, kiln_error *error)
{
    kiln_scene_obstacle plate = {
        .shape = {.kind = KILN_OBSTACLE_PLANE,
                  .normal = kiln_trial_vector(trial, kiln_v3(0, 0, 1), 0, 0, 0)},
        .contact_angle = degrees,
        .motion = {.obstacle = -1}};
    return kiln_array_push(trial->context, &trial->scene.obstacles, plate, error);
}

/* The shape at the volume asked for, its lowest point on the plate or above it. */
static kiln_status add_drop(kiln_trial *trial, const drop *d, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_trial_liquid(trial, DENSITY, d->viscosity, TENSION, error));
    KILN_TRY(kiln_fixture_soup(trial->context, d->shape, d->settings, &soup, error));
    double volume = 0.0, lowest = INFINITY;
    for (size_t t = 0; t < soup.tets.count; t++) {
        kiln_vec3 x[4];
        for (int k = 0; k < 4; k++)
            x[k] = soup.points.data[soup.tets.data[t].v[k]];
        volume += volume_of(x);
    }
    for (size_t i = 0; i < soup.points.count; i++)
        lowest = fmin(lowest, soup.points.data[i].z);
    double size = cbrt(d->volume / volume);
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 *p = &soup.points.data[i];
        *p = kiln_v3(size * p->x, size * p->y, size * (p->z - lowest) + d->falls);
    }
    return kiln_trial_body(trial, &soup, error);
}

static kiln_status run(kiln_validation *validation, const kiln_view *view, drop *d,
                       kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, d->integrator, d->dt, d->steps);
    kiln_trial_set_gravity(&trial, d->gravity);
    if (d->remeshed) {
        trial.scene.remesh.method = KILN_REMESH_LOCAL;
        trial.scene.remesh.space = KILN_SPACE_WORLD;
        trial.scene.remesh.quality = 0.15;
    } else if (d->falls == 0.0) {
        trial.scene.solid.newton.tolerance = 1e-14;
    }
    trial.user = d;
    kiln_status status = add_drop(&trial, d, error);
    if (d->falls > 0.0)
        kiln_scene_preset(&trial.scene);
    if (status == KILN_OK && d->angle >= 0.0)
        status = add_plate(&trial, d->angle, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch, error);
    kiln_trial_end(&trial);
    return status;
}

/* The shape of a drop at rest under its weight: the profile of a surface that meets the plate at
 * the angle asked for, by steps along its arc from the top, whose curvature is found by halving. */

typedef struct profile {
    double height, base; /* m, the base its radius on the plate */
    double volume;
} profile;

static profile profile_of(const drop *d, double curvature)
{
    const double weight = DENSITY * d->gravity / TENSION, step = 2e-4 * cbrt(d->volume);
    double r = 0.0, z = 0.0, turn = 0.0;
    profile p = {0};
    while (turn < d->angle * PI / 180.0 && r < 0.1) {
        double round = r > 0.0 ? sin(turn) / r : curvature;
        double bend = 2.0 * curvature + weight * z - round;
        p.volume += PI * r * r * sin(turn) * step;
        r += step * cos(turn);
        z += step * sin(turn);
        turn += step * bend;
    }
    p.height = z;
    p.base = r;
    return p;
}

static profile at_rest(const drop *d)
{
    double least = 1e-12, most = 1e5; /* curvatures at the top, 1/m: flat, and a small drop */
    for (int i = 0; i < 60; i++) {
        double middle = sqrt(least * most);
        *(profile_of(d, middle).volume > d->volume ? &least : &most) = middle;
    }
    return profile_of(d, sqrt(least * most));
}

/* L12: a cylinder becomes the cap of a sphere; its weight flattens it by 3 to 5 %. */

static void report_cap(kiln_validation *validation, const char *view, const drop *d)
{
    profile cap = at_rest(d);
    double within = d->gravity > 0.0 ? 0.01 : 0.03;
    kiln_validation_report(validation, 1e3 * d->height,
                           kiln_near_relative(1e3 * cap.height, within),
                           "%g degrees, %s: height, mm", d->angle, view);
    kiln_validation_report(validation, 1e3 * d->base, kiln_near_relative(1e3 * cap.base, within),
                           "%g degrees, %s: radius of the base, mm", d->angle, view);
    kiln_validation_report(validation, d->off, kiln_at_most(1e-3),
                           "%g degrees, %s: volume off, of it", d->angle, view);
}

/* Balls that come down on the plate. */
static kiln_status fall(kiln_validation *validation, const kiln_view *view, double angle,
                        kiln_error *error)
{
    drop d = {.shape = "ball",
              .settings = "radius=1 h=0.25",
              .volume = 4.18879e-9,
              .angle = angle,
              .gravity = GRAVITY,
              .viscosity = 0.05,
              .dt = 2e-4,
              .steps = 600, /* at 120 degrees it swings on, a third less every 4 ms */
              .integrator = KILN_BDF2,
              .falls = 0.05e-3};
    char name[64];
    KILN_TRY(run(validation, view, &d, error));
    snprintf(name, sizeof name, "%s, falls", view->name);
    report_cap(validation, name, &d);
    kiln_validation_report(validation, d.speed, kiln_at_most(1e-3),
                           "%g degrees, %s: largest speed at the end, m/s", angle, name);
    return KILN_OK;
}

kiln_status kiln_validate_L12(kiln_validation *validation, kiln_error *error)
{
    static const double angles[] = {90, 60, 120, 180};
    bool brief = kiln_validation_is_brief(validation);
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++)
        for (size_t i = 0; i < (brief ? 1 : sizeof angles / sizeof *angles); i++) {
            drop d = {.shape = "cylinder",
                      .settings = "radius=1 height=1 h=0.23",
                      .volume = 4.18879e-9,
                      .angle = angles[i],
                      .viscosity = 0.05,
                      .dt = 2e-4,
                      .steps = 400,
                      .integrator = KILN_BDF2,
                      .remeshed = true};
            KILN_TRY(run(validation, kiln_view_at(row), &d, error));
            if (d.angle < 180.0)
                report_cap(validation, kiln_view_at(row)->name, &d);
            else
                kiln_validation_report(validation, d.contacts, kiln_near(0, 0),
                                       "%g degrees, %s: vertices that still touch the plate",
                                       d.angle, kiln_view_at(row)->name);
        }
    for (size_t row = 0; row < SIZE_MAX && kiln_view_at(row) && !brief; row++)
        for (double angle = 60; angle <= 120; angle += 30)
            KILN_TRY(fall(validation, kiln_view_at(row), angle, error));
    return KILN_OK;
}

kiln_status kiln_validate_L13(kiln_validation *validation, kiln_error *error)
{
    for (size_t row = 0; kiln_view_at(row); row++) {
        drop d = {.shape = "cylinder",
                  .settings = "radius=1 height=0.15 h=0.075",
                  .volume = 1.2e-5,
                  .angle = 90,
                  .gravity = GRAVITY,
                  .viscosity = 0.5,
                  .dt = 2e-3,
                  .steps = 300,
                  .integrator = KILN_BDF2,
                  .remeshed = true};
        KILN_TRY(run(validation, kiln_view_at(row), &d, error));
        const char *name = kiln_view_at(row)->name;
        kiln_validation_report(validation, 1e3 * d.height, kiln_near_relative(3.794, 0.06),
                               "%s: height of a puddle, mm", name);
        kiln_validation_report(validation, d.height / at_rest(&d).height, kiln_near(1.0, 0.03),
                               "%s: of that of its volume", name);
        kiln_validation_report(validation, d.off, kiln_at_most(1e-3), "%s: volume off, of it",
                               name);
    }
    return KILN_OK;
}

/* L16: at rest, with the mesh it came to rest with. */

kiln_status kiln_validate_L16(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        const char *name, *settings;
        double angle;
    } rows[] = {{"1,000 tets, free", "radius=1 h=0.27", -1},
                {"1,000 tets, on a plate", "radius=1 h=0.27", 90},
                {"20,000 tets, free", "radius=1 h=0.1", -1}};
    const double radius = 2e-3, slow = sqrt(TENSION / (DENSITY * radius));
    bool brief = kiln_validation_is_brief(validation);
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++)
        for (size_t i = 0; i < (brief ? 1 : row ? 2 : sizeof rows / sizeof *rows); i++) {
            drop d = {.shape = "ball",
                      .settings = rows[i].settings,
                      .volume = 4.0 / 3.0 * PI * radius * radius * radius,
                      .angle = rows[i].angle,
                      .viscosity = 0.1,
                      .dt = 2e-2,
                      .steps = 260,
                      .integrator = KILN_IMPLICIT_EULER};
            if (rows[i].angle >= 0.0) {
                d.shape = "cylinder";
                d.settings = "radius=1 height=1 h=0.3";
            }
            KILN_TRY(run(validation, kiln_view_at(row), &d, error));
            kiln_validation_report(validation, d.speed / slow, kiln_at_most(1e-6),
                                   "%s, %s: largest speed, of the capillary one", rows[i].name,
                                   kiln_view_at(row)->name);
        }
    return KILN_OK;
}
