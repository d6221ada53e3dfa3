/* What edge and face removal choose by. Tets with all four vertices on surface or interface are
 * hard to repair later (no vertex of theirs is free), so they count less while a choice is made;
 * what is proposed must gain by the plain scores as well. */
#ifndef KILN_REMESH_EDGE_REMOVAL_SELECT_H
#define KILN_REMESH_EDGE_REMOVAL_SELECT_H

#include "remesh/proposal.h"

#define KILN_BOUND_FACTOR 0.8

KILN_INLINE bool kiln_vertex_bound(const kiln_mesh *mesh, uint32_t vertex)
{
    return mesh->vertex[vertex].flags & (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE);
}
KILN_INLINE double kiln_selection_factor(const kiln_mesh *mesh, const uint32_t v[4])
{
    return kiln_vertex_bound(mesh, v[0]) && kiln_vertex_bound(mesh, v[1]) &&
                   kiln_vertex_bound(mesh, v[2]) && kiln_vertex_bound(mesh, v[3])
               ? KILN_BOUND_FACTOR
               : 1.0;
}
/* What new tets must exceed for the judge. Never below KILN_LEAST_GAIN, so that the sign of what
 * exceeds it is beyond rounding. */
KILN_INLINE double kiln_removal_floor(const kiln_remesher *remesher, double worst)
{
    double floor = kiln_judge_floor(&remesher->judge, worst);
    return floor > KILN_LEAST_GAIN ? floor : KILN_LEAST_GAIN;
}

/* Scores the new tets of a proposal that is complete but for `quality` and `after`; false where the
 * judge's figures refuse it, or without memory. */
bool kiln_proposal_score(const kiln_remesher *remesher, kiln_workspace *workspace,
                         kiln_proposal *proposal);

#endif
