/* A minimum with equations (equations.h):
 *     A x + J' p = f,   J x - C p = e,
 * by MINRES (Paige and Saunders 1975), preconditioned by the inverse of A's diagonal blocks, D, and
 * a factor of S = J D J' + C. Where A is mass, viscosity and surface tension of a liquid, that
 * takes some 20 iterations whatever the size of the mesh: S is what couples its far ends.
 * Where A is stiff otherwise (viscosity, solids) its diagonal says little about it: then A is
 * factored, and the inverse of S is that of inertia alone plus that of viscosity alone (Cahouet and
 * Chabard 1988).
 *
 * Where equations leave no free component a constant multiplier does nothing (a closed container):
 * such a part keeps what e sums up to, which nothing could change, and the mean of its p is 0. */
#ifndef KILN_SOLVE_SADDLE_H
#define KILN_SOLVE_SADDLE_H

#include "solve/equations.h"
#include "solve/solver.h"

typedef struct kiln_saddle kiln_saddle;

typedef struct kiln_saddle_options {
    double tolerance; /* of the residual, in the norm of the preconditioner, of the right side's */
    int max_iterations;
} kiln_saddle_options;

typedef struct kiln_saddle_report {
    int iterations;
    double residual; /* as the tolerance measures it */
    size_t closed;   /* parts that nothing can change the volume of */
    double factor_seconds, solve_seconds;
} kiln_saddle_report;

kiln_status kiln_saddle_create(kiln_context *context, const kiln_solver_options *solver,
                               kiln_saddle **out, kiln_error *error);
void kiln_saddle_destroy(kiln_saddle *saddle); /* NULL allowed */
void kiln_saddle_forget(kiln_saddle *saddle);  /* as a resumed run has none */

/* Of a stiff A: what inertia has in its diagonal, and about what S is without it. */
typedef struct kiln_saddle_stiff {
    const double *inertia; /* [row] */
    const kiln_bsr *slow;  /* S of the viscosity alone, blocks of 1 */
} kiln_saddle_stiff;

/* A is of blocks of 3, and A and J have what is held taken out. Both are borrowed until the next
 * factor, and so is `stiff`; NULL: A is not. KILN_SOLVE_NOT_POSITIVE: A is not positive definite,
 * as far as that matters. */
kiln_status kiln_saddle_factor(kiln_saddle *saddle, const kiln_bsr *A,
                               const kiln_equations *equations, const kiln_saddle_stiff *stiff,
                               kiln_solve_outcome *outcome, kiln_error *error);
/* f and x are [row][3], e and p [row]; x and p are results only, none of the four the same array.
 * KILN_SOLVE_STALLED: the tolerance was not reached, x and p are as good as it got. */
kiln_status kiln_saddle_solve(kiln_saddle *saddle, const kiln_saddle_options *options,
                              const double *f, const double *e, double *x, double *p,
                              kiln_solve_outcome *outcome, kiln_error *error);
const kiln_saddle_report *kiln_saddle_last(const kiln_saddle *saddle);

#endif
