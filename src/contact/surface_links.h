/* Which faces and edges of a surface are beside each other, so that what is near several of them
 * counts once: a vertex above a flat wall is near every face around its foot, and has one distance.
 *
 * Of several faces (edges) that end where another begins, the nearest point of one counts only
 * where it is nearest of all around it, and is shared by those that have it in common. So the sum
 * over a surface is that of its local minima of distance: it does not depend on how a flat place is
 * divided and has no kinks but those of the distance itself. */
#ifndef KILN_CONTACT_SURFACE_LINKS_H
#define KILN_CONTACT_SURFACE_LINKS_H

#include "base/array.h"
#include "geom/vec3.h"

/* Zero-initialise. */
typedef struct kiln_surface_links {
    kiln_u32_array across; /* [face][3] the third corner of the face beyond the edge from corner k
                              to k + 1; KILN_NONE: there is not exactly one */
    kiln_u32_array ring, ring_start; /* [vertex] other ends of the edges at it, as rows of a list */
    kiln_u32_array faces_at;         /* [vertex] */
    KILN_ARRAY_OF(uint64_t)
    sides; /* scratch */
} kiln_surface_links;

/* Of faces [face][3] with vertices below `vertices`. */
kiln_status kiln_surface_links_build(kiln_surface_links *links, kiln_context *context,
                                     const kiln_u32_array *faces, size_t vertices,
                                     kiln_error *error);
void kiln_surface_links_free(kiln_surface_links *links, kiln_context *context);
size_t kiln_surface_links_bytes(const kiln_surface_links *links);

/* A surface at places x [vertex]. */
typedef struct kiln_linked {
    const kiln_surface_links *links;
    const uint32_t *faces;
    const kiln_vec3 *x;
} kiln_linked;

/* The part of 1 by which the nearest point on `face`, with these weights of its corners, counts for
 * a vertex at p. `self` is that vertex where it is of the same surface, else KILN_NONE. */
double kiln_face_share(const kiln_linked *surface, uint32_t face, const double weight[3],
                       kiln_vec3 p, uint32_t self);
/* Likewise of the nearest point on the edge between `ends`, for one at p on another edge, which has
 * the vertices `self`; `sharing` edges at each end take part. */
double kiln_edge_share(const kiln_linked *surface, const uint32_t ends[2], const double weight[2],
                       kiln_vec3 p, const uint32_t self[2], const uint32_t *sharing);

#endif
