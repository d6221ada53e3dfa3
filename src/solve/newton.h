/* Projected Newton: minimises a sum of terms over the free unknowns.
 *
 * Each iteration lets the terms renew their stencils, assembles gradient and PSD Hessian (in a new
 * pattern if a term's cliques changed), solves for the direction (which also carries
 * held unknowns towards their targets), limits it by the terms' max_step, and backtracks until the
 * objective falls enough (Armijo). While held unknowns are still on their way a feasible step is
 * taken without asking for descent, because moving them does work; where only short ones are, they
 * rest until the others have made room (newton.c, N9). A matrix that is not positive
 * definite gets a growing multiple of its diagonal. */
#ifndef KILN_SOLVE_NEWTON_H
#define KILN_SOLVE_NEWTON_H

#include "base/arena.h"
#include "solve/constraints.h"
#include "solve/equality.h"
#include "solve/solver.h"
#include "solve/term.h"

typedef struct kiln_newton_options {
    double tolerance; /* converged when no coordinate moved by more than tolerance * length */
    double length;    /* size of the model, m */
    double relative;  /* or when none moved by more than this part of the first step; 0: never */
    /* Of one iteration, steps with the same factor after Newton's own, at most (newton.c, N6); 0:
     * none. Worth it where the way is long and curved and a factor is dear. */
    int corrections;
    /* Only after a whole step, and learning only from each other: the sum of the gradient, which
     * Newton's whole step makes zero where nothing is held, then stays so (momentum). */
    bool balanced;
    /* Before each of them, where forces nearly balance, what is held through a solve (term.h, lag)
     * is renewed, for solves that are made again until it has settled. */
    bool renew_lagged;
    double farthest;    /* m: no step that lowers the objective is longer; 0: any may be */
    int max_iterations; /* 1 with line_search off: linearised */
    bool line_search;
} kiln_newton_options;

kiln_newton_options kiln_newton_default_options(void);

#define KILN_NEWTON_OUTCOME_TABLE(X)                                                               \
    X(KILN_NEWTON_CONVERGED, "converged")                                                          \
    X(KILN_NEWTON_LINEARISED, "one linearised step taken")                                         \
    X(KILN_NEWTON_ITERATIONS, "did not converge in the iterations allowed")                        \
    X(KILN_NEWTON_NO_DESCENT, "no step lowers the energy")                                         \
    X(KILN_NEWTON_BLOCKED, "held vertices cannot reach their targets without inverting a tet or "  \
                           "passing through a surface")                                            \
    X(KILN_NEWTON_BAD_START, "the energy is not defined at the start")                             \
    X(KILN_NEWTON_NOT_FINITE, "NaN or infinity in the gradient or the Hessian")                    \
    X(KILN_NEWTON_SOLVER, "the linear solver failed")                                              \
    X(KILN_NEWTON_CLOSED, "walls leave a liquid more or less room than its volume, which cannot "  \
                          "be kept")                                                               \
    X(KILN_NEWTON_AWAY, "nothing stops it from moving away")

typedef enum kiln_newton_outcome {
#define KILN_NEWTON_OUTCOME_ENUM(name, text) name,
    KILN_NEWTON_OUTCOME_TABLE(KILN_NEWTON_OUTCOME_ENUM)
#undef KILN_NEWTON_OUTCOME_ENUM
} kiln_newton_outcome;

const char *kiln_newton_outcome_text(kiln_newton_outcome outcome);
bool kiln_newton_succeeded(kiln_newton_outcome outcome);

typedef struct kiln_newton_report {
    kiln_newton_outcome outcome;
    int iterations, linear_iterations, line_searches, regularised;
    double value;    /* objective at the end (0 without a line search) */
    double gradient; /* largest free component at the start of the last iteration */
    double assemble_seconds, factor_seconds, solve_seconds;
    const char *backend, *reason; /* the solver's, and why it was chosen */
} kiln_newton_report;

/* The work of both solves; the rest is that of `one`, the later. */
void kiln_newton_report_add(kiln_newton_report *sum, const kiln_newton_report *one);

/* Matrix, solver and scratch, kept between solves so that pattern and analysis are reused. */
typedef struct kiln_newton kiln_newton;

kiln_status kiln_newton_create(kiln_context *context, const kiln_solver_options *solver,
                               kiln_newton **out, kiln_error *error);
void kiln_newton_destroy(kiln_newton *newton); /* NULL allowed */
void kiln_newton_forget(kiln_newton *newton);  /* as if just created */
/* The cliques of the next assembly, if it is of the same terms, differ from those of the last in
 * these rows only, ascending, by the numbers they have then, and in rows past the old number of
 * them; `around`, which must last until then, are all cliques with such a row. So the pattern is
 * found at their cost. Said once between two assemblies; a second time, or with NULL for the
 * cliques, nothing is known any more. */
kiln_status kiln_newton_expect_changes(kiln_newton *newton, const uint32_t *rows, size_t count,
                                       const kiln_cliques *around, kiln_error *error);
/* Of the minima that follow; NULL: nothing besides. Borrowed. */
void kiln_newton_set_equality(kiln_newton *newton, const kiln_equality *equality);
size_t kiln_newton_bytes(const kiln_newton *newton); /* without the factor */

/* Moves x [rows][n], n the block of the constraints, to the minimum. On an outcome that is no
 * success x is where the iteration stopped: callers keep their own copy. `terms` are borrowed for
 * the call. */
kiln_status kiln_newton_minimise(kiln_newton *newton, const kiln_newton_options *options,
                                 kiln_term *const *terms, size_t term_count,
                                 const kiln_constraints *constraints, double *x,
                                 kiln_newton_report *report, kiln_error *error);

#endif
