/* Contact of bodies as the scene wants it. */
#include "sim/world_impl.h"
#include "topology/crossing.h"

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

kiln_contact_options kiln_world_contact_options(const kiln_scene *scene)
{
    const kiln_scene_contact *said = &scene->contact;
    double thickness = said->thickness > 0.0 ? said->thickness : 0.1 * mean_edge(scene);
    return (kiln_contact_options){.bodies = said->bodies,
                                  .self = said->self,
                                  .thickness = thickness,
                                  .stiffness = said->stiffness,
                                  .friction = said->friction,
                                  .material_tells = !kiln_world_in_world_space(scene)};
}

/* Repulsion keeps surfaces on the side where they are. */
kiln_status kiln_world_check_surfaces(const kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    const kiln_mesh *mesh = world->mesh;
    if (!scene->contact.bodies && !scene->contact.self)
        return KILN_OK;
    kiln_crossing crossing;
    KILN_TRY(kiln_surface_find_crossing(mesh, KILN_SPACE_WORLD, &crossing, error));
    if (crossing.pairs == 0)
        return KILN_OK;
    kiln_vec3 at = mesh->x[mesh->tet[mesh->face[crossing.face[0]].at / 4].v[0]];
    return kiln_said_fail(scene, &scene->contact.said, error,
                          "surfaces pass through each other at the start, %zu pairs of faces, one "
                          "of them near (%g, %g, %g); leave a gap",
                          crossing.pairs, at.x, at.y, at.z);
}
