/* The exact stage. All coordinates are multiples of 2^e for the smallest exponent e among them, so
 * they are integers of some B bits in that unit and the determinant is an integer too. In a mesh B
 * is rarely above 125: two limbs a coordinate, and a 3x3 determinant costs some fifty
 * multiplications. Floating-point expansions were the alternative: they are slower (a full orient3d
 * is hundreds of dependent additions) and fail where a product underflows or overflows, so they
 * would need an integer path behind them anyway.
 *
 * Widths, with n limbs a coordinate and B <= 64 n - 3 (magnitudes below 2^B):
 *   difference        B + 1 bits   n limbs
 *   2x2 minor        2B + 3       2n
 *   3x3 determinant  3B + 6       3n
 *   sum of 3 squares 2B + 4       2n
 *   insphere         5B + 12      5n
 * each below the sign bit of its limbs. The coordinates span at most 2098 bits: n <= 33. */
#include "geom/predicates.h"

#include "geom/wide.h"

#include <stdbool.h>
#include <string.h>

enum { LIMBS_MAX = 33, SPARE_BITS = 3, EXPONENT_BIAS = 1075 };

/* value = (-1)^negative mantissa 2^(exponent - EXPONENT_BIAS) */
typedef struct parts {
    uint64_t mantissa, mask;
    int exponent;
} parts;

typedef struct signed_wide {
    uint64_t limb[LIMBS_MAX];
    uint64_t mask;
} signed_wide;

static inline parts take_apart(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & 0xfffffffffffffu, normal = exponent != 0;
    return (parts){mantissa | normal << 52, (uint64_t)0 - (bits >> 63), exponent + !normal};
}

/* Common exponent of the nonzero values; returns the limbs needed for each. */
static inline int common_unit(int count, const parts *p, int *unit)
{
    int low = 4096, high = 0;
    for (int i = 0; i < count; i++) {
        int exponent = p[i].exponent;
        high = exponent > high ? exponent : high;
        exponent = p[i].mantissa ? exponent : 4096;
        low = exponent < low ? exponent : low;
    }
    *unit = low;
    int bits = high - low + 53;
    return bits < 53 ? 1 : (bits + SPARE_BITS + 63) / 64;
}

/* a - b in the unit. */
KILN_INLINE void difference(int n, signed_wide *r, parts a, parts b, int unit)
{
    uint64_t placed[LIMBS_MAX];
    kiln_wide_clear(n, r->limb);
    kiln_wide_place(n, placed, a.mantissa, a.mantissa ? a.exponent - unit : 0);
    kiln_wide_accumulate(n, r->limb, n, placed, a.mask);
    kiln_wide_place(n, placed, b.mantissa, b.mantissa ? b.exponent - unit : 0);
    kiln_wide_accumulate(n, r->limb, n, placed, ~b.mask);
    r->mask = kiln_wide_split_sign(n, r->limb);
}

/* r = a d - b c, magnitude in 2n limbs; returns its sign mask. */
KILN_INLINE uint64_t minor2(int n, uint64_t *r, const signed_wide *a, const signed_wide *b,
                            const signed_wide *c, const signed_wide *d)
{
    uint64_t product[2 * LIMBS_MAX];
    kiln_wide_clear(2 * n, r);
    kiln_wide_multiply(product, n, a->limb, n, d->limb);
    kiln_wide_accumulate(2 * n, r, 2 * n, product, a->mask ^ d->mask);
    kiln_wide_multiply(product, n, b->limb, n, c->limb);
    kiln_wide_accumulate(2 * n, r, 2 * n, product, ~(b->mask ^ c->mask));
    return kiln_wide_split_sign(2 * n, r);
}

KILN_INLINE double orient3d_limbs(int n, const parts p[12], int unit)
{
    signed_wide u[3], v[3], w[3];
    for (int k = 0; k < 3; k++) {
        difference(n, &u[k], p[3 + k], p[k], unit);
        difference(n, &v[k], p[6 + k], p[k], unit);
        difference(n, &w[k], p[9 + k], p[k], unit);
    }
    uint64_t det[3 * LIMBS_MAX], minor[2 * LIMBS_MAX], product[3 * LIMBS_MAX];
    kiln_wide_clear(3 * n, det);
    const signed_wide *rows[5] = {u, v, w, u, v};
    for (int i = 0; i < 3; i++) {
        const signed_wide *q = rows[i + 1], *r = rows[i + 2], *z = &rows[i][2];
        uint64_t mask = minor2(n, minor, &q[0], &q[1], &r[0], &r[1]);
        kiln_wide_multiply(product, 2 * n, minor, n, z->limb);
        kiln_wide_accumulate(3 * n, det, 3 * n, product, mask ^ z->mask);
    }
    uint64_t mask = kiln_wide_split_sign(3 * n, det);
    return kiln_wide_value(3 * n, det, mask, 3 * (unit - EXPONENT_BIAS));
}

double kiln_orient3d_exact(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    const double coordinates[12] = {a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, d.x, d.y, d.z};
    parts p[12];
    for (int i = 0; i < 12; i++)
        p[i] = take_apart(coordinates[i]);
    int unit, n = common_unit(12, p, &unit);
    switch (n) {
    case 1:
        return orient3d_limbs(1, p, unit);
    case 2:
        return orient3d_limbs(2, p, unit);
    default:
        return orient3d_limbs(n, p, unit);
    }
}
