#include "remesh/edge_removal.h"
#include "remesh/edge_removal_polygon.h"
#include "remesh/edge_removal_select.h"
#include "remesh/edge_removal_surface.h"

#include <string.h>

/* Longer rings have given nothing; with a tet that bad every chance is taken. */
enum { RING_USUAL = 12 };
static const double REALLY_BAD = 0.15;

/* Locked tets, and marked faces at the edge, stay. */
static bool takes_marked(const kiln_mesh *mesh, const kiln_removal_ring *ring)
{
    for (uint32_t i = 0; i < ring->count; i++) {
        uint32_t marks = mesh->info[ring->tet[i]].marks;
        const uint32_t *v = mesh->tet[ring->tet[i]].v;
        if (marks & KILN_MARK_LOCKED)
            return true;
        for (uint32_t f = 0; f < 4 && marks & KILN_MARKS_ON_FACE; f++)
            if (v[f] != ring->a && v[f] != ring->b && kiln_face_is_marked(mesh, ring->tet[i], f))
                return true;
    }
    return false;
}

/* The worst old tet as it counts in the choice. */
static double selection_worst(const kiln_remesher *remesher, const kiln_removal_ring *ring)
{
    const kiln_mesh *mesh = remesher->mesh;
    if (!kiln_vertex_bound(mesh, ring->a) || !kiln_vertex_bound(mesh, ring->b))
        return ring->worst;
    double worst = INFINITY;
    for (uint32_t i = 0; i < ring->count; i++) {
        double quality = remesher->quality.data[ring->tet[i]] *
                         kiln_selection_factor(mesh, mesh->tet[ring->tet[i]].v);
        worst = quality < worst ? quality : worst;
    }
    return worst;
}

static bool propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                    const kiln_removal_ring *ring, const kiln_polygon *polygons, uint32_t count,
                    kiln_proposal *out)
{
    uint32_t most = 2 * (ring->count + 1);
    *out = (kiln_proposal){.kind = KILN_OP_EDGE_REMOVAL,
                           .old_count = ring->count,
                           .before = ring->worst,
                           .stamp = remesher->mesh->clock};
    out->old = kiln_arena_array(&workspace->arena, uint32_t, ring->count);
    out->fresh = kiln_arena_array(&workspace->arena, kiln_new_tet, most);
    if (!out->old || !out->fresh)
        return kiln_workspace_fail(workspace);
    memcpy(out->old, ring->tet, ring->count * sizeof *out->old);
    for (uint32_t i = 0; i < count; i++)
        out->fresh_count += kiln_polygon_tets(&polygons[i], ring->tet + (polygons[i].v - ring->v),
                                              out->fresh + out->fresh_count);
    return kiln_proposal_score(remesher, workspace, out);
}

/* The ring is one polygon, or two that share a side where it spans two regions. */
static bool choose(const kiln_remesher *remesher, kiln_workspace *workspace,
                   kiln_removal_ring *ring, kiln_proposal *out)
{
    const kiln_mesh *mesh = remesher->mesh;
    kiln_removal_outline outline;
    if (ring->count == 1 && !ring->closed)
        return kiln_removal_uncover(remesher, workspace, ring, out) &&
               kiln_judge_may(remesher, out);
    if (!kiln_removal_outline_find(remesher, ring, &outline))
        return false;
    kiln_polygon polygons[2];
    double floor = kiln_removal_floor(remesher, selection_worst(remesher, ring));
    for (uint32_t i = 0; i < outline.sectors; i++) {
        polygons[i].a = ring->a;
        polygons[i].b = ring->b;
        polygons[i].space = kiln_remesher_space(remesher, ring->tet[outline.begin[i]]);
        polygons[i].v = ring->v + outline.begin[i];
        polygons[i].count = outline.count[i];
        if (kiln_polygon_triangulate(remesher, &polygons[i], floor) == -INFINITY)
            return false;
    }
    if (takes_marked(mesh, ring) ||
        !propose(remesher, workspace, ring, polygons, outline.sectors, out))
        return false;
    return (outline.kind == KILN_OUTLINE_INSIDE ||
            kiln_removal_outline_change(remesher, workspace, ring, &outline, out)) &&
           kiln_judge_may(remesher, out);
}

bool kiln_edge_removal_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                               uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                               kiln_proposal *out)
{
    if (kiln_edge_is_marked(remesher->mesh, tet, kiln_edge_of[corner_a][corner_b]))
        return false;
    kiln_removal_ring ring;
    if (!kiln_removal_ring_walk(remesher, tet, corner_a, corner_b, &ring) ||
        (ring.count > RING_USUAL && ring.worst > REALLY_BAD))
        return false;
    kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
    bool made = choose(remesher, workspace, &ring, out);
    if (!made)
        kiln_arena_release(&workspace->arena, mark);
    return made;
}
