/* What heats and cools: sources, fluxes, films, air, obstacles. */
#include "sim/heat.h"
#include "sim/motion.h"

#include <math.h>
#include <string.h>

/* Beside the thickness of contact: of an edge, what counts as touching. */
#define TOUCHING 0.01

static double area_of(const kiln_mesh *mesh, const uint32_t v[3])
{
    const kiln_vec3 *x = mesh->x;
    return 0.5 * kiln_v3_norm(
                     kiln_v3_cross(kiln_v3_sub(x[v[1]], x[v[0]]), kiln_v3_sub(x[v[2]], x[v[0]])));
}

/* Watts into a face: `flux` of all of it, and by a film. */
static void add_face(const kiln_world_heat *h, uint32_t face, double flux, double film, double air)
{
    uint32_t v[4];
    kiln_boundary_corners(h->world->mesh, KILN_ON_FACE, face, v);
    double third = area_of(h->world->mesh, v) / 3.0;
    for (int k = 0; k < 3; k++) {
        kiln_heat_supply(h->heat, v[k], third * flux);
        kiln_heat_film(h->heat, v[k], third * film, air);
    }
}

static kiln_circumstances at_face(const kiln_world *world, uint32_t face, double time)
{
    return (kiln_circumstances){.time = time,
                                .material =
                                    kiln_face_centre(world->mesh, face, kiln_world_starts(world)),
                                .world = kiln_face_centre(world->mesh, face, world->mesh->x)};
}

static kiln_status load_face(kiln_world_heat *h, const kiln_scene_load *load, uint32_t face,
                             double time, kiln_error *error)
{
    kiln_circumstances at = at_face(h->world, face, time);
    double amount, outside;
    KILN_TRY(kiln_quantity_get(&load->amount, &at, &amount, 1, error));
    KILN_TRY(kiln_quantity_get(&load->outside, &at, &outside, 1, error));
    if (load->kind == KILN_LOAD_FLUX)
        add_face(h, face, amount, 0.0, 0.0);
    else if (!(amount >= 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "amount must be 0 or more, got %g W/(m^2 K) at %g s", amount, time);
    else
        add_face(h, face, 0.0, amount, outside);
    h->shut.data[face] = 1;
    return KILN_OK;
}

static kiln_status load_vertex(kiln_world_heat *h, const kiln_scene_load *load, uint32_t vertex,
                               double begin, double end, kiln_error *error)
{
    kiln_circumstances at = {.time = begin,
                             .material = kiln_world_starts(h->world)[vertex],
                             .world = h->world->mesh->x[vertex]};
    double from, to;
    KILN_TRY(kiln_quantity_get(&load->amount, &at, &from, 1, error));
    at.time = end;
    KILN_TRY(kiln_quantity_get(&load->amount, &at, &to, 1, error));
    kiln_heat_hold(h->heat, vertex, from, to);
    return KILN_OK;
}

/* Per volume of the start, as forces on it are. */
static kiln_status load_tet(kiln_world_heat *h, const kiln_scene_load *load, uint32_t tet,
                            double volume, double time, kiln_error *error)
{
    const kiln_world *world = h->world;
    kiln_circumstances at = {.time = time,
                             .material =
                                 kiln_tet_centre(world->mesh, tet, kiln_world_starts(world)),
                             .world = kiln_tet_centre(world->mesh, tet, world->mesh->x)};
    double amount;
    KILN_TRY(kiln_quantity_get(&load->amount, &at, &amount, 1, error));
    for (int k = 0; k < 4; k++)
        kiln_heat_supply(h->heat, world->mesh->tet[tet].v[k], 0.25 * amount * volume);
    return KILN_OK;
}

static kiln_status set_load(kiln_world_heat *h, const kiln_boundary *b, size_t row, double begin,
                            double end, kiln_error *error)
{
    const kiln_scene_load *load = &h->world->scene->loads.data[row];
    const kiln_u32_array *rows = &b->loads[row].rows;
    kiln_where where = kiln_load_where(load->kind);
    const kiln_field *volume =
        where == KILN_ON_TET ? kiln_mesh_field(h->world->mesh, where, b->loads[row].amount) : NULL;
    for (size_t i = 0; i < rows->count; i++) {
        uint32_t at = rows->data[i];
        if (where == KILN_ON_VERTEX)
            KILN_TRY(load_vertex(h, load, at, begin, end, error));
        else if (where == KILN_ON_FACE)
            KILN_TRY(load_face(h, load, at, end, error));
        else
            KILN_TRY(load_tet(h, load, at, kiln_field_value(volume, at, 0), end, error));
    }
    return KILN_OK;
}

static kiln_status add_loads(kiln_world_heat *h, double begin, double end, kiln_error *error)
{
    const kiln_scene *scene = h->world->scene;
    const kiln_boundary *b = kiln_world_module(h->world, &kiln_module_boundary);
    for (size_t i = 0; i < scene->loads.count; i++) {
        const kiln_scene_load *said = &scene->loads.data[i];
        if (said->kind >= KILN_LOAD_HEAT &&
            kiln_world_acts(h->world, said->from, said->until, begin, end))
            KILN_TRY(
                kiln_said_wrap(scene, &said->said, set_load(h, b, i, begin, end, error), error));
    }
    return KILN_OK;
}

/* A face touches where its three vertices do. */
static bool touches(const kiln_world *world, const kiln_obstacle *obstacle, const uint32_t v[3])
{
    const kiln_vec3 *x = world->mesh->x;
    double reach = TOUCHING * sqrt(2.0 * area_of(world->mesh, v));
    if (world->options.contact.walls)
        reach += world->options.contact.thickness;
    for (int k = 0; k < 3; k++) {
        kiln_vec3 normal, nearest;
        if (kiln_obstacle_distance(obstacle, x[v[k]], &normal, &nearest) > reach)
            return false;
    }
    return true;
}

static kiln_status add_obstacle(kiln_world_heat *h, size_t row, double time, kiln_error *error)
{
    const kiln_world *world = h->world;
    const kiln_scene_obstacle *said = &world->scene->obstacles.data[row];
    const kiln_circumstances at = {.time = time};
    double temperature;
    if (!said->temperature.evaluate && isnan(said->temperature.constant[0]))
        return KILN_OK;
    KILN_TRY(kiln_quantity_get(&said->temperature, &at, &temperature, 1, error));
    for (uint32_t f = 0; f < world->mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[4];
        kiln_boundary_corners(world->mesh, KILN_ON_FACE, f, v);
        if (h->shut.data[f] || !touches(world, world->obstacles[row], v))
            continue;
        add_face(h, f, 0.0, said->conductance, temperature);
        h->shut.data[f] = 1;
    }
    return KILN_OK;
}

static kiln_status add_air(kiln_world_heat *h, double time, kiln_error *error)
{
    const kiln_circumstances at = {.time = time};
    double air;
    KILN_TRY(kiln_quantity_get(&h->settings->air, &at, &air, 1, error));
    for (uint32_t f = 0; f < h->world->mesh->table[KILN_ON_FACE].used; f++)
        if (!h->shut.data[f])
            add_face(h, f, 0.0, h->settings->film, air);
    return KILN_OK;
}

kiln_status kiln_world_heat_load(kiln_world_heat *h, double begin, double end, kiln_error *error)
{
    const kiln_scene *scene = h->world->scene;
    size_t faces = h->world->mesh->table[KILN_ON_FACE].used;
    KILN_TRY(kiln_array_reserve(h->world->context, &h->shut, faces + 1, error));
    memset(h->shut.data, 0, faces);
    KILN_TRY(add_loads(h, begin, end, error));
    for (size_t i = 0; i < scene->obstacles.count; i++)
        KILN_TRY(kiln_said_wrap(scene, &scene->obstacles.data[i].said,
                                add_obstacle(h, i, end, error), error));
    if (h->settings->film > 0.0)
        KILN_TRY(kiln_said_wrap(scene, &h->settings->said, add_air(h, end, error), error));
    return KILN_OK;
}
