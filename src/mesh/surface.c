#include "mesh/surface.h"

#include "mesh/walk.h"

#include <string.h>

typedef struct search {
    const kiln_mesh *mesh;
    kiln_u32_array queue;
    kiln_u32_array seen; /* [face] 1: reached */
} search;

/* The surface face beyond side `side` of a face. */
static uint32_t next_face(const kiln_mesh *mesh, uint32_t face, int side)
{
    uint32_t at = mesh->face[face].at;
    const uint32_t *v = mesh->tet[at / 4].v;
    const uint8_t *corner = kiln_face_corner[at % 4];
    return kiln_surface_across(mesh, face, v[corner[side]], v[corner[(side + 1) % 3]]);
}

static void flood(search *s, uint32_t start)
{
    s->seen.data[start] = 1;
    s->queue.data[s->queue.count++] = start;
    while (s->queue.count > 0) {
        uint32_t face = s->queue.data[--s->queue.count];
        for (int side = 0; side < 3; side++) {
            uint32_t next = next_face(s->mesh, face, side);
            if (s->seen.data[next])
                continue;
            s->seen.data[next] = 1;
            s->queue.data[s->queue.count++] = next;
        }
    }
}

static kiln_status count_components(search *s, uint32_t *components, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    uint32_t faces = mesh->table[KILN_ON_FACE].used;
    *components = 0;
    KILN_TRY(kiln_array_reserve(mesh->context, &s->queue, faces + 1, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &s->seen, faces + 1, error));
    memset(s->seen.data, 0, faces * sizeof *s->seen.data);
    for (uint32_t face = 0; face < faces; face++) {
        if (!kiln_face_live(mesh, face) || s->seen.data[face])
            continue;
        ++*components;
        flood(s, face);
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
    kiln_array_free(mesh->context, &s.queue);
    kiln_array_free(mesh->context, &s.seen);
    return status;
}

double kiln_mesh_surface_area(const kiln_mesh *mesh)
{
    double area = 0.0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        kiln_vec3 corner[3];
        for (int k = 0; k < 3; k++)
            corner[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
        area += 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(corner[1], corner[0]),
                                                 kiln_v3_sub(corner[2], corner[0])));
    }
    return area;
}
