/* A change that an operator proposes: which tets go and which come. All memory is the workspace's.
 *
 * Every operator is a function
 *     bool kiln_X_propose(const kiln_remesher *, kiln_workspace *, site, ..., kiln_proposal *out)
 * that reads only, returns false where it has nothing that is legal and that the judge in office
 * would have made (remesh/judge.h), and whose proposal stays applicable until one of the tets in
 * `old` changes. */
#ifndef KILN_REMESH_PROPOSAL_H
#define KILN_REMESH_PROPOSAL_H

#include "remesh/remesher.h"

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
    uint32_t moved;   /* KILN_OP_SMOOTHING: the vertex that goes to the place; `old` is its star and
                         nothing is fresh */
    uint32_t gone[2]; /* contractions: vertices that become the one at the place */
    uint32_t gone_count;
    uint32_t parent[4];
    double weight[4];
    int parents;
    uint32_t
        vertex_flags; /* KILN_VERTEX_FEATURE ... to set on it besides what the mesh finds out */
} kiln_proposal;

/* A change that was made, in a transaction that is still open. What lives of it now is in
 * remesher->changed. */
typedef struct kiln_change {
    kiln_operator kind;
    bool compound;   /* several changes, this kind first */
    uint32_t vertex; /* made or moved, or KILN_NONE */
    /* The tets touched, with their scores before, INFINITY of rows that were not live; a tet's
     * first entry counts. Borrowed from the log. */
    const kiln_quality_entry *before;
    size_t before_count;
} kiln_change;

/* Whether all tets of `old` are as they were when the proposal was made. */
bool kiln_proposal_fresh(const kiln_remesher *remesher, const kiln_proposal *proposal);

/* Makes the change in a transaction of its own (nested in the open one, if any). remesher->changed
 * becomes the new tets. Figures are not judged again; whether the judge keeps it is asked. */
kiln_verdict kiln_remesher_apply(kiln_remesher *remesher, const kiln_proposal *proposal);

#endif
