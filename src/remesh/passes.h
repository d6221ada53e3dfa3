/* Passes over a set of tets: one kind of operator wherever it helps. A set is a list of tets; a
 * pass leaves in it those that live and adds those it made or reshaped. Every change but those of
 * thinning makes the sorted qualities of what it touches better, worst first. Running out of memory
 * is remembered in remesher->workspace.failed; what was changed till then stays. */
#ifndef KILN_REMESH_PASSES_H
#define KILN_REMESH_PASSES_H

#include "remesh/contract.h"
#include "remesh/insert.h"
#include "remesh/proposal.h"

/* Which tets a pass looks at, and what it takes for a gain. */
typedef struct kiln_pass_limits {
    double target; /* tets that good are left alone */
    double enough; /* smoothing stops when the worst is that good (INFINITY: as good as it gets) */
    double least;  /* smoothing and contraction must leave nothing worse than this */
    double short_edge; /* contraction only of tets with an edge shorter than this part of those
                          round it; 0: of any */
    double ratio;      /* thinning: see kiln_thin_pass */
} kiln_pass_limits;

/* Edge and face removal on the tets below the target, and on what that makes, until nothing helps.
 * All passes return how many changes they made. */
uint32_t kiln_flip_pass(kiln_remesher *remesher, kiln_u32_array *set,
                        const kiln_pass_limits *limits);

/* Smooths every vertex of the tets below the target, once each; the stars of those that moved join
 * the set. */
uint32_t kiln_smooth_pass(kiln_remesher *remesher, kiln_u32_array *set,
                          const kiln_pass_limits *limits);

/* Contracts edges of the tets below the target, else their faces, else the tets. */
uint32_t kiln_contract_pass(kiln_remesher *remesher, kiln_u32_array *set,
                            const kiln_pass_limits *limits);

/* Contracts edges that are shorter than `ratio` of the others of a tet, as long as no tet becomes
 * worse than `least`: such vertices are too close for good tets between them. */
uint32_t kiln_thin_pass(kiln_remesher *remesher, kiln_u32_array *set, double ratio, double least);

/* Compound insertions in the tets below the target, worst first. */
uint32_t kiln_insert_pass(kiln_remesher *remesher, kiln_u32_array *set,
                          const kiln_pass_limits *limits, const kiln_insertion_effort *effort);

/* The first edge or face removal that helps the tet; `changed` are the new ones. */
bool kiln_flip_tet(kiln_remesher *remesher, uint32_t tet);
/* Moves a vertex, till the worst of its tets reaches `enough`; `changed` is its star. */
bool kiln_smooth_vertex(kiln_remesher *remesher, uint32_t vertex, double enough);

void kiln_set_add(kiln_remesher *remesher, kiln_u32_array *set, const uint32_t *tets, size_t count);
/* The set becomes all tets below `target` that changed at `since` of the mesh clock or later. */
void kiln_set_below(kiln_remesher *remesher, kiln_u32_array *set, double target, uint32_t since);
/* Worst first; locked tets are left out. */
void kiln_set_rank(kiln_remesher *remesher, kiln_u32_array *set);

#endif
