/* Edge removal where the edge lies in the surface or an interface: the two faces at the edge become
 * the two at the other diagonal. */
#ifndef KILN_REMESH_EDGE_REMOVAL_SURFACE_H
#define KILN_REMESH_EDGE_REMOVAL_SURFACE_H

#include "remesh/edge_removal_ring.h"
#include "remesh/proposal.h"

typedef enum kiln_outline_kind {
    KILN_OUTLINE_INSIDE,   /* a closed ring of one region */
    KILN_OUTLINE_SURFACE,  /* an open ring of one region */
    KILN_OUTLINE_INTERFACE /* a closed ring of two regions */
} kiln_outline_kind;

/* The polygons to be triangulated: `count` vertices of the ring from `begin` on. */
typedef struct kiln_removal_outline {
    kiln_outline_kind kind;
    uint32_t sectors;
    uint32_t begin[2], count[2];
} kiln_removal_outline;

/* Rotates the ring of an interface edge to begin at the interface. False where the edge cannot go
 * by itself: a sector of one tet (it would be carved out), more than two regions, an interface that
 * meets the surface, faces of different tags, a volume that changes too much. */
bool kiln_removal_outline_find(const kiln_remesher *remesher, kiln_removal_ring *ring,
                               kiln_removal_outline *out);

/* Completes the proposal by the declaration of surface faces. False where the new diagonals are
 * edges already or the surface must not change like that. */
bool kiln_removal_outline_change(const kiln_remesher *remesher, kiln_workspace *workspace,
                                 const kiln_removal_ring *ring, const kiln_removal_outline *outline,
                                 kiln_proposal *proposal);

/* The ring of a surface edge that has one tet, flat in the surface: it goes, and what is behind it
 * is surface as it is. False where that would not be manifold, or the surface must not change like
 * that. */
bool kiln_removal_uncover(const kiln_remesher *remesher, kiln_workspace *workspace,
                          const kiln_removal_ring *ring, kiln_proposal *proposal);

#endif
