/* Multiples of its diagonal, added to a matrix that is not positive definite. */
#ifndef KILN_SOLVE_DIAGONAL_H
#define KILN_SOLVE_DIAGONAL_H

#include "solve/bsr.h"

double kiln_diagonal_mean(const kiln_bsr *matrix); /* of its sizes; 1 where that is no scale */
/* Its sizes, away from zero by a part of the mean, to be added: [row][block]. */
void kiln_diagonal_keep(const kiln_bsr *matrix, double mean, double *diagonal);
void kiln_diagonal_add(kiln_bsr *matrix, double factor, const double *diagonal);

#endif
