/* The gap between two sheets closes: vertices that lie across it from each other become one. */
#include "geom/tet_quality.h"
#include "topology/cavity_list.h"
#include "topology/gap_impl.h"

#include <math.h>
#include <string.h>

typedef struct closing {
    kiln_txn *txn;
    kiln_cavity_list list;
    kiln_walker walker;
} closing;

static bool has(const uint32_t v[4], uint32_t vertex)
{
    return v[0] == vertex || v[1] == vertex || v[2] == vertex || v[3] == vertex;
}

static double quality_of(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    return kiln_tet_quality(&mesh->x[v[0]], &mesh->x[v[1]], &mesh->x[v[2]], &mesh->x[v[3]]);
}

static kiln_status worst_at(closing *c, uint32_t vertex, double *worst)
{
    KILN_TRY(kiln_star(c->txn->mesh, vertex, &c->walker, NULL));
    for (size_t i = 0; i < c->walker.tets.count; i++)
        *worst = fmin(*worst, quality_of(c->txn->mesh, c->walker.tets.data[i]));
    return KILN_OK;
}

/* A tet of b's star goes over to a. */
static void hand_over(closing *c, uint32_t tet, uint32_t a, uint32_t b)
{
    const kiln_mesh *mesh = c->txn->mesh;
    kiln_new_tet fresh = {.parent = tet, .slot = tet};
    memcpy(fresh.v, mesh->tet[tet].v, sizeof fresh.v);
    for (int k = 0; k < 4; k++)
        fresh.v[k] = fresh.v[k] == b ? a : fresh.v[k];
    uint32_t index = kiln_cavity_list_new(&c->list, fresh);
    for (uint32_t k = 0; k < 4; k++) {
        kiln_link link = mesh->tet[tet].n[k];
        if (kiln_link_is_surface(link) && mesh->tet[tet].v[k] != b)
            kiln_cavity_list_keep(&c->list, mesh, index, k, link - KILN_LINK_SURFACE);
    }
}

/* A tet with both vanishes. Where its side at b is surface, what lies across its side at a is. */
static void let_go(closing *c, uint32_t tet, uint32_t a, uint32_t b)
{
    const kiln_mesh *mesh = c->txn->mesh;
    uint32_t at_a = 0, at_b = 0; /* the corners */
    for (uint32_t k = 0; k < 4; k++) {
        at_a = mesh->tet[tet].v[k] == a ? k : at_a;
        at_b = mesh->tet[tet].v[k] == b ? k : at_b;
    }
    kiln_link side = mesh->tet[tet].n[at_a], across = mesh->tet[tet].n[at_b];
    if (kiln_link_is_surface(side) && !kiln_link_is_surface(across) &&
        !has(mesh->tet[across / 4].v, b))
        kiln_cavity_list_opened(
            &c->list,
            (kiln_open_face){.outside = across, .tag = mesh->face[side - KILN_LINK_SURFACE].tag});
}

/* Vertex b becomes a, where a is. */
static kiln_verdict contract(closing *c, kiln_txn *txn, uint32_t a, uint32_t b)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_cavity_list *list = &c->list;
    list->old.count = list->fresh.count = list->surface.count = list->opened.count =
        list->glued.count = 0;
    if (kiln_star(mesh, b, &c->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    size_t common = 0;
    for (size_t i = 0; i < c->walker.tets.count; i++) {
        uint32_t tet = c->walker.tets.data[i];
        kiln_cavity_list_old(list, tet);
        if (has(mesh->tet[tet].v, a)) {
            let_go(c, tet, a, b);
            common++;
        } else {
            hand_over(c, tet, a, b);
        }
    }
    return common == 0 ? KILN_REFUSED_JUDGED : kiln_cavity_list_replace(list, txn, KILN_CAVITY_ANY);
}

/* All corners about are as a surface has them. */
static kiln_verdict is_manifold(closing *c, uint32_t a)
{
    const kiln_mesh *mesh = c->txn->mesh;
    kiln_u32_array tets = {0};
    kiln_verdict verdict =
        kiln_star(mesh, a, &c->walker, NULL) == KILN_OK &&
                kiln_array_reserve(mesh->context, &tets, c->walker.tets.count + 1, NULL) == KILN_OK
            ? KILN_ACCEPTED
            : KILN_REFUSED_MEMORY;
    for (size_t i = 0; verdict == KILN_ACCEPTED && i < c->walker.tets.count; i++)
        tets.data[tets.count++] = c->walker.tets.data[i];
    for (size_t i = 0; verdict == KILN_ACCEPTED && i < 4 * tets.count; i++) {
        kiln_vertex_state state;
        uint32_t other;
        if (kiln_vertex_examine(mesh, mesh->tet[tets.data[i / 4]].v[i % 4], &c->walker, &state,
                                &other, NULL) != KILN_OK)
            verdict = KILN_REFUSED_MEMORY;
        else if (state != KILN_VERTEX_MANIFOLD)
            verdict = KILN_REFUSED_NON_MANIFOLD;
    }
    kiln_array_free(mesh->context, &tets);
    return verdict;
}

/* To that part of the way from a to b; kept if no tet is worse than `least`, which becomes the
 * worst. */
static kiln_verdict try_place(closing *c, const kiln_gap_edge *e, double part, bool keep,
                              double *least)
{
    kiln_mesh *mesh = c->txn->mesh;
    kiln_vec3 to = kiln_v3_lerp(mesh->x[e->a], mesh->x[e->b], part);
    double worst = INFINITY;
    kiln_txn inner = kiln_txn_begin(mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = part == 0.0   ? contract(c, &inner, e->a, e->b)
                           : part == 1.0 ? contract(c, &inner, e->b, e->a)
                                         : kiln_txn_move_vertex(&inner, e->a, to, to);
    if (verdict == KILN_ACCEPTED && part != 0.0 && part != 1.0)
        verdict = contract(c, &inner, e->a, e->b);
    uint32_t left = part == 1.0 ? e->b : e->a;
    if (verdict == KILN_ACCEPTED)
        verdict = is_manifold(c, left);
    if (verdict == KILN_ACCEPTED && worst_at(c, left, &worst) != KILN_OK)
        verdict = KILN_REFUSED_MEMORY;
    if (verdict == KILN_ACCEPTED && !(worst > *least))
        verdict = KILN_REFUSED_JUDGED;
    if (verdict != KILN_ACCEPTED)
        return kiln_txn_settle(&inner, verdict);
    if (!keep) {
        *least = worst;
        kiln_txn_rollback(&inner);
        return KILN_ACCEPTED;
    }
    return kiln_txn_settle(&inner, verdict);
}

static kiln_verdict close_edge(closing *c, const kiln_gap_edge *e)
{
    static const double places[] = {0.5, 0.0, 1.0};
    const kiln_mesh *mesh = c->txn->mesh;
    double least = INFINITY, best = -1.0;
    if (!kiln_vertex_live(mesh, e->a) || !kiln_vertex_live(mesh, e->b))
        return KILN_ACCEPTED;
    if (worst_at(c, e->a, &least) != KILN_OK || worst_at(c, e->b, &least) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    double before = least;
    for (int i = 0; i < 3; i++) {
        kiln_verdict verdict = try_place(c, e, places[i], false, &least);
        if (verdict == KILN_REFUSED_MEMORY)
            return verdict;
        best = verdict == KILN_ACCEPTED ? places[i] : best;
    }
    if (best < 0.0)
        return KILN_ACCEPTED;
    kiln_verdict verdict = try_place(c, e, best, true, &before);
    return verdict == KILN_REFUSED_MEMORY ? verdict : KILN_ACCEPTED;
}

kiln_verdict kiln_gap_close(kiln_txn *txn, const kiln_gap_edge *edges, size_t count)
{
    closing c = {.txn = txn};
    kiln_verdict verdict = KILN_ACCEPTED;
    kiln_cavity_list_init(&c.list, txn->mesh->context);
    kiln_walker_init(&c.walker, txn->mesh->context);
    for (size_t i = 0; i < count && verdict == KILN_ACCEPTED; i++)
        verdict = close_edge(&c, &edges[i]);
    kiln_walker_free(&c.walker);
    kiln_cavity_list_free(&c.list);
    return verdict;
}
