#include "solve/newton.h"

const char *kiln_newton_outcome_text(kiln_newton_outcome outcome)
{
    static const char *const texts[] = {
#define KILN_NEWTON_OUTCOME_TEXT(name, text) text,
        KILN_NEWTON_OUTCOME_TABLE(KILN_NEWTON_OUTCOME_TEXT)
#undef KILN_NEWTON_OUTCOME_TEXT
    };
    return texts[outcome];
}

bool kiln_newton_succeeded(kiln_newton_outcome outcome)
{
    return outcome == KILN_NEWTON_CONVERGED || outcome == KILN_NEWTON_LINEARISED;
}

kiln_newton_options kiln_newton_default_options(void)
{
    return (kiln_newton_options){
        .tolerance = 1e-9, .length = 1.0, .max_iterations = 100, .line_search = true};
}

void kiln_newton_report_add(kiln_newton_report *sum, const kiln_newton_report *one)
{
    kiln_newton_report total = *one;
    total.iterations += sum->iterations;
    total.linear_iterations += sum->linear_iterations;
    total.line_searches += sum->line_searches;
    total.regularised += sum->regularised;
    total.assemble_seconds += sum->assemble_seconds;
    total.factor_seconds += sum->factor_seconds;
    total.solve_seconds += sum->solve_seconds;
    *sum = total;
}
