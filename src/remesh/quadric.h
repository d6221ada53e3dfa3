/* The quadric error of a surface vertex, Q(x) = sum of d_i^2 / a_i^2 over the planes i of its
 * faces, d_i the distance and a_i the altitude of the vertex in face i (DLR 4.3). Kept relative to
 * an origin close by, so that it does not cancel. */
#ifndef KILN_REMESH_QUADRIC_H
#define KILN_REMESH_QUADRIC_H

#include "geom/sym3.h"

typedef struct kiln_quadric {
    kiln_sym3 A; /* sum of n n' / a^2; the gradient of Q is 2 (A (x - origin) + b) */
    kiln_vec3 b;
    double c;
    kiln_vec3 origin;
} kiln_quadric;

KILN_INLINE double kiln_quadric_value(const kiln_quadric *q, kiln_vec3 x)
{
    kiln_vec3 d = kiln_v3_sub(x, q->origin);
    return kiln_v3_dot(d, kiln_v3_add(kiln_sym3_apply(q->A, d), kiln_v3_scale(q->b, 2.0))) + q->c;
}
KILN_INLINE kiln_vec3 kiln_quadric_gradient(const kiln_quadric *q, kiln_vec3 x)
{
    kiln_vec3 d = kiln_v3_sub(x, q->origin);
    return kiln_v3_scale(kiln_v3_add(kiln_sym3_apply(q->A, d), q->b), 2.0);
}

/* Adds the plane through `point` with unit normal n, weighted by 1 / altitude^2. */
void kiln_quadric_add(kiln_quadric *q, kiln_vec3 point, kiln_vec3 n, double altitude);

/* alpha - beta Q, compared with the qualities of tets (DLR 4.3). */
#define KILN_QUADRIC_ALPHA 0.8
#define KILN_QUADRIC_BETA  1200.0

#endif
