#include "mesh/surface.h"

#include "mesh/walk.h"

#include <string.h>

enum { RING_ROOM = 64 };

typedef struct search {
    const kiln_mesh *mesh;
    kiln_u32_array ring, queue;
    kiln_u32_array seen; /* [face] 1: reached */
} search;

/* The surface face beyond side `side` of a face, within the fan of tets round that edge. */
static kiln_status next_face(search *s, uint32_t face, int side, uint32_t *next, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    uint32_t at = mesh->face[face].at;
    uint32_t a = kiln_face_corner[at % 4][side], b = kiln_face_corner[at % 4][(side + 1) % 3];
    uint32_t va = mesh->tet[at / 4].v[a], vb = mesh->tet[at / 4].v[b];
    kiln_ring shape = kiln_edge_ring(mesh, at / 4, a, b, s->ring.data, (uint32_t)s->ring.capacity);
    if (shape.count > s->ring.capacity) {
        KILN_TRY(kiln_array_reserve(mesh->context, &s->ring, shape.count, error));
        kiln_edge_ring(mesh, at / 4, a, b, s->ring.data, shape.count);
    }
    uint32_t first = s->ring.data[0], last = s->ring.data[shape.count - 1];
    *next = mesh->tet[last / 4].n[last % 4] - KILN_LINK_SURFACE;
    if (*next != face)
        return KILN_OK;
    const kiln_tet *tet = &mesh->tet[first / 4];
    uint32_t entry = 0;
    while (entry == first % 4 || tet->v[entry] == va || tet->v[entry] == vb)
        entry++;
    *next = tet->n[entry] - KILN_LINK_SURFACE;
    return KILN_OK;
}

static kiln_status flood(search *s, uint32_t start, kiln_error *error)
{
    s->seen.data[start] = 1;
    s->queue.data[s->queue.count++] = start;
    while (s->queue.count > 0) {
        uint32_t face = s->queue.data[--s->queue.count], next;
        for (int side = 0; side < 3; side++) {
            KILN_TRY(next_face(s, face, side, &next, error));
            if (s->seen.data[next])
                continue;
            s->seen.data[next] = 1;
            s->queue.data[s->queue.count++] = next;
        }
    }
    return KILN_OK;
}

static kiln_status count_components(search *s, uint32_t *components, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    uint32_t faces = mesh->table[KILN_ON_FACE].used;
    *components = 0;
    KILN_TRY(kiln_array_reserve(mesh->context, &s->ring, RING_ROOM, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &s->queue, faces + 1, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &s->seen, faces + 1, error));
    memset(s->seen.data, 0, faces * sizeof *s->seen.data);
    for (uint32_t face = 0; face < faces; face++) {
        if (!kiln_face_live(mesh, face) || s->seen.data[face])
            continue;
        ++*components;
        KILN_TRY(flood(s, face, error));
    }
    return KILN_OK;
}

kiln_status kiln_mesh_surface_topology(const kiln_mesh *mesh, kiln_surface_topology *out,
                                       kiln_error *error)
{
    search s = {.mesh = mesh};
    kiln_status status = count_components(&s, &out->components, error);
    int64_t vertices = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        vertices += kiln_vertex_live(mesh, v) && (mesh->vertex[v].flags & KILN_VERTEX_SURFACE);
    out->euler = vertices - (int64_t)mesh->table[KILN_ON_FACE].live / 2; /* E = 3F/2 */
    kiln_array_free(mesh->context, &s.ring);
    kiln_array_free(mesh->context, &s.queue);
    kiln_array_free(mesh->context, &s.seen);
    return status;
}
