#include "geom/tet_quality.h"

enum { LANES = KILN_VD_LANES };

typedef struct vec3_vd {
    kiln_vd x, y, z;
} vec3_vd;

KILN_INLINE vec3_vd sub(vec3_vd a, vec3_vd b)
{
    return (vec3_vd){a.x - b.x, a.y - b.y, a.z - b.z};
}

KILN_INLINE kiln_vd norm2(vec3_vd a)
{
    return kiln_vd_fma(a.x, a.x, kiln_vd_fma(a.y, a.y, a.z * a.z));
}

KILN_INLINE kiln_vd triple(vec3_vd a, vec3_vd b, vec3_vd c)
{
    kiln_vd x = kiln_vd_fms(b.y, c.z, b.z * c.y), y = kiln_vd_fms(b.z, c.x, b.x * c.z);
    kiln_vd z = kiln_vd_fms(b.x, c.y, b.y * c.x);
    return kiln_vd_fma(a.x, x, kiln_vd_fma(a.y, y, a.z * z));
}

/* 1/l; a zero length counts as 1e-150, which brings q below 1e-40 where S1 = infinity would give 0.
 */
KILN_INLINE kiln_vd inverse_length(kiln_vd l2)
{
    return kiln_vd_rsqrt(l2 + 1e-300);
}

KILN_INLINE kiln_vd quality_of(const vec3_vd p[4])
{
    vec3_vd ab = sub(p[1], p[0]), ac = sub(p[2], p[0]), ad = sub(p[3], p[0]);
    kiln_vd l0 = norm2(ab), l1 = norm2(sub(p[3], p[2])), l2 = norm2(ac);
    kiln_vd l3 = norm2(sub(p[3], p[1])), l4 = norm2(ad), l5 = norm2(sub(p[2], p[1]));
    kiln_vd s2 = (l0 + l1) + (l2 + l3) + (l4 + l5);
    kiln_vd s1 = (inverse_length(l0) + inverse_length(l1)) +
                 (inverse_length(l2) + inverse_length(l3)) +
                 (inverse_length(l4) + inverse_length(l5));
    kiln_vd below = s1 * s2 * s2;
    return 305.47012947258853 * triple(ab, ac, ad) / (below + 1e-300);
}

KILN_INLINE const uint32_t *record(const uint32_t *vertices, size_t stride, size_t tet)
{
    return (const uint32_t *)(const void *)((const char *)vertices + tet * stride);
}

KILN_INLINE kiln_vd block(const uint32_t *const records[LANES], const kiln_vec3 *positions)
{
    vec3_vd p[4];
    for (int k = 0; k < 4; k++) {
        const double *at[LANES];
        for (int i = 0; i < LANES; i++)
            at[i] = &positions[records[i][k]].x;
        kiln_vd_load3(at, &p[k].x, &p[k].y, &p[k].z);
    }
    return quality_of(p);
}

void KILN_SIMD(kiln_tet_quality_batch)(size_t count, const uint32_t *ids, const uint32_t *vertices,
                                       size_t stride, const kiln_vec3 *positions, double *quality)
{
    const uint32_t *records[LANES];
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (size_t k = 0; k < LANES; k++)
            records[k] = record(vertices, stride, ids ? ids[i + k] : i + k);
        kiln_vd_store(quality + i, block(records, positions));
    }
    if (i == count)
        return;
    for (size_t k = 0; k < LANES; k++) {
        size_t last = i + k < count ? i + k : count - 1;
        records[k] = record(vertices, stride, ids ? ids[last] : last);
    }
    double rest[LANES];
    kiln_vd_store(rest, block(records, positions));
    memcpy(quality + i, rest, (count - i) * sizeof *quality);
}
