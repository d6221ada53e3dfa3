/* What a back end of kiln_solver gives. The matrix is the same from analyse to solve except that
 * its values may be changed before each factor. */
#ifndef KILN_SOLVE_SOLVER_BACKEND_H
#define KILN_SOLVE_SOLVER_BACKEND_H

#include "solve/solver.h"

typedef struct kiln_solver_backend {
    const char *name, *help;
    bool direct;
    kiln_status (*create)(kiln_context *context, const kiln_solver_options *options, void **self,
                          kiln_error *error);
    void (*destroy)(void *self);
    /* Fills in factor_entries, factor_flops and bytes as far as they are known before factoring. */
    kiln_status (*analyse)(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                           kiln_error *error);
    kiln_status (*factor)(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                          kiln_solve_outcome *outcome, kiln_error *error);
    kiln_status (*solve)(void *self, const kiln_bsr *matrix, const double *b, double *x,
                         kiln_solver_report *report, kiln_solve_outcome *outcome,
                         kiln_error *error);
    void (*forget)(void *self); /* frees the analysis and the factor */
    /* For the analyses that follow (solver.h); NULL: it makes no use of it. */
    void (*set_ground)(void *self, const kiln_solver_ground *ground);
    /* For the next analysis (solver.h), which may be NULL; NULL: it has no time for it. */
    void (*set_aside)(void *self, kiln_solver_aside *aside);
    /* Factors that follow may be of single precision, or not (the preset); NULL: they never are. */
    void (*set_single)(void *self, bool single);
    /* The next factor is the first of others; false: without what was learnt for those before, its
     * analysis is another. NULL: it learns nothing. */
    bool (*reconsider)(void *self);
} kiln_solver_backend;

extern const kiln_solver_backend kiln_solver_multifrontal, kiln_solver_cholmod, kiln_solver_mumps,
    kiln_solver_pcg_ic, kiln_solver_pcg_jacobi;

/* The direct one this build has (KILN_SOLVER in CMakeLists.txt). */
#ifdef KILN_SOLVER_MUMPS
#define KILN_SOLVER_DIRECT kiln_solver_mumps
#else
#define KILN_SOLVER_DIRECT kiln_solver_cholmod
#endif

#endif
