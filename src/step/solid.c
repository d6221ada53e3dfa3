#include "base/assert.h"
#include "contact/clearance.h"
#include "fem/yield_surfaces.h"
#include "step/solid_impl.h"

#include <math.h>
#include <string.h>

/* Of the thickness, after remeshing: what is nearer repels more than a step can bear. */
#define CLEARANCE 1e-3
/* Presets, lengths of the model a second. */
#define POINT_FRICTION_SPEED   1e-5
#define SURFACE_FRICTION_SPEED 1e-3

kiln_solid_options kiln_solid_default_options(void)
{
    kiln_newton_options newton = kiln_newton_default_options();
    newton.tolerance = 0.0;
    return (kiln_solid_options){.integrator = KILN_IMPLICIT_EULER,
                                .mass = KILN_MASS_AUTO,
                                .newton = newton,
                                .solver = kiln_solver_default_options(),
                                .lag_tolerance = 1e-8,
                                .contact = {.stiffness = 1.0, .material_tells = true}};
}

/* State columns. */

static kiln_status add_column(kiln_mesh *mesh, kiln_where where, const char *name, kiln_type type,
                              uint32_t components, kiln_rule rule, kiln_error *error)
{
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    if (!field)
        return kiln_mesh_add_field(mesh, name, where, type, components, rule, error);
    if (field->type != type || field->components != components)
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                         "the mesh has a field '%s' of another type; the time step needs the name",
                         name);
    return KILN_OK;
}

static bool has_liquid(const kiln_material *materials, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (materials[i].liquid)
            return true;
    return false;
}

static kiln_status add_columns(kiln_solid *solid, bool liquid, kiln_error *error)
{
    static const struct {
        const char *name;
        kiln_where where;
        kiln_type type;
        uint32_t components;
        kiln_rule rule;
        bool newmark, bdf2, obstacles, bodies, walls, liquid, slides; /* needed only with it */
    } columns[] = {
        {.name = "material", .where = KILN_ON_TET, KILN_U32, 1, KILN_RULE_COPY},
        {.name = "v", .where = KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_MOMENTUM},
        {.name = "a", .where = KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_MOMENTUM, .newmark = true},
        {"x_before", KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_INTERPOLATE, .bdf2 = true},
        {"v_before", KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_MOMENTUM, .bdf2 = true},
        {"contact_with", KILN_ON_VERTEX, KILN_U32, 1, KILN_RULE_COPY, .obstacles = true},
        {"contact_load", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, .obstacles = true},
        {"contact_kept", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, .obstacles = true},
        {"contact_push", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, .obstacles = true},
        {"contact_met", KILN_ON_VERTEX, KILN_U32, 1, KILN_RULE_COPY, .bdf2 = true, .bodies = true},
        {"wall_took", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, .newmark = true,
         .walls = true},
        {KILN_FIELD_LIQUID_PRESSURE, KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE,
         .liquid = true},
        {"sliding", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, .slides = true},
    };
    kiln_integrator integrator = solid->options.integrator;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if ((columns[i].newmark && integrator != KILN_NEWMARK) ||
            (columns[i].bdf2 && integrator != KILN_BDF2) ||
            (columns[i].obstacles && solid->touch.obstacle_count == 0) ||
            (columns[i].bodies && !solid->collide.options.bodies) ||
            (columns[i].walls && !solid->collide.options.walls) || (columns[i].liquid && !liquid) ||
            (columns[i].slides && !kiln_solid_damps_sliding(solid)))
            continue;
        KILN_TRY(add_column(solid->mesh, columns[i].where, columns[i].name, columns[i].type,
                            columns[i].components, columns[i].rule, error));
    }
    return KILN_OK;
}

/* Making and rebuilding. */

static kiln_status create_parts(kiln_solid *s, kiln_error *error)
{
    KILN_TRY(kiln_elements_create(s->context, &s->elements, error));
    KILN_TRY(kiln_mass_create(s->context, &s->mass, error));
    KILN_TRY(kiln_nodal_pressure_create(s->context, s->elements, &s->pressure, error));
    KILN_TRY(kiln_damping_create(s->context, s->elements, &s->damping, error));
    kiln_damping_set_pressure(s->damping, s->pressure);
    KILN_TRY(kiln_loads_create(s->context, &s->loads, error));
    KILN_TRY(kiln_liquid_init(&s->liquid, s->context, error));
    return kiln_newton_create(s->context, &s->options.solver, &s->newton, error);
}

kiln_status kiln_solid_create(kiln_mesh *mesh, const kiln_solid_options *options,
                              const kiln_material *materials, size_t material_count,
                              kiln_obstacle *const *obstacles, size_t obstacle_count,
                              kiln_solid **out, kiln_error *error)
{
    kiln_context *context = mesh->context;
    if (material_count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "a solid needs a material");
    kiln_solid *solid = kiln_resize(context, NULL, 0, sizeof *solid);
    if (!solid)
        return kiln_fail_memory(error, sizeof *solid);
    *solid = (kiln_solid){
        .context = context, .mesh = mesh, .options = *options, .spin.context = context};
    if (options->mass == KILN_MASS_AUTO) /* of a mesh that stays as it is */
        solid->options.mass = KILN_MASS_LUMPED;
    kiln_constraints_init(&solid->given, context);
    kiln_constraints_init(&solid->active, context);
    kiln_status status = kiln_array_reserve(context, &solid->materials, material_count, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &solid->obstacles, obstacle_count, error);
    if (status == KILN_OK) {
        solid->materials.count = material_count;
        for (size_t i = 0; i < obstacle_count; i++)
            solid->obstacles.data[solid->obstacles.count++] = obstacles[i];
    }
    kiln_collide_init(&solid->collide, context, &options->contact, options->friction_speed,
                      solid->obstacles.data, solid->obstacles.count);
    kiln_touch_init(&solid->touch, context, solid->obstacles.data,
                    solid->collide.options.walls ? 0 : solid->obstacles.count);
    solid->touch.recover = options->recover;
    solid->touch.linearised = options->linearised;
    solid->touch.by_left = options->integrator == KILN_NEWMARK;
    solid->touch.looks_back = options->integrator == KILN_BDF2;
    if (status == KILN_OK)
        status = create_parts(solid, error);
    if (status == KILN_OK)
        status = add_columns(solid, has_liquid(materials, material_count), error);
    if (status == KILN_OK)
        status = kiln_solid_rebuild(solid, materials, error);
    if (status != KILN_OK) {
        kiln_solid_destroy(solid);
        return status;
    }
    *out = solid;
    return KILN_OK;
}

void kiln_solid_destroy(kiln_solid *solid)
{
    if (!solid)
        return;
    kiln_context *context = solid->context;
    kiln_newton_destroy(solid->newton);
    kiln_loads_destroy(solid->loads);
    kiln_damping_destroy(solid->damping);
    kiln_nodal_pressure_destroy(solid->pressure);
    kiln_mass_destroy(solid->mass);
    kiln_elements_destroy(solid->elements);
    kiln_constraints_free(&solid->given);
    kiln_constraints_free(&solid->active);
    kiln_touch_free(&solid->touch);
    kiln_collide_free(&solid->collide);
    kiln_spin_free(&solid->spin);
    kiln_liquid_free(&solid->liquid);
    kiln_solid_watch_free(solid);
    kiln_array_free(context, &solid->carried);
    kiln_array_free(context, &solid->besides);
    kiln_array_free(context, &solid->tremble);
    kiln_array_free(context, &solid->slide);
    kiln_array_free(context, &solid->steady);
    kiln_array_free(context, &solid->x);
    kiln_array_free(context, &solid->centre);
    kiln_array_free(context, &solid->origin);
    kiln_array_free(context, &solid->rate);
    kiln_array_free(context, &solid->rate2);
    kiln_array_free(context, &solid->brief);
    kiln_array_free(context, &solid->relief);
    kiln_array_free(context, &solid->start_a);
    kiln_array_free(context, &solid->stage_x);
    kiln_array_free(context, &solid->stage_v);
    kiln_array_free(context, &solid->reaction);
    kiln_array_free(context, &solid->contact);
    kiln_array_free(context, &solid->start_force);
    kiln_array_free(context, &solid->hit);
    kiln_array_free(context, &solid->kick);
    kiln_array_free(context, &solid->cut);
    kiln_array_free(context, &solid->guess);
    kiln_array_free(context, &solid->begin);
    kiln_array_free(context, &solid->fresh);
    kiln_array_free(context, &solid->materials);
    kiln_array_free(context, &solid->obstacles);
    kiln_array_free(context, &solid->tet_mass);
    kiln_array_free(context, &solid->modulus);
    kiln_array_free(context, &solid->more);
    kiln_array_free(context, &solid->terms);
    kiln_release(context, solid, sizeof *solid);
}

static double diagonal(kiln_box box)
{
    return kiln_v3_norm(kiln_v3_sub(box.high, box.low));
}

static double bounding_diagonal(const kiln_mesh *mesh)
{
    kiln_box box = kiln_box_empty();
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            box = kiln_box_grow(box, mesh->u[v]);
    return diagonal(box);
}

static kiln_status add_up_parts(const kiln_mesh *mesh, double *sum, kiln_error *error)
{
    KILN_ARRAY_OF(kiln_box)
    box = {0}; /* [part] */
    *sum = 0.0;
    KILN_TRY(kiln_array_reserve(mesh->context, &box, mesh->parts.count, error));
    for (size_t p = 0; p < mesh->parts.count; p++)
        box.data[p] = kiln_box_empty();
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_box *of = &box.data[mesh->info[t].part];
        for (int i = 0; i < 4 && kiln_tet_live(mesh, t); i++)
            *of = kiln_box_grow(*of, mesh->u[mesh->tet[t].v[i]]);
    }
    for (size_t p = 0; p < mesh->parts.count; p++)
        *sum += mesh->parts.data[p].tets ? diagonal(box.data[p]) : 0.0;
    kiln_array_free(mesh->context, &box);
    return KILN_OK;
}

/* The size of the model, and what is told in parts of it. Bodies far apart are no larger for that.
 */
static kiln_status measure(kiln_solid *solid, kiln_error *error)
{
    double sum = INFINITY;
    if (solid->mesh->parts.count > 1)
        KILN_TRY(add_up_parts(solid->mesh, &sum, error));
    solid->length = fmin(bounding_diagonal(solid->mesh), sum);
    double given = solid->options.friction_speed;
    solid->collide.slip_speed = given > 0.0 ? given : SURFACE_FRICTION_SPEED * solid->length;
    solid->touch.slip_speed = given > 0.0 ? given : POINT_FRICTION_SPEED * solid->length;
    return KILN_OK;
}

static const uint32_t *materials_of(const kiln_solid *solid)
{
    const kiln_field *field = kiln_mesh_field(solid->mesh, KILN_ON_TET, "material");
    return (const uint32_t *)(const void *)field->data;
}

/* Also checks that a live tet has a material that exists. A field "mass" (kg, conserve) goes before
 * volumes, which change when matter flows or is remeshed. */
static kiln_status weigh_tet(const kiln_solid *solid, const uint32_t *material_of, uint32_t t,
                             kiln_error *error)
{
    const kiln_mesh *mesh = solid->mesh;
    const double *density = solid->fields.density, *kept = solid->fields.mass;
    solid->tet_mass.data[t] = 0.0;
    if (!kiln_tet_live(mesh, t))
        return KILN_OK;
    if (material_of[t] >= solid->materials.count)
        return kiln_fail(error, KILN_ERR_INPUT, "material", 0, -1,
                         "tet %u has material %u, there are %zu", t, material_of[t],
                         solid->materials.count);
    const kiln_material *m = &solid->materials.data[material_of[t]];
    solid->tet_mass.data[t] =
        kept ? kept[t] : kiln_mesh_tet_volume(mesh, t) * (density ? density[t] : m->density);
    if (kiln_collide_is_used(&solid->collide)) /* Young's; of liquid that of whom it meets */
        solid->modulus.data[t] =
            m->liquid ? INFINITY : m->mu * (3.0 * m->lambda + 2.0 * m->mu) / (m->lambda + m->mu);
    return KILN_OK;
}

static const double *tet_column(const kiln_solid *solid, const char *name)
{
    const kiln_field *field = kiln_mesh_field(solid->mesh, KILN_ON_TET, name);
    return field ? (const double *)(const void *)field->data : NULL;
}

/* Masses and moduli of all tets, or of those that changed. */
static kiln_status weigh_tets(kiln_solid *solid, const kiln_changes *changes, kiln_error *error)
{
    const uint32_t *material_of = materials_of(solid);
    uint32_t tets = solid->mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(solid->context, &solid->tet_mass, tets, error));
    if (kiln_collide_is_used(&solid->collide))
        KILN_TRY(kiln_array_reserve(solid->context, &solid->modulus, tets, error));
    solid->fields.density = tet_column(solid, "density");
    solid->fields.mass = tet_column(solid, "mass");
    for (uint32_t t = 0; t < tets && !changes; t++)
        KILN_TRY(weigh_tet(solid, material_of, t, error));
    for (size_t i = 0; changes && i < changes->rows[KILN_ON_TET].count; i++)
        KILN_TRY(weigh_tet(solid, material_of, changes->rows[KILN_ON_TET].data[i], error));
    for (size_t i = 0; changes && i < changes->reweighed.count; i++)
        KILN_TRY(weigh_tet(solid, material_of, changes->reweighed.data[i], error));
    return KILN_OK;
}

static kiln_status build_spin(kiln_solid *s, kiln_error *error)
{
    const uint32_t *material_of = materials_of(s);
    KILN_TRY(kiln_spin_build(&s->spin, s->mesh, s->mass, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->tremble, s->spin.parts.count, error));
    for (uint32_t t = 0; t < s->mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(s->mesh, t) &&
            s->materials.data[material_of[t]].model->dilation == KILN_DILATION_TRACE)
            s->spin.parts.data[s->mesh->info[t].part].stiff = true;
    return KILN_OK;
}

static kiln_status build_liquid(kiln_solid *s, kiln_error *error)
{
    KILN_TRY(
        kiln_liquid_build(&s->liquid, s->mesh, s->all, s->materials.data, materials_of(s), error));
    kiln_newton_set_equality(s->newton, s->liquid.used ? &s->liquid.equality : NULL);
    return KILN_OK;
}

/* All that depends on materials. */
static kiln_status build_bodies(kiln_solid *s, kiln_error *error)
{
    KILN_TRY(kiln_newton_expect_changes(s->newton, NULL, 0, NULL, error));
    KILN_TRY(weigh_tets(s, NULL, error));
    KILN_TRY(kiln_mass_build(s->mass, s->mesh, s->options.mass, s->tet_mass.data, error));
    KILN_TRY(build_spin(s, error));
    KILN_TRY(kiln_elements_build(s->elements, s->mesh, s->materials.data, s->materials.count,
                                 materials_of(s), error));
    if (s->mu)
        KILN_TRY(kiln_elements_set_lame(s->elements, s->mu, s->lambda, error));
    KILN_TRY(kiln_nodal_pressure_build(s->pressure, error));
    KILN_TRY(build_liquid(s, error));
    KILN_TRY(kiln_damping_build(s->damping, s->mesh, s->options.mass, s->tet_mass.data, error));
    if (kiln_collide_is_used(&s->collide))
        KILN_TRY(kiln_collide_build(&s->collide, s->mesh, s->modulus.data, error));
    return kiln_touch_build(&s->touch, s->mesh, s->length, error);
}

static kiln_status update_bodies(kiln_solid *s, const kiln_changes *changes, kiln_error *error)
{
    KILN_TRY(weigh_tets(s, changes, error));
    KILN_TRY(kiln_mass_update(s->mass, s->mesh, s->tet_mass.data, changes, error));
    KILN_TRY(build_spin(s, error));
    KILN_TRY(kiln_elements_update(s->elements, s->mesh, materials_of(s), changes, error));
    if (s->mu)
        KILN_TRY(kiln_elements_set_lame(s->elements, s->mu, s->lambda, error));
    KILN_TRY(kiln_nodal_pressure_update(s->pressure, changes, error));
    KILN_TRY(build_liquid(s, error));
    KILN_TRY(kiln_damping_build(s->damping, s->mesh, s->options.mass, s->tet_mass.data, error));
    if (kiln_collide_is_used(&s->collide))
        KILN_TRY(kiln_collide_update(&s->collide, s->mesh, s->modulus.data, changes, error));
    else if (!kiln_nodal_pressure_is_used(s->pressure) && s->more.count == 0) {
        /* Elements alone couple vertices. */
        kiln_cliques around = kiln_elements_cliques_around(s->elements);
        KILN_TRY(kiln_newton_expect_changes(s->newton, changes->retied_vertices.data,
                                            changes->retied_vertices.count, &around, error));
    }
    return kiln_touch_update(&s->touch, s->mesh, s->length, changes, error);
}

static kiln_status make_room(kiln_solid *s, kiln_error *error)
{
    s->all = kiln_collide_rows(&s->collide, s->rows);
    size_t size = 3 * s->all;
    KILN_TRY(kiln_array_reserve(s->context, &s->x, size, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->centre, size, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->origin, size, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->rate, size, error));
    if (s->options.integrator == KILN_NEWMARK) {
        KILN_TRY(kiln_array_reserve(s->context, &s->rate2, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->brief, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->relief, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->start_a, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->start_force, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->kick, size, error));
    }
    if (s->options.integrator == KILN_NEWMARK || s->touch.obstacle_count > 0)
        KILN_TRY(kiln_array_reserve(s->context, &s->hit, size, error));
    if (s->options.integrator == KILN_BDF2) {
        KILN_TRY(kiln_array_reserve(s->context, &s->stage_x, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->stage_v, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->start_force, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->cut, size, error));
    }
    KILN_TRY(kiln_array_reserve(s->context, &s->reaction, size, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->contact, size, error));
    if (kiln_collide_is_used(&s->collide))
        KILN_TRY(kiln_array_reserve(s->context, &s->guess, size, error));
    if (s->all > s->rows)
        KILN_TRY(kiln_array_reserve(s->context, &s->begin, size, error));
    if (s->all > s->rows && s->options.integrator == KILN_NEWMARK) {
        KILN_TRY(kiln_array_reserve(s->context, &s->carried, size, error));
        KILN_TRY(kiln_array_reserve(s->context, &s->besides, size, error));
    }
    memset(s->reaction.data, 0, size * sizeof(double));
    memset(s->contact.data, 0, size * sizeof(double));
    return kiln_solid_watch_room(s, error);
}

static kiln_status make_ready(kiln_solid *solid, kiln_error *error)
{
    solid->rows = solid->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(measure(solid, error));
    KILN_TRY(kiln_collide_build_walls(&solid->collide, error));
    return make_room(solid, error); /* constraints and loads are reset when the driver is asked */
}

kiln_status kiln_solid_rebuild(kiln_solid *solid, const kiln_material *materials, kiln_error *error)
{
    if (materials)
        memcpy(solid->materials.data, materials, solid->materials.count * sizeof *materials);
    solid->flows = false;
    for (size_t m = 0; m < solid->materials.count; m++)
        solid->flows |= solid->materials.data[m].plastic.flows;
    KILN_TRY(make_ready(solid, error));
    return build_bodies(solid, error);
}

kiln_status kiln_solid_update(kiln_solid *solid, const kiln_changes *changes, kiln_error *error)
{
    KILN_TRY(make_ready(solid, error));
    return changes->all ? build_bodies(solid, error) : update_bodies(solid, changes, error);
}

kiln_status kiln_solid_reform(kiln_solid *solid, kiln_error *error)
{
    KILN_TRY(kiln_elements_reform(solid->elements, solid->mesh, error));
    KILN_TRY(measure(solid, error));
    kiln_touch_measure(&solid->touch, solid->length);
    if (kiln_collide_is_used(&solid->collide))
        kiln_collide_reform(&solid->collide);
    kiln_nodal_pressure_reform(solid->pressure);
    return KILN_OK;
}

kiln_status kiln_solid_add_term(kiln_solid *solid, kiln_term *term, kiln_error *error)
{
    return kiln_array_push(solid->context, &solid->more, term, error);
}

void kiln_solid_set_viscosity(kiln_solid *solid, const double *viscosity)
{
    kiln_damping_set_viscosity(solid->damping, viscosity);
}

void kiln_solid_set_least_volume(kiln_solid *solid, double volume)
{
    kiln_damping_set_least_volume(solid->damping, volume);
}

void kiln_solid_set_lame(kiln_solid *solid, const double *mu, const double *lambda)
{
    solid->mu = mu;
    solid->lambda = lambda;
}

void kiln_solid_set_review(kiln_solid *solid, kiln_solid_review review)
{
    solid->review = review;
}

void kiln_solid_start_at(kiln_solid *solid, const kiln_vec3 *places, uint32_t since)
{
    solid->start_at = places;
    solid->since = since;
}

/* The history of a first step of two stages, or with an acceleration of its own, is in no column
 * that a change of the mesh could carry. */
kiln_integrator kiln_solid_tries_by(const kiln_solid *solid, const kiln_solid_clock *clock)
{
    bool moves = kiln_integrator_moves(solid->options.integrator);
    return moves && !(clock->h_before > 0.0) ? KILN_IMPLICIT_EULER : solid->options.integrator;
}

void kiln_solid_objective(const kiln_solid *solid, double h, const kiln_solid_clock *clock,
                          kiln_local_objective *out)
{
    bool own = !solid->went_by_euler; /* else the places that were tried are of another objective */
    *out = (kiln_local_objective){.mesh = solid->mesh,
                                  .materials = solid->materials.data,
                                  .material_count = solid->materials.count,
                                  .scheme = kiln_integrator_scheme(
                                      own ? kiln_solid_tries_by(solid, clock) : KILN_IMPLICIT_EULER,
                                      h, own ? clock->h_before : 0.0),
                                  .nodal = kiln_nodal_pressure_is_used(solid->pressure),
                                  .acceleration = kiln_loads_acceleration(solid->loads)};
    bool moves = out->scheme.scale > 0.0;
    out->brief.tau = out->scheme.impulses ? h : out->scheme.tau;
    out->brief.weight = out->scheme.impulses ? 2.0 : 1.0;
    out->brief.any = moves && kiln_damping_is_used(solid->damping);
    out->brief.steady = moves && solid->steady.count > 0;
}

/* Stiffness and viscosity as the elements have them, which are those of the step. */
static void fill_stiffness(const kiln_solid *s)
{
    const kiln_field *lame = kiln_mesh_field(s->mesh, KILN_ON_TET, KILN_FIELD_STIFFNESS);
    const kiln_field *viscosity = kiln_mesh_field(s->mesh, KILN_ON_TET, KILN_FIELD_VISCOSITY);
    const double *given = kiln_damping_viscosity(s->damping);
    for (size_t n = 0; n < kiln_elements_room(s->elements) && lame; n++) {
        kiln_element e = kiln_elements_at(s->elements, n);
        if (e.slot == KILN_NONE)
            continue;
        ((double(*)[2])(void *)lame->data)[e.slot][0] = e.mu;
        ((double(*)[2])(void *)lame->data)[e.slot][1] = e.lambda;
        if (viscosity)
            ((double *)(void *)viscosity->data)[e.slot] =
                given ? given[e.slot] : s->materials.data[e.material].viscosity;
    }
}

void kiln_solid_fill_matter(const kiln_solid *solid)
{
    const kiln_mesh *mesh = solid->mesh;
    fill_stiffness(solid);
    const kiln_field *steady = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_STEADY);
    if (steady && solid->steady.count > 0)
        memcpy(steady->data, solid->steady.data, solid->steady.count * sizeof(double));
    const kiln_field *yield = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_YIELD);
    const kiln_field *rest = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_REST);
    const double *volume = kiln_offsets_of(mesh).rest_volume;
    if (yield)
        kiln_yield_surfaces_column(solid->elements, (double(*)[2])(void *)yield->data);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && rest && volume; t++)
        if (kiln_tet_live(mesh, t))
            ((double *)(void *)rest->data)[t] = volume[t] / kiln_mesh_tet_volume(mesh, t);
}

bool kiln_solid_surface(const kiln_solid *solid, double h, const kiln_local_objective *objective,
                        kiln_vicinity_surface *out)
{
    const kiln_scheme *scheme = &objective->scheme;
    size_t first = 3 * solid->rows;
    if (!kiln_collide_is_used(&solid->collide))
        return false;
    *out = (kiln_vicinity_surface){.context = solid->context,
                                   .collide = &solid->collide,
                                   .places = (const kiln_vec3 *)(const void *)solid->x.data,
                                   .weight = scheme->impulses ? 2.0 : 1.0,
                                   .tau = scheme->impulses ? h : scheme->tau,
                                   .over = scheme->impulses};
    if (solid->all > solid->rows) {
        const double *begin = kiln_solid_begin(solid) + first;
        const double *origin = scheme->impulses ? begin : solid->origin.data + first;
        out->walls = out->places + solid->rows;
        out->wall_begin = (const kiln_vec3 *)(const void *)begin;
        out->wall_origin = (const kiln_vec3 *)(const void *)origin;
    }
    return true;
}

double kiln_solid_tolerance(const kiln_solid *solid, double h)
{
    const kiln_attempt t = {.solid = (kiln_solid *)solid,
                            .scheme = kiln_integrator_scheme(solid->options.integrator, h, h),
                            .h = h};
    return kiln_attempt_tolerance(&t);
}

void kiln_solid_forget(kiln_solid *solid)
{
    kiln_newton_forget(solid->newton);
    kiln_collide_forget(&solid->collide);
}

/* Of the thickness: surfaces that are pressed as hard as Young's modulus are as near (contact.md).
 */
static const double GUARDED = 0.5;

/* A clearance that is missing by a little is made good in the next step. */
static kiln_clearance_rules rules_of(const kiln_solid *solid)
{
    const kiln_contact_options *o = &solid->collide.options;
    return (kiln_clearance_rules){.since = KILN_SINCE_EVER,
                                  .table = o->pairs,
                                  .gap = CLEARANCE * o->thickness,
                                  .between = !o->self,
                                  .within = !o->bodies};
}

kiln_status kiln_solid_is_clear(const kiln_solid *solid, uint32_t since, bool at_begin, bool *clear,
                                kiln_keep_out *guard, kiln_error *error)
{
    kiln_clearance found = {0};
    const kiln_contact_options *o = &solid->collide.options;
    kiln_clearance_rules rules = rules_of(solid);
    rules.since = since;
    rules.at_begin = at_begin;
    if (guard) {
        rules.where = &guard->shut;
        rules.before = guard;
        rules.stood = kiln_keep_out_stood;
    }
    if (o->bodies || o->self)
        KILN_TRY(kiln_contact_clearance(solid->mesh, &rules, &found, error));
    *clear = found.pairs == 0;
    rules.gap =
        0.0; /* a pin presses a face of a coarse mesh as near as it likes: contact/keep_out.h */
    if (*clear && o->walls)
        KILN_TRY(kiln_wall_clearance(solid->mesh, &rules, &solid->collide.walls, &found, error));
    *clear = found.pairs == 0;
    return KILN_OK;
}

kiln_status kiln_solid_find_near(const kiln_solid *solid, const kiln_mesh *mesh,
                                 const uint8_t *made, kiln_clearance *out, kiln_error *error)
{
    const kiln_contact_options *o = &solid->collide.options;
    kiln_clearance_rules rules = rules_of(solid);
    rules.made = made;
    *out = (kiln_clearance){0};
    return o->bodies || o->self ? kiln_contact_clearance(mesh, &rules, out, error) : KILN_OK;
}

kiln_status kiln_solid_keep_out(const kiln_solid *solid, bool at_begin, kiln_keep_out *guard,
                                kiln_error *error)
{
    const kiln_contact_options *o = &solid->collide.options;
    *guard = (kiln_keep_out){0};
    if (!o->bodies && !o->walls && !o->self)
        return KILN_OK;
    const kiln_keep_out_rules rules = {.walls = o->walls ? &solid->collide.walls : NULL,
                                       .at_begin = at_begin,
                                       .bodies = o->bodies,
                                       .self = o->self,
                                       .table = o->pairs,
                                       .gap = GUARDED * o->thickness};
    return kiln_keep_out_begin(guard, solid->mesh, &rules, error);
}

void kiln_solid_set_hardness(kiln_solid *solid, double hardness, bool adapts)
{
    solid->collide.hardness = hardness;
    solid->collide.adapts = adapts || solid->collide.options.adaptive;
}
double kiln_solid_hardness(const kiln_solid *solid)
{
    return solid->collide.hardness;
}

kiln_constraints *kiln_solid_constraints(kiln_solid *solid)
{
    return &solid->given;
}
kiln_loads *kiln_solid_loads(kiln_solid *solid)
{
    return solid->loads;
}
kiln_elements *kiln_solid_elements(kiln_solid *solid)
{
    return solid->elements;
}
kiln_mass *kiln_solid_mass(kiln_solid *solid)
{
    return solid->mass;
}
kiln_mesh *kiln_solid_mesh(kiln_solid *solid)
{
    return solid->mesh;
}
const double *kiln_solid_reaction(const kiln_solid *solid)
{
    return solid->reaction.data;
}
const double *kiln_solid_hit(const kiln_solid *solid)
{
    return solid->hit.data;
}
const double *kiln_solid_contact(const kiln_solid *solid)
{
    return solid->contact.data;
}

kiln_push_rule kiln_solid_push_rule(const kiln_solid *solid)
{
    return solid->rule;
}

static kiln_vec3 row_of(const kiln_f64_array *column, size_t row)
{
    const double *at = column->data + 3 * row;
    return kiln_v3(at[0], at[1], at[2]);
}

/* What holds its points. To newmark it is brief, and leaves nothing to the next step. */
static void wall_push(const kiln_solid *s, uint32_t obstacle, kiln_vec3 about, kiln_push *force,
                      kiln_push *torque)
{
    *force = *torque = (kiln_push){0};
    for (size_t i = 0; i < s->all - s->rows; i++) {
        if (s->collide.walls.obstacle.data[i] != obstacle)
            continue;
        kiln_push push = {.end = row_of(&s->reaction, s->rows + i)};
        if (!s->rule.by_left)
            push.before = s->rule.staged ? row_of(&s->start_force, s->rows + i) : push.end;
        kiln_vec3 arm = kiln_v3_sub(row_of(&s->x, s->rows + i), about);
        kiln_push turn = kiln_push_torque(arm, &push);
        kiln_push_add(force, &push);
        kiln_push_add(torque, &turn);
    }
}

void kiln_solid_obstacle_push(const kiln_solid *solid, uint32_t obstacle, kiln_vec3 about,
                              kiln_push *force, kiln_push *torque)
{
    if (solid->collide.options.walls)
        wall_push(solid, obstacle, about, force, torque);
    else
        kiln_touch_push(&solid->touch, obstacle, solid->x.data, about, force, torque);
}

kiln_push kiln_solid_held_push(const kiln_solid *solid, uint32_t vertex)
{
    kiln_push push = {.end = row_of(&solid->reaction, vertex)};
    push.before = push.end; /* as good as known */
    if (solid->hit.data)
        push.hit = row_of(&solid->hit, vertex);
    if (solid->rule.by_left)
        push.left = kiln_v3_add(push.end, row_of(&solid->kick, vertex));
    if (solid->cut.data)
        push.cut = row_of(&solid->cut, vertex);
    if (solid->rule.by_left || solid->rule.staged)
        push.before = row_of(&solid->start_force, vertex);
    return push;
}

double kiln_solid_strain_energy(kiln_solid *solid, const double *x)
{
    kiln_term *elastic = kiln_elements_term(solid->elements);
    double energy = elastic->value(elastic->self, x);
    if (kiln_nodal_pressure_is_used(solid->pressure)) {
        kiln_term *pressure = kiln_nodal_pressure_term(solid->pressure);
        energy += pressure->value(pressure->self, x);
    }
    return energy;
}

double kiln_solid_elastic_energy(kiln_solid *solid, const double *x)
{
    double energy = kiln_solid_strain_energy(solid, x);
    if (solid->liquid.used) {
        kiln_term *surface = kiln_surface_energy_term(solid->liquid.surface);
        energy += surface->value(surface->self, x);
    }
    return energy;
}

size_t kiln_solid_bytes(const kiln_solid *s)
{
    size_t columns = s->x.capacity + s->centre.capacity + s->origin.capacity + s->rate.capacity +
                     s->rate2.capacity + s->brief.capacity + s->relief.capacity +
                     s->start_a.capacity + s->stage_x.capacity + s->stage_v.capacity +
                     s->reaction.capacity + s->contact.capacity + s->start_force.capacity +
                     s->hit.capacity + s->kick.capacity + s->cut.capacity + s->guess.capacity +
                     s->begin.capacity + s->carried.capacity + s->besides.capacity +
                     s->tet_mass.capacity + s->modulus.capacity + s->steady.capacity +
                     s->load.capacity + s->gap.capacity + s->slip.capacity;
    size_t constraints = s->given.rows + s->active.rows;
    return columns * sizeof(double) + constraints * (sizeof(kiln_vec3) + 1) +
           kiln_elements_bytes(s->elements) + kiln_nodal_pressure_bytes(s->pressure) +
           kiln_mass_bytes(s->mass) + kiln_damping_bytes(s->damping) + kiln_loads_bytes(s->loads) +
           kiln_newton_bytes(s->newton) + kiln_touch_bytes(&s->touch) +
           kiln_collide_bytes(&s->collide) + kiln_spin_bytes(&s->spin) +
           s->tremble.capacity * sizeof(kiln_part_tremble) +
           s->slide.capacity * sizeof(kiln_part_slide) + sizeof *s;
}
