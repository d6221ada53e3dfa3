/* The best triangulation of a ring (Klincsek's dynamic programme; Shewchuk 2002): each triangle
 * (p, q, r) stands for the tets (a, p, q, r) and (b, p, r, q). */
#ifndef KILN_REMESH_EDGE_REMOVAL_POLYGON_H
#define KILN_REMESH_EDGE_REMOVAL_POLYGON_H

#include "remesh/edge_removal_ring.h"

enum { KILN_POLYGON_MOST = KILN_RING_MOST + 1 };

typedef struct kiln_polygon {
    uint32_t a, b;
    uint32_t count;
    kiln_space space;                                  /* where its tets are scored */
    const uint32_t *v;                                 /* in the order of a ring */
    uint8_t cut[KILN_POLYGON_MOST][KILN_POLYGON_MOST]; /* third corner of the triangle on the side
                                                          i, j, i + 2 <= j */
} kiln_polygon;

/* The worst of the best triangulation, where it is above `floor`; -INFINITY otherwise. Tets with
 * all four vertices on surface or interface count KILN_BOUND_FACTOR of their score, and every tet
 * must be positive in the space that is not scored too. */
double kiln_polygon_triangulate(const kiln_remesher *remesher, kiln_polygon *polygon, double floor);

/* The tets of the triangulation, those of the triangle at the side 0, count - 1 first; tet i of the
 * ring (between v[i] and v[i + 1]) is `ring[i]`. Returns 2 count - 4. */
uint32_t kiln_polygon_tets(const kiln_polygon *polygon, const uint32_t *ring, kiln_new_tet *fresh);

#endif
