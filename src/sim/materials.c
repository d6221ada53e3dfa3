/* The module of what bodies are made of: densities, and stiffness and viscosity that are functions,
 * asked for tet by tet from the state at the begin of a step. Stiffness is kept in a field, because
 * the stress that the next step's functions see depends on it. */
#include "mesh/rewind.h"
#include "sim/world_impl.h"

#include <math.h>
#include <string.h>

/* What functions see of the step's begin, where the mesh changes within the step; tet, Pa. */
#define FIELD_STRESS "begin_mises"

typedef struct materials {
    kiln_world *world;
    bool varies;                      /* some material's stiffness or viscosity is a function */
    kiln_f64_array mu, lambda, mises; /* [tet slot], where it does */
    kiln_f64_array viscosity;         /* [tet slot] */
} materials;

static void plan(kiln_world *world)
{
    const kiln_scene *scene = world->scene;
    for (size_t i = 0; i < scene->materials.count; i++)
        world->asks_for_place |=
            scene->materials.data[i].varies || scene->materials.data[i].flow_varies;
}

/* The numbers of the start, where they are functions. */
static kiln_status make_materials(materials *m, kiln_error *error)
{
    const kiln_scene *scene = m->world->scene;
    for (size_t i = 0; i < scene->materials.count; i++) {
        const kiln_scene_material *row = &scene->materials.data[i];
        kiln_material *material = &m->world->materials[i];
        *material = row->base;
        kiln_circumstances start = {.time = 0.0};
        double young, poisson;
        if (!row->varies)
            continue;
        m->varies = true;
        if (material->liquid)
            continue;
        KILN_TRY(kiln_quantity_get(&row->young, &start, &young, 1, error));
        KILN_TRY(kiln_quantity_get(&row->poisson, &start, &poisson, 1, error));
        kiln_lame_from_young(young, poisson, &material->mu, &material->lambda);
    }
    return KILN_OK;
}

static kiln_status find_density(const kiln_world *world, uint32_t tet, double *density,
                                kiln_error *error)
{
    const kiln_scene_material *row =
        &world->scene->materials.data[kiln_world_material_of(world->mesh)[tet]];
    kiln_circumstances at = {.material = kiln_tet_centre(world->mesh, tet, world->mesh->u)};
    at.world = at.material;
    *density = row->base.density;
    if (row->density.evaluate)
        KILN_TRY(kiln_quantity_get(&row->density, &at, density, 1, error));
    if (!(*density > 0.0))
        return kiln_said_fail(world->scene, &row->said, error,
                              "density must be positive, got %g at (%g, %g, %g)", *density,
                              at.material.x, at.material.y, at.material.z);
    return KILN_OK;
}

/* Density as a function of the place is asked for once: mass does not come or go. */
static kiln_status add_density(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    bool varies = false;
    for (size_t i = 0; i < world->scene->materials.count; i++)
        varies |= world->scene->materials.data[i].density.evaluate != NULL;
    if (!varies)
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_DENSITY, KILN_ON_TET, KILN_F64, 1,
                                 KILN_RULE_AVERAGE, error));
    double *density = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_DENSITY);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        KILN_TRY(find_density(world, t, &density[t], error));
    return KILN_OK;
}

/* kg of each tet, once: from then on mass is what is kept, whatever becomes of volumes. */
static kiln_status add_mass(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    if (!world->flows && !world->remeshes && !world->melts)
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_MASS, KILN_ON_TET, KILN_F64, 1,
                                 KILN_RULE_CONSERVE, error));
    double *mass = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_MASS);
    const double *density = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_DENSITY);
    const uint32_t *material = kiln_world_material_of(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        mass[t] = kiln_mesh_tet_volume(mesh, t) *
                  (density ? density[t] : world->materials[material[t]].density);
    if (!world->remeshes)
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_EVEN, KILN_ON_TET, KILN_F64, 1,
                                 KILN_RULE_CONSERVE, error));
    memcpy(kiln_world_column(world, KILN_ON_TET, KILN_FIELD_EVEN),
           kiln_world_column(world, KILN_ON_TET, KILN_FIELD_MASS),
           mesh->table[KILN_ON_TET].used * sizeof(double));
    return KILN_OK;
}

/* Functions of the scene look at the u of the start: where u moves later it is kept. */
static kiln_status keep_start(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    bool moves = world->flows || world->space == KILN_SPACE_WORLD;
    if (!moves || !world->asks_for_place)
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_START, KILN_ON_VERTEX, KILN_F64, 3,
                                 KILN_RULE_INTERPOLATE, error));
    memcpy(kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_START), mesh->u,
           mesh->table[KILN_ON_VERTEX].used * sizeof *mesh->u);
    return KILN_OK;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    materials *m = kiln_module_make(world, sizeof *m, self, error);
    if (!m)
        return KILN_ERR_MEMORY;
    m->world = world;
    KILN_TRY(make_materials(m, error));
    KILN_TRY(add_density(world, error));
    KILN_TRY(add_mass(world, error));
    KILN_TRY(keep_start(world, error));
    if (!m->varies)
        return KILN_OK;
    if (world->scene->remesh.method == KILN_REMESH_ENERGY)
        KILN_TRY(kiln_mesh_add_field(world->mesh, FIELD_STRESS, KILN_ON_TET, KILN_F64, 1,
                                     KILN_RULE_AVERAGE, error));
    return kiln_mesh_add_field(world->mesh, KILN_FIELD_LAME, KILN_ON_TET, KILN_F64, 2,
                               KILN_RULE_AVERAGE, error);
}

static void destroy(void *self)
{
    materials *m = self;
    kiln_context *context = m->world->context;
    kiln_array_free(context, &m->mu);
    kiln_array_free(context, &m->lambda);
    kiln_array_free(context, &m->mises);
    kiln_array_free(context, &m->viscosity);
}

static double (*lame_of(const materials *m))[2]
{
    return (double(*)[2])(void *)kiln_world_column(m->world, KILN_ON_TET, KILN_FIELD_LAME);
}

static kiln_status ask_viscosity(const materials *m, const kiln_scene_material *row,
                                 const kiln_circumstances *at, double *viscosity, kiln_error *error)
{
    if (!row->viscosity.evaluate)
        return KILN_OK;
    KILN_TRY(kiln_quantity_get(&row->viscosity, at, viscosity, 1, error));
    if (!(*viscosity >= 0.0))
        return kiln_said_fail(m->world->scene, &row->said, error,
                              "viscosity must be 0 or more: got %g Pa s at %g s in the tet at (%g, "
                              "%g, %g)",
                              *viscosity, at->time, at->material.x, at->material.y, at->material.z);
    return KILN_OK;
}

static kiln_status ask_stiffness(const materials *m, uint32_t t, const kiln_scene_material *row,
                                 const kiln_circumstances *at, kiln_error *error)
{
    double young, poisson;
    KILN_TRY(kiln_quantity_get(&row->young, at, &young, 1, error));
    KILN_TRY(kiln_quantity_get(&row->poisson, at, &poisson, 1, error));
    if (!(young > 0.0) || !(poisson > -1.0) || !(poisson < 0.5))
        return kiln_said_fail(m->world->scene, &row->said, error,
                              "young must be positive and poisson between -1 and 0.5: got %g Pa "
                              "and %g at %g s in the tet at (%g, %g, %g)",
                              young, poisson, at->time, at->material.x, at->material.y,
                              at->material.z);
    kiln_lame_from_young(young, poisson, &m->mu.data[t], &m->lambda.data[t]);
    return KILN_OK;
}

static kiln_status vary_tet(const materials *m, uint32_t t, double time,
                            const kiln_scene_material *row, kiln_error *error)
{
    kiln_circumstances at = kiln_world_circumstances(m->world, t);
    at.time = time;
    at.stress = m->mises.data[t];
    if (!row->base.liquid)
        KILN_TRY(ask_stiffness(m, t, row, &at, error));
    return ask_viscosity(m, row, &at, &m->viscosity.data[t], error);
}

static kiln_status vary(const materials *m, double time, kiln_error *error)
{
    const kiln_scene *scene = m->world->scene;
    const uint32_t *material = kiln_world_material_of(m->world->mesh);
    for (uint32_t t = 0; t < m->world->mesh->table[KILN_ON_TET].used; t++) {
        const kiln_scene_material *row = &scene->materials.data[material[t]];
        if (row->varies)
            KILN_TRY(kiln_said_wrap(scene, &row->said, vary_tet(m, t, time, row, error), error));
    }
    return kiln_elements_set_lame(kiln_solid_elements(m->world->solid), m->mu.data, m->lambda.data,
                                  error);
}

static kiln_status make_room(materials *m, kiln_error *error)
{
    const kiln_mesh *mesh = m->world->mesh;
    kiln_context *context = m->world->context;
    size_t tets = mesh->table[KILN_ON_TET].used;
    const uint32_t *material = kiln_world_material_of(mesh);
    KILN_TRY(kiln_array_reserve(context, &m->mu, tets, error));
    KILN_TRY(kiln_array_reserve(context, &m->lambda, tets, error));
    KILN_TRY(kiln_array_reserve(context, &m->mises, tets, error));
    KILN_TRY(kiln_array_reserve(context, &m->viscosity, tets, error));
    memset(m->mises.data, 0, tets * sizeof(double));
    for (size_t t = 0; t < tets; t++)
        m->viscosity.data[t] = m->world->materials[material[t]].viscosity;
    return KILN_OK;
}

static double *stress_of(const materials *m)
{
    return kiln_world_column(m->world, KILN_ON_TET, FIELD_STRESS);
}

/* Where the material is no function, or was none so far (0, sim/change.h), its numbers count. */
static void restore_lame(const materials *m)
{
    double(*lame)[2] = lame_of(m);
    const uint32_t *material = kiln_world_material_of(m->world->mesh);
    for (uint32_t t = 0; t < m->world->mesh->table[KILN_ON_TET].used; t++) {
        const kiln_material *own = &m->world->materials[material[t]];
        bool asked = m->world->scene->materials.data[material[t]].varies && lame[t][0] != 0.0;
        m->mu.data[t] = asked ? lame[t][0] : own->mu;
        m->lambda.data[t] = asked ? lame[t][1] : own->lambda;
    }
}

static kiln_status keep_lame(const materials *m, kiln_error *error)
{
    KILN_TRY(kiln_rewind_save(m->world->mesh, KILN_ON_TET, KILN_FIELD_LAME, KILN_SAVE_ALL, error));
    double(*lame)[2] = lame_of(m);
    for (uint32_t t = 0; t < m->world->mesh->table[KILN_ON_TET].used; t++) {
        lame[t][0] = m->mu.data[t];
        lame[t][1] = m->lambda.data[t];
    }
    return KILN_OK;
}

/* The solid borrows the numbers, and takes them whenever it is built. */
static kiln_status start(void *self, kiln_error *error)
{
    materials *m = self;
    const uint32_t *material = kiln_world_material_of(m->world->mesh);
    if (!m->varies)
        return KILN_OK;
    KILN_TRY(make_room(m, error));
    for (size_t t = 0; t < m->world->mesh->table[KILN_ON_TET].used; t++) {
        m->mu.data[t] = m->world->materials[material[t]].mu;
        m->lambda.data[t] = m->world->materials[material[t]].lambda;
    }
    kiln_solid_set_viscosity(m->world->solid, m->viscosity.data);
    kiln_solid_set_lame(m->world->solid, m->mu.data, m->lambda.data);
    KILN_TRY(kiln_solid_rebuild(m->world->solid, NULL, error));
    KILN_TRY(vary(m, 0.0, error));
    return keep_lame(m, error);
}

static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    (void)changes;
    materials *m = self;
    if (!m->varies)
        return KILN_OK;
    KILN_TRY(make_room(m, error));
    if (stress_of(m))
        memcpy(m->mises.data, stress_of(m),
               m->world->mesh->table[KILN_ON_TET].used * sizeof(double));
    restore_lame(m);
    kiln_solid_set_viscosity(m->world->solid, m->viscosity.data);
    kiln_solid_set_lame(m->world->solid, m->mu.data, m->lambda.data);
    return KILN_OK;
}

static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    const materials *m = self;
    const kiln_world *world = m->world;
    if (!m->varies)
        return KILN_OK;
    kiln_elements_output(kiln_solid_elements(world->solid), &world->mesh->x[0].x, KILN_OUTPUT_MISES,
                         m->mises.data);
    if (!stress_of(m))
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(world->mesh, KILN_ON_TET, FIELD_STRESS, KILN_SAVE_ALL, error));
    memcpy(stress_of(m), m->mises.data, world->mesh->table[KILN_ON_TET].used * sizeof(double));
    return KILN_OK;
}

static kiln_status drive(void *self, const kiln_drive *drive, kiln_error *error)
{
    const materials *m = self;
    return m->varies ? vary(m, drive->time, error) : KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    const materials *m = self;
    return m->varies ? keep_lame(m, error) : KILN_OK;
}

/* Elements have the numbers of the step that is gone. */
static void step_back(void *self)
{
    const materials *m = self;
    m->world->stale |= m->varies;
}

const kiln_module kiln_module_materials = {.name = "materials",
                                           .plan = plan,
                                           .create = create,
                                           .start = start,
                                           .destroy = destroy,
                                           .before_step = before_step,
                                           .drive = drive,
                                           .after_step = after_step,
                                           .step_back = step_back,
                                           .mesh_changed = mesh_changed};
