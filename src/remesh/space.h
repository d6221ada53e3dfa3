/* Which space a tet's quality counts in. Tets without KILN_MARK_WORLD are scored in the space of
 * the options, marked ones (liquids) in x. Where both are in one pass it is *mixed*:
 *
 *   W1  marked and unmarked tets meet in interfaces between regions only, so that a cavity inside a
 *       region has one space; begin refuses meshes where they do not
 *   W2  side[v].world says that all tets of a vertex are marked; then u = x, its places have u = x
 *       too, and it is looked at in x
 *   W3  any other vertex is looked at in the space of the options, its place in the other follows
 *       by interpolation in the mesh of the begin; what that does to marked tets is scored in x
 *   W4  whatever its space, a new tet is positive in both
 *
 * The surface of the pass, and how far it may change, is in the space of the options throughout; it
 * differs from x only in faces of marked tets that touch an interface. */
#ifndef KILN_REMESH_SPACE_H
#define KILN_REMESH_SPACE_H

#include "remesh/remesher.h"

/* Whether marked and unmarked tets are both there, in spaces that differ; settles options.space
 * where all are marked. KILN_ERR_INPUT without W1. */
kiln_status kiln_space_find(kiln_remesher *remesher, kiln_error *error);
/* Fills side[].world; the rest of the sides must be there. */
void kiln_space_classify(kiln_remesher *remesher);

/* Whether a vertex made in the middle of these vertices of a tet (an edge, a face, the tet) has
 * marked tets only. */
bool kiln_site_in_world(const kiln_remesher *remesher, uint32_t tet, const uint32_t *vertex,
                        int count);

KILN_INLINE bool kiln_vertex_in_world(const kiln_remesher *remesher, uint32_t vertex)
{
    return remesher->mixed && remesher->side.data[vertex].world;
}

/* Positions in which a vertex, a tet, an edge are looked at. */
KILN_INLINE const kiln_vec3 *kiln_points_of_vertex(const kiln_remesher *remesher, uint32_t vertex)
{
    return kiln_vertex_in_world(remesher, vertex) ? remesher->mesh->x
                                                  : kiln_remesher_points(remesher);
}
KILN_INLINE const kiln_vec3 *kiln_points_of_tet(const kiln_remesher *remesher, uint32_t tet)
{
    return kiln_mesh_positions(remesher->mesh, kiln_remesher_space(remesher, tet));
}
KILN_INLINE const kiln_vec3 *kiln_points_of_edge(const kiln_remesher *remesher, uint32_t a,
                                                 uint32_t b)
{
    return kiln_points_of_vertex(remesher, kiln_vertex_in_world(remesher, a) ? a : b);
}

#endif
