/* The tree of supernodes cut into subtrees, which threads do each on their own, and what is above.
 */
#ifndef KILN_SOLVE_TREE_CUT_H
#define KILN_SOLVE_TREE_CUT_H

#include "base/array.h"
#include "solve/symbolic.h"

typedef struct kiln_tree_cut {
    kiln_u32_array task; /* [tasks + 1] first of the subtree roots below */
    kiln_u32_array turn; /* [tasks] in which they are begun: each thread's longest first */
    kiln_u32_array root; /* subtrees, by their last node; their first: */
    kiln_u32_array begin;
    kiln_u32_array top;   /* nodes above, by level: how many of them are below one at most */
    kiln_u32_array level; /* [levels + 1] first in top */
} kiln_tree_cut;

/* `below` [node]: what its subtree costs; `limit`: what a task costs at most. */
kiln_status kiln_tree_cut_make(kiln_tree_cut *cut, const kiln_symbolic *tree, const double *below,
                               double limit, kiln_error *error);
void kiln_tree_cut_free(kiln_context *context, kiln_tree_cut *cut);

#endif
