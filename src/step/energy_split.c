/* Splits: the edges with the largest predicted gains first. */
#include "remesh/insert.h"
#include "step/energy_impl.h"

/* A candidate whose gain has fallen below this part of what it was queued with waits its turn. */
#define STALE 0.5

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
            double gain = kiln_energy_predict(w->objective, t, ca, cb);
            if (kiln_energy_is_worth(w, a, b, gain))
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

static void try_split(kiln_energy_pass *w, kiln_energy_candidate c)
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    uint32_t tet, corner[2];
    if (!kiln_energy_find_edge(w, c.a, c.b, &tet, corner) || is_too_short(w, c.a, c.b))
        return;
    double gain = kiln_energy_predict(w->objective, tet, corner[0], corner[1]);
    if (!kiln_energy_is_worth(w, c.a, c.b, gain))
        return;
    if (gain < STALE * c.gain) {
        kiln_energy_push(w, (kiln_energy_candidate){gain, c.a, c.b});
        return;
    }
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    w->trial = (kiln_energy_trial){.least = w->options->split,
                                   .parent = {c.a, c.b},
                                   .weight = {0.5, 0.5},
                                   .parents = 2,
                                   .middle = {c.a, c.b},
                                   .middles = 2};
    bool taken = kiln_split_propose(r, &r->workspace, tet, corner, 2, &proposal) &&
                 kiln_energy_try(w, &proposal, &w->report->splits);
    kiln_arena_release(&r->workspace.arena, mark);
    if (!taken || w->status != KILN_OK)
        return;
    w->report->predicted += gain;
    uint32_t vertex = r->vertex_made;
    w->status = note_depth(w, vertex, c.a, c.b);
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
    w->heap.count = 0;
    w->status = kiln_energy_survey(w, w->error);
    while (w->heap.count > 0 && w->status == KILN_OK && has_room(w)) {
        w->status = kiln_may_go_on(w->remesher->context, w->error);
        if (w->status == KILN_OK)
            try_split(w, kiln_energy_pop(w));
    }
}
