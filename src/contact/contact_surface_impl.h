/* Shared by contact_surface.c (from the whole mesh) and contact_surface_update.c (from changes):
 * both must come to the same bits. */
#ifndef KILN_CONTACT_CONTACT_SURFACE_IMPL_H
#define KILN_CONTACT_CONTACT_SURFACE_IMPL_H

#include "contact/contact_surface.h"
#include "contact/surface_vertices.h"

/* Corners of face record f, outward. */
KILN_INLINE void kiln_contact_surface_corners(const kiln_mesh *mesh, uint32_t f, uint32_t v[3])
{
    uint32_t at = mesh->face[f].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

/* A third of the area in u. */
KILN_INLINE double kiln_contact_surface_share(const kiln_mesh *mesh, const uint32_t v[3])
{
    kiln_vec3 a = mesh->u[v[0]];
    return kiln_v3_norm(
               kiln_v3_cross(kiln_v3_sub(mesh->u[v[1]], a), kiln_v3_sub(mesh->u[v[2]], a))) /
           6.0;
}

/* Two slots, the lower in the high half. */
KILN_INLINE uint64_t kiln_contact_surface_edge_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Bodies and parts of the vertices listed; those of others are 0. */
void kiln_contact_surface_tell_bodies(kiln_contact_surface *surface, const kiln_mesh *mesh);
void kiln_contact_surface_clear(kiln_contact_surface *surface);

#endif
