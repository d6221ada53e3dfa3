/* One tet of a tear (topology/tear.h): its snap edges, the plane, and the faces that are to be
 * opened. */
#ifndef KILN_TOPOLOGY_TEAR_CUT_H
#define KILN_TOPOLOGY_TEAR_CUT_H

#include "mesh/walk.h"
#include "topology/layer.h"

enum { KILN_TEAR_RING = 64 }; /* tets about an edge; where there are more nothing is cut */

typedef struct kiln_tear_cut {
    kiln_vec3 origin, normal; /* of the plane; unit */
    uint32_t face[2][3];      /* the vertices of the faces that were marked */
    int faces;
} kiln_tear_cut;

/* What holds for all cuts of a tear. */
typedef struct kiln_tear_knife {
    kiln_tet_predicate may; /* NULL: all tets */
    void *user;
    double quality;
    kiln_walker *walker;        /* scratch */
    const kiln_idset *in_plane; /* vertices of the faces marked so far */
} kiln_tear_knife;

/* Whether the cut so far ends at the edge, inside the matter; or on the surface (`at_surface`). */
bool kiln_tear_ends_at(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                       bool at_surface);
/* Edges that a plane has to contain, a bit for each. */
uint32_t kiln_tear_snap_edges(const kiln_mesh *mesh, uint32_t tet);
bool kiln_tear_is_beside(const kiln_mesh *mesh, uint32_t tet); /* has a marked face */

/* Whether the cut, which ends at the edge of two vertices, goes on into the tet across the normal.
 */
bool kiln_tear_goes_on(const kiln_mesh *mesh, uint32_t tet, uint32_t a, uint32_t b,
                       kiln_vec3 normal);

/* The first tet: divides it, and those about its edges, along the plane across `along`, and marks
 * the faces in it (KILN_MARK_SPLIT_FACE). Where a tet would be bad, the existing face nearest to
 * the plane is marked instead. All or nothing. */
kiln_verdict kiln_tear_cut_tet(kiln_txn *txn, const kiln_tear_knife *knife, uint32_t tet,
                               kiln_vec3 along, kiln_tear_cut *cut);
/* A tet ahead, along the plane of the first, whose origin and normal are given: vertices of faces
 * that are marked count as in it. */
kiln_verdict kiln_tear_cut_on(kiln_txn *txn, const kiln_tear_knife *knife, uint32_t tet,
                              kiln_vec3 origin, kiln_vec3 normal, kiln_tear_cut *cut);

#endif
