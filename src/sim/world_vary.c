/* Stiffness and viscosity that are functions: tet by tet, from the state at the begin of the step.
 */
#include "sim/world_impl.h"

#include <string.h>

static kiln_status vary_tet(kiln_world *world, uint32_t t, double time, const kiln_vec3 *velocity,
                            uint32_t material, double lame[2], kiln_error *error)
{
    const kiln_scene_material *scene = &world->scene->materials.data[material];
    double young, poisson;
    kiln_circumstances at = kiln_world_circumstances(world, t, velocity);
    at.time = time;
    at.stress = world->mises.data[t];
    KILN_TRY(kiln_quantity_get(&scene->young, &at, &young, 1, error));
    KILN_TRY(kiln_quantity_get(&scene->poisson, &at, &poisson, 1, error));
    if (!(young > 0.0) || !(poisson > -1.0) || !(poisson < 0.5))
        return kiln_said_fail(world->scene, &scene->said, error,
                              "young must be positive and poisson between -1 and 0.5: got %g Pa "
                              "and %g at %g s in the tet at (%g, %g, %g)",
                              young, poisson, time, at.material.x, at.material.y, at.material.z);
    kiln_lame_from_young(young, poisson, &lame[0], &lame[1]);
    if (!scene->viscosity.evaluate)
        return KILN_OK;
    double *viscosity = &world->viscosity.data[t];
    KILN_TRY(kiln_quantity_get(&scene->viscosity, &at, viscosity, 1, error));
    if (!(*viscosity >= 0.0))
        return kiln_said_fail(world->scene, &scene->said, error,
                              "viscosity must be 0 or more: got %g Pa s at %g s in the tet at (%g, "
                              "%g, %g)",
                              *viscosity, time, at.material.x, at.material.y, at.material.z);
    return KILN_OK;
}

kiln_status kiln_world_vary(kiln_world *world, double time, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    const kiln_scene *scene = world->scene;
    const uint32_t *material =
        (const uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t m = material[t];
        if (!kiln_tet_live(mesh, t) || !scene->materials.data[m].varies)
            continue;
        double lame[2] = {0, 0};
        KILN_TRY(kiln_said_wrap(
            scene, &scene->materials.data[m].said,
            vary_tet(world, t, time, v ? (const kiln_vec3 *)v->data : NULL, m, lame, error),
            error));
        world->mu.data[t] = lame[0];
        world->lambda.data[t] = lame[1];
    }
    return kiln_elements_set_lame(kiln_solid_elements(world->solid), world->mu.data,
                                  world->lambda.data, error);
}

kiln_status kiln_world_resize(kiln_world *world, kiln_error *error)
{
    size_t tets = world->mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(world->context, &world->quality, tets, error));
    if (!world->varies)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(world->context, &world->mu, tets, error));
    KILN_TRY(kiln_array_reserve(world->context, &world->lambda, tets, error));
    KILN_TRY(kiln_array_reserve(world->context, &world->mises, tets, error));
    memset(world->mises.data, 0, tets * sizeof(double));
    if (!world->viscosity_varies)
        return KILN_OK;
    const uint32_t *material =
        (const uint32_t *)kiln_mesh_field(world->mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    KILN_TRY(kiln_array_reserve(world->context, &world->viscosity, tets, error));
    for (size_t t = 0; t < tets; t++)
        world->viscosity.data[t] = world->materials[material[t]].viscosity;
    kiln_solid_set_viscosity(world->solid, world->viscosity.data);
    return KILN_OK;
}

kiln_status kiln_world_vary_start(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    const uint32_t *material =
        (const uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    if (world->viscosity_varies)
        KILN_TRY(kiln_solid_rebuild(world->solid, NULL, error));
    for (size_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        world->mu.data[t] = world->materials[material[t]].mu;
        world->lambda.data[t] = world->materials[material[t]].lambda;
    }
    KILN_TRY(kiln_world_vary(world, 0.0, error));
    kiln_world_keep_lame(world);
    return KILN_OK;
}

static double (*lame_field(const kiln_world *world))[2]
{
    return (double(*)[2])kiln_mesh_field(world->mesh, KILN_ON_TET, KILN_FIELD_LAME)->data;
}

void kiln_world_keep_lame(kiln_world *world)
{
    double(*lame)[2] = lame_field(world);
    for (uint32_t t = 0; t < world->mesh->table[KILN_ON_TET].used; t++) {
        lame[t][0] = world->mu.data[t];
        lame[t][1] = world->lambda.data[t];
    }
}

kiln_status kiln_world_restore_lame(kiln_world *world, kiln_error *error)
{
    double(*lame)[2] = lame_field(world);
    for (uint32_t t = 0; t < world->mesh->table[KILN_ON_TET].used; t++) {
        world->mu.data[t] = lame[t][0];
        world->lambda.data[t] = lame[t][1];
    }
    return kiln_elements_set_lame(kiln_solid_elements(world->solid), world->mu.data,
                                  world->lambda.data, error);
}
