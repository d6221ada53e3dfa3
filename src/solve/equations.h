/* Linear equations beside a minimum, one at each row of the solve: J dx - C dp = e.
 *
 * The equation of row i is about the unknowns (blocks of 3) of the rows in its ring, which rings of
 * cliques make mutual: j is in the ring of i when i is in that of j. p are the multipliers; C,
 * symmetric and positive semidefinite with the same rings, is by how much an equation gives way to
 * its multiplier. A row without an equation has an empty J and 1 in C. */
#ifndef KILN_SOLVE_EQUATIONS_H
#define KILN_SOLVE_EQUATIONS_H

#include "solve/constraints.h"

typedef struct kiln_equations {
    kiln_context *context; /* borrowed */
    size_t rows;
    kiln_bsr give; /* C, blocks of 1 */
    KILN_ARRAY_OF(uint64_t)
    start;                 /* [rows + 1] first entry of a row of J */
    kiln_u32_array column; /* [entry] ascending in a row */
    kiln_u32_array mirror; /* [entry] of (i, j): where (j, i) is in row j */
    kiln_f64_array value;  /* [entry][3] J */
} kiln_equations;

void kiln_equations_init(kiln_equations *equations, kiln_context *context);
void kiln_equations_free(kiln_equations *equations);

/* Rings of every pair of every clique, J and C zero. On failure there are no equations. */
kiln_status kiln_equations_set_pattern(kiln_equations *equations, size_t rows,
                                       const kiln_cliques *cliques, size_t clique_sets,
                                       kiln_error *error);
void kiln_equations_clear(kiln_equations *equations); /* J and C to zero */
/* The entry of (i, j); asserts that there is one. */
uint64_t kiln_equations_find(const kiln_equations *equations, uint32_t i, uint32_t j);

/* J along free components only: what is held does not move. */
void kiln_equations_project(kiln_equations *equations, const kiln_constraints *constraints);
/* out = J v, v [row][3]; and out += scale J' p. Parallel, same bits for any number of threads. */
void kiln_equations_multiply(const kiln_equations *equations, const double *v, double *out);
void kiln_equations_add_transposed(const kiln_equations *equations, const double *p, double scale,
                                   double *out);

/* S = J D J' + C, D [row][3][3] symmetric: its pattern, and its values. `S` is of blocks of 1. */
kiln_status kiln_equations_complement_pattern(const kiln_equations *equations, kiln_bsr *S,
                                              kiln_error *error);
kiln_status kiln_equations_complement(const kiln_equations *equations, const double *D, kiln_bsr *S,
                                      kiln_error *error);

#endif
