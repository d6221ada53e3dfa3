/* The direction beside equations (newton.c, N11). */
#include "solve/diagonal.h"
#include "solve/newton_impl.h"
#include "solve/vectors.h"

/* The right side is that of the free components already, and so becomes the matrix. */
kiln_status kiln_problem_solve_equal(kiln_problem *p, kiln_solve_outcome *outcome,
                                     kiln_error *error)
{
    kiln_newton *newton = p->newton;
    const kiln_equality *equality = newton->equality;
    const size_t rows = p->constraints->rows;
    p->closed = false;
    if (!newton->saddle)
        KILN_TRY(kiln_saddle_create(newton->context, &newton->options, &newton->saddle, error));
    KILN_TRY(kiln_array_reserve(newton->context, &newton->multipliers, 2 * rows, error));
    double *e = newton->multipliers.data, *dp = e + rows;
    kiln_equations *equations = equality->linearise(equality->self, p->x, e);
    if (p->moving) {
        kiln_equations_multiply(equations, newton->gap, dp);
        kiln_vector_combine(newton->context, 1.0, e, -1.0, dp, e, rows);
    }
    kiln_equations_project(equations, p->constraints);
    kiln_constraints_apply(p->constraints, &newton->matrix, kiln_diagonal_mean(&newton->matrix));
    KILN_TRY(kiln_saddle_factor(newton->saddle, &newton->matrix, equations,
                                equality->stiff(equality->self), outcome, error));
    if (*outcome != KILN_SOLVE_OK)
        return KILN_OK;
    const kiln_saddle_options options = {equality->tolerance, equality->max_iterations,
                                         equality->amount(equality->self)};
    KILN_TRY(kiln_saddle_solve(newton->saddle, &options, newton->rhs, e, newton->dx, dp, outcome,
                               error));
    const kiln_saddle_report *done = kiln_saddle_last(newton->saddle);
    p->report->factor_seconds += done->factor_seconds;
    p->report->solve_seconds += done->solve_seconds;
    p->report->linear_iterations += done->iterations;
    p->report->backend = done->way;
    p->report->reason = done->reason;
    /* Held unknowns on their way change volumes by more than where they go. */
    p->closed = !p->moving && done->unkept > equality->most_unkept;
    equality->add(equality->self, dp);
    kiln_equations_add_transposed(equations, dp, 1.0, newton->g);
    return KILN_OK;
}
