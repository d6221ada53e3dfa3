/* The module that keeps the forces of a step: what holds and obstacles press with, as fields, since
 * the mesh that it was made with may change afterwards, and the next try may fail. */
#include "mesh/rewind.h"
#include "sim/world_impl.h"

#include <string.h>

#define KILN_FIELD_REACTION "reaction"
#define KILN_FIELD_CONTACT  "contact"

typedef struct forces {
    kiln_world *world;
} forces;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    static const char *const names[] = {KILN_FIELD_REACTION, KILN_FIELD_CONTACT};
    forces *f = kiln_module_make(world, sizeof *f, self, error);
    if (!f)
        return KILN_ERR_MEMORY;
    f->world = world;
    for (int i = 0; i < 2; i++)
        KILN_TRY(kiln_mesh_add_field(world->mesh, names[i], KILN_ON_VERTEX, KILN_F64, 3,
                                     KILN_RULE_CONSERVE, error));
    return KILN_OK;
}

static kiln_status keep(kiln_world *world, const char *name, const double *force, kiln_error *error)
{
    size_t size = world->mesh->table[KILN_ON_VERTEX].used * sizeof(kiln_vec3);
    KILN_TRY(kiln_rewind_save(world->mesh, KILN_ON_VERTEX, name, KILN_SAVE_ALL, error));
    memcpy(kiln_world_column(world, KILN_ON_VERTEX, name), force, size);
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    kiln_world *world = ((forces *)self)->world;
    KILN_TRY(keep(world, KILN_FIELD_REACTION, kiln_solid_reaction(world->solid), error));
    return keep(world, KILN_FIELD_CONTACT, kiln_solid_contact(world->solid), error);
}

const double *kiln_world_reaction(const kiln_world *world)
{
    return kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_REACTION);
}

const double *kiln_world_contact(const kiln_world *world)
{
    return kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_CONTACT);
}

static kiln_vec3 total(const double *force, size_t vertices)
{
    kiln_vec3 sum = {0, 0, 0};
    for (size_t v = 0; force && v < vertices; v++)
        sum = kiln_v3_add(sum, kiln_v3(force[3 * v], force[3 * v + 1], force[3 * v + 2]));
    return sum;
}

static void measure(const void *self, kiln_stats *stats)
{
    const kiln_world *world = ((const forces *)self)->world;
    size_t vertices = world->mesh->table[KILN_ON_VERTEX].used;
    if (world->state.step == 0)
        return;
    if (world->scene->holds.count > 0) {
        kiln_vec3 r = total(kiln_world_reaction(world), vertices);
        stats->rx = r.x;
        stats->ry = r.y;
        stats->rz = r.z;
    }
    if (world->obstacle_count > 0) {
        kiln_vec3 f = total(kiln_world_contact(world), vertices);
        stats->t_contact = world->report.contact_seconds;
        stats->contacts = world->report.contacts;
        stats->fx = f.x;
        stats->fy = f.y;
        stats->fz = f.z;
    }
}

const kiln_module kiln_module_forces = {.name = "forces",
                                        .create = create,

                                        .after_step = after_step,
                                        .measure = measure};
