/* Passes over a set of tets: one kind of operator wherever it helps. A set is a list of tets; a
 * pass leaves in it those that live and adds those it made or reshaped. Every change makes the
 * sorted qualities of what it touches better, worst first, so passes only ever improve. */
#ifndef KILN_REMESH_PASSES_H
#define KILN_REMESH_PASSES_H

#include "remesh/contract.h"
#include "remesh/insert.h"
#include "remesh/proposal.h"

/* Edge and face removal on the tets below `target`, and on what that makes, until nothing helps.
 * All passes return how many changes they made. */
uint32_t kiln_flip_pass(kiln_remesher *remesher, kiln_u32_array *set, double target);

/* Smooths every vertex of the tets below `target`, once each; the stars of those that moved join
 * the set. A vertex is left where its worst tet reaches `enough` (INFINITY: as good as it gets). */
uint32_t kiln_smooth_pass(kiln_remesher *remesher, kiln_u32_array *set, double target,
                          double enough);

/* Contracts edges of the tets below `target`, else their faces, else the tets. */
uint32_t kiln_contract_pass(kiln_remesher *remesher, kiln_u32_array *set, double target);

/* Compound insertions in the tets below `target`, worst first. */
uint32_t kiln_insert_pass(kiln_remesher *remesher, kiln_u32_array *set, double target,
                          const kiln_insertion_effort *effort);

/* Drops dead and repeated tets. */
void kiln_set_tidy(kiln_remesher *remesher, kiln_u32_array *set);
/* Appends; running out of memory is remembered in remesher->workspace.failed. */
void kiln_set_add(kiln_remesher *remesher, kiln_u32_array *set, const uint32_t *tets, size_t count);

#endif
