/* Face and tet contraction: a corner goes to the edge or face opposite it, as if that were split at
 * m and the edge from m to the corner contracted. Scored as the final tets, without the split: an
 * edge removal by the fan at the corner (or a 2-3 flip) in which the corner moves as well.
 *
 *   face   ring of n tets round ab: n more tets, less 4 (2 where abc is on the surface)
 *   tet    one more tet; one less where abc is on the surface: the cap is peeled off */
#include "remesh/contract_impl.h"
#include "remesh/space.h"
#include "remesh/surface.h"

#include <string.h>

enum { MOST_BASE = KILN_LONGEST_RING };

/* A corner and the edge or face it goes to. */
typedef struct squeeze {
    const kiln_contraction *c;
    kiln_operator kind;
    uint32_t tet, corner;     /* corner: the vertex that goes */
    int sides;                /* 2: to an edge, 3: to a face */
    uint32_t side[3];         /* its vertices */
    double weight[3];         /* of m in them */
    bool wall;                /* m is on a wall or feature */
    bool feature;             /* m splits a feature edge */
    int rank;                 /* of the corner */
    uint32_t base[MOST_BASE]; /* tets that have the edge or face; the first `lost` have the corner,
                                 and vanish */
    uint32_t base_count, lost;
    kiln_near_star *star; /* of the corner */
    kiln_near_star room;
    double before, best;
} squeeze;

static kiln_vec3 point_of(const squeeze *s, uint32_t vertex)
{
    return kiln_points_of_vertex(s->c->remesher, s->corner)[vertex];
}

/* Weights of the point of the edge or face nearest to the corner, kept off its rim, where another
 * contraction is meant. */
static void place_foot(squeeze *s)
{
    const double margin = 0.15;
    kiln_vec3 a = point_of(s, s->side[0]), p = kiln_v3_sub(point_of(s, s->corner), a);
    kiln_vec3 ab = kiln_v3_sub(point_of(s, s->side[1]), a);
    if (s->sides == 2) {
        double t = kiln_v3_dot(p, ab) / kiln_v3_dot(ab, ab);
        t = t < margin ? margin : t > 1.0 - margin ? 1.0 - margin : t;
        s->weight[0] = 1.0 - t;
        s->weight[1] = t;
        return;
    }
    kiln_vec3 ac = kiln_v3_sub(point_of(s, s->side[2]), a), n = kiln_v3_cross(ab, ac);
    double area2 = kiln_v3_dot(n, n), sum = 0.0;
    s->weight[1] = kiln_v3_dot(kiln_v3_cross(p, ac), n) / area2;
    s->weight[2] = kiln_v3_dot(kiln_v3_cross(ab, p), n) / area2;
    s->weight[0] = 1.0 - s->weight[1] - s->weight[2];
    for (int i = 0; i < 3; i++) {
        s->weight[i] = s->weight[i] < margin ? margin : s->weight[i];
        sum += s->weight[i];
    }
    for (int i = 0; i < 3; i++)
        s->weight[i] /= sum;
}

static double worst_of_base(const squeeze *s)
{
    double worst = kiln_remesher_worst(s->c->remesher, s->base, s->base_count);
    return s->star->worst < worst ? s->star->worst : worst;
}

/* Both halves (or thirds) of the base tets that stay, with the merged vertex for one side each. */
static bool base_above(const squeeze *s, const kiln_place *place, double threshold)
{
    const kiln_mesh *mesh = s->c->remesher->mesh;
    for (uint32_t i = s->lost; i < s->base_count; i++)
        for (int e = 0; e < s->sides; e++) {
            const uint32_t *v = mesh->tet[s->base[i]].v;
            const kiln_space space = kiln_remesher_space(s->c->remesher, s->base[i]);
            uint32_t part[4];
            for (int k = 0; k < 4; k++)
                part[k] = v[k] == s->side[e] ? KILN_PROPOSED : v[k];
            if (!kiln_remesher_score_above(s->c->remesher, space, place, part, threshold))
                return false;
        }
    return true;
}

static void draw(const squeeze *s, kiln_draft *draft)
{
    const kiln_mesh *mesh = s->c->remesher->mesh;
    for (uint32_t i = 0; i < s->star->count; i++)
        if (kiln_tet_has_all(&mesh->tet[s->star->tets[i]], s->side, s->sides))
            kiln_draft_take(draft, s->star->tets[i]);
        else
            kiln_draft_move(s->c, draft, s->star->tets[i], s->corner);
    for (uint32_t i = s->lost; i < s->base_count; i++) {
        kiln_draft_take(draft, s->base[i]);
        for (int e = 0; e < s->sides; e++) {
            uint32_t part[4];
            memcpy(part, mesh->tet[s->base[i]].v, sizeof part);
            for (int k = 0; k < 4; k++)
                part[k] = part[k] == s->side[e] ? KILN_PROPOSED : part[k];
            kiln_draft_add(draft, part, s->base[i]);
        }
    }
    draft->proposal.gone[draft->proposal.gone_count++] = s->corner;
    draft->walls = s->wall || s->rank > 0;
    if (!s->feature)
        return;
    for (int e = 0; e < 2; e++)
        draft->far_end[draft->far_ends++] = s->side[e];
    draft->proposal.flags |= KILN_CAVITY_FEATURES;
    draft->proposal.vertex_flags |= KILN_VERTEX_FEATURE;
}

static double threshold_of(const squeeze *s)
{
    double threshold = kiln_judge_floor(&s->c->remesher->judge, s->before);
    return s->best > threshold ? s->best : threshold;
}

/* The merged vertex at the place, which lies `toward` m from the corner. */
static bool try_place(squeeze *s, const kiln_place *place, double toward, kiln_proposal *out)
{
    double threshold = threshold_of(s);
    kiln_vec3 at = kiln_place_point(s->c->remesher, place);
    if (!kiln_near_star_may(s->c, s->star, s->side, s->sides, at, threshold) ||
        !kiln_near_star_above(s->c, s->star, s->side, s->sides, place, threshold) ||
        !base_above(s, place, threshold))
        return false;
    kiln_draft draft;
    size_t old = (size_t)s->star->count + s->base_count;
    size_t fresh = s->star->count + 3 * (size_t)s->base_count;
    if (!kiln_draft_start(s->c, &draft, s->kind, old, fresh))
        return false;
    kiln_proposal *p = &draft.proposal;
    p->place = *place;
    p->parents = s->sides;
    for (int e = 0; e < s->sides; e++) {
        p->parent[e] = s->side[e];
        p->weight[e] = toward * s->weight[e];
    }
    if (toward < 1.0) {
        p->parent[p->parents] = s->corner;
        p->weight[p->parents++] = 1.0 - toward;
    }
    draw(s, &draft);
    if (!kiln_draft_finish(s->c, &draft, out))
        return false;
    s->best = out->after;
    return true;
}

static bool try_inside(squeeze *s, kiln_proposal *out)
{
    const kiln_remesher *remesher = s->c->remesher;
    kiln_vec3 corner = point_of(s, s->corner), foot = {0, 0, 0};
    for (int e = 0; e < s->sides; e++)
        foot = kiln_v3_madd(foot, s->weight[e], point_of(s, s->side[e]));
    bool found = false;
    for (double toward = 1.0; toward > 0.4; toward -= 0.5) {
        kiln_vec3 p = kiln_v3_lerp(corner, foot, toward);
        if (!kiln_near_star_may(s->c, s->star, s->side, s->sides, p, threshold_of(s)))
            continue;
        kiln_place place = kiln_contraction_place_inside(remesher, p, s->corner);
        found |= try_place(s, &place, toward, out);
    }
    return found;
}

static bool try_on_wall(squeeze *s, kiln_proposal *out)
{
    const kiln_remesher *remesher = s->c->remesher;
    kiln_place place;
    kiln_surface_place(remesher, s->tet, s->side, s->weight, s->sides, &place);
    if (place.side.world && !kiln_vertex_in_world(remesher, s->corner))
        return false; /* the corner's unmarked tets would be left behind */
    if (s->rank > 0) {
        kiln_vec3 p = kiln_place_point(remesher, &place), gradient;
        if (kiln_surface_term(remesher, &remesher->side.data[s->corner], p, &gradient) <
            s->c->limits->surface)
            return false;
    }
    return try_place(s, &place, 1.0, out);
}

static bool is_wall(const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    return kiln_link_is_wall(mesh, tet, mesh->tet[tet].n[face]);
}

/* Notes what the edge's tets say of it: walls and features. False where a mark forbids a split. */
static bool look_at_edge(squeeze *s)
{
    const kiln_mesh *mesh = s->c->remesher->mesh;
    for (uint32_t i = 0; i < s->base_count; i++) {
        uint32_t tet = s->base[i], marks = mesh->info[tet].marks;
        uint32_t a = kiln_tet_corner(&mesh->tet[tet], s->side[0]);
        uint32_t b = kiln_tet_corner(&mesh->tet[tet], s->side[1]);
        uint32_t edge = kiln_edge_of[a][b];
        s->feature |= marks >> (KILN_MARK_FEATURE_EDGE + edge) & 1;
        if (marks >> (KILN_MARK_REQUIRED_EDGE + edge) & 1)
            return false;
        for (uint32_t f = 0; f < 4; f++) {
            if (f == a || f == b)
                continue;
            s->wall |= is_wall(mesh, tet, f);
            if (kiln_face_is_marked(mesh, tet, f))
                return false;
        }
    }
    s->wall |= s->feature;
    return true;
}

/* Tets with the corner first; how many. */
static void sort_base(squeeze *s)
{
    s->lost = 0;
    for (uint32_t i = 0; i < s->base_count; i++)
        if (kiln_tet_corner(&s->c->remesher->mesh->tet[s->base[i]], s->corner) < 4) {
            uint32_t swap = s->base[i];
            s->base[i] = s->base[s->lost];
            s->base[s->lost++] = swap;
        }
}

/* A corner on a facet may go to an edge of the facet: the face between must be a wall, and of what
 * surrounds the edge the corner may know only the two ends and its neighbours in the ring, and
 * those not along walls on both sides (the link condition of the edge from m to it). */
static bool facet_corner_may_go(squeeze *s)
{
    const kiln_mesh *mesh = s->c->remesher->mesh;
    kiln_rims rims;
    if (s->rank != 1 || s->base_count <= s->lost || (s->lost == 2 && s->base_count == 3) ||
        !kiln_rims_gather(s->c, s->star, &rims) || rims.curves > 0 || rims.required)
        return false;
    bool between = false;
    for (uint32_t i = 0; i < s->lost; i++) {
        const kiln_tet *tet = &mesh->tet[s->base[i]];
        for (uint32_t k = 0; k < 4; k++) {
            if (tet->v[k] == s->side[0] || tet->v[k] == s->side[1] || tet->v[k] == s->corner)
                continue;
            /* k is the corner's neighbour in the ring. */
            const kiln_rim *rim = kiln_rims_find(&rims, tet->v[k]);
            between |= is_wall(mesh, s->base[i], k);
            if (rim && rim->walls > 0 && is_wall(mesh, s->base[i], kiln_tet_corner(tet, s->corner)))
                return false;
        }
    }
    for (uint32_t i = s->lost; i < s->base_count; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t vertex = mesh->tet[s->base[i]].v[k];
            bool near = vertex == s->side[0] || vertex == s->side[1];
            for (uint32_t j = 0; j < s->lost; j++)
                near |= kiln_tet_corner(&mesh->tet[s->base[j]], vertex) < 4;
            for (uint32_t j = 0; j < s->star->count && !near; j++)
                if (kiln_tet_corner(&mesh->tet[s->star->tets[j]], vertex) < 4)
                    return false;
        }
    return between;
}

static bool squeeze_all(squeeze *s, kiln_proposal *out)
{
    s->star = kiln_near_star_of(s->c, s->corner, s->tet, &s->room);
    if (!s->star)
        return false;
    if (s->rank > 0 && !(s->sides == 2 && s->wall && facet_corner_may_go(s)))
        return false;
    s->before = worst_of_base(s);
    s->best = -INFINITY;
    place_foot(s);
    return s->wall ? try_on_wall(s, out) : try_inside(s, out);
}

static bool finish(squeeze *s, kiln_proposal *out)
{
    kiln_arena *arena = &s->c->workspace->arena;
    kiln_arena_mark mark = kiln_arena_set_mark(arena);
    if (squeeze_all(s, out))
        return true;
    kiln_arena_release(arena, mark);
    return false;
}

static bool start(squeeze *s, const kiln_contraction *c, kiln_operator kind, uint32_t tet,
                  uint32_t corner)
{
    s->c = c;
    s->kind = kind;
    s->tet = tet;
    s->corner = c->remesher->mesh->tet[tet].v[corner];
    s->wall = s->feature = false;
    s->rank = kiln_vertex_rank(c->remesher, s->corner);
    return s->rank < 2;
}

bool kiln_contract_face(const kiln_contraction *c, uint32_t tet, uint32_t corner_a,
                        uint32_t corner_b, uint32_t corner_c, kiln_proposal *out)
{
    const kiln_mesh *mesh = c->remesher->mesh;
    squeeze s;
    if (!start(&s, c, KILN_OP_FACE_CONTRACTION, tet, corner_c))
        return false;
    kiln_ring ring = kiln_edge_ring(mesh, tet, corner_a, corner_b, s.base, MOST_BASE);
    if (ring.count > MOST_BASE)
        return false;
    s.sides = 2;
    s.side[0] = mesh->tet[tet].v[corner_a];
    s.side[1] = mesh->tet[tet].v[corner_b];
    s.base_count = ring.count;
    for (uint32_t i = 0; i < ring.count; i++)
        s.base[i] /= 4;
    sort_base(&s);
    return look_at_edge(&s) && finish(&s, out);
}

bool kiln_contract_tet(const kiln_contraction *c, uint32_t tet, uint32_t corner_d,
                       kiln_proposal *out)
{
    const kiln_mesh *mesh = c->remesher->mesh;
    squeeze s;
    if (!start(&s, c, KILN_OP_TET_CONTRACTION, tet, corner_d) || s.rank > 0 ||
        kiln_face_is_marked(mesh, tet, corner_d))
        return false;
    kiln_link link = mesh->tet[tet].n[corner_d];
    s.sides = 3;
    for (int i = 0; i < 3; i++)
        s.side[i] = mesh->tet[tet].v[kiln_face_corner[corner_d][i]];
    s.base[0] = tet;
    s.base[1] = link / 4;
    s.lost = 1;
    s.base_count = kiln_link_is_surface(link) ? 1 : 2;
    s.wall = is_wall(mesh, tet, corner_d);
    return finish(&s, out);
}

bool kiln_face_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                                   uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                                   uint32_t corner_c, const kiln_contraction_limits *limits,
                                   kiln_proposal *out)
{
    const kiln_contraction c = {.remesher = remesher, .workspace = workspace, .limits = limits};
    return kiln_contract_face(&c, tet, corner_a, corner_b, corner_c, out);
}

bool kiln_tet_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                                  uint32_t tet, uint32_t corner_d,
                                  const kiln_contraction_limits *limits, kiln_proposal *out)
{
    const kiln_contraction c = {.remesher = remesher, .workspace = workspace, .limits = limits};
    return kiln_contract_tet(&c, tet, corner_d, out);
}
