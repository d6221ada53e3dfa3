#include "step/outcome.h"

const char *kiln_step_outcome_text(kiln_step_outcome outcome)
{
    static const char *const text[] = {
#define KILN_STEP_OUTCOME_ROW(name, where, text) text,
        KILN_STEP_OUTCOME_TABLE(KILN_STEP_OUTCOME_ROW)
#undef KILN_STEP_OUTCOME_ROW
    };
    return text[outcome];
}

kiln_where kiln_step_outcome_where(kiln_step_outcome outcome)
{
    static const kiln_where where[] = {
#define KILN_STEP_OUTCOME_ROW(name, where, text) where,
        KILN_STEP_OUTCOME_TABLE(KILN_STEP_OUTCOME_ROW)
#undef KILN_STEP_OUTCOME_ROW
    };
    return where[outcome];
}

void kiln_step_report_add(kiln_step_report *sum, const kiln_step_report *one)
{
    kiln_newton_report newton = sum->newton;
    double seconds = sum->contact_seconds;
    *sum = *one;
    kiln_newton_report_add(&newton, &one->newton);
    sum->newton = newton;
    sum->contact_seconds += seconds;
}
