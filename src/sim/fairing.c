/* The module that keeps the surface of liquid smooth: after a step the noise of its surface is
 * taken out (remesh/fair.h), before the material follows and the mesh is looked at. */
#include "mesh/walk.h"
#include "remesh/fair.h"
#include "sim/world_impl.h"

#include <math.h>

/* Of a unit normal, what may be free of it at a wall. */
static const double HELD_ACROSS = 1e-6;

typedef struct fairing {
    kiln_world *world;
    KILN_ARRAY_OF(uint8_t)
    open;
    KILN_ARRAY_OF(kiln_vec3)
    shift;
} fairing;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!kiln_scene_has_liquid(world->scene) || !world->remeshes)
        return KILN_OK;
    fairing *f = kiln_module_make(world, sizeof *f, self, error);
    if (!f)
        return KILN_ERR_MEMORY;
    f->world = world;
    return KILN_OK;
}

static void destroy(void *self)
{
    fairing *f = self;
    kiln_array_free(f->world->context, &f->open);
    kiln_array_free(f->world->context, &f->shift);
}

/* What holds and obstacles leave of a direction. What touches an obstacle stays: where the surface
 * ends there is up to the step. */
static kiln_vec3 may_go(const void *user, uint32_t vertex, kiln_vec3 direction)
{
    const kiln_world *world = user;
    const double *contact = kiln_solid_contact(world->solid) + 3 * (size_t)vertex;
    if (contact[0] != 0.0 || contact[1] != 0.0 || contact[2] != 0.0)
        return kiln_v3(0, 0, 0);
    const kiln_held held = kiln_constraints_held(kiln_solid_constraints(world->solid), vertex);
    return kiln_held_free_part(&held, direction);
}

/* Faces of liquid that can leave their plane. */
static bool is_open(const kiln_world *world, const uint32_t *material, uint32_t face)
{
    const kiln_mesh *mesh = world->mesh;
    if (!kiln_face_live(mesh, face))
        return false;
    uint32_t at = mesh->face[face].at, v[3];
    if (!world->materials[material[at / 4]].liquid)
        return false;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    const kiln_vec3 *x = mesh->x;
    kiln_vec3 n = kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(x[v[1]], x[v[0]]), kiln_v3_sub(x[v[2]], x[v[0]])));
    for (int k = 0; k < 3; k++)
        if (kiln_v3_norm(may_go(world, v[k], n)) > HELD_ACROSS)
            return true;
    return false;
}

static kiln_status find_open(fairing *f, kiln_error *error)
{
    const kiln_mesh *mesh = f->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    size_t faces = mesh->table[KILN_ON_FACE].used;
    KILN_TRY(kiln_array_reserve(f->world->context, &f->open, faces + 1, error));
    for (uint32_t face = 0; face < faces; face++)
        f->open.data[face] = is_open(f->world, material, face);
    return KILN_OK;
}

/* Not farther into obstacles than they are. */
static void keep_out(const fairing *f)
{
    const kiln_world *world = f->world;
    const kiln_mesh *mesh = world->mesh;
    for (size_t o = 0; o < world->obstacle_count; o++)
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_vec3 normal, point, *shift = &f->shift.data[v];
            if (kiln_v3_norm2(*shift) == 0.0)
                continue;
            double now = kiln_obstacle_distance(world->obstacles[o], mesh->x[v], &normal, &point);
            double then = kiln_obstacle_distance(world->obstacles[o],
                                                 kiln_v3_add(mesh->x[v], *shift), &normal, &point);
            if (then < fmin(now, 0.0))
                *shift = kiln_v3(0, 0, 0);
        }
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    fairing *f = self;
    kiln_world *world = f->world;
    size_t moved;
    (void)moment;
    KILN_TRY(find_open(f, error));
    KILN_TRY(kiln_array_reserve(world->context, &f->shift,
                                world->mesh->table[KILN_ON_VERTEX].used + 1, error));
    const kiln_fair_options options = {f->open.data, may_go, world};
    KILN_TRY(kiln_fair(world->mesh, &options, f->shift.data, &moved, error));
    if (moved == 0)
        return KILN_OK;
    keep_out(f);
    return kiln_solid_shift(world->solid, f->shift.data, error);
}

const kiln_module kiln_module_fairing = {
    .name = "fairing", .create = create, .destroy = destroy, .after_step = after_step};
