/* Splits: the edges with the largest predicted gains first. They are judged before they are made,
 * on patches of a mesh that is not there (patch.h), so that those in vain cost no change of the
 * mesh and several are judged at the same time. */
#include "base/parallel.h"
#include "remesh/insert.h"
#include "step/energy_impl.h"

#include <math.h>

/* A candidate whose gain has fallen below this part of what it was queued with waits its turn. */
#define STALE 0.5
/* Candidates that are looked at for splits apart, and have to wait, at a time. */
enum { MOST_ASIDE = 3 * KILN_ENERGY_SLOTS };

static kiln_status note_depth(kiln_energy_pass *w, uint32_t vertex, uint32_t a, uint32_t b)
{
    KILN_TRY(kiln_array_reserve(w->remesher->context, &w->depth, (size_t)vertex + 1, w->error));
    while (w->depth.count <= vertex)
        w->depth.data[w->depth.count++] = 0;
    uint32_t *depth = w->depth.data;
    depth[vertex] = 1 + (depth[a] > depth[b] ? depth[a] : depth[b]);
    return KILN_OK;
}

/* Edges of the tets that were made. */
static void queue_around(kiln_energy_pass *w, uint32_t vertex)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    w->status = kiln_star(mesh, vertex, &w->walker, w->error);
    for (size_t i = 0; i < w->walker.tets.count && w->status == KILN_OK; i++) {
        uint32_t t = w->walker.tets.data[i], own = kiln_tet_corner(&mesh->tet[t], vertex);
        for (int k = 0; k < 6; k++) {
            uint32_t ca = kiln_edge_ends[k][0], cb = kiln_edge_ends[k][1];
            uint32_t a = mesh->tet[t].v[ca], b = mesh->tet[t].v[cb];
            /* Edges at the vertex come several times: the queue bears twins, of which the second
             * is found to be split already. */
            if (ca != own && cb != own && a > b)
                continue;
            double gain = kiln_energy_foresee(w, t, ca, cb);
            if (kiln_energy_is_worth(w, t, ca, cb, gain))
                kiln_energy_push(w, (kiln_energy_candidate){gain, a < b ? a : b, a < b ? b : a});
        }
    }
}

/* Edges of a surface are no shorter than it repels at: then what is near is near as a whole. */
static bool is_too_short(const kiln_energy_pass *w, uint32_t a, uint32_t b)
{
    const kiln_local_objective *o = w->objective;
    const kiln_vertex_info *info = o->mesh->vertex;
    if (!o->surface || !(info[a].flags & info[b].flags & KILN_VERTEX_SURFACE))
        return false;
    return kiln_v3_norm(kiln_v3_sub(o->end[a], o->end[b])) <
           2.0 * o->surface->collide->options.thickness;
}

/* Still worth it, and in its turn? */
static bool look_at(kiln_energy_pass *w, kiln_energy_candidate c, kiln_energy_slot *slot)
{
    if (!kiln_energy_find_edge(w, c.a, c.b, &slot->tet, slot->corner) || is_too_short(w, c.a, c.b))
        return false;
    uint32_t ca = slot->corner[0], cb = slot->corner[1];
    double gain = kiln_energy_foresee(w, slot->tet, ca, cb);
    if (!kiln_energy_is_worth(w, slot->tet, ca, cb, gain) ||
        !kiln_energy_split_may_end_well(w, slot->tet, ca, cb))
        return false;
    slot->edge = (kiln_energy_candidate){gain, c.a, c.b};
    if (gain < STALE * c.gain) {
        kiln_energy_push(w, slot->edge);
        return false;
    }
    return true;
}

/* Splits are judged side by side where none changes what another looks at: nothing that is free for
 * one counts for another. Patches are symmetric in that, so it is enough to ask here. */
static bool is_apart(const kiln_energy_pass *w)
{
    for (size_t i = 0; i < w->around.count; i++)
        if (kiln_idset_has(&w->near, w->around.data[i]))
            return false;
    return true;
}

static kiln_status take_places(kiln_energy_pass *w, const kiln_u32_array *vertices)
{
    for (size_t i = 0; i < vertices->count; i++) {
        uint32_t v = vertices->data[i];
        if (2 * (w->near.members + 1) > w->near.slots.count)
            KILN_TRY(kiln_idset_grow(w->remesher->context, &w->near, w->error));
        kiln_idset_slot *slot = kiln_idset_at(&w->near, v);
        if (slot->epoch != w->near.epoch)
            kiln_idset_add(&w->near, slot, v, 0);
    }
    return KILN_OK;
}

/* Those that promise little wait until the mesh has done what it can with the ones that promise
 * much: flips and moves first, and a solve. */
static bool has_candidates(const kiln_energy_pass *w)
{
    return w->heap.count > 0 && w->heap.data[0].gain >= w->waits;
}

/* The next splits of the queue that are apart; the others keep their place. */
static size_t choose(kiln_energy_pass *w)
{
    kiln_context *context = w->remesher->context;
    size_t count = 0, most = w->left < KILN_ENERGY_SLOTS ? w->left : KILN_ENERGY_SLOTS;
    w->aside.count = 0;
    w->status = kiln_idset_clear(context, &w->near, 4096, w->error);
    while (w->status == KILN_OK && has_candidates(w) && count < most &&
           w->aside.count < MOST_ASIDE) {
        kiln_energy_slot *slot = &w->slots[count];
        kiln_energy_candidate next = kiln_energy_pop(w);
        if (kiln_idset_has(&w->near, next.a) || kiln_idset_has(&w->near, next.b)) {
            w->status = kiln_array_push(context, &w->aside, next, w->error);
            continue;
        }
        if (!look_at(w, next, slot) || w->status != KILN_OK)
            continue;
        const uint32_t end[2] = {slot->edge.a, slot->edge.b};
        w->status = kiln_energy_list_around(w, end, 2);
        if (w->status == KILN_OK && !is_apart(w)) {
            w->status = kiln_array_push(context, &w->aside, slot->edge, w->error);
            continue;
        }
        if (w->status == KILN_OK)
            w->status = kiln_patch_list_split(&slot->patch, w->objective, end, w->around.data,
                                              w->around.count, w->error);
        if (w->status == KILN_OK)
            w->status = take_places(w, &slot->patch.vertex);
        if (w->status == KILN_OK)
            w->status = take_places(w, &slot->patch.pressure.beyond);
        count++;
    }
    for (size_t i = 0; i < w->aside.count; i++)
        kiln_energy_push(w, w->aside.data[i]);
    return count;
}

static void judge_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    const kiln_energy_pass *w = user;
    const kiln_remesher *r = w->remesher;
    kiln_workspace *workspace = &r->workers[worker];
    for (size_t i = begin; i < end; i++) {
        kiln_energy_slot *slot = &w->slots[i];
        kiln_proposal proposal;
        kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
        slot->legal = kiln_split_propose(r, workspace, slot->tet, slot->corner, 2, &proposal);
        kiln_arena_release(&workspace->arena, mark);
        slot->gained = 0.0;
        if (!slot->legal || slot->patch.touches)
            continue;
        kiln_patch_fill(&slot->patch, w->objective);
        slot->gained =
            kiln_energy_relax(w, &slot->patch, slot->patch.pressure.at_once, w->options->split);
    }
}

/* Makes the split that was judged. */
static bool make(kiln_energy_pass *w, const kiln_energy_slot *slot)
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    w->trial = (kiln_energy_trial){.judged = slot, .gained = slot->gained};
    bool made = kiln_split_propose(r, &r->workspace, slot->tet, slot->corner, 2, &proposal) &&
                kiln_energy_make(w, &proposal, &w->report->splits);
    kiln_arena_release(&r->workspace.arena, mark);
    return made;
}

/* Judged when it is made, among what is near. */
static bool make_near(kiln_energy_pass *w, kiln_energy_slot *slot)
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    w->trial = (kiln_energy_trial){.least = w->options->split,
                                   .parent = {slot->edge.a, slot->edge.b},
                                   .weight = {0.5, 0.5},
                                   .parents = 2,
                                   .middle = {slot->edge.a, slot->edge.b},
                                   .middles = 2};
    bool made = kiln_split_propose(r, &r->workspace, slot->tet, slot->corner, 2, &proposal) &&
                kiln_energy_make(w, &proposal, &w->report->splits);
    slot->gained = w->trial.gained;
    kiln_arena_release(&r->workspace.arena, mark);
    return made;
}

static bool is_made(kiln_energy_pass *w, kiln_energy_slot *slot)
{
    if (slot->legal && !slot->patch.touches) {
        if (!(slot->gained > w->options->split))
            return false;
        w->status = kiln_patch_look_split(&slot->patch, w->objective, w->error);
        if (w->status != KILN_OK)
            return false;
    }
    return slot->legal && (slot->patch.touches ? make_near(w, slot) : make(w, slot));
}

static void conclude(kiln_energy_pass *w, kiln_energy_slot *slot)
{
    kiln_energy_candidate edge = slot->edge;
    if (edge.gain < w->waits)
        return;
    w->report->splits.trials += slot->legal;
    if (!is_made(w, slot)) {
        if (w->status == KILN_OK)
            kiln_energy_note_vain(w, slot->tet, slot->corner[0], slot->corner[1],
                                  slot->gained > w->options->split ? 0.0
                                                                   : slot->gained / edge.gain);
        return;
    }
    w->report->predicted += edge.gain;
    w->waits = fmax(w->waits, w->options->mark * edge.gain);
    uint32_t vertex = w->remesher->vertex_made;
    if (w->status == KILN_OK)
        w->status = note_depth(w, vertex, edge.a, edge.b);
    kiln_energy_note_fresh(w, vertex, (uint32_t[]){edge.a, edge.b}, (double[]){0.5, 0.5}, 2);
    if (w->status == KILN_OK)
        queue_around(w, vertex);
}

static bool has_room(const kiln_energy_pass *w)
{
    return w->options->most_tets == 0 ||
           w->remesher->mesh->table[KILN_ON_TET].live < w->options->most_tets;
}

void kiln_energy_split(kiln_energy_pass *pass)
{
    kiln_energy_pass *w = pass;
    kiln_context *context = w->remesher->context;
    w->heap.count = 0;
    w->status = kiln_energy_survey(w, w->error);
    w->left = w->budget;
    w->waits = 0.0;
    while (has_candidates(w) && w->left > 0 && w->status == KILN_OK && has_room(w)) {
        w->status = kiln_may_go_on(context, w->error);
        size_t count = w->status == KILN_OK ? choose(w) : 0;
        w->left -= count;
        if (w->status == KILN_OK)
            kiln_parallel_for(context, count, 1, judge_chunk, w);
        for (size_t i = 0; i < count && w->status == KILN_OK && has_room(w); i++)
            conclude(w, &w->slots[i]);
    }
}
