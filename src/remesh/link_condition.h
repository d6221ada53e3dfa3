/* When an edge may shrink to a point without changing what the mesh is topologically: the link of
 * the edge must be all that the links of its ends have in common (Dey, Edelsbrunner, Guha, Nekhayev
 * 1999). A ghost vertex joined to every surface face closes the mesh, so that the rule covers the
 * surface too: two ends on the surface need a surface edge, a neighbour joined to both by surface
 * edges needs the face between them, and two surface faces never merge. */
#ifndef KILN_REMESH_LINK_CONDITION_H
#define KILN_REMESH_LINK_CONDITION_H

#include "mesh/walk.h"

/* The tets of both ends of an edge, and of the edge. */
typedef struct kiln_edge_stars {
    uint32_t a, b;
    const uint32_t *star_a, *star_b, *ring;
    uint32_t count_a, count_b, ring_count;
    bool closed; /* the ring; else the edge is on the surface */
} kiln_edge_stars;

/* Edges with more tets than this are left alone. */
enum { KILN_LONGEST_RING = 62 };

/* The condition in the tets and the surface, and that no tet of the edge has walls (surface or
 * interface) on both faces that would merge. Interior ends need no such test where all tets stay
 * positive. *failed is set when memory runs out. */
bool kiln_link_condition(const kiln_mesh *mesh, kiln_walker *walker, const kiln_edge_stars *stars,
                         bool *failed);

#endif
