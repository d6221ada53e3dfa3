/* The values of a term's stencils at the last two places it was asked for, so that a difference of
 * objectives between a place and one tried from there costs one evaluation and not two.
 *
 * A place is recognised by its coordinates, bit for bit, and by `state`, a number that the owner
 * changes with anything else its values depend on. Without memory nothing is kept: the owner then
 * evaluates both places, with the same result. */
#ifndef KILN_SOLVE_KEPT_VALUES_H
#define KILN_SOLVE_KEPT_VALUES_H

#include "base/context.h"

typedef struct kiln_kept_values {
    size_t coordinates, stencils;
    double *memory; /* [2][coordinates + stencils] */
    uint64_t state[2];
    bool full[2];
    int last; /* the one used last; the other makes room for the next place */
} kiln_kept_values;

void kiln_kept_values_free(kiln_kept_values *kept, kiln_context *context);
size_t kiln_kept_values_bytes(const kiln_kept_values *kept);
void kiln_kept_values_forget(kiln_kept_values *kept); /* keeps the memory */

/* So that `begin` with these sizes cannot fail. */
kiln_status kiln_kept_values_reserve(kiln_kept_values *kept, kiln_context *context,
                                     size_t coordinates, size_t stencils, kiln_error *error);
/* Values [stencils] at x [coordinates]; NULL: not kept. */
double *kiln_kept_values_find(kiln_kept_values *kept, size_t coordinates, size_t stencils,
                              uint64_t state, const double *x);
/* Room for the values at x, which the caller fills in, in place of those not used last. NULL: there
 * is no memory. */
double *kiln_kept_values_begin(kiln_kept_values *kept, kiln_context *context, size_t coordinates,
                               size_t stencils, uint64_t state, const double *x);

#endif
