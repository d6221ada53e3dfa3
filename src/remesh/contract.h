/* Contractions: an edge, face or tet shrinks to a point and the tets that have it vanish. */
#ifndef KILN_REMESH_CONTRACT_H
#define KILN_REMESH_CONTRACT_H

#include "remesh/proposal.h"

typedef struct kiln_contraction_limits {
    double surface; /* a surface end may go to the other's place if alpha - beta Q there is at
                       least this (DLR 4.4) */
    bool goes;      /* edges: the first end goes to the second's place, and nothing else */
} kiln_contraction_limits;

kiln_contraction_limits kiln_contraction_improving(void); /* surface 0.15 */

/* The edge of two corners of a tet: the less free end survives, at its place, or (where both may
 * move) at the other's, between, or where smoothing puts it; the best is proposed. */
bool kiln_edge_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                                   uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                                   const kiln_contraction_limits *limits, kiln_proposal *out);

/* Corner c goes to the edge ab of its tet (or both meet between): as if ab were split and the new
 * edge contracted, in one replacement. */
bool kiln_face_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                                   uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                                   uint32_t corner_c, const kiln_contraction_limits *limits,
                                   kiln_proposal *out);

/* Corner d goes to the face opposite it; a cap on the surface is peeled. */
bool kiln_tet_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                                  uint32_t tet, uint32_t corner_d,
                                  const kiln_contraction_limits *limits, kiln_proposal *out);

/* The first that is found: an edge of the tet, else the corner of a face that is nearest to the
 * opposite edge, else the corner nearest to the opposite face. Walks the stars of the corners once
 * for all, and counts attempts in the workspace. */
bool kiln_contraction_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                              uint32_t tet, const kiln_contraction_limits *limits,
                              kiln_proposal *out);

#endif
