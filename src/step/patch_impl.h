/* The matrix of a patch, between patch.c, which fills it, and patch_factor.c, which solves. */
#ifndef KILN_STEP_PATCH_IMPL_H
#define KILN_STEP_PATCH_IMPL_H

#include "step/patch.h"

/* What a row is made of. */
typedef struct kiln_patch_vertex {
    kiln_vec3 u, x, centre, force;
    uint8_t held;
} kiln_patch_vertex;

/* Scalar row k of the upper triangle from its diagonal on; row 3 i + r holds the columns from 3 i
 * to the last that is free. */
KILN_INLINE double *kiln_patch_row(const kiln_patch *p, size_t k)
{
    size_t i = k / 3, r = k % 3, length = 3 * (p->free - i + 1);
    return p->blocks.data + 9 * p->start.data[i] + r * length + r;
}

kiln_status kiln_patch_reserve_factor(kiln_patch *patch, kiln_error *error);
/* Of the free part; false: not positive definite. */
bool kiln_patch_factor(kiln_patch *patch);
/* patch->step = -H^-1 g. */
void kiln_patch_solve(kiln_patch *patch);

#endif
