#include "remesh/face_removal.h"
#include "geom/predicates.h"
#include "remesh/edge_removal_select.h"

#include <string.h>

/* Sets of more than 4 faces have never been seen to gain. */
enum { FACES_MOST = 12 };

/* A side p-q of a face, directed so that (a, b, p, q) is the tet that comes if the set ends there.
 */
typedef struct face_side {
    uint32_t p, q;
    bool positive; /* whether that tet would be: J(p, q) > 0 of Shewchuk 2002 */
    uint32_t next; /* face beyond, 0: none (the first is beyond nothing) */
} face_side;

/* A face sandwiched between the apexes: its tets at a and at b. The last side of all but the first
 * is the one it was reached through. */
typedef struct set_face {
    uint32_t low, high;
    face_side side[3];
} set_face;

/* All faces that could go between apexes a and b, a tree grown from the first; and those that the
 * search has chosen. */
typedef struct face_set {
    const kiln_remesher *remesher;
    uint32_t a, b;
    bool bound; /* both apexes are on surface or interface */
    int32_t region;
    kiln_space space; /* where its tets are scored */
    double floor;     /* what comes must be above this, whichever faces are chosen */
    uint32_t faces;
    set_face face[FACES_MOST + 1]; /* the last is never taken */
    uint32_t chosen, ring_count;
    uint32_t tet[2 * FACES_MOST]; /* of a and of b, by turns */
    uint32_t ring[FACES_MOST + 2];
} face_set;

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

static double fresh_score(const face_set *set, const face_side *side)
{
    const kiln_remesher *remesher = set->remesher;
    const uint32_t v[4] = {set->a, set->b, side->p, side->q};
    if (!side->positive || !kiln_remesher_score_above(remesher, set->space, NULL, v, set->floor) ||
        !kiln_remesher_valid_elsewhere(remesher, set->space, NULL, v))
        return -INFINITY;
    double score = kiln_remesher_score_in(remesher, set->space, NULL, v);
    return set->bound ? score * kiln_selection_factor(remesher->mesh, v) : score;
}

static bool may_go(const face_set *set, uint32_t tet)
{
    const kiln_tet_info *info = &set->remesher->mesh->info[tet];
    return info->region == set->region && !(info->marks & KILN_MARK_LOCKED);
}

/* The edge p-q goes with both faces at it. */
static bool edge_marked(const kiln_mesh *mesh, uint32_t tet, uint32_t p, uint32_t q)
{
    const kiln_tet *at = &mesh->tet[tet];
    return kiln_edge_is_marked(mesh, tet,
                               kiln_edge_of[kiln_tet_corner(at, p)][kiln_tet_corner(at, q)]);
}

/* The tets beyond side k of a face have the same far vertex v, and nothing forbids that they go. */
static bool is_sandwiched(const face_set *set, const set_face *face, int k, set_face *out,
                          uint32_t *v)
{
    const kiln_mesh *mesh = set->remesher->mesh;
    uint32_t third = face->side[(k + 2) % 3].p;
    uint32_t low_corner = kiln_tet_corner(&mesh->tet[face->low], third);
    uint32_t high_corner = kiln_tet_corner(&mesh->tet[face->high], third);
    kiln_link below = mesh->tet[face->low].n[low_corner];
    kiln_link above = mesh->tet[face->high].n[high_corner];
    if (kiln_link_is_surface(below) || kiln_link_is_surface(above))
        return false;
    out->low = below / 4;
    out->high = above / 4;
    *v = mesh->tet[out->low].v[below % 4];
    return *v == mesh->tet[out->high].v[above % 4] && may_go(set, out->low) &&
           may_go(set, out->high) &&
           !edge_marked(mesh, face->low, face->side[k].p, face->side[k].q) &&
           !kiln_face_is_marked(mesh, face->low, low_corner) &&
           !kiln_face_is_marked(mesh, face->high, high_corner) &&
           !kiln_face_is_marked(mesh, out->low, kiln_tet_corner(&mesh->tet[out->low], set->a));
}

/* Two sides at least of the face beyond must turn positive (the one it is reached through is
 * directed the other way there); otherwise the set would not stay a tree. */
static bool leads_on(const face_set *set, const set_face *face, int k, set_face *out)
{
    const face_side *side = &face->side[k];
    uint32_t v;
    if (set->faces == FACES_MOST || !is_sandwiched(set, face, k, out, &v))
        return false;
    out->side[0] = (face_side){side->p, v, is_positive(set, side->p, v), 0};
    if (side->positive && !out->side[0].positive)
        return false;
    out->side[1] = (face_side){v, side->q, is_positive(set, v, side->q), 0};
    out->side[2] = (face_side){side->q, side->p, false, 0};
    return out->side[1].positive || (out->side[0].positive && !side->positive);
}

/* Finds what lies beyond the first `sides` sides of a face. False where a side is not positive and
 * nothing lies beyond it, so that the face cannot go. */
static bool grow(face_set *set, uint32_t number, int sides)
{
    set_face *face = &set->face[number];
    for (int k = 0; k < sides; k++) {
        uint32_t next = set->faces;
        if (leads_on(set, face, k, &set->face[next])) {
            set->faces++;
            if (grow(set, next, 2))
                face->side[k].next = next;
            else
                set->faces = next;
        }
        if (!face->side[k].positive && face->side[k].next == 0)
            return false;
    }
    return true;
}

static face_gain best_with(face_set *set, uint32_t number, int sides);

/* The best that can be had beyond a side: end there, or take the next face with the best beyond its
 * sides. That is as good where what comes is better than what goes, or than the tet that ends the
 * set. */
static face_gain best_beyond(face_set *set, const face_side *side)
{
    uint32_t chosen = set->chosen, ring_count = set->ring_count;
    face_gain with = {INFINITY, -INFINITY};
    if (side->next) {
        with = best_with(set, side->next, 2);
        if (with.fresh > with.old)
            return with;
    }
    double end = fresh_score(set, side);
    if (with.fresh > end)
        return with;
    set->chosen = chosen;
    set->ring_count = ring_count;
    set->ring[set->ring_count++] = side->p;
    return (face_gain){INFINITY, end};
}

static face_gain best_with(face_set *set, uint32_t number, int sides)
{
    const set_face *face = &set->face[number];
    face_gain all = {least(old_score(set, face->low), old_score(set, face->high)), INFINITY};
    set->tet[2 * set->chosen] = face->low;
    set->tet[2 * set->chosen++ + 1] = face->high;
    for (int k = 0; k < sides && all.fresh > -INFINITY; k++)
        all = worse_of(all, best_beyond(set, &face->side[k]));
    return all;
}

/* A side that nothing lies beyond settles most attempts: the tet there comes whatever is chosen. */
static bool ends_are_good(const face_set *set)
{
    const set_face *first = &set->face[0];
    for (int k = 0; k < 3; k++) {
        const uint32_t v[4] = {set->a, set->b, first->side[k].p, first->side[k].q};
        if (first->side[k].next == 0 &&
            !kiln_remesher_score_above(set->remesher, set->space, NULL, v, set->floor))
            return false;
    }
    return true;
}

static bool gains(face_set *set, uint32_t low, uint32_t high, const uint32_t corner[3])
{
    set_face *first = &set->face[0];
    int count = 0, start = 0;
    bool good[3];
    for (int k = 0; k < 3; k++) {
        good[k] = is_positive(set, corner[k], corner[(k + 1) % 3]);
        count += good[k];
        start = good[k] ? start : k;
    }
    if (count < 2)
        return false;
    first->low = low;
    first->high = high;
    for (int k = 0; k < 3; k++) { /* a side that is not positive comes first: it may be the end */
        int from = (start + k) % 3;
        first->side[k] = (face_side){corner[from], corner[(from + 1) % 3], good[from], 0};
    }
    set->faces = 1;
    if (!grow(set, 0, 3))
        return false;
    double worst = INFINITY;
    for (uint32_t i = 0; i < set->faces; i++)
        worst = least(worst,
                      least(old_score(set, set->face[i].low), old_score(set, set->face[i].high)));
    set->floor = kiln_removal_floor(set->remesher, worst);
    if (!ends_are_good(set))
        return false;
    set->chosen = set->ring_count = 0;
    face_gain all = best_with(set, 0, 3);
    return all.fresh > kiln_removal_floor(set->remesher, all.old);
}

static bool propose(const face_set *set, kiln_workspace *workspace, kiln_proposal *out)
{
    const kiln_remesher *remesher = set->remesher;
    *out = (kiln_proposal){.kind = KILN_OP_FACE_REMOVAL,
                           .old_count = 2 * set->chosen,
                           .fresh_count = set->ring_count,
                           .stamp = remesher->mesh->clock};
    out->old = kiln_arena_array(&workspace->arena, uint32_t, out->old_count);
    out->fresh = kiln_arena_array(&workspace->arena, kiln_new_tet, out->fresh_count);
    if (!out->old || !out->fresh)
        return kiln_workspace_fail(workspace);
    memcpy(out->old, set->tet, out->old_count * sizeof *out->old);
    for (uint32_t i = 0; i < set->ring_count; i++) {
        uint32_t p = set->ring[i], q = set->ring[i + 1 == set->ring_count ? 0 : i + 1];
        out->fresh[i] =
            (kiln_new_tet){{set->a, set->b, p, q}, out->old[i % out->old_count], KILN_NONE, 0};
    }
    out->before = kiln_remesher_worst(remesher, out->old, out->old_count);
    return kiln_proposal_score(remesher, workspace, out) && kiln_judge_may(remesher, out);
}

bool kiln_face_removal_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                               uint32_t tet, uint32_t face, kiln_proposal *out)
{
    const kiln_mesh *mesh = remesher->mesh;
    const uint32_t *v = mesh->tet[tet].v;
    kiln_link link = mesh->tet[tet].n[face];
    if (kiln_link_is_surface(link) || kiln_face_is_marked(mesh, tet, face))
        return false;
    face_set set;
    set.remesher = remesher;
    set.a = v[face];
    set.b = mesh->tet[link / 4].v[link % 4];
    set.region = mesh->info[tet].region;
    set.space = kiln_remesher_space(remesher, tet);
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
