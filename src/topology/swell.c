#include "topology/swell.h"

#include "mesh/idset.h"

#include <math.h>
#include <string.h>

/* The first leaves what vertices that may not go, or not that way, were to take up. */
enum { ROUNDS = 3 };

typedef struct swelling {
    kiln_context *context;
    kiln_txn *txn;
    const kiln_swell *how;
    kiln_u32_array tets; /* of the part */
    kiln_idset seen;
    KILN_ARRAY_OF(kiln_vec3)
    area; /* [vertex slot] a third of its faces', outwards */
} swelling;

/* Of the way that others go. */
static double share_of(const swelling *r, uint32_t vertex)
{
    double off = kiln_v3_norm(kiln_v3_sub(r->txn->mesh->x[vertex], r->how->centre));
    return off <= r->how->near      ? 0.0
           : r->how->far < HUGE_VAL ? fmax(0.0, (r->how->far - off) / (r->how->far - r->how->near))
                                    : 1.0;
}

static void sum_areas(swelling *r)
{
    const kiln_mesh *mesh = r->txn->mesh;
    memset(r->area.data, 0, mesh->table[KILN_ON_VERTEX].used * sizeof *r->area.data);
    for (size_t i = 0; i < 4 * r->tets.count; i++) {
        uint32_t at = kiln_link_to(r->tets.data[i / 4], i % 4), v[3];
        if (!kiln_link_is_surface(mesh->tet[at / 4].n[at % 4]))
            continue;
        for (int k = 0; k < 3; k++)
            v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        kiln_vec3 area = kiln_v3_cross(kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]),
                                       kiln_v3_sub(mesh->x[v[2]], mesh->x[v[0]]));
        for (int k = 0; k < 3; k++)
            r->area.data[v[k]] = kiln_v3_madd(r->area.data[v[k]], 1.0 / 6.0, area);
    }
}

/* The way of a vertex, at most of unit length; 0: it takes no part. */
static kiln_vec3 way_of(const swelling *r, uint32_t vertex)
{
    const kiln_mesh *mesh = r->txn->mesh;
    kiln_vec3 none = {0, 0, 0}, way = r->area.data[vertex];
    if (!kiln_vertex_live(mesh, vertex) || !(kiln_v3_norm2(way) > 0.0) ||
        mesh->vertex[vertex].flags & KILN_VERTEX_REQUIRED || share_of(r, vertex) == 0.0)
        return none;
    way = kiln_v3_scale(kiln_v3_normalize(way), share_of(r, vertex));
    return r->how->may_go ? r->how->may_go(r->how->user, vertex, way) : way;
}

/* Along the normals, by what makes `volume` if all go; returns what it made. */
static kiln_verdict swell(swelling *r, double volume, double *made)
{
    const kiln_mesh *mesh = r->txn->mesh;
    double all = 0.0;
    sum_areas(r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        all += kiln_v3_dot(way_of(r, v), r->area.data[v]);
    *made = 0.0;
    if (!(all > 0.0))
        return KILN_ACCEPTED;
    double far = fmin(volume / all, r->how->most);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 way = way_of(r, v);
        if (kiln_v3_norm2(way) == 0.0)
            continue;
        kiln_vec3 to = kiln_v3_madd(mesh->x[v], far, way);
        kiln_verdict verdict = kiln_txn_move_vertex(r->txn, v, to, to);
        if (verdict == KILN_REFUSED_MEMORY)
            return verdict;
        if (verdict == KILN_ACCEPTED)
            *made += far * kiln_v3_dot(way, r->area.data[v]);
    }
    return KILN_ACCEPTED;
}

static kiln_status take_in(swelling *r, uint32_t tet)
{
    kiln_idset_slot *slot = kiln_idset_at(&r->seen, tet);
    if (slot->epoch == r->seen.epoch)
        return KILN_OK;
    kiln_idset_add(&r->seen, slot, tet, 0);
    if (2 * (size_t)r->seen.members >= r->seen.slots.count)
        KILN_TRY(kiln_idset_grow(r->context, &r->seen, NULL));
    return kiln_array_push(r->context, &r->tets, tet, NULL);
}

/* All that hangs together with one of its tets. */
static kiln_status gather(swelling *r, uint32_t tet)
{
    const kiln_mesh *mesh = r->txn->mesh;
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(r->context, &r->area, rows + 1, NULL));
    KILN_TRY(kiln_idset_clear(r->context, &r->seen, 64, NULL));
    KILN_TRY(take_in(r, tet));
    for (size_t i = 0; i < r->tets.count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_link link = mesh->tet[r->tets.data[i]].n[k];
            if (!kiln_link_is_surface(link))
                KILN_TRY(take_in(r, link / 4));
        }
    return KILN_OK;
}

kiln_verdict kiln_surface_swell(kiln_txn *txn, const kiln_swell *how, uint32_t tet, double volume)
{
    swelling r = {.context = txn->mesh->context, .txn = txn, .how = how};
    kiln_verdict verdict = gather(&r, tet) == KILN_OK ? KILN_ACCEPTED : KILN_REFUSED_MEMORY;
    double enough = 1e-3 * volume;
    for (int i = 0; i < ROUNDS && verdict == KILN_ACCEPTED && volume > enough; i++) {
        double made;
        verdict = swell(&r, volume, &made);
        volume -= made;
    }
    kiln_array_free(r.context, &r.area);
    kiln_array_free(r.context, &r.tets);
    kiln_array_free(r.context, &r.seen.slots);
    return verdict;
}
