#include "remesh/face_removal.h"
#include "geom/predicates.h"
#include "remesh/edge_removal_select.h"

#include <string.h>

/* Sets of more than 4 faces have never been seen to gain. */
enum { FACES_MOST = 12 };

/* The faces sandwiched between apexes a and b that would go, as a tree grown from the first. */
typedef struct face_set {
    const kiln_remesher *remesher;
    uint32_t a, b;
    bool bound; /* both apexes are on surface or interface */
    int32_t region;
    uint32_t faces;
    uint32_t tet[2 * FACES_MOST]; /* of a and of b, by turns */
    uint32_t ring[FACES_MOST + 2], ring_count;
} face_set;

/* A side p-q of a face in the set, directed so that (a, b, p, q) is the tet that comes if the set
 * ends there; the face's tets at a and at b, and its third corner. */
typedef struct set_side {
    uint32_t low, high, p, q, third;
    bool positive; /* whether that tet would be: J(p, q) > 0 of Shewchuk 2002 */
} set_side;

/* The sandwiched face beyond a side: its tets, its third corner v, its other sides p-v and v-q. */
typedef struct next_face {
    uint32_t low, high, v;
    bool positive[2];
} next_face;

/* Worst of the tets that go and of those that come. */
typedef struct face_gain {
    double old, fresh;
} face_gain;

static double least(double p, double q)
{
    return p < q ? p : q;
}

static face_gain worse_of(face_gain p, face_gain q)
{
    return (face_gain){least(p.old, q.old), least(p.fresh, q.fresh)};
}

static bool is_positive(const face_set *set, uint32_t p, uint32_t q)
{
    const kiln_vec3 *points = kiln_remesher_points(set->remesher);
    return kiln_orient3d(points[set->a], points[set->b], points[p], points[q]) > 0.0;
}

static double old_score(const face_set *set, uint32_t tet)
{
    const kiln_mesh *mesh = set->remesher->mesh;
    double quality = set->remesher->quality.data[tet];
    return set->bound ? quality * kiln_selection_factor(mesh, mesh->tet[tet].v) : quality;
}

static double fresh_score(const face_set *set, const set_side *side)
{
    const uint32_t v[4] = {set->a, set->b, side->p, side->q};
    if (!side->positive)
        return -INFINITY;
    double score = kiln_remesher_score(set->remesher, NULL, v);
    if (!(score > KILN_LEAST_GAIN) || !kiln_remesher_valid_elsewhere(set->remesher, NULL, v))
        return -INFINITY;
    return set->bound ? score * kiln_selection_factor(set->remesher->mesh, v) : score;
}

static bool may_go(const face_set *set, uint32_t tet)
{
    const kiln_tet_info *info = &set->remesher->mesh->info[tet];
    return info->region == set->region && !(info->marks & KILN_MARK_LOCKED);
}

static bool face_marked(const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    const uint32_t one_face = 1u << KILN_MARK_REQUIRED_FACE | 1u << KILN_MARK_SPLIT_FACE;
    return (mesh->info[tet].marks >> face) & one_face;
}

/* The edge p-q goes with both faces at it. */
static bool edge_marked(const kiln_mesh *mesh, uint32_t tet, uint32_t p, uint32_t q)
{
    const uint32_t one_edge = 1u << KILN_MARK_FEATURE_EDGE | 1u << KILN_MARK_REQUIRED_EDGE;
    const kiln_tet *at = &mesh->tet[tet];
    uint32_t edge = kiln_edge_of[kiln_tet_corner(at, p)][kiln_tet_corner(at, q)];
    return (mesh->info[tet].marks >> edge) & one_edge;
}

/* The tets beyond the side have the same far vertex, and nothing forbids that they go. */
static bool is_sandwiched(const face_set *set, const set_side *side, next_face *out)
{
    const kiln_mesh *mesh = set->remesher->mesh;
    uint32_t low_corner = kiln_tet_corner(&mesh->tet[side->low], side->third);
    uint32_t high_corner = kiln_tet_corner(&mesh->tet[side->high], side->third);
    kiln_link below = mesh->tet[side->low].n[low_corner];
    kiln_link above = mesh->tet[side->high].n[high_corner];
    if (kiln_link_is_surface(below) || kiln_link_is_surface(above))
        return false;
    out->low = below / 4;
    out->high = above / 4;
    out->v = mesh->tet[out->low].v[below % 4];
    return out->v == mesh->tet[out->high].v[above % 4] && may_go(set, out->low) &&
           may_go(set, out->high) && !edge_marked(mesh, side->low, side->p, side->q) &&
           !face_marked(mesh, side->low, low_corner) &&
           !face_marked(mesh, side->high, high_corner) &&
           !face_marked(mesh, out->low, kiln_tet_corner(&mesh->tet[out->low], set->a));
}

/* Two sides at least of the face beyond must turn positive (q-p is the third); otherwise the set
 * would not stay a tree. */
static bool leads_on(const face_set *set, const set_side *side, next_face *out)
{
    if (set->faces == FACES_MOST || !is_sandwiched(set, side, out))
        return false;
    out->positive[0] = is_positive(set, side->p, out->v);
    if (side->positive && !out->positive[0])
        return false;
    out->positive[1] = is_positive(set, out->v, side->q);
    return out->positive[1] || (out->positive[0] && !side->positive);
}

static face_gain end_at(face_set *set, const set_side *side, double fresh)
{
    set->ring[set->ring_count++] = side->p;
    return (face_gain){INFINITY, fresh};
}

static face_gain best_with(face_set *set, const set_side *side, const next_face *next);

/* The best that can be had beyond a side: end there, or take the next face too. */
static face_gain best_beyond(face_set *set, const set_side *side)
{
    next_face next;
    return leads_on(set, side, &next) ? best_with(set, side, &next)
                                      : end_at(set, side, fresh_score(set, side));
}

/* The same where there is a next face, which comes with the best beyond its sides. That is as good
 * where what comes is better than what goes, or than the tet that ends the set. */
static face_gain best_with(face_set *set, const set_side *side, const next_face *next)
{
    uint32_t faces = set->faces++, ring_count = set->ring_count;
    set->tet[2 * faces] = next->low;
    set->tet[2 * faces + 1] = next->high;
    const set_side beyond[2] = {
        {next->low, next->high, side->p, next->v, side->q, next->positive[0]},
        {next->low, next->high, next->v, side->q, side->p, next->positive[1]}};
    face_gain both = {least(old_score(set, next->low), old_score(set, next->high)), INFINITY};
    for (int i = 0; i < 2 && both.fresh > -INFINITY; i++)
        both = worse_of(both, best_beyond(set, &beyond[i]));
    if (both.fresh > both.old)
        return both;
    double end = fresh_score(set, side);
    if (both.fresh > end)
        return both;
    set->faces = faces;
    set->ring_count = ring_count;
    return end_at(set, side, end);
}

/* The tets that come if the set is a single face must all be better than the two that go; the first
 * that is not settles it. */
static bool single_gains(const face_set *set, const set_side side[3], double old)
{
    bool better = true;
    for (int i = 0; i < 3 && better; i++) {
        const uint32_t v[4] = {set->a, set->b, side[i].p, side[i].q};
        better = kiln_remesher_score_above(set->remesher, NULL, v, kiln_gain_floor(old));
    }
    return better;
}

static bool gains(face_set *set, uint32_t low, uint32_t high, const uint32_t corner[3])
{
    set_side side[3];
    next_face next[3];
    bool on[3];
    int count = 0, first = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t p = corner[i], q = corner[(i + 1) % 3];
        side[i] = (set_side){low, high, p, q, corner[(i + 2) % 3], is_positive(set, p, q)};
        count += side[i].positive;
        first = side[i].positive ? first : i;
    }
    set->tet[0] = low;
    set->tet[1] = high;
    set->faces = 1;
    /* A side that is not positive comes first: if the set ends there, it is lost. */
    on[first] = count >= 2 && leads_on(set, &side[first], &next[first]);
    if (count < 3 && !on[first])
        return false;
    for (int i = 0; i < 3; i++)
        if (i != first)
            on[i] = leads_on(set, &side[i], &next[i]);
    face_gain all = {least(old_score(set, low), old_score(set, high)), INFINITY};
    if (!on[0] && !on[1] && !on[2] && !single_gains(set, side, all.old))
        return false;
    for (int k = first; k < first + 3 && all.fresh > -INFINITY; k++) {
        int i = k % 3;
        bool take = on[i] && set->faces < FACES_MOST;
        all = worse_of(all, take ? best_with(set, &side[i], &next[i])
                                 : end_at(set, &side[i], fresh_score(set, &side[i])));
    }
    return all.fresh > kiln_gain_floor(all.old);
}

static bool propose(const face_set *set, kiln_workspace *workspace, kiln_proposal *out)
{
    const kiln_remesher *remesher = set->remesher;
    *out = (kiln_proposal){.kind = KILN_OP_FACE_REMOVAL,
                           .old_count = 2 * set->faces,
                           .fresh_count = set->ring_count,
                           .stamp = remesher->mesh->clock};
    out->old = kiln_arena_array(&workspace->arena, uint32_t, out->old_count);
    out->fresh = kiln_arena_array(&workspace->arena, kiln_new_tet, out->fresh_count);
    if (!out->old || !out->fresh)
        return workspace->failed = true, false;
    memcpy(out->old, set->tet, out->old_count * sizeof *out->old);
    for (uint32_t i = 0; i < set->ring_count; i++) {
        uint32_t p = set->ring[i], q = set->ring[i + 1 == set->ring_count ? 0 : i + 1];
        out->fresh[i] =
            (kiln_new_tet){{set->a, set->b, p, q}, out->old[i % out->old_count], KILN_NONE, 0};
    }
    out->before = kiln_remesher_worst(remesher, out->old, out->old_count);
    return kiln_proposal_score(remesher, workspace, out);
}

bool kiln_face_removal_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                               uint32_t tet, uint32_t face, kiln_proposal *out)
{
    const kiln_mesh *mesh = remesher->mesh;
    const uint32_t *v = mesh->tet[tet].v;
    kiln_link link = mesh->tet[tet].n[face];
    if (kiln_link_is_surface(link) || face_marked(mesh, tet, face))
        return false;
    face_set set;
    set.remesher = remesher;
    set.a = v[face];
    set.b = mesh->tet[link / 4].v[link % 4];
    set.region = mesh->info[tet].region;
    set.ring_count = 0;
    if (!may_go(&set, tet) || !may_go(&set, link / 4))
        return false;
    set.bound = kiln_vertex_bound(mesh, set.a) && kiln_vertex_bound(mesh, set.b);
    const uint8_t *corner = kiln_face_corner[face];
    if (!gains(&set, tet, link / 4, (uint32_t[3]){v[corner[0]], v[corner[1]], v[corner[2]]}))
        return false;
    kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
    bool made = propose(&set, workspace, out);
    if (!made)
        kiln_arena_release(&workspace->arena, mark);
    return made;
}
