/* Finding x = G(x) where evaluating G is dear: Anderson's mixing (J. ACM 1965; type II). From the
 * last few evaluations it takes the combination whose residual is least, which on a linear G is
 * what GMRES does: it converges where repeating G does not. */
#ifndef KILN_SOLVE_FIXED_POINT_H
#define KILN_SOLVE_FIXED_POINT_H

#include "base/array.h"
#include "base/error.h"

enum { KILN_FIXED_POINT_DEPTH = 6 };

typedef struct kiln_fixed_point {
    kiln_f64_array past; /* [2 + 2 * DEPTH][size] x and residual before, their changes in a ring */
    size_t size;
    int evaluations; /* since begin */
} kiln_fixed_point;

void kiln_fixed_point_free(kiln_fixed_point *point, kiln_context *context);
/* Room for vectors of `size`; nothing is known of G. */
kiln_status kiln_fixed_point_begin(kiln_fixed_point *point, kiln_context *context, size_t size,
                                   kiln_error *error);
/* G has been found at x to be g; x becomes where to look next. The first time that is g. */
void kiln_fixed_point_next(kiln_fixed_point *point, const double *g, double *x);

#endif
