/* Forces of obstacles and holds against what is known of them: weight, the moment of weight, and
 * the momentum that they give. Seen in every view, with every integrator. */
#include "validation/trial.h"

#include <math.h>

static const double density = 1000.0, gravity = 9.81, dt = 0.01;
static const kiln_vec3 size = {0.5, 0.4, 0.3};

/* What a case looks at while its world steps; all in SI and plain axes. */
typedef struct watch {
    int steps;
    bool obstacle;      /* else a hold */
    kiln_wrench last;   /* of the last step */
    double gap;         /* largest |mean forces + weight - gain of momentum / h| */
    kiln_vec3 moment;   /* of the weight about the wrench's place, at the end */
    kiln_vec3 momentum; /* at the end of the step before */
} watch;

/* Momentum, and the moment of the weight about a point, from a quarter of each tet's mass at its
 * corners. */
static void sum_matter(const kiln_trial *trial, kiln_world *world, watch *w)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    const kiln_vec3 *speed = (const kiln_vec3 *)(const void *)v->data;
    double length = kiln_trial_number(trial, 1.0, 1, 0, 0);
    w->momentum = w->moment = kiln_v3(0, 0, 0);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double mass = density * kiln_mesh_tet_volume(mesh, t) / (4.0 * pow(length, 3));
        for (int k = 0; k < 4; k++) {
            uint32_t at = mesh->tet[t].v[k];
            kiln_vec3 x = kiln_trial_vector_back(trial, mesh->x[at], 1, 0, 0);
            w->momentum =
                kiln_v3_madd(w->momentum, mass, kiln_trial_vector_back(trial, speed[at], 1, 0, -1));
            w->moment = kiln_v3_add(w->moment, kiln_v3_cross(kiln_v3_sub(x, w->last.place),
                                                             kiln_v3(0, 0, -gravity * mass)));
        }
    }
}

static kiln_wrench look(const kiln_trial *trial, const kiln_world *world, bool obstacle)
{
    kiln_wrench w;
    if (obstacle)
        kiln_world_obstacle_wrench(world, 0, &w);
    else
        kiln_world_hold_wrench(world, 0, &w);
    return (kiln_wrench){kiln_trial_vector_back(trial, w.place, 1, 0, 0),
                         kiln_trial_vector_back(trial, w.force, 1, 1, -2),
                         kiln_trial_vector_back(trial, w.torque, 2, 1, -2)};
}

static kiln_status step_and_look(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    watch *w = trial->user;
    kiln_vec3 weight = {0, 0, -density * gravity * size.x * size.y * size.z};
    sum_matter(trial, world, w);
    for (int i = 0; i < w->steps; i++) {
        kiln_stats stats;
        kiln_vec3 before = w->momentum;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        w->last = look(trial, world, w->obstacle);
        sum_matter(trial, world, w);
        double h = stats.dt / kiln_trial_number(trial, 1.0, 0, 0, 1);
        kiln_vec3 gain = kiln_v3_scale(kiln_v3_sub(w->momentum, before), 1.0 / h);
        kiln_vec3 sum = kiln_v3_add(w->last.force, weight);
        w->gap = fmax(w->gap, kiln_v3_norm(kiln_v3_sub(sum, gain)));
    }
    return KILN_OK;
}

static kiln_status set_up(kiln_trial *trial, kiln_integrator integrator, double drag,
                          kiln_error *error)
{
    static const int cells[3] = {3, 3, 2};
    kiln_scene *scene = &trial->scene;
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e5, 0.3, density, error));
    scene->materials.data[0].base.damping_mass = kiln_trial_number(trial, drag, 0, 0, -1);
    KILN_TRY(kiln_trial_box(trial, size, cells, "kuhn", error));
    scene->solid.integrator = integrator;
    scene->solid.newton.tolerance = 1e-12;
    scene->duration = kiln_trial_number(trial, 10.0, 0, 0, 1);
    scene->pace.dt = kiln_trial_number(trial, dt, 0, 0, 1);
    scene->gravity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -gravity), 1, 0, -2));
    return KILN_OK;
}

static kiln_status add_plane(kiln_trial *trial, double height, double friction, kiln_error *error)
{
    kiln_scene_obstacle plane = {
        .shape = {.kind = KILN_OBSTACLE_PLANE,
                  .point = kiln_trial_vector(trial, kiln_v3(0, 0, height), 1, 0, 0),
                  .normal = kiln_m3_apply(trial->view->rotation, kiln_v3(0, 0, 1))},
        .friction = friction,
        .motion = {.obstacle = -1}};
    return kiln_array_push(trial->context, &trial->scene.obstacles, plane, error);
}

/* A block that hits a rough plane and slides: every step gives what the momentum gains. */
static kiln_status balance(kiln_validation *validation, const kiln_view *view,
                           kiln_integrator integrator, kiln_error *error)
{
    kiln_trial trial;
    watch w = {.steps = 60, .obstacle = true};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = &w;
    kiln_status status = set_up(&trial, integrator, 0.0, error);
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].velocity =
            kiln_quantity_vector(kiln_trial_vector(&trial, kiln_v3(1, 0.5, -1), 1, 0, -1));
        status = add_plane(&trial, -0.1, 0.3, error);
    }
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, step_and_look, error);
    if (status == KILN_OK)
        kiln_validation_report(
            validation, w.gap / (density * gravity * size.x * size.y * size.z), kiln_at_most(1e-7),
            "%s, %s: force of a plane + weight - gain of momentum, parts of the weight",
            kiln_integrator_name(integrator), view->name);
    kiln_trial_end(&trial);
    return status;
}

/* At rest: on a plane, or clamped at one end. */
static kiln_status rest(kiln_validation *validation, const kiln_view *view,
                        kiln_integrator integrator, bool obstacle, kiln_error *error)
{
    kiln_trial trial;
    watch w = {.steps = 900, .obstacle = obstacle}; /* drag alone brings it to rest */
    kiln_picks where;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = &w;
    kiln_status status = set_up(&trial, integrator, 20.0, error);
    if (status == KILN_OK)
        status = obstacle ? add_plane(&trial, 0.0, 0.0, error)
                          : kiln_trial_pick_patch(&trial, 1, &where, error);
    if (status == KILN_OK && !obstacle)
        status = kiln_trial_hold(&trial, &where, 7, NULL, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, step_and_look, error);
    if (status == KILN_OK) {
        const char *name = kiln_integrator_name(integrator), *what = obstacle ? "plane" : "clamp";
        kiln_vec3 weight = {0, 0, density * gravity * size.x * size.y * size.z};
        double off = kiln_v3_norm(kiln_v3_sub(w.last.force, weight)) / weight.z;
        double turn = kiln_v3_norm(kiln_v3_add(w.last.torque, w.moment));
        kiln_validation_report(validation, off, kiln_at_most(1e-9),
                               "%s, %s: force of a %s under a block at rest, off by parts of the "
                               "weight",
                               name, view->name, what);
        kiln_validation_report(validation, turn / kiln_v3_norm(w.moment), kiln_at_most(1e-9),
                               "%s, %s: its torque, off by parts of the moment of weight", name,
                               view->name);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_reactions(kiln_validation *validation, kiln_error *error)
{
    static const kiln_integrator moving[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};
    for (const kiln_view *view = kiln_view_at(0); view;
         view = kiln_view_at((size_t)(view - kiln_view_at(0)) + 1))
        for (int i = 0; i < 3; i++) {
            KILN_TRY(balance(validation, view, moving[i], error));
            KILN_TRY(rest(validation, view, moving[i], true, error));
            KILN_TRY(rest(validation, view, moving[i], false, error));
        }
    return KILN_OK;
}
