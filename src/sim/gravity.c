/* The module of gravity: an acceleration of everything. */
#include "sim/motion.h"
#include "sim/world_impl.h"

typedef struct gravity {
    kiln_world *world;
} gravity;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_quantity *said = &world->scene->gravity;
    kiln_vec3 constant = kiln_v3(said->constant[0], said->constant[1], said->constant[2]);
    if (!said->evaluate && kiln_v3_norm2(constant) == 0.0)
        return KILN_OK;
    gravity *g = kiln_module_make(world, sizeof *g, self, error);
    if (!g)
        return KILN_ERR_MEMORY;
    g->world = world;
    return KILN_OK;
}

static kiln_status drive(void *self, const kiln_drive *drive, kiln_error *error)
{
    const gravity *g = self;
    kiln_circumstances at = {.time = drive->time};
    kiln_vec3 acceleration;
    KILN_TRY(kiln_quantity_vector_at(&g->world->scene->gravity, &at, &acceleration, error));
    if (kiln_v3_norm2(acceleration) > 0.0)
        kiln_loads_add_acceleration(kiln_solid_loads(drive->solid), kiln_solid_mass(drive->solid),
                                    kiln_v3_scale(acceleration, drive->share));
    return KILN_OK;
}

const kiln_module kiln_module_gravity = {.name = "gravity", .create = create, .drive = drive};
