/* Meshes that are remeshed while nothing goes on any more. */
#include "base/random.h"
#include "measure/fixture.h"
#include "validation/trial.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 120, AT_REST = 60 };
/* Of bodies that buckle: how many, and how many are looked at in brief. */
enum { BUCKLED = 12, BRIEF_BUCKLED = 3 };

/* Of corners and material positions; another number when any of them has changed. */
static uint64_t mesh_print(const kiln_mesh *mesh)
{
    uint64_t sum = 1469598103934665603u, word;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4; k++)
            sum = (sum ^ mesh->tet[t].v[k]) * 1099511628211u;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        memcpy(&word, &mesh->u[v].x, sizeof word);
        sum = (sum ^ word) * 1099511628211u;
        memcpy(&word, &mesh->u[v].z, sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
    return sum;
}

typedef struct calm {
    int steps, rest;   /* in all, and from where on it is at rest */
    int early, late;   /* steps that changed the mesh */
    double kinetic[2]; /* energy, the most and in the end */
} calm;

static kiln_status count_changes(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    calm *c = trial->user;
    const kiln_mesh *mesh = kiln_world_mesh(world);
    uint64_t before = mesh_print(mesh);
    for (int step = 0; step < c->steps; step++) {
        kiln_stats stats;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        uint64_t after = mesh_print(mesh);
        *(step < c->rest ? &c->early : &c->late) += after != before;
        before = after;
        c->kinetic[0] = fmax(c->kinetic[0], stats.e_kinetic);
        c->kinetic[1] = stats.e_kinetic;
    }
    return KILN_OK;
}

/* A beam that is damped to rest in half of the steps. */
static kiln_status hang_beam(kiln_trial *trial, double size, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    kiln_picks root = {0};
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, 0.3, 1000, error));
    scene->materials.data[0].base.damping_mass = kiln_trial_number(trial, 10.0, 0, 0, -1);
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 0.2, 0.2), (int[]){10, 2, 2}, "kuhn", error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &root, error));
    KILN_TRY(kiln_trial_hold(trial, &root, 7, NULL, error));
    scene->gravity = kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -9.81), 1, 0, -2));
    double dt = kiln_trial_number(trial, 0.02, 0, 0, 1);
    scene->pace = (kiln_pace_limits){.dt = dt, .dt_min = 1e-3 * dt, .patience = 4};
    scene->duration = 2 * STEPS * dt;
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.size = kiln_trial_number(trial, size, 1, 0, 0);
    return KILN_OK;
}

kiln_status kiln_validate_mesh_rests(kiln_validation *validation, kiln_error *error)
{
    static const double sizes[] = {0.09, 0.07};
    for (size_t v = 0; kiln_view_at(v); v++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            calm c = {.steps = STEPS, .rest = AT_REST};
            kiln_trial trial;
            kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(v));
            trial.user = &c;
            kiln_status status = hang_beam(&trial, sizes[i], error);
            if (status == KILN_OK)
                status = kiln_trial_build(&trial, count_changes, error);
            kiln_trial_end(&trial);
            KILN_TRY(status);
            const char *view = kiln_view_at(v)->name;
            kiln_validation_report(validation, c.early, kiln_at_least(1),
                                   "size %g, %s: steps that change the mesh on the way", sizes[i],
                                   view);
            kiln_validation_report(validation, c.late, kiln_exactly(0),
                                   "size %g, %s: steps that change it at rest", sizes[i], view);
        }
    return KILN_OK;
}

/* A column or a bar that gives way under its weight, at random. */
typedef struct column {
    double radius, height, h, size; /* m */
    double young, poisson, damping, side, dt;
    const char *model;
    kiln_integrator integrator;
    bool round, in_world, follows;
} column;

static double one_of(kiln_random *random, const double *list, uint32_t count)
{
    return list[kiln_random_below(random, count)];
}

#define ONE_OF(random, ...)                                                                        \
    one_of(random, (const double[]){__VA_ARGS__},                                                  \
           sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static column make_column(uint64_t number)
{
    static const char *const models[] = {"neo-hookean", "neo-hookean", "stable-neo-hookean",
                                         "fixed-corotated"};
    static const kiln_integrator integrators[] = {KILN_BDF2, KILN_IMPLICIT_EULER, KILN_NEWMARK};
    kiln_random random = kiln_random_start(2026, number);
    column c = {.radius = ONE_OF(&random, 0.1, 0.15, 0.2, 0.3)};
    c.height = c.radius * ONE_OF(&random, 6, 8, 10);
    c.young = 9810 * c.height / ONE_OF(&random, 0.1, 0.2, 0.4, 0.8);
    c.h = c.radius * ONE_OF(&random, 0.8, 1.0);
    c.size = c.h * ONE_OF(&random, 0.85, 1.0, 1.2, 1.57);
    c.poisson = ONE_OF(&random, 0.3, 0.4, 0.45);
    c.damping = ONE_OF(&random, 4, 6);
    c.side = ONE_OF(&random, 0.3, 1);
    c.dt = ONE_OF(&random, 0.02, 0.04);
    c.model = models[kiln_random_below(&random, 4)];
    c.integrator = integrators[kiln_random_below(&random, 3)];
    c.round = kiln_random_below(&random, 3) > 0;
    uint32_t wish = kiln_random_below(&random, 6);
    c.in_world = wish == 0;
    c.follows = wish == 1;
    return c;
}

static kiln_status shape_column(kiln_trial *trial, const column *c, kiln_error *error)
{
    char settings[160];
    kiln_soup soup = {0};
    if (!c->round)
        return kiln_trial_box(trial, kiln_v3(2 * c->radius, 2 * c->radius, c->height),
                              (int[]){2, 2, (int)(c->height / c->radius)}, "kuhn", error);
    snprintf(settings, sizeof settings, "radius=%.17g height=%.17g h=%.17g", c->radius, c->height,
             c->h);
    KILN_TRY(kiln_fixture_soup(trial->context, "cylinder", settings, &soup, error));
    return kiln_trial_body(trial, &soup, error);
}

static kiln_status stand_column(kiln_trial *trial, const column *c, double time, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    kiln_picks foot = {0};
    KILN_TRY(kiln_trial_material(trial, c->model, c->young, c->poisson, 1000, error));
    scene->materials.data[0].base.damping_mass = kiln_trial_number(trial, c->damping, 0, 0, -1);
    KILN_TRY(shape_column(trial, c, error));
    scene->bodies.data[0].tolerate_inverted = strcmp(c->model, "neo-hookean") != 0;
    KILN_TRY(kiln_trial_pick_below(trial, 1e-3 * c->height, &foot, error));
    KILN_TRY(kiln_trial_hold(trial, &foot, 7, NULL, error));
    kiln_vec3 gravity = kiln_v3(c->side, 0.05 * c->side, -9.81);
    scene->gravity = kiln_quantity_vector(kiln_trial_vector(trial, gravity, 1, 0, -2));
    double dt = kiln_trial_number(trial, c->dt, 0, 0, 1);
    scene->pace = (kiln_pace_limits){.dt = dt, .dt_min = 1e-3 * dt, .patience = 4};
    scene->duration = 2 * kiln_trial_number(trial, time, 0, 0, 1);
    scene->solid.integrator = c->integrator;
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.follow = c->follows;
    double size = kiln_trial_number(trial, c->size, 1, 0, 0);
    if (!c->follows)
        *(c->in_world ? &scene->remesh.deformation : &scene->remesh.size) = size;
    return KILN_OK;
}

/* It falls over and into itself, without contact, is damped, and looked at in the last fifth. */
static kiln_status buckle(kiln_validation *validation, uint64_t number, calm *c, kiln_error *error)
{
    static const double TIME = 14; /* s, about fifty times what damping takes to halve a motion */
    kiln_trial trial;
    column drawn = make_column(number);
    *c = (calm){.steps = (int)(TIME / drawn.dt)};
    c->rest = 4 * c->steps / 5;
    kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(0));
    trial.user = c;
    kiln_status status = stand_column(&trial, &drawn, TIME, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, count_changes, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_mesh_buckled(kiln_validation *validation, kiln_error *error)
{
    uint64_t count = kiln_validation_is_brief(validation) ? BRIEF_BUCKLED : BUCKLED;
    for (uint64_t i = 0; i < count; i++) {
        calm c;
        KILN_TRY(buckle(validation, i, &c, error));
        kiln_validation_report(validation, c.kinetic[1] / c.kinetic[0], kiln_at_most(1e-3),
                               "column %d: kinetic energy in the end, part of the most", (int)i);
        kiln_validation_report(validation, c.late, kiln_exactly(0),
                               "column %d: steps that change the mesh at rest", (int)i);
    }
    return KILN_OK;
}
