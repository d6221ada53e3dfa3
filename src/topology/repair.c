#include "topology/repair.h"
#include "mesh/journal.h"
#include "mesh/walk.h"
#include "topology/open.h"
#include "topology/split.h"

#include <string.h>

enum { MOST_ROUNDS = 10 };

typedef struct repairer {
    kiln_txn *txn;
    int32_t tag;
    kiln_walker walker;
    kiln_idset cycle;     /* link vertex -> surface cycle number + 1; 0: not on the surface */
    kiln_u32_array nodes; /* link vertices */
    kiln_u32_array from;  /* [node] BFS predecessor */
    kiln_u32_array faces; /* to be opened */
    kiln_repair_report report;
} repairer;

static void repairer_free(repairer *r)
{
    kiln_context *context = r->txn->mesh->context;
    kiln_walker_free(&r->walker);
    kiln_array_free(context, &r->cycle.slots);
    kiln_array_free(context, &r->nodes);
    kiln_array_free(context, &r->from);
    kiln_array_free(context, &r->faces);
}

static kiln_verdict examine(repairer *r, uint32_t vertex, kiln_vertex_state *state, uint32_t *other)
{
    *state = KILN_VERTEX_MANIFOLD;
    if (!kiln_vertex_live(r->txn->mesh, vertex))
        return KILN_ACCEPTED;
    return kiln_vertex_examine(r->txn->mesh, vertex, &r->walker, state, other, NULL) == KILN_OK
               ? KILN_ACCEPTED
               : KILN_REFUSED_MEMORY;
}

/* All vertices whose star is in pieces: done before anything else. */
static kiln_verdict split_stars(repairer *r, bool *changed)
{
    kiln_mesh *mesh = r->txn->mesh;
    for (size_t i = 0; i < kiln_star_count(mesh); i++) {
        uint32_t vertex = kiln_star_vertex(mesh, i), other, copies;
        kiln_vertex_state state;
        kiln_verdict verdict = examine(r, vertex, &state, &other);
        if (verdict == KILN_ACCEPTED && state == KILN_VERTEX_STAR_SPLIT) {
            verdict = kiln_open_vertex(r->txn, vertex, r->tag, &copies);
            r->report.vertices_split += copies;
            *changed = true;
        }
        if (verdict != KILN_ACCEPTED)
            return verdict;
    }
    return KILN_ACCEPTED;
}

static kiln_verdict split_edge(repairer *r, uint32_t vertex, uint32_t other)
{
    kiln_mesh *mesh = r->txn->mesh;
    if (kiln_edge_tets(mesh, vertex, other, &r->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    uint32_t tet = r->walker.tets.data[0], copies;
    const uint32_t corners[2] = {kiln_tet_corner(&mesh->tet[tet], vertex),
                                 kiln_tet_corner(&mesh->tet[tet], other)};
    kiln_split split;
    kiln_verdict verdict = kiln_split_middle(r->txn, tet, corners, 2, &split);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    r->report.edges_split++;
    verdict = kiln_open_vertex(r->txn, split.vertex, r->tag, &copies);
    r->report.vertices_split += copies;
    return verdict;
}

static uint32_t cycle_of(const repairer *r, uint32_t vertex)
{
    return kiln_idset_at(&r->cycle, vertex)->value;
}

/* Numbers the surface cycles in the link of the vertex: 1, 2, ... for the link vertices on them, 0
 * for the others. The star is in r->walker. */
static kiln_verdict number_cycles(repairer *r, uint32_t vertex)
{
    const kiln_mesh *mesh = r->txn->mesh;
    const kiln_u32_array *star = &r->walker.tets;
    kiln_context *context = mesh->context;
    r->nodes.count = 0;
    if (kiln_idset_clear(context, &r->cycle, 3 * star->count, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < star->count; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t w = mesh->tet[star->data[i]].v[k];
            kiln_idset_slot *slot = kiln_idset_at(&r->cycle, w);
            if (w == vertex || slot->epoch == r->cycle.epoch)
                continue;
            kiln_idset_add(&r->cycle, slot, w, 0);
            if (kiln_array_push(context, &r->nodes, w, NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
        }
    /* Spread the number of one surface link edge to those that touch it until nothing moves. */
    for (uint32_t number = 1;; number++) {
        bool found = false, moved = true;
        while (moved) {
            moved = false;
            for (size_t i = 0; i < star->count; i++)
                for (uint32_t f = 0; f < 4; f++) {
                    const kiln_tet *tet = &mesh->tet[star->data[i]];
                    if (tet->v[f] == vertex || !kiln_link_is_surface(tet->n[f]))
                        continue;
                    uint32_t corner = kiln_tet_corner(tet, vertex), a = KILN_NONE, b = KILN_NONE;
                    for (uint32_t k = 0; k < 4; k++)
                        if (k != f && k != corner) {
                            b = a;
                            a = tet->v[k];
                        }
                    kiln_idset_slot *sa = kiln_idset_at(&r->cycle, a);
                    kiln_idset_slot *sb = kiln_idset_at(&r->cycle, b);
                    bool start = !found && sa->value == 0 && sb->value == 0;
                    bool touch = found && (sa->value == number) != (sb->value == number);
                    if (start || touch) {
                        sa->value = sb->value = number;
                        found = moved = true;
                    }
                }
        }
        if (!found)
            return KILN_ACCEPTED;
    }
}

/* The face of the star that holds the link edge a-b and is interior, or KILN_NONE. */
static uint32_t interior_face(const repairer *r, uint32_t vertex, uint32_t a, uint32_t b)
{
    const kiln_mesh *mesh = r->txn->mesh;
    for (size_t i = 0; i < r->walker.tets.count; i++) {
        uint32_t t = r->walker.tets.data[i];
        const kiln_tet *tet = &mesh->tet[t];
        uint32_t ca = kiln_tet_corner(tet, a), cb = kiln_tet_corner(tet, b);
        if (ca == 4 || cb == 4)
            continue;
        uint32_t f = 6 - ca - cb - kiln_tet_corner(tet, vertex);
        if (!kiln_link_is_surface(tet->n[f]))
            return kiln_link_to(t, f);
    }
    return KILN_NONE;
}

/* Shortest path of link edges, in edges, from cycle 1 to another; inner vertices off the surface.
 * Its faces go to r->faces. Breadth-first in order of discovery: deterministic. */
static kiln_verdict find_path(repairer *r, uint32_t vertex)
{
    kiln_context *context = r->txn->mesh->context;
    size_t count = r->nodes.count, head = 0, tail = 0;
    r->faces.count = 0;
    if (kiln_array_reserve(context, &r->from, 2 * count, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    uint32_t *from = r->from.data, *queue = r->from.data + count;
    for (size_t i = 0; i < count; i++) {
        from[i] = KILN_NONE;
        if (cycle_of(r, r->nodes.data[i]) == 1) {
            from[i] = (uint32_t)i;
            queue[tail++] = (uint32_t)i;
        }
    }
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t next = 0; next < count; next++) {
            uint32_t cycle = cycle_of(r, r->nodes.data[next]);
            if (from[next] != KILN_NONE ||
                interior_face(r, vertex, r->nodes.data[at], r->nodes.data[next]) == KILN_NONE)
                continue;
            from[next] = at;
            if (cycle == 0) {
                queue[tail++] = next;
                continue;
            }
            for (uint32_t node = next; from[node] != node; node = from[node])
                if (kiln_array_push(
                        context, &r->faces,
                        interior_face(r, vertex, r->nodes.data[node], r->nodes.data[from[node]]),
                        NULL) != KILN_OK)
                    return KILN_REFUSED_MEMORY;
            return KILN_ACCEPTED;
        }
    }
    return KILN_REFUSED_NON_MANIFOLD;
}

static kiln_verdict open_tunnel(repairer *r, uint32_t vertex)
{
    kiln_verdict verdict = number_cycles(r, vertex);
    if (verdict == KILN_ACCEPTED)
        verdict = find_path(r, vertex);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_open_faces(r->txn, r->faces.data, r->faces.count, r->tag, NULL);
    r->report.tunnels++;
    return verdict;
}

/* The first vertex that is still wrong, edges before tunnels. */
static kiln_verdict mend_one(repairer *r, bool *changed)
{
    kiln_mesh *mesh = r->txn->mesh;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < kiln_star_count(mesh); i++) {
            uint32_t vertex = kiln_star_vertex(mesh, i), other;
            kiln_vertex_state state;
            kiln_verdict verdict = examine(r, vertex, &state, &other);
            if (verdict != KILN_ACCEPTED)
                return verdict;
            if (pass == 0 && state == KILN_VERTEX_EDGE_SPLIT) {
                *changed = true;
                return split_edge(r, vertex, other);
            }
            if (pass == 1 && state == KILN_VERTEX_SURFACE_CYCLES) {
                *changed = true;
                return open_tunnel(r, vertex);
            }
        }
    return KILN_ACCEPTED;
}

kiln_verdict kiln_manifold_repair(kiln_txn *txn, int32_t tag, kiln_repair_report *report)
{
    repairer r = {.txn = txn, .tag = tag};
    kiln_walker_init(&r.walker, txn->mesh->context);
    kiln_verdict verdict = KILN_ACCEPTED;
    bool changed = true;
    /* A round mends all stars and then every offending edge or sheet, one at a time. */
    size_t limit = MOST_ROUNDS * (kiln_star_count(txn->mesh) + 1);
    for (size_t round = 0; changed && verdict == KILN_ACCEPTED; round++) {
        changed = false;
        verdict = round < limit ? split_stars(&r, &changed) : KILN_REFUSED_NON_MANIFOLD;
        if (verdict == KILN_ACCEPTED)
            verdict = mend_one(&r, &changed);
    }
    if (report)
        *report = r.report;
    repairer_free(&r);
    return verdict;
}

/* Full tet lists for the vertices where the walk from the anchor does not tell everything. */
static kiln_verdict list_offenders(kiln_mesh *mesh, kiln_walker *walker)
{
    kiln_context *context = mesh->context;
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    kiln_u32_array start = {0}, incident = {0};
    kiln_verdict verdict = KILN_REFUSED_MEMORY;
    if (kiln_array_reserve(context, &start, (size_t)vertices + 2, NULL) != KILN_OK ||
        kiln_array_reserve(context, &incident, 4 * (size_t)tets + 1, NULL) != KILN_OK)
        goto done;
    memset(start.data, 0, ((size_t)vertices + 2) * sizeof(uint32_t));
    for (uint32_t t = 0; t < tets; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            start.data[mesh->tet[t].v[k] + 2]++;
    for (uint32_t v = 0; v < vertices; v++)
        start.data[v + 2] += start.data[v + 1];
    for (uint32_t t = 0; t < tets; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            incident.data[start.data[mesh->tet[t].v[k] + 1]++] = t;
    for (uint32_t v = 0; v < vertices; v++) {
        kiln_vertex_state state;
        uint32_t other, count = start.data[v + 1] - start.data[v];
        if (!kiln_vertex_live(mesh, v) || !(mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
            continue;
        if (kiln_vertex_examine(mesh, v, walker, &state, &other, NULL) != KILN_OK)
            goto done;
        if (walker->tets.count == count && state == KILN_VERTEX_MANIFOLD)
            continue;
        if (kiln_star_start(mesh, v, incident.data + start.data[v], count, NULL) != KILN_OK)
            goto done;
    }
    verdict = KILN_ACCEPTED;
done:
    kiln_array_free(context, &start);
    kiln_array_free(context, &incident);
    return verdict;
}

kiln_verdict kiln_mesh_repair(kiln_mesh *mesh, int32_t tag, kiln_repair_report *report)
{
    kiln_repair_report unread;
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = txn.depth ? list_offenders(mesh, &walker) : KILN_REFUSED_MEMORY;
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(&txn, tag, report ? report : &unread);
    kiln_walker_free(&walker);
    return txn.depth ? kiln_txn_settle(&txn, verdict) : verdict;
}
