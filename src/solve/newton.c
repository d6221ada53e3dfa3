/* The iteration, and what it holds to:
 *
 * N1 x is only ever moved to places where every term is defined (its value is finite), except when
 *    line_search is off.
 * N2 Converged means that a full step of at most tolerance * length (or of the asked part of the
 *    first step) was taken, or that the gradient is rounding: no larger than what rounding the
 *    coordinates does to it.
 * N3 Steps are judged by the sum of what they change in each term, stencil by stencil, never by a
 *    difference of totals: what does not move must not drown what does. Once the predicted fall is
 *    lost in the rounding of the terms, they are judged by the slope at their end (Hager and Zhang
 *    2005, eq. 4.1, "approximate Wolfe"). So is a full step that settles N2: near a rest state
 *    whose energy is 0 values are what cancellation inside the terms left, and their size does not
 *    tell how much that is.
 * N4 After a full step a direct solver has its factor still at hand: solving with it for the new
 *    gradient costs little and gives the next step up to the change of the Hessian along the last
 *    one, which the ratio of the two steps measures. As long as these steps shrink they are taken
 *    (a quadratic objective takes one); when that settles N2, assemblies and factorisations are
 *    saved. Where the Hessian had to be made positive Newton converges no faster with a new one.
 * N5 Where terms ask for it the Hessian is first tried as it is. When it is positive definite the
 *    direction is Newton's own; when not, the PSD parts take its place. (Near a limit load the
 *    projected one is so much too stiff that steps shrink by a fifth each: 100 instead of 7.)
 * N6 Asked for corrections, an iteration goes on with its factor while the objective falls. Where
 *    matter turns or flows far, the straight step ends off the curved way, in directions that are
 *    much stiffer than the way itself; those the old factor knows well enough (a notched bar at
 *    its limit load: 8 iterations instead of 18, a beam that turns by 60 degrees 10 of 26). Along
 *    the few that have become soft meanwhile it is too stiff; those are learned from the steps
 *    (secants.h; a cantilever at 99.5 % of its limit load: 8 iterations instead of 24). What is
 *    held (term.lag) is renewed where forces nearly balance: a straight step that turns matter has
 *    pressures in it that are gone once it is corrected.
 * N7 Where a force has no potential, its derivative has a part that is not symmetric. The objective
 *    is then that of this iteration (term.renew), whose Hessian is the symmetric part, and the
 *    direction solves with both: along it the objective falls all the same, since the other part
 *    does no work on it.
 * N8 What touches comes and goes within a solve, in few directions, and is quick to look at: where
 *    terms can say by how much their Hessian is another than in the matrix (term.note), steps with
 *    the old factor solve for that too (amend.h) and go on after steps that were cut short: of 20
 *    balls in a bowl most iterations meet one more surface, and none of them needs a new matrix.
 *    Secants are about the rest: what is noted is taken off them. Where they show that the factor
 *    is much too stiff they are gone by, as far as ten of its own steps. Once this has taken as
 *    many solves as a factor is worth, a new one is made.
 *
 * N9 What is held leads what is free, and steps on its way need not lower the objective. Where
 *    terms cut them short (surfaces that are pressed together, tets that go flat) it rests where it
 *    is until the free unknowns are near their minimum there, which makes room again, and then goes
 *    on; as long as each rest takes it farther.
 *
 * N10 Where N8 is to follow, most steps are cut short or corrected by the next one, and a factor of
 *    single precision is good enough for all of them: what it leaves of the gradient the next step
 *    finds again. Only sums over bodies are not to be left, or momentum would drift (balance.h).
 *    Where the Hessian is tried as it is (N5) it is one of doubles: whether it is positive definite
 *    is what is asked.
 *
 * N11 With equations (equality.h) the direction and the change of the multipliers are found
 *    together, and the multipliers change first: A dx = -(g + J' p) along the step then, so that
 *    the objective, which has p . c(x) in it, falls along it by the same tests as always. Each
 *    matrix serves one step.
 *
 * N12 Matrices of what touches have no negative parts: a vertex that is pressed over an edge is
 *    pushed aside, too, and what holds it may be fifty times softer than the matrix says. Far from
 *    the minimum that makes steps that can be taken; near it they close a third of the rest each.
 *    So after some iterations, where steps are taken whole and short for the model, the true
 *    Hessian is tried as in N5 (terms that have one: set_near), and steps square the rest.
 *
 * N13 Where an objective has a kink (an edge that slides off another, what is counted before walls)
 *    a line goes down for a thousandth of the way, again and again. Iterations whose whole ways
 *    are within the tolerance have then converged.
 *
 * N4, N6 and N8 are in newton_again.c, N11 in newton_equal.c, N12 in newton_near.c. */
#include "base/clock.h"
#include "base/hash.h"
#include "solve/diagonal.h"
#include "solve/newton_impl.h"
#include "solve/vectors.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST_REGULARISATIONS = 12,
    MOST_HALVINGS = 60,
    MOST_SHORT_STEPS = 5, /* in turn, N9 */
    STAGNATION = 4,       /* iterations in which the step did not shrink before N2's second half */
    STALLED = 8           /* in turn, N13 */
};

#define REST_TOLERANCE   1e-6 /* of the right side, for what N7 solves */
#define SINGLE_TOLERANCE 1e-8 /* of the length */
/* N9: steps that are short; by how many tolerances a rest may miss its end; and by how much of the
 * way that was left when it first came to rest each must help. */
#define SHORT  0.01
#define RESTED 30.0
#define HELPED 0.02

kiln_status kiln_newton_create(kiln_context *context, const kiln_solver_options *solver,
                               kiln_newton **out, kiln_error *error)
{
    kiln_newton *newton = kiln_resize(context, NULL, 0, sizeof *newton);
    if (!newton)
        return kiln_fail_memory(error, sizeof *newton);
    *newton = (kiln_newton){.context = context,
                            .options = solver ? *solver : kiln_solver_default_options()};
    kiln_bsr_init(&newton->matrix, context);
    kiln_bsr_init_pattern(&newton->lasting, context, 3);
    kiln_status status = kiln_solver_create(context, solver, &newton->solver, error);
    if (status != KILN_OK) {
        kiln_release(context, newton, sizeof *newton);
        return status;
    }
    *out = newton;
    return KILN_OK;
}

static size_t vector_bytes(size_t count)
{
    return KILN_NEWTON_VECTORS * count * sizeof(double);
}

void kiln_newton_forget(kiln_newton *newton)
{
    kiln_solver_forget(newton->solver);
    kiln_bsr_free(&newton->matrix);
    kiln_bsr_free(&newton->lasting);
    kiln_release(newton->context, newton->vectors, vector_bytes(newton->count));
    kiln_array_free(newton->context, &newton->values);
    kiln_array_free(newton->context, &newton->changed);
    kiln_gcr_free(&newton->gcr, newton->context);
    kiln_secants_free(&newton->secants, newton->context);
    kiln_amend_free(&newton->amend, newton->context);
    kiln_balance_free(&newton->balance, newton->context);
    kiln_array_free(newton->context, &newton->multipliers);
    if (newton->saddle)
        kiln_saddle_forget(newton->saddle);
    newton->vectors = NULL;
    newton->count = 0;
    newton->keyed = false;
    newton->lasts = 0;
    newton->expects = EXPECTS_NOTHING;
}

kiln_status kiln_newton_expect_changes(kiln_newton *newton, const uint32_t *rows, size_t count,
                                       const kiln_cliques *around, kiln_error *error)
{
    if (newton->expects != EXPECTS_NOTHING || !newton->keyed || !around) {
        newton->expects = EXPECTS_ANYTHING;
        return KILN_OK;
    }
    newton->expects = EXPECTS_ANYTHING;
    KILN_TRY(kiln_array_reserve(newton->context, &newton->changed, count + 1, error));
    if (count)
        memcpy(newton->changed.data, rows, count * sizeof *rows);
    newton->changed.count = count;
    newton->around = *around;
    newton->expects = EXPECTS_ROWS;
    return KILN_OK;
}

void kiln_newton_destroy(kiln_newton *newton)
{
    if (!newton)
        return;
    kiln_newton_forget(newton);
    kiln_saddle_destroy(newton->saddle);
    kiln_solver_destroy(newton->solver);
    kiln_release(newton->context, newton, sizeof *newton);
}

void kiln_newton_set_equality(kiln_newton *newton, const kiln_equality *equality)
{
    newton->equality = equality;
}

size_t kiln_newton_bytes(const kiln_newton *newton)
{
    return sizeof *newton + vector_bytes(newton->count) + kiln_bsr_bytes(&newton->matrix) +
           kiln_bsr_bytes(&newton->lasting) +
           (newton->values.capacity + newton->gcr.room.capacity + newton->secants.room.capacity +
            newton->balance.push.capacity + newton->balance.room.capacity) *
               sizeof(double);
}

double kiln_problem_dot(const kiln_problem *p, const double *a, const double *b)
{
    return kiln_vector_dot(p->newton->context, a, b, p->count);
}

void kiln_problem_try_step(const kiln_problem *p, double step)
{
    kiln_newton *newton = p->newton;
    kiln_vector_combine(newton->context, 1.0, p->x, step, newton->dx, newton->trial, p->count);
}

double kiln_problem_largest(const kiln_problem *p, const double *v)
{
    return kiln_vector_largest(p->newton->context, v, p->count);
}

/* Vectors for the problem, and a matrix of blocks of its size. */
static kiln_status make_room(kiln_problem *p, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    if (newton->matrix.block != p->constraints->block) {
        kiln_bsr_free(&newton->matrix);
        kiln_bsr_init_blocks(&newton->matrix, newton->context, p->constraints->block);
        kiln_bsr_free(&newton->lasting);
        kiln_bsr_init_pattern(&newton->lasting, newton->context, p->constraints->block);
        newton->keyed = false;
        newton->lasts = 0;
    }
    if (newton->count != p->count) {
        double *fresh = kiln_resize(newton->context, NULL, 0, vector_bytes(p->count));
        if (!fresh)
            return kiln_fail_memory(error, vector_bytes(p->count));
        kiln_release(newton->context, newton->vectors, vector_bytes(newton->count));
        newton->vectors = fresh;
        newton->count = p->count;
    }
    double **const parts[KILN_NEWTON_VECTORS] = {&newton->g,   &newton->rhs,   &newton->dx,
                                                 &newton->gap, &newton->trial, &newton->diagonal,
                                                 &newton->lead};
    for (size_t i = 0; i < KILN_NEWTON_VECTORS; i++)
        *parts[i] = newton->vectors + i * p->count;
    KILN_TRY(kiln_array_reserve(newton->context, &newton->values, 2 * p->term_count, error));
    p->value = newton->values.data;
    p->change = newton->values.data + p->term_count;
    return KILN_OK;
}

bool kiln_problem_find_values(kiln_problem *p)
{
    for (size_t t = 0; t < p->term_count; t++) {
        p->value[t] = p->terms[t]->weight * p->terms[t]->value(p->terms[t]->self, p->x);
        if (!isfinite(p->value[t]))
            return false;
    }
    return true;
}

double kiln_problem_find_change(kiln_problem *p, const double *to)
{
    double sum = 0.0;
    for (size_t t = 0; t < p->term_count; t++) {
        p->change[t] = p->terms[t]->weight * kiln_term_delta(p->terms[t], p->x, to);
        if (!isfinite(p->change[t]))
            return INFINITY;
        sum += p->change[t];
    }
    return sum;
}

void kiln_problem_take_change(kiln_problem *p)
{
    for (size_t t = 0; t < p->term_count; t++)
        p->value[t] += p->change[t];
}

double kiln_problem_magnitude(const kiln_problem *p)
{
    double sum = 0.0;
    for (size_t t = 0; t < p->term_count; t++)
        sum += fabs(p->value[t]);
    return sum;
}

void kiln_problem_assemble(kiln_problem *p, const double *x, double *g, kiln_bsr *H)
{
    double begin = kiln_wall_seconds();
    memset(g, 0, p->count * sizeof *g);
    if (H)
        kiln_bsr_clear(H);
    p->forces = 0.0;
    for (size_t t = 0; t < p->term_count; t++) {
        p->terms[t]->add(p->terms[t]->self, x, p->terms[t]->weight, g, H);
        if (p->options->renew_lagged)
            p->forces = fmax(p->forces, sqrt(kiln_problem_dot(p, g, g)));
    }
    p->report->assemble_seconds += kiln_wall_seconds() - begin;
}

/* Way to the targets; a way of rounding size counts as none. */
static void find_gap(kiln_problem *p)
{
    double *gap = p->newton->gap;
    kiln_constraints_gap(p->constraints, p->x, gap);
    p->way = kiln_problem_largest(p, gap);
    p->moving = !p->resting && p->way > 4 * DBL_EPSILON * kiln_problem_largest(p, p->x);
    if (!p->moving)
        memset(gap, 0, p->count * sizeof *gap);
}

kiln_status kiln_problem_solve_symmetric(kiln_problem *p, const double *rhs, double *dx,
                                         kiln_solve_outcome *outcome, kiln_error *error)
{
    double begin = kiln_wall_seconds();
    kiln_status status = kiln_solver_solve(p->newton->solver, rhs, dx, outcome, error);
    if (status == KILN_OK && kiln_solver_last(p->newton->solver)->single)
        kiln_balance_restore(&p->newton->balance, p->constraints, rhs, dx);
    p->report->solve_seconds += kiln_wall_seconds() - begin;
    p->report->linear_iterations += kiln_solver_last(p->newton->solver)->iterations;
    return status;
}

static kiln_status solve_again(void *user, const double *r, double *z, bool *solved,
                               kiln_error *error)
{
    kiln_solve_outcome outcome;
    KILN_TRY(kiln_problem_solve_symmetric(user, r, z, &outcome, error));
    *solved = outcome == KILN_SOLVE_OK;
    return KILN_OK;
}

static void add_rest(void *user, const double *v, double *out)
{
    const kiln_problem *p = user;
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->add_rest)
            p->terms[t]->add_rest(p->terms[t]->self, p->x, p->terms[t]->weight, v, out);
    kiln_constraints_project(p->constraints, out);
}

bool kiln_problem_has_rest(const kiln_problem *p)
{
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->add_rest)
            return true;
    return false;
}

/* N7 */
kiln_status kiln_problem_solve(kiln_problem *p, const double *rhs, double *dx,
                               kiln_solve_outcome *outcome, kiln_error *error)
{
    KILN_TRY(kiln_problem_solve_symmetric(p, rhs, dx, outcome, error));
    if (*outcome != KILN_SOLVE_OK || !kiln_problem_has_rest(p))
        return KILN_OK;
    const kiln_gcr_system system = {p, solve_again, add_rest};
    return kiln_gcr_improve(&p->newton->gcr, p->newton->context, &system, REST_TOLERANCE, rhs, dx,
                            p->count, error);
}

typedef struct balancing {
    const kiln_problem *problem;
    kiln_status status;
    kiln_error error;
} balancing;

static void find_balance(void *user)
{
    balancing *b = user;
    kiln_newton *newton = b->problem->newton;
    b->status =
        kiln_balance_find(&newton->balance, &newton->matrix, b->problem->constraints, &b->error);
}

/* The factor; if it is of single precision, what balances its solves, too. */
static kiln_status factor(kiln_problem *p, kiln_solve_outcome *outcome, kiln_error *error)
{
    kiln_solver *solver = p->newton->solver;
    balancing b = {.problem = p};
    kiln_solver_aside aside = {find_balance, &b, false};
    double begin = kiln_wall_seconds();
    kiln_solver_set_aside(solver, p->single ? &aside : NULL);
    kiln_status status = kiln_solver_factor(solver, &p->newton->matrix, outcome, error);
    kiln_solver_set_aside(solver, NULL);
    if (status == KILN_OK && kiln_solver_last(solver)->single) {
        if (!aside.done)
            find_balance(&b);
        status = b.status;
        if (status != KILN_OK && error)
            *error = b.error;
    }
    p->report->factor_seconds += kiln_wall_seconds() - begin;
    return status;
}

/* One attempt; an iterative solver may find only while solving that the matrix is not positive. */
static kiln_status factor_and_solve(kiln_problem *p, kiln_solve_outcome *outcome, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    KILN_TRY(factor(p, outcome, error));
    kiln_status status = KILN_OK;
    if (*outcome == KILN_SOLVE_OK)
        status = kiln_problem_solve(p, newton->rhs, newton->dx, outcome, error);
    p->report->backend = kiln_solver_last(newton->solver)->backend;
    p->report->reason = kiln_solver_last(newton->solver)->reason;
    return status;
}

static kiln_status solve_regularised(kiln_problem *p, bool exact, kiln_solve_outcome *outcome,
                                     kiln_error *error)
{
    kiln_newton *newton = p->newton;
    double mean = kiln_diagonal_mean(&newton->matrix), multiple = 0.0;
    kiln_constraints_apply(p->constraints, &newton->matrix, mean);
    KILN_TRY(factor_and_solve(p, outcome, error));
    int most = exact ? 0 : MOST_REGULARISATIONS;
    for (int i = 0; i < most && *outcome == KILN_SOLVE_NOT_POSITIVE; i++) {
        if (i == 0)
            kiln_diagonal_keep(&newton->matrix, mean, newton->diagonal);
        p->report->regularised++;
        double more = multiple > 0.0 ? 10.0 * multiple : 1e-8;
        kiln_diagonal_add(&newton->matrix, more - multiple, newton->diagonal);
        multiple = more;
        KILN_TRY(factor_and_solve(p, outcome, error));
    }
    return KILN_OK;
}

static kiln_newton_outcome outcome_of(kiln_solve_outcome outcome)
{
    return outcome == KILN_SOLVE_NOT_FINITE ? KILN_NEWTON_NOT_FINITE : KILN_NEWTON_SOLVER;
}

/* dx of the free components from what is assembled; newton->g becomes its free part. An exact
 * matrix is not regularised. */
/* Not where steps are to become so small that values no longer tell which way is down: what single
 * precision leaves must be taken by another step. */
static bool may_be_single(const kiln_problem *p)
{
    return !p->doubles && p->options->tolerance >= SINGLE_TOLERANCE && kiln_problem_follows(p);
}

static kiln_status solve_assembled(kiln_problem *p, bool exact, kiln_solve_outcome *outcome,
                                   kiln_error *error)
{
    kiln_newton *newton = p->newton;
    /* -(g + K gap) */
    memset(newton->rhs, 0, p->count * sizeof(double));
    if (p->moving)
        KILN_TRY(kiln_bsr_multiply(&newton->matrix, newton->gap, newton->rhs, error));
    memcpy(newton->lead, newton->rhs, p->count * sizeof(double));
    p->left = 1.0;
    kiln_vector_combine(newton->context, -1.0, newton->g, -1.0, newton->rhs, newton->rhs, p->count);
    kiln_constraints_project(p->constraints, newton->g);
    kiln_constraints_project(p->constraints, newton->rhs);
    if (newton->equality)
        return kiln_problem_solve_equal(p, outcome, error);
    p->single = kiln_solver_set_single(newton->solver, !exact && may_be_single(p));
    return solve_regularised(p, exact, outcome, error);
}

/* Newton's direction in newton->dx: K_ff dx_f = -g_f - K_fD dx_D, dx_D the way to the targets. On
 * return newton->g is the gradient along free components; `done` when there is no direction. */
static kiln_status find_direction(kiln_problem *p, bool *done, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    *done = true;
    if (!p->all_held)
        KILN_TRY(kiln_problem_prepare_matrix(p, error));
    bool exact = !p->all_held && kiln_problem_set_exact(p, true);
    kiln_problem_assemble(p, p->x, newton->g, p->all_held ? NULL : &newton->matrix);
    if (exact)
        kiln_problem_set_exact(p, false);
    if (!kiln_vector_is_finite(newton->context, newton->g, p->count)) {
        p->report->outcome = KILN_NEWTON_NOT_FINITE;
        return KILN_OK;
    }
    find_gap(p);
    kiln_solve_outcome outcome = KILN_SOLVE_OK;
    if (p->all_held) {
        kiln_constraints_project(p->constraints, newton->g);
        memset(newton->dx, 0, p->count * sizeof(double));
    } else {
        KILN_TRY(solve_assembled(p, exact, &outcome, error));
        if (exact && newton->equality && outcome == KILN_SOLVE_OK &&
            !(kiln_problem_dot(p, newton->g, newton->dx) < 0.0))
            outcome = KILN_SOLVE_NOT_POSITIVE; /* along the way that was found, at least */
        if (exact && outcome == KILN_SOLVE_NOT_POSITIVE) {
            kiln_problem_delay_tail(p);
            kiln_problem_assemble(p, p->x, newton->g, &newton->matrix);
            KILN_TRY(solve_assembled(p, false, &outcome, error));
        }
    }
    p->report->gradient = kiln_problem_largest(p, newton->g);
    p->report->iterations++;
    if (outcome != KILN_SOLVE_OK || p->closed) {
        p->report->outcome = p->closed ? KILN_NEWTON_CLOSED : outcome_of(outcome);
        return KILN_OK;
    }
    if (p->moving)
        kiln_vector_combine(newton->context, 1.0, newton->dx, 1.0, newton->gap, newton->dx,
                            p->count);
    *done = false;
    return KILN_OK;
}

void kiln_problem_move_to(kiln_problem *p, const double *to, bool full)
{
    memcpy(p->x, to, p->count * sizeof(double));
    if (!full || !p->moving)
        return;
    const kiln_constraints *constraints = p->constraints;
    size_t frame = 0, n = constraints->block;
    for (size_t row = 0; row < constraints->rows; row++) {
        if (frame < constraints->frames.count && constraints->frames.data[frame].row == row) {
            frame++;
            continue;
        }
        for (size_t c = 0; c < n; c++)
            if (constraints->held[row] >> c & 1)
                p->x[n * row + c] = constraints->goal[n * row + c];
    }
}

/* N2, second half: |g| <= 16 eps |H| |x|, row by row with the largest coordinate. Assembles. */
static bool gradient_is_rounding(kiln_problem *p)
{
    kiln_newton *newton = p->newton;
    if (p->all_held)
        return true;
    kiln_problem_assemble(p, p->x, newton->g, &newton->matrix);
    kiln_constraints_project(p->constraints, newton->g);
    double *sum = newton->trial, level = 16 * DBL_EPSILON * kiln_problem_largest(p, p->x);
    kiln_bsr_row_sums(&newton->matrix, sum);
    for (size_t i = 0; i < p->count; i++)
        if (!(fabs(newton->g[i]) <= level * sum[i]))
            return false;
    return true;
}

double kiln_problem_feasible_step(const kiln_problem *p)
{
    double step = 1.0;
    for (size_t t = 0; t < p->term_count; t++)
        if (p->terms[t]->max_step) {
            double s = p->terms[t]->max_step(p->terms[t]->self, p->x, p->newton->dx);
            step = s < step ? s : step;
        }
    return step > 0.0 ? step : 0.0;
}

/* N3: the slope at the trial point, which is at most 0.9 of the first one turned round. */
static bool slope_is_fine(kiln_problem *p, double slope)
{
    double *g = p->newton->rhs;
    kiln_problem_assemble(p, p->newton->trial, g, NULL);
    kiln_constraints_project(p->constraints, g);
    return kiln_problem_dot(p, g, p->newton->dx) <= 0.9 * fabs(slope);
}

/* Of the rounding that a fall may be hidden in: where stiff matter rings, changes of its energy are
 * off by more than its energy says (15 times, a block of 1e9 Pa whose step falls by 5e-14 J of
 * 1e-3). The slope then decides. */
static const double NOISE = 32.0;

double kiln_problem_search(kiln_problem *p, double limit, int most)
{
    const double *dx = p->newton->dx;
    double *trial = p->newton->trial;
    double slope = kiln_problem_dot(p, p->newton->g, dx), step = kiln_problem_feasible_step(p);
    p->barred = step < 1.0;
    /* Judged by the whole step: halving must not make a fall that fails to appear look like one
     * that rounding hides. */
    double rounding = 1e-9 * kiln_problem_magnitude(p);
    bool hidden = fabs(slope) * step <= 10 * rounding;
    double least = DBL_EPSILON * kiln_problem_largest(p, p->x), size = kiln_problem_largest(p, dx);
    for (int i = 0; i < most && step > 0.0; i++, step *= 0.5) {
        p->report->line_searches++;
        kiln_problem_try_step(p, step);
        double change = kiln_problem_find_change(p, trial);
        bool good = p->moving ? isfinite(change) : change < 0.0 && change <= 1e-4 * step * slope;
        bool last = step == 1.0 && size <= limit && isfinite(change);
        if (!good && (last || (hidden && change <= NOISE * rounding)))
            good = slope_is_fine(p, slope);
        if (good) {
            kiln_problem_take_change(p);
            return step;
        }
        if (step * size < least)
            break;
    }
    return 0.0;
}

static kiln_status take_linear_step(kiln_problem *p, kiln_error *error)
{
    kiln_newton *newton = p->newton;
    bool done;
    KILN_TRY(find_direction(p, &done, error));
    if (done)
        return KILN_OK;
    kiln_problem_try_step(p, 1.0);
    kiln_problem_move_to(p, newton->trial, true);
    p->report->outcome = KILN_NEWTON_LINEARISED;
    return KILN_OK;
}

static kiln_newton_outcome outcome_without_step(kiln_problem *p)
{
    if (p->moving)
        return KILN_NEWTON_BLOCKED;
    return gradient_is_rounding(p) ? KILN_NEWTON_CONVERGED : KILN_NEWTON_NO_DESCENT;
}

/* Without a line search every step is taken whole and values are never asked for. */
static kiln_status descend(kiln_problem *p, double limit, kiln_error *error)
{
    kiln_newton_report *report = p->report;
    double smallest = INFINITY;
    int shorts = 0, stagnant = 0, stalled = 0;
    bool search_line = p->options->line_search;
    while (report->iterations < p->options->max_iterations) {
        bool done, converged;
        KILN_TRY(kiln_may_go_on(p->newton->context, error));
        KILN_TRY(find_direction(p, &done, error));
        if (done)
            return KILN_OK;
        double size = kiln_problem_largest(p, p->newton->dx), step = 1.0;
        if (report->iterations == 1)
            limit = fmax(limit, p->options->relative * size);
        if (search_line)
            step = kiln_problem_search(p, limit, MOST_HALVINGS);
        else
            kiln_problem_try_step(p, 1.0);
        kiln_problem_watch_tail(p, size, step);
        shorts = p->moving && step < SHORT ? shorts + 1 : 0;
        if (step == 0.0 && kiln_solver_last(p->newton->solver)->single) {
            p->doubles = true; /* what single precision leaves may be all that there is to be had */
            continue;
        }
        if (step == 0.0 || shorts == MOST_SHORT_STEPS) {
            report->outcome = outcome_without_step(p);
            return KILN_OK;
        }
        if (p->options->farthest > 0.0 && step * size > p->options->farthest) {
            report->outcome = KILN_NEWTON_AWAY;
            return KILN_OK;
        }
        kiln_problem_move_to(p, p->newton->trial, step == 1.0);
        report->outcome = KILN_NEWTON_CONVERGED;
        stalled = size <= limit && !p->moving ? stalled + 1 : 0;
        if (stalled == STALLED ||
            (step == 1.0 && size <= fmax(limit, 4 * DBL_EPSILON * kiln_problem_largest(p, p->x))))
            return KILN_OK;
        if (search_line) {
            KILN_TRY(kiln_problem_go_on(p, size, step, limit, &converged, error));
            if (converged)
                return KILN_OK;
        }
        stagnant = size < 0.9 * smallest ? 0 : stagnant + 1;
        smallest = size < smallest ? size : smallest;
        if (stagnant >= STAGNATION && !p->moving && size < 1e-6 * p->options->length) {
            stagnant = 0;
            if (gradient_is_rounding(p))
                return KILN_OK;
        }
    }
    find_gap(p);
    report->outcome = p->moving || p->resting   ? KILN_NEWTON_BLOCKED
                      : gradient_is_rounding(p) ? KILN_NEWTON_CONVERGED
                                                : KILN_NEWTON_ITERATIONS;
    return KILN_OK;
}

/* N9: whether the rest is over, or there is none to be had. */
static kiln_status rest(kiln_problem *p, double limit, bool *rested, kiln_error *error)
{
    kiln_newton_report *report = p->report;
    *rested = false;
    if (report->iterations >= p->options->max_iterations)
        return KILN_OK;
    p->resting = true;
    KILN_TRY(descend(p, RESTED * limit, error));
    p->resting = false;
    *rested = kiln_newton_succeeded(report->outcome);
    if (report->outcome == KILN_NEWTON_NO_DESCENT)
        report->outcome = KILN_NEWTON_BLOCKED;
    return KILN_OK;
}

static kiln_status iterate(kiln_problem *p, kiln_error *error)
{
    double limit = p->options->tolerance * p->options->length, least = 0.0, last = INFINITY;
    for (bool rested = true; rested;) {
        KILN_TRY(descend(p, limit, error));
        if (p->report->outcome != KILN_NEWTON_BLOCKED || p->way > last - least)
            return KILN_OK;
        least = isinf(last) ? HELPED * p->way : least;
        last = p->way;
        KILN_TRY(rest(p, limit, &rested, error));
    }
    return KILN_OK;
}

static bool nothing_is_free(const kiln_constraints *constraints)
{
    for (size_t row = 0; row < constraints->rows; row++)
        if (constraints->held[row] != (1 << constraints->block) - 1)
            return false;
    return true;
}

kiln_status kiln_newton_minimise(kiln_newton *newton, const kiln_newton_options *options,
                                 kiln_term *const *terms, size_t term_count,
                                 const kiln_constraints *constraints, double *x,
                                 kiln_newton_report *report, kiln_error *error)
{
    kiln_problem p = {.newton = newton,
                      .options = options,
                      .terms = terms,
                      .term_count = term_count,
                      .count = constraints->block * constraints->rows,
                      .constraints = constraints,
                      .x = x,
                      .report = report,
                      .all_held = nothing_is_free(constraints)};
    *report = (kiln_newton_report){.outcome = KILN_NEWTON_ITERATIONS, .backend = "", .reason = ""};
    if (p.count == 0) {
        report->outcome = options->line_search ? KILN_NEWTON_CONVERGED : KILN_NEWTON_LINEARISED;
        return KILN_OK;
    }
    kiln_solver_reconsider(newton->solver);
    if (newton->saddle)
        kiln_saddle_reconsider(newton->saddle);
    KILN_TRY(make_room(&p, error));
    const kiln_solver_ground ground = {kiln_problem_find_lasting, &p};
    kiln_solver_set_ground(newton->solver, kiln_problem_some_pass(&p) ? &ground : NULL);
    kiln_status status = KILN_OK;
    if (!options->line_search && options->max_iterations == 1)
        status = take_linear_step(&p, error);
    else if (options->line_search && !kiln_problem_find_values(&p))
        report->outcome = KILN_NEWTON_BAD_START;
    else
        status = iterate(&p, error);
    kiln_solver_set_ground(newton->solver, NULL);
    KILN_TRY(status);
    bool valued = options->line_search && report->outcome != KILN_NEWTON_BAD_START;
    for (size_t t = 0; t < term_count && valued; t++)
        report->value += p.value[t];
    return KILN_OK;
}
