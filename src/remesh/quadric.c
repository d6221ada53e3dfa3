#include "remesh/quadric.h"

void kiln_quadric_add(kiln_quadric *q, kiln_vec3 point, kiln_vec3 n, double altitude)
{
    double weight = 1.0 / (altitude * altitude);
    double offset = kiln_v3_dot(n, kiln_v3_sub(q->origin, point));
    kiln_sym3 nn = {n.x * n.x, n.y * n.y, n.z * n.z, n.y * n.z, n.x * n.z, n.x * n.y};
    q->A = kiln_sym3_madd(q->A, weight, nn);
    q->b = kiln_v3_madd(q->b, weight * offset, n);
    q->c += weight * offset * offset;
}
