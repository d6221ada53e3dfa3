#include "remesh/contract_impl.h"
#include "remesh/metric.h"
#include "remesh/space.h"

#include <string.h>

kiln_place kiln_contraction_place_of(const kiln_remesher *remesher, uint32_t vertex)
{
    kiln_place place = {.u = remesher->mesh->u[vertex],
                        .x = remesher->mesh->x[vertex],
                        .side.world = kiln_vertex_in_world(remesher, vertex)};
    if (remesher->options.sizing)
        place.metric = remesher->metric.data[vertex];
    return place;
}

kiln_place kiln_contraction_place_inside(const kiln_remesher *remesher, kiln_vec3 p, uint32_t near)
{
    kiln_place place = {.side = {.begin = p,
                                 .hint = remesher->side.data[near].hint,
                                 .world = kiln_vertex_in_world(remesher, near)}};
    kiln_remesher_locate(remesher, p, &place);
    return place;
}

int kiln_vertex_rank(const kiln_remesher *remesher, uint32_t vertex)
{
    if (kiln_vertex_is_free(remesher->mesh, vertex))
        return 0;
    if (remesher->mesh->vertex[vertex].flags & (KILN_VERTEX_CORNER | KILN_VERTEX_REQUIRED))
        return 3;
    switch ((kiln_freedom)remesher->side.data[vertex].freedom) {
    case KILN_ON_PLANE:
    case KILN_ON_SURFACE:
        return 1;
    case KILN_ON_LINE:
    case KILN_ON_CURVE:
        return 2;
    case KILN_FREE:
    case KILN_FIXED:
        break;
    }
    return 3;
}

bool kiln_draft_start(const kiln_contraction *c, kiln_draft *draft, kiln_operator kind,
                      size_t old_room, size_t fresh_room)
{
    kiln_arena *arena = &c->workspace->arena;
    *draft = (kiln_draft){.proposal = {.kind = kind,
                                       .old = kiln_arena_array(arena, uint32_t, old_room),
                                       .fresh = kiln_arena_array(arena, kiln_new_tet, fresh_room),
                                       .quality = kiln_arena_array(arena, double, fresh_room),
                                       .before = INFINITY,
                                       .after = INFINITY,
                                       .stamp = c->remesher->mesh->clock},
                          .survivor = KILN_NONE};
    if (draft->proposal.old && draft->proposal.fresh && draft->proposal.quality)
        return true;
    return kiln_workspace_fail(c->workspace);
}

void kiln_draft_take(kiln_draft *draft, uint32_t tet)
{
    draft->proposal.old[draft->proposal.old_count++] = tet;
}

static kiln_new_tet *same_tet(const kiln_contraction *c, kiln_draft *draft, uint32_t tet)
{
    kiln_new_tet *fresh = &draft->proposal.fresh[draft->proposal.fresh_count++];
    kiln_draft_take(draft, tet);
    *fresh = (kiln_new_tet){.parent = tet, .slot = tet};
    memcpy(fresh->v, c->remesher->mesh->tet[tet].v, sizeof fresh->v);
    return fresh;
}

void kiln_draft_keep(const kiln_contraction *c, kiln_draft *draft, uint32_t tet)
{
    for (uint32_t i = 0; i < draft->proposal.old_count; i++)
        if (draft->proposal.old[i] == tet)
            return;
    same_tet(c, draft, tet);
    draft->kept++;
}

void kiln_draft_move(const kiln_contraction *c, kiln_draft *draft, uint32_t tet, uint32_t vertex)
{
    kiln_new_tet *fresh = same_tet(c, draft, tet);
    for (int k = 0; k < 4; k++)
        fresh->v[k] = fresh->v[k] == vertex ? KILN_PROPOSED : fresh->v[k];
}

void kiln_draft_add(kiln_draft *draft, const uint32_t v[4], uint32_t parent)
{
    kiln_new_tet *fresh = &draft->proposal.fresh[draft->proposal.fresh_count++];
    *fresh = (kiln_new_tet){.parent = parent, .slot = KILN_NONE};
    memcpy(fresh->v, v, sizeof fresh->v);
}

static uint32_t proposed_corner(const kiln_new_tet *fresh)
{
    uint32_t corner = 0;
    while (corner < 4 && fresh->v[corner] != KILN_PROPOSED)
        corner++;
    return corner;
}

/* The survivor's number where KILN_PROPOSED stood. */
static void name_survivor(kiln_draft *draft)
{
    kiln_proposal *p = &draft->proposal;
    p->has_place = draft->survivor == KILN_NONE;
    if (!p->has_place)
        p->vertex_flags = 0; /* those of the new vertex; the survivor has its own */
    for (uint32_t i = 0; i < p->fresh_count && !p->has_place; i++)
        for (int k = 0; k < 4; k++)
            p->fresh[i].v[k] =
                p->fresh[i].v[k] == KILN_PROPOSED ? draft->survivor : p->fresh[i].v[k];
}

static bool score_all(const kiln_contraction *c, kiln_draft *draft)
{
    kiln_proposal *p = &draft->proposal;
    p->before = kiln_remesher_worst(c->remesher, p->old, p->old_count - draft->kept);
    for (uint32_t i = 0; i < p->fresh_count; i++) {
        kiln_space space = kiln_remesher_space(c->remesher, p->fresh[i].parent);
        p->quality[i] = kiln_remesher_score_in(c->remesher, space, &p->place, p->fresh[i].v);
        if (i < p->fresh_count - draft->kept)
            p->after = p->quality[i] < p->after ? p->quality[i] : p->after;
        if (!kiln_remesher_valid_elsewhere(c->remesher, space, &p->place, p->fresh[i].v))
            return false;
    }
    return kiln_judge_figures(c->remesher, p);
}

/* Locked tets stay, and so do required edges and faces of vertices that go. Their feature edges may
 * go only where the draft hands them on. */
static bool marks_fit(const kiln_contraction *c, const kiln_draft *draft)
{
    const kiln_mesh *mesh = c->remesher->mesh;
    uint32_t any = 0;
    for (uint32_t i = 0; i < draft->proposal.old_count; i++)
        any |= mesh->info[draft->proposal.old[i]].marks;
    if (any & KILN_MARK_LOCKED)
        return false;
    if (!(any & (KILN_MARKS_ON_EDGE | KILN_MARKS_ON_FACE)))
        return true;
    for (uint32_t i = 0; i < draft->proposal.old_count; i++) {
        uint32_t tet = draft->proposal.old[i], marks = mesh->info[tet].marks;
        for (uint32_t g = 0; g < draft->proposal.gone_count; g++) {
            uint32_t corner = kiln_tet_corner(&mesh->tet[tet], draft->proposal.gone[g]);
            for (uint32_t k = 0; k < 4 && corner < 4; k++) {
                if (k == corner)
                    continue;
                if (marks >> (KILN_MARK_REQUIRED_EDGE + kiln_edge_of[corner][k]) & 1 ||
                    marks >> (KILN_MARK_REQUIRED_FACE + k) & 1 ||
                    marks >> (KILN_MARK_SPLIT_FACE + k) & 1)
                    return false;
                if (marks >> kiln_edge_of[corner][k] & 1 &&
                    !(draft->proposal.flags & KILN_CAVITY_FEATURES))
                    return false;
            }
        }
    }
    return true;
}

static void hand_on_features(kiln_draft *draft)
{
    for (uint32_t i = 0; i < draft->proposal.fresh_count && draft->far_ends > 0; i++) {
        kiln_new_tet *fresh = &draft->proposal.fresh[i];
        uint32_t corner = proposed_corner(fresh);
        for (uint32_t k = 0; k < 4 && corner < 4; k++)
            for (int e = 0; e < draft->far_ends; e++)
                if (k != corner && fresh->v[k] == draft->far_end[e])
                    fresh->marks |= 1u << (KILN_MARK_FEATURE_EDGE + kiln_edge_of[corner][k]);
    }
}

bool kiln_draft_finish(const kiln_contraction *c, kiln_draft *draft, kiln_proposal *out)
{
    if (!score_all(c, draft) || !marks_fit(c, draft))
        return false;
    hand_on_features(draft);
    name_survivor(draft);
    if ((draft->walls && !kiln_draft_settle_walls(c, draft)) ||
        !kiln_judge_may(c->remesher, &draft->proposal))
        return false;
    *out = draft->proposal;
    return true;
}
