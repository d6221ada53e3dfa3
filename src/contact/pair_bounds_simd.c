#include "contact/pair_bounds.h"

#include "geom/distance.h"

enum { LANES = KILN_VD_LANES };

/* 3-vectors, one in each lane; the operations of vec3.h in their order. */
typedef struct wide {
    kiln_vd x, y, z;
} wide;

KILN_INLINE wide sub(wide a, wide b)
{
    return (wide){a.x - b.x, a.y - b.y, a.z - b.z};
}
KILN_INLINE wide madd(wide a, kiln_vd s, wide b)
{
    return (wide){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
KILN_INLINE kiln_vd dot(wide a, wide b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
KILN_INLINE wide cross(wide a, wide b)
{
    return (wide){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
KILN_INLINE kiln_vd triple(wide a, wide b, wide c)
{
    return dot(a, cross(b, c));
}
KILN_INLINE kiln_vd clamped(kiln_vd t)
{
    const kiln_vd zero = kiln_vd_set(0.0), one = kiln_vd_set(1.0);
    return kiln_vd_select(t < zero, zero, kiln_vd_select(t > one, one, t));
}

/* Values at the vertices of up to LANES pairs, of which the last is repeated. */
KILN_INLINE void load(const kiln_surface_pair *pairs, size_t count, const kiln_vec3 *at,
                      wide out[4])
{
    for (int k = 0; k < 4; k++) {
        const double *p[LANES];
        for (size_t i = 0; i < LANES; i++)
            p[i] = &at[pairs[i < count ? i : count - 1].v[k]].x;
        kiln_vd_load3(p, &out[k].x, &out[k].y, &out[k].z);
    }
}

/* Of the origin to the edge from a along e. */
KILN_INLINE kiln_vd edge_distance2(wide a, wide e)
{
    kiln_vd length2 = dot(e, e), zero = kiln_vd_set(0.0);
    wide at = madd(a, clamped(kiln_vd_select(length2 > zero, -dot(a, e) / length2, zero)), e);
    return dot(at, at);
}

/* Lanes in *needles are not answered. */
KILN_INLINE kiln_vd triangle_distance2(const wide p[4], double loss, unsigned *needles)
{
    wide a = sub(p[1], p[0]), b = sub(p[2], p[0]), c = sub(p[3], p[0]);
    wide ab = sub(b, a), bc = sub(c, b), ca = sub(a, c), n = cross(ab, bc);
    kiln_vd n2 = dot(n, n), zero = kiln_vd_set(0.0);
    *needles = ~kiln_vi_bits(n2 > KILN_DISTANCE_NEEDLE * dot(ab, ab) * dot(bc, bc));
    kiln_vi above =
        (triple(n, ab, a) <= zero) & (triple(n, bc, b) <= zero) & (triple(n, ca, c) <= zero);
    kiln_vd height = dot(n, a), d_ab = edge_distance2(a, ab), d_bc = edge_distance2(b, bc);
    kiln_vd least = kiln_vd_min(kiln_vd_min(d_ab, d_bc), edge_distance2(c, ca));
    return kiln_vd_select(above, height * height / n2, least) -
           loss * (dot(a, a) + dot(b, b) + dot(c, c));
}

KILN_INLINE kiln_vd edges_distance2(const wide p[4], double loss, unsigned *needles)
{
    wide u = sub(p[1], p[0]), v = sub(p[3], p[2]), w = sub(p[0], p[2]);
    kiln_vd uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), uw = dot(u, w), vw = dot(v, w);
    kiln_vd area2 = uu * vv - uv * uv;
    *needles = ~kiln_vi_bits(area2 > KILN_DISTANCE_NEEDLE * uu * vv);
    kiln_vd s = clamped((uv * vw - vv * uw) / area2), t = clamped((uv * s + vw) / vv);
    s = clamped((uv * t - uw) / uu);
    wide offset = madd(madd(w, s, u), -t, v);
    return dot(offset, offset) - loss * (uu + vv + dot(w, w));
}

static double one_distance2(const kiln_surface_pair *pair, const kiln_vec3 *x)
{
    const kiln_vec3 p[4] = {x[pair->v[0]], x[pair->v[1]], x[pair->v[2]], x[pair->v[3]]};
    return pair->split == 1 ? kiln_triangle_distance2(p[0], p + 1) : kiln_edges_distance2(p, p + 2);
}

/* How many of the first LANES are as the first is, a vertex and a face or two edges. */
static size_t alike(const kiln_surface_pair *pairs, size_t count)
{
    size_t n = 1;
    while (n < LANES && n < count && pairs[n].split == pairs[0].split)
        n++;
    return n;
}

static void store(double *out, kiln_vd v, size_t count)
{
    double lane[LANES];
    kiln_vd_store(lane, v);
    memcpy(out, lane, count * sizeof *out);
}

void KILN_SIMD(kiln_pair_distances2)(const kiln_surface_pair *pairs, size_t count,
                                     const kiln_vec3 *x, double loss, double *distance2)
{
    for (size_t i = 0, n; i < count; i += n) {
        wide p[4];
        unsigned needles;
        n = alike(pairs + i, count - i);
        load(pairs + i, n, x, p);
        kiln_vd d2 = pairs[i].split == 1 ? triangle_distance2(p, loss, &needles)
                                         : edges_distance2(p, loss, &needles);
        store(distance2 + i, d2, n);
        for (size_t k = 0; k < n; k++)
            if (KILN_UNLIKELY(needles >> k & 1))
                distance2[i + k] = (1.0 - loss) * one_distance2(&pairs[i + k], x);
    }
}

void KILN_SIMD(kiln_pair_ways2)(const kiln_surface_pair *pairs, size_t count, const kiln_vec3 *way,
                                double *way2)
{
    for (size_t i = 0, n; i < count; i += n) {
        wide p[4];
        kiln_vd most = kiln_vd_set(0.0);
        n = alike(pairs + i, count - i);
        load(pairs + i, n, way, p);
        for (uint32_t a = 0; a < pairs[i].split; a++)
            for (uint32_t b = pairs[i].split; b < 4; b++) {
                wide apart = sub(p[a], p[b]);
                most = kiln_vd_max(dot(apart, apart), most);
            }
        store(way2 + i, most, n);
    }
}
