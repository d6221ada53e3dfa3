/* True Hessians (newton.c, N5 and N12). */
#include "solve/newton_impl.h"

enum {
    EARLIEST = 2, /* iterations before: most solves end without a tail */
    DELAY = 2     /* iterations with PSD parts after a matrix that was not positive definite */
};

/* Of the length: a step farther than this is no tail, and its true Hessian leads to another minimum
 * as often as to this one. */
static const double NEAR = 1e-3;

bool kiln_problem_set_exact(const kiln_problem *p, bool exact)
{
    bool wanted = false;
    bool near = exact && p->true_from > 0 && p->report->iterations >= p->true_from;
    for (size_t t = 0; t < p->term_count; t++) {
        const kiln_term *term = p->terms[t];
        if (term->set_near)
            term->set_near(term->self, near);
        if (term->set_exact)
            wanted |= term->set_exact(term->self, exact);
    }
    return wanted;
}

void kiln_problem_watch_tail(kiln_problem *p, double size, double step)
{
    bool near = step == 1.0 && size <= NEAR * p->options->length && !p->moving &&
                !p->newton->equality && kiln_problem_follows(p);
    int from = p->true_from > EARLIEST ? p->true_from : EARLIEST;
    p->true_from = near ? from : 0;
}

void kiln_problem_delay_tail(kiln_problem *p)
{
    p->true_from = p->report->iterations + 1 + DELAY;
}
