/* The tets round an edge, as edge removal needs them. */
#ifndef KILN_REMESH_EDGE_REMOVAL_RING_H
#define KILN_REMESH_EDGE_REMOVAL_RING_H

#include "remesh/remesher.h"

enum { KILN_RING_MOST = 16 };

/* Tet i is (a, b, v[i], v[i + 1]) in positive order. Closed: v[count] is v[0]. Open: the faces of
 * v[0] and v[count] at the edge are surface. */
typedef struct kiln_removal_ring {
    uint32_t a, b;
    uint32_t count; /* tets */
    bool closed;
    double worst;  /* cached score of the tets */
    uint32_t *tet; /* [count], and v [count + 1]: in the room below, which is filled both ways */
    uint32_t *v;
    uint32_t tet_room[2 * KILN_RING_MOST + 4], v_room[2 * KILN_RING_MOST + 4];
} kiln_removal_ring;

/* False when there are more than KILN_RING_MOST tets. */
bool kiln_removal_ring_walk(const kiln_remesher *remesher, uint32_t tet, uint32_t corner_a,
                            uint32_t corner_b, kiln_removal_ring *out);

/* Starts a closed ring at its tet number `first`. */
void kiln_removal_ring_rotate(kiln_removal_ring *ring, uint32_t first);

#endif
