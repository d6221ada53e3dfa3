/* Solves that are not exact, without a sum in what they leave.
 *
 * Where nothing holds a body, the sum of its forces is linear in its places, and a Newton step that
 * solves for all of it balances it at once and for good: momentum. A step that leaves a millionth
 * of the forces leaves as much of their sum. Here every part of the matrix (rows that are coupled)
 * is moved as a whole such that what is left has no sum over it: the error along these motions,
 * which are known, is taken away (Galerkin), as far as the constraints let the part move. */
#ifndef KILN_SOLVE_BALANCE_H
#define KILN_SOLVE_BALANCE_H

#include "solve/constraints.h"

typedef struct kiln_balance {
    size_t parts;
    kiln_u32_array part;   /* [row]; 0: held in all directions */
    kiln_f64_array push;   /* [n][row][n] forces of moving all parts by 1 along each axis */
    kiln_f64_array factor; /* [part][n][n] L D L' of their sums; D is 0 where it cannot move */
    kiln_f64_array room;   /* sums of parts, and a vector */
} kiln_balance;

void kiln_balance_free(kiln_balance *balance, kiln_context *context);
/* For a matrix to which the constraints have been applied. */
kiln_status kiln_balance_find(kiln_balance *balance, const kiln_bsr *matrix,
                              const kiln_constraints *constraints, kiln_error *error);
/* x, which nearly solves for b (another array), with the parts moved; b is zero where held. */
void kiln_balance_restore(kiln_balance *balance, const kiln_constraints *constraints,
                          const double *b, double *x);

#endif
