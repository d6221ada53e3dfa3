/* Points that make predicates wrong when they can be: random, exactly and nearly degenerate, with
 * huge, tiny and mixed exponents. */
#ifndef KILN_TESTS_HARD_POINTS_H
#define KILN_TESTS_HARD_POINTS_H

#include "base/random.h"
#include "geom/vec3.h"

enum hard_family {
    HARD_RANDOM,
    HARD_GRID,          /* small integers: exact zeros are common */
    HARD_GRID_NUDGED,   /* one coordinate off by a few ulps */
    HARD_COMBINED,      /* the last point a rounded affine combination of the first three */
    HARD_COMBINED_FAR,  /* the same, far from the origin */
    HARD_COMBINED_WIDE, /* the same, exponents spread over 2^-60 .. 2^60 */
    HARD_UNDERFLOW,     /* combined, products of x and y lose bits in the subnormals, z anything */
    HARD_HUGE,          /* combined, up to the largest doubles */
    HARD_TINY,          /* combined, in the subnormals */
    HARD_MIXED,         /* any exponent for each coordinate */
    HARD_GRID_MIXED,    /* grid, each axis scaled by its own power of two */
    HARD_FAMILIES
};

static inline double *hard_at(kiln_vec3 *p, int axis)
{
    return axis == 0 ? &p->x : axis == 1 ? &p->y : &p->z;
}

static inline double hard_coordinate(kiln_random *random, enum hard_family family, int exponent)
{
    double x = kiln_random_range(random, -1.0, 1.0);
    switch (family) {
    case HARD_GRID:
    case HARD_GRID_NUDGED:
        return (double)kiln_random_below(random, 5) - 2.0;
    case HARD_UNDERFLOW:
        return ldexp(x, exponent);
    case HARD_GRID_MIXED:
        return ldexp((double)kiln_random_below(random, 5) - 2.0, exponent);
    case HARD_COMBINED_FAR:
        return 1e6 + x;
    case HARD_COMBINED_WIDE:
        return ldexp(x, (int)kiln_random_below(random, 121) - 60);
    case HARD_HUGE:
        return ldexp(x, 1022);
    case HARD_TINY:
        return ldexp(x, -1040);
    case HARD_MIXED:
        return ldexp(x, (int)kiln_random_below(random, 2094) - 1073);
    default:
        return x;
    }
}

/* The point s p0 + t p1 + (1-s-t) p2, rounded; s, t dyadic half of the time, and zero at times. */
static inline kiln_vec3 hard_combination(kiln_random *random, const kiln_vec3 p[3])
{
    double s = 0.5 * kiln_random_unit(random), t = 0.5 * kiln_random_unit(random);
    if (kiln_random_below(random, 2) == 0) {
        s = 0.125 * kiln_random_below(random, 5);
        t = 0.125 * kiln_random_below(random, 5);
    }
    return kiln_v3_madd(kiln_v3_madd(kiln_v3_scale(p[2], 1.0 - s - t), s, p[0]), t, p[1]);
}

static inline void hard_points(kiln_random *random, enum hard_family family, int count,
                               kiln_vec3 *p)
{
    for (int axis = 0; axis < 3; axis++) {
        int exponent = (int)kiln_random_below(random, 2093) - 1073;
        if (family == HARD_UNDERFLOW)
            exponent = axis < 2 ? (int)kiln_random_below(random, 8) - 540 : exponent / 2;
        for (int i = 0; i < count; i++)
            *hard_at(&p[i], axis) = hard_coordinate(random, family, exponent);
    }
    if (family == HARD_GRID_NUDGED) {
        double *x = hard_at(&p[kiln_random_below(random, (uint32_t)count)],
                            (int)kiln_random_below(random, 3));
        for (uint32_t ulps = kiln_random_below(random, 3); ulps > 0; ulps--)
            *x = nextafter(*x, 10.0);
    }
    if (family >= HARD_COMBINED && family <= HARD_TINY && count > 3)
        p[count - 1] = hard_combination(random, p);
}

#endif
