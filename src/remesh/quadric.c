#include "remesh/quadric.h"

void kiln_quadric_set(kiln_quadric *q, kiln_vec3 axis, double weight, bool line)
{
    kiln_vec3 n = axis;
    kiln_sym3 along = {n.x * n.x, n.y * n.y, n.z * n.z, n.y * n.z, n.x * n.z, n.x * n.y};
    kiln_sym3 all = kiln_sym3_scale(kiln_sym3_identity(), weight);
    q->A = line ? kiln_sym3_madd(all, -weight, along) : kiln_sym3_scale(along, weight);
}

double kiln_quadric_weight(const kiln_quadric *q, bool line)
{
    double trace = q->A.xx + q->A.yy + q->A.zz;
    return line ? 0.5 * trace : trace;
}
