/* A change that an operator proposes: which tets go and which come. All memory is the workspace's.
 *
 * Every operator is a function
 *     bool kiln_X_propose(const kiln_remesher *, kiln_workspace *, site, ..., kiln_proposal *out)
 * that reads only, returns false where it has nothing better than what is there, and whose proposal
 * stays applicable until one of the tets in `old` changes. */
#ifndef KILN_REMESH_PROPOSAL_H
#define KILN_REMESH_PROPOSAL_H

#include "remesh/remesher.h"

/* What an operator must gain to be worth a change: scores are of order one, and ties must not be
 * traded for ever. */
#define KILN_LEAST_GAIN 1e-6

typedef struct kiln_proposal {
    kiln_operator kind;
    uint32_t *old;
    uint32_t old_count;
    kiln_new_tet *fresh; /* corners may be KILN_PROPOSED */
    uint32_t fresh_count;
    double *quality; /* [fresh] scores, where the operator has them; NULL: taken when applied */
    kiln_new_face *surface;
    uint32_t surface_count;
    uint32_t flags;       /* KILN_CAVITY_* */
    double before, after; /* worst score of what goes and of what comes */
    uint32_t stamp;       /* mesh clock when it was made: it is void if a tet of `old` is younger */

    bool has_place; /* the new vertex, its fields combined from these */
    kiln_place place;
    uint32_t parent[4];
    double weight[4];
    int parents;
    uint32_t
        vertex_flags; /* KILN_VERTEX_FEATURE ... to set on it besides what the mesh finds out */
} kiln_proposal;

/* Whether all tets of `old` are as they were when the proposal was made. */
bool kiln_proposal_fresh(const kiln_remesher *remesher, const kiln_proposal *proposal);

/* Makes the change in a transaction of its own (nested in the open one, if any). remesher->changed
 * becomes the new tets. Quality is not judged again. */
kiln_verdict kiln_remesher_apply(kiln_remesher *remesher, const kiln_proposal *proposal);

#endif
