/* The inside of the multifrontal solver, shared by solver_multifrontal.c (the analysis, what the
 * factor is made of, and its invariants) and multifrontal_numbers.c (the factor and solves with
 * it). */
#ifndef KILN_SOLVE_MULTIFRONTAL_H
#define KILN_SOLVE_MULTIFRONTAL_H

#include "solve/dissect.h"
#include "solve/front.h"
#include "solve/solver_backend.h"
#include "solve/tree_cut.h"

enum { KILN_FRONT_ROOM = 1 + KILN_STRIP }; /* for a solve: a front's values, and sums */

/* Where the numbers of a node are. */
typedef struct kiln_front_home {
    uint64_t L;     /* in self.L */
    uint64_t U;     /* in the heap of the top, or of whoever does the task */
    uint64_t size;  /* of U */
    uint64_t carry; /* in self.carry */
    bool shared;    /* U is in the heap of the top */
} kiln_front_home;

typedef struct kiln_multifrontal {
    kiln_context *context;
    kiln_symbolic symbolic;
    uint32_t block;
    kiln_front_home *home;          /* [node] */
    kiln_tree_cut by_work, by_size; /* for the factor and for solves */
    kiln_f64_array L, shared, own, carry, vector;
    kiln_u32_array scalar;      /* [worker] targets of a child's rows; scratch */
    size_t L_size, shared_size; /* numbers */
    size_t own_size;            /* of the heap of one worker */
    size_t widest;              /* rows of a front at most */
    double flops, entries;

    const kiln_solver_ground *ground; /* of the next analysis; NULL: none. Borrowed */
    kiln_solver_aside *aside;         /* of the next analysis; NULL: none. Borrowed */
    kiln_dissection base;             /* the order of what lasts, */
    uint64_t base_pattern;
    bool based;             /* if there is one */
    kiln_dissection recent; /* F5: the last order found anew for more, */
    bool recently;          /* if there is one */
    bool begun;             /* there was a factor since reconsidering */
    bool pure;              /* the analysis depends on ground and pattern alone */

    const kiln_front_kernels *kernels; /* of the factor there is */
    bool quasidefinite;                /* F7 */
    bool may_be_single, wary;          /* F6: asked for; not good enough before */
    bool single, checked;              /* the factor is; a solve with it was looked at */
    kiln_f64_array scale;              /* F6: [row][block] powers of two */
    double largest_scale;
    kiln_f64_array scratch; /* F6: [3][row][block] */

    const kiln_bsr *matrix; /* while it factors */
    bool *failed;           /* [task, or node of a level] not positive definite */
    const uint32_t *level;  /* nodes that are factored at the same time */
    double *x;              /* while it solves, [place]; from: */
    const double *right;    /* [row], which may be the same as */
    double *result;         /* [row] */
    double unit;            /* F6: of the right side, a power of two */
    bool *empty;            /* [node] nothing comes from it or from below */
} kiln_multifrontal;

KILN_INLINE const kiln_supernode *kiln_node_at(const kiln_multifrontal *m, uint32_t i)
{
    return &m->symbolic.node[i];
}

KILN_INLINE size_t kiln_node_columns(const kiln_multifrontal *m, uint32_t i)
{
    return KILN_STRIP * kiln_strips_of((size_t)m->block * kiln_node_at(m, i)->width);
}

KILN_INLINE size_t kiln_node_strips_below(const kiln_multifrontal *m, uint32_t i)
{
    return kiln_strips_of((size_t)m->block * kiln_node_at(m, i)->rows);
}

KILN_INLINE double kiln_cube_sum(double n)
{
    return n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
}

KILN_INLINE double kiln_node_work(const kiln_multifrontal *m, uint32_t i)
{
    double rows = (double)m->block * kiln_node_at(m, i)->rows;
    return kiln_cube_sum(rows + (double)m->block * kiln_node_at(m, i)->width) - kiln_cube_sum(rows);
}

/* The factor of the matrix in the precision that was chosen; *good false: it is not positive
 * definite. */
kiln_status kiln_multifrontal_factor(kiln_multifrontal *m, const kiln_bsr *matrix, bool *good,
                                     kiln_error *error);
/* With that factor. b and x may be the same array. */
void kiln_multifrontal_solve(kiln_multifrontal *m, const double *b, double *x);

#endif
