/* Exact integers of n 64-bit limbs, least significant first, for the exact stage of the predicates.
 *
 * A signed value is kept as a magnitude and a mask (0 or ~0 for negative); sums are gathered in
 * two's complement, where adding needs no comparison. The width n is an argument of inlined
 * functions: with a constant it gives straight code for the common sizes, with a variable the
 * general path from the same source. Callers choose widths that cannot overflow. */
#ifndef KILN_GEOM_WIDE_H
#define KILN_GEOM_WIDE_H

#include "base/platform.h"

#include <math.h>
#include <stdint.h>

/* a + b + carry; the carry out replaces the carry. Compilers keep this in registers, sums in 128
 * bits go through memory. */
KILN_INLINE uint64_t kiln_wide_add_limb(uint64_t a, uint64_t b, uint64_t *carry)
{
    uint64_t sum = a + b, total = sum + *carry;
    *carry = (uint64_t)(sum < a) | (uint64_t)(total < sum);
    return total;
}

/* r[n] = 0 */
KILN_INLINE void kiln_wide_clear(int n, uint64_t *r)
{
    for (int i = 0; i < n; i++)
        r[i] = 0;
}

/* r[n] = a << shift for a < 2^53; the result must fit. Written by value, limb by limb: a store at a
 * variable place would stall the loads that follow. */
KILN_INLINE void kiln_wide_place(int n, uint64_t *r, uint64_t a, int shift)
{
    kiln_u128 spread = (kiln_u128)a << (shift & 63);
    uint64_t low = (uint64_t)spread, high = (uint64_t)(spread >> 64);
    int limb = shift >> 6;
    for (int i = 0; i < n; i++)
        r[i] = i == limb ? low : i == limb + 1 ? high : 0;
}

/* r[n] += mask ? -a[n] : a[n], two's complement. */
KILN_INLINE void kiln_wide_accumulate(int n, uint64_t *r, const uint64_t *a, uint64_t mask)
{
    uint64_t carry = mask & 1;
    for (int i = 0; i < n; i++)
        r[i] = kiln_wide_add_limb(r[i], a[i] ^ mask, &carry);
}

/* r[n] = mask ? -r : r, two's complement. */
KILN_INLINE void kiln_wide_negate(int n, uint64_t *r, uint64_t mask)
{
    uint64_t carry = mask & 1;
    for (int i = 0; i < n; i++)
        r[i] = kiln_wide_add_limb(r[i] ^ mask, 0, &carry);
}

/* Two's complement to magnitude in place; returns the sign mask. */
KILN_INLINE uint64_t kiln_wide_split_sign(int n, uint64_t *r)
{
    uint64_t mask = (uint64_t)0 - (r[n - 1] >> 63);
    kiln_wide_negate(n, r, mask);
    return mask;
}

/* r[n+m] = a[n] b[m], magnitudes. */
KILN_INLINE void kiln_wide_multiply(uint64_t *r, int n, const uint64_t *a, int m, const uint64_t *b)
{
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < m; j++) {
            kiln_u128 product = (kiln_u128)a[i] * b[j];
            uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64);
            low += carry;
            high += low < carry;
            if (i > 0) {
                low += r[i + j];
                high += low < r[i + j];
            }
            r[i + j] = low;
            carry = high;
        }
        r[i + m] = carry;
    }
}

/* Magnitude a[n] times 2^exponent, negated under mask. Zero only for zero: what would underflow or
 * overflow is clamped to the smallest or largest double of that sign. */
KILN_INLINE double kiln_wide_value(int n, const uint64_t *a, uint64_t mask, int exponent)
{
    int top = n - 1;
    while (top > 0 && a[top] == 0)
        top--;
    double value = (double)a[top] * 0x1p64 + (top > 0 ? (double)a[top - 1] : 0.0);
    if (value == 0.0)
        return 0.0;
    value = ldexp(value, 64 * (top - 1) + exponent);
    if (value < 0x1p-1074)
        value = 0x1p-1074;
    if (value > 0x1.fffffffffffffp1023)
        value = 0x1.fffffffffffffp1023;
    return mask ? -value : value;
}

#endif
