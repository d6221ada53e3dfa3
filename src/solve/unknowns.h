/* What is unknown, and which row of the solve it is: blocks of 1 (temperature), 3 (position) or 4
 * (velocity and pressure) at all vertices of a mesh, or at some of them with numbers of their own.
 *
 * The solve itself, its terms, matrix and constraints, know rows only: x, g and dx are [row][n].
 * The map is used at the seam: to number what terms are made of (vertices of elements, cliques), to
 * bring columns of the mesh to rows and back, and to bring along what is held. A patch has a row
 * for each vertex that its stencils touch; those that stay where they are are held. So a patch
 * costs what it is large, whatever the mesh is, and no loop over elements looks at a map. The
 * identity, row = slot, costs nothing: nothing is copied, the columns themselves are solved on. */
#ifndef KILN_SOLVE_UNKNOWNS_H
#define KILN_SOLVE_UNKNOWNS_H

#include "solve/constraints.h"

typedef struct kiln_unknowns {
    uint32_t block; /* n: 1, 3 or 4 */
    size_t rows;
    bool all;               /* row = slot; the two arrays are empty */
    kiln_u32_array slot_of; /* [row] */
    kiln_u32_array row_of;  /* [slot] KILN_BSR_NO_ROW: is none; as long as the highest slot asks */
    kiln_context *context;  /* borrowed */
} kiln_unknowns;

/* Every slot below `rows`. */
void kiln_unknowns_init_all(kiln_unknowns *unknowns, kiln_context *context, uint32_t block,
                            size_t rows);
/* None yet. */
void kiln_unknowns_init(kiln_unknowns *unknowns, kiln_context *context, uint32_t block);
void kiln_unknowns_free(kiln_unknowns *unknowns);
/* None again; costs as much as there were, so one map serves many patches. */
void kiln_unknowns_clear(kiln_unknowns *unknowns);

/* The row of a slot, the next one if it had none; not for all. */
kiln_status kiln_unknowns_add(kiln_unknowns *unknowns, uint32_t slot, uint32_t *row,
                              kiln_error *error);
/* KILN_BSR_NO_ROW: not unknown. */
uint32_t kiln_unknowns_row(const kiln_unknowns *unknowns, uint32_t slot);
uint32_t kiln_unknowns_slot(const kiln_unknowns *unknowns, uint32_t row);

/* Between a column of the mesh, [slot][n], and the rows, [row][n]. */
void kiln_unknowns_gather(const kiln_unknowns *unknowns, const double *column, double *x);
void kiln_unknowns_scatter(const kiln_unknowns *unknowns, const double *x, double *column);
/* What is held of the slots, as held of the rows: `rows` is reset first. */
kiln_status kiln_unknowns_hold(const kiln_unknowns *unknowns, const kiln_constraints *slots,
                               kiln_constraints *rows, kiln_error *error);

#endif
