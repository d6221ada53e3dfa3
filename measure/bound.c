#include "measure/bound.h"

#include <stdio.h>

bool kiln_bound_holds(const kiln_bound *bound, double value)
{
    if (!isfinite(value))
        return false;
    switch (bound->kind) {
    case KILN_BOUND_NONE:
        return true;
    case KILN_BOUND_AT_MOST:
        return value <= bound->high;
    case KILN_BOUND_AT_LEAST:
        return value >= bound->low;
    case KILN_BOUND_BETWEEN:
        return bound->low <= value && value <= bound->high;
    case KILN_BOUND_NEAR:
        return fabs(value - bound->reference) <= bound->tolerance;
    }
    return false;
}

void kiln_bound_print(const kiln_bound *bound, char text[KILN_BOUND_TEXT])
{
    text[0] = 0;
    if (bound->kind == KILN_BOUND_AT_MOST)
        snprintf(text, KILN_BOUND_TEXT, "<= %.4g", bound->high);
    else if (bound->kind == KILN_BOUND_AT_LEAST)
        snprintf(text, KILN_BOUND_TEXT, ">= %.4g", bound->low);
    else if (bound->kind == KILN_BOUND_BETWEEN)
        snprintf(text, KILN_BOUND_TEXT, "%.4g .. %.4g", bound->low, bound->high);
    else if (bound->kind == KILN_BOUND_NEAR && bound->tolerance == 0.0)
        snprintf(text, KILN_BOUND_TEXT, "= %.10g", bound->reference);
    else if (bound->kind == KILN_BOUND_NEAR)
        snprintf(text, KILN_BOUND_TEXT, "%.10g +- %.3g", bound->reference, bound->tolerance);
}
