/* Multi-face removal: the best set of faces between two apexes is replaced by a ring round the edge
 * that joins them (Shewchuk 2002): 2f tets become f + 2; f = 1 is the 2-3 flip. */
#ifndef KILN_REMESH_FACE_REMOVAL_H
#define KILN_REMESH_FACE_REMOVAL_H

#include "remesh/proposal.h"

/* The face opposite a corner of a tet, in the interior of a region. */
bool kiln_face_removal_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                               uint32_t tet, uint32_t face, kiln_proposal *out);

#endif
