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
/* The same; returns the dot product of `with` and out: the bits of two loops. */
double kiln_vector_combine_dot(kiln_context *context, double p, const double *a, double q,
                               const double *b, double *out, const double *with, size_t count);

#endif
