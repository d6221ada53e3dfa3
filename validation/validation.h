/* Validation: each case computes figures whose right answer is known and
 * reports them with that answer and the tolerance. The figures come from coordinates and indices by
 * the case's own arithmetic, not from what the code under examination says about itself. */
#ifndef KILN_VALIDATION_H
#define KILN_VALIDATION_H

#include "base/context.h"
#include "measure/bound.h"

typedef struct kiln_validation kiln_validation;

kiln_context *kiln_validation_context(kiln_validation *validation);

/* Whether seconds are asked for, not everything (`--quick`): BRIEF cases leave out what takes
 * longer. The bounds of the rows that stay are the same, those of sums over steps in proportion. */
bool kiln_validation_is_brief(const kiln_validation *validation);

/* One row. Errors have an upper bound, counts of what must not occur are exactly 0; a figure that
 * nothing is known about is unbound and has no verdict. `quantity` is a format. */
void kiln_validation_report(kiln_validation *validation, double measured, kiln_bound bound,
                            const char *quantity, ...) KILN_PRINTF(4, 5);

/* Reports its rows. An error (a mesh that cannot be made, a file that cannot be written) fails the
 * case, not the run. */
typedef kiln_status (*kiln_validation_case)(kiln_validation *validation, kiln_error *error);

#define KILN_VALIDATION_CASE(area, name, part, what)                                               \
    kiln_status kiln_validate_##name(kiln_validation *validation, kiln_error *error);
#include "validation/cases.h"
#undef KILN_VALIDATION_CASE

#endif
