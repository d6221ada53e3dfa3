/* Validation: each case computes figures whose right answer is known (design/validation.md) and
 * reports them with that answer and the tolerance. The figures come from coordinates and indices by
 * the case's own arithmetic, not from what the code under examination says about itself. */
#ifndef KILN_APP_VALIDATE_H
#define KILN_APP_VALIDATE_H

#include "base/context.h"

typedef struct kiln_validation kiln_validation;

kiln_context *kiln_validation_context(kiln_validation *validation);

/* One row; passes when |measured - reference| <= tolerance. Errors and counts of what must not
 * occur have reference 0. `quantity` is a format. */
void kiln_validation_report(kiln_validation *validation, double reference, double measured,
                            double tolerance, const char *quantity, ...) KILN_PRINTF(5, 6);

/* For figures that have bounds instead of an answer: the reference is their middle. */
#define kiln_validation_report_between(validation, low, high, measured, ...)                       \
    kiln_validation_report((validation), 0.5 * ((low) + (high)), (measured),                       \
                           0.5 * ((high) - (low)), __VA_ARGS__)

/* Reports its rows. An error (a mesh that cannot be made, a file that cannot be written) fails the
 * case, not the run. */
typedef kiln_status (*kiln_validation_case)(kiln_validation *validation, kiln_error *error);

#define KILN_VALIDATION_CASE(area, name, what)                                                     \
    kiln_status kiln_validate_##name(kiln_validation *validation, kiln_error *error);
#include "app/validate_cases.h"
#undef KILN_VALIDATION_CASE

#endif
