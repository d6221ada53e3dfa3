/* (K + A) x = b where K can be solved with and A, which need not be symmetric, is small beside it:
 * generalised conjugate residuals (Eisenstat, Elman, Schultz 1983) with K^-1 in front. Each round
 * is one solve with K, and the residual is the least that is possible with the directions so
 * far. */
#ifndef KILN_SOLVE_GCR_H
#define KILN_SOLVE_GCR_H

#include "base/array.h"
#include "base/error.h"

enum { KILN_GCR_ROUNDS = 16 };

typedef struct kiln_gcr {
    kiln_f64_array room; /* residual, directions, and K + A times these */
} kiln_gcr;

typedef struct kiln_gcr_system {
    void *user;
    /* K z = r; *solved false: cannot be. */
    kiln_status (*solve)(void *user, const double *r, double *z, bool *solved, kiln_error *error);
    void (*add)(void *user, const double *z, double *out); /* out += A z */
} kiln_gcr_system;

void kiln_gcr_free(kiln_gcr *gcr, kiln_context *context);
/* x comes as K^-1 b, and goes as what makes the residual less than `tolerance` of b, or as little
 * as the rounds do; it stays where that would not lead along b, or leads far off (K + A is not
 * positive, or singular). */
kiln_status kiln_gcr_improve(kiln_gcr *gcr, kiln_context *context, const kiln_gcr_system *system,
                             double tolerance, const double *b, double *x, size_t count,
                             kiln_error *error);

#endif
