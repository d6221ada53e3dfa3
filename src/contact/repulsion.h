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
#include <stdbool.h>

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

/* The repulsion over a step that begins at s0 and ends at s1, as a function of s1: with the secant
 * of b for its slope the force does as much work as the energy b changes by, so that an integrator
 * that moves by the mean velocity (newmark) keeps the sum of both; b' itself would take some when
 * things meet and again when they part. Where they come nearer than an eighth of the reach, what
 * b(8 s) takes is not given back: a secant from afar is not infinite enough to stop anything.
 * `curved`: nor is what things take that meet otherwise than before a plane, where the distance
 * changes by less than the normal of the end says, and the secant would give more than there was.
 * `calm`: the part of b' itself in the mean with the secant, before planes; it takes what trembles.
 * Convex; 0 at s0, or where s0 is beyond the reach at its end. */
kiln_repulsion kiln_repulsion_over(double s0, double s1, bool curved, double calm);
/* By how much more b falls than b' of the end says: not negative, b is convex. */
double kiln_repulsion_loss(double s0, double s1);

#endif
