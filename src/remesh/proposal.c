#include "remesh/proposal.h"

bool kiln_proposal_fresh(const kiln_remesher *remesher, const kiln_proposal *proposal)
{
    const kiln_mesh *mesh = remesher->mesh;
    for (uint32_t i = 0; i < proposal->old_count; i++)
        if (!kiln_tet_live(mesh, proposal->old[i]) ||
            mesh->info[proposal->old[i]].changed > proposal->stamp)
            return false;
    return true;
}

/* The new tets with the number of the made vertex in place of KILN_PROPOSED. */
static const kiln_new_tet *with_vertex(kiln_remesher *remesher, const kiln_proposal *proposal,
                                       uint32_t vertex)
{
    if (!proposal->has_place)
        return proposal->fresh;
    kiln_new_tet *fresh =
        kiln_arena_array(&remesher->workspace.arena, kiln_new_tet, proposal->fresh_count);
    for (uint32_t i = 0; fresh && i < proposal->fresh_count; i++) {
        fresh[i] = proposal->fresh[i];
        for (int k = 0; k < 4; k++)
            fresh[i].v[k] = fresh[i].v[k] == KILN_PROPOSED ? vertex : fresh[i].v[k];
    }
    return fresh;
}

static kiln_verdict make_vertex(kiln_remesher *remesher, const kiln_proposal *proposal,
                                kiln_txn *txn)
{
    const kiln_place *place = &proposal->place;
    uint32_t vertex = kiln_txn_add_vertex(txn, place->u, place->x, proposal->parent,
                                          proposal->weight, proposal->parents);
    if (vertex == KILN_NONE)
        return KILN_REFUSED_MEMORY;
    kiln_remesher_set_side(remesher, vertex, place);
    remesher->vertex_made = vertex;
    return KILN_ACCEPTED;
}

static void note_tets(kiln_remesher *remesher, const kiln_proposal *proposal)
{
    kiln_u32_array *changed = &remesher->changed;
    for (uint32_t i = 0; i < proposal->old_count; i++)
        kiln_remesher_set_quality(remesher, proposal->old[i], INFINITY);
    for (uint32_t i = 0; i < proposal->fresh_count; i++)
        kiln_remesher_set_quality(remesher, changed->data[i],
                                  proposal->quality
                                      ? proposal->quality[i]
                                      : kiln_remesher_score_tet(remesher, changed->data[i]));
}

static kiln_verdict change(kiln_remesher *remesher, const kiln_proposal *proposal, kiln_txn *txn)
{
    size_t tets = proposal->old_count + proposal->fresh_count;
    if (kiln_remesher_reserve(remesher, 1, tets, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict =
        proposal->has_place ? make_vertex(remesher, proposal, txn) : KILN_ACCEPTED;
    const kiln_new_tet *fresh =
        verdict == KILN_ACCEPTED ? with_vertex(remesher, proposal, remesher->vertex_made) : NULL;
    if (!fresh)
        return KILN_REFUSED_MEMORY;
    const kiln_cavity cavity = {.old = proposal->old,
                                .old_count = proposal->old_count,
                                .fresh = fresh,
                                .fresh_count = proposal->fresh_count,
                                .surface = proposal->surface,
                                .surface_count = proposal->surface_count,
                                .flags = proposal->flags};
    verdict = kiln_replace(txn, &cavity, remesher->changed.data);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    remesher->changed.count = proposal->fresh_count;
    note_tets(remesher, proposal);
    if (proposal->has_place && proposal->vertex_flags)
        verdict = kiln_txn_set_vertex(txn, remesher->vertex_made, proposal->vertex_flags, 0);
    return verdict;
}

static bool is_kept(kiln_remesher *remesher, const kiln_pass_mark *mark, kiln_operator kind,
                    uint32_t vertex)
{
    const kiln_change change = {.kind = kind,
                                .vertex = vertex,
                                .before = remesher->quality_log.data + mark->qualities,
                                .before_count = remesher->quality_log.count - mark->qualities};
    return kiln_judge_keeps(remesher, &change);
}

/* Keeps what was changed since the mark if it was accepted, by the judge as well. */
static kiln_verdict conclude(kiln_remesher *remesher, kiln_pass_mark *mark, kiln_operator kind,
                             uint32_t vertex, kiln_verdict verdict)
{
    if (verdict == KILN_ACCEPTED && !is_kept(remesher, mark, kind, vertex))
        verdict = KILN_REFUSED_JUDGED;
    if (verdict == KILN_ACCEPTED) {
        verdict = kiln_remesher_keep(remesher, mark);
    } else {
        remesher->workspace.failed |= verdict == KILN_REFUSED_MEMORY;
        kiln_remesher_undo(remesher, mark);
    }
    if (verdict != KILN_ACCEPTED) {
        remesher->changed.count = 0;
        remesher->vertex_made = KILN_NONE;
    }
    return verdict;
}

kiln_verdict kiln_remesher_apply(kiln_remesher *remesher, const kiln_proposal *proposal)
{
    remesher->changed.count = 0;
    remesher->vertex_made = KILN_NONE;
    kiln_pass_mark mark = kiln_remesher_mark(remesher);
    if (mark.txn.depth == 0)
        return KILN_REFUSED_MEMORY;
    kiln_arena_mark scratch = kiln_arena_set_mark(&remesher->workspace.arena);
    kiln_verdict verdict = change(remesher, proposal, &mark.txn);
    kiln_arena_release(&remesher->workspace.arena, scratch);
    return conclude(remesher, &mark, proposal->kind, remesher->vertex_made, verdict);
}

static kiln_verdict shift(kiln_remesher *remesher, uint32_t vertex, const kiln_place *place,
                          kiln_txn *txn)
{
    kiln_mesh *mesh = remesher->mesh;
    kiln_walker *walker = &remesher->workspace.walker;
    if (kiln_star(mesh, vertex, walker, NULL) != KILN_OK ||
        kiln_remesher_reserve(remesher, 1, walker->tets.count, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = kiln_txn_move_vertex(txn, vertex, place->u, place->x);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    kiln_remesher_set_side(remesher, vertex, place);
    for (size_t i = 0; i < walker->tets.count; i++) {
        uint32_t tet = walker->tets.data[i];
        remesher->changed.data[i] = tet;
        kiln_remesher_set_quality(remesher, tet, kiln_remesher_score_tet(remesher, tet));
    }
    remesher->changed.count = walker->tets.count;
    return KILN_ACCEPTED;
}

kiln_verdict kiln_remesher_move(kiln_remesher *remesher, uint32_t vertex, const kiln_place *place)
{
    remesher->changed.count = 0;
    remesher->vertex_made = KILN_NONE;
    kiln_pass_mark mark = kiln_remesher_mark(remesher);
    if (mark.txn.depth == 0)
        return KILN_REFUSED_MEMORY;
    return conclude(remesher, &mark, KILN_OP_SMOOTHING, vertex,
                    shift(remesher, vertex, place, &mark.txn));
}

bool kiln_remesher_move_above(kiln_remesher *remesher, uint32_t vertex, const kiln_place *place,
                              double floor)
{
    kiln_walker *walker = &remesher->workspace.walker;
    if (kiln_star(remesher->mesh, vertex, walker, NULL) != KILN_OK)
        return kiln_workspace_fail(&remesher->workspace);
    double before = kiln_remesher_worst(remesher, walker->tets.data, walker->tets.count);
    kiln_pass_mark mark = kiln_remesher_mark(remesher);
    if (mark.txn.depth == 0)
        return false;
    bool moved = kiln_remesher_move(remesher, vertex, place) == KILN_ACCEPTED &&
                 kiln_remesher_worst(remesher, remesher->changed.data, remesher->changed.count) >=
                     fmin(before, floor);
    if (moved)
        return kiln_remesher_keep(remesher, &mark) == KILN_ACCEPTED;
    kiln_remesher_undo(remesher, &mark);
    return false;
}
