/* Meshes that change while bodies fly: each body keeps its momentum, its angular momentum and its
 * centre of mass, and gains no energy. Two worlds make the same steps until the mesh of one
 * changes; what differs then is what the change did. */
#include "measure/fixture.h"
#include "validation/trial.h"

#include <math.h>
#include <string.h>

enum { STEPS = 40 };

typedef struct sums {
    long double mass, energy, inertia, first[3], momentum[3], angular[3];
} sums;

/* How the second world differs: it keeps its mesh. */
typedef struct flight {
    const char *name;
    kiln_status (*prepare)(kiln_trial *trial, kiln_error *error);
    double pace;                  /* length of a step, of that in `prepare` */
    double least_tets, most_tets; /* after over before */
    double least_energy;          /* part that stays; of bodies that merge, what is no heat */
    double tets[2];               /* before, after */
    double momentum, angular, centre, energy;
} flight;

/* Of matter spread evenly in each tet; the fifth point of a tet is the sum of its corners. */
static void add_tet(const kiln_mesh *mesh, uint32_t t, kiln_vec3 about, sums *s)
{
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    long double m = kiln_field_value(kiln_mesh_field(mesh, KILN_ON_TET, "mass"), t, 0);
    long double r[5][3] = {{0}}, w[5][3] = {{0}};
    for (int k = 0; k < 4; k++) {
        kiln_vec3 at = kiln_v3_sub(mesh->x[mesh->tet[t].v[k]], about);
        memcpy(r[k], (long double[]){at.x, at.y, at.z}, sizeof r[k]);
        for (uint32_t c = 0; c < 3; c++) {
            w[k][c] = kiln_field_value(v, mesh->tet[t].v[k], c);
            r[4][c] += r[k][c];
            w[4][c] += w[k][c];
        }
    }
    s->mass += m;
    for (int c = 0; c < 3; c++) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        s->first[c] += m / 4 * r[4][c];
        s->momentum[c] += m / 4 * w[4][c];
        for (int k = 0; k < 5; k++) {
            s->angular[c] += m / 20 * (r[k][a] * w[k][b] - r[k][b] * w[k][a]);
            s->energy += m / 40 * w[k][c] * w[k][c];
            s->inertia += m / 20 * r[k][c] * r[k][c];
        }
    }
}

static sums sum_up(const kiln_mesh *mesh, kiln_vec3 about)
{
    sums s = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        add_tet(mesh, t, about, &s);
    return s;
}

static double distance(const long double a[3], const long double b[3])
{
    long double sum = 0;
    for (int c = 0; c < 3; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return (double)sqrtl(sum);
}

static void compare(flight *f, const kiln_mesh *kept, const kiln_mesh *changed)
{
    kiln_vec3 centre = kept->x[0];
    sums was = sum_up(kept, centre);
    centre = kiln_v3_add(centre, kiln_v3((double)(was.first[0] / was.mass),
                                         (double)(was.first[1] / was.mass),
                                         (double)(was.first[2] / was.mass)));
    was = sum_up(kept, centre);
    sums is = sum_up(changed, centre);
    double mass = (double)was.mass, size = sqrt((double)(was.inertia / was.mass));
    double speed = sqrt(2.0 * (double)(was.energy / was.mass));
    f->momentum = distance(is.momentum, was.momentum) / (mass * speed);
    f->angular = distance(is.angular, was.angular) / (mass * speed * size);
    f->centre = distance(is.first, was.first) / (mass * size);
    f->energy = (double)(is.energy / was.energy);
    f->tets[0] = kept->table[KILN_ON_TET].live;
    f->tets[1] = changed->table[KILN_ON_TET].live;
}

static kiln_status step_to(kiln_world *world, double time, kiln_stats *stats, kiln_error *error)
{
    kiln_diagnosis diagnosis;
    bool gave_up;
    KILN_TRY(kiln_world_step(world, time, stats, &gave_up, &diagnosis, error));
    return gave_up ? kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "%s", diagnosis.text) : KILN_OK;
}

static kiln_status fly(flight *f, kiln_world *world, kiln_world *twin, double dt, kiln_error *error)
{
    /* Every world looks at its mesh in the first step. */
    kiln_world_get_state(world)->step = kiln_world_get_state(twin)->step = 1;
    for (int step = 1; step * f->pace <= STEPS; step++) {
        kiln_stats stats, kept;
        KILN_TRY(step_to(world, step * dt, &stats, error));
        KILN_TRY(step_to(twin, step * dt, &kept, error));
        if (kept.changed > 0.0)
            break;
        if (!(stats.changed > 0.0))
            continue;
        compare(f, kiln_world_mesh(twin), kiln_world_mesh(world));
        return KILN_OK;
    }
    return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "%s: not one mesh of the two has changed",
                     f->name);
}

static kiln_status use(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    kiln_scene still = trial->scene; /* shares what it points to */
    still.remesh.every = 1000000;
    still.remesh.condition = still.remesh.condition_change = 1e9;
    still.remesh.merge = 0.0;
    kiln_world *twin;
    KILN_TRY(kiln_world_create(&still, &twin, error));
    kiln_status status = fly(trial->user, world, twin, trial->scene.pace.dt, error);
    kiln_world_destroy(twin);
    return status;
}

static kiln_status add_body(kiln_trial *trial, const char *shape, const char *settings,
                            kiln_vec3 offset, kiln_vec3 velocity, kiln_vec3 spin, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_fixture_soup(trial->context, shape, settings, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i] = kiln_v3_add(soup.points.data[i], offset);
    kiln_status status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    kiln_scene_body *body = &trial->scene.bodies.data[trial->scene.bodies.count - 1];
    body->velocity = kiln_quantity_vector(kiln_trial_vector(trial, velocity, 1, 0, -1));
    body->spin = kiln_trial_vector(trial, spin, 0, 0, -1);
    return KILN_OK;
}

static kiln_status spin_block(kiln_trial *trial, const char *settings, double size,
                              kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e5, 0.3, 1000, error));
    KILN_TRY(add_body(trial, "box", settings, kiln_v3(0, 0, 0), kiln_v3(3, 2, -1),
                      kiln_v3(2, -3, 8), error));
    scene->pace.dt = kiln_trial_number(trial, 0.005, 0, 0, 1);
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.size = scene->remesh.size_max = kiln_trial_number(trial, size, 1, 0, 0);
    scene->remesh.every = 8;
    return KILN_OK;
}

static kiln_status refine(kiln_trial *trial, kiln_error *error)
{
    return spin_block(trial, "lx=0.6 ly=0.6 lz=0.4 nx=3 ny=3 nz=3", 0.1, error);
}

static kiln_status coarsen(kiln_trial *trial, kiln_error *error)
{
    return spin_block(trial, "lx=0.6 ly=0.6 lz=0.4 nx=8 ny=8 nz=5", 0.2, error);
}

static kiln_status whole_domain(kiln_trial *trial, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    KILN_TRY(kiln_trial_material(trial, "corotated", 2e4, 0.3, 1000, error));
    scene->materials.data[0].base.plastic =
        (kiln_plastic){.flows = true,
                       .yield = kiln_trial_number(trial, 300, -1, 1, -2),
                       .rate = kiln_trial_number(trial, 50, 0, 0, -1)};
    scene->pace.dt = kiln_trial_number(trial, 0.01, 0, 0, 1);
    scene->remesh.method = KILN_REMESH_GLOBAL;
    scene->remesh.quality = 1e-6; /* no repairs in between */
    return KILN_OK;
}

static kiln_status renew(kiln_trial *trial, kiln_error *error)
{
    KILN_TRY(whole_domain(trial, error));
    trial->scene.remesh.condition = 3;
    trial->scene.remesh.condition_change = 1.5;
    return add_body(trial, "box", "lx=1.2 ly=0.3 lz=0.3 nx=12 ny=3 nz=3", kiln_v3(0, 0, 0),
                    kiln_v3(0.3, 0.2, 1), kiln_v3(0, 1, 12), error);
}

static kiln_status merge(kiln_trial *trial, kiln_error *error)
{
    const char *ball = "radius=0.2 h=0.09";
    KILN_TRY(whole_domain(trial, error));
    KILN_TRY(add_body(trial, "ball", ball, kiln_v3(0, 0, 0), kiln_v3(1, 0.5, 0), kiln_v3(0, 0, 3),
                      error));
    return add_body(trial, "ball", ball, kiln_v3(0.397, 0.07, 0), kiln_v3(-1, 0, 0.2),
                    kiln_v3(0, 0, 0), error);
}

static void report(kiln_validation *validation, const flight *f, const char *view)
{
    kiln_validation_report(validation, f->tets[1] / f->tets[0],
                           kiln_between(f->least_tets, f->most_tets),
                           "%s, %s: tets after over before", f->name, view);
    kiln_validation_report(validation, f->momentum, kiln_at_most(1e-10),
                           "%s, %s: momentum, error over m v", f->name, view);
    kiln_validation_report(validation, f->angular, kiln_at_most(1e-10),
                           "%s, %s: angular momentum, error over m v r", f->name, view);
    kiln_validation_report(validation, f->centre, kiln_at_most(1e-10),
                           "%s, %s: centre of mass, error over r", f->name, view);
    kiln_validation_report(validation, f->energy, kiln_between(f->least_energy, 1.0 + 1e-12),
                           "%s, %s: kinetic energy after over before", f->name, view);
}

/* How a flight is made: the view, the integrator and the length of its steps. */
typedef struct way {
    const char *name;
    size_t view;
    kiln_integrator integrator;
    double pace;
} way;

static kiln_status make(kiln_validation *validation, flight f, const way *how, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(how->view));
    trial.scene.solid.integrator = how->integrator;
    trial.user = &f;
    f.pace = how->pace;
    kiln_status status = f.prepare(&trial, error);
    trial.scene.pace.dt *= how->pace;
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, use, error);
    kiln_trial_end(&trial);
    if (status == KILN_OK)
        report(validation, &f, how->name);
    return status;
}

kiln_status kiln_validate_inflight(kiln_validation *validation, kiln_error *error)
{
    static const flight flights[] = {{.name = "block refined",
                                      .prepare = refine,
                                      .least_tets = 6,
                                      .most_tets = 10,
                                      .least_energy = 0.97},
                                     {.name = "block coarsened",
                                      .prepare = coarsen,
                                      .least_tets = 0.1,
                                      .most_tets = 0.25,
                                      .least_energy = 0.97},
                                     {.name = "bar remeshed whole",
                                      .prepare = renew,
                                      .least_tets = 0.8,
                                      .most_tets = 1.25,
                                      .least_energy = 0.97},
                                     {.name = "balls merged",
                                      .prepare = merge,
                                      .least_tets = 0.8,
                                      .most_tets = 1.25,
                                      .least_energy = 0.97}};
    static const way ways[] = {{"bdf2", 0, KILN_BDF2, 1},
                               {"implicit-euler", 0, KILN_IMPLICIT_EULER, 1},
                               {"half the step", 0, KILN_NEWMARK, 0.5},
                               {"twice the step", 0, KILN_NEWMARK, 2}};
    for (size_t i = 0; i < sizeof flights / sizeof flights[0]; i++) {
        for (size_t v = 0; kiln_view_at(v); v++)
            KILN_TRY(make(validation, flights[i], &(way){kiln_view_at(v)->name, v, KILN_NEWMARK, 1},
                          error));
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
            KILN_TRY(make(validation, flights[i], &ways[w], error));
    }
    return KILN_OK;
}
