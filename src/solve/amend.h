/* (K + A) x = b where K can be solved with and K + A is positive: conjugate gradients with K^-1 in
 * front. Where A has few directions, as contacts that came or went since K was factored have, few
 * solves with K do what a new factor would. What begins as K^-1 b changes by K^-1 A of something
 * only: where A has no sum over rows, as forces between surfaces have none, K x keeps the sum
 * of b. */
#ifndef KILN_SOLVE_AMEND_H
#define KILN_SOLVE_AMEND_H

#include "base/array.h"
#include "base/error.h"

typedef struct kiln_amend {
    kiln_f64_array room;
} kiln_amend;

typedef struct kiln_amend_system {
    void *user;
    /* K z = r; *solved false: cannot be. */
    kiln_status (*solve)(void *user, const double *r, double *z, bool *solved, kiln_error *error);
    void (*add)(void *user, const double *z, double *out); /* out += A z */
    double tolerance; /* of x: the error that is left, as energies of K */
    int most;         /* solves */
} kiln_amend_system;

void kiln_amend_free(kiln_amend *amend, kiln_context *context);
/* x comes as K^-1 b; *good: the tolerance was reached. Adds to *solves. */
kiln_status kiln_amend_improve(kiln_amend *amend, kiln_context *context,
                               const kiln_amend_system *system, const double *b, double *x,
                               size_t count, bool *good, int *solves, kiln_error *error);

#endif
