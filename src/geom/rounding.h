/* What the coordinates of points were rounded to, as doubles or, where every one of them is a
 * float, as floats: nothing closer than that is a fact of the geometry. Zero-initialised is no
 * point. */
#ifndef KILN_GEOM_ROUNDING_H
#define KILN_GEOM_ROUNDING_H

#include "geom/vec3.h"

#include <stdbool.h>

typedef struct kiln_rounding {
    double largest; /* coordinate, absolute */
    bool doubles;   /* one at least is no float */
} kiln_rounding;

static inline void kiln_rounding_add(kiln_rounding *rounding, kiln_vec3 point)
{
    const double p[3] = {point.x, point.y, point.z};
    for (int k = 0; k < 3; k++) {
        rounding->largest = fmax(rounding->largest, fabs(p[k]));
        rounding->doubles = rounding->doubles || (double)(float)p[k] != p[k];
    }
}

/* Half a unit in the last place of the largest coordinate, with some room. */
static inline double kiln_rounding_length(const kiln_rounding *rounding)
{
    return rounding->largest * (rounding->doubles ? 3.6e-15 : 2.4e-7);
}

#endif
