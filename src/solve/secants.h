/* What steps have shown of a Hessian beyond the factor there is of an old one: pairs of steps and
 * changes of the gradient, by which a solve with the factor becomes a quasi-Newton step (Nocedal
 * 1980, with the factor in the place of a multiple of I). Directions in which the factor is much
 * too stiff or too soft, and there are few of those, are learned from one step each. */
#ifndef KILN_SOLVE_SECANTS_H
#define KILN_SOLVE_SECANTS_H

#include "base/array.h"
#include "base/error.h"

enum { KILN_MOST_SECANTS = 16 };

typedef struct kiln_secants {
    kiln_context *context;
    size_t length; /* of a vector */
    int count;
    double curvature[KILN_MOST_SECANTS]; /* step . change */
    double part[KILN_MOST_SECANTS];      /* of a right side along each step */
    kiln_f64_array room;                 /* steps, then changes */
} kiln_secants;

/* None, of vectors of that length; and with room to learn some. */
void kiln_secants_none(kiln_secants *secants, kiln_context *context, size_t length);
kiln_status kiln_secants_begin(kiln_secants *secants, kiln_context *context, size_t length,
                               kiln_error *error);
void kiln_secants_free(kiln_secants *secants, kiln_context *context);
/* A step changed the gradient from `before` to `after`. Nothing is learned where the objective is
 * not convex along it, or once there are as many as can be. */
void kiln_secants_learn(kiln_secants *secants, double factor, const double *direction,
                        const double *before, const double *after);
/* Around a solve: rhs, what is left of the right side factor * from for the matrix that was
 * factored, and what is added to its solution. */
void kiln_secants_reduce(kiln_secants *secants, double factor, const double *from, double *rhs);
void kiln_secants_complete(const kiln_secants *secants, double *solution);

#endif
