/* The inside of kiln_newton, shared by newton.c (the iteration, and its invariants) and
 * newton_again.c (steps with a factor that is there already). */
#ifndef KILN_SOLVE_NEWTON_IMPL_H
#define KILN_SOLVE_NEWTON_IMPL_H

#include "solve/amend.h"
#include "solve/balance.h"
#include "solve/gcr.h"
#include "solve/newton.h"
#include "solve/saddle.h"
#include "solve/secants.h"

enum { KILN_NEWTON_VECTORS = 7 };

struct kiln_newton {
    kiln_context *context;
    kiln_solver *solver;
    kiln_bsr matrix;
    uint64_t key[2]; /* of rows and terms the matrix is right for */
    bool keyed;
    kiln_bsr lasting; /* the pattern of what lasts, where some couplings pass, */
    uint64_t lasts;   /* of terms with this key; 0: there is none */
    enum { EXPECTS_NOTHING, EXPECTS_ROWS, EXPECTS_ANYTHING } expects;
    uint64_t coupling;      /* key of the terms of the last assembly that couple rows */
    kiln_u32_array changed; /* rows whose cliques will be others */
    kiln_cliques around;    /* all that these rows will be in */
    size_t count;           /* coordinates the vectors have room for */
    double *vectors;        /* [KILN_NEWTON_VECTORS][count] */
    double *g, *rhs, *dx, *gap, *trial, *diagonal; /* parts of it, */
    double *lead;                                  /* and the matrix times the gap */
    kiln_f64_array values;                         /* [2][term] */
    kiln_gcr gcr;                                  /* where a term has more than a potential */
    kiln_secants secants;                          /* N6 */
    kiln_amend amend;                              /* N8 */
    kiln_balance balance;                          /* N10 */
    const kiln_equality *equality;                 /* N11; NULL: none */
    kiln_saddle *saddle;                           /* made when it is first needed */
    kiln_solver_options options;                   /* for it */
    kiln_f64_array multipliers;                    /* [2][row]: e, and their change */
};

/* One call of kiln_newton_minimise. */
typedef struct kiln_problem {
    kiln_newton *newton;
    const kiln_newton_options *options;
    kiln_term *const *terms;
    size_t term_count, count; /* coordinates */
    const kiln_constraints *constraints;
    double *x;
    kiln_newton_report *report;
    double *value, *change; /* [term] weight * value at x, and by how much a step changes it */
    double forces; /* largest norm of a sum over the first terms, where renew_lagged asks */
    double left;   /* of the way to the targets, since the last matrix */
    double way;    /* to the targets at most, at the last direction */
    bool moving;   /* held unknowns are not at their targets, */
    bool resting;  /* and stay where they are for the time being (N9) */
    bool doubles;  /* factors of single precision found no way on */
    bool single;   /* the factor may be of single precision */
    bool barred;   /* a term did not allow the whole of the last step */
    bool closed;   /* N11: what is kept cannot be */
    bool all_held;
    int true_from; /* N12: the iteration from which true Hessians are tried; 0: none is */
} kiln_problem;

double kiln_problem_dot(const kiln_problem *p, const double *a, const double *b);
double kiln_problem_largest(const kiln_problem *p, const double *v); /* of |v| */
/* trial = x + step dx */
void kiln_problem_try_step(const kiln_problem *p, double step);
/* The terms' values at x; false where one is not defined. */
bool kiln_problem_find_values(kiln_problem *p);
/* N5. Hessians as they are from now on, or their PSD parts; whether a term asks for it. */
bool kiln_problem_set_exact(const kiln_problem *p, bool exact);
/* N12: before the next iteration, after `step` of the last one; and where its matrix turned out not
 * to be positive definite. */
void kiln_problem_watch_tail(kiln_problem *p, double size, double step);
void kiln_problem_delay_tail(kiln_problem *p);
/* By how much the objective changes from x to `to`, and by how much each term in p->change.
 * INFINITY where one is not defined. */
double kiln_problem_find_change(kiln_problem *p, const double *to);
void kiln_problem_take_change(kiln_problem *p);
double kiln_problem_magnitude(const kiln_problem *p); /* sum of the terms' absolute values */
void kiln_problem_assemble(kiln_problem *p, const double *x, double *g, kiln_bsr *H);
/* With the factor, and with N7 in the second. */
kiln_status kiln_problem_solve_symmetric(kiln_problem *p, const double *rhs, double *dx,
                                         kiln_solve_outcome *outcome, kiln_error *error);
kiln_status kiln_problem_solve(kiln_problem *p, const double *rhs, double *dx,
                               kiln_solve_outcome *outcome, kiln_error *error);
bool kiln_problem_has_rest(const kiln_problem *p); /* N7 */
double kiln_problem_feasible_step(const kiln_problem *p);
/* Largest acceptable step in newton->trial, after fewer than `most` halvings; 0 when there is none.
 * A full step of at most `limit` would be the last one. */
double kiln_problem_search(kiln_problem *p, double limit, int most);
/* x to `to`; after a full step held components are at their targets, without rounding. */
void kiln_problem_move_to(kiln_problem *p, const double *to, bool full);

/* N11: dx and newton->g from what is assembled, with the multipliers that belong to it. */
kiln_status kiln_problem_solve_equal(kiln_problem *p, kiln_solve_outcome *outcome,
                                     kiln_error *error);

/* Whether steps with the factor at hand will be those of N8. */
bool kiln_problem_follows(const kiln_problem *p);
/* Steps with the factor at hand, after `step` times a direction of size `last`. */
kiln_status kiln_problem_go_on(kiln_problem *p, double last, double step, double limit,
                               bool *converged, kiln_error *error);

/* Of the matrix, and its block numbers (newton_pattern.c). */
kiln_status kiln_problem_prepare_matrix(kiln_problem *p, kiln_error *error);
bool kiln_problem_some_pass(const kiln_problem *p);
/* The ground of the solver, where some couplings pass; `user` is the problem. */
kiln_status kiln_problem_find_lasting(void *user, const kiln_bsr **pattern, kiln_error *error);

#endif
