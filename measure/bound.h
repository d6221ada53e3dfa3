/* What a figure must keep to: at most, at least, between two limits, near an answer, or nothing. */
#ifndef KILN_MEASURE_BOUND_H
#define KILN_MEASURE_BOUND_H

#include "base/platform.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum kiln_bound_kind {
    KILN_BOUND_NONE,
    KILN_BOUND_AT_MOST,
    KILN_BOUND_AT_LEAST,
    KILN_BOUND_BETWEEN,
    KILN_BOUND_NEAR
} kiln_bound_kind;

typedef struct kiln_bound {
    kiln_bound_kind kind;
    double low, high;            /* of AT_LEAST, AT_MOST, BETWEEN; they belong to what is allowed */
    double reference, tolerance; /* of NEAR: |value - reference| <= tolerance */
} kiln_bound;

KILN_INLINE kiln_bound kiln_unbound(void)
{
    return (kiln_bound){.kind = KILN_BOUND_NONE};
}

KILN_INLINE kiln_bound kiln_at_most(double high)
{
    return (kiln_bound){.kind = KILN_BOUND_AT_MOST, .high = high};
}

KILN_INLINE kiln_bound kiln_at_least(double low)
{
    return (kiln_bound){.kind = KILN_BOUND_AT_LEAST, .low = low};
}

KILN_INLINE kiln_bound kiln_between(double low, double high)
{
    return (kiln_bound){.kind = KILN_BOUND_BETWEEN, .low = low, .high = high};
}

KILN_INLINE kiln_bound kiln_near(double reference, double tolerance)
{
    return (kiln_bound){KILN_BOUND_NEAR, .reference = reference, .tolerance = tolerance};
}

/* The tolerance is a share of the answer. */
KILN_INLINE kiln_bound kiln_near_relative(double reference, double share)
{
    return kiln_near(reference, share * fabs(reference));
}

KILN_INLINE kiln_bound kiln_exactly(double reference)
{
    return kiln_near(reference, 0.0);
}

/* NaN and infinities keep to no bound, and not to none: they say that nothing was measured. */
bool kiln_bound_holds(const kiln_bound *bound, double value);

enum { KILN_BOUND_TEXT = 64 };
/* "<= 8", "0.97 .. 1.005", "1.9 +- 1e-09", "= 6", "" for none. */
void kiln_bound_print(const kiln_bound *bound, char text[KILN_BOUND_TEXT]);

#endif
