/* The energy of repulsion between two places at distance d = s * reach:
 * stiffness * area * reach * b(s), b = -(s - 1)^2 ln s below 1 and 0 beyond.
 *
 * b is twice continuously differentiable at 1, convex, and infinite at 0, so that no force can
 * press things through each other; the pressure is stiffness * -b'(s). With the stiffness of the
 * bodies' own modulus a hundredth of it as pressure leaves s = 0.94, all of it 0.54. */
#ifndef KILN_CONTACT_REPULSION_H
#define KILN_CONTACT_REPULSION_H

#include "base/platform.h"

#include <math.h>

typedef struct kiln_repulsion {
    double value, slope, curvature; /* b, b', b'' */
} kiln_repulsion;

KILN_INLINE kiln_repulsion kiln_repulsion_at(double s)
{
    if (s >= 1.0)
        return (kiln_repulsion){0.0, 0.0, 0.0};
    if (!(s > 0.0))
        return (kiln_repulsion){INFINITY, -INFINITY, INFINITY};
    double y = s - 1.0, ln = s > 0.9 ? log1p(y) : log(s), per = y / s;
    return (kiln_repulsion){-y * y * ln, -2.0 * y * ln - y * per,
                            -2.0 * ln - 4.0 * per + per * per};
}

#endif
