/* Symmetric positive definite systems: analyse, factor, solve, with the back end chosen by size and
 * memory unless it is named. A back end is one row {name, help, functions} in solver.c. */
#ifndef KILN_SOLVE_SOLVER_H
#define KILN_SOLVE_SOLVER_H

#include "solve/bsr.h"

typedef struct kiln_solver kiln_solver;

typedef struct kiln_solver_options {
    const char *backend; /* "auto", "cholmod", "mumps", "pcg-ic", "pcg-jacobi" */
    double tolerance;    /* iterative: residual relative to the right side */
    int max_iterations;  /* iterative */
    size_t memory;       /* bytes a factor may take before auto iterates; 0: half of the machine's,
                            so that the same run makes the same choice again */
    int blas_threads;    /* 1 keeps the same bits on any number of threads */
    /* The matrices are of blocks of 4, and negative definite in the last component of each,
     * positive in the others: a minimum with equations. By the multifrontal back end, whatever is
     * asked for; KILN_SOLVE_NOT_POSITIVE then means that a pivot has the wrong sign. */
    bool quasidefinite;
    const char *precision; /* "mixed": of factors, single where that was asked for; "double" */
} kiln_solver_options;

kiln_solver_options kiln_solver_default_options(void);

typedef enum kiln_solve_outcome {
    KILN_SOLVE_OK,
    KILN_SOLVE_NOT_POSITIVE, /* the matrix is not positive definite */
    KILN_SOLVE_STALLED,      /* the iteration did not reach its tolerance */
    KILN_SOLVE_NOT_FINITE    /* NaN or infinity in matrix, right side or result */
} kiln_solve_outcome;

/* What the last analyse, factor and solve did; seconds are of the wall clock. */
typedef struct kiln_solver_report {
    const char *backend; /* the one that ran */
    const char *reason;  /* why auto chose it */
    bool direct;         /* solving once more costs little */
    int iterations;      /* 0 for a direct one */
    double residual;     /* relative, of the last solve (iterative) */
    double factor_entries, factor_flops;
    size_t bytes; /* of factor or preconditioner, and indices */
    double analyse_seconds, factor_seconds, solve_seconds;
    bool analysed; /* the last factor had to analyse first */
    bool single;   /* the factor is of single precision */
} kiln_solver_report;

/* Fails for a back end that is unknown or was not built in (KILN_ERR_UNSUPPORTED). */
kiln_status kiln_solver_create(kiln_context *context, const kiln_solver_options *options,
                               kiln_solver **out, kiln_error *error);
void kiln_solver_destroy(kiln_solver *solver); /* NULL allowed */

/* Some couplings of a matrix come and go (contact), others last. An order for those that last
 * serves all of its patterns: it is found once and repaired. */
typedef struct kiln_solver_ground {
    /* The pattern of what lasts, borrowed until it is asked for again. */
    kiln_status (*find)(void *user, const kiln_bsr **pattern, kiln_error *error);
    void *user;
} kiln_solver_ground;
/* For the factors that follow; NULL: what they couple lasts. Borrowed. */
void kiln_solver_set_ground(kiln_solver *solver, const kiln_solver_ground *ground);

/* Work on the matrix of the next factor that an analysis, which is one thread's for most of its
 * time, has beside it. */
typedef struct kiln_solver_aside {
    void (*run)(void *user);
    void *user;
    bool done; /* else there was no such time, and it is the caller's */
} kiln_solver_aside;
/* NULL: there is none. Borrowed. */
void kiln_solver_set_aside(kiln_solver *solver, kiln_solver_aside *aside);

/* The factors that follow may be of single precision (the preset: not), half the time and memory of
 * one of doubles. Solves then leave up to a thousandth of b, each row measured by its diagonal; of
 * a matrix for which that is too much there is a factor of doubles. Not for matrices that may not
 * be positive definite: floats tell that no better than to 1e-7 or so. False: the options say no.
 */
bool kiln_solver_set_single(kiln_solver *solver, bool single);

/* The matrix is borrowed until the next factor. Analyses again when its pattern is another. */
kiln_status kiln_solver_factor(kiln_solver *solver, const kiln_bsr *matrix,
                               kiln_solve_outcome *outcome, kiln_error *error);
/* b and x may be the same array. */
kiln_status kiln_solver_solve(kiln_solver *solver, const double *b, double *x,
                              kiln_solve_outcome *outcome, kiln_error *error);
const kiln_solver_report *kiln_solver_last(const kiln_solver *solver);

/* Back to what auto chose by the pattern, if it had to leave that because the iteration took too
 * long or the factor did not fit. Newton asks for it at every begin: what is learnt in one solve
 * must not decide about the bits of the next, which a resumed run starts without it. */
void kiln_solver_reconsider(kiln_solver *solver);

/* What auto takes an iteration to cost per block, in operations of the BLAS: more where one factor
 * serves many solves, and for tests. */
void kiln_solver_weigh(kiln_solver *solver, double iteration_cost);

/* Forgets the analysis too, as a resumed run has none. */
void kiln_solver_forget(kiln_solver *solver);

/* One line per back end that is built in, the BLAS, its kernel and whether it had to be corrected,
 * for `kiln --version --verbose`. */
void kiln_solver_describe(char *buffer, size_t size);

#endif
