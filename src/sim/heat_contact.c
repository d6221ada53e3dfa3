/* Heat between bodies that touch: from each vertex to the nearest face before it, by half of its
 * area, since the other side has vertices too. What a face has is what its point there has, so what
 * one gives the other gets. */
#include "sim/heat.h"

#include <math.h>

static kiln_status find_pairs(kiln_world_heat *h, kiln_error *error)
{
    const kiln_world *world = h->world;
    const kiln_contact_options *contact = &world->options.contact;
    const kiln_mesh *mesh = world->mesh;
    size_t slots = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_contact_surface_build(&h->surface, mesh, error));
    KILN_TRY(kiln_array_reserve(world->context, &h->boxes, slots + 1, error));
    KILN_TRY(kiln_array_reserve(world->context, &h->nearest, slots + 1, error));
    for (size_t v = 0; v < slots; v++) {
        h->boxes.data[v] = (kiln_box){mesh->x[v], mesh->x[v]};
        h->nearest.data[v] = KILN_NONE;
    }
    const kiln_pair_rules rules = {.bodies = contact->bodies,
                                   .self = contact->self,
                                   .table = contact->pairs,
                                   .thickness = contact->thickness,
                                   .clearance = contact->clearance,
                                   .material_tells = contact->material_tells};
    h->pairs.grown = false;
    return kiln_surface_pairs_find(&h->pairs, &h->surface, &rules, h->boxes.data, mesh->u, mesh->x,
                                   error);
}

static kiln_status link(kiln_world_heat *h, const kiln_surface_pair *pair, kiln_error *error)
{
    kiln_pair_distance at = kiln_surface_pair_distance(pair, h->world->mesh->x);
    double area = 0.5 * h->surface.area.data[pair->v[0]];
    return kiln_heat_link(h->heat, pair->v, at.weight, h->settings->contact * area, error);
}

kiln_status kiln_world_heat_join(kiln_world_heat *h, kiln_error *error)
{
    const kiln_contact_options *contact = &h->world->options.contact;
    const kiln_vec3 *x = h->world->mesh->x;
    if (h->settings->contact == 0.0 || !(contact->bodies || contact->self))
        return KILN_OK;
    KILN_TRY(find_pairs(h, error));
    const kiln_surface_pair *pair = h->pairs.pairs.data;
    for (uint32_t i = 0; i < h->pairs.pairs.count; i++) {
        uint32_t *best = &h->nearest.data[pair[i].v[0]];
        if (pair[i].split != 1 || kiln_surface_pair_distance(&pair[i], x).d > pair[i].reach)
            continue;
        if (*best == KILN_NONE || kiln_surface_pair_distance(&pair[i], x).d <
                                      kiln_surface_pair_distance(&pair[*best], x).d)
            *best = i;
    }
    for (size_t v = 0; v < h->world->mesh->table[KILN_ON_VERTEX].used; v++)
        if (h->nearest.data[v] != KILN_NONE)
            KILN_TRY(link(h, &pair[h->nearest.data[v]], error));
    return KILN_OK;
}

void kiln_world_heat_free_contact(kiln_world_heat *h)
{
    kiln_contact_surface_free(&h->surface);
    kiln_surface_pairs_free(&h->pairs);
    kiln_array_free(h->world->context, &h->boxes);
    kiln_array_free(h->world->context, &h->nearest);
}
