#include "validation/thrown.h"

#include "measure/fixture.h"

#include <math.h>

kiln_status kiln_trial_plane(kiln_trial *trial, double height, double friction, kiln_error *error)
{
    kiln_scene_obstacle plane = {
        .shape = {.kind = KILN_OBSTACLE_PLANE,
                  .point = kiln_trial_vector(trial, kiln_v3(0, 0, height), 1, 0, 0),
                  .normal = kiln_trial_vector(trial, kiln_v3(0, 0, 1), 0, 0, 0)},
        .friction = friction,
        .motion.obstacle = -1};
    return kiln_array_push(trial->context, &trial->scene.obstacles, plane, error);
}

static void place_soup(kiln_soup *soup, kiln_vec3 shift)
{
    for (size_t i = 0; i < soup->points.count; i++)
        soup->points.data[i] = kiln_v3_add(soup->points.data[i], shift);
}

kiln_status kiln_trial_slab(kiln_trial *trial, const char *settings, double height, double friction,
                            kiln_error *error)
{
    kiln_scene_obstacle slab = {
        .shape.kind = KILN_OBSTACLE_MESH, .friction = friction, .motion.obstacle = -1};
    kiln_soup *soup = &slab.shape.surface;
    KILN_TRY(kiln_fixture_soup(trial->context, "box", settings, soup, error));
    kiln_vec3 top = {0, 0, 0};
    for (size_t i = 0; i < soup->points.count; i++)
        top = kiln_v3(fmax(top.x, soup->points.data[i].x), fmax(top.y, soup->points.data[i].y),
                      fmax(top.z, soup->points.data[i].z));
    place_soup(soup, kiln_v3(-0.5 * top.x, -0.5 * top.y, height - top.z));
    for (size_t i = 0; i < soup->points.count; i++)
        soup->points.data[i] = kiln_trial_vector(trial, soup->points.data[i], 1, 0, 0);
    soup->tets.count = soup->tet_tags.count = 0;
    kiln_status status = kiln_array_push(trial->context, &trial->scene.obstacles, slab, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

kiln_status kiln_trial_turned_shape(kiln_trial *trial, const char *shape, const char *settings,
                                    kiln_mat3 turn, kiln_vec3 place, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_fixture_soup(trial->context, shape, settings, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i] = kiln_m3_apply(turn, soup.points.data[i]);
    place_soup(&soup, place);
    kiln_status status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

kiln_status kiln_trial_shape(kiln_trial *trial, const char *shape, const char *settings,
                             kiln_vec3 place, kiln_error *error)
{
    return kiln_trial_turned_shape(trial, shape, settings, kiln_m3_identity(), place, error);
}

/* From a quarter of each tet's mass at its corners. */
static void weigh(const kiln_trial *trial, kiln_world *world, double density, kiln_moment *m)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    const kiln_vec3 *speed = (const kiln_vec3 *)(const void *)v->data;
    double length = kiln_trial_number(trial, 1.0, 1, 0, 0), all = 0.0;
    kiln_vec3 centre = {0, 0, 0}, momentum = {0, 0, 0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double mass = density * kiln_mesh_tet_volume(mesh, t) / (4.0 * pow(length, 3));
        for (int k = 0; k < 4; k++) {
            uint32_t at = mesh->tet[t].v[k];
            centre = kiln_v3_madd(centre, mass, mesh->x[at]);
            momentum = kiln_v3_madd(momentum, mass, speed[at]);
            all += mass;
        }
    }
    m->centre = kiln_trial_vector_back(trial, kiln_v3_scale(centre, 1 / all), 1, 0, 0);
    m->velocity = kiln_trial_vector_back(trial, kiln_v3_scale(momentum, 1 / all), 1, 0, -1);
}

static kiln_moment moment_of(const kiln_trial *trial, kiln_world *world, double density,
                             const kiln_stats *stats)
{
    kiln_wrench wrench = {.force = {0, 0, 0}};
    kiln_moment m = {.time = stats->time / kiln_trial_number(trial, 1.0, 0, 0, 1),
                     .h = stats->dt / kiln_trial_number(trial, 1.0, 0, 0, 1),
                     .energy = (stats->e_kinetic + stats->e_elastic + stats->e_contact) /
                               kiln_trial_number(trial, 1.0, 2, 1, -2)};
    weigh(trial, world, density, &m);
    if (stats->step > 0 && trial->scene.obstacles.count > 0 &&
        kiln_world_obstacle_wrench(world, 0, &wrench))
        m.force = kiln_trial_vector_back(trial, wrench.force, 1, 1, -2);
    return m;
}

kiln_status kiln_trial_follow(const kiln_trial *trial, kiln_world *world, double density,
                              kiln_moments *moments, kiln_error *error)
{
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    stats.time = stats.dt = stats.step = 0.0;
    if (!isfinite(stats.e_contact))
        stats.e_contact = 0.0;
    do {
        kiln_moment m = moment_of(trial, world, density, &stats);
        KILN_TRY(kiln_array_push(trial->context, moments, m, error));
        if (stats.time >= trial->scene.duration * (1 - 1e-9))
            return KILN_OK;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    } while (true);
}

typedef struct flight {
    const kiln_thrown *what;
    kiln_moments *moments;
} flight;

static kiln_status follow(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    const flight *f = trial->user;
    return kiln_trial_follow(trial, world, f->what->density, f->moments, error);
}

static kiln_status set_up(kiln_trial *trial, const kiln_thrown *what, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    scene->solid.integrator = what->integrator;
    scene->pace.dt = kiln_trial_number(trial, what->dt, 0, 0, 1);
    scene->pace.dt_min = 1e-4 * scene->pace.dt;
    scene->duration = kiln_trial_number(trial, what->duration, 0, 0, 1);
    scene->contact.thickness = kiln_trial_number(trial, what->thickness, 1, 0, 0);
    scene->contact.obstacles = KILN_OBSTACLES_SURFACES;
    scene->gravity = kiln_quantity_vector(kiln_trial_vector(trial, what->gravity, 1, 0, -2));
    double slip = what->slip_speed > 0.0 ? what->slip_speed : scene->solid.friction_speed;
    scene->solid.friction_speed = kiln_trial_number(trial, slip, 1, 0, -1);
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", what->young, what->poisson, what->density,
                                 error));
    scene->materials.data[0].viscosity =
        kiln_quantity_number(kiln_trial_number(trial, what->viscosity, -1, 1, -1));
    scene->materials.data[0].base.viscosity = kiln_trial_number(trial, what->viscosity, -1, 1, -1);
    KILN_TRY(kiln_trial_shape(trial, what->shape, what->settings, what->place, error));
    scene->bodies.data[0].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, what->velocity, 1, 0, -1));
    /* A mesh is taken as it is, a plane lies the thickness deeper. */
    return what->slab ? kiln_trial_slab(trial, what->slab, -what->thickness, what->friction, error)
                      : kiln_trial_plane(trial, 0.0, what->friction, error);
}

kiln_status kiln_throw(kiln_validation *validation, const kiln_view *view, const kiln_thrown *what,
                       kiln_moments *moments, kiln_error *error)
{
    kiln_trial trial;
    flight f = {what, moments};
    *moments = (kiln_moments){0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = &f;
    kiln_status status = set_up(&trial, what, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, follow, error);
    kiln_trial_end(&trial);
    return status;
}
