#include "contact/surface_vertices.h"
#include "mesh/walk.h"
#include "step/collide_impl.h"

#include <stdlib.h>

void kiln_collide_init(kiln_collide *collide, kiln_context *context,
                       const kiln_contact_options *options, double slip_speed,
                       kiln_obstacle *const *obstacles, size_t obstacle_count)
{
    *collide = (kiln_collide){
        .context = context,
        .options = *options,
        .slip_speed = slip_speed,
        .hardness = 1.0,
        .adapts = options->adaptive,
        .surface = {.context = context},
        .walls = {.context = context, .obstacles = obstacles, .obstacle_count = obstacle_count},
        .found = {.context = context},
    };
    collide->options.walls = options->walls && obstacle_count > 0;
    collide->repulsion = kiln_collide_repulsion_term(collide);
    collide->friction = kiln_collide_friction_term(collide);
}

void kiln_collide_free(kiln_collide *c)
{
    kiln_contact_surface_free(&c->surface);
    kiln_collide_once_free(c);
    kiln_array_free(c->context, &c->counted);
    kiln_array_free(c->context, &c->parts);
    kiln_array_free(c->context, &c->part_of);
    kiln_array_free(c->context, &c->acting);
    kiln_array_free(c->context, &c->scale);
    kiln_array_free(c->context, &c->rub);
    kiln_array_free(c->context, &c->coupled);
    kiln_array_free(c->context, &c->push);
    kiln_array_free(c->context, &c->rubbing);
    kiln_array_free(c->context, &c->rubbed);
    kiln_array_free(c->context, &c->before);
    kiln_array_free(c->context, &c->calm);
    kiln_array_free(c->context, &c->begun);
    kiln_walls_free(&c->walls);
    kiln_surface_pairs_free(&c->found);
    kiln_array_free(c->context, &c->modulus);
    kiln_array_free(c->context, &c->boxes);
    kiln_array_free(c->context, &c->at);
    kiln_array_free(c->context, &c->begin);
    kiln_array_free(c->context, &c->facing);
    kiln_array_free(c->context, &c->measured);
    kiln_array_free(c->context, &c->behind);
    kiln_array_free(c->context, &c->mean_way);
    kiln_array_free(c->context, &c->extent);
    kiln_array_free(c->context, &c->distance);
    kiln_kept_values_free(&c->kept, c->context);
    kiln_kept_values_free(&c->totals, c->context);
    kiln_array_free(c->context, &c->least);
    kiln_array_free(c->context, &c->cliques);
    kiln_array_free(c->context, &c->wanted);
    kiln_array_free(c->context, &c->friction_contacts);
    kiln_array_free(c->context, &c->stiff);
    kiln_array_free(c->context, &c->noted);
}

size_t kiln_collide_bytes(const kiln_collide *c)
{
    return kiln_contact_surface_bytes(&c->surface) + kiln_surface_pairs_bytes(&c->found) +
           kiln_walls_bytes(&c->walls) + kiln_collide_once_bytes(c) +
           (c->modulus.capacity + c->least.capacity + c->at.capacity + c->begin.capacity +
            c->measured.capacity + c->counted.capacity + c->before.capacity + c->calm.capacity +
            c->scale.capacity + c->rub.capacity + c->push.capacity + c->extent.capacity) *
               sizeof(double) +
           c->boxes.capacity * sizeof(kiln_box) + c->behind.capacity +
           c->mean_way.capacity * sizeof(kiln_mean_way) + c->facing.capacity * sizeof(kiln_vec3) +
           kiln_kept_values_bytes(&c->kept) + kiln_kept_values_bytes(&c->totals) +
           c->distance.capacity * sizeof(kiln_pair_distance) +
           c->begun.capacity * sizeof(kiln_surface_pair) +
           (c->cliques.capacity + c->wanted.capacity + c->acting.capacity + c->rubbed.capacity +
            c->part_of.capacity) *
               sizeof(uint32_t) +
           c->coupled.capacity + c->parts.capacity + c->rubbing.capacity * sizeof(kiln_rubbing) +
           c->friction_contacts.capacity * sizeof(kiln_friction_contact) +
           c->stiff.capacity * sizeof(kiln_stiff_pair) + c->noted.capacity * sizeof(kiln_vec3);
}

void kiln_collide_forget(kiln_collide *c)
{
    c->cliques.count = 0;
    c->repulsion.revision++;
}

/* The sums are in the order of the tets' rows. */
static kiln_status spread_modulus(kiln_collide *c, const double *modulus, kiln_error *error)
{
    const kiln_mesh *mesh = c->mesh;
    size_t slots = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(c->context, &c->modulus, slots, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->at, 3 * slots, error)); /* here their counts */
    for (size_t v = 0; v < slots; v++)
        c->modulus.data[v] = c->at.data[v] = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; kiln_tet_live(mesh, t) && k < 4; k++) {
            c->modulus.data[mesh->tet[t].v[k]] += modulus[t];
            c->at.data[mesh->tet[t].v[k]] += 1.0;
        }
    for (uint32_t v = 0; v < slots; v++)
        c->modulus.data[v] =
            kiln_vertex_on_surface(mesh, v) ? c->modulus.data[v] / c->at.data[v] : 0.0;
    c->modulus.count = slots;
    return KILN_OK;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static kiln_status mean_modulus(const kiln_collide *c, uint32_t v, const double *modulus,
                                kiln_walker *walker, double *mean, kiln_error *error)
{
    double sum = 0.0;
    KILN_TRY(kiln_star(c->mesh, v, walker, error));
    qsort(walker->tets.data, walker->tets.count, sizeof *walker->tets.data, by_number);
    for (size_t i = 0; i < walker->tets.count; i++)
        sum += modulus[walker->tets.data[i]];
    *mean = sum / (double)walker->tets.count;
    return KILN_OK;
}

static kiln_status renew_modulus(kiln_collide *c, const double *modulus, kiln_error *error)
{
    size_t slots = c->mesh->table[KILN_ON_VERTEX].used;
    const kiln_u32_array *renewed = &c->surface.renewed;
    KILN_TRY(kiln_array_reserve(c->context, &c->modulus, slots, error));
    kiln_walker walker;
    kiln_walker_init(&walker, c->context);
    kiln_status status = KILN_OK;
    for (size_t i = 0; status == KILN_OK && i < renewed->count; i++) {
        uint32_t v = renewed->data[i];
        c->modulus.data[v] = 0.0;
        if (kiln_vertex_on_surface(c->mesh, v))
            status = mean_modulus(c, v, modulus, &walker, &c->modulus.data[v], error);
    }
    kiln_walker_free(&walker);
    if (status == KILN_OK)
        c->modulus.count = slots;
    return status;
}

/* What a step has found, and room for the next. */
static kiln_status start_anew(kiln_collide *c, kiln_error *error)
{
    size_t slots = c->mesh->table[KILN_ON_VERTEX].used;
    c->found.pairs.count = c->acting.count = c->friction_contacts.count = c->begun.count = 0;
    c->part_of.count = 0;
    c->found.grown = false;
    kiln_collide_forget(c);
    if (!kiln_collide_is_used(c))
        return KILN_OK;
    size_t rows = kiln_collide_rows(c, slots);
    c->first_wall = (uint32_t)slots;
    KILN_TRY(kiln_array_reserve(c->context, &c->boxes, rows, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->begin, 3 * rows, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->facing, rows, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->measured, 3 * rows, error));
    c->measured_state = 0;
    return kiln_array_reserve(c->context, &c->at, 3 * rows, error);
}

/* The mean edge, but no less than surfaces repel at; and the shortest. */
static void find_stride(kiln_collide *c)
{
    const kiln_u32_array *edges = &c->surface.edges;
    double sum = 0.0;
    c->shortest = INFINITY;
    for (size_t e = 0; e + 1 < edges->count; e += 2) {
        double length =
            kiln_v3_norm(kiln_v3_sub(c->mesh->u[edges->data[e + 1]], c->mesh->u[edges->data[e]]));
        sum += length;
        c->shortest = fmin(c->shortest, length);
    }
    c->stride = fmax(edges->count ? 2.0 * sum / (double)edges->count : 0.0, c->options.thickness);
}

kiln_status kiln_collide_build_walls(kiln_collide *c, kiln_error *error)
{
    if (!c->options.walls || c->walls.own.count)
        return KILN_OK;
    return kiln_walls_build(&c->walls, c->context, c->walls.obstacles, c->walls.obstacle_count,
                            c->options.thickness, KILN_COLLIDE_CHORD * c->options.thickness, error);
}

kiln_status kiln_collide_build(kiln_collide *c, const kiln_mesh *mesh, const double *modulus,
                               kiln_error *error)
{
    c->mesh = mesh;
    c->modulus.count = 0;
    KILN_TRY(kiln_collide_build_walls(c, error));
    KILN_TRY(start_anew(c, error));
    if (!kiln_collide_is_used(c))
        return KILN_OK;
    KILN_TRY(kiln_contact_surface_build(&c->surface, mesh, error));
    if (c->surface.faces.count && !(c->options.thickness > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, "thickness", 0, -1, "must be positive, got %g m",
                         c->options.thickness);
    find_stride(c);
    KILN_TRY(kiln_collide_once_build(c, error));
    return spread_modulus(c, modulus, error);
}

kiln_status kiln_collide_update(kiln_collide *c, const kiln_mesh *mesh, const double *modulus,
                                const kiln_changes *changes, kiln_error *error)
{
    if (!kiln_contact_surface_can_update(&c->surface, changes) ||
        c->modulus.count != changes->before[KILN_ON_VERTEX])
        return kiln_collide_build(c, mesh, modulus, error);
    c->mesh = mesh;
    c->modulus.count = 0;
    KILN_TRY(start_anew(c, error));
    KILN_TRY(kiln_contact_surface_update(&c->surface, mesh, changes, error));
    find_stride(c);
    KILN_TRY(kiln_collide_once_build(c, error));
    return renew_modulus(c, modulus, error);
}

void kiln_collide_reform(kiln_collide *c)
{
    kiln_contact_surface_measure(&c->surface, c->mesh);
    find_stride(c);
    if (c->options.once)
        kiln_collide_once_measure(c);
}

void kiln_collide_place_walls(const kiln_collide *c, kiln_box about, bool at_begin, double *places)
{
    if (c->walls.own.count)
        kiln_walls_place(&c->walls, about, at_begin, (kiln_vec3 *)(void *)places);
}

kiln_box kiln_collide_extent(const kiln_collide *c, kiln_box box, const double *x)
{
    for (size_t i = 0; i < c->surface.vertices.count; i++)
        box = kiln_box_grow(box, kiln_collide_points(x)[c->surface.vertices.data[i]]);
    return box;
}
