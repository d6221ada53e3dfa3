#include "remesh/face_removal.h"
#include "geom/predicates.h"
#include "remesh/edge_removal_select.h"

#include <string.h>

/* Sets of more than 4 faces have never been seen to gain. */
enum { FACES_MOST = 12 };

/* The faces sandwiched between apexes a and b that would go, as a tree grown from the first. The
 * side p, q of a face in it is directed so that (a, b, p, q) is the tet that comes if the set ends
 * there. */
typedef struct face_set {
    const kiln_remesher *remesher;
    uint32_t a, b;
    bool bound; /* both apexes are on surface or interface */
    int32_t region;
    uint32_t faces;
    uint32_t tet[2 * FACES_MOST]; /* of a and of b, by turns */
    uint32_t ring[FACES_MOST + 2], ring_count;
} face_set;

/* Worst of the tets that go and of those that come. */
typedef struct face_gain {
    double old, fresh;
} face_gain;

static double least(double p, double q)
{
    return p < q ? p : q;
}

/* Whether (a, b, p, q) would be positive: J of Shewchuk 2002. */
static bool positive(const face_set *set, uint32_t p, uint32_t q)
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

static double fresh_score(const face_set *set, uint32_t p, uint32_t q)
{
    const uint32_t v[4] = {set->a, set->b, p, q};
    double score = kiln_remesher_score(set->remesher, NULL, v);
    if (!(score > KILN_LEAST_GAIN) || !kiln_remesher_valid_elsewhere(set->remesher, NULL, v))
        return -INFINITY;
    return set->bound ? score * kiln_selection_factor(set->remesher->mesh, v) : score;
}

/* The tet across the face of `tet` that has an apex, p and q; KILN_NONE where the set must end. */
static kiln_link across(const face_set *set, uint32_t tet, uint32_t corner)
{
    const kiln_mesh *mesh = set->remesher->mesh;
    kiln_link link = mesh->tet[tet].n[corner];
    if (kiln_link_is_surface(link))
        return KILN_NONE;
    const kiln_tet_info *info = &mesh->info[link / 4];
    return info->region == set->region && !(info->marks & KILN_MARK_LOCKED) ? link : KILN_NONE;
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

/* The sandwiched face beyond the side p-q of a face whose third corner is `third`: its tets and its
 * third corner. */
typedef struct next_face {
    uint32_t low, high; /* tets of a and of b */
    uint32_t v;
} next_face;

static bool look_beyond(const face_set *set, uint32_t low, uint32_t high, uint32_t p, uint32_t q,
                        uint32_t third, next_face *out)
{
    const kiln_mesh *mesh = set->remesher->mesh;
    uint32_t low_corner = kiln_tet_corner(&mesh->tet[low], third);
    kiln_link below = across(set, low, low_corner);
    if (below == KILN_NONE)
        return false;
    uint32_t high_corner = kiln_tet_corner(&mesh->tet[high], third);
    kiln_link above = across(set, high, high_corner);
    if (above == KILN_NONE)
        return false;
    *out = (next_face){below / 4, above / 4, mesh->tet[below / 4].v[below % 4]};
    return out->v == mesh->tet[above / 4].v[above % 4] && !edge_marked(mesh, low, p, q) &&
           !face_marked(mesh, low, low_corner) && !face_marked(mesh, high, high_corner) &&
           !face_marked(mesh, out->low, kiln_tet_corner(&mesh->tet[out->low], set->a));
}

/* Whether two sides at least of the face beyond p-q turn positive; with one the set would not stay
 * a tree. */
static bool admits(const face_set *set, uint32_t p, uint32_t q, uint32_t v)
{
    int count = positive(set, q, p) + positive(set, p, v);
    return count == 2 || (count == 1 && positive(set, v, q));
}

static face_gain end_at(face_set *set, uint32_t p, double fresh)
{
    set->ring[set->ring_count++] = p;
    return (face_gain){INFINITY, fresh};
}

/* The best that can be had beyond the side p-q of a face in the set, whose tets are low and high:
 * end there, or take the next face too with the best beyond its sides. Taking it is as good where
 * what comes is better than what goes, or than the tet that ends the set. */
static face_gain best_beyond(face_set *set, uint32_t low, uint32_t high, uint32_t p, uint32_t q,
                             uint32_t third)
{
    double fresh = fresh_score(set, p, q);
    next_face next;
    uint32_t faces = set->faces, ring_count = set->ring_count;
    if (faces == FACES_MOST || !look_beyond(set, low, high, p, q, third, &next) ||
        !admits(set, p, q, next.v))
        return end_at(set, p, fresh);
    set->tet[2 * faces] = next.low;
    set->tet[2 * faces + 1] = next.high;
    set->faces++;
    face_gain one = best_beyond(set, next.low, next.high, p, next.v, q);
    face_gain two = best_beyond(set, next.low, next.high, next.v, q, p);
    face_gain both = {
        least(least(old_score(set, next.low), old_score(set, next.high)), least(one.old, two.old)),
        least(one.fresh, two.fresh)};
    if (both.fresh > both.old || both.fresh > fresh)
        return both;
    set->faces = faces;
    set->ring_count = ring_count;
    return end_at(set, p, fresh);
}

/* Most sets end at once. Then the tets that come must all be better than the first two that go, and
 * the first that is not settles it; a side that is not positive is lost if the set ends there. */
static bool may_gain(const face_set *set, uint32_t low, uint32_t high, const uint32_t side[3])
{
    next_face next;
    int count = 0, beyond = -1;
    for (int i = 0; i < 3; i++) {
        bool good = positive(set, side[i], side[(i + 1) % 3]);
        count += good;
        beyond = good ? beyond : i;
    }
    if (count < 2)
        return false;
    if (count == 2)
        return look_beyond(set, low, high, side[beyond], side[(beyond + 1) % 3],
                           side[(beyond + 2) % 3], &next);
    double floor = kiln_gain_floor(least(old_score(set, low), old_score(set, high)));
    bool better = true;
    for (int i = 0; i < 3 && better; i++) {
        const uint32_t v[4] = {set->a, set->b, side[i], side[(i + 1) % 3]};
        better = kiln_remesher_score_above(set->remesher, NULL, v, floor);
    }
    for (int i = 0; i < 3 && !better; i++)
        better = look_beyond(set, low, high, side[i], side[(i + 1) % 3], side[(i + 2) % 3], &next);
    return better;
}

static bool gains(face_set *set, uint32_t low, uint32_t high, const uint32_t side[3])
{
    if (!may_gain(set, low, high, side))
        return false;
    set->tet[0] = low;
    set->tet[1] = high;
    set->faces = 1;
    face_gain all = {least(old_score(set, low), old_score(set, high)), INFINITY};
    for (int i = 0; i < 3; i++) {
        face_gain one = best_beyond(set, low, high, side[i], side[(i + 1) % 3], side[(i + 2) % 3]);
        all = (face_gain){least(all.old, one.old), least(all.fresh, one.fresh)};
        if (all.fresh == -INFINITY)
            return false;
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
    for (uint32_t i = 0; i < set->ring_count; i++)
        out->fresh[i] = (kiln_new_tet){
            {set->a, set->b, set->ring[i], set->ring[i + 1 == set->ring_count ? 0 : i + 1]},
            out->old[i % out->old_count],
            KILN_NONE,
            0};
    out->before = kiln_remesher_worst(remesher, out->old, out->old_count);
    return kiln_proposal_score(remesher, workspace, out);
}

bool kiln_face_removal_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                               uint32_t tet, uint32_t face, kiln_proposal *out)
{
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_tet *low = &mesh->tet[tet];
    face_set set = {.remesher = remesher, .a = low->v[face], .region = mesh->info[tet].region};
    kiln_link link = across(&set, tet, face);
    if (link == KILN_NONE || mesh->info[tet].marks & KILN_MARK_LOCKED ||
        face_marked(mesh, tet, face))
        return false;
    set.b = mesh->tet[link / 4].v[link % 4];
    set.bound = kiln_vertex_bound(mesh, set.a) && kiln_vertex_bound(mesh, set.b);
    const uint8_t *corner = kiln_face_corner[face];
    const uint32_t side[3] = {low->v[corner[0]], low->v[corner[1]], low->v[corner[2]]};
    if (!gains(&set, tet, link / 4, side))
        return false;
    kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
    bool made = propose(&set, workspace, out);
    if (!made)
        kiln_arena_release(&workspace->arena, mark);
    return made;
}
