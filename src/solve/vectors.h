/* Long vectors: loops over chunks whose limits depend on the length only, so the bits are the same
 * for any number of threads. */
#ifndef KILN_SOLVE_VECTORS_H
#define KILN_SOLVE_VECTORS_H

#include "base/context.h"

double kiln_vector_dot(kiln_context *context, const double *a, const double *b, size_t count);
double kiln_vector_largest(kiln_context *context, const double *v, size_t count); /* of |v| */
bool kiln_vector_is_finite(kiln_context *context, const double *v, size_t count);
/* out = p a + q b; out may be a or b. */
void kiln_vector_combine(kiln_context *context, double p, const double *a, double q,
                         const double *b, double *out, size_t count);

/* Several of these, one after the other in one loop: between two loops threads wait for each other.
 * out = p a + q b, unless out is NULL; dot: of `with` and out, or a, unless `with` is NULL. */
typedef struct kiln_vector_step {
    double p;
    const double *a;
    double q;
    const double *b;
    double *out;
    const double *with;
    double dot;
} kiln_vector_step;
enum { KILN_MOST_VECTOR_STEPS = 3 };
void kiln_vector_take_steps(kiln_context *context, kiln_vector_step *step, int steps, size_t count);

#endif
