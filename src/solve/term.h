/* One term of the objective a step minimises: inertia, elasticity, damping, loads, friction,
 * repulsion; later surface tension. x, g and dx are [row][n] (unknowns.h); for a whole solid rows
 * are the vertex slots of its mesh and n is 3. */
#ifndef KILN_SOLVE_TERM_H
#define KILN_SOLVE_TERM_H

#include "solve/bsr.h"

typedef struct kiln_term {
    const char *name;
    void *self;    /* borrowed */
    double weight; /* the objective is the sum of weight * value */

    /* INFINITY where the term is not defined (an inverted tet of a material with a barrier). */
    double (*value)(void *self, const double *x);
    /* value(x1) - value(x0), as a sum of differences stencil by stencil (tet, vertex, pair), so
     * that a change is seen that is far below the rounding of either value. The term is defined at
     * x0; INFINITY where it is not at x1. May keep what it found at x0 and x1: whoever changes what
     * the value depends on without the term's functions asks for a value first. NULL: the
     * difference of the values. */
    double (*delta)(void *self, const double *x0, const double *x1);
    /* g += scale * gradient and, unless H is NULL, H += scale * (PSD part of the) Hessian. */
    void (*add)(void *self, const double *x, double scale, double *g, kiln_bsr *H);
    /* From now on `add` gives the Hessian as it is, or its PSD part again (as at first). Returns
     * whether that is asked for: where the two differ and the true one is worth a try, because
     * what the projection adds would be most of the stiffness (matter that flows). NULL: never. */
    bool (*set_exact)(void *self, bool exact);
    /* From now on x is near a minimum that Newton comes nearer to by small parts only (or no
     * longer): set_exact asks for the true Hessian of whatever has one. NULL: it asks as always. */
    void (*set_near)(void *self, bool near);
    /* out += scale * (derivative of the gradient at x, less what the last `add` gave of it) v, for
     * forces that have no potential; NULL: nothing is left. */
    void (*add_rest)(void *self, const double *x, double scale, const double *v, double *out);
    /* For what is quick to look at and changes in few directions (what touches): `note` keeps by
     * how much the Hessian at x, as it is, differs from what the last matrix got of it, and
     * `add_noted` gives out += scale * that * v. NULL: not known. */
    void (*note)(void *self, const double *x);
    void (*add_noted)(void *self, double scale, const double *v, double *out);
    /* Largest step in (0, 1] along dx that stays where the term is defined; NULL: 1. */
    double (*max_step)(void *self, const double *x, const double *dx);
    /* The cliques its Hessian couples; NULL: diagonal blocks only. May be asked again whenever
     * `revision` has changed. */
    kiln_cliques (*cliques)(void *self);
    uint64_t revision; /* changes with the cliques */
    bool passing;      /* its cliques come and go during a solve: contact */
    /* Before each assembly of a Newton solve, at its x: the term may change its stencils, and then
     * its revision (pairs that come near before they act), or the place where a force that has no
     * potential is looked at. Newton asks for the cliques again and goes on. NULL: never. */
    kiln_status (*renew)(void *self, const double *x, kiln_error *error);
    /* Renews what is held constant during a Newton solve (follower loads, friction) at x. Returns
     * by how much the term's force changed, relative to the force; NULL: nothing is. */
    double (*lag)(void *self, const double *x);
    /* Before the first `add` with a matrix of that pattern: look up block numbers. NULL: none. */
    kiln_status (*attach)(void *self, const kiln_bsr *H, kiln_error *error);
} kiln_term;

/* Its delta, or the difference of its values. */
KILN_INLINE double kiln_term_delta(const kiln_term *term, const double *x0, const double *x1)
{
    return term->delta ? term->delta(term->self, x0, x1)
                       : term->value(term->self, x1) - term->value(term->self, x0);
}

#endif
