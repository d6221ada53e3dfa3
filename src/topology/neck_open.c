/* A neck breaks: its faces open and both ends draw back along its normal. How far a vertex is to go
 * falls off linearly with its distance from the end, along and across, so that what lies behind
 * makes room. They go in small steps, those that are farthest first; one that would crush a tet
 * waits for the next step, in which its neighbours are elsewhere. */
#include "topology/neck.h"
#include "topology/nudge.h"
#include "topology/open.h"
#include "topology/repair.h"
#include "topology/swell.h"

#include <math.h>
#include <stdlib.h>

/* Of the radius of the cut, how far off its middle all goes along. */
static const double ALL_ALONG = 1.5;
/* In so many steps; and of the whole way, what the foremost must have gone in the end. */
enum { STEPS = 8 };
static const double ENOUGH = 0.6;
/* Of how uneven the end would be, what is left. */
static const double UNEVEN = 0.3;
/* Of the reach: farther off the cut nothing has drawn back; and how far the surface there may go
 * out in a round. */
static const double DRAWN = 1.2, SWOLLEN = 0.02;

typedef struct drawn {
    uint32_t vertex;
    double far;  /* m behind the cut */
    bool on_end; /* on a face that was opened */
    kiln_vec3 to;
} drawn;

typedef struct drawing {
    kiln_context *context;
    kiln_txn *txn;
    const kiln_neck *neck;
    const kiln_neck_break *how;
    kiln_u32_array across; /* tets on the other side of the faces */
    kiln_u32_array tets;   /* of one side */
    kiln_idset seen;       /* tet -> side */
    kiln_idset met;        /* vertices of one side */
    kiln_idset end;        /* of faces that were opened */
    uint32_t since;        /* the mesh's clock before */
    KILN_ARRAY_OF(drawn)
    vertices;
    kiln_walker walker;
} drawing;

static void drawing_free(drawing *d)
{
    kiln_array_free(d->context, &d->across);
    kiln_array_free(d->context, &d->tets);
    kiln_array_free(d->context, &d->seen.slots);
    kiln_array_free(d->context, &d->met.slots);
    kiln_array_free(d->context, &d->end.slots);
    kiln_array_free(d->context, &d->vertices);
    kiln_walker_free(&d->walker);
}

static bool add_to(kiln_context *context, kiln_idset *set, uint32_t id, uint32_t value,
                   bool *is_new)
{
    kiln_idset_slot *slot = kiln_idset_at(set, id);
    *is_new = slot->epoch != set->epoch;
    if (!*is_new)
        return true;
    kiln_idset_add(set, slot, id, value);
    return 2 * (size_t)set->members < set->slots.count ||
           kiln_idset_grow(context, set, NULL) == KILN_OK;
}

static bool is_near(const drawing *d, uint32_t tet)
{
    for (int k = 0; k < 4; k++)
        if (kiln_v3_norm(kiln_v3_sub(d->txn->mesh->x[d->txn->mesh->tet[tet].v[k]],
                                     d->neck->centre)) < d->how->reach)
            return true;
    return false;
}

static kiln_verdict take_tet(drawing *d, uint32_t tet, uint32_t side)
{
    bool is_new;
    if (!add_to(d->context, &d->seen, tet, side, &is_new))
        return KILN_REFUSED_MEMORY;
    if (!is_new)
        return kiln_idset_at(&d->seen, tet)->value == side ? KILN_ACCEPTED : KILN_REFUSED_JUDGED;
    return kiln_array_push(d->context, &d->tets, tet, NULL) == KILN_OK ? KILN_ACCEPTED
                                                                       : KILN_REFUSED_MEMORY;
}

/* The tets of a side that have a corner in reach. */
static kiln_verdict gather_side(drawing *d, const kiln_u32_array *faces, uint32_t side)
{
    const kiln_mesh *mesh = d->txn->mesh;
    kiln_verdict verdict = KILN_ACCEPTED;
    d->tets.count = 0;
    for (size_t i = 0; i < faces->count && verdict == KILN_ACCEPTED; i++)
        verdict = take_tet(d, faces->data[i] / 4, side);
    for (size_t i = 0; i < d->tets.count && verdict == KILN_ACCEPTED; i++)
        for (int k = 0; k < 4 && verdict == KILN_ACCEPTED; k++) {
            kiln_link link = mesh->tet[d->tets.data[i]].n[k];
            if (!kiln_link_is_surface(link) && is_near(d, link / 4))
                verdict = take_tet(d, link / 4, side);
        }
    return verdict;
}

static int farthest_first(const void *a, const void *b)
{
    const drawn *left = a, *right = b;
    if (left->far != right->far)
        return left->far > right->far ? -1 : 1;
    return (left->vertex > right->vertex) - (left->vertex < right->vertex);
}

static kiln_verdict note_end(drawing *d)
{
    const kiln_mesh *mesh = d->txn->mesh;
    bool is_new;
    if (kiln_idset_clear(d->context, &d->end, 64, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < 4 * d->tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[d->tets.data[i / 4]];
        kiln_link link = tet->n[i % 4];
        if (!kiln_link_is_surface(link) || mesh->face[link - KILN_LINK_SURFACE].stamp <= d->since)
            continue;
        for (int k = 0; k < 3; k++)
            if (!add_to(d->context, &d->end, tet->v[kiln_face_corner[i % 4][k]], 0, &is_new))
                return KILN_REFUSED_MEMORY;
    }
    return KILN_ACCEPTED;
}

static kiln_verdict list_vertices(drawing *d, kiln_vec3 behind)
{
    const kiln_mesh *mesh = d->txn->mesh;
    bool is_new;
    d->vertices.count = 0;
    if (note_end(d) != KILN_ACCEPTED)
        return KILN_REFUSED_MEMORY;
    if (kiln_idset_clear(d->context, &d->met, 64, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < 4 * d->tets.count; i++) {
        uint32_t v = mesh->tet[d->tets.data[i / 4]].v[i % 4];
        if (!add_to(d->context, &d->met, v, 0, &is_new))
            return KILN_REFUSED_MEMORY;
        bool on_end = kiln_idset_has(&d->end, v);
        drawn one = {.vertex = v,
                     .on_end = on_end,
                     .far = kiln_v3_dot(kiln_v3_sub(mesh->x[v], d->neck->centre), behind)};
        if (is_new && kiln_array_push(d->context, &d->vertices, one, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
    }
    if (d->vertices.count)
        qsort(d->vertices.data, d->vertices.count, sizeof *d->vertices.data, farthest_first);
    return KILN_ACCEPTED;
}

/* The foremost of those that go all along, m behind the cut. */
static double find_front(const drawing *d, kiln_vec3 behind)
{
    const kiln_mesh *mesh = d->txn->mesh;
    double front = INFINITY, radius = sqrt(d->neck->area / KILN_PI);
    for (size_t i = 0; i < d->vertices.count; i++) {
        kiln_vec3 r = kiln_v3_sub(mesh->x[d->vertices.data[i].vertex], d->neck->centre);
        double far = kiln_v3_dot(r, behind);
        if (kiln_v3_norm(kiln_v3_madd(r, -far, behind)) <= ALL_ALONG * radius)
            front = fmin(front, far);
    }
    return front;
}

static void plan_ways(drawing *d, kiln_vec3 behind)
{
    const kiln_mesh *mesh = d->txn->mesh;
    double radius = sqrt(d->neck->area / KILN_PI), reach = d->how->reach;
    double front = fmin(find_front(d, behind), 0.0), all = d->how->back - front;
    double within = fmin(ALL_ALONG * radius, 0.8 * reach);
    for (size_t i = 0; i < d->vertices.count; i++) {
        drawn *v = &d->vertices.data[i];
        kiln_vec3 r = kiln_v3_sub(mesh->x[v->vertex], d->neck->centre);
        double aside = kiln_v3_norm(kiln_v3_madd(r, -v->far, behind));
        double along = (reach - fmax(v->far, front)) / (reach - front);
        double part = fmin(1.0, (reach - aside) / (reach - within));
        double back = all * fmax(0.0, along) * fmax(0.0, part);
        if (v->on_end)
            back += (1.0 - UNEVEN) * (d->how->back - (v->far + back));
        kiln_vec3 way = kiln_v3_scale(behind, back);
        if (d->how->may_go && kiln_v3_norm2(way) > 0.0)
            way = d->how->may_go(d->how->user, v->vertex, way);
        v->to = kiln_v3_add(mesh->x[v->vertex], way);
    }
}

static double volume_of(const drawing *d)
{
    double sum = 0.0;
    for (size_t i = 0; i < d->tets.count; i++)
        sum += kiln_mesh_tet_volume(d->txn->mesh, d->tets.data[i]);
    return sum;
}

static kiln_verdict move_all(drawing *d)
{
    for (int step = STEPS; step > 0; step--)
        for (size_t i = 0; i < d->vertices.count; i++)
            if (kiln_nudge(d->txn, &d->walker, d->vertices.data[i].vertex, d->vertices.data[i].to,
                           1.0 / step, d->how->quality) == KILN_REFUSED_MEMORY)
                return KILN_REFUSED_MEMORY;
    return KILN_ACCEPTED;
}

/* What an end loses of its room is given back all over the rest of the surface of its side: there
 * it costs the least area, since that is bent less. */
static kiln_verdict refill(const drawing *d, uint32_t tet, double volume)
{
    const kiln_swell how = {.centre = d->neck->centre,
                            .near = DRAWN * d->how->reach,
                            .far = INFINITY,
                            .most = SWOLLEN * d->how->reach,
                            .may_go = d->how->may_go,
                            .user = d->how->user};
    return kiln_surface_swell(d->txn, &how, tet, volume);
}

static kiln_verdict draw_side(drawing *d, const kiln_u32_array *faces, uint32_t side)
{
    kiln_vec3 behind = kiln_v3_scale(d->neck->normal, side ? 1.0 : -1.0);
    kiln_verdict verdict = gather_side(d, faces, side);
    if (verdict == KILN_ACCEPTED)
        verdict = list_vertices(d, behind);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    double before = volume_of(d);
    plan_ways(d, behind);
    verdict = move_all(d);
    if (verdict == KILN_ACCEPTED && find_front(d, behind) < ENOUGH * d->how->back)
        verdict = KILN_REFUSED_JUDGED;
    return verdict == KILN_ACCEPTED && d->how->refill
               ? refill(d, faces->data[0] / 4, before - volume_of(d))
               : verdict;
}

static kiln_verdict open_and_draw(drawing *d)
{
    const kiln_mesh *mesh = d->txn->mesh;
    const kiln_u32_array *faces = &d->neck->faces;
    for (size_t i = 0; i < faces->count; i++)
        if (kiln_array_push(d->context, &d->across,
                            mesh->tet[faces->data[i] / 4].n[faces->data[i] % 4], NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
    if (kiln_idset_clear(d->context, &d->seen, 64, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    d->since = mesh->clock;
    kiln_verdict verdict = kiln_open_faces(d->txn, faces->data, faces->count, d->how->tag, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(d->txn, d->how->tag, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = draw_side(d, faces, 0);
    if (verdict == KILN_ACCEPTED)
        verdict = draw_side(d, &d->across, 1);
    return verdict == KILN_ACCEPTED ? kiln_open_part(d->txn) : verdict;
}

kiln_verdict kiln_neck_open(kiln_txn *txn, const kiln_neck *neck, const kiln_neck_break *how)
{
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    drawing d = {.context = txn->mesh->context, .txn = &inner, .neck = neck, .how = how};
    kiln_walker_init(&d.walker, d.context);
    kiln_verdict verdict = open_and_draw(&d);
    drawing_free(&d);
    return kiln_txn_settle(&inner, verdict);
}
