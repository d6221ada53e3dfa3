/* Logarithm and exponential of vectors, for use inside *_simd.c files. */
#ifndef KILN_BASE_SIMD_MATH_H
#define KILN_BASE_SIMD_MATH_H

#include "base/simd.h"

/* *log = ln a and *residual = d - ln(1 + d), for normal positive a and d = a - 1, which the caller
 * may know better than a tells where a is near 1. Within 4 ulp, also for the smallest d. Lanes with
 * other a: anything.
 *
 * a = 2^k m with m from sqrt(1/2) to sqrt(2); f = m - 1 is exact, and replaced by d where k = 0.
 * With t = f / (2 + f): ln(1 + f) = 2 atanh t = 2 t + 2 t^3 g(t^2) and f - 2 t = f t. The
 * polynomial g interpolates at Chebyshev points; its part of the error is 5e-18 of 2 t. */
KILN_INLINE void kiln_vd_log(kiln_vd a, kiln_vd d, kiln_vd *log, kiln_vd *residual)
{
    static const double g[7] = {0.33333333333333348442,  0.19999999999949721617,
                                0.14285714313001634371,  0.11111105565129938515,
                                0.090914447278374730193, 0.07665855309105385784,
                                0.073082927124443109947};
    const int64_t root_half = INT64_C(0x3fe6a09e667f3bcd);
    kiln_vi bits = (kiln_vi)kiln_vd_abs(a), k = (bits - root_half) & -(INT64_C(1) << 52);
    kiln_vi near = k == 0;
    kiln_vd f = kiln_vd_select(near, d, (kiln_vd)(bits - k) - 1.0);
    /* k / 2^52 as a double without an integer conversion (AVX2 has none): 2^52 + 2^51 + k. */
    const kiln_vd magic = kiln_vd_set(0x1.8p52);
    kiln_vi high = k >> 52;
    kiln_vd exponent = (kiln_vd)((kiln_vi)magic + high) - magic;
    kiln_vd t = f / (2.0 + f), z = t * t, p = kiln_vd_set(g[6]);
    for (int i = 5; i >= 0; i--)
        p = kiln_vd_fma(p, z, kiln_vd_set(g[i]));
    kiln_vd cubic = (t + t) * z * p, rest = kiln_vd_fms(f, t, cubic); /* f - ln(1 + f) */
    kiln_vd low = kiln_vd_fma(exponent, kiln_vd_set(0x1.a39ef35793c76p-33), t + t + cubic);
    *log = kiln_vd_fma(exponent, kiln_vd_set(0x1.62e42feep-1), low);
    *residual = kiln_vd_select(near, rest, d - *log);
}

/* exp(x) - 1 within 4 ulp for |x| < 700; x = k ln 2 + r, exp(r) - 1 = r + r^2 q(r). */
KILN_INLINE kiln_vd kiln_vd_expm1(kiln_vd x)
{
    static const double q[11] = {0.5,
                                 0.16666666666666671,
                                 0.04166666666666667,
                                 0.0083333333333261351,
                                 0.0013888888888883748,
                                 0.00019841269874820625,
                                 2.4801587325547741e-5,
                                 2.7557255400206424e-6,
                                 2.7557273643110295e-7,
                                 2.5105217004720745e-8,
                                 2.0914686968086877e-9};
    const kiln_vd magic = kiln_vd_set(0x1.8p52);
    kiln_vd shifted = kiln_vd_fma(x, kiln_vd_set(1.4426950408889634), magic);
    kiln_vd k = shifted - magic;
    kiln_vd r = kiln_vd_fnma(k, kiln_vd_set(0x1.62e42feep-1), x);
    r = kiln_vd_fnma(k, kiln_vd_set(0x1.a39ef35793c76p-33), r);
    kiln_vd p = kiln_vd_set(q[10]);
    for (int i = 9; i >= 0; i--)
        p = kiln_vd_fma(p, r, kiln_vd_set(q[i]));
    p = kiln_vd_fma(r * r, p, r);
    kiln_vd power = (kiln_vd)(((kiln_vi)shifted << 52) + INT64_C(0x3ff0000000000000));
    return kiln_vd_fma(power, p, power - 1.0);
}

#endif
