/* The module of contact of bodies with each other and themselves: what the step has to know. */
#include "sim/world_impl.h"
#include "topology/crossing.h"

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

static void set_options(kiln_world *world)
{
    const kiln_scene_contact *said = &world->scene->contact;
    double thickness = said->thickness > 0.0 ? said->thickness : 0.1 * mean_edge(world->scene);
    world->options.contact =
        (kiln_contact_options){.bodies = said->bodies,
                               .self = said->self,
                               .thickness = thickness,
                               .stiffness = said->stiffness,
                               .friction = said->friction,
                               .material_tells = world->space == KILN_SPACE_MATERIAL};
}

kiln_status kiln_world_check_surfaces(const kiln_world *world, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    kiln_crossing crossing;
    KILN_TRY(kiln_surface_find_crossing(mesh, KILN_SPACE_WORLD, &crossing, error));
    if (crossing.pairs == 0)
        return KILN_OK;
    kiln_vec3 at = mesh->x[mesh->tet[mesh->face[crossing.face[0]].at / 4].v[0]];
    return kiln_said_fail(world->scene, &world->scene->contact.said, error,
                          "surfaces pass through each other at %s, %zu pairs of faces, one of them "
                          "near (%g, %g, %g); leave a gap",
                          world->state.step > 0 ? "this moment" : "the start", crossing.pairs, at.x,
                          at.y, at.z);
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!world->scene->contact.bodies && !world->scene->contact.self)
        return KILN_OK;
    contact *c = kiln_module_make(world, sizeof *c, self, error);
    if (!c)
        return KILN_ERR_MEMORY;
    c->world = world;
    set_options(world);
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
