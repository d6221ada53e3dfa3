/* Bodies on one slope, each with its own friction, and one that sees nothing: how far they slide,
 * and that what bodies do to each other is their change of momentum. */
#include "validation/trial.h"

#include "fem/mass.h"
#include "mesh/shapes.h"

#include <math.h>
#include <stdio.h>

static const double density = 1000.0, gravity = 9.81, slope = 0.4, duration = 0.3, dt = 0.005;
static const double thickness = 0.01;

enum { SLIDER, STICKER, RIDER, GHOST, BODIES };

typedef struct ride {
    kiln_vec3 way[BODIES]; /* m */
    double off; /* largest, of the rider's momentum and what the slider and gravity gave it, over
                   what gravity gives in a step */
} ride;

static kiln_vec3 pull(void)
{
    return kiln_v3_scale(kiln_v3(sin(atan(slope)), 0, -cos(atan(slope))), gravity);
}

static kiln_status add_block(kiln_trial *trial, const char *name, kiln_vec3 place,
                             kiln_error *error)
{
    static const char *const settings[] = {"lx=0.2", "ly=0.2", "lz=0.1", "nx=2", "ny=2", "nz=1"};
    kiln_soup soup;
    size_t count;
    const kiln_shape *row, *const *shapes = kiln_shapes(&count);
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, 0.3, density, error));
    KILN_TRY(kiln_shape_find(shapes, count, "box", &row, error));
    kiln_soup_init(&soup, trial->context);
    kiln_status status = kiln_shape_make(row, 6, settings, &soup, error);
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i] = kiln_v3_add(soup.points.data[i], place);
    if (status == KILN_OK)
        status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    snprintf(trial->scene.bodies.data[trial->scene.bodies.count - 1].name, KILN_NAME_SIZE, "%s",
             name);
    return KILN_OK;
}

static kiln_status add_pair(kiln_trial *trial, const char *a, const char *b, double friction,
                            kiln_error *error)
{
    kiln_scene_pair pair = {.friction = friction, .off = isnan(friction)};
    snprintf(pair.a, sizeof pair.a, "%s", a);
    snprintf(pair.b, sizeof pair.b, "%s", b);
    return kiln_array_push(trial->context, &trial->scene.contact.pairs, pair, error);
}

static kiln_status set_out(kiln_trial *trial, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    kiln_scene_obstacle plane = {
        .name = "slope",
        .shape = {.kind = KILN_OBSTACLE_PLANE,
                  .normal = kiln_m3_apply(trial->view->rotation, kiln_v3(0, 0, 1))},
        .friction = 0.6,
        .motion = {.obstacle = -1}};
    kiln_scene_probe probe = {.body = RIDER, .point = {NAN, NAN, NAN}, .with = SLIDER + 1};
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = kiln_trial_number(trial, thickness, 1, 0, 0);
    scene->solid.friction_speed = kiln_trial_number(trial, 1e-4, 1, 0, -1);
    scene->gravity = kiln_quantity_vector(kiln_trial_vector(trial, pull(), 1, 0, -2));
    scene->duration = kiln_trial_number(trial, duration, 0, 0, 1);
    scene->pace.dt = kiln_trial_number(trial, dt, 0, 0, 1);
    scene->pace.dt_min = 1e-6 * scene->pace.dt;
    KILN_TRY(add_block(trial, "slider", kiln_v3(0, 0, 0), error));
    KILN_TRY(add_block(trial, "sticker", kiln_v3(0, 0.5, 0), error));
    KILN_TRY(add_block(trial, "rider", kiln_v3(0, 0, 0.1 + 0.985 * thickness), error));
    KILN_TRY(add_block(trial, "ghost", kiln_v3(0.05, 0.4, 0.07), error));
    KILN_TRY(add_pair(trial, "slider", "slope", 0.2, error));
    KILN_TRY(add_pair(trial, "rider", "slider", 0.6, error));
    KILN_TRY(add_pair(trial, "ghost", "slope", NAN, error));
    KILN_TRY(add_pair(trial, "ghost", "sticker", NAN, error));
    KILN_TRY(kiln_array_push(trial->context, &scene->probes, probe, error));
    return kiln_array_push(trial->context, &scene->obstacles, plane, error);
}

/* The sum of what the vertices of a body have, by their masses; kg in the units of the scene. */
static kiln_vec3 weigh(kiln_world *world, uint32_t body, const kiln_vec3 *of, double *total)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *mass = kiln_mass_lumped(kiln_solid_mass(kiln_world_solid(world)));
    kiln_vec3 sum = {0, 0, 0};
    *total = 0.0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (mesh->parts.data[mesh->info[mesh->vertex[v].tet].part].body != body)
            continue;
        sum = kiln_v3_madd(sum, mass[v], of[v]);
        *total += mass[v];
    }
    return sum;
}

static kiln_vec3 centre(const kiln_trial *trial, kiln_world *world, uint32_t body)
{
    double mass;
    kiln_vec3 moment = weigh(world, body, kiln_world_mesh(world)->x, &mass);
    return kiln_trial_vector_back(trial, kiln_v3_scale(moment, 1.0 / mass), 1, 0, 0);
}

static kiln_vec3 momentum(kiln_world *world, double *mass)
{
    const kiln_field *v = kiln_mesh_field(kiln_world_mesh(world), KILN_ON_VERTEX, "v");
    return weigh(world, RIDER, (const kiln_vec3 *)(const void *)v->data, mass);
}

static kiln_status slide(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    ride *r = trial->user;
    kiln_stats stats = {0};
    double mass;
    const double *given = trial->scene.gravity.constant;
    const kiln_vec3 g = {given[0], given[1], given[2]};
    for (uint32_t b = 0; b < BODIES; b++)
        r->way[b] = kiln_v3_scale(centre(trial, world, b), -1.0);
    kiln_world_get_state(world)->step = 1;
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        kiln_wrench w;
        kiln_vec3 before = momentum(world, &mass);
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        kiln_vec3 gained = kiln_v3_sub(momentum(world, &mass), before);
        kiln_world_pair_wrench(world, 0, &w);
        kiln_vec3 rest =
            kiln_v3_madd(kiln_v3_madd(gained, -stats.dt, w.force), -mass * stats.dt, g);
        r->off = fmax(r->off, kiln_v3_norm(rest) / (mass * stats.dt * kiln_v3_norm(g)));
    }
    for (uint32_t b = 0; b < BODIES; b++)
        r->way[b] = kiln_v3_add(r->way[b], centre(trial, world, b));
    return KILN_OK;
}

static kiln_status look(kiln_validation *validation, const kiln_view *view, kiln_integrator how,
                        kiln_error *error)
{
    kiln_trial trial;
    ride r = {.off = 0.0};
    const char *name = kiln_integrator_name(how);
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = how;
    trial.user = &r;
    kiln_status status = set_out(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, slide, error);
    kiln_trial_end(&trial);
    KILN_TRY(status);
    /* Implicit Euler falls by t (t + h) / 2. */
    double fall = 0.5 * duration * (duration + (how == KILN_IMPLICIT_EULER ? dt : 0.0));
    double wanted = fall * gravity * (sin(atan(slope)) - 0.2 * cos(atan(slope)));
    kiln_vec3 lost = kiln_v3_madd(r.way[GHOST], -fall, pull());
    kiln_validation_report(validation, r.way[SLIDER].x / wanted, kiln_near_relative(1.0, 0.02),
                           "%s, %s: way with friction 0.2 over Coulomb's", name, view->name);
    kiln_validation_report(validation, fabs(r.way[STICKER].x) / wanted, kiln_at_most(0.01),
                           "%s, %s: way with friction 0.6 over that", name, view->name);
    kiln_validation_report(validation, fabs(r.way[RIDER].x / r.way[SLIDER].x - 1.0),
                           kiln_at_most(0.01), "%s, %s: what lies on the first rides on it", name,
                           view->name);
    kiln_validation_report(validation, kiln_v3_norm(lost) / (fall * gravity), kiln_at_most(1e-8),
                           "%s, %s: who sees nothing falls freely, off by", name, view->name);
    kiln_validation_report(validation, r.off, kiln_at_most(1e-6),
                           "%s, %s: momentum of the rider less what was given to it", name,
                           view->name);
    return KILN_OK;
}

kiln_status kiln_validate_pairs(kiln_validation *validation, kiln_error *error)
{
    static const kiln_integrator how[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++)
        for (size_t i = 0; i < sizeof how / sizeof how[0]; i++)
            KILN_TRY(look(validation, kiln_view_at(row), how[i], error));
    return KILN_OK;
}
