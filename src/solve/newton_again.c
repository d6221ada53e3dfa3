/* Steps with a factor that is there already (newton.c, N4, N6 and N8). */
#include "solve/newton_impl.h"
#include "solve/vectors.h"

#include <math.h>
#include <string.h>

enum {
    MOST_CORRECTION_HALVINGS = 3,
    /* N8: where the objective cuts a step short a new matrix, a little farther on, gives the same
     * direction once more. */
    MOST_FOLLOWING_HALVINGS = 8,
    /* N8: solves for one step, and for all with one factor, which takes as long as some ten of
     * them; and whole steps in turn that hardly shrink. */
    MOST_AMENDING = 4,
    MOST_SOLVES = 12,
    MOST_SLOW = 4
};

/* N8: of a step; more exact ones do not get any farther, since surfaces that are met bend. */
static const double AMENDED = 0.5;
/* N4: at most this part of the step before, so that what is left is no more than the last one. */
static const double SHRINKS = 0.5;
/* Farther from the solution than this part of the length, where another path may lead to another
 * minimum, only the last step is taken with it, a tenth of the one before. */
static const double NEAR = 1e-2, LAST_SHRINKS = 0.1;
/* N6: of the iteration's own direction; where nothing holds a body, the factor has no more than
 * rounding along its motions, and an old one would throw it anywhere. */
static const double FARTHER = 10.0;
static const double QUIET = 0.15; /* N6: the gradient, of the forces that it is the sum of */
static const double LEFT = 0.01;  /* by steps that shrink by a ratio, in all, of the tolerance */

/* The gradient at x, whose objective may be another there (N7). */
static kiln_status find_gradient(kiln_problem *p, double *g, kiln_error *error)
{
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->add_rest && p->terms[t]->renew)
            KILN_TRY(p->terms[t]->renew(p->terms[t]->self, p->x, error));
    kiln_problem_assemble(p, p->x, g, NULL);
    kiln_constraints_project(p->constraints, g);
    return KILN_OK;
}

static bool notes_changes(const kiln_problem *p)
{
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->add_noted)
            return true;
    return false;
}

static void add_noted(void *user, const double *v, double *out)
{
    const kiln_problem *p = user;
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->add_noted)
            p->terms[t]->add_noted(p->terms[t]->self, p->terms[t]->weight, v, out);
    kiln_constraints_project(p->constraints, out);
}

/* The step that the factor at hand, and what was learned since, give for newton->g, and its size;
 * INFINITY: none. */
static kiln_status find_old_step(kiln_problem *p, double *size, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    kiln_solve_outcome outcome;
    kiln_secants_reduce(&newton->secants, -1.0, newton->g, newton->rhs);
    KILN_TRY(kiln_problem_solve(p, newton->rhs, newton->dx, &outcome, error));
    kiln_secants_complete(&newton->secants, newton->dx);
    *size = outcome == KILN_SOLVE_OK ? kiln_problem_largest(p, newton->dx) : INFINITY;
    return KILN_OK;
}

/* The factor, and what was learned since. */
static kiln_status solve_learned(kiln_problem *p, const double *rhs, double *dx,
                                 kiln_solve_outcome *outcome, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    kiln_secants_reduce(&newton->secants, 1.0, rhs, newton->trial);
    KILN_TRY(kiln_problem_solve_symmetric(p, newton->trial, dx, outcome, error));
    kiln_secants_complete(&newton->secants, dx);
    return KILN_OK;
}

static kiln_status solve_learned_again(void *user, const double *r, double *z, bool *solved,
                                       kiln_error *error)
{
    kiln_solve_outcome outcome;
    KILN_TRY(solve_learned(user, r, z, &outcome, error));
    *solved = outcome == KILN_SOLVE_OK;
    return KILN_OK;
}

/* N8: for newton->g, with what the terms have noted and what is held on its way. *exact: to the
 * tolerance; else still one along which the objective falls. */
static kiln_status find_amended_step(kiln_problem *p, bool *exact, double *size, int *solves,
                                     kiln_error *error)
{
    kiln_newton *newton = p->newton;
    kiln_context *context = newton->context;
    double *rhs = newton->rhs, part = p->moving ? -p->left : 0.0;
    kiln_solve_outcome outcome;
    memset(rhs, 0, p->count * sizeof *rhs);
    if (p->moving)
        add_noted(p, newton->gap, rhs);
    kiln_vector_step sides[] = {{part, rhs, part, newton->lead, .out = rhs},
                                {-1.0, newton->g, 1.0, rhs, .out = rhs}};
    kiln_vector_take_steps(context, sides, 2, p->count);
    kiln_constraints_project(p->constraints, rhs);
    KILN_TRY(solve_learned(p, rhs, newton->dx, &outcome, error));
    const kiln_amend_system system = {p, solve_learned_again, add_noted, AMENDED, MOST_AMENDING};
    *exact = false;
    ++*solves;
    if (outcome == KILN_SOLVE_OK)
        KILN_TRY(kiln_amend_improve(&newton->amend, context, &system, rhs, newton->dx, p->count,
                                    exact, solves, error));
    bool falls = *exact || kiln_problem_dot(p, newton->g, newton->dx) < 0.0;
    if (p->moving)
        kiln_vector_combine(context, 1.0, newton->dx, p->left, newton->gap, newton->dx, p->count);
    *size = falls ? kiln_problem_largest(p, newton->dx) : INFINITY;
    return KILN_OK;
}

/* Takes newton->dx whole where every term allows it and the objective does not rise by more than
 * rounding. */
static bool take_old_step(kiln_problem *p)
{
    double rounding = 1e-9 * kiln_problem_magnitude(p);
    kiln_problem_try_step(p, 1.0);
    if (kiln_problem_feasible_step(p) < 1.0 ||
        !(kiln_problem_find_change(p, p->newton->trial) <= rounding))
        return false;
    kiln_problem_take_change(p);
    memcpy(p->x, p->newton->trial, p->count * sizeof(double));
    return true;
}

/* N4. True when that settles convergence; `last` is the size of the step that was taken before. */
static kiln_status repeat(kiln_problem *p, double last, double limit, bool *converged,
                          kiln_error *error)
{
    kiln_secants_none(&p->newton->secants, p->newton->context, p->count);
    while (!*converged) {
        bool near = last <= NEAR * p->options->length;
        double size, most = near ? SHRINKS * last : fmin(LAST_SHRINKS * last, limit);
        KILN_TRY(find_gradient(p, p->newton->g, error));
        KILN_TRY(find_old_step(p, &size, error));
        if (!(size <= most) || !take_old_step(p))
            return KILN_OK;
        double ratio =
            size / last; /* a step of a new factor would have left less than linear ones */
        *converged = size <= limit && size * ratio <= LEFT * limit * (1.0 - ratio);
        last = size;
    }
    return KILN_OK;
}

static bool renew_lagged(kiln_problem *p)
{
    double change = 0.0;
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->lag)
            change = fmax(change, p->terms[t]->lag(p->terms[t]->self, p->x));
    return change > 0.0 && kiln_problem_find_values(p); /* x is where they are defined */
}

/* N6: the gradient after a correction, in newton->trial. A secant is one of one objective. */
static kiln_status look_again(kiln_problem *p, double step, bool learn, bool renew,
                              kiln_error *error)
{
    kiln_newton *newton = p->newton;
    KILN_TRY(find_gradient(p, newton->trial, error));
    if (learn)
        kiln_secants_learn(&newton->secants, step, newton->dx, newton->g, newton->trial);
    bool quiet = sqrt(kiln_problem_dot(p, newton->trial, newton->trial)) <= QUIET * p->forces;
    return renew && quiet && renew_lagged(p) ? find_gradient(p, newton->trial, error) : KILN_OK;
}

/* N6, after `step` times a direction of size `last`. */
static kiln_status correct(kiln_problem *p, double last, double step, double limit, bool *converged,
                           kiln_error *error)
{
    kiln_newton *newton = p->newton;
    double direction = last;
    bool partly = step < 1.0 && (p->moving || p->options->balanced);
    int most = p->barred || partly ? 0 : p->options->corrections;
    KILN_TRY(kiln_secants_begin(&newton->secants, newton->context, p->count, error));
    for (int i = 0; i < most || (i == most && step == 1.0); i++) {
        double size;
        bool learn = !p->moving && (i > 0 || !p->options->balanced);
        KILN_TRY(look_again(p, step, learn, p->options->renew_lagged && i < most, error));
        memcpy(newton->g, newton->trial, p->count * sizeof *newton->g);
        KILN_TRY(find_old_step(p, &size, error));
        bool last_one = step == 1.0 && size <= LAST_SHRINKS * last && size <= limit;
        *converged = last_one && take_old_step(p);
        if (*converged || i == most || !(size <= FARTHER * direction))
            return KILN_OK;
        p->moving = false; /* what is held has arrived, or was there */
        last = size;
        step = kiln_problem_search(p, 0.0, MOST_CORRECTION_HALVINGS);
        if (step == 0.0 || p->barred)
            return KILN_OK;
        kiln_problem_move_to(p, p->newton->trial, false);
    }
    return KILN_OK;
}

/* N8: gradient and notes after `step` times newton->dx. What the notes say of the change is not to
 * be learned. */
static kiln_status note_changes(kiln_problem *p, double step, bool learn, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    double *before = newton->rhs;
    KILN_TRY(find_gradient(p, newton->trial, error));
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->note)
            p->terms[t]->note(p->terms[t]->self, p->x);
    if (learn) {
        memset(before, 0, p->count * sizeof *before);
        add_noted(p, newton->dx, before);
        kiln_vector_combine(newton->context, 1.0, newton->g, step, before, before, p->count);
        kiln_secants_learn(&newton->secants, step, newton->dx, before, newton->trial);
    }
    memcpy(newton->g, newton->trial, p->count * sizeof *newton->g);
    return KILN_OK;
}

/* Whether a whole step of that size, and the ones that would follow it, leave no more than N2
 * allows. */
static bool is_last(double size, double ratio, double limit)
{
    return size <= limit && (ratio <= LAST_SHRINKS || size * ratio <= LEFT * limit * (1.0 - ratio));
}

/* What secants say is farther than the step of a new factor can be much too stiff a factor: matter
 * that is about to snap, since contact has no part in it that is negative. Linear steps of new
 * ones would take hundreds; as far as FARTHER is on the way. */
static double bring_nearer(kiln_problem *p, double size, double most)
{
    double *dx = p->newton->dx, part = most / size;
    for (size_t i = 0; i < p->count; i++)
        dx[i] *= part;
    return most;
}

/* N8. Momentum is balanced after whole steps (balanced, newton.h), and steps from there are learned
 * from. */
static kiln_status follow(kiln_problem *p, double last, double step, double limit, bool *converged,
                          kiln_error *error)
{
    kiln_newton *newton = p->newton;
    double direction = last;
    int slow = 0, solves = 0;
    bool exact = true, learn = false;
    KILN_TRY(kiln_secants_begin(&newton->secants, newton->context, p->count, error));
    while (exact && solves < MOST_SOLVES) {
        double size;
        bool whole = step == 1.0;
        p->left *= 1.0 - step;
        p->moving = p->moving && !whole;
        KILN_TRY(note_changes(p, step, learn && !p->moving, error));
        KILN_TRY(find_amended_step(p, &exact, &size, &solves, error));
        learn = whole;
        double ratio = whole ? size / last : 1.0;
        slow = whole && ratio > SHRINKS ? slow + 1 : 0;
        bool far = !(size <= FARTHER * direction);
        if (slow == MOST_SLOW || (far && (newton->secants.count == 0 || !isfinite(size))))
            return KILN_OK;
        if (far)
            size = bring_nearer(p, size, FARTHER * direction);
        step = kiln_problem_search(p, limit, MOST_FOLLOWING_HALVINGS);
        if (step == 0.0)
            return KILN_OK;
        kiln_problem_move_to(p, newton->trial, step == 1.0);
        *converged = exact && !far && step == 1.0 && is_last(size, ratio, limit);
        if (*converged)
            return KILN_OK;
        last = size;
    }
    return KILN_OK;
}

bool kiln_problem_follows(const kiln_problem *p)
{
    return p->options->line_search && p->options->corrections > 0 && p->options->balanced &&
           notes_changes(p) && !kiln_problem_has_rest(p);
}

kiln_status kiln_problem_go_on(kiln_problem *p, double last, double step, double limit,
                               bool *converged, kiln_error *error)
{
    *converged = false;
    if (p->all_held || p->newton->equality || !kiln_solver_last(p->newton->solver)->direct)
        return KILN_OK;
    if (kiln_problem_follows(p))
        return follow(p, last, step, limit, converged, error);
    if (p->options->corrections > 0)
        return correct(p, last, step, limit, converged, error);
    return step == 1.0 ? repeat(p, last, limit, converged, error) : KILN_OK;
}
