/* The module of contact of bodies with each other and themselves: what the step has to know. */
#include "geom/distance.h"
#include "sim/world_impl.h"
#include "topology/crossing.h"
#include "topology/immersed.h"

typedef struct contact {
    kiln_world *world;
} contact;

/* Of all tets of the bodies as the scene gives them: a resumed run has no other start to go by. */
static double mean_edge(const kiln_scene *scene)
{
    double sum = 0.0, count = 0.0;
    for (size_t b = 0; b < scene->bodies.count; b++) {
        const kiln_soup *soup = &scene->bodies.data[b].mesh;
        for (size_t t = 0; t < soup->tets.count; t++)
            for (int e = 0; e < 6; e++) {
                const uint32_t *v = soup->tets.data[t].v;
                sum += kiln_v3_norm(kiln_v3_sub(soup->points.data[v[kiln_edge_ends[e][0]]],
                                                soup->points.data[v[kiln_edge_ends[e][1]]]));
                count += 1.0;
            }
    }
    return count > 0.0 ? sum / count : 0.0;
}

static bool has_walls(const kiln_scene *scene)
{
    const kiln_scene_contact *said = &scene->contact;
    bool surfaces = said->obstacles == KILN_OBSTACLES_AUTO
                        ? said->bodies || said->self
                        : said->obstacles == KILN_OBSTACLES_SURFACES;
    return surfaces && scene->obstacles.count > 0;
}

static void set_options(kiln_world *world)
{
    const kiln_scene_contact *said = &world->scene->contact;
    double thickness = said->thickness > 0.0 ? said->thickness : 0.1 * mean_edge(world->scene);
    world->options.contact =
        (kiln_contact_options){.walls = has_walls(world->scene),
                               .bodies = said->bodies,
                               .self = said->self,
                               .thickness = thickness,
                               .stiffness = said->stiffness,
                               .friction = said->friction,
                               .material_tells = world->space == KILN_SPACE_MATERIAL};
}

static const char *moment(const kiln_world *world)
{
    return world->state.step > 0 ? "this moment" : "the start";
}

static const char *body_name(const kiln_world *world, uint32_t tet)
{
    const kiln_mesh *mesh = world->mesh;
    return world->scene->bodies.data[mesh->parts.data[mesh->info[tet].part].body].name;
}

/* Nor does it know of matter that is in one place twice: surfaces need not cross for that. */
static kiln_status check_volumes(const kiln_world *world, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    kiln_immersed immersed;
    KILN_TRY(kiln_parts_find_immersed(mesh, KILN_SPACE_WORLD, &immersed, error));
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
    return kiln_said_fail(world->scene, &world->scene->contact.said, error,
                          "surfaces %s each other at %s, %zu pairs of faces, one of them of bodies "
                          "'%s' and '%s' near (%g, %g, %g); leave a gap",
                          what, moment(world), pairs, body_name(world, tet[0]),
                          body_name(world, tet[1]), at.x, at.y, at.z);
}

/* Repulsion keeps surfaces on the side where they are, and has no side for those that touch. */
kiln_status kiln_world_check_surfaces(const kiln_world *world, kiln_error *error)
{
    kiln_crossing crossing;
    KILN_TRY(kiln_surface_find_crossing(world->mesh, KILN_SPACE_WORLD, &crossing, error));
    if (crossing.pairs > 0)
        return fail_at_faces(world, "pass through", crossing.pairs, crossing.face, error);
    if (!world->scene->contact.bodies)
        return KILN_OK;
    KILN_TRY(check_volumes(world, error));
    if (crossing.touching > 0)
        return fail_at_faces(world, "touch", crossing.touching, crossing.touching_face, error);
    return KILN_OK;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!world->scene->contact.bodies && !world->scene->contact.self && !has_walls(world->scene))
        return KILN_OK;
    contact *c = kiln_module_make(world, sizeof *c, self, error);
    if (!c)
        return KILN_ERR_MEMORY;
    c->world = world;
    set_options(world);
    if (!world->scene->contact.bodies && !world->scene->contact.self)
        return KILN_OK;
    return kiln_world_check_surfaces(world, error);
}

static void measure(const void *self, kiln_stats *stats)
{
    const kiln_world *world = ((const contact *)self)->world;
    if (world->state.step == 0)
        return;
    stats->e_contact = world->report.e_contact;
    stats->t_contact = world->report.contact_seconds;
}

const kiln_module kiln_module_contact = {.name = "contact", .create = create, .measure = measure};
