/* A hole opens in a film: what it takes away goes, its rim is drawn to a circle, and the film about
 * it takes up the room, as the bead does that a rim gathers. */
#include "topology/film.h"
#include "topology/nudge.h"
#include "topology/repair.h"
#include "topology/swell.h"

#include <math.h>

/* Vertices of the rim go to the circle in so many steps. */
enum { STEPS = 4 };
/* Of the radius of the hole: the film thickens between these, at most by this in a round. */
static const double NEAR = 1.1, FAR = 3.0, SWOLLEN = 0.1;

typedef struct opening {
    kiln_txn *txn;
    const kiln_film *film;
    const kiln_film_hole *how;
    kiln_idset leaving; /* tets */
    kiln_walker walker;
} opening;

static bool leaves(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    (void)mesh;
    return kiln_idset_has(&((const opening *)user)->leaving, tet);
}

static kiln_vec3 aside(const opening *o, uint32_t vertex)
{
    kiln_vec3 r = kiln_v3_sub(o->txn->mesh->x[vertex], o->film->centre);
    return kiln_v3_madd(r, -kiln_v3_dot(r, o->film->normal), o->film->normal);
}

static kiln_verdict round_rim(opening *o)
{
    const kiln_mesh *mesh = o->txn->mesh;
    const kiln_u32_array *rim = &o->film->rim;
    double radius = 0.0;
    for (size_t i = 0; i < rim->count; i++)
        radius += kiln_v3_norm(aside(o, rim->data[i])) / (double)rim->count;
    for (int step = STEPS; step > 0; step--)
        for (size_t i = 0; i < rim->count; i++) {
            uint32_t v = rim->data[i];
            kiln_vec3 r = aside(o, v);
            double far = kiln_v3_norm(r);
            if (!(far > 0.0) || !kiln_vertex_live(mesh, v))
                continue;
            kiln_vec3 way = kiln_v3_scale(r, radius / far - 1.0);
            if (o->how->may_go)
                way = o->how->may_go(o->how->user, v, way);
            if (kiln_nudge(o->txn, &o->walker, v, kiln_v3_add(mesh->x[v], way), 1.0 / step,
                           o->how->quality) == KILN_REFUSED_MEMORY)
                return KILN_REFUSED_MEMORY;
        }
    return KILN_ACCEPTED;
}

/* A tet that stays, at the rim. */
static uint32_t tet_beside(const opening *o)
{
    const kiln_mesh *mesh = o->txn->mesh;
    for (size_t i = 0; i < 4 * o->film->tets.count; i++) {
        kiln_link link = mesh->tet[o->film->tets.data[i / 4]].n[i % 4];
        if (!kiln_link_is_surface(link) && !kiln_idset_has(&o->leaving, link / 4))
            return link / 4;
    }
    return KILN_NONE;
}

static kiln_verdict thicken(const opening *o, uint32_t beside, double volume)
{
    double radius = o->film->radius;
    const kiln_swell how = {.centre = o->film->centre,
                            .near = NEAR * radius,
                            .far = FAR * radius,
                            .most = SWOLLEN * radius,
                            .may_go = o->how->may_go,
                            .user = o->how->user};
    return kiln_surface_swell(o->txn, &how, beside, volume);
}

static kiln_verdict open_in(opening *o)
{
    const kiln_mesh *mesh = o->txn->mesh;
    const kiln_u32_array *tets = &o->film->tets;
    if (kiln_idset_clear(mesh->context, &o->leaving, tets->count + 1, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < tets->count; i++)
        kiln_idset_add(&o->leaving, kiln_idset_at(&o->leaving, tets->data[i]), tets->data[i], 0);
    kiln_repair_report repaired = {0};
    double before = kiln_mesh_volume(mesh);
    uint32_t beside = tet_beside(o);
    if (beside == KILN_NONE)
        return KILN_REFUSED_JUDGED;
    kiln_verdict verdict = kiln_tets_remove(o->txn, leaves, o, o->how->tag, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(o->txn, o->how->tag, &repaired);
    if (verdict == KILN_ACCEPTED && repaired.vertices_split + repaired.edges_split > 0)
        verdict = KILN_REFUSED_JUDGED; /* its rim would meet another */
    if (verdict == KILN_ACCEPTED)
        verdict = round_rim(o);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    return kiln_tet_live(mesh, beside) ? thicken(o, beside, before - kiln_mesh_volume(mesh))
                                       : KILN_REFUSED_JUDGED;
}

kiln_verdict kiln_film_open(kiln_txn *txn, const kiln_film *film, const kiln_film_hole *how)
{
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    opening o = {.txn = &inner, .film = film, .how = how};
    kiln_walker_init(&o.walker, txn->mesh->context);
    kiln_verdict verdict = open_in(&o);
    kiln_array_free(txn->mesh->context, &o.leaving.slots);
    kiln_walker_free(&o.walker);
    return kiln_txn_settle(&inner, verdict);
}
