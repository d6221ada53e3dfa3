/* Reversible refinement with five states a cycle (ABF section 4).
 *
 * Generation g = 5 * cycle + state. A tet with corners u, v, w, x has centroid a; b is the centroid
 * of the tet across a face; p_uv = (2u + v) / 3.
 *
 *   A  0 -> 1,1,1,1             the centroid is put in; each child keeps one inherited face
 *   B  1,1 -> 2,2,2             2-3 flip through the inherited face
 *   C  m x 2 -> m x (0,3,3)     the inherited edge is cut in three in all tets round it
 *   D  3,3 -> 0,4,4             2-3 flip at a corner of the inherited face
 *   E  4,4,4 -> 0,0             3-2 flip round the edge from a corner to the centroid
 *
 * State 0 on the right is that of the next cycle. At the surface B* puts the face's centroid in and
 * D* is a 2-2 flip. A face that must stay (between regions, required, chosen to be opened) or whose
 * flip would turn a tet over is treated like the surface from both sides at once (B**, D**).
 *
 * Every step and inverse is one replacement, all or nothing. The tet that a step changes in place
 * keeps its slot and its word (refine_word.h), new ones carry no history, so undoing all steps in
 * any possible order gives back the initial tets: numbers, order of corners, surface records, tags,
 * marks and fields (of conserved ones the total). Initial vertices are never touched; new ones lie
 * where a symmetric formula puts them, so neither the order of requests nor the numbering matters.
 *
 * Whatever another operator makes is foreign: it cannot be refined together with the hierarchy, and
 * what it took the place of cannot be undone. A vertex moved in material space blocks the undoing
 * of the step that made it and of those that used it. Fields take the value of the tet that is
 * changed in place; inside a pass the transfer rules see old and new mesh as with any operator. */
#ifndef KILN_REMESH_REFINE_H
#define KILN_REMESH_REFINE_H

#include "mesh/txn.h"
#include "remesh/refine_word.h"

#define KILN_REFINE_FIELD "refine_word"

typedef struct kiln_refiner kiln_refiner;

/* Adds the column of words, all tets initial, unless the mesh has it. Not inside a transaction or
 * pass when it has not. The mesh is borrowed. */
kiln_status kiln_refiner_create(kiln_mesh *mesh, kiln_refiner **out, kiln_error *error);
void kiln_refiner_destroy(kiln_refiner *refiner);

kiln_refine_word kiln_refine_word_of(const kiln_refiner *refiner, uint32_t tet);
/* KILN_NONE for a foreign tet. */
uint32_t kiln_refine_generation(const kiln_refiner *refiner, uint32_t tet);

/* Of all tets; 0 when nothing is refined. */
uint32_t kiln_refine_highest(const kiln_refiner *refiner);

/* One generation up, after its neighbours were brought to where the step needs them. When refused
 * the caller rolls back: neighbours may have been refined. KILN_REFUSED_LOCKED when a tet that is
 * locked, foreign or in the last generation stands in the way. */
kiln_verdict kiln_refine_step(kiln_refiner *refiner, kiln_txn *txn, uint32_t tet);

/* Takes back the step that made the tet. KILN_REFUSED_LOCKED, mesh untouched, unless all tets of
 * that step are as it left them. */
kiln_verdict kiln_refine_undo(kiln_refiner *refiner, kiln_txn *txn, uint32_t tet);

/* What an operator that changes tets otherwise than by replacing them (moves their vertices) calls:
 * they become foreign. */
kiln_verdict kiln_refine_forget(kiln_refiner *refiner, kiln_txn *txn, const uint32_t *tets,
                                size_t count);
/* The body as it is becomes the initial mesh. */
kiln_verdict kiln_refine_rebase(kiln_refiner *refiner, kiln_txn *txn, uint32_t body);
/* Foreign tets that touch no refined one become initial. The functions below begin with it. */
kiln_verdict kiln_refine_adopt(kiln_refiner *refiner, kiln_txn *txn);

typedef struct kiln_refine_report {
    uint64_t steps;             /* steps done or undone */
    uint64_t blocked;           /* tets that could not get where they should */
    kiln_verdict first_refusal; /* KILN_ACCEPTED when there was none */
    uint32_t first_blocked;     /* its tet, or KILN_NONE */
} kiln_refine_report;

/* Which tets a request is about; a NULL function: all. */
typedef struct kiln_refine_choice {
    bool (*wants)(void *user, const kiln_mesh *mesh, uint32_t tet);
    void *user;
} kiln_refine_choice;

/* All that overlaps the chosen tets to a generation of at least `goal`. Steps are committed one by
 * one unless a transaction is open, which then holds them all. Only memory is an error. */
kiln_status kiln_refine_tets(kiln_refiner *refiner, const uint32_t *tets, size_t count,
                             uint32_t goal, kiln_refine_report *report, kiln_error *error);

/* All tets at the vertices, as they come and go, to a generation of at least `goal`: what a
 * stressed node asks for (ABF section 3). Much less than the above, which keeps to the initial
 * tets. */
kiln_status kiln_refine_stars(kiln_refiner *refiner, const uint32_t *vertices, size_t count,
                              uint32_t goal, kiln_refine_report *report, kiln_error *error);

/* Whole cycles wherever tets are still wanted, at most `cycles` of them. */
kiln_status kiln_refine_where(kiln_refiner *refiner, kiln_refine_choice choice, uint32_t cycles,
                              kiln_refine_report *report, kiln_error *error);

/* Takes steps back, finest first, wherever all tets of a step are wanted and the result is of
 * generation `least` at least. */
kiln_status kiln_coarsen_where(kiln_refiner *refiner, kiln_refine_choice choice, uint32_t least,
                               kiln_refine_report *report, kiln_error *error);

/* Longest edge of the tet in material space, m: the size that choices go by. */
double kiln_tet_longest_edge(const kiln_mesh *mesh, uint32_t tet);

#endif
