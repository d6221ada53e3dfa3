/* The module that keeps steps of liquid short enough for its mesh: within one, no end of an edge
 * goes by more than half of its length relative to the other. Tets that would be turned inside out
 * are not tried first and taken back then. The bounds of liquids-algorithms 1 and 3 for weight and
 * tension are not needed here, since Newton knows how both change along the step. */
#include "mesh/walk.h"
#include "sim/world_impl.h"

#include <math.h>

static const double MOST_WAY = 0.5; /* of an edge */
/* Of the wanted step: one bad edge does not stop all. */
static const double LEAST = 1.0 / 32.0;
/* Steps of bdf2 may become longer by this factor from one to the next. */
static const double GROWTH = 2.0;

typedef struct liquid_pace {
    kiln_world *world;
} liquid_pace;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!kiln_scene_has_liquid(world->scene) || !world->remeshes)
        return KILN_OK;
    liquid_pace *p = kiln_module_make(world, sizeof *p, self, error);
    if (!p)
        return KILN_ERR_MEMORY;
    p->world = world;
    return KILN_OK;
}

/* Largest change of an edge in a second, of its length. */
static double find_rate(const kiln_world *world)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_vec3 *v =
        (const kiln_vec3 *)(const void *)kiln_world_column(world, KILN_ON_VERTEX, "v");
    const uint32_t *material = kiln_world_material_of(mesh);
    double most = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6 && kiln_tet_live(mesh, t) && world->materials[material[t]].liquid;
             e++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[e][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[e][1]];
            most = fmax(most, kiln_v3_norm2(kiln_v3_sub(v[b], v[a])) /
                                  kiln_v3_norm2(kiln_v3_sub(mesh->x[b], mesh->x[a])));
        }
    return sqrt(most);
}

static double longest_step(const void *self)
{
    const liquid_pace *p = self;
    const kiln_world *world = p->world;
    double before = world->state.clock.h_before, dt = world->scene->pace.dt;
    double bound = fmax(MOST_WAY / fmax(find_rate(world), 1e-300), LEAST * dt);
    return before > 0.0 ? fmin(bound, GROWTH * before) : bound;
}

const kiln_module kiln_module_liquid_pace = {
    .name = "liquid_pace", .create = create, .longest_step = longest_step};
