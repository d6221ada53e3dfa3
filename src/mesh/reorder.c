#include "mesh/reorder.h"
#include "base/parallel.h"
#include "geom/curve_order.h"
#include "mesh/rewind.h"
#include "mesh/txn.h"

#include <string.h>

enum { GRAIN = 8192, CURVE_BITS = 21 };

typedef struct reorderer {
    kiln_mesh *mesh;
    kiln_u32_array order[KILN_WHERE_COUNT]; /* [new row] old row */
    kiln_u32_array part_order;              /* [new part] old part */
    kiln_renumbering maps;
    char *spare; /* one column of the widest table */
    size_t spare_size;
} reorderer;

void kiln_renumbering_free(kiln_context *context, kiln_renumbering *renumbering)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        kiln_array_free(context, &renumbering->row[where]);
    kiln_array_free(context, &renumbering->part);
}

static kiln_status list_live(reorderer *r, kiln_where where, kiln_error *error)
{
    const kiln_table *table = &r->mesh->table[where];
    kiln_u32_array *order = &r->order[where];
    KILN_TRY(kiln_array_reserve(r->mesh->context, order, (size_t)table->live + 1, error));
    for (uint32_t row = 0; row < table->used; row++)
        if (kiln_row_live(r->mesh, where, row))
            order->data[order->count++] = row;
    return KILN_OK;
}

static kiln_vec3 tet_centre(const kiln_vec3 *positions, const uint32_t *v)
{
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(positions[v[0]], positions[v[1]]),
                                kiln_v3_add(positions[v[2]], positions[v[3]]));
    return kiln_v3_scale(sum, 0.25);
}

/* Sorts an order that lists live rows along the curve. */
static kiln_status sort_along_curve(reorderer *r, kiln_where where, kiln_space space,
                                    kiln_error *error)
{
    kiln_context *context = r->mesh->context;
    kiln_u32_array *order = &r->order[where];
    const kiln_vec3 *positions = kiln_mesh_positions(r->mesh, space);
    KILN_ARRAY_OF(kiln_vec3)
    points = {0};
    kiln_u32_array rank = {0};
    size_t count = order->count;
    kiln_status status = kiln_array_reserve(context, &points, count + 1, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &rank, count + 1, error);
    if (status == KILN_OK) {
        for (size_t i = 0; i < count; i++)
            points.data[i] = where == KILN_ON_VERTEX
                                 ? positions[order->data[i]]
                                 : tet_centre(positions, r->mesh->tet[order->data[i]].v);
        status = kiln_curve_order(context, points.data, count, CURVE_BITS, rank.data, error);
    }
    if (status == KILN_OK) {
        for (size_t i = 0; i < count; i++)
            rank.data[i] = order->data[rank.data[i]];
        if (count)
            memcpy(order->data, rank.data, count * sizeof(uint32_t));
    }
    kiln_array_free(context, &points);
    kiln_array_free(context, &rank);
    return status;
}

static void faces_in_tet_order(reorderer *r)
{
    const kiln_u32_array *tets = &r->order[KILN_ON_TET];
    kiln_u32_array *faces = &r->order[KILN_ON_FACE];
    size_t count = 0;
    for (size_t i = 0; i < tets->count; i++)
        for (int f = 0; f < 4; f++) {
            kiln_link link = r->mesh->tet[tets->data[i]].n[f];
            if (kiln_link_is_surface(link))
                faces->data[count++] = link - KILN_LINK_SURFACE;
        }
}

/* The map that goes with an order; *same when it is the identity and nothing is dropped. */
static kiln_status invert(kiln_context *context, const kiln_u32_array *order, size_t used,
                          kiln_u32_array *map, bool *same, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, map, used + 1, error));
    map->count = used;
    memset(map->data, 0xFF, used * sizeof(uint32_t));
    *same = *same && order->count == used;
    for (uint32_t i = 0; i < order->count; i++) {
        map->data[order->data[i]] = i;
        *same = *same && order->data[i] == i;
    }
    return KILN_OK;
}

static kiln_status make_maps(reorderer *r, bool *same, kiln_error *error)
{
    kiln_mesh *mesh = r->mesh;
    *same = true;
    KILN_TRY(kiln_array_reserve(mesh->context, &r->part_order, mesh->parts.count + 1, error));
    for (uint32_t p = 0; p < mesh->parts.count; p++)
        if (mesh->parts.data[p].tets > 0)
            r->part_order.data[r->part_order.count++] = p;
    KILN_TRY(invert(mesh->context, &r->part_order, mesh->parts.count, &r->maps.part, same, error));
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        KILN_TRY(invert(mesh->context, &r->order[where], mesh->table[where].used,
                        &r->maps.row[where], same, error));
    return KILN_OK;
}

static kiln_status reserve_spare(reorderer *r, kiln_error *error)
{
    r->spare_size = 1;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &r->mesh->table[where];
        for (size_t i = 0; i < table->fields.count; i++) {
            size_t size = r->order[where].count * table->fields.data[i].stride;
            r->spare_size = size > r->spare_size ? size : r->spare_size;
        }
    }
    r->spare = kiln_resize(r->mesh->context, NULL, 0, r->spare_size);
    return r->spare ? KILN_OK : kiln_fail_memory(error, r->spare_size);
}

typedef struct column_move {
    char *data, *spare;
    const uint32_t *order;
    size_t stride;
} column_move;

static void gather_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const column_move *m = user;
    for (size_t i = begin; i < end; i++)
        memcpy(m->spare + i * m->stride, m->data + (size_t)m->order[i] * m->stride, m->stride);
}

static void copy_back(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const column_move *m = user;
    memcpy(m->data + begin * m->stride, m->spare + begin * m->stride, (end - begin) * m->stride);
}

/* Through one spare column, which is all the memory it takes besides the maps. */
static void move_rows(reorderer *r, kiln_where where)
{
    kiln_table *table = &r->mesh->table[where];
    kiln_u32_array *order = &r->order[where];
    for (size_t i = 0; i < table->fields.count; i++) {
        kiln_field *field = &table->fields.data[i];
        column_move move = {field->data, r->spare, order->data, field->stride};
        kiln_parallel_for(r->mesh->context, order->count, GRAIN, gather_rows, &move);
        kiln_parallel_for(r->mesh->context, order->count, GRAIN, copy_back, &move);
    }
    table->used = table->live = (uint32_t)order->count;
    table->free = KILN_NONE;
}

static uint32_t mapped_link(const kiln_renumbering *maps, kiln_link link)
{
    if (kiln_link_is_surface(link))
        return KILN_LINK_SURFACE + maps->row[KILN_ON_FACE].data[link - KILN_LINK_SURFACE];
    return kiln_link_to(maps->row[KILN_ON_TET].data[link / 4], link % 4);
}

static void rename_tets(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const reorderer *r = user;
    for (size_t t = begin; t < end; t++) {
        kiln_tet *tet = &r->mesh->tet[t];
        for (int k = 0; k < 4; k++) {
            tet->v[k] = r->maps.row[KILN_ON_VERTEX].data[tet->v[k]];
            tet->n[k] = mapped_link(&r->maps, tet->n[k]);
        }
        r->mesh->info[t].part = r->maps.part.data[r->mesh->info[t].part];
    }
}

static void rename_all(reorderer *r)
{
    kiln_mesh *mesh = r->mesh;
    kiln_parallel_for(mesh->context, mesh->table[KILN_ON_TET].used, GRAIN, rename_tets, r);
    const uint32_t *tets = r->maps.row[KILN_ON_TET].data;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->vertex[v].tet = tets[mesh->vertex[v].tet];
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        mesh->face[f].at = mapped_link(&r->maps, mesh->face[f].at);
    mesh->revision++;
    for (size_t p = 0; p < r->part_order.count; p++) {
        mesh->parts.data[p] = mesh->parts.data[r->part_order.data[p]];
        mesh->parts.data[p].stamp = mesh->revision;
    }
    mesh->parts.count = r->part_order.count;
}

static kiln_status renumber(reorderer *r, bool along_curve, kiln_space space, kiln_error *error)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        KILN_TRY(list_live(r, (kiln_where)where, error));
    if (along_curve) {
        KILN_TRY(sort_along_curve(r, KILN_ON_VERTEX, space, error));
        KILN_TRY(sort_along_curve(r, KILN_ON_TET, space, error));
        faces_in_tet_order(r);
    }
    bool same;
    KILN_TRY(make_maps(r, &same, error));
    if (same)
        return KILN_OK;
    KILN_TRY(reserve_spare(r, error));
    KILN_TRY(kiln_rewind_save_all(r->mesh, error));

    /* Nothing below can fail. */
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        move_rows(r, (kiln_where)where);
    rename_all(r);
    return KILN_OK;
}

static kiln_status run(kiln_mesh *mesh, bool along_curve, kiln_space space,
                       kiln_renumbering *renumbering, kiln_error *error)
{
    if (kiln_txn_depth(mesh) > 0 || kiln_archive_active(mesh))
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                         "rows get new numbers only between transactions and passes");
    kiln_context *context = mesh->context;
    reorderer r = {.mesh = mesh};
    kiln_status status = renumber(&r, along_curve, space, error);
    if (status == KILN_OK && renumbering)
        *renumbering = r.maps;
    else
        kiln_renumbering_free(context, &r.maps);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        kiln_array_free(context, &r.order[where]);
    kiln_array_free(context, &r.part_order);
    kiln_release(context, r.spare, r.spare_size);
    return status;
}

kiln_status kiln_mesh_compact(kiln_mesh *mesh, kiln_renumbering *renumbering, kiln_error *error)
{
    return run(mesh, false, KILN_SPACE_MATERIAL, renumbering, error);
}

kiln_status kiln_mesh_reorder(kiln_mesh *mesh, kiln_space space, kiln_renumbering *renumbering,
                              kiln_error *error)
{
    return run(mesh, true, space, renumbering, error);
}

/* Mean digits in Hilbert order, over boxes, balls, bowls and tori of 10k to 600k tets. */
static const double CURVE_LINK_DIGITS = 4.2, CURVE_SPAN_DIGITS = 7.2;

/* Whole numbers: sums are the same however the chunks fall to the workers. */
typedef struct distances {
    const kiln_mesh *mesh;
    struct {
        uint64_t link_digits, links, span_digits, tets;
    } of[KILN_MAX_THREADS];
} distances;

static uint32_t digits(uint32_t distance)
{
    return distance ? 64 - (uint32_t)KILN_LEADING_ZEROS64((uint64_t)distance) : 0;
}

static void add_distances(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    distances *d = user;
    uint64_t link_digits = 0, links = 0, span_digits = 0, tets = 0;
    for (uint32_t t = (uint32_t)begin; t < end; t++) {
        const kiln_tet *tet = &d->mesh->tet[t];
        if (!kiln_tet_live(d->mesh, t))
            continue;
        uint32_t low = tet->v[0], high = tet->v[0];
        for (int k = 0; k < 4; k++) {
            low = tet->v[k] < low ? tet->v[k] : low;
            high = tet->v[k] > high ? tet->v[k] : high;
            if (kiln_link_is_surface(tet->n[k]))
                continue;
            uint32_t other = tet->n[k] / 4;
            link_digits += digits(other > t ? other - t : t - other);
            links++;
        }
        span_digits += digits(high - low);
        tets++;
    }
    d->of[worker].link_digits += link_digits;
    d->of[worker].links += links;
    d->of[worker].span_digits += span_digits;
    d->of[worker].tets += tets;
}

static double ratio(uint64_t sum, uint64_t count, double expected)
{
    return count ? (double)sum / ((double)count * expected) : 1.0;
}

double kiln_mesh_locality(const kiln_mesh *mesh)
{
    distances d = {.mesh = mesh};
    kiln_parallel_for(mesh->context, mesh->table[KILN_ON_TET].used, GRAIN, add_distances, &d);
    for (int w = 1; w < KILN_MAX_THREADS; w++) {
        d.of[0].link_digits += d.of[w].link_digits;
        d.of[0].links += d.of[w].links;
        d.of[0].span_digits += d.of[w].span_digits;
        d.of[0].tets += d.of[w].tets;
    }
    return 0.5 * (ratio(d.of[0].link_digits, d.of[0].links, CURVE_LINK_DIGITS) +
                  ratio(d.of[0].span_digits, d.of[0].tets, CURVE_SPAN_DIGITS));
}
