/* What has to hold at a minimum besides: c(x) = C (p - p_h), with a multiplier for each row whose
 * forces are a term of the objective, p . c(x). Newton asks for the equations about x, solves for
 * the step and the change of the multipliers together (saddle.h), and says what they are to be. */
#ifndef KILN_SOLVE_EQUALITY_H
#define KILN_SOLVE_EQUALITY_H

#include "solve/saddle.h"

typedef struct kiln_equality {
    void *self; /* borrowed */
    /* J and C at x, and in e [row] what a step has to bring, C (p - p_h) - c(x). The equations are
     * Newton's to change until it asks again. */
    kiln_equations *(*linearise)(void *self, const double *x, double *e);
    void (*add)(void *self, const double *dp); /* [row] to the multipliers */
    bool (*stiff)(void *self);                 /* whether the matrix is (saddle.h) */
    const double *(*amount)(void *self);       /* [row] positive, what the equations keep */
    double tolerance;                          /* of a solve (saddle.h) */
    int max_iterations;
    double most_unkept; /* of the amount, what nothing can bring; more is KILN_NEWTON_CLOSED */
} kiln_equality;

#endif
