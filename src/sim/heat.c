/* The module of heat: temperatures are a field of vertices, found before the bodies move in a step.
 * Matter that would expand then pushes (fem/thermal_stress.h). What was compressed or has flowed in
 * a step warms the next. Velocities at the begin would not do: what hits a wall would be warmed as
 * if it went on into it. */
#include "sim/heat.h"

#include "fem/plasticity.h"
#include "mesh/rewind.h"

#include <math.h>
#include <string.h>

/* Of tets: the plastic strain whose work has become heat; the room in the world, m^3/kg, by which
 * compression has made heat. Of vertices: heat, J/kg, which transfers keep where the same
 * temperature may be that of more or less of it. */
#define FIELD_WARMED "strain_warmed"
#define FIELD_ROOM   "room_warmed"
#define FIELD_HEAT   "enthalpy"

static double *temperature_of(const kiln_world_heat *h)
{
    return kiln_world_column(h->world, KILN_ON_VERTEX, KILN_FIELD_TEMPERATURE);
}

static bool expands(const kiln_scene *scene)
{
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].thermal.expansion != 0.0)
            return true;
    return false;
}

/* A solid and what it melts to have the same heat at the same temperature, whichever of the two
 * matter is just now. */
static void join_phases(kiln_world_heat *h)
{
    const kiln_scene *scene = h->world->scene;
    for (size_t i = 0; i < scene->materials.count; i++) {
        uint32_t melt = scene->materials.data[i].melt;
        if (melt-- == 0)
            continue;
        double conductivity = h->thermal[melt].conductivity;
        h->thermal[i].more = h->thermal[melt].capacity - h->thermal[i].capacity;
        h->thermal[melt] = h->thermal[i];
        h->thermal[melt].conductivity = conductivity;
        h->bends |= h->thermal[i].more != 0.0;
    }
}

/* What heat has to know of every material, and what it cannot be together with. */
static kiln_status take_materials(kiln_world_heat *h, kiln_error *error)
{
    const kiln_scene *scene = h->world->scene;
    size_t size = scene->materials.count * sizeof *h->thermal;
    h->thermal = kiln_resize(h->world->context, NULL, 0, size + 1);
    if (!h->thermal)
        return kiln_fail_memory(error, size);
    for (size_t i = 0; i < scene->materials.count; i++) {
        const kiln_scene_material *m = &scene->materials.data[i];
        if (!m->thermal.conducts)
            return kiln_said_fail(scene, &m->said, error,
                                  "must say what heat does in it, since the scene has heat: "
                                  "thermal = thermal { conductivity = ..., capacity = ... }");
        h->thermal[i] = m->thermal.base;
        h->varies |= m->thermal.conductivity.evaluate != NULL;
        h->bends |= m->thermal.base.latent > 0.0;
    }
    join_phases(h);
    if (expands(scene) && scene->remesh.method == KILN_REMESH_ENERGY)
        return kiln_said_fail(scene, &h->settings->said, error,
                              "remesh.method \"energy\" does not know of matter that expands yet");
    return KILN_OK;
}

/* Each vertex has what its body says; one that bodies share is of the first. */
static kiln_status set_start(kiln_world_heat *h, kiln_error *error)
{
    const kiln_world *world = h->world;
    const kiln_mesh *mesh = world->mesh;
    double *T = temperature_of(h);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        uint32_t part = mesh->info[mesh->vertex[v].tet].part;
        const kiln_scene_body *body = &world->scene->bodies.data[mesh->parts.data[part].body];
        bool own = body->temperature.evaluate || !isnan(body->temperature.constant[0]);
        const kiln_quantity *said = own ? &body->temperature : &h->settings->temperature;
        const kiln_circumstances at = {.material = mesh->u[v], .world = mesh->x[v]};
        KILN_TRY(kiln_said_wrap(world->scene, own ? &body->said : &h->settings->said,
                                kiln_quantity_get(said, &at, &T[v], 1, error), error));
        if (!(T[v] >= 0.0))
            return kiln_said_fail(world->scene, own ? &body->said : &h->settings->said, error,
                                  "temperature must be 0 K or more, got %g at (%g, %g, %g)", T[v],
                                  at.material.x, at.material.y, at.material.z);
    }
    return KILN_OK;
}

static kiln_status add_fields(kiln_world_heat *h, kiln_error *error)
{
    kiln_world *world = h->world;
    kiln_mesh *mesh = world->mesh;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_TEMPERATURE, KILN_ON_VERTEX, KILN_F64, 1,
                                 KILN_RULE_MOMENTUM, error));
    KILN_TRY(set_start(h, error));
    h->works = world->flows && h->settings->plastic_work > 0.0;
    if (h->works)
        KILN_TRY(kiln_mesh_add_field(mesh, FIELD_WARMED, KILN_ON_TET, KILN_F64, 1,
                                     KILN_RULE_AVERAGE, error));
    if (h->works || world->melts || expands(world->scene))
        KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_HEAT_COMES, KILN_ON_TET, KILN_F64, 1,
                                     KILN_RULE_CONSERVE, error));
    if (h->bends && world->remeshes)
        KILN_TRY(kiln_mesh_add_field(mesh, FIELD_HEAT, KILN_ON_VERTEX, KILN_F64, 1,
                                     KILN_RULE_MOMENTUM, error));
    if (!expands(world->scene))
        return KILN_OK;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_REFERENCE, KILN_ON_VERTEX, KILN_F64, 1,
                                 KILN_RULE_INTERPOLATE, error));
    memcpy(kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_REFERENCE), temperature_of(h),
           vertices * sizeof(double));
    KILN_TRY(
        kiln_mesh_add_field(mesh, FIELD_ROOM, KILN_ON_TET, KILN_F64, 1, KILN_RULE_AVERAGE, error));
    return kiln_thermal_stress_create(world->context, &h->stress, error);
}

/* Words of heat in a scene without it. */
static kiln_status check_without(const kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    static const char *const missing = "is of heat, which the scene does not have: heat = heat {}";
    for (size_t i = 0; i < scene->loads.count; i++)
        if (scene->loads.data[i].kind >= KILN_LOAD_HEAT)
            return kiln_said_fail(scene, &scene->loads.data[i].said, error, "%s", missing);
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].thermal.conducts)
            return kiln_said_fail(scene, &scene->materials.data[i].said, error, "thermal %s",
                                  missing);
    return KILN_OK;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_heat_settings *settings = kiln_scene_settings(world->scene, &kiln_heat_schema);
    if (!settings)
        return check_without(world, error);
    kiln_world_heat *h = kiln_module_make(world, sizeof *h, self, error);
    if (!h)
        return KILN_ERR_MEMORY;
    h->world = world;
    h->settings = settings;
    KILN_TRY(take_materials(h, error));
    return add_fields(h, error);
}

static void destroy(void *self)
{
    kiln_world_heat *h = self;
    kiln_context *context = h->world->context;
    kiln_heat_destroy(h->heat);
    kiln_thermal_stress_destroy(h->stress);
    if (h->thermal)
        kiln_release(context, h->thermal,
                     h->world->scene->materials.count * sizeof *h->thermal + 1);
    kiln_array_free(context, &h->mass);
    kiln_array_free(context, &h->conductivity);
    kiln_array_free(context, &h->mises);
    kiln_array_free(context, &h->shut);
    kiln_array_free(context, &h->matter);
    kiln_world_heat_free_contact(h);
}

/* --- a step --- */

/* kg of each tet: the field, or by density where no mass can change. */
static kiln_status find_mass(kiln_world_heat *h, kiln_heat_matter *matter, kiln_error *error)
{
    const kiln_world *world = h->world;
    const kiln_mesh *mesh = world->mesh;
    const double *density = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_DENSITY);
    matter->mass = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_MASS);
    if (matter->mass)
        return KILN_OK;
    size_t tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(world->context, &h->mass, tets + 1, error));
    for (uint32_t t = 0; t < tets; t++)
        h->mass.data[t] = kiln_mesh_tet_volume(mesh, t) *
                          (density ? density[t] : world->materials[matter->material[t]].density);
    matter->mass = h->mass.data;
    return KILN_OK;
}

static kiln_status find_conductivity(kiln_world_heat *h, kiln_heat_matter *matter,
                                     kiln_error *error)
{
    const kiln_world *world = h->world;
    size_t tets = world->mesh->table[KILN_ON_TET].used;
    if (!h->varies)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(world->context, &h->conductivity, tets + 1, error));
    for (uint32_t t = 0; t < tets; t++) {
        const kiln_scene_material *m = &world->scene->materials.data[matter->material[t]];
        kiln_circumstances at = kiln_world_circumstances(world, t);
        double *k = &h->conductivity.data[t];
        KILN_TRY(kiln_said_wrap(world->scene, &m->said,
                                kiln_quantity_get(&m->thermal.conductivity, &at, k, 1, error),
                                error));
        if (!(*k >= 0.0))
            return kiln_said_fail(world->scene, &m->said, error,
                                  "conductivity must be 0 or more, got %g W/(m K) at %g K", *k,
                                  at.temperature);
    }
    matter->conductivity = h->conductivity.data;
    return KILN_OK;
}

static kiln_status find_matter(kiln_world_heat *h, kiln_heat_matter *matter, kiln_error *error)
{
    *matter = (kiln_heat_matter){.thermal = h->thermal,
                                 .material = kiln_world_material_of(h->world->mesh)};
    KILN_TRY(find_mass(h, matter, error));
    return find_conductivity(h, matter, error);
}

/* (3 lambda + 2 mu) alpha, Pa/K. */
static double coupling_of(const kiln_world_heat *h, uint32_t tet)
{
    const kiln_world *world = h->world;
    uint32_t row = kiln_world_material_of(world->mesh)[tet];
    const kiln_material *m = &world->materials[row];
    const double *lame = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_LAME);
    double mu = lame && world->scene->materials.data[row].varies ? lame[2 * (size_t)tet] : m->mu;
    double lambda =
        lame && world->scene->materials.data[row].varies ? lame[2 * (size_t)tet + 1] : m->lambda;
    return (3.0 * lambda + 2.0 * mu) * world->scene->materials.data[row].thermal.expansion;
}

static double mean_of(const kiln_mesh *mesh, uint32_t tet, const double *values)
{
    const uint32_t *v = mesh->tet[tet].v;
    return 0.25 * (values[v[0]] + values[v[1]] + values[v[2]] + values[v[3]]);
}

static double room_of(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    return kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
}

/* What was compressed grows warm (SLI eq. 10): -(3 lambda + 2 mu) alpha T times the growth of its
 * volume since the last time. Transfers make means of that volume as they do of the shape, so what
 * remeshing gives is taken into account and no cycle of both makes heat. */
static kiln_status add_compression(kiln_world_heat *h, kiln_error *error)
{
    kiln_mesh *mesh = h->world->mesh;
    const double *T = temperature_of(h);
    kiln_heat_matter matter = {.material = kiln_world_material_of(mesh)};
    if (!h->stress || !h->settings->compression || !h->world->moves)
        return KILN_OK;
    KILN_TRY(find_mass(h, &matter, error));
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, FIELD_ROOM, KILN_SAVE_COPY, error));
    double *room = kiln_world_column(h->world, KILN_ON_TET, FIELD_ROOM);
    double *comes = kiln_world_column(h->world, KILN_ON_TET, KILN_FIELD_HEAT_COMES);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        double now = room_of(mesh, t);
        comes[t] -= coupling_of(h, t) * mean_of(mesh, t, T) * (now - room[t] * matter.mass[t]);
        room[t] = now / matter.mass[t];
    }
    return KILN_OK;
}

/* What flow and compression have left, spread over the step. */
static void add_work(kiln_world_heat *h, double length)
{
    const kiln_mesh *mesh = h->world->mesh;
    double *work = kiln_world_column(h->world, KILN_ON_TET, KILN_FIELD_HEAT_COMES);
    for (uint32_t t = 0; work && t < mesh->table[KILN_ON_TET].used; t++) {
        for (int k = 0; k < 4 && work[t] != 0.0; k++)
            kiln_heat_supply(h->heat, mesh->tet[t].v[k], 0.25 * work[t] / length);
        work[t] = 0.0;
    }
}

static void press(kiln_world_heat *h)
{
    const kiln_world *world = h->world;
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    const double *T = temperature_of(h);
    const double *start = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_REFERENCE);
    double *pressure = kiln_thermal_stress_pressures(h->stress);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double said = world->scene->materials.data[material[t]].thermal.reference;
        double reference = isnan(said) ? mean_of(mesh, t, start) : said;
        pressure[t] = -coupling_of(h, t) * (mean_of(mesh, t, T) - reference);
    }
}

static kiln_status collect(kiln_world_heat *h, const kiln_interval *interval, kiln_error *error)
{
    kiln_heat_clear(h->heat);
    KILN_TRY(kiln_world_heat_load(h, interval->begin, interval->end, error));
    KILN_TRY(kiln_world_heat_join(h, error));
    add_work(h, interval->end - interval->begin);
    return KILN_OK;
}

/* Materials with the same heat at the same temperature. */
static bool are_alike(const kiln_world_heat *h, uint32_t a, uint32_t b)
{
    const kiln_scene_material *row = h->world->scene->materials.data;
    return a == b || row[a].melt == b + 1 || row[b].melt == a + 1;
}

/* Parts of which heat alone says the temperature: with several materials it would not, and what
 * transfers make of their means would warm one and cool the other. */
static kiln_status find_alike(kiln_world_heat *h, kiln_error *error)
{
    const kiln_mesh *mesh = h->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    size_t parts = mesh->parts.count;
    KILN_TRY(kiln_array_reserve(h->world->context, &h->matter, 2 * parts + 1, error));
    uint32_t *seen = h->matter.data + parts; /* not 0: some tet of it */
    memset(seen, 0, parts * sizeof *seen);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t part = mesh->info[t].part, *of = &h->matter.data[part];
        if (!kiln_tet_live(mesh, t))
            continue;
        if (!seen[part])
            *of = material[t];
        else if (*of != KILN_NONE && !are_alike(h, *of, material[t]))
            *of = KILN_NONE;
        seen[part] = 1;
    }
    return KILN_OK;
}

/* Of a vertex: what heat is by temperature there; NULL: no transfer goes by it. */
static const kiln_thermal *thermal_at(const kiln_world_heat *h, uint32_t vertex)
{
    const kiln_mesh *mesh = h->world->mesh;
    uint32_t matter = h->matter.data[mesh->info[mesh->vertex[vertex].tet].part];
    return matter == KILN_NONE ? NULL : &h->thermal[matter];
}

/* Heat by mass, for transfers. */
static kiln_status note_heat(kiln_world_heat *h, kiln_error *error)
{
    kiln_mesh *mesh = h->world->mesh;
    if (!kiln_mesh_field(mesh, KILN_ON_VERTEX, FIELD_HEAT))
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, FIELD_HEAT, KILN_SAVE_ALL, error));
    KILN_TRY(find_alike(h, error));
    double *heat = kiln_world_column(h->world, KILN_ON_VERTEX, FIELD_HEAT);
    const double *T = temperature_of(h);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        const kiln_thermal *thermal = kiln_vertex_live(mesh, v) ? thermal_at(h, v) : NULL;
        heat[v] = thermal ? kiln_thermal_enthalpy(thermal, T[v]) : 0.0;
    }
    return KILN_OK;
}

/* Temperatures from what transfers have made of the heat. Elsewhere they keep their bits. */
static kiln_status follow_heat(kiln_world_heat *h, kiln_error *error)
{
    kiln_mesh *mesh = h->world->mesh;
    if (!kiln_mesh_field(mesh, KILN_ON_VERTEX, FIELD_HEAT) || h->world->state.step == 0)
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, FIELD_HEAT, KILN_SAVE_COPY, error));
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_TEMPERATURE, KILN_SAVE_COPY, error));
    KILN_TRY(find_alike(h, error));
    double *heat = kiln_world_column(h->world, KILN_ON_VERTEX, FIELD_HEAT), *T = temperature_of(h);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        const kiln_thermal *thermal = kiln_vertex_live(mesh, v) ? thermal_at(h, v) : NULL;
        if (!thermal || heat[v] == kiln_thermal_enthalpy(thermal, T[v]))
            continue;
        T[v] = kiln_thermal_temperature(thermal, heat[v]);
        heat[v] = kiln_thermal_enthalpy(thermal, T[v]);
    }
    return KILN_OK;
}

static kiln_status advance(void *self, const kiln_interval *interval, kiln_step_report *report,
                           kiln_error *error)
{
    kiln_world_heat *h = self;
    kiln_mesh *mesh = h->world->mesh;
    kiln_heat_matter matter;
    *report = (kiln_step_report){.element = KILN_NONE, .nearest = 1.0, .gap = NAN};
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, KILN_FIELD_TEMPERATURE, KILN_SAVE_COPY, error));
    if (kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_HEAT_COMES))
        KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, KILN_FIELD_HEAT_COMES, KILN_SAVE_COPY, error));
    KILN_TRY(find_matter(h, &matter, error));
    KILN_TRY(collect(h, interval, error));
    KILN_TRY(kiln_heat_step(h->heat, &matter, (kiln_heat_scheme)h->settings->scheme,
                            interval->end - interval->begin, temperature_of(h), &h->report, error));
    if (h->report.outcome != KILN_SOLVE_OK || !h->report.settled)
        report->outcome = KILN_STEP_HEAT;
    else if (h->stress)
        press(h);
    return report->outcome == KILN_STEP_DONE ? note_heat(h, error) : KILN_OK;
}

static kiln_status build(kiln_world_heat *h, kiln_error *error)
{
    const kiln_world *world = h->world;
    KILN_TRY(kiln_heat_build(h->heat, world->mesh, error));
    if (!h->stress)
        return KILN_OK;
    KILN_TRY(kiln_thermal_stress_build(h->stress, world->mesh, world->materials,
                                       kiln_world_material_of(world->mesh), error));
    kiln_elements_set_besides(kiln_solid_elements(world->solid),
                              kiln_thermal_stress_pressures(h->stress));
    press(h);
    return KILN_OK;
}

static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    (void)changes;
    KILN_TRY(follow_heat(self, error));
    return build(self, error);
}

static kiln_status material_moved(void *self, kiln_error *error)
{
    return build(self, error);
}

static kiln_status start(void *self, kiln_error *error)
{
    kiln_world_heat *h = self;
    const kiln_stepper stepper = {.self = h, .advance = advance};
    KILN_TRY(kiln_heat_create(h->world->context, &h->world->options.solver, &h->heat, error));
    KILN_TRY(build(h, error));
    KILN_TRY(note_heat(h, error)); /* a pass may come before the first step */
    kiln_heat_matter matter = {.thermal = h->thermal,
                               .material = kiln_world_material_of(h->world->mesh)};
    KILN_TRY(find_mass(h, &matter, error));
    h->report.heat = kiln_heat_stored(h->heat, &matter, temperature_of(h));
    double *room = kiln_world_column(h->world, KILN_ON_TET, FIELD_ROOM);
    for (uint32_t t = 0; room && t < h->world->mesh->table[KILN_ON_TET].used; t++)
        room[t] = room_of(h->world->mesh, t) / matter.mass[t];
    if (h->stress)
        KILN_TRY(kiln_solid_add_term(h->world->solid, kiln_thermal_stress_term(h->stress), error));
    return kiln_world_put_stepper_first(h->world, &stepper, error);
}

/* The work of what has flowed since: its stress times the strain, of the rest volume. */
static kiln_status add_flow(kiln_world_heat *h, kiln_error *error)
{
    const kiln_world *world = h->world;
    kiln_mesh *mesh = world->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    const double *strain = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN);
    if (!h->works || !strain)
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, FIELD_WARMED, KILN_SAVE_COPY, error));
    KILN_TRY(kiln_array_reserve(world->context, &h->mises, tets + 1, error));
    kiln_elements_output(kiln_solid_elements(world->solid), &mesh->x[0].x, KILN_OUTPUT_MISES,
                         h->mises.data);
    double *warmed = kiln_world_column(world, KILN_ON_TET, FIELD_WARMED);
    double *work = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_HEAT_COMES);
    const kiln_offsets offsets = kiln_offsets_of(mesh);
    for (uint32_t t = 0; t < tets; t++) {
        double grown = strain[t] - warmed[t];
        double volume =
            offsets.rest_volume ? offsets.rest_volume[t] : kiln_mesh_tet_volume(mesh, t);
        warmed[t] = strain[t];
        if (grown > 0.0)
            work[t] += h->settings->plastic_work * h->mises.data[t] * grown * volume;
    }
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    kiln_world_heat *h = self;
    KILN_TRY(add_compression(h, error));
    return add_flow(h, error);
}

static void step_back(void *self)
{
    const kiln_world_heat *h = self;
    h->world->stale |= h->stress != NULL; /* pressures are of temperatures that are gone */
}

static void measure(const void *self, kiln_stats *stats)
{
    const kiln_world_heat *h = self;
    const double *T = temperature_of(h);
    size_t vertices = h->world->mesh->table[KILN_ON_VERTEX].used;
    stats->temperature_min = stats->temperature_max = T[0];
    for (size_t v = 1; v < vertices; v++) {
        stats->temperature_min = fmin(stats->temperature_min, T[v]);
        stats->temperature_max = fmax(stats->temperature_max, T[v]);
    }
    stats->heat = h->report.heat;
    stats->heat_in = h->report.received;
}

const kiln_module kiln_module_heat = {.name = "heat",
                                      .schema = &kiln_heat_schema,
                                      .create = create,
                                      .start = start,
                                      .destroy = destroy,
                                      .after_step = after_step,
                                      .step_back = step_back,
                                      .mesh_changed = mesh_changed,
                                      .material_moved = material_moved,
                                      .measure = measure};
