#include "remesh/edge_removal_surface.h"
#include "remesh/edge_removal_select.h"
#include "remesh/space.h"
#include "remesh/surface.h"

#include <string.h>

/* Part of the volume round an edge that a flip may change which makes the surface more even. */
static const double MOST_UNFOLDED = 0.5;

static double volume_of(const kiln_vec3 *points, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return kiln_tet_volume(points[a], points[b], points[c], points[d]);
}

/* The sector of `tets` tets from `begin` on gains or loses the tet of the edge and the sector's
 * two ends; a sector of one tet would be carved out. */
static bool volume_stays(const kiln_remesher *remesher, const kiln_removal_ring *ring,
                         uint32_t begin, uint32_t tets)
{
    const kiln_vec3 *points = kiln_points_of_tet(remesher, ring->tet[begin]);
    double whole = 0.0;
    for (uint32_t i = begin; i < begin + tets; i++)
        whole += volume_of(points, ring->a, ring->b, ring->v[i], ring->v[i + 1]);
    double change = volume_of(points, ring->a, ring->b, ring->v[begin], ring->v[begin + tets]);
    double most = remesher->judge.unfolds ? MOST_UNFOLDED : KILN_MOST_VOLUME_CHANGE;
    return fabs(change) < most * whole;
}

static uint32_t first_face(const kiln_mesh *mesh, const kiln_removal_ring *ring)
{
    const kiln_tet *tet = &mesh->tet[ring->tet[0]];
    return tet->n[kiln_tet_corner(tet, ring->v[1])] - KILN_LINK_SURFACE;
}

static uint32_t last_face(const kiln_mesh *mesh, const kiln_removal_ring *ring)
{
    const kiln_tet *tet = &mesh->tet[ring->tet[ring->count - 1]];
    return tet->n[kiln_tet_corner(tet, ring->v[ring->count - 1])] - KILN_LINK_SURFACE;
}

/* Faces with a twin are one side of a crack; the other side would have to change alike. */
static bool same_patch(const kiln_mesh *mesh, const kiln_removal_ring *ring)
{
    const kiln_face *first = &mesh->face[first_face(mesh, ring)];
    const kiln_face *last = &mesh->face[last_face(mesh, ring)];
    return first->tag == last->tag && first->twin == 0 && last->twin == 0;
}

static int32_t region_of(const kiln_mesh *mesh, const kiln_removal_ring *ring, uint32_t i)
{
    return mesh->info[ring->tet[i % ring->count]].region;
}

static bool find_sectors(const kiln_remesher *remesher, kiln_removal_ring *ring,
                         kiln_removal_outline *out)
{
    const kiln_mesh *mesh = remesher->mesh;
    uint32_t change[2], changes = 0;
    for (uint32_t i = 0; i < ring->count; i++) {
        if (region_of(mesh, ring, i) == region_of(mesh, ring, i + 1))
            continue;
        if (changes == 2)
            return false;
        change[changes++] = i + 1;
    }
    if (changes == 0)
        return true;
    uint32_t near = change[1] - change[0], far = ring->count - near;
    kiln_removal_ring_rotate(ring, change[0]);
    *out = (kiln_removal_outline){KILN_OUTLINE_INTERFACE, 2, {0, near}, {near + 1, far + 1}};
    return volume_stays(remesher, ring, 0, near) && volume_stays(remesher, ring, near, far);
}

bool kiln_removal_outline_find(const kiln_remesher *remesher, kiln_removal_ring *ring,
                               kiln_removal_outline *out)
{
    const kiln_mesh *mesh = remesher->mesh;
    *out = (kiln_removal_outline){KILN_OUTLINE_INSIDE, 1, {0}, {ring->count}};
    if (ring->closed) {
        uint32_t both = mesh->vertex[ring->a].flags & mesh->vertex[ring->b].flags;
        return !(both & KILN_VERTEX_INTERFACE) || find_sectors(remesher, ring, out);
    }
    *out = (kiln_removal_outline){KILN_OUTLINE_SURFACE, 1, {0}, {ring->count + 1}};
    if (!same_patch(mesh, ring))
        return false;
    for (uint32_t i = 1; i < ring->count; i++)
        if (region_of(mesh, ring, i) != region_of(mesh, ring, 0))
            return false;
    return volume_stays(remesher, ring, 0, ring->count);
}

/* An edge that comes must not be there already: two fans round it would meet in it alone. Its ends
 * are on the surface, or positive tets round one of them fill space once and leave no room. */
static bool edges_are_new(const kiln_remesher *remesher, kiln_workspace *workspace,
                          const kiln_removal_ring *ring, const kiln_proposal *proposal)
{
    const kiln_mesh *mesh = remesher->mesh;
    for (uint32_t i = 0; i < proposal->fresh_count; i += 2) {
        const uint32_t *v = proposal->fresh[i].v;
        for (int side = 1; side < 4; side++) {
            uint32_t p = v[side], q = v[side == 3 ? 1 : side + 1];
            if (!(mesh->vertex[p].flags & mesh->vertex[q].flags & KILN_VERTEX_SURFACE))
                continue;
            bool of_ring = false;
            for (uint32_t k = 0; k < ring->count; k++)
                of_ring |= (ring->v[k] == p && ring->v[k + 1] == q) ||
                           (ring->v[k] == q && ring->v[k + 1] == p);
            if (of_ring)
                continue;
            if (kiln_edge_tets(mesh, p, q, &workspace->walker, NULL) != KILN_OK)
                return kiln_workspace_fail(workspace);
            if (workspace->walker.tets.count > 0)
                return false;
        }
    }
    return true;
}

static bool declare_surface(const kiln_remesher *remesher, kiln_workspace *workspace,
                            const kiln_removal_ring *ring, kiln_proposal *proposal)
{
    const kiln_mesh *mesh = remesher->mesh;
    proposal->surface = kiln_arena_array(&workspace->arena, kiln_new_face, 2);
    if (!proposal->surface)
        return kiln_workspace_fail(workspace);
    proposal->surface_count = 2;
    proposal->flags = KILN_CAVITY_SURFACE;
    const uint32_t parent[2] = {first_face(mesh, ring), last_face(mesh, ring)};
    /* The first triangle (v[0], q, v[count]) has the new faces opposite q: corner 2 of its tet at
     * a, corner 3 of that at b. */
    for (uint32_t i = 0; i < 2; i++)
        proposal->surface[i] = (kiln_new_face){
            .tet = i, .face = 2 + i, .tag = mesh->face[parent[i]].tag, .parent = parent[i]};
    return true;
}

bool kiln_removal_outline_change(const kiln_remesher *remesher, kiln_workspace *workspace,
                                 const kiln_removal_ring *ring, const kiln_removal_outline *outline,
                                 kiln_proposal *proposal)
{
    /* Seen from outside the first sector. */
    uint32_t a = ring->a, b = ring->b, p = ring->v[0], q = ring->v[outline->count[0] - 1];
    const uint32_t old[2][3] = {{a, p, b}, {a, b, q}}, fresh[2][3] = {{a, p, q}, {b, q, p}};
    if (outline->kind == KILN_OUTLINE_INTERFACE)
        proposal->flags = KILN_CAVITY_REGIONS;
    else if (!edges_are_new(remesher, workspace, ring, proposal) ||
             !declare_surface(remesher, workspace, ring, proposal))
        return false;
    return kiln_surface_allows(remesher, workspace, old, 2, fresh, 2, NULL);
}

/* The tets behind a surface tet, across the faces opposite b and a. False where there are none, or
 * the edge of its other two corners is on the surface as well. */
static bool find_behind(const kiln_mesh *mesh, const kiln_removal_ring *ring, kiln_link behind[2])
{
    const kiln_tet *tet = &mesh->tet[ring->tet[0]];
    behind[0] = tet->n[kiln_tet_corner(tet, ring->b)];
    behind[1] = tet->n[kiln_tet_corner(tet, ring->a)];
    for (int i = 0; i < 2; i++)
        if (kiln_link_is_surface(behind[i]) || mesh->info[behind[i] / 4].marks & KILN_MARK_LOCKED ||
            mesh->info[behind[i] / 4].region != mesh->info[ring->tet[0]].region)
            return false;
    return behind[0] / 4 != behind[1] / 4 &&
           kiln_edge_ring(mesh, ring->tet[0], kiln_tet_corner(tet, ring->v[0]),
                          kiln_tet_corner(tet, ring->v[1]), NULL, 0)
               .closed;
}

bool kiln_removal_uncover(const kiln_remesher *remesher, kiln_workspace *workspace,
                          const kiln_removal_ring *ring, kiln_proposal *proposal)
{
    const kiln_mesh *mesh = remesher->mesh;
    kiln_link behind[2];
    if (remesher->judge.unfolds || !same_patch(mesh, ring) || !find_behind(mesh, ring, behind) ||
        mesh->info[ring->tet[0]].marks & (KILN_MARK_LOCKED | KILN_MARKS_ON_FACE))
        return false;
    *proposal = (kiln_proposal){.kind = KILN_OP_EDGE_REMOVAL,
                                .old = kiln_arena_array(&workspace->arena, uint32_t, 3),
                                .fresh = kiln_arena_array(&workspace->arena, kiln_new_tet, 2),
                                .surface = kiln_arena_array(&workspace->arena, kiln_new_face, 2),
                                .flags = KILN_CAVITY_SURFACE,
                                .before = ring->worst,
                                .stamp = mesh->clock};
    if (!proposal->old || !proposal->fresh || !proposal->surface)
        return kiln_workspace_fail(workspace);
    const uint32_t parent[2] = {first_face(mesh, ring), last_face(mesh, ring)};
    proposal->old[proposal->old_count++] = ring->tet[0];
    for (uint32_t i = 0; i < 2; i++) {
        kiln_new_tet *same = &proposal->fresh[proposal->fresh_count++];
        *same = (kiln_new_tet){.parent = behind[i] / 4, .slot = behind[i] / 4};
        memcpy(same->v, mesh->tet[same->parent].v, sizeof same->v);
        proposal->old[proposal->old_count++] = same->parent;
        proposal->surface[proposal->surface_count++] = (kiln_new_face){
            .tet = i, .face = behind[i] % 4, .tag = mesh->face[parent[i]].tag, .parent = parent[i]};
    }
    uint32_t a = ring->a, b = ring->b, p = ring->v[0], q = ring->v[1];
    const uint32_t old[2][3] = {{a, p, b}, {a, b, q}}, fresh[2][3] = {{a, p, q}, {b, q, p}};
    return kiln_proposal_score(remesher, workspace, proposal) &&
           kiln_surface_allows(remesher, workspace, old, 2, fresh, 2, NULL);
}
