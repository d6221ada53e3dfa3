/* A minimum with equations (equations.h) in one matrix of blocks of 4, three unknowns and the
 * multiplier of a row,
 *     A  J'
 *     J -C
 * and its factor. With A positive definite and C positive semidefinite pivots have their signs
 * whatever the order, so rows stay together and it costs what a solid of four unknowns would. */
#ifndef KILN_SOLVE_QUASIDEFINITE_H
#define KILN_SOLVE_QUASIDEFINITE_H

#include "solve/equations.h"
#include "solve/solver.h"

typedef struct kiln_quasidefinite {
    kiln_context *context; /* borrowed */
    kiln_solver_options options;
    kiln_solver *solver; /* made when it is first needed */
    kiln_bsr matrix;
    uint64_t pattern[2];   /* of A and of the equations that of the matrix was made for */
    kiln_f64_array packed; /* [row][4] */
} kiln_quasidefinite;

void kiln_quasidefinite_init(kiln_quasidefinite *q, kiln_context *context,
                             const kiln_solver_options *options);
void kiln_quasidefinite_forget(kiln_quasidefinite *q);
void kiln_quasidefinite_free(kiln_quasidefinite *q);

/* `more` [row]: added to C's diagonal, where a multiplier would be left open. The factor may be of
 * single precision where the options allow that. KILN_ERR_MEMORY: it would take more than they
 * allow. KILN_SOLVE_NOT_POSITIVE: A is not. */
kiln_status kiln_quasidefinite_factor(kiln_quasidefinite *q, const kiln_bsr *A,
                                      const kiln_equations *equations, const double *more,
                                      kiln_solve_outcome *outcome, kiln_error *error);
/* v and z are [3 rows], then [rows]; they may be the same. */
kiln_status kiln_quasidefinite_solve(kiln_quasidefinite *q, const double *v, double *z,
                                     kiln_solve_outcome *outcome, kiln_error *error);

#endif
