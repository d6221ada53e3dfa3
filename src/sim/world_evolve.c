/* What becomes of the matter after an accepted step: it yields, and its material follows. */
#include "base/clock.h"
#include "fem/plasticity.h"
#include "sim/world_impl.h"

#include <math.h>

static bool flow_varies(const kiln_scene *scene)
{
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].flow_varies)
            return true;
    return false;
}

static bool yields(const kiln_scene *scene)
{
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].base.plastic.flows)
            return true;
    return false;
}

bool kiln_world_in_world_space(const kiln_scene *scene)
{
    return scene->remesh.method == KILN_REMESH_GLOBAL ||
           (scene->remesh.method == KILN_REMESH_LOCAL && scene->remesh.space == KILN_SPACE_WORLD);
}

/* kg of each tet, once: from then on mass is what is kept, whatever becomes of volumes. */
static kiln_status add_mass(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_MASS, KILN_ON_TET, KILN_F64, 1,
                                 KILN_RULE_CONSERVE, error));
    double *mass = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MASS)->data;
    const kiln_field *density = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_DENSITY);
    const uint32_t *material =
        (const uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        mass[t] = kiln_mesh_tet_volume(mesh, t) * (density ? kiln_field_value(density, t, 0)
                                                           : world->materials[material[t]].density);
    return KILN_OK;
}

kiln_status kiln_world_add_history(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    world->yields = yields(scene);
    if (world->yields)
        KILN_TRY(kiln_plastic_add_fields(world->mesh, error));
    if (kiln_world_in_world_space(scene))
        KILN_TRY(kiln_offsets_add(world->mesh, error));
    if (scene->remesh.method == KILN_REMESH_LOCAL)
        KILN_TRY(kiln_world_note_sizes(world, error));
    if (scene->remesh.method == KILN_REMESH_GLOBAL)
        KILN_TRY(kiln_world_add_domain_history(world, error));
    if (scene->remesh.method != KILN_REMESH_NONE)
        KILN_TRY(kiln_world_add_forces(world, error));
    if (world->yields || scene->remesh.method != KILN_REMESH_NONE)
        return add_mass(world, error);
    return KILN_OK;
}

/* The laws of all tets where some are functions of what goes on in them. */
static kiln_status vary_laws(kiln_world *world, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene *scene = world->scene;
    const uint32_t *material =
        (const uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    size_t tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(world->context, &world->laws, tets, error));
    KILN_TRY(kiln_array_reserve(world->context, &world->norms, tets, error));
    kiln_plastic_norms(kiln_solid_elements(world->solid), &mesh->x[0].x, world->norms.data);
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    for (uint32_t t = 0; t < tets; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const kiln_scene_material *row = &scene->materials.data[material[t]];
        kiln_plastic *law = &world->laws.data[t];
        *law = world->materials[material[t]].plastic;
        if (!row->flow_varies)
            continue;
        kiln_circumstances at =
            kiln_world_circumstances(world, t, v ? (const kiln_vec3 *)v->data : NULL);
        at.stress = world->norms.data[t];
        kiln_status status = kiln_quantity_get(&row->yield, &at, &law->yield, 1, error);
        if (status == KILN_OK)
            status = kiln_quantity_get(&row->rate, &at, &law->rate, 1, error);
        if (status == KILN_OK)
            status = kiln_quantity_get(&row->hardening, &at, &law->hardening, 1, error);
        KILN_TRY(kiln_said_wrap(scene, &row->said, status, error));
        if (!(law->yield >= 0.0) || !(law->rate >= 0.0))
            return kiln_said_fail(scene, &row->said, error,
                                  "yield and rate must be 0 or more: got %g Pa and %g 1/s at %g s "
                                  "in the tet at (%g, %g, %g)",
                                  law->yield, law->rate, at.time, at.world.x, at.world.y,
                                  at.world.z);
    }
    return KILN_OK;
}

static kiln_status yield(kiln_world *world, double h, kiln_flow_report *report, kiln_error *error)
{
    bool varies = flow_varies(world->scene);
    if (varies)
        KILN_TRY(vary_laws(world, error));
    size_t tets = world->mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(world->context, &world->flowed, tets, error));
    return kiln_plastic_update(kiln_solid_elements(world->solid), world->mesh,
                               varies ? world->laws.data : NULL, h, world->flowed.data, report,
                               error);
}

static kiln_status relax(kiln_world *world, kiln_relax_report *report, kiln_error *error)
{
    kiln_relax_options options = kiln_relax_default_options();
    if (!world->relax)
        KILN_TRY(kiln_relax_create(world->solid, &world->relax, error));
    KILN_TRY(kiln_relax_run(world->relax, &options, world->flowed.data, report, error));
    kiln_world_rebase_surfaces(world);
    if (report->overlaps && !world->overlaps) {
        world->overlaps = true;
        kiln_log(world->context, KILN_LOG_WARNING,
                 "at %.6g s the material of a body has flowed through itself: where it overlaps, "
                 "remeshing and sizes are those of two bodies in one place",
                 world->state.clock.time);
    }
    return KILN_OK;
}

static kiln_status follow_world(kiln_world *world, kiln_error *error)
{
    KILN_TRY(kiln_offsets_follow(world->mesh, world->mesh->x, error));
    kiln_world_rebase_surfaces(world);
    return KILN_OK;
}

kiln_status kiln_world_flow(kiln_world *world, double h, kiln_evolution *evolution,
                            kiln_error *error)
{
    bool in_world = kiln_world_in_world_space(world->scene);
    double started = kiln_wall_seconds();
    if (world->yields)
        KILN_TRY(yield(world, h, &evolution->flow, error));
    if (in_world)
        KILN_TRY(follow_world(world, error));
    if (in_world || evolution->flow.flowed > 0) {
        KILN_TRY(kiln_solid_reform(world->solid, error));
        /* The step counted what flow has taken since. */
        world->report.e_elastic = kiln_solid_elastic_energy(world->solid, &world->mesh->x[0].x);
    }
    if (!in_world && evolution->flow.flowed > 0)
        KILN_TRY(relax(world, &evolution->relax, error));
    evolution->plastic_seconds += kiln_wall_seconds() - started;
    return KILN_OK;
}

kiln_status kiln_world_remesh(kiln_world *world, kiln_evolution *evolution, kiln_error *error)
{
    if (world->scene->remesh.method == KILN_REMESH_LOCAL)
        return kiln_world_remesh_local(world, evolution, error);
    if (world->scene->remesh.method == KILN_REMESH_GLOBAL)
        return kiln_world_remesh_domain(world, evolution, error);
    return KILN_OK;
}
