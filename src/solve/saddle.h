/* A minimum with equations (equations.h):
 *     A x + J' p = f,   J x - C p = e,
 * by MINRES (Paige and Saunders 1975), preconditioned by the inverse of A's diagonal blocks, D, and
 * a factor of S = J D J' + C. Where A is mass, some viscosity and surface tension of a liquid, that
 * takes some 20 iterations whatever the size of the mesh: S is what couples its far ends.
 * Where A is stiff otherwise (viscosity that outweighs inertia, solids) its diagonal says little
 * about it. Then, and where MINRES stalls, all of it is factored (quasidefinite.h), in single
 * precision where that does, and refined: 1 to 3 iterations.
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
    const double *amount; /* [row] positive, what equations are about (`unkept`); NULL: not known */
} kiln_saddle_options;

typedef struct kiln_saddle_report {
    int iterations;
    double residual; /* as the tolerance measures it; of a factor, each row by its diagonal */
    const char *way, *reason; /* "minres" or "factor", and why */
    size_t closed;            /* parts that nothing can change the volume of, */
    double unkept;            /* and what e sums up to in the worst of them, of the amount */
    double factor_seconds, solve_seconds;
} kiln_saddle_report;

kiln_status kiln_saddle_create(kiln_context *context, const kiln_solver_options *solver,
                               kiln_saddle **out, kiln_error *error);
void kiln_saddle_destroy(kiln_saddle *saddle); /* NULL allowed */
void kiln_saddle_forget(kiln_saddle *saddle);  /* as a resumed run has none */

/* Before the first factor of a minimisation, as kiln_solver_reconsider. */
void kiln_saddle_reconsider(kiln_saddle *saddle);

/* A is of blocks of 3, and A and J have what is held taken out. Both are borrowed until the next
 * factor. `stiff`: the diagonal of A says little. KILN_SOLVE_NOT_POSITIVE: A is not positive
 * definite, as far as that matters. */
kiln_status kiln_saddle_factor(kiln_saddle *saddle, const kiln_bsr *A,
                               const kiln_equations *equations, bool stiff,
                               kiln_solve_outcome *outcome, kiln_error *error);
/* f and x are [row][3], e and p [row]; x and p are results only, none of the four the same array.
 * KILN_SOLVE_STALLED: the tolerance was not reached, and a factor does not fit in memory; x and p
 * are as good as it got. */
kiln_status kiln_saddle_solve(kiln_saddle *saddle, const kiln_saddle_options *options,
                              const double *f, const double *e, double *x, double *p,
                              kiln_solve_outcome *outcome, kiln_error *error);
const kiln_saddle_report *kiln_saddle_last(const kiln_saddle *saddle);

#endif
