/* The quadric error of a surface vertex (DLR 4.3): Q(x) = sum of d_i^2 / a_i^2 over its faces, a_i
 * the altitude of the vertex in face i. In DLR d_i is the distance from the plane of face i, which
 * on a curved surface resists sliding as much as leaving; here it is the distance from the tangent
 * plane (or line) of the begin-of-pass surface under the vertex, so Q = weight * d^2. Kept relative
 * to an origin close by, so that it does not cancel. */
#ifndef KILN_REMESH_QUADRIC_H
#define KILN_REMESH_QUADRIC_H

#include "geom/sym3.h"

#include <stdbool.h>

typedef struct kiln_quadric {
    kiln_sym3 A; /* Q = (x - origin)' A (x - origin) */
    kiln_vec3 origin;
} kiln_quadric;

KILN_INLINE double kiln_quadric_value(const kiln_quadric *q, kiln_vec3 x)
{
    kiln_vec3 d = kiln_v3_sub(x, q->origin);
    return kiln_v3_dot(d, kiln_sym3_apply(q->A, d));
}
KILN_INLINE kiln_vec3 kiln_quadric_gradient(const kiln_quadric *q, kiln_vec3 x)
{
    return kiln_v3_scale(kiln_sym3_apply(q->A, kiln_v3_sub(x, q->origin)), 2.0);
}

/* Q(x) = weight times the squared distance from the plane through the origin with that normal, or
 * (`line`) from the line through it with that direction. */
void kiln_quadric_set(kiln_quadric *q, kiln_vec3 axis, double weight, bool line);
/* The weight it was set with. */
double kiln_quadric_weight(const kiln_quadric *q, bool line);

/* alpha - beta Q, compared with the qualities of tets (DLR 4.3). */
#define KILN_QUADRIC_ALPHA 0.8
#define KILN_QUADRIC_BETA  1200.0

#endif
