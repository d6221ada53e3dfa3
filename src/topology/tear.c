#include "topology/tear.h"

#include "topology/nudge.h"
#include "topology/open.h"
#include "topology/repair.h"
#include "topology/swell.h"
#include "topology/tear_cut.h"

#include <math.h>

/* Of the sum of the areas of what opens at a vertex: one whose normals cancel is at the tip. */
static const double ONE_SIDED = 0.3;
/* Of what they should, sides have to part, at every vertex. */
static const double ENOUGH = 0.2;
/* Of an edge, the way of the rest of the surface in a round. */
static const double SWOLLEN = 0.05;
/* Ways of vertices are gone in this many parts, so that neighbours can go before. */
enum { STEPS = 3 };
/* Tets that are as they were, of what comes off, at least. */
enum { LEAST_OLD = 4 };
/* In which crumbs are joined. */
enum { ROUNDS = 10 };

typedef struct rim_edge {
    uint32_t a, b;
} rim_edge;

typedef struct lip {
    uint32_t vertex, twin;
    kiln_vec3 area; /* of its opened faces, out of the matter */
    double all;     /* m^2, of them */
    kiln_vec3 from;
    double lost;   /* m^3, by its way */
    uint32_t side; /* a tet of all that hangs together there; the same for all of it */
} lip;

typedef struct tearing {
    kiln_context *context;
    kiln_txn *txn;
    const kiln_tear_how *how;
    kiln_walker walker;
    kiln_tear_knife knife;
    KILN_ARRAY_OF(rim_edge)
    rim;
    kiln_idset refused;  /* tet -> the stamp it had then */
    kiln_idset in_plane; /* vertices of marked faces */
    kiln_vec3 origin, normal;
    kiln_u32_array faces; /* to be opened */
    kiln_u32_array list;  /* of tets */
    kiln_idset at_lip;    /* vertex -> index into lips */
    KILN_ARRAY_OF(lip)
    lips;
    kiln_tear_report report;
} tearing;

static void tearing_free(tearing *t)
{
    kiln_walker_free(&t->walker);
    kiln_array_free(t->context, &t->rim);
    kiln_array_free(t->context, &t->refused.slots);
    kiln_array_free(t->context, &t->in_plane.slots);
    kiln_array_free(t->context, &t->faces);
    kiln_array_free(t->context, &t->list);
    kiln_array_free(t->context, &t->at_lip.slots);
    kiln_array_free(t->context, &t->lips);
}

static kiln_verdict put(tearing *t, kiln_idset *set, uint32_t id, uint32_t value)
{
    kiln_idset_slot *slot = kiln_idset_at(set, id);
    if (slot->epoch == set->epoch) {
        slot->value = value;
        return KILN_ACCEPTED;
    }
    kiln_idset_add(set, slot, id, value);
    return 2 * (size_t)set->members < set->slots.count ||
                   kiln_idset_grow(t->context, set, NULL) == KILN_OK
               ? KILN_ACCEPTED
               : KILN_REFUSED_MEMORY;
}

static bool was_refused(const tearing *t, uint32_t tet)
{
    const kiln_idset_slot *slot = kiln_idset_at(&t->refused, tet);
    return slot->epoch == t->refused.epoch && slot->value == t->txn->mesh->info[tet].changed;
}

/* Tets that share an edge of the new faces and go on across the plane get what was there. */
static kiln_verdict hand_on(tearing *t, const kiln_tear_cut *cut, kiln_pull pull)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int i = 0; i < 3 * cut->faces && verdict == KILN_ACCEPTED; i++) {
        uint32_t a = cut->face[i / 3][i % 3], b = cut->face[i / 3][(i + 1) % 3];
        if (put(t, &t->in_plane, a, 0) != KILN_ACCEPTED ||
            kiln_array_push(t->context, &t->rim, ((rim_edge){a, b}), NULL) != KILN_OK ||
            kiln_edge_tets(t->txn->mesh, a, b, &t->walker, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        for (size_t k = 0; t->how->hand_on && k < t->walker.tets.count; k++) {
            uint32_t tet = t->walker.tets.data[k];
            if (verdict == KILN_ACCEPTED && !kiln_tear_is_beside(t->txn->mesh, tet) &&
                kiln_tear_goes_on(t->txn->mesh, tet, a, b, t->normal))
                verdict = t->how->hand_on(t->how->user, t->txn, tet, pull);
        }
    }
    return verdict;
}

static kiln_verdict cut_tet(tearing *t, uint32_t tet, kiln_pull pull)
{
    kiln_tear_cut cut;
    bool first = t->report.cut == 0;
    kiln_verdict verdict =
        first ? kiln_tear_cut_tet(t->txn, &t->knife, tet, pull.along, &cut)
              : kiln_tear_cut_on(t->txn, &t->knife, tet, t->origin, t->normal, &cut);
    if (verdict == KILN_REFUSED_MEMORY)
        return verdict;
    if (verdict != KILN_ACCEPTED)
        return put(t, &t->refused, tet, t->txn->mesh->info[tet].changed);
    t->report.cut++;
    if (first) {
        t->origin = cut.origin;
        t->normal = cut.normal;
    }
    return hand_on(t, &cut, pull);
}

/* Of the tets at one edge of the rim that may be cut, the one that is pulled most, if that is more
 * than *best. *rim: whether the cut ends there at all. */
static kiln_status look_at_edge(tearing *t, rim_edge edge, uint32_t *tet, kiln_pull *best,
                                bool *rim, kiln_error *error)
{
    const kiln_mesh *mesh = t->txn->mesh;
    *rim = false;
    KILN_TRY(kiln_edge_tets(mesh, edge.a, edge.b, &t->walker, error));
    if (t->walker.tets.count == 0)
        return KILN_OK;
    uint32_t first = t->walker.tets.data[0];
    *rim = kiln_tear_ends_at(mesh, first, kiln_tet_corner(&mesh->tet[first], edge.a),
                             kiln_tet_corner(&mesh->tet[first], edge.b), false);
    for (size_t i = 0; *rim && i < t->walker.tets.count; i++) {
        uint32_t one = t->walker.tets.data[i];
        if (kiln_tear_is_beside(mesh, one) || was_refused(t, one))
            continue;
        kiln_pull pull = {t->how->across(t->how->user, mesh, one, t->normal), t->normal};
        if (pull.stress < t->how->stress || pull.stress < best->stress ||
            (pull.stress == best->stress && one >= *tet) ||
            !kiln_tear_goes_on(mesh, one, edge.a, edge.b, t->normal))
            continue;
        *best = pull;
        *tet = one;
    }
    return KILN_OK;
}

static kiln_verdict grow(tearing *t)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    while (t->report.cut < t->how->most && verdict == KILN_ACCEPTED) {
        uint32_t tet = KILN_NONE;
        kiln_pull best = {0};
        size_t kept = 0;
        for (size_t i = 0; i < t->rim.count; i++) {
            rim_edge edge = t->rim.data[i];
            bool rim;
            if (look_at_edge(t, edge, &tet, &best, &rim, NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
            if (rim)
                t->rim.data[kept++] = edge;
        }
        t->rim.count = kept;
        if (tet == KILN_NONE)
            break;
        verdict = cut_tet(t, tet, best);
    }
    return verdict;
}

static bool is_marked(const kiln_mesh *mesh, uint32_t at)
{
    return mesh->info[at / 4].marks >> (KILN_MARK_SPLIT_FACE + at % 4) & 1;
}

/* All that hangs together with a tet but for marked faces, into `list`, and `refused` as a set,
 * which is no longer needed as it was; *old of it are as they were before the tear. Where there is
 * enough of that for a part it stops, unless `all` is wanted. */
static kiln_verdict flood(tearing *t, uint32_t tet, bool all, uint32_t *old)
{
    const kiln_mesh *mesh = t->txn->mesh;
    t->list.count = 0;
    *old = mesh->info[tet].changed <= t->report.since;
    if (kiln_idset_clear(t->context, &t->refused, 64, NULL) != KILN_OK ||
        put(t, &t->refused, tet, 0) != KILN_ACCEPTED ||
        kiln_array_push(t->context, &t->list, tet, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < 4 * t->list.count && (all || *old < LEAST_OLD); i++) {
        uint32_t at = kiln_link_to(t->list.data[i / 4], (uint32_t)(i % 4));
        kiln_link link = mesh->tet[at / 4].n[at % 4];
        if (kiln_link_is_surface(link) || is_marked(mesh, at) ||
            kiln_idset_has(&t->refused, link / 4))
            continue;
        if (put(t, &t->refused, link / 4, 0) != KILN_ACCEPTED ||
            kiln_array_push(t->context, &t->list, link / 4, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        *old += mesh->info[link / 4].changed <= t->report.since;
    }
    return KILN_ACCEPTED;
}

static kiln_vec3 area_of(const kiln_mesh *mesh, uint32_t at)
{
    const uint8_t *k = kiln_face_corner[at % 4];
    const uint32_t *v = mesh->tet[at / 4].v;
    return kiln_v3_scale(kiln_v3_cross(kiln_v3_sub(mesh->x[v[k[1]]], mesh->x[v[k[0]]]),
                                       kiln_v3_sub(mesh->x[v[k[2]]], mesh->x[v[k[0]]])),
                         0.5);
}

/* What is listed goes with the side of the plane with which it has more area in common. */
static kiln_verdict join_crumb(tearing *t)
{
    const kiln_mesh *mesh = t->txn->mesh;
    double in_common[2] = {0};
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < 4 * t->list.count && verdict == KILN_ACCEPTED; i++) {
            uint32_t at = kiln_link_to(t->list.data[i / 4], (uint32_t)(i % 4));
            if (!is_marked(mesh, at))
                continue;
            kiln_vec3 area = area_of(mesh, at);
            bool above = kiln_v3_dot(area, t->normal) > 0.0;
            if (pass == 0)
                in_common[above] += kiln_v3_norm(area);
            else if (above == (in_common[1] > in_common[0]))
                verdict = kiln_txn_mark_face(t->txn, at / 4, at % 4, KILN_MARK_SPLIT_FACE, false);
        }
    return verdict;
}

/* What the cut would leave alone and is too little for a part stays with one of its sides: it is
 * not worth a mesh, and what has none of the old vertices would get nothing by a transfer. */
static kiln_verdict join_crumbs(tearing *t, bool *joined)
{
    const kiln_mesh *mesh = t->txn->mesh;
    kiln_verdict verdict = KILN_ACCEPTED;
    *joined = false;
    for (size_t i = 0; i < 2 * t->faces.count && verdict == KILN_ACCEPTED; i++) {
        uint32_t at = t->faces.data[i / 2], old;
        if (!is_marked(mesh, at))
            continue;
        verdict = flood(t, i % 2 ? mesh->tet[at / 4].n[at % 4] / 4 : at / 4, false, &old);
        if (verdict != KILN_ACCEPTED || old >= LEAST_OLD)
            continue;
        *joined = true;
        verdict = join_crumb(t);
    }
    return verdict;
}

/* All that is marked; what opens has to begin at the surface. */
static kiln_verdict gather_faces(tearing *t)
{
    const kiln_mesh *mesh = t->txn->mesh;
    bool at_surface = false;
    t->faces.count = 0;
    t->report.area = 0.0;
    for (uint32_t at = 0; at < 4 * mesh->table[KILN_ON_TET].used; at++) {
        if (!kiln_tet_live(mesh, at / 4) || !is_marked(mesh, at) ||
            mesh->tet[at / 4].n[at % 4] < at)
            continue;
        if (kiln_array_push(t->context, &t->faces, at, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        const uint8_t *k = kiln_face_corner[at % 4];
        for (int i = 0; i < 3; i++)
            at_surface |= kiln_tear_ends_at(mesh, at / 4, k[i], k[(i + 1) % 3], true);
        t->report.area += kiln_v3_norm(area_of(mesh, at));
    }
    t->report.faces = (uint32_t)t->faces.count;
    return at_surface ? KILN_ACCEPTED : KILN_REFUSED_JUDGED;
}

static kiln_verdict add_to_lip(tearing *t, uint32_t vertex, kiln_vec3 area)
{
    const kiln_mesh *mesh = t->txn->mesh;
    kiln_idset_slot *slot = kiln_idset_at(&t->at_lip, vertex);
    uint32_t index = slot->value;
    if (slot->epoch != t->at_lip.epoch) {
        index = (uint32_t)t->lips.count;
        lip one = {.vertex = vertex, .twin = mesh->vertex[vertex].twin, .from = mesh->x[vertex]};
        if (kiln_array_push(t->context, &t->lips, one, NULL) != KILN_OK ||
            put(t, &t->at_lip, vertex, index) != KILN_ACCEPTED)
            return KILN_REFUSED_MEMORY;
    }
    t->lips.data[index].area = kiln_v3_add(t->lips.data[index].area, area);
    t->lips.data[index].all += kiln_v3_norm(area);
    return KILN_ACCEPTED;
}

/* *edge: m, the mean one of what was opened. */
static kiln_verdict find_lips(tearing *t, double *edge)
{
    const kiln_mesh *mesh = t->txn->mesh;
    kiln_verdict verdict = KILN_ACCEPTED;
    double sum = 0.0;
    size_t count = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && verdict == KILN_ACCEPTED; f++) {
        if (!kiln_face_live(mesh, f) || mesh->face[f].stamp <= t->report.since)
            continue;
        uint32_t at = mesh->face[f].at, v[3];
        for (int k = 0; k < 3; k++)
            v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        kiln_vec3 area = kiln_v3_scale(kiln_v3_cross(kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]),
                                                     kiln_v3_sub(mesh->x[v[2]], mesh->x[v[0]])),
                                       0.5);
        for (int k = 0; k < 3 && verdict == KILN_ACCEPTED; k++) {
            sum += kiln_v3_norm(kiln_v3_sub(mesh->x[v[(k + 1) % 3]], mesh->x[v[k]]));
            count++;
            verdict = add_to_lip(t, v[k], area);
        }
    }
    *edge = count ? sum / (double)count : 0.0;
    return verdict;
}

static bool is_at_tip(const lip *l)
{
    return kiln_v3_norm(l->area) < ONE_SIDED * l->all;
}

static kiln_vec3 way_of(const tearing *t, const lip *l, double way)
{
    kiln_vec3 back = kiln_v3_scale(kiln_v3_normalize(l->area), -way);
    return t->how->may_go ? t->how->may_go(t->how->going, l->vertex, back) : back;
}

/* Of the tets at a vertex. */
static kiln_status volume_at(tearing *t, uint32_t vertex, double *volume, kiln_error *error)
{
    const kiln_mesh *mesh = t->txn->mesh;
    KILN_TRY(kiln_star(mesh, vertex, &t->walker, error));
    *volume = 0.0;
    for (size_t i = 0; i < t->walker.tets.count; i++) {
        const uint32_t *v = mesh->tet[t->walker.tets.data[i]].v;
        *volume += kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
    }
    return KILN_OK;
}

static kiln_verdict move_lip(tearing *t, lip *l, kiln_vec3 to, double part)
{
    double before, after;
    if (volume_at(t, l->vertex, &before, NULL) != KILN_OK ||
        kiln_nudge(t->txn, &t->walker, l->vertex, to, part, t->how->quality) != KILN_ACCEPTED ||
        volume_at(t, l->vertex, &after, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    l->lost += before - after;
    return KILN_ACCEPTED;
}

/* What the sides lose of their room goes back all over the rest of their surface. */
static kiln_verdict refill(tearing *t, double edge)
{
    kiln_vec3 centre = {0, 0, 0};
    double far = 0.0;
    for (size_t i = 0; i < t->lips.count; i++)
        centre = kiln_v3_madd(centre, 1.0 / (double)t->lips.count, t->lips.data[i].from);
    for (size_t i = 0; i < t->lips.count; i++)
        far = fmax(far, kiln_v3_norm(kiln_v3_sub(t->lips.data[i].from, centre)));
    const kiln_swell how = {.centre = centre,
                            .near = far + edge,
                            .far = INFINITY,
                            .most = SWOLLEN * edge,
                            .may_go = t->how->may_go,
                            .user = t->how->going};
    kiln_verdict verdict = KILN_ACCEPTED;
    for (size_t i = 0; i < t->lips.count && verdict == KILN_ACCEPTED; i++) {
        uint32_t side = t->lips.data[i].side;
        double lost = 0.0;
        bool done = false;
        for (size_t j = 0; j < t->lips.count; j++) {
            done |= j < i && t->lips.data[j].side == side;
            lost += t->lips.data[j].side == side ? t->lips.data[j].lost : 0.0;
        }
        if (!done && lost > 0.0)
            verdict = kiln_surface_swell(t->txn, &how, side, lost);
    }
    return verdict;
}

/* Crumbs that repair has made are refused. */
static kiln_verdict find_sides(tearing *t)
{
    const kiln_mesh *mesh = t->txn->mesh;
    for (size_t i = 0; i < t->lips.count; i++)
        t->lips.data[i].side = KILN_NONE;
    for (size_t i = 0; i < t->lips.count; i++) {
        uint32_t tet = mesh->vertex[t->lips.data[i].vertex].tet, old;
        if (t->lips.data[i].side != KILN_NONE)
            continue;
        if (flood(t, tet, true, &old) != KILN_ACCEPTED)
            return KILN_REFUSED_MEMORY;
        if (old < LEAST_OLD)
            return KILN_REFUSED_JUDGED;
        for (size_t j = i; j < t->lips.count; j++)
            if (kiln_idset_has(&t->refused, mesh->vertex[t->lips.data[j].vertex].tet))
                t->lips.data[j].side = tet;
        t->report.apart |= i > 0;
    }
    return t->report.apart || t->report.area >= t->how->least ? KILN_ACCEPTED : KILN_REFUSED_JUDGED;
}

/* Copies of one vertex are no longer in one place. */
static bool have_parted(const tearing *t, double way)
{
    const kiln_mesh *mesh = t->txn->mesh;
    for (size_t i = 0; i < t->lips.count; i++)
        for (size_t j = 0; j < i; j++) {
            const lip *l = &t->lips.data[i], *m = &t->lips.data[j];
            if (l->twin == 0 || l->twin != m->twin || is_at_tip(l) || is_at_tip(m) ||
                kiln_v3_norm2(kiln_v3_sub(l->from, m->from)) > 0.0)
                continue;
            if (kiln_v3_norm(kiln_v3_sub(mesh->x[l->vertex], mesh->x[m->vertex])) < ENOUGH * way)
                return false;
        }
    return true;
}

static kiln_verdict part_sides(tearing *t)
{
    double edge = 0.0;
    kiln_verdict verdict = kiln_idset_clear(t->context, &t->at_lip, 64, NULL) == KILN_OK
                               ? find_lips(t, &edge)
                               : KILN_REFUSED_MEMORY;
    if (verdict == KILN_ACCEPTED)
        verdict = find_sides(t);
    if (verdict != KILN_ACCEPTED || !(t->how->part > 0.0))
        return verdict;
    double way = 0.5 * t->how->part * edge;
    for (int step = STEPS; step > 0; step--)
        for (size_t i = 0; i < t->lips.count && verdict == KILN_ACCEPTED; i++) {
            lip *l = &t->lips.data[i];
            if (!is_at_tip(l))
                verdict = move_lip(t, l, kiln_v3_add(l->from, way_of(t, l, way)), 1.0 / step);
        }
    if (verdict == KILN_ACCEPTED && !have_parted(t, way))
        verdict = KILN_REFUSED_JUDGED;
    if (verdict == KILN_ACCEPTED)
        verdict = refill(t, edge);
    return verdict == KILN_ACCEPTED ? kiln_open_part(t->txn) : verdict;
}

static kiln_verdict tear_from(tearing *t, uint32_t tet)
{
    if (kiln_idset_clear(t->context, &t->refused, 64, NULL) != KILN_OK ||
        kiln_idset_clear(t->context, &t->in_plane, 64, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_pull pull = t->how->pull(t->how->user, t->txn->mesh, tet);
    if (pull.stress < t->how->stress)
        return KILN_REFUSED_JUDGED;
    kiln_verdict verdict = cut_tet(t, tet, pull);
    if (verdict == KILN_ACCEPTED && t->report.cut == 0)
        verdict = KILN_REFUSED_JUDGED;
    if (verdict == KILN_ACCEPTED)
        verdict = grow(t);
    bool again = true;
    for (int i = 0; i < ROUNDS && again && verdict == KILN_ACCEPTED; i++)
        if ((verdict = gather_faces(t)) == KILN_ACCEPTED)
            verdict = join_crumbs(t, &again);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_open_faces(t->txn, t->faces.data, t->faces.count, t->how->tag, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(t->txn, t->how->tag, NULL);
    return verdict == KILN_ACCEPTED ? part_sides(t) : verdict;
}

kiln_verdict kiln_tear(kiln_txn *txn, uint32_t tet, const kiln_tear_how *how,
                       kiln_tear_report *report)
{
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    tearing t = {.context = txn->mesh->context, .txn = &inner, .how = how};
    kiln_walker_init(&t.walker, t.context);
    t.report.since = txn->mesh->clock;
    /* Its own scratch: cuts are made while the tets of an edge are listed. */
    kiln_walker cutter;
    kiln_walker_init(&cutter, t.context);
    t.knife = (kiln_tear_knife){how->may, how->user, how->quality, &cutter, &t.in_plane};
    kiln_verdict verdict = tear_from(&t, tet);
    *report = t.report;
    kiln_walker_free(&cutter);
    tearing_free(&t);
    return kiln_txn_settle(&inner, verdict);
}
