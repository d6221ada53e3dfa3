#include "remesh/edge_removal_ears.h"

enum { LANES = KILN_VD_LANES };

typedef struct vec3_vd {
    kiln_vd x, y, z;
} vec3_vd;

KILN_INLINE vec3_vd load(const kiln_ear_points *ring, uint32_t at)
{
    return (vec3_vd){kiln_vd_load(ring->x + at), kiln_vd_load(ring->y + at),
                     kiln_vd_load(ring->z + at)};
}

KILN_INLINE vec3_vd sub(vec3_vd p, vec3_vd q)
{
    return (vec3_vd){p.x - q.x, p.y - q.y, p.z - q.z};
}

KILN_INLINE vec3_vd from(vec3_vd p, kiln_vec3 apex)
{
    return (vec3_vd){p.x - apex.x, p.y - apex.y, p.z - apex.z};
}

KILN_INLINE kiln_vd norm2(vec3_vd p)
{
    return kiln_vd_fma(p.x, p.x, kiln_vd_fma(p.y, p.y, p.z * p.z));
}

KILN_INLINE kiln_vd triple(vec3_vd p, vec3_vd q, vec3_vd r)
{
    kiln_vd x = kiln_vd_fms(q.y, r.z, q.z * r.y), y = kiln_vd_fms(q.z, r.x, q.x * r.z);
    kiln_vd z = kiln_vd_fms(q.x, r.y, q.y * r.x);
    return kiln_vd_fma(p.x, x, kiln_vd_fma(p.y, y, p.z * z));
}

/* Lanes where the tet of an apex and p, q, r may be above the floor: q^2 <= 2 det^2 / (S2 / 6)^3,
 * as in kiln_tet_quality_above, where the powers stay in range; `sides` is the triangle's part of
 * S2. */
KILN_INLINE kiln_vi may_be_above(vec3_vd p, vec3_vd q, vec3_vd r, kiln_vd sides, double limit)
{
    kiln_vd det = triple(p, q, r), s2 = sides + norm2(p) + (norm2(q) + norm2(r));
    return (det > 0.0) & ((det * det > limit * s2 * s2 * s2) | (s2 > 1e90) | (s2 < 1e-90));
}

uint32_t KILN_SIMD(kiln_ears_above)(const kiln_ear_points *ring, uint32_t count, kiln_vec3 a,
                                    kiln_vec3 b, double floor)
{
    double limit = floor * floor * (1.0 - 1e-12) / 432.0;
    uint32_t ears = 0;
    for (uint32_t i = 0; i < count; i += LANES) {
        vec3_vd p = load(ring, i), q = load(ring, i + 1), r = load(ring, i + 2);
        kiln_vd sides = norm2(sub(q, p)) + norm2(sub(r, q)) + norm2(sub(r, p));
        kiln_vi above = may_be_above(from(p, a), from(q, a), from(r, a), sides, limit) &
                        may_be_above(from(p, b), from(r, b), from(q, b), sides, limit);
        ears |= kiln_vi_bits(above) << i;
    }
    return ears & ((1u << count) - 1);
}
