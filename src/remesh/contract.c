/* Edge contraction. Of the two ends the one on less (inside, facet, curve) goes to the other's
 * place; where both are on the same, either may, or both meet between.
 *
 * Removing a free vertex needs no topological test: its star is filled again from the other end,
 * and where all new tets are positive that is a filling. */
#include "remesh/contract_impl.h"
#include "remesh/space.h"
#include "remesh/surface.h"

kiln_contraction_limits kiln_contraction_improving(void)
{
    return (kiln_contraction_limits){.surface = 0.15};
}

/* An edge on trial. Index 0 stands for end a, 1 for end b. */
typedef struct trial {
    const kiln_contraction *c;
    uint32_t tet, end[2];
    int rank[2];
    uint32_t ring[KILN_LONGEST_RING]; /* its tets */
    uint32_t ring_count;
    bool closed;
    bool may_go[2];          /* to the other's place */
    bool may_meet;           /* in between */
    kiln_near_star *star[2]; /* NULL: not walked yet */
    kiln_near_star room[2];
    kiln_rims rims[2]; /* where both ends are on walls or curves */
    double best;       /* worst score of both stars as proposed so far */
} trial;

static bool have_star(trial *t, int e)
{
    if (!t->star[e])
        t->star[e] = kiln_near_star_of(t->c, t->end[e], t->tet, &t->room[e]);
    return t->star[e] != NULL;
}

/* The ring, or false where there are too many. */
static bool walk_ring(trial *t, uint32_t corner_a, uint32_t corner_b)
{
    kiln_ring ring = kiln_edge_ring(t->c->remesher->mesh, t->tet, corner_a, corner_b, t->ring,
                                    KILN_LONGEST_RING);
    if (ring.count > KILN_LONGEST_RING)
        return false;
    t->ring_count = ring.count;
    t->closed = ring.closed;
    for (uint32_t i = 0; i < ring.count; i++)
        t->ring[i] /= 4;
    return true;
}

static bool classify(trial *t)
{
    for (int e = 0; e < 2; e++)
        t->rank[e] = kiln_vertex_rank(t->c->remesher, t->end[e]);
    for (int e = 0; e < 2; e++)
        t->may_go[e] = t->rank[e] < 3 && t->rank[e] <= t->rank[1 - e];
    t->may_go[1] = t->may_go[1] && !t->c->limits->goes;
    t->may_meet = t->may_go[0] && t->may_go[1];
    return t->may_go[0] || t->may_go[1];
}

static bool in_ring(const trial *t, uint32_t tet)
{
    return kiln_tet_has_all(&t->c->remesher->mesh->tet[tet], t->end, 2);
}

static kiln_vec3 middle_of(const trial *t)
{
    const kiln_vec3 *points = kiln_points_of_edge(t->c->remesher, t->end[0], t->end[1]);
    return kiln_v3_lerp(points[t->end[0]], points[t->end[1]], 0.5);
}

/* May end e leave its walls and curves for the other's place? On a facet the edge must be in it; on
 * a curve it must be part of it, and the rest of the curve must not fall on another edge. */
static bool rims_allow(const trial *t, int e)
{
    const kiln_rims *rims = &t->rims[e];
    const kiln_rim *edge = kiln_rims_find(rims, t->end[1 - e]);
    if (rims->required || !edge)
        return false;
    if (t->rank[e] == 1 || rims->curves == 0) /* lines without marks: creases of kept surfaces */
        return rims->curves == 0 && edge->walls == 2;
    if (rims->curves != 2 || !kiln_rim_is_curve(edge))
        return false;
    for (uint32_t i = 0; i < rims->count; i++) {
        uint32_t far_end = rims->rim[i].vertex;
        if (far_end == t->end[1 - e] || !kiln_rim_is_curve(&rims->rim[i]))
            continue;
        const kiln_near_star *other = t->star[1 - e];
        for (uint32_t j = 0; j < other->count; j++)
            if (kiln_tet_corner(&t->c->remesher->mesh->tet[other->tets[j]], far_end) < 4)
                return false;
    }
    return true;
}

/* The link condition in the tets, the walls and the curves. */
static bool links_allow(const trial *t)
{
    const kiln_edge_stars stars = {.a = t->end[0],
                                   .b = t->end[1],
                                   .star_a = t->star[0]->tets,
                                   .star_b = t->star[1]->tets,
                                   .ring = t->ring,
                                   .count_a = t->star[0]->count,
                                   .count_b = t->star[1]->count,
                                   .ring_count = t->ring_count,
                                   .closed = t->closed};
    uint32_t common = 0;
    for (uint32_t i = 0; i < t->rims[0].count; i++) {
        const kiln_rim *here = &t->rims[0].rim[i];
        const kiln_rim *there = kiln_rims_find(&t->rims[1], here->vertex);
        if (!there)
            continue;
        common += here->walls > 0 && there->walls > 0;
        if (kiln_rim_is_curve(here) && kiln_rim_is_curve(there))
            return false;
    }
    const kiln_rim *edge = kiln_rims_find(&t->rims[0], t->end[1]);
    return edge && common == edge->walls &&
           kiln_link_condition(t->c->remesher->mesh, &t->c->workspace->walker, &stars,
                               &t->c->workspace->failed);
}

/* Both ends on walls or curves: which of the ways are left. */
static bool look_at_walls(trial *t)
{
    for (int e = 0; e < 2; e++)
        if (!kiln_rims_gather(t->c, t->star[e], &t->rims[e]))
            return false;
    if (!links_allow(t))
        return false;
    for (int e = 0; e < 2; e++)
        t->may_go[e] = t->may_go[e] && rims_allow(t, e);
    t->may_meet = t->may_meet && t->may_go[0] && t->may_go[1];
    return t->may_go[0] || t->may_go[1];
}

/* DLR 4.4: the surface term of a vertex that leaves its place. */
static bool term_allows(const trial *t, int e, const kiln_place *place)
{
    const kiln_remesher *remesher = t->c->remesher;
    kiln_vec3 gradient;
    kiln_vec3 p = kiln_place_point(remesher, place);
    return t->rank[e] == 0 || kiln_surface_term(remesher, &remesher->side.data[t->end[e]], p,
                                                &gradient) >= t->c->limits->surface;
}

/* Curve ends beyond those that go get the feature edge of the merged vertex. */
static void note_curve(const trial *t, int e, kiln_draft *draft)
{
    const kiln_rims *rims = &t->rims[e];
    for (uint32_t i = 0; i < rims->count; i++)
        if (rims->rim[i].feature && rims->rim[i].vertex != t->end[1 - e])
            draft->far_end[draft->far_ends++] = rims->rim[i].vertex;
    draft->proposal.flags |= KILN_CAVITY_FEATURES;
    draft->proposal.vertex_flags |= KILN_VERTEX_FEATURE;
}

/* A wall at the end that goes is, after the contraction, a wall of the tet behind the other face:
 * that one is part of the replacement. */
static void keep_behind_walls(const trial *t, int e, kiln_draft *draft)
{
    const kiln_mesh *mesh = t->c->remesher->mesh;
    for (uint32_t i = 0; i < t->ring_count; i++) {
        const kiln_tet *tet = &mesh->tet[t->ring[i]];
        kiln_link beside = tet->n[kiln_tet_corner(tet, t->end[1 - e])];
        kiln_link behind = tet->n[kiln_tet_corner(tet, t->end[e])];
        if (!kiln_link_is_surface(behind) && kiln_link_is_wall(mesh, t->ring[i], beside))
            kiln_draft_keep(t->c, draft, behind / 4);
    }
}

/* End e goes to the other's place. */
static bool try_going(trial *t, int e, kiln_proposal *out)
{
    const kiln_contraction *c = t->c;
    kiln_near_star *star = t->star[e];
    const uint32_t other = t->end[1 - e];
    double threshold = kiln_judge_floor(&c->remesher->judge, star->worst);
    if (!kiln_near_star_may(c, star, &other, 1, kiln_remesher_points(c->remesher)[other],
                            threshold))
        return false;
    kiln_place place = kiln_contraction_place_of(c->remesher, other);
    if (!kiln_near_star_above(c, star, &other, 1, &place, threshold) || !term_allows(t, e, &place))
        return false;
    kiln_draft draft;
    if (!kiln_draft_start(c, &draft, KILN_OP_EDGE_CONTRACTION, star->count + t->ring_count,
                          star->count))
        return false;
    draft.survivor = other;
    draft.proposal.gone[draft.proposal.gone_count++] = t->end[e];
    draft.proposal.place = place;
    for (uint32_t i = 0; i < t->ring_count; i++)
        kiln_draft_take(&draft, t->ring[i]);
    for (uint32_t i = 0; i < star->count; i++)
        if (!in_ring(t, star->tets[i]))
            kiln_draft_move(c, &draft, star->tets[i], t->end[e]);
    draft.walls = t->rank[e] > 0;
    if (t->rank[e] == 2)
        note_curve(t, e, &draft);
    if (draft.walls)
        keep_behind_walls(t, e, &draft);
    if (!have_star(t, 1 - e))
        return false;
    double unchanged = INFINITY;
    for (uint32_t i = 0; i < t->star[1 - e]->count; i++) {
        uint32_t tet = t->star[1 - e]->tets[i];
        double quality = c->remesher->quality.data[tet];
        if (quality < unchanged && !in_ring(t, tet))
            unchanged = quality;
    }
    kiln_proposal proposal;
    if (!kiln_draft_finish(c, &draft, &proposal))
        return false;
    double worst = proposal.after < unchanged ? proposal.after : unchanged;
    if (worst <= t->best)
        return false;
    t->best = worst;
    *out = proposal;
    return true;
}

static double meeting_threshold(const trial *t)
{
    double a = t->star[0]->worst, b = t->star[1]->worst;
    double threshold = kiln_judge_floor(&t->c->remesher->judge, a < b ? a : b);
    return t->best > threshold ? t->best : threshold;
}

/* Both ends go to a new place. */
static bool try_meeting(trial *t, const kiln_place *place, kiln_proposal *out)
{
    const kiln_contraction *c = t->c;
    double threshold = meeting_threshold(t);
    kiln_vec3 p = kiln_place_point(c->remesher, place);
    for (int e = 0; e < 2; e++)
        if (!kiln_near_star_may(c, t->star[e], &t->end[1 - e], 1, p, threshold) ||
            !kiln_near_star_above(c, t->star[e], &t->end[1 - e], 1, place, threshold) ||
            !term_allows(t, e, place))
            return false;
    kiln_draft draft;
    size_t room = (size_t)t->star[0]->count + t->star[1]->count;
    if (!kiln_draft_start(c, &draft, KILN_OP_EDGE_CONTRACTION, room, room))
        return false;
    kiln_proposal *proposal = &draft.proposal;
    proposal->place = *place;
    proposal->parents = 2;
    for (int e = 0; e < 2; e++) {
        proposal->gone[proposal->gone_count++] = t->end[e];
        proposal->parent[e] = t->end[e];
        proposal->weight[e] = 0.5;
        for (uint32_t i = 0; i < t->star[e]->count; i++)
            if (!in_ring(t, t->star[e]->tets[i]))
                kiln_draft_move(c, &draft, t->star[e]->tets[i], t->end[e]);
        if (t->rank[e] == 2)
            note_curve(t, e, &draft);
    }
    for (uint32_t i = 0; i < t->ring_count; i++)
        kiln_draft_take(&draft, t->ring[i]);
    draft.walls = t->rank[0] > 0;
    if (!kiln_draft_finish(c, &draft, out))
        return false;
    t->best = out->after;
    return true;
}

static bool try_between(trial *t, kiln_proposal *out)
{
    const kiln_remesher *remesher = t->c->remesher;
    kiln_place place;
    if (t->rank[0] > 0) {
        const double half[2] = {0.5, 0.5};
        kiln_surface_place(remesher, t->tet, t->end, half, 2, &place);
        /* Unmarked tets of an end would be left behind. */
        bool apart = place.side.world && !(kiln_vertex_in_world(remesher, t->end[0]) &&
                                           kiln_vertex_in_world(remesher, t->end[1]));
        return !apart && try_meeting(t, &place, out);
    }
    if (!have_star(t, 0) || !have_star(t, 1))
        return false;
    double threshold = meeting_threshold(t);
    for (int e = 0; e < 2; e++)
        if (!kiln_near_star_may(t->c, t->star[e], &t->end[1 - e], 1, middle_of(t), threshold))
            return false;
    place = kiln_contraction_place_inside(remesher, middle_of(t), t->end[0]);
    return try_meeting(t, &place, out);
}

static bool try_all(trial *t, kiln_proposal *out)
{
    bool found = false;
    t->star[0] = t->star[1] = NULL;
    t->best = -INFINITY;
    if (t->rank[0] > 0 && t->rank[1] > 0 &&
        !(have_star(t, 0) && have_star(t, 1) && look_at_walls(t)))
        return false;
    for (int e = 0; e < 2; e++)
        if (t->may_go[e] && have_star(t, e))
            found |= try_going(t, e, out);
    if (t->may_meet)
        found |= try_between(t, out);
    return found;
}

static bool contract_edge(const kiln_contraction *c, uint32_t tet, uint32_t corner_a,
                          uint32_t corner_b, kiln_proposal *out)
{
    const uint32_t *v = c->remesher->mesh->tet[tet].v;
    trial t;
    t.c = c;
    t.tet = tet;
    t.end[0] = v[corner_a];
    t.end[1] = v[corner_b];
    if (!classify(&t) || !walk_ring(&t, corner_a, corner_b))
        return false;
    kiln_arena_mark mark = kiln_arena_set_mark(&c->workspace->arena);
    if (try_all(&t, out))
        return true;
    kiln_arena_release(&c->workspace->arena, mark);
    return false;
}

bool kiln_edge_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                                   uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                                   const kiln_contraction_limits *limits, kiln_proposal *out)
{
    const kiln_contraction c = {.remesher = remesher, .workspace = workspace, .limits = limits};
    return contract_edge(&c, tet, corner_a, corner_b, out);
}

/* The corner of a face nearest to the opposite edge: the one opposite the longest. */
static uint32_t nearest_to_edge(const kiln_vec3 *const p[4], uint32_t face)
{
    uint32_t best = 0;
    double longest = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t *corner = kiln_face_corner[face];
        double length2 =
            kiln_v3_norm2(kiln_v3_sub(*p[corner[(i + 1) % 3]], *p[corner[(i + 2) % 3]]));
        best = length2 > longest ? i : best;
        longest = length2 > longest ? length2 : longest;
    }
    return best;
}

/* The corner nearest to the opposite face: the one opposite the largest. */
static uint32_t nearest_to_face(const kiln_vec3 *const p[4])
{
    uint32_t best = 0;
    double largest = 0.0;
    for (uint32_t f = 0; f < 4; f++) {
        const uint8_t *corner = kiln_face_corner[f];
        kiln_vec3 ab = kiln_v3_sub(*p[corner[1]], *p[corner[0]]);
        double area2 = kiln_v3_norm2(kiln_v3_cross(ab, kiln_v3_sub(*p[corner[2]], *p[corner[0]])));
        best = area2 > largest ? f : best;
        largest = area2 > largest ? area2 : largest;
    }
    return best;
}

static bool contract_any(const kiln_contraction *c, uint32_t tet, kiln_proposal *out)
{
    uint64_t *attempts = c->workspace->attempts;
    const kiln_vec3 *points = kiln_points_of_tet(c->remesher, tet), *p[4];
    for (int k = 0; k < 4; k++)
        p[k] = &points[c->remesher->mesh->tet[tet].v[k]];
    for (int e = 0; e < 6; e++) {
        attempts[KILN_OP_EDGE_CONTRACTION]++;
        if (contract_edge(c, tet, kiln_edge_ends[e][0], kiln_edge_ends[e][1], out))
            return true;
    }
    for (uint32_t f = 0; f < 4; f++) {
        const uint8_t *corner = kiln_face_corner[f];
        uint32_t i = nearest_to_edge(p, f);
        attempts[KILN_OP_FACE_CONTRACTION]++;
        if (kiln_contract_face(c, tet, corner[(i + 1) % 3], corner[(i + 2) % 3], corner[i], out))
            return true;
    }
    attempts[KILN_OP_TET_CONTRACTION]++;
    return kiln_contract_tet(c, tet, nearest_to_face(p), out);
}

bool kiln_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                              uint32_t tet, const kiln_contraction_limits *limits,
                              kiln_proposal *out)
{
    kiln_near_star star[4];
    kiln_contraction c = {.remesher = remesher,
                          .workspace = workspace,
                          .limits = limits,
                          .several = true,
                          .shared = star};
    kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
    for (int k = 0; k < 4; k++) {
        uint32_t vertex = remesher->mesh->tet[tet].v[k];
        if (kiln_vertex_rank(remesher, vertex) < 3 &&
            kiln_near_star_of(&c, vertex, tet, &star[c.shared_count]))
            c.shared_count++;
    }
    if (c.shared_count > 0 && contract_any(&c, tet, out))
        return true;
    kiln_arena_release(&workspace->arena, mark);
    return false;
}
