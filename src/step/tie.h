/* The directions in which a vertex is held, for patches: components of the world, or one direction
 * that is turned, or all that are across one. */
#ifndef KILN_STEP_TIE_H
#define KILN_STEP_TIE_H

#include "geom/vec3.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    KILN_TIE_ALL = 7,   /* bits x 1, y 2, z 4 */
    KILN_TIE_ALONG = 8, /* the axis; or */
    KILN_TIE_ACROSS = 16
};

typedef struct kiln_tie {
    uint32_t bits;
    kiln_vec3 axis; /* unit; of the turned ones */
} kiln_tie;

/* Along these directions, which are orthonormal. */
kiln_tie kiln_tie_of(const kiln_vec3 *direction, int count);
/* What both have. */
kiln_tie kiln_tie_common(kiln_tie a, kiln_tie b);
bool kiln_tie_is_same(kiln_tie a, kiln_tie b);
/* The part of a vector, or of both sides of a matrix, that is free. */
kiln_mat3 kiln_tie_free(kiln_tie tie);

#endif
