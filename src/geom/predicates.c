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

#include "base/assert.h"
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

/* Two's complement of the value in the unit. */
KILN_INLINE void whole(int n, uint64_t *r, const parts *a, int unit)
{
    kiln_wide_place(n, r, a->mantissa, a->mantissa ? a->exponent - unit : 0);
    kiln_wide_negate(n, r, a->mask);
}

/* a - b, b in two's complement. */
KILN_INLINE void difference(int n, signed_wide *r, const parts *a, const uint64_t *b, int unit)
{
    whole(n, r->limb, a, unit);
    kiln_wide_accumulate(n, r->limb, b, ~(uint64_t)0);
    r->mask = kiln_wide_split_sign(n, r->limb);
}

/* rows[i][k] = p_i - o for points after o, coordinates of one point next to each other. */
KILN_INLINE void differences(int n, int count, int axes, signed_wide *rows, const parts *p,
                             const parts *o, int unit)
{
    uint64_t origin[LIMBS_MAX];
    for (int k = 0; k < axes; k++) {
        whole(n, origin, &o[k], unit);
        for (int i = 0; i < count; i++)
            difference(n, &rows[i * axes + k], &p[i * axes + k], origin, unit);
    }
}

/* The unit and width common to `count` coordinates. */
static int prepare(int count, const double *coordinates, parts *p, int *unit)
{
    for (int i = 0; i < count; i++) {
        KILN_ASSERT(isfinite(coordinates[i]));
        p[i] = take_apart(coordinates[i]);
    }
    return common_unit(count, p, unit);
}

/* r = a d - b c, magnitude in 2n limbs; returns its sign mask. */
KILN_INLINE uint64_t minor2(int n, uint64_t *r, const signed_wide *a, const signed_wide *b,
                            const signed_wide *c, const signed_wide *d)
{
    uint64_t product[2 * LIMBS_MAX];
    kiln_wide_multiply(r, n, a->limb, n, d->limb);
    kiln_wide_negate(2 * n, r, a->mask ^ d->mask);
    kiln_wide_multiply(product, n, b->limb, n, c->limb);
    kiln_wide_accumulate(2 * n, r, product, ~(b->mask ^ c->mask));
    return kiln_wide_split_sign(2 * n, r);
}

/* sum[3n] += minor[2n] z[n] */
KILN_INLINE void add_times(int n, uint64_t *sum, const uint64_t *minor, uint64_t mask,
                           const signed_wide *z)
{
    uint64_t product[3 * LIMBS_MAX];
    kiln_wide_multiply(product, 2 * n, minor, n, z->limb);
    kiln_wide_accumulate(3 * n, sum, product, mask ^ z->mask);
}

KILN_INLINE double orient2d_limbs(int n, const parts p[6], int unit)
{
    signed_wide r[2][2];
    differences(n, 2, 2, r[0], p + 2, p, unit);
    uint64_t det[2 * LIMBS_MAX];
    uint64_t mask = minor2(n, det, &r[0][0], &r[0][1], &r[1][0], &r[1][1]);
    return kiln_wide_value(2 * n, det, mask, 2 * (unit - EXPONENT_BIAS));
}

KILN_INLINE double orient3d_limbs(int n, const parts p[12], int unit)
{
    signed_wide r[3][3];
    differences(n, 3, 3, r[0], p + 3, p, unit);
    uint64_t det[3 * LIMBS_MAX], minor[2 * LIMBS_MAX];
    kiln_wide_clear(3 * n, det);
    for (int i = 0; i < 3; i++) {
        const signed_wide *v = r[(i + 1) % 3], *w = r[(i + 2) % 3];
        uint64_t mask = minor2(n, minor, &v[0], &v[1], &w[0], &w[1]);
        add_times(n, det, minor, mask, &r[i][2]);
    }
    uint64_t mask = kiln_wide_split_sign(3 * n, det);
    return kiln_wide_value(3 * n, det, mask, 3 * (unit - EXPONENT_BIAS));
}

/* The determinant of rows (x, y, z, x^2 + y^2 + z^2) of a-e .. d-e, expanded by the last column;
 * with our orientation the cofactor of row i has the sign (-1)^i. */
KILN_INLINE double insphere_limbs(int n, const parts p[15], int unit)
{
    static const int others[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    signed_wide r[4][3];
    differences(n, 4, 3, r[0], p, p + 12, unit);
    uint64_t minor[4][4][2 * LIMBS_MAX], minor_mask[4][4];
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 4; j++)
            minor_mask[i][j] = minor2(n, minor[i][j], &r[i][0], &r[i][1], &r[j][0], &r[j][1]);

    uint64_t det[5 * LIMBS_MAX];
    kiln_wide_clear(5 * n, det);
    for (int row = 0; row < 4; row++) {
        int i = others[row][0], j = others[row][1], k = others[row][2];
        uint64_t cofactor[3 * LIMBS_MAX], lift[2 * LIMBS_MAX], product[5 * LIMBS_MAX];
        kiln_wide_clear(3 * n, cofactor);
        add_times(n, cofactor, minor[j][k], minor_mask[j][k], &r[i][2]);
        add_times(n, cofactor, minor[i][k], ~minor_mask[i][k], &r[j][2]);
        add_times(n, cofactor, minor[i][j], minor_mask[i][j], &r[k][2]);
        uint64_t mask = kiln_wide_split_sign(3 * n, cofactor);
        kiln_wide_clear(2 * n, lift);
        for (int axis = 0; axis < 3; axis++) {
            kiln_wide_multiply(product, n, r[row][axis].limb, n, r[row][axis].limb);
            kiln_wide_accumulate(2 * n, lift, product, 0);
        }
        kiln_wide_multiply(product, 3 * n, cofactor, 2 * n, lift);
        kiln_wide_accumulate(5 * n, det, product, row & 1 ? ~mask : mask);
    }
    uint64_t mask = kiln_wide_split_sign(5 * n, det);
    return kiln_wide_value(5 * n, det, mask, 5 * (unit - EXPONENT_BIAS));
}

/* Constant widths let the compiler unroll the limbs; above three the loops pay for themselves. */
#define WITH_WIDTH(n, evaluate, p, unit)                                                           \
    ((n) == 1   ? evaluate(1, p, unit)                                                             \
     : (n) == 2 ? evaluate(2, p, unit)                                                             \
     : (n) == 3 ? evaluate(3, p, unit)                                                             \
                : evaluate(n, p, unit))

double kiln_orient2d_exact(double ax, double ay, double bx, double by, double cx, double cy)
{
    const double coordinates[6] = {ax, ay, bx, by, cx, cy};
    parts p[6];
    int unit, n = prepare(6, coordinates, p, &unit);
    return WITH_WIDTH(n, orient2d_limbs, p, unit);
}

double kiln_orient3d_exact(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    const double coordinates[12] = {a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, d.x, d.y, d.z};
    parts p[12];
    int unit, n = prepare(12, coordinates, p, &unit);
    return WITH_WIDTH(n, orient3d_limbs, p, unit);
}

double kiln_insphere_exact(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d, kiln_vec3 e)
{
    const double coordinates[15] = {a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y,
                                    c.z, d.x, d.y, d.z, e.x, e.y, e.z};
    parts p[15];
    int unit, n = prepare(15, coordinates, p, &unit);
    return WITH_WIDTH(n, insphere_limbs, p, unit);
}

/* One product pair of the 2x2 minors and its share of the permanent. */
typedef struct bounded {
    double value, size;
} bounded;

KILN_INLINE bounded bounded_minor(kiln_vec3 p, kiln_vec3 q)
{
    double left = p.x * q.y, right = p.y * q.x;
    return (bounded){left - right, fabs(left) + fabs(right)};
}

KILN_INLINE bounded bounded_cofactor(double z0, bounded m0, double z1, bounded m1, double z2,
                                     bounded m2)
{
    return (bounded){z0 * m0.value - z1 * m1.value + z2 * m2.value,
                     fabs(z0) * m0.size + fabs(z1) * m1.size + fabs(z2) * m2.size};
}

/* The error is below (16 + 224 u) u times the permanent, u = 2^-53. The underflow term: with M the
 * largest difference an underflowed product meets factors of at most (1 + M)^4 <= 4 (1 + S)^2,
 * where S >= M^2 is the sum of the lifts. */
double kiln_insphere(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d, kiln_vec3 e)
{
    kiln_vec3 p = kiln_v3_sub(a, e), q = kiln_v3_sub(b, e);
    kiln_vec3 r = kiln_v3_sub(c, e), s = kiln_v3_sub(d, e);
    bounded pq = bounded_minor(p, q), pr = bounded_minor(p, r), ps = bounded_minor(p, s);
    bounded qr = bounded_minor(q, r), qs = bounded_minor(q, s), rs = bounded_minor(r, s);
    bounded qrs = bounded_cofactor(q.z, rs, r.z, qs, s.z, qr);
    bounded prs = bounded_cofactor(p.z, rs, r.z, ps, s.z, pr);
    bounded pqs = bounded_cofactor(p.z, qs, q.z, ps, s.z, pq);
    bounded pqr = bounded_cofactor(p.z, qr, q.z, pr, r.z, pq);
    double pl = kiln_v3_norm2(p), ql = kiln_v3_norm2(q);
    double rl = kiln_v3_norm2(r), sl = kiln_v3_norm2(s);
    double det = (pl * qrs.value - ql * prs.value) + (rl * pqs.value - sl * pqr.value);
    double permanent = pl * qrs.size + ql * prs.size + rl * pqs.size + sl * pqr.size;
    double lifts = 1.0 + pl + ql + rl + sl;
    if (KILN_LIKELY(fabs(det) > 0x1.2p-49 * permanent + 0x1p-890 * (lifts * lifts)))
        return det;
    return kiln_insphere_exact(a, b, c, d, e);
}

size_t kiln_orient3d_batch(kiln_isa isa, size_t count, const kiln_orient3d_lanes *lanes,
                           double *det)
{
    static size_t (*const variants[])(size_t, const kiln_orient3d_lanes *, double *) =
        KILN_SIMD_TABLE(kiln_orient3d_batch);
    return variants[isa](count, lanes, det);
}
