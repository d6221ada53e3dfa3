#include "remesh/smooth_star.h"

enum { LANES = KILN_VD_LANES, STEPS = KILN_STAR_LANES / KILN_VD_LANES };

static const double quality_factor = 305.47012947258853;       /* 216 sqrt(2) */
static const double volume_length_factor = 20.784609690826528; /* 12 sqrt(3) */

typedef struct lane_sums {
    kiln_vd e[3][3], inverse[3]; /* x - y_j, 1 / l_j */
    kiln_vd det, s1, s2;
} lane_sums;

KILN_INLINE lane_sums sums_at(const kiln_star_block *block, int at, const kiln_vd x[3])
{
    lane_sums s;
    s.s1 = kiln_vd_load(block->s1 + at);
    s.s2 = kiln_vd_load(block->s2 + at);
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++)
            s.e[j][k] = x[k] - kiln_vd_load(block->y[j][k] + at);
        kiln_vd l2 = kiln_vd_fma(s.e[j][0], s.e[j][0],
                                 kiln_vd_fma(s.e[j][1], s.e[j][1], s.e[j][2] * s.e[j][2]));
        s.inverse[j] = kiln_vd_rsqrt(l2 + 1e-300);
        s.s1 += s.inverse[j];
        s.s2 += l2;
    }
    s.det = kiln_vd_fma(kiln_vd_load(block->n[0] + at), x[0],
                        kiln_vd_fma(kiln_vd_load(block->n[1] + at), x[1],
                                    kiln_vd_fms(kiln_vd_load(block->n[2] + at), x[2],
                                                kiln_vd_load(block->c + at))));
    return s;
}

typedef struct vec3_vd {
    kiln_vd x, y, z;
} vec3_vd;

KILN_INLINE vec3_vd sub(vec3_vd a, vec3_vd b)
{
    return (vec3_vd){a.x - b.x, a.y - b.y, a.z - b.z};
}
KILN_INLINE kiln_vd dot(vec3_vd a, vec3_vd b)
{
    return kiln_vd_fma(a.x, b.x, kiln_vd_fma(a.y, b.y, a.z * b.z));
}

KILN_INLINE vec3_vd in_frame(const kiln_star_frame *frame, vec3_vd p)
{
    const double *m = frame->map;
    double unit = 1.0 / frame->unit;
    p = (vec3_vd){p.x - frame->origin.x, p.y - frame->origin.y, p.z - frame->origin.z};
    if (m)
        p = (vec3_vd){m[0] * p.x + m[1] * p.y + m[2] * p.z, m[3] * p.y + m[4] * p.z, m[5] * p.z};
    return (vec3_vd){p.x * unit, p.y * unit, p.z * unit};
}

KILN_INLINE void fill_lanes(kiln_star_block *block, size_t at, const vec3_vd y[3])
{
    vec3_vd a = sub(y[1], y[0]), b = sub(y[2], y[0]), c = sub(y[2], y[1]);
    vec3_vd n = {kiln_vd_fms(b.y, a.z, b.z * a.y), kiln_vd_fms(b.z, a.x, b.x * a.z),
                 kiln_vd_fms(b.x, a.y, b.y * a.x)};
    kiln_vd aa = dot(a, a), bb = dot(b, b), cc = dot(c, c);
    for (int j = 0; j < 3; j++) {
        kiln_vd_store(block->y[j][0] + at, y[j].x);
        kiln_vd_store(block->y[j][1] + at, y[j].y);
        kiln_vd_store(block->y[j][2] + at, y[j].z);
    }
    kiln_vd_store(block->n[0] + at, n.x);
    kiln_vd_store(block->n[1] + at, n.y);
    kiln_vd_store(block->n[2] + at, n.z);
    kiln_vd_store(block->c + at, dot(n, y[0]));
    kiln_vd_store(block->s1 + at, kiln_vd_rsqrt(aa + 1e-300) + kiln_vd_rsqrt(bb + 1e-300) +
                                      kiln_vd_rsqrt(cc + 1e-300));
    kiln_vd_store(block->s2 + at, aa + bb + cc);
}

void KILN_SIMD(kiln_star_fill)(kiln_star_block *block, size_t blocks, const kiln_star_frame *frame,
                               const kiln_vec3 *const *corner)
{
    for (size_t i = 0; i < blocks; i++)
        for (size_t at = 0; at < KILN_STAR_LANES; at += LANES) {
            vec3_vd y[3];
            for (size_t j = 0; j < 3; j++) {
                const double *from[LANES];
                for (size_t k = 0; k < LANES; k++)
                    from[k] = &corner[3 * (i * KILN_STAR_LANES + at + k) + j]->x;
                kiln_vd_load3(from, &y[j].x, &y[j].y, &y[j].z);
                y[j] = in_frame(frame, y[j]);
            }
            fill_lanes(&block[i], at, y);
        }
}

/* What det is multiplied with. */
KILN_INLINE kiln_vd factor_of(const lane_sums *s, kiln_measure measure)
{
    if (measure == KILN_MEASURE_QUALITY)
        return quality_factor / (s->s1 * s->s2 * s->s2);
    return volume_length_factor * kiln_vd_rsqrt(s->s2) / s->s2;
}

KILN_INLINE double least_lane(kiln_vd v)
{
    double lane[LANES], least;
    kiln_vd_store(lane, v);
    least = lane[0];
    for (int i = 1; i < LANES; i++)
        least = lane[i] < least ? lane[i] : least;
    return least;
}

double KILN_SIMD(kiln_star_values)(const kiln_star_block *block, size_t blocks,
                                   kiln_measure measure, const double x[3], double *value)
{
    const kiln_vd at[3] = {kiln_vd_set(x[0]), kiln_vd_set(x[1]), kiln_vd_set(x[2])};
    kiln_vd least = kiln_vd_set(INFINITY);
    for (size_t i = 0; i < blocks; i++)
        for (int step = 0; step < STEPS; step++) {
            lane_sums s = sums_at(&block[i], step * LANES, at);
            kiln_vd q = s.det * factor_of(&s, measure);
            kiln_vd_store(value + i * KILN_STAR_LANES + step * LANES, q);
            least = kiln_vd_min(least, q);
        }
    return least_lane(least);
}

double KILN_SIMD(kiln_star_gradients)(const kiln_star_block *block, size_t blocks,
                                      kiln_measure measure, const double x[3], double *value,
                                      double *const gradient[3])
{
    const kiln_vd at[3] = {kiln_vd_set(x[0]), kiln_vd_set(x[1]), kiln_vd_set(x[2])};
    kiln_vd least = kiln_vd_set(INFINITY);
    bool with_s1 = measure == KILN_MEASURE_QUALITY;
    for (size_t i = 0; i < blocks; i++)
        for (int step = 0; step < STEPS; step++) {
            size_t to = i * KILN_STAR_LANES + (size_t)step * LANES;
            lane_sums s = sums_at(&block[i], step * LANES, at);
            kiln_vd factor = factor_of(&s, measure), q = s.det * factor;
            /* -q (grad S1 / S1 + 2 grad S2 / S2) = sum over j of weight_j (x - y_j); without S1
             * the power of S2 is 3/2 and not 2. */
            kiln_vd by_s2 = (with_s1 ? -4.0 : -3.0) * q / s.s2;
            kiln_vd by_s1 = with_s1 ? q / s.s1 : kiln_vd_set(0.0), weight[3];
            for (int j = 0; j < 3; j++)
                weight[j] = kiln_vd_fma(by_s1 * s.inverse[j], s.inverse[j] * s.inverse[j], by_s2);
            for (int k = 0; k < 3; k++) {
                kiln_vd g = factor * kiln_vd_load(block[i].n[k] + step * LANES);
                for (int j = 0; j < 3; j++)
                    g = kiln_vd_fma(weight[j], s.e[j][k], g);
                kiln_vd_store(gradient[k] + to, g);
            }
            kiln_vd_store(value + to, q);
            least = kiln_vd_min(least, q);
        }
    return least_lane(least);
}

size_t KILN_SIMD(kiln_star_below)(const double *value, size_t functions, double limit,
                                  uint32_t *index, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < functions; i += LANES) {
        unsigned bits = kiln_vi_bits(kiln_vd_load(value + i) <= kiln_vd_set(limit));
        if (functions - i < LANES)
            bits &= (1u << (functions - i)) - 1;
        for (; bits; bits &= bits - 1, count++)
            if (count < room)
                index[count] = (uint32_t)i + (uint32_t)kiln_lowest_bit(bits);
    }
    return count;
}

double KILN_SIMD(kiln_star_first_crossing)(const double *value, double *const gradient[3],
                                           size_t functions, const double d[3], double worst,
                                           double rate, double apart)
{
    const kiln_vd infinite = kiln_vd_set(INFINITY);
    kiln_vd least = infinite;
    for (size_t i = 0; i < functions; i += LANES) {
        kiln_vd slope = d[0] * kiln_vd_load(gradient[0] + i);
        slope = kiln_vd_fma(kiln_vd_set(d[1]), kiln_vd_load(gradient[1] + i), slope);
        slope = kiln_vd_fma(kiln_vd_set(d[2]), kiln_vd_load(gradient[2] + i), slope);
        kiln_vd above = kiln_vd_load(value + i) - worst, closing = rate - slope;
        kiln_vi meets = (above > apart) & (closing > apart * rate);
        least = kiln_vd_min(least, kiln_vd_select(meets, above / closing, infinite));
    }
    return least_lane(least);
}
