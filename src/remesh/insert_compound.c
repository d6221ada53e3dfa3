/* Insertion together with what makes it worth while: the new vertex is smoothed, then the tets that
 * are no better than the worst that went are put right one by one, the worst first, by flips and by
 * smoothing their vertices. It is given up as soon as one of them resists, for most attempts fail.
 *
 * What was touched is read off the log of qualities: the first entry of a tet since the mark is its
 * score before, or INFINITY, and its score now is in the column. */
#include "remesh/insert.h"
#include "remesh/passes.h"
#include "remesh/space.h"

/* Measured on random Delaunay meshes that flips and smoothing no longer improve. Cavities five
 * tets deep succeed half again as often as those of three and leave fewer tets; the gate loses 3 %
 * of the successes and takes a third off the time of failures. */
const kiln_insertion_effort kiln_insertion_usual = {
    .depth = 5, .repairs = 24, .spread = 500, .gate = 1.4, .margin = 0.03};
const kiln_insertion_effort kiln_insertion_hard = {
    .depth = 7, .repairs = 64, .spread = 2000, .gate = 4.0, .margin = 0.03, .everywhere = true};

/* A repair must take away this part of what its tet lacks. */
static const double LEAST_PROGRESS = 0.1;

enum { BAD_ROOM = 64 };

typedef struct trial {
    kiln_remesher *remesher;
    const kiln_insertion_effort *effort;
    kiln_pass_mark mark;
    kiln_judge judge;       /* in office before; asked whether the whole is kept */
    double reference, goal; /* the worst that went; that and the margin */
    uint32_t bad[BAD_ROOM]; /* tets not above the goal that were made or made worse */
    uint32_t bad_count;
    bool crowded; /* there were more */
} trial;

/* After a change: what it made bad. Outside tets that were bad before are no worse for it. */
static void note_bad(trial *t, size_t logged)
{
    const kiln_remesher *remesher = t->remesher;
    for (size_t i = logged; i < remesher->quality_log.count; i++) {
        const kiln_quality_entry *entry = &remesher->quality_log.data[i];
        if (remesher->quality.data[entry->tet] > t->goal || entry->quality <= t->goal)
            continue;
        uint32_t k = 0;
        while (k < t->bad_count && t->bad[k] != entry->tet)
            k++;
        if (k < t->bad_count)
            continue;
        t->crowded |= k == BAD_ROOM;
        if (k < BAD_ROOM)
            t->bad[t->bad_count++] = entry->tet;
    }
}

typedef struct standing {
    uint32_t worst; /* tet, KILN_NONE when no bad one is left */
    double lacking; /* to the goal, summed over the bad tets */
    uint32_t below; /* bad tets not better than the reference */
} standing;

/* Tets that are no longer bad, or have gone, are struck off. */
static standing take_stock(trial *t)
{
    const double *quality = t->remesher->quality.data;
    standing s = {.worst = KILN_NONE};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->bad_count; i++) {
        uint32_t tet = t->bad[i];
        if (quality[tet] > t->goal)
            continue;
        t->bad[kept++] = tet;
        s.lacking += t->goal - quality[tet];
        s.below += quality[tet] <= t->reference;
        if (s.worst == KILN_NONE || quality[tet] < quality[s.worst])
            s.worst = tet;
    }
    t->bad_count = kept;
    return s;
}

static bool smooth(trial *t, uint32_t vertex)
{
    size_t logged = t->remesher->quality_log.count;
    if (t->remesher->side.data[vertex].freedom == KILN_FIXED ||
        !kiln_smooth_vertex(t->remesher, vertex, INFINITY))
        return false;
    note_bad(t, logged);
    return true;
}

/* Flips a tet, or smooths its vertices till it is good. */
static bool repair(trial *t, uint32_t tet)
{
    const kiln_remesher *remesher = t->remesher;
    size_t logged = remesher->quality_log.count;
    if (kiln_flip_tet(t->remesher, tet)) {
        note_bad(t, logged);
        return true;
    }
    bool moved = false;
    for (int k = 0; k < 4 && remesher->quality.data[tet] <= t->goal; k++)
        moved |= smooth(t, remesher->mesh->tet[tet].v[k]);
    return moved;
}

static size_t touched(const trial *t)
{
    return t->remesher->quality_log.count - t->mark.qualities;
}

/* Repairs bad tets, the worst first. True when nothing is left that is no better than the
 * reference. */
static bool put_right(trial *t)
{
    const kiln_insertion_effort *effort = t->effort;
    const kiln_f64_array *quality = &t->remesher->quality;
    standing now = take_stock(t);
    if (now.lacking > effort->gate * fmax(t->goal, effort->margin))
        return false;
    for (uint32_t i = 0; now.worst != KILN_NONE && i < effort->repairs; i++) {
        double gap = t->goal - quality->data[now.worst], before = now.lacking;
        if (t->crowded || touched(t) > effort->spread || !repair(t, now.worst))
            break;
        now = take_stock(t);
        if (before - now.lacking < LEAST_PROGRESS * gap)
            break;
    }
    return !t->crowded && now.below == 0;
}

/* Whether the sorted scores of what was touched have become better, worst first. `changed` becomes
 * the live tets touched. */
static bool is_better(trial *t)
{
    kiln_remesher *remesher = t->remesher;
    kiln_arena *arena = &remesher->workspace.arena;
    kiln_idset *seen = &remesher->workspace.walker.seen;
    size_t most = touched(t), count = 0;
    double *before = kiln_arena_array(arena, double, most);
    double *after = kiln_arena_array(arena, double, most);
    remesher->changed.count = 0;
    if (!before || !after ||
        kiln_array_reserve(remesher->context, &remesher->changed, most, NULL) != KILN_OK ||
        kiln_idset_clear(remesher->context, seen, most, NULL) != KILN_OK) {
        remesher->workspace.failed = true;
        return false;
    }
    for (size_t i = t->mark.qualities; i < remesher->quality_log.count; i++) {
        const kiln_quality_entry *entry = &remesher->quality_log.data[i];
        kiln_idset_slot *slot = kiln_idset_at(seen, entry->tet);
        if (slot->epoch == seen->epoch)
            continue;
        kiln_idset_add(seen, slot, entry->tet, 0);
        before[count] = entry->quality;
        after[count++] = remesher->quality.data[entry->tet];
        if (kiln_tet_live(remesher->mesh, entry->tet))
            remesher->changed.data[remesher->changed.count++] = entry->tet;
    }
    return kiln_judge_prefers(&t->judge, before, after, count);
}

/* What the judge in office before says of it all. */
static bool is_kept(trial *t, uint32_t vertex)
{
    kiln_remesher *remesher = t->remesher;
    const kiln_change change = {.kind = KILN_OP_INSERTION,
                                .compound = true,
                                .vertex =
                                    kiln_vertex_live(remesher->mesh, vertex) ? vertex : KILN_NONE,
                                .before = remesher->quality_log.data + t->mark.qualities,
                                .before_count = touched(t)};
    remesher->judge = t->judge;
    return kiln_judge_keeps(remesher, &change);
}

/* Everything from the proposal on, inside the mark. */
static bool carry_through(trial *t, const kiln_proposal *proposal)
{
    kiln_remesher *remesher = t->remesher;
    size_t logged = remesher->quality_log.count;
    if (kiln_remesher_apply(remesher, proposal) != KILN_ACCEPTED)
        return false;
    uint32_t vertex = remesher->vertex_made;
    note_bad(t, logged);
    smooth(t, vertex);
    if (!put_right(t))
        return false;
    if (kiln_vertex_live(remesher->mesh, vertex))
        smooth(t, vertex);
    kiln_arena_mark scratch = kiln_arena_set_mark(&remesher->workspace.arena);
    bool better = is_better(t);
    kiln_arena_release(&remesher->workspace.arena, scratch);
    return better && is_kept(t, vertex);
}

/* The insertion itself need gain nothing: that is for the whole to do. */
static bool propose(kiln_remesher *remesher, uint32_t tet, const uint32_t *corner, int corners,
                    const kiln_insertion_effort *effort, kiln_proposal *out)
{
    const kiln_insertion_limits limits = {.depth = effort->depth, .may_swallow = true};
    const kiln_judge office = remesher->judge;
    remesher->judge.gain = -INFINITY;
    remesher->judge.least = 0.0;
    bool found =
        kiln_insertion_propose(remesher, &remesher->workspace, tet, corner, corners, &limits, out);
    remesher->judge = office;
    return found;
}

/* In a transaction; the judge is not asked whether it keeps the parts. */
static bool insert(kiln_remesher *remesher, const kiln_proposal *proposal,
                   const kiln_insertion_effort *effort)
{
    trial t = {.remesher = remesher,
               .effort = effort,
               .mark = kiln_remesher_mark(remesher),
               .judge = remesher->judge,
               .reference = proposal->before,
               .goal = proposal->before + effort->margin};
    if (t.mark.txn.depth == 0)
        return false;
    remesher->judge.keeps = NULL;
    bool done = carry_through(&t, proposal);
    remesher->judge = t.judge;
    if (done)
        return kiln_remesher_keep(remesher, &t.mark) == KILN_ACCEPTED;
    kiln_remesher_undo(remesher, &t.mark);
    return false;
}

bool kiln_insertion_compound_at(kiln_remesher *remesher, uint32_t tet, const uint32_t *corner,
                                int corners, const kiln_insertion_effort *effort)
{
    kiln_proposal proposal;
    kiln_arena_mark scratch = kiln_arena_set_mark(&remesher->workspace.arena);
    bool done = propose(remesher, tet, corner, corners, effort, &proposal) &&
                insert(remesher, &proposal, effort);
    if (!done)
        remesher->changed.count = 0;
    kiln_arena_release(&remesher->workspace.arena, scratch);
    return done;
}

/* Edges of the tet, longest first. */
static void rank_edges(const kiln_remesher *remesher, uint32_t tet, uint8_t rank[6])
{
    const kiln_vec3 *points = kiln_points_of_tet(remesher, tet);
    const uint32_t *v = remesher->mesh->tet[tet].v;
    double length[6];
    for (uint8_t e = 0; e < 6; e++) {
        kiln_vec3 d = kiln_v3_sub(points[v[kiln_edge_ends[e][0]]], points[v[kiln_edge_ends[e][1]]]);
        length[e] = kiln_v3_dot(d, d);
        uint8_t at = e;
        for (; at > 0 && length[rank[at - 1]] < length[e]; at--)
            rank[at] = rank[at - 1];
        rank[at] = e;
    }
}

static bool in_edge(kiln_remesher *remesher, uint32_t tet, uint32_t edge,
                    const kiln_insertion_effort *effort)
{
    const uint32_t ends[2] = {kiln_edge_ends[edge][0], kiln_edge_ends[edge][1]};
    return kiln_insertion_compound_at(remesher, tet, ends, 2, effort);
}

static bool in_face(kiln_remesher *remesher, uint32_t tet, uint32_t face,
                    const kiln_insertion_effort *effort)
{
    const uint8_t *c = kiln_face_corner[face];
    const uint32_t corner[3] = {c[0], c[1], c[2]};
    return kiln_insertion_compound_at(remesher, tet, corner, 3, effort);
}

/* The shortest edge first: a vertex there tends to take the place of its ends, so that the mesh
 * gets better without getting finer. Then the longest edge, the tet itself, and the edge next in
 * length. Sorting tets by kind (sliver, cap, ...) gained nothing over this order. */
bool kiln_insertion_compound(kiln_remesher *remesher, uint32_t tet,
                             const kiln_insertion_effort *effort)
{
    const uint32_t whole[4] = {0, 1, 2, 3};
    uint8_t rank[6];
    rank_edges(remesher, tet, rank);
    bool done = in_edge(remesher, tet, rank[5], effort) ||
                in_edge(remesher, tet, rank[0], effort) ||
                kiln_insertion_compound_at(remesher, tet, whole, 4, effort) ||
                in_edge(remesher, tet, rank[1], effort);
    for (int i = 2; i < 5 && effort->everywhere && !done; i++)
        done = in_edge(remesher, tet, rank[i], effort);
    for (uint32_t f = 0; f < 4 && effort->everywhere && !done; f++)
        done = in_face(remesher, tet, f, effort);
    return done;
}
