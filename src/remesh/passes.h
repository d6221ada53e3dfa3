/* Passes over a set of tets: the same operator wherever it helps. A set is an ascending-free list
 * of tets; a pass leaves in it those that live and those it made or reshaped. */
#ifndef KILN_REMESH_PASSES_H
#define KILN_REMESH_PASSES_H

#include "remesh/proposal.h"

/* Edge and face removal on the set, repeated on what they make while anything changes. `target`:
 * tets that good are left alone. Returns how many changes were made. */
uint32_t kiln_flip_pass(kiln_remesher *remesher, kiln_u32_array *set, double target);

/* Smooths every vertex of the set's tets that are below `target`, once each; the stars of moved
 * vertices join the set. */
uint32_t kiln_smooth_pass(kiln_remesher *remesher, kiln_u32_array *set, double target);

/* Contracts edges, faces and tets of the set's tets below `target` where that helps. */
uint32_t kiln_contract_pass(kiln_remesher *remesher, kiln_u32_array *set, double target);

/* Drops dead and repeated tets. */
void kiln_set_tidy(const kiln_remesher *remesher, kiln_u32_array *set);

#endif
