/* Exact geometric predicates: the sign of the result is the sign of the determinant in exact
 * arithmetic, for all finite coordinates. Not-finite input breaks the contract.
 *
 * Each predicate evaluates the determinant in floating point with a bound on its rounding error
 * (inlined here); only when the bound does not decide the sign, an out-of-line integer evaluation
 * does. The bounds are those of Shewchuk ("Adaptive Precision Floating-Point Arithmetic and Fast
 * Robust Geometric Predicates", 1997) rounded up to a power of two, plus a term for underflow:
 * a product that underflows is off by at most 2^-1075, times the factors still to come. An overflow
 * makes the bound infinite or NaN, which decides nothing either.
 *
 * The value approximates the determinant and keeps the sign even where the determinant underflows
 * or overflows. It does not depend on the instruction set. */
#ifndef KILN_GEOM_PREDICATES_H
#define KILN_GEOM_PREDICATES_H

#include "geom/vec3.h"

double kiln_orient3d_exact(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d);

/* det(b-a, c-a, d-a): positive for a positive tet, six times its volume. */
KILN_INLINE double kiln_orient3d(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    kiln_vec3 u = kiln_v3_sub(b, a), v = kiln_v3_sub(c, a), w = kiln_v3_sub(d, a);
    double vxwy = v.x * w.y, vywx = v.y * w.x;
    double wxuy = w.x * u.y, wyux = w.y * u.x;
    double uxvy = u.x * v.y, uyvx = u.y * v.x;
    double det = u.z * (vxwy - vywx) + v.z * (wxuy - wyux) + w.z * (uxvy - uyvx);
    double uz = fabs(u.z), vz = fabs(v.z), wz = fabs(w.z);
    double permanent = uz * (fabs(vxwy) + fabs(vywx)) + vz * (fabs(wxuy) + fabs(wyux)) +
                       wz * (fabs(uxvy) + fabs(uyvx));
    double bound = 0x1p-50 * permanent + 0x1p-900 * (uz + vz + wz + 1.0);
    if (KILN_LIKELY(fabs(det) > bound))
        return det;
    return kiln_orient3d_exact(a, b, c, d);
}

KILN_INLINE int kiln_sign(double value)
{
    return (value > 0.0) - (value < 0.0);
}

KILN_INLINE int kiln_orient3d_sign(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    return kiln_sign(kiln_orient3d(a, b, c, d));
}

#endif
