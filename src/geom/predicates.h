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

#include "base/simd.h"
#include "geom/vec3.h"

#include <stdbool.h>
#include <stddef.h>

KILN_INLINE int kiln_sign(double value)
{
    return (value > 0.0) - (value < 0.0);
}

/* The exact stages alone; the predicates below call them when their filter does not decide. */
double kiln_orient2d_exact(double ax, double ay, double bx, double by, double cx, double cy);
double kiln_orient3d_exact(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d);
double kiln_insphere_exact(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d, kiln_vec3 e);

/* det(b-a, c-a) in the plane: positive when a, b, c turn anticlockwise. */
KILN_INLINE double kiln_orient2d(double ax, double ay, double bx, double by, double cx, double cy)
{
    double left = (bx - ax) * (cy - ay), right = (by - ay) * (cx - ax);
    double det = left - right;
    if (KILN_LIKELY(fabs(det) > 0x1p-51 * (fabs(left) + fabs(right)) + 0x1p-900))
        return det;
    return kiln_orient2d_exact(ax, ay, bx, by, cx, cy);
}

/* The filter of kiln_orient3d: true when the sign of *det is certain. */
KILN_INLINE bool kiln_orient3d_filter(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d,
                                      double *det)
{
    kiln_vec3 u = kiln_v3_sub(b, a), v = kiln_v3_sub(c, a), w = kiln_v3_sub(d, a);
    double vxwy = v.x * w.y, vywx = v.y * w.x;
    double wxuy = w.x * u.y, wyux = w.y * u.x;
    double uxvy = u.x * v.y, uyvx = u.y * v.x;
    double uz = fabs(u.z), vz = fabs(v.z), wz = fabs(w.z);
    double permanent = uz * (fabs(vxwy) + fabs(vywx)) + vz * (fabs(wxuy) + fabs(wyux)) +
                       wz * (fabs(uxvy) + fabs(uyvx));
    *det = u.z * (vxwy - vywx) + v.z * (wxuy - wyux) + w.z * (uxvy - uyvx);
    return fabs(*det) > 0x1p-50 * permanent + 0x1p-900 * (uz + vz + wz + 1.0);
}

/* det(b-a, c-a, d-a): positive for a positive tet, six times its volume. */
KILN_INLINE double kiln_orient3d(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    double det;
    if (KILN_LIKELY(kiln_orient3d_filter(a, b, c, d, &det)))
        return det;
    return kiln_orient3d_exact(a, b, c, d);
}

KILN_INLINE int kiln_orient3d_sign(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    return kiln_sign(kiln_orient3d(a, b, c, d));
}

/* Positive when e is inside the circumsphere of the positive tet abcd, zero when it is on it. For a
 * negative tet the sign is reversed; a flat one has no sphere, and no meaning should be read into
 * the sign. */
double kiln_insphere(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d, kiln_vec3 e);

/* Points a, b, c, d as [axis][item]. */
typedef struct kiln_orient3d_lanes {
    const double *a[3], *b[3], *c[3], *d[3];
} kiln_orient3d_lanes;

/* det[i] = kiln_orient3d of item i, the same bits on every instruction set. Returns how many items
 * the filter did not decide. */
size_t kiln_orient3d_batch(kiln_isa isa, size_t count, const kiln_orient3d_lanes *lanes,
                           double *det);
KILN_SIMD_DECLARE(size_t, kiln_orient3d_batch, size_t count, const kiln_orient3d_lanes *lanes,
                  double *det);

#endif
