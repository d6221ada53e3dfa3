/* The module of contact of bodies with each other, themselves and obstacles: what the step has to
 * know. */
#include "contact/clearance.h"
#include "contact/surface_vertices.h"
#include "geom/box.h"
#include "geom/distance.h"
#include "sim/contact_sizes.h"
#include "sim/motion.h"
#include "sim/pairs.h"
#include "sim/world_impl.h"
#include "topology/crossing.h"
#include "topology/immersed.h"

#define SPOKEN_OF 10.0 /* times as stiff as it was when it was last spoken of */

typedef struct contact {
    kiln_world *world;
    kiln_pairs pairs;
    kiln_f64_array clearance; /* [body] m; empty: none has one */
    double hardness;          /* of the next step */
    double told;              /* the last that was spoken of */
} contact;

/* The body that has one, NULL: none. */
static const kiln_scene_body *with_clearance(const kiln_scene *scene)
{
    for (size_t b = 0; b < scene->bodies.count; b++)
        if (scene->bodies.data[b].clearance > 0.0)
            return &scene->bodies.data[b];
    return NULL;
}

static kiln_status list_clearances(const kiln_scene *scene, kiln_f64_array *out, kiln_error *error)
{
    for (size_t b = 0; with_clearance(scene) && b < scene->bodies.count; b++)
        KILN_TRY(kiln_array_push(scene->context, out, scene->bodies.data[b].clearance, error));
    return KILN_OK;
}

/* Pa. Liquid has no modulus; where it meets liquid this stands for one: the weight of all of it,
 * what tension makes of a bend as narrow as the thickness, and what stops the speeds that steps can
 * follow within the thickness. Where more presses, contact becomes stiffer by itself (adaptive). */
static kiln_status liquid_pressure(const kiln_scene *scene, double *pressure, kiln_error *error)
{
    double thickness = kiln_contact_thickness(scene), dt = scene->pace.dt, size = 0.0;
    kiln_circumstances at = {.time = 0.0};
    kiln_vec3 gravity;
    *pressure = 0.0;
    if (!kiln_scene_has_liquid(scene))
        return KILN_OK;
    KILN_TRY(kiln_quantity_vector_at(&scene->gravity, &at, &gravity, error));
    for (size_t b = 0; b < scene->bodies.count; b++) {
        kiln_box box = kiln_box_empty();
        for (size_t k = 0; k < scene->bodies.data[b].mesh.points.count; k++)
            box = kiln_box_grow(box, scene->bodies.data[b].mesh.points.data[k]);
        size = fmax(size, kiln_v3_norm(kiln_v3_sub(box.high, box.low)));
    }
    for (size_t i = 0; i < scene->materials.count; i++) {
        const kiln_material *m = &scene->materials.data[i].base;
        double weight = m->density * size * (kiln_v3_norm(gravity) + thickness / (dt * dt));
        if (m->liquid)
            *pressure = fmax(*pressure, weight + m->surface_tension / thickness);
    }
    return KILN_OK;
}

static kiln_status set_options(kiln_world *world, const kiln_pair_table *pairs,
                               const double *clearance, bool walls, kiln_error *error)
{
    const kiln_scene_contact *said = &world->scene->contact;
    double liquid;
    KILN_TRY(liquid_pressure(world->scene, &liquid, error));
    world->options.contact =
        (kiln_contact_options){.walls = walls,
                               .bodies = said->bodies,
                               .self = said->self,
                               .thickness = kiln_contact_thickness(world->scene),
                               .stiffness = said->stiffness,
                               .once = said->weights == KILN_WEIGHTS_ONCE,
                               .adaptive = said->adaptive || liquid > 0.0,
                               .liquid = liquid,
                               .friction = said->friction,
                               .flutters = !said->steady,
                               .pairs = pairs,
                               .clearance = clearance,
                               .material_tells = world->space == KILN_SPACE_MATERIAL};
    return KILN_OK;
}

/* Of a body that begins in an obstacle: a vertex, and the obstacle. */
typedef struct start_inside {
    uint32_t vertex; /* KILN_NONE: there is none */
    uint32_t obstacle;
} start_inside;

static uint32_t body_of(const kiln_mesh *mesh, uint32_t tet)
{
    return mesh->parts.data[mesh->info[tet].part].body;
}

/* Farther in than where walls are, by half of what is before them; or nearer than the clearance. */
static start_inside find_sunk(const kiln_world *world, const kiln_pair_table *pairs, double depth)
{
    const kiln_mesh *mesh = world->mesh;
    for (uint32_t o = 0; o < world->obstacle_count; o++)
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_vec3 normal, point;
            if (!kiln_vertex_live(mesh, v) || !kiln_vertex_on_surface(mesh, v))
                continue;
            uint32_t body = body_of(mesh, mesh->vertex[v].tet);
            double least = 0.5 * world->scene->bodies.data[body].clearance - depth;
            if (kiln_body_meets_obstacle(pairs, body, o) &&
                kiln_obstacle_distance(world->obstacles[o], mesh->x[v], &normal, &point) < least)
                return (start_inside){v, o};
        }
    return (start_inside){KILN_NONE, 0};
}

typedef struct swallowers {
    const kiln_world *world;
    const kiln_pair_table *pairs;
    const kiln_walls *walls;
} swallowers;

static bool may_be_swallowed(const void *user, uint32_t tet, uint32_t point)
{
    const swallowers *s = user;
    return kiln_body_meets_obstacle(s->pairs, body_of(s->world->mesh, tet),
                                    s->walls->obstacle.data[point]);
}

/* An obstacle that a body has wholly inside: no surfaces meet, and no vertex is in it. */
static kiln_status find_swallowed(const kiln_world *world, const kiln_pair_table *pairs,
                                  const kiln_walls *walls, start_inside *out, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const swallowers user = {world, pairs, walls};
    kiln_swallowed found = {.counts = may_be_swallowed, .user = &user};
    kiln_box about = kiln_box_empty();
    KILN_ARRAY_OF(kiln_vec3)
    places = {0};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            about = kiln_box_join(about, (kiln_box){mesh->x[v], mesh->x[v]});
    KILN_TRY(kiln_array_reserve(world->context, &places, walls->own.count + 1, error));
    kiln_walls_place(walls, about, true, places.data);
    kiln_status status = kiln_mesh_find_swallowed(mesh, KILN_SPACE_WORLD, places.data,
                                                  walls->own.count, &found, error);
    if (status == KILN_OK && found.tet != KILN_NONE)
        *out = (start_inside){mesh->tet[found.tet].v[0], walls->obstacle.data[found.point]};
    kiln_array_free(world->context, &places);
    return status;
}

static kiln_clearance_rules start_rules(const kiln_world *world, const kiln_pair_table *pairs,
                                        const kiln_f64_array *clearance)
{
    return (kiln_clearance_rules){.since = KILN_SINCE_EVER,
                                  .table = pairs,
                                  .gap =
                                      KILN_COLLIDE_TOUCHING * kiln_contact_thickness(world->scene),
                                  .clearance = clearance->data,
                                  .between = !world->scene->contact.self};
}

static kiln_status find_inside(const kiln_world *world, const kiln_pair_table *pairs,
                               const kiln_f64_array *clearance, start_inside *out,
                               kiln_error *error)
{
    double thickness = kiln_contact_thickness(world->scene);
    const kiln_clearance_rules rules = start_rules(world, pairs, clearance);
    kiln_walls walls = {0};
    kiln_clearance found;
    *out = find_sunk(world, pairs, 0.5 * thickness);
    if (out->vertex != KILN_NONE)
        return KILN_OK;
    KILN_TRY(kiln_walls_build(&walls, world->context, world->obstacles, world->obstacle_count,
                              thickness, KILN_COLLIDE_CHORD * thickness, error));
    kiln_status status = kiln_wall_clearance(world->mesh, &rules, &walls, &found, error);
    if (status == KILN_OK && found.pairs > 0) {
        uint32_t place = world->mesh->face[found.face[0]].at;
        *out = (start_inside){world->mesh->tet[place / 4].v[kiln_face_corner[place % 4][0]],
                              walls.obstacle.data[walls.faces.data[3 * (size_t)found.face[1]]]};
    }
    if (status == KILN_OK && out->vertex == KILN_NONE)
        status = find_swallowed(world, pairs, &walls, out, error);
    kiln_walls_free(&walls);
    return status;
}

/* New meshes of whole domains, and velocities that are given, take no notice of obstacles; liquid,
 * which wets them, lies on them without a gap. */
static bool may_have_walls(const kiln_scene *scene)
{
    return scene->obstacles.count > 0 && !scene->has_velocity_field &&
           !kiln_remesh_joins(&scene->remesh) && !kiln_scene_has_liquid(scene) &&
           scene->contact.obstacles != KILN_OBSTACLES_POINTS;
}

/* Whether obstacles are surfaces. What begins in one is put out of it by its points, which know of
 * no clearance. */
static kiln_status decide_walls(const kiln_world *world, const kiln_pair_table *pairs,
                                const kiln_f64_array *clearance, bool *walls, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    start_inside inside;
    *walls = may_have_walls(scene);
    if (!*walls)
        return KILN_OK;
    KILN_TRY(find_inside(world, pairs, clearance, &inside, error));
    *walls = inside.vertex == KILN_NONE;
    if (*walls)
        return KILN_OK;
    kiln_vec3 at = world->mesh->x[inside.vertex];
    const kiln_scene_body *body =
        &scene->bodies.data[body_of(world->mesh, world->mesh->vertex[inside.vertex].tet)];
    if (body->clearance > 0.0)
        return kiln_said_fail(scene, &body->said, error,
                              "is nearer to obstacle '%s' at the start than half its clearance, %g "
                              "m, near (%g, %g, %g); leave a gap",
                              scene->obstacles.data[inside.obstacle].name, 0.5 * body->clearance,
                              at.x, at.y, at.z);
    if (scene->contact.obstacles == KILN_OBSTACLES_AUTO &&
        scene->remesh.method != KILN_REMESH_ENERGY) {
        kiln_log(world->context, KILN_LOG_INFO,
                 "obstacles hold points of bodies, not their surfaces: body '%s' begins in or on "
                 "obstacle '%s', near (%g, %g, %g); with a gap there contact is finer and faster",
                 body->name, scene->obstacles.data[inside.obstacle].name, at.x, at.y, at.z);
        return KILN_OK;
    }
    return kiln_said_fail(scene, &scene->contact.said, error,
                          "obstacle '%s' is in a body at the start, near (%g, %g, %g); with "
                          "obstacles = \"surfaces\" bodies must begin outside",
                          scene->obstacles.data[inside.obstacle].name, at.x, at.y, at.z);
}

/* A round obstacle that is much larger than the bodies has too few sides for them. */
static void tell_facets(const kiln_world *world)
{
    double thickness = world->options.contact.thickness;
    for (uint32_t o = 0; o < world->obstacle_count; o++) {
        double off = kiln_obstacle_skin_error(world->obstacles[o], KILN_COLLIDE_CHORD * thickness);
        if (off > thickness)
            kiln_log(world->context, KILN_LOG_WARNING,
                     "obstacle '%s' is so large that its flat faces are up to %.3g m off its round "
                     "surface, more than contact.thickness, %.3g m; with contact.obstacles = "
                     "\"points\" it is taken as it is",
                     world->scene->obstacles.data[o].name, off, thickness);
    }
}

static const char *moment(const kiln_world *world)
{
    return world->state.step > 0 ? "this moment" : "the start";
}

static const char *body_name(const kiln_world *world, uint32_t tet)
{
    return world->scene->bodies.data[body_of(world->mesh, tet)].name;
}

static bool do_meet(const void *self, uint32_t a, uint32_t b)
{
    const kiln_contact_options *o = self;
    return (a == b ? o->self : o->bodies) && kiln_bodies_meet(o->pairs, a, b);
}

kiln_among kiln_world_among(const kiln_world *world)
{
    return (kiln_among){.meet = do_meet, .self = &world->options.contact};
}

/* Nor does it know of matter that is in one place twice: surfaces need not cross for that. */
static kiln_status check_volumes(const kiln_world *world, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    kiln_immersed immersed;
    kiln_among among = kiln_world_among(world);
    KILN_TRY(kiln_parts_find_immersed(mesh, KILN_SPACE_WORLD, &among, &immersed, error));
    if (!immersed.found)
        return KILN_OK;
    kiln_vec3 at = mesh->x[mesh->tet[immersed.tet[0]].v[0]];
    return kiln_said_fail(
        world->scene, &world->scene->contact.said, error,
        "body '%s' is inside body '%s' at %s, near (%g, %g, %g); bodies that keep "
        "out of each other must begin so",
        body_name(world, immersed.tet[0]), body_name(world, immersed.tet[1]), moment(world), at.x,
        at.y, at.z);
}

/* Where two faces are closest: on each other, if they touch. */
static kiln_vec3 meeting(const kiln_mesh *mesh, const uint32_t face[2])
{
    kiln_vec3 p[2][3], at = {0, 0, 0};
    for (int i = 0; i < 6; i++) {
        uint32_t place = mesh->face[face[i / 3]].at;
        p[i / 3][i % 3] = mesh->x[mesh->tet[place / 4].v[kiln_face_corner[place % 4][i % 3]]];
    }
    kiln_closest_pair closest = kiln_closest_triangles(p[0], p[1]);
    for (int i = 0; i < 3; i++)
        at = kiln_v3_madd(at, closest.weight_a[i], p[0][i]);
    return at;
}

static kiln_status fail_at_faces(const kiln_world *world, const char *what, size_t pairs,
                                 const uint32_t face[2], kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    uint32_t tet[2] = {mesh->face[face[0]].at / 4, mesh->face[face[1]].at / 4};
    kiln_vec3 at = meeting(mesh, face);
    return kiln_said_fail(
        world->scene, &world->scene->contact.said, error,
        "surfaces %s each other at %s, %s%zu pairs of faces, one of them of bodies "
        "'%s' and '%s' near (%g, %g, %g); leave a gap",
        what, moment(world), pairs < KILN_CROSSING_MOST ? "" : "more than ", pairs,
        body_name(world, tet[0]), body_name(world, tet[1]), at.x, at.y, at.z);
}

/* Repulsion keeps surfaces on the side where they are, and has no side for those that touch. */
kiln_status kiln_world_check_surfaces(const kiln_world *world, kiln_error *error)
{
    kiln_crossing crossing;
    kiln_among among = kiln_world_among(world);
    KILN_TRY(
        kiln_surface_find_crossing_among(world->mesh, KILN_SPACE_WORLD, &among, &crossing, error));
    if (crossing.pairs > 0)
        return fail_at_faces(world, "pass through", crossing.pairs, crossing.face, error);
    if (!world->scene->contact.bodies)
        return KILN_OK;
    KILN_TRY(check_volumes(world, error));
    if (crossing.touching > 0)
        return fail_at_faces(world, "touch", crossing.touching, crossing.touching_face, error);
    return KILN_OK;
}

/* Of the thickness. What begins nearer has no way out that numbers can tell: repulsion is beyond
 * all forces there, and detection finds no step that is safe. */
#define LEAST_GAP 1e-4

static kiln_status check_gaps(const kiln_world *world, kiln_error *error)
{
    double least = LEAST_GAP * world->options.contact.thickness;
    const kiln_mesh *mesh = world->mesh;
    const kiln_clearance_rules rules = {.since = KILN_SINCE_EVER,
                                        .table = world->options.contact.pairs,
                                        .gap = least,
                                        .between = true};
    kiln_clearance found;
    if (world->state.step > 0 || world->scene->goes_on || !world->scene->contact.bodies)
        return KILN_OK;
    KILN_TRY(kiln_contact_clearance(mesh, &rules, &found, error));
    if (found.pairs == 0)
        return KILN_OK;
    kiln_vec3 at = meeting(mesh, found.face);
    return kiln_said_fail(
        world->scene, &world->scene->contact.said, error,
        "bodies '%s' and '%s' begin too near to each other, at (%g, %g, %g): leave a gap of at "
        "least %g m, a ten thousandth of the thickness; the thickness itself, %g m, is best",
        body_name(world, mesh->face[found.face[0]].at / 4),
        body_name(world, mesh->face[found.face[1]].at / 4), at.x, at.y, at.z, least,
        world->options.contact.thickness);
}

/* Points of bodies that are put on obstacles know no pairs, and no clearance, nor on which side of
 * a sheet they are to be. */
static kiln_status check_obstacles(const kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    const kiln_scene_body *body = with_clearance(scene);
    for (size_t o = 0; o < world->obstacle_count; o++)
        if (kiln_obstacle_is_sheet(world->obstacles[o]))
            return kiln_said_fail(scene, &scene->obstacles.data[o].said, error,
                                  "obstacle '%s' is an open surface, which has no inside; it needs "
                                  "obstacles that are surfaces, and they are met by points here; "
                                  "see contact.obstacles",
                                  scene->obstacles.data[o].name);
    if (body && scene->obstacles.count > 0)
        return kiln_said_fail(scene, &body->said, error,
                              "a clearance needs obstacles that are surfaces, and they are met by "
                              "points here; see contact.obstacles");
    for (size_t i = 0; i < scene->contact.pairs.count; i++) {
        const kiln_scene_pair *pair = &scene->contact.pairs.data[i];
        const char *obstacle = kiln_pair_obstacle(scene, pair);
        if (obstacle)
            return kiln_said_fail(scene, &pair->said, error,
                                  "obstacle '%s' must be a surface to be one of a pair, and is met "
                                  "by points here; see contact.obstacles",
                                  obstacle);
    }
    return KILN_OK;
}

static kiln_status refuse_clearance(const kiln_scene *scene, kiln_error *error)
{
    const kiln_scene_body *body = with_clearance(scene);
    return body ? kiln_said_fail(scene, &body->said, error,
                                 "a clearance needs contact: without it bodies pass through each "
                                 "other")
                : KILN_OK;
}

static kiln_status check_clearances(const contact *c, kiln_error *error)
{
    const kiln_clearance_rules rules =
        start_rules(c->world, kiln_pairs_table(&c->pairs), &c->clearance);
    kiln_clearance found;
    if (!c->world->scene->contact.bodies || c->clearance.count == 0)
        return KILN_OK;
    KILN_TRY(kiln_contact_clearance(c->world->mesh, &rules, &found, error));
    return found.pairs == 0 ? KILN_OK
                            : fail_at_faces(c->world, "are nearer than their clearance to",
                                            found.pairs, found.face, error);
}

/* Takes the pairs and the clearances, if anything meets. */
static kiln_status start(kiln_world *world, contact *draft, void **self, kiln_error *error)
{
    bool bodies = world->scene->contact.bodies || world->scene->contact.self, walls;
    KILN_TRY(
        decide_walls(world, kiln_pairs_table(&draft->pairs), &draft->clearance, &walls, error));
    if (!walls)
        KILN_TRY(check_obstacles(world, error));
    world->options.contact.flutters = !world->scene->contact.steady;
    if (!bodies && !walls)
        return refuse_clearance(world->scene, error);
    contact *c = kiln_module_make(world, sizeof *c, self, error);
    if (!c)
        return KILN_ERR_MEMORY;
    *c = *draft;
    *draft = (contact){.world = world};
    KILN_TRY(set_options(world, kiln_pairs_table(&c->pairs), c->clearance.data, walls, error));
    if (walls)
        tell_facets(world);
    if (bodies && !world->scene->goes_on)
        KILN_TRY(kiln_world_check_surfaces(world, error));
    KILN_TRY(check_gaps(world, error));
    return check_clearances(c, error);
}

static void destroy(void *self)
{
    contact *c = self;
    kiln_context *context = c->world->scene->context;
    kiln_pairs_free(&c->pairs, context);
    kiln_array_free(context, &c->clearance);
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    contact draft = {.world = world, .hardness = 1.0, .told = 1.0};
    KILN_TRY(kiln_pairs_build(&draft.pairs, world->scene, error));
    kiln_status status = list_clearances(world->scene, &draft.clearance, error);
    if (status == KILN_OK)
        status = start(world, &draft, self, error);
    destroy(&draft);
    return status;
}

static void measure(const void *self, kiln_stats *stats)
{
    const kiln_world *world = ((const contact *)self)->world;
    if (world->state.step == 0) { /* what cannot be known stays empty: the first step says why */
        (void)kiln_solid_watch_start(world->solid, &world->course.driver, world->state.clock.time,
                                     &stats->e_contact, &stats->gap_min, NULL);
        return;
    }
    stats->e_contact = world->report.e_contact;
    stats->t_contact = world->report.contact_seconds;
    stats->gap_min = world->report.gap;
}

/* Since a step failed. Not under Newmark: what stiffness that rises and falls between its steps
 * brings, nothing damps (a ball of 100 m/s on a sheet gained 8 % of its energy). */
static bool may_harden(const kiln_world *world)
{
    return world->moves && world->options.integrator != KILN_NEWMARK &&
           world->state.pace.dt < world->scene->pace.dt;
}

static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    (void)error;
    const contact *c = self;
    kiln_solid_set_hardness(c->world->solid, c->hardness, may_harden(c->world));
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)error;
    contact *c = self;
    double used = kiln_solid_hardness(c->world->solid);
    c->hardness = kiln_collide_eased(used, c->world->report.nearest);
    if (used >= SPOKEN_OF * c->told) {
        kiln_log(c->world->context, KILN_LOG_INFO,
                 "contact is %.3g times as stiff from %.6g s on: surfaces are pressed that hard",
                 used, moment->end);
        c->told = used;
    }
    return KILN_OK;
}

static void *state(void *self, size_t *size)
{
    contact *c = self;
    *size = sizeof c->hardness;
    return &c->hardness;
}

const kiln_module kiln_module_contact = {.name = "contact",
                                         .create = create,
                                         .destroy = destroy,
                                         .before_step = before_step,
                                         .after_step = after_step,
                                         .state = state,
                                         .measure = measure};
