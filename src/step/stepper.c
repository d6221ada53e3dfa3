#include "step/stepper.h"

kiln_status kiln_steppers_advance(const kiln_stepper *steppers, size_t count,
                                  const kiln_interval *interval, kiln_step_report *report,
                                  kiln_error *error)
{
    *report = (kiln_step_report){.outcome = KILN_STEP_DONE, .element = KILN_NONE};
    for (size_t i = 0; i < count && report->outcome == KILN_STEP_DONE; i++) {
        kiln_step_report one = {.outcome = KILN_STEP_DONE, .element = KILN_NONE};
        KILN_TRY(steppers[i].advance(steppers[i].self, interval, &one, error));
        kiln_step_report_add(report, &one);
    }
    return KILN_OK;
}
