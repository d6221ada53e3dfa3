/* The module of matter that melts and freezes: after a step tets become what their temperature
 * says.
 *
 * P1  A tet melts when more than MELTS of it has, by the mean over its corners, and freezes when
 *     less than FREEZES of it is left: in between it stays what it is, so none goes to and fro.
 * P2  Mass, places, velocities and heat stay to the bit; a solid and its melt have the same heat at
 *     the same temperature (heat.c). The energy of elastic strain becomes heat in the next step.
 * P3  What melts forgets its shape, and its rest volume goes by the densities of the two.
 * P4  What freezes begins anew: its rest shape is the shape it has, larger or smaller as a whole by
 *     the densities. What its rest volume was off by stays with the liquid of its part.
 * P5  A solid and its melt are one region of the mesh (assemble.c): remeshing goes across their
 *     border, which temperature draws anew after each step. */
#include "fem/offset.h"
#include "fem/plasticity.h"
#include "mesh/rewind.h"
#include "sim/world_impl.h"

#include <math.h>
#include <string.h>

static const double MELTS = 0.6, FREEZES = 0.4; /* P1 */
/* Of a volume: what liquid takes at once of what freezing leaves; the rest is what was frozen. */
static const double MOST_OWED = 0.02;

typedef struct phases {
    kiln_world *world;
    kiln_u32_array other; /* [material] what it becomes; KILN_NONE: it stays */
    kiln_u32_array turn;  /* tets that change, scratch */
    kiln_f64_array energy;
    KILN_ARRAY_OF(uint8_t)
    was_solid; /* [vertex slot] scratch */
    KILN_ARRAY_OF(struct phase_part)
    parts;         /* [part] scratch */
    size_t turned; /* tets, in the last step */
} phases;

typedef struct phase_part {
    double owed;   /* m^3 that freezing leaves to the liquid */
    double liquid; /* m^3, rest volume of what is liquid now */
    double frozen; /* m^3, of what has frozen in this step */
} phase_part;

static void plan(kiln_world *world)
{
    for (size_t i = 0; i < world->scene->materials.count; i++)
        world->melts |= world->scene->materials.data[i].melt != 0;
}

/* What the words of a pair must be for one to become the other. */
static kiln_status check_pair(const kiln_scene *scene, const kiln_scene_material *solid,
                              kiln_error *error)
{
    const kiln_scene_material *melt = &scene->materials.data[solid->melt - 1];
    if (!melt->base.liquid)
        return kiln_said_fail(scene, &solid->said, error,
                              "melt must be a liquid: material { liquid = liquid {}, ... }");
    if (!solid->thermal.melts)
        return kiln_said_fail(scene, &solid->said, error,
                              "melt needs to know when: thermal.melting, in K");
    if (melt->thermal.melts || melt->thermal.base.latent > 0.0)
        return kiln_said_fail(scene, &melt->said, error,
                              "melting and latent are those of the solid that melts to it");
    if (solid->density.evaluate || melt->density.evaluate)
        return kiln_said_fail(scene, &solid->said, error,
                              "density of what melts, and of its melt, must be a number");
    return KILN_OK;
}

static kiln_status find_pairs(phases *p, kiln_error *error)
{
    const kiln_scene *scene = p->world->scene;
    size_t count = scene->materials.count;
    KILN_TRY(kiln_array_reserve(p->world->context, &p->other, count, error));
    for (size_t i = 0; i < count; i++)
        p->other.data[i] = KILN_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const kiln_scene_material *solid = &scene->materials.data[i];
        if (solid->melt == 0)
            continue;
        KILN_TRY(check_pair(scene, solid, error));
        if (p->other.data[solid->melt - 1] != KILN_NONE)
            return kiln_said_fail(scene, &solid->said, error,
                                  "melt is that of another material already: it would not be known "
                                  "what it freezes to");
        p->other.data[i] = solid->melt - 1;
        p->other.data[solid->melt - 1] = i;
    }
    return KILN_OK;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    if (!world->melts)
        return KILN_OK;
    phases *p = kiln_module_make(world, sizeof *p, self, error);
    if (!p)
        return KILN_ERR_MEMORY;
    p->world = world;
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].melt != 0 &&
            !kiln_mesh_field(world->mesh, KILN_ON_VERTEX, KILN_FIELD_TEMPERATURE))
            return kiln_said_fail(scene, &scene->materials.data[i].said, error,
                                  "melt is of heat, which the scene does not have: heat = heat {}");
    return find_pairs(p, error);
}

static void destroy(void *self)
{
    phases *p = self;
    kiln_context *context = p->world->context;
    kiln_array_free(context, &p->other);
    kiln_array_free(context, &p->turn);
    kiln_array_free(context, &p->energy);
    kiln_array_free(context, &p->was_solid);
    kiln_array_free(context, &p->parts);
}

/* --- which tets change (P1) --- */

static double melted_of(const phases *p, uint32_t tet, const double *temperature)
{
    const kiln_world *world = p->world;
    uint32_t row = kiln_world_material_of(world->mesh)[tet];
    uint32_t solid = world->materials[row].liquid ? p->other.data[row] : row;
    const kiln_thermal *thermal = &world->scene->materials.data[solid].thermal.base;
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
        sum += kiln_thermal_melted(thermal, temperature[world->mesh->tet[tet].v[k]]);
    return 0.25 * sum;
}

static kiln_status find_turns(phases *p, kiln_error *error)
{
    const kiln_world *world = p->world;
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    const double *T = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_TEMPERATURE);
    p->turn.count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || p->other.data[material[t]] == KILN_NONE)
            continue;
        double melted = melted_of(p, t, T);
        if (world->materials[material[t]].liquid ? melted < FREEZES : melted > MELTS)
            KILN_TRY(kiln_array_push(world->context, &p->turn, t, error));
    }
    return KILN_OK;
}

/* --- what they become --- */

static kiln_status save_columns(const phases *p, kiln_error *error)
{
    static const struct {
        kiln_where where;
        const char *name;
    } columns[] = {{KILN_ON_TET, KILN_FIELD_MATERIAL},       {KILN_ON_TET, KILN_FIELD_OFFSET},
                   {KILN_ON_TET, KILN_FIELD_REST_VOLUME},    {KILN_ON_TET, KILN_FIELD_HARDENING},
                   {KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN}, {KILN_ON_TET, KILN_FIELD_LAME},
                   {KILN_ON_TET, KILN_FIELD_DENSITY},        {KILN_ON_TET, KILN_FIELD_HEAT_COMES},
                   {KILN_ON_VERTEX, KILN_FIELD_REFERENCE}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (kiln_mesh_field(p->world->mesh, columns[i].where, columns[i].name))
            KILN_TRY(kiln_rewind_save(p->world->mesh, columns[i].where, columns[i].name,
                                      KILN_SAVE_COPY, error));
    return KILN_OK;
}

static kiln_status make_room(phases *p, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    kiln_context *context = p->world->context;
    size_t tets = mesh->table[KILN_ON_TET].used, vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(context, &p->energy, tets + 1, error));
    KILN_TRY(kiln_array_reserve(context, &p->was_solid, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(context, &p->parts, mesh->parts.count + 1, error));
    memset(p->was_solid.data, 0, vertices);
    memset(p->parts.data, 0, mesh->parts.count * sizeof *p->parts.data);
    return KILN_OK;
}

static void look_at_solids(const phases *p)
{
    const kiln_mesh *mesh = p->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            p->was_solid.data[mesh->tet[t].v[k]] |= !p->world->materials[material[t]].liquid;
}

static void clear(const kiln_world *world, const char *name, uint32_t tet)
{
    kiln_field *field = kiln_mesh_field(world->mesh, KILN_ON_TET, name);
    if (field)
        memset(field->data + tet * field->stride, 0, field->stride);
}

/* Where nothing was solid, the temperature of freezing is that without stress. */
static void set_reference(const phases *p, uint32_t tet)
{
    const kiln_mesh *mesh = p->world->mesh;
    double *reference = kiln_world_column(p->world, KILN_ON_VERTEX, KILN_FIELD_REFERENCE);
    const double *T = kiln_world_column(p->world, KILN_ON_VERTEX, KILN_FIELD_TEMPERATURE);
    for (int k = 0; k < 4 && reference; k++)
        if (!p->was_solid.data[mesh->tet[tet].v[k]])
            reference[mesh->tet[tet].v[k]] = T[mesh->tet[tet].v[k]];
}

/* P2 to P4, of one tet. */
static void turn(const phases *p, uint32_t tet)
{
    const kiln_world *world = p->world;
    const kiln_mesh *mesh = world->mesh;
    uint32_t *material =
        (uint32_t *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    const kiln_material *was = &world->materials[material[tet]];
    uint32_t now = p->other.data[material[tet]];
    const kiln_offsets offsets = kiln_offsets_of(mesh);
    double *density = kiln_world_column(world, KILN_ON_TET, KILN_FIELD_DENSITY);
    double *rest = &offsets.rest_volume[tet], grows = was->density / world->materials[now].density;
    phase_part *part = &p->parts.data[mesh->info[tet].part];
    if (was->liquid) {
        double volume = kiln_mesh_tet_volume(mesh, tet);
        part->owed += *rest - volume;
        *rest = volume;
        set_reference(p, tet);
    } else {
        kiln_world_column(world, KILN_ON_TET, KILN_FIELD_HEAT_COMES)[tet] +=
            p->energy.data[tet] * *rest;
    }
    *rest *= grows;
    if (was->liquid)
        part->frozen += *rest;
    /* Not Pi = I to the bit: that would mean that its volume is what it has (kiln_offsets_settle).
     */
    offsets.shape[tet] = kiln_sym3_scale(kiln_sym3_identity(), 2.0);
    clear(world, KILN_FIELD_HARDENING, tet);
    clear(world, KILN_FIELD_PLASTIC_STRAIN, tet);
    clear(world, KILN_FIELD_LAME, tet); /* asked in the next step */
    material[tet] = now;
    if (density)
        density[tet] = world->materials[now].density;
}

static double bounded(double part)
{
    return fmax(-MOST_OWED, fmin(MOST_OWED, part));
}

/* P4: tets of liquid part with their rest volumes by what transfers make of them, and only the sum
 * of a part counts. What is frozen has the volume it has; the sum stays with the rest of it. */
static void settle_volumes(const phases *p)
{
    const kiln_world *world = p->world;
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    double *rest = kiln_offsets_of(mesh).rest_volume;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && world->materials[material[t]].liquid)
            p->parts.data[mesh->info[t].part].liquid += rest[t];
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || !world->materials[material[t]].liquid)
            continue;
        const phase_part *part = &p->parts.data[mesh->info[t].part];
        rest[t] *= 1.0 + bounded(part->owed / part->liquid);
    }
    for (size_t i = 0; i < p->turn.count; i++) {
        uint32_t t = p->turn.data[i];
        const phase_part *part = &p->parts.data[mesh->info[t].part];
        if (world->materials[material[t]].liquid || part->frozen == 0.0)
            continue;
        double taken = part->liquid > 0.0 ? part->liquid * bounded(part->owed / part->liquid) : 0.0;
        rest[t] *= 1.0 + bounded((part->owed - taken) / part->frozen);
    }
}

static kiln_status turn_all(phases *p, kiln_error *error)
{
    kiln_world *world = p->world;
    const kiln_changes all = {.all = true};
    KILN_TRY(make_room(p, error));
    KILN_TRY(save_columns(p, error));
    kiln_elements_output(kiln_solid_elements(world->solid), &world->mesh->x[0].x,
                         KILN_OUTPUT_ENERGY, p->energy.data);
    look_at_solids(p);
    for (size_t i = 0; i < p->turn.count; i++)
        turn(p, p->turn.data[i]);
    settle_volumes(p);
    KILN_TRY(kiln_world_changed(world, &all, error));
    world->report.e_elastic = kiln_solid_elastic_energy(world->solid, &world->mesh->x[0].x);
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    phases *p = self;
    KILN_TRY(find_turns(p, error));
    p->turned = p->turn.count;
    return p->turned > 0 ? turn_all(p, error) : KILN_OK;
}

static void measure(const void *self, kiln_stats *stats)
{
    const phases *p = self;
    const kiln_mesh *mesh = p->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    const double *mass = kiln_world_column(p->world, KILN_ON_TET, KILN_FIELD_MASS);
    stats->melted = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && p->other.data[material[t]] != KILN_NONE &&
            p->world->materials[material[t]].liquid)
            stats->melted += mass[t];
    if (p->world->state.step > 0)
        stats->turned = (double)p->turned;
}

const kiln_module kiln_module_phases = {.name = "phases",
                                        .plan = plan,
                                        .create = create,
                                        .destroy = destroy,
                                        .after_step = after_step,
                                        .measure = measure};
