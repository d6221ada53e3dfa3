/* The fine surfaces that hang in bodies: seen, never felt. */
#include "sim/world_impl.h"

kiln_status kiln_world_hang(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    for (size_t i = 0; i < scene->bodies.count; i++) {
        const kiln_scene_body *body = &scene->bodies.data[i];
        if (body->surface.triangles.count == 0)
            continue;
        kiln_status status = kiln_embedded_create(world->mesh, &body->surface, KILN_SPACE_MATERIAL,
                                                  (uint32_t)i, &world->surfaces[i], NULL, error);
        KILN_TRY(kiln_said_wrap(scene, &body->said, status, error));
    }
    return KILN_OK;
}

void kiln_world_unhang(kiln_world *world)
{
    for (size_t i = 0; i < world->scene->bodies.count && world->surfaces; i++)
        kiln_embedded_destroy(world->surfaces[i]);
}

kiln_status kiln_world_rehang(kiln_world *world, kiln_error *error)
{
    for (size_t i = 0; i < world->scene->bodies.count; i++)
        if (world->surfaces[i])
            KILN_TRY(kiln_embedded_rehang(world->surfaces[i], world->mesh, NULL, error));
    return KILN_OK;
}

kiln_status kiln_world_renumber_surfaces(kiln_world *world, const kiln_renumbering *now,
                                         kiln_error *error)
{
    for (size_t i = 0; i < world->scene->bodies.count; i++)
        if (world->surfaces[i])
            KILN_TRY(kiln_embedded_renumber(world->surfaces[i], world->mesh, now, error));
    return KILN_OK;
}

void kiln_world_rebase_surfaces(kiln_world *world)
{
    for (size_t i = 0; i < world->scene->bodies.count; i++)
        if (world->surfaces[i])
            kiln_embedded_rebase(world->surfaces[i], world->mesh);
}

kiln_status kiln_world_move_surfaces(kiln_world *world, const kiln_mesh *from, const kiln_mesh *to,
                                     kiln_error *error)
{
    for (size_t i = 0; i < world->scene->bodies.count; i++)
        if (world->surfaces[i])
            KILN_TRY(
                kiln_embedded_move(world->surfaces[i], from, to, KILN_SPACE_WORLD, NULL, error));
    return KILN_OK;
}

kiln_status kiln_world_surface(const kiln_world *world, size_t body, kiln_soup *soup,
                               kiln_error *error)
{
    kiln_soup_init(soup, world->context);
    if (!world->surfaces[body])
        return KILN_OK;
    kiln_status status = kiln_embedded_to_soup(world->surfaces[body], world->mesh, soup, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

kiln_status kiln_world_restore_surface(kiln_world *world, size_t body, const kiln_soup *soup,
                                       kiln_error *error)
{
    return kiln_embedded_restore(world->surfaces[body], world->mesh, soup, error);
}
