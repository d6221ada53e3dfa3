/* Batched arithmetic behind one vector type.
 *
 * A file named *_simd.c is compiled once per instruction set (see CMakeLists.txt): KILN_SIMD(name)
 * gives its functions the suffix _scalar, _avx2 or _avx512, and `kiln_vd` is a vector of
 * KILN_VD_LANES doubles (2, 4, 8). Callers pick with the context's `isa`. Multiplications and
 * additions are never fused unless kiln_vd_fma says so, so results do not depend on the compiler's
 * mood; _scalar has no fused instruction and its kiln_vd_fma rounds twice. `kiln_vf` are floats. */
#ifndef KILN_BASE_SIMD_H
#define KILN_BASE_SIMD_H

#include "base/platform.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum kiln_isa { KILN_ISA_SCALAR, KILN_ISA_AVX2, KILN_ISA_AVX512, KILN_ISA_COUNT } kiln_isa;

kiln_isa kiln_isa_best(void);
/* False when the name is unknown or the machine lacks it. */
bool kiln_isa_parse(const char *name, kiln_isa *isa);
const char *kiln_isa_name(kiln_isa isa);

/* Declares the three variants of a batched function. */
#define KILN_SIMD_DECLARE(result, name, ...)                                                       \
    result name##_scalar(__VA_ARGS__);                                                             \
    result name##_avx2(__VA_ARGS__);                                                               \
    result name##_avx512(__VA_ARGS__)

/* Table of the three variants, indexed by kiln_isa. */
#define KILN_SIMD_TABLE(name)                                                                      \
    {                                                                                              \
        name##_scalar, name##_avx2, name##_avx512                                                  \
    }

#if defined(KILN_SIMD_AVX512)
#define KILN_SIMD(name) name##_avx512
#define KILN_VD_LANES   8
#elif defined(KILN_SIMD_AVX2)
#define KILN_SIMD(name) name##_avx2
#define KILN_VD_LANES   4
#elif defined(KILN_SIMD_SCALAR)
#define KILN_SIMD(name) name##_scalar
#define KILN_VD_LANES   2
#endif

#ifdef KILN_VD_LANES
typedef double kiln_vd __attribute__((vector_size(8 * KILN_VD_LANES)));
typedef int64_t kiln_vi __attribute__((vector_size(8 * KILN_VD_LANES))); /* also masks: 0 or -1 */

#if defined(KILN_SIMD_AVX512) || defined(KILN_SIMD_AVX2)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

KILN_INLINE kiln_vd kiln_vd_load(const double *p)
{
    kiln_vd v;
    memcpy(&v, p, sizeof v);
    return v;
}

KILN_INLINE void kiln_vd_store(double *p, kiln_vd v)
{
    memcpy(p, &v, sizeof v);
}

KILN_INLINE kiln_vd kiln_vd_set(double s)
{
    return s - (kiln_vd){0};
}

/* mask ? a : b, lane by lane; mask lanes are 0 or -1. */
KILN_INLINE kiln_vd kiln_vd_select(kiln_vi mask, kiln_vd a, kiln_vd b)
{
#if defined(KILN_SIMD_AVX512)
    return (kiln_vd)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)mask), (__m512d)b,
                                         (__m512d)a);
#elif defined(KILN_SIMD_AVX2)
    return (kiln_vd)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)mask);
#else
    return (kiln_vd)(((kiln_vi)a & mask) | ((kiln_vi)b & ~mask));
#endif
}

KILN_INLINE kiln_vd kiln_vd_abs(kiln_vd a)
{
    return (kiln_vd)((kiln_vi)a & INT64_MAX);
}

/* a > b ? a : b, and with <: b where one is not a number. What the instructions do, too. */
KILN_INLINE kiln_vd kiln_vd_max(kiln_vd a, kiln_vd b)
{
#if defined(KILN_SIMD_AVX512)
    return (kiln_vd)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(KILN_SIMD_AVX2)
    return (kiln_vd)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return kiln_vd_select(a > b, a, b);
#endif
}

KILN_INLINE kiln_vd kiln_vd_min(kiln_vd a, kiln_vd b)
{
#if defined(KILN_SIMD_AVX512)
    return (kiln_vd)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(KILN_SIMD_AVX2)
    return (kiln_vd)_mm256_min_pd((__m256d)a, (__m256d)b);
#else
    return kiln_vd_select(a < b, a, b);
#endif
}

/* a with its sign turned where s is negative (or -0). */
KILN_INLINE kiln_vd kiln_vd_mulsign(kiln_vd a, kiln_vd s)
{
    return (kiln_vd)((kiln_vi)a ^ ((kiln_vi)s & INT64_MIN));
}

/* Powers of two with a * scale in [1, 4) and scale * inverse = 1, for normal positive a; below that
 * the largest scale there is. Scaling by them is exact. */
KILN_INLINE void kiln_vd_binade(kiln_vd a, kiln_vd *scale, kiln_vd *inverse)
{
    const kiln_vi low = (kiln_vi){0} + (INT64_C(1) << 52),
                  high = (kiln_vi){0} + (INT64_C(2045) << 52);
    kiln_vi e = (kiln_vi)a & (INT64_C(2047) << 52);
    e = (e & (e > low)) | (low & (e <= low));
    e = (e & (e < high)) | (high & (e >= high));
    *inverse = (kiln_vd)e;
    *scale = (kiln_vd)((INT64_C(2046) << 52) - e);
}

#if defined(KILN_SIMD_AVX512)
KILN_INLINE kiln_vd kiln_vd_sqrt(kiln_vd a)
{
    return (kiln_vd)_mm512_sqrt_pd((__m512d)a);
}
KILN_INLINE kiln_vd kiln_vd_fma(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return (kiln_vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
/* a * b - c and c - a * b: the compiler does not fold a negation into the intrinsic. */
KILN_INLINE kiln_vd kiln_vd_fms(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return (kiln_vd)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
KILN_INLINE kiln_vd kiln_vd_fnma(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return (kiln_vd)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
/* 1/sqrt(a) for normal positive a: 14-bit estimate and two Newton steps (28, 54 bits), within
 * 2 ulp. */
KILN_INLINE kiln_vd kiln_vd_rsqrt(kiln_vd a)
{
    kiln_vd r = (kiln_vd)_mm512_rsqrt14_pd((__m512d)a);
    for (int i = 0; i < 2; i++)
        r = kiln_vd_fma(0.5 * r, kiln_vd_fnma(a * r, r, kiln_vd_set(1.0)), r);
    return r;
}
/* The same within 1e-8 of itself: one step. */
KILN_INLINE kiln_vd kiln_vd_rsqrt_rough(kiln_vd a)
{
    kiln_vd r = (kiln_vd)_mm512_rsqrt14_pd((__m512d)a);
    return kiln_vd_fma(0.5 * r, kiln_vd_fnma(a * r, r, kiln_vd_set(1.0)), r);
}
/* The 3-vectors at p[lane], transposed. Reads no more than their 24 bytes; hardware gathers are
 * slower than loads and shuffles. */
KILN_INLINE void kiln_vd_load3(const double *const p[8], kiln_vd *x, kiln_vd *y, kiln_vd *z)
{
    __m512d pair[4];
    for (int i = 0; i < 4; i++) {
        int low = (i & 1) + 4 * (i >> 1);
        __m512d a = _mm512_castpd256_pd512(_mm256_maskz_loadu_pd(7, p[low]));
        pair[i] = _mm512_insertf64x4(a, _mm256_maskz_loadu_pd(7, p[low + 2]), 1);
    }
    __m512d a = _mm512_unpacklo_pd(pair[0], pair[1]), b = _mm512_unpacklo_pd(pair[2], pair[3]);
    *x = (kiln_vd)_mm512_shuffle_f64x2(a, b, 0x88);
    *z = (kiln_vd)_mm512_shuffle_f64x2(a, b, 0xdd);
    *y = (kiln_vd)_mm512_shuffle_f64x2(_mm512_unpackhi_pd(pair[0], pair[1]),
                                       _mm512_unpackhi_pd(pair[2], pair[3]), 0x88);
}
/* The 3-vector at p[lane] += (x, y, z) of the lane, lane after lane: two may have the same place.
 * Two doubles and one: masked stores are slower, and a fourth would touch what others write. */
KILN_INLINE void kiln_vd_add3(double *const p[8], kiln_vd x, kiln_vd y, kiln_vd z)
{
    __m512d even = _mm512_unpacklo_pd((__m512d)x, (__m512d)y);
    __m512d odd = _mm512_unpackhi_pd((__m512d)x, (__m512d)y);
    const __m128d xy[8] = {_mm512_castpd512_pd128(even),    _mm512_castpd512_pd128(odd),
                           _mm512_extractf64x2_pd(even, 1), _mm512_extractf64x2_pd(odd, 1),
                           _mm512_extractf64x2_pd(even, 2), _mm512_extractf64x2_pd(odd, 2),
                           _mm512_extractf64x2_pd(even, 3), _mm512_extractf64x2_pd(odd, 3)};
    double last[8];
    memcpy(last, &z, sizeof last);
    for (int i = 0; i < 8; i++) {
        _mm_storeu_pd(p[i], _mm_add_pd(_mm_loadu_pd(p[i]), xy[i]));
        p[i][2] += last[i];
    }
}
/* Bit per lane where the mask is set. */
KILN_INLINE unsigned kiln_vi_bits(kiln_vi mask)
{
    return (unsigned)_mm512_movepi64_mask((__m512i)mask);
}
#elif defined(KILN_SIMD_AVX2)
KILN_INLINE kiln_vd kiln_vd_sqrt(kiln_vd a)
{
    return (kiln_vd)_mm256_sqrt_pd((__m256d)a);
}
KILN_INLINE kiln_vd kiln_vd_fma(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return (kiln_vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
KILN_INLINE kiln_vd kiln_vd_fms(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return (kiln_vd)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
KILN_INLINE kiln_vd kiln_vd_fnma(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return (kiln_vd)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
KILN_INLINE kiln_vd kiln_vd_rsqrt(kiln_vd a)
{
    return 1.0 / kiln_vd_sqrt(a);
}
KILN_INLINE kiln_vd kiln_vd_rsqrt_rough(kiln_vd a)
{
    return kiln_vd_rsqrt(a);
}
KILN_INLINE void kiln_vd_load3(const double *const p[4], kiln_vd *x, kiln_vd *y, kiln_vd *z)
{
    const __m256i three = _mm256_setr_epi64x(-1, -1, -1, 0);
    __m256d v0 = _mm256_maskload_pd(p[0], three), v1 = _mm256_maskload_pd(p[1], three);
    __m256d v2 = _mm256_maskload_pd(p[2], three), v3 = _mm256_maskload_pd(p[3], three);
    __m256d a = _mm256_unpacklo_pd(v0, v1), b = _mm256_unpacklo_pd(v2, v3);
    *x = (kiln_vd)_mm256_permute2f128_pd(a, b, 0x20);
    *z = (kiln_vd)_mm256_permute2f128_pd(a, b, 0x31);
    *y = (kiln_vd)_mm256_permute2f128_pd(_mm256_unpackhi_pd(v0, v1), _mm256_unpackhi_pd(v2, v3),
                                         0x20);
}
KILN_INLINE void kiln_vd_add3(double *const p[4], kiln_vd x, kiln_vd y, kiln_vd z)
{
    __m256d even = _mm256_unpacklo_pd((__m256d)x, (__m256d)y);
    __m256d odd = _mm256_unpackhi_pd((__m256d)x, (__m256d)y);
    const __m128d xy[4] = {_mm256_castpd256_pd128(even), _mm256_castpd256_pd128(odd),
                           _mm256_extractf128_pd(even, 1), _mm256_extractf128_pd(odd, 1)};
    double last[4];
    memcpy(last, &z, sizeof last);
    for (int i = 0; i < 4; i++) {
        _mm_storeu_pd(p[i], _mm_add_pd(_mm_loadu_pd(p[i]), xy[i]));
        p[i][2] += last[i];
    }
}
KILN_INLINE unsigned kiln_vi_bits(kiln_vi mask)
{
    return (unsigned)_mm256_movemask_pd((__m256d)mask);
}
#else
KILN_INLINE kiln_vd kiln_vd_sqrt(kiln_vd a)
{
    kiln_vd r = a;
    for (int i = 0; i < KILN_VD_LANES; i++)
        r[i] = sqrt(a[i]);
    return r;
}
KILN_INLINE kiln_vd kiln_vd_fma(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return a * b + c;
}
KILN_INLINE kiln_vd kiln_vd_fms(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return a * b - c;
}
KILN_INLINE kiln_vd kiln_vd_fnma(kiln_vd a, kiln_vd b, kiln_vd c)
{
    return c - a * b;
}
KILN_INLINE kiln_vd kiln_vd_rsqrt(kiln_vd a)
{
    return 1.0 / kiln_vd_sqrt(a);
}
KILN_INLINE kiln_vd kiln_vd_rsqrt_rough(kiln_vd a)
{
    return kiln_vd_rsqrt(a);
}
KILN_INLINE void kiln_vd_load3(const double *const p[2], kiln_vd *x, kiln_vd *y, kiln_vd *z)
{
    *x = (kiln_vd){p[0][0], p[1][0]};
    *y = (kiln_vd){p[0][1], p[1][1]};
    *z = (kiln_vd){p[0][2], p[1][2]};
}
KILN_INLINE void kiln_vd_add3(double *const p[2], kiln_vd x, kiln_vd y, kiln_vd z)
{
    for (int i = 0; i < 2; i++)
        p[i][0] += x[i], p[i][1] += y[i], p[i][2] += z[i];
}
KILN_INLINE unsigned kiln_vi_bits(kiln_vi mask)
{
    unsigned bits = 0;
    for (int i = 0; i < KILN_VD_LANES; i++)
        bits |= (unsigned)(mask[i] & 1) << i;
    return bits;
}
#endif

/* Vectors of KILN_VF_LANES floats (4, 8, 8). Not 16: strips of eight rows fill these exactly. */
#if defined(KILN_SIMD_AVX512) || defined(KILN_SIMD_AVX2)
#define KILN_VF_LANES 8
#else
#define KILN_VF_LANES 4
#endif
typedef float kiln_vf __attribute__((vector_size(4 * KILN_VF_LANES)));
KILN_INLINE kiln_vf kiln_vf_load(const float *p)
{
    kiln_vf v;
    memcpy(&v, p, sizeof v);
    return v;
}
KILN_INLINE void kiln_vf_store(float *p, kiln_vf v)
{
    memcpy(p, &v, sizeof v);
}
KILN_INLINE kiln_vf kiln_vf_set(float s)
{
    return s - (kiln_vf){0};
}
#if defined(KILN_SIMD_AVX512) || defined(KILN_SIMD_AVX2)
KILN_INLINE kiln_vf kiln_vf_fma(kiln_vf a, kiln_vf b, kiln_vf c)
{
    return (kiln_vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
KILN_INLINE kiln_vf kiln_vf_fnma(kiln_vf a, kiln_vf b, kiln_vf c)
{
    return (kiln_vf)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
#else
KILN_INLINE kiln_vf kiln_vf_fma(kiln_vf a, kiln_vf b, kiln_vf c)
{
    return a * b + c;
}
KILN_INLINE kiln_vf kiln_vf_fnma(kiln_vf a, kiln_vf b, kiln_vf c)
{
    return c - a * b;
}
#endif

/* Three numbers at once (a row of a 3x3 block) in a vector of four, on every instruction set. Loads
 * and stores touch the three only; the fourth lane is zero after a load. */
typedef double kiln_v3d __attribute__((vector_size(32)));
#if defined(KILN_SIMD_AVX512)
KILN_INLINE kiln_v3d kiln_v3d_load(const double *p)
{
    return (kiln_v3d)_mm256_maskz_loadu_pd(7, p);
}
KILN_INLINE void kiln_v3d_store(double *p, kiln_v3d v)
{
    _mm256_mask_storeu_pd(p, 7, (__m256d)v);
}
#elif defined(KILN_SIMD_AVX2)
KILN_INLINE kiln_v3d kiln_v3d_load(const double *p)
{
    return (kiln_v3d)_mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0));
}
KILN_INLINE void kiln_v3d_store(double *p, kiln_v3d v)
{
    _mm256_maskstore_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0), (__m256d)v);
}
#else
KILN_INLINE kiln_v3d kiln_v3d_load(const double *p)
{
    return (kiln_v3d){p[0], p[1], p[2], 0.0};
}
KILN_INLINE void kiln_v3d_store(double *p, kiln_v3d v)
{
    for (int i = 0; i < 3; i++)
        p[i] = v[i];
}
#endif
#if defined(KILN_SIMD_AVX512) || defined(KILN_SIMD_AVX2)
KILN_INLINE kiln_v3d kiln_v3d_fma(kiln_v3d a, kiln_v3d b, kiln_v3d c)
{
    return (kiln_v3d)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
/* c - a * b */
KILN_INLINE kiln_v3d kiln_v3d_fnma(kiln_v3d a, kiln_v3d b, kiln_v3d c)
{
    return (kiln_v3d)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#else
KILN_INLINE kiln_v3d kiln_v3d_fma(kiln_v3d a, kiln_v3d b, kiln_v3d c)
{
    return a * b + c;
}
KILN_INLINE kiln_v3d kiln_v3d_fnma(kiln_v3d a, kiln_v3d b, kiln_v3d c)
{
    return c - a * b;
}
#endif
/* From single precision; reads four numbers, the fourth lane is whatever was there. */
KILN_INLINE kiln_v3d kiln_v3d_load_floats(const float *p)
{
#if defined(KILN_SIMD_AVX512) || defined(KILN_SIMD_AVX2)
    return (kiln_v3d)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    return (kiln_v3d){p[0], p[1], p[2], p[3]};
#endif
}
KILN_INLINE kiln_v3d kiln_v3d_set(double s)
{
    return (kiln_v3d){s, s, s, s};
}
/* Sums of the three lanes of a, b and c. */
KILN_INLINE kiln_v3d kiln_v3d_sums(kiln_v3d a, kiln_v3d b, kiln_v3d c)
{
    return (kiln_v3d){a[0] + a[1] + a[2], b[0] + b[1] + b[2], c[0] + c[1] + c[2], 0.0};
}

/* Eight floats or 32-bit integers on every instruction set, for searches: loads, comparisons and
 * bits only. GCC takes comparisons of 32-byte vectors apart lane by lane without AVX, and through
 * mask registers with AVX-512, hence halves and intrinsics. */
#if defined(KILN_SIMD_AVX512) || defined(KILN_SIMD_AVX2)
typedef __m256 kiln_vf8;
typedef __m256i kiln_vi8;
KILN_INLINE kiln_vf8 kiln_vf8_set(float s)
{
    return _mm256_set1_ps(s);
}
KILN_INLINE kiln_vi8 kiln_vi8_set(uint32_t s)
{
    return _mm256_set1_epi32((int32_t)s);
}
KILN_INLINE kiln_vi8 kiln_vf8_le(kiln_vf8 a, kiln_vf8 b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}
KILN_INLINE kiln_vi8 kiln_vi8_eq(kiln_vi8 a, kiln_vi8 b)
{
    return _mm256_cmpeq_epi32(a, b);
}
KILN_INLINE kiln_vi8 kiln_vi8_and(kiln_vi8 a, kiln_vi8 b)
{
    return _mm256_and_si256(a, b);
}
KILN_INLINE kiln_vi8 kiln_vi8_or(kiln_vi8 a, kiln_vi8 b)
{
    return _mm256_or_si256(a, b);
}
KILN_INLINE unsigned kiln_vi8_bits(kiln_vi8 mask)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}
#else
typedef float kiln_vf4_ __attribute__((vector_size(16)));
typedef int32_t kiln_vi4_ __attribute__((vector_size(16)));
typedef struct kiln_vf8 {
    kiln_vf4_ low, high;
} kiln_vf8;
typedef struct kiln_vi8 {
    kiln_vi4_ low, high;
} kiln_vi8;
KILN_INLINE kiln_vf8 kiln_vf8_set(float s)
{
    return (kiln_vf8){{s, s, s, s}, {s, s, s, s}};
}
KILN_INLINE kiln_vi8 kiln_vi8_set(uint32_t u)
{
    int32_t s = (int32_t)u;
    return (kiln_vi8){{s, s, s, s}, {s, s, s, s}};
}
KILN_INLINE kiln_vi8 kiln_vf8_le(kiln_vf8 a, kiln_vf8 b)
{
    return (kiln_vi8){a.low <= b.low, a.high <= b.high};
}
KILN_INLINE kiln_vi8 kiln_vi8_eq(kiln_vi8 a, kiln_vi8 b)
{
    return (kiln_vi8){a.low == b.low, a.high == b.high};
}
KILN_INLINE kiln_vi8 kiln_vi8_and(kiln_vi8 a, kiln_vi8 b)
{
    return (kiln_vi8){a.low & b.low, a.high & b.high};
}
KILN_INLINE kiln_vi8 kiln_vi8_or(kiln_vi8 a, kiln_vi8 b)
{
    return (kiln_vi8){a.low | b.low, a.high | b.high};
}
KILN_INLINE unsigned kiln_vi8_bits(kiln_vi8 mask)
{
#if defined(__SSE2__)
    return (unsigned)(_mm_movemask_ps((__m128)mask.low) | _mm_movemask_ps((__m128)mask.high) << 4);
#else
    unsigned bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (unsigned)(mask.low[i] & 1) << i | (unsigned)(mask.high[i] & 1) << (i + 4);
    return bits;
#endif
}
#endif

KILN_INLINE kiln_vf8 kiln_vf8_load(const float *p)
{
    kiln_vf8 v;
    memcpy(&v, p, sizeof v);
    return v;
}

KILN_INLINE kiln_vi8 kiln_vi8_load(const uint32_t *p)
{
    kiln_vi8 v;
    memcpy(&v, p, sizeof v);
    return v;
}

#endif

/* Bit i where id[i] == wanted; at most one of the eight is. */
#if defined(__SSE2__)
#include <emmintrin.h>
KILN_INLINE uint32_t kiln_find8(const uint32_t id[8], uint32_t wanted)
{
    __m128i all = _mm_set1_epi32((int)wanted);
    __m128i low = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)id), all);
    __m128i high = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(id + 4)), all);
    __m128i narrow = _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128());
    return (uint32_t)_mm_movemask_epi8(narrow);
}
#else
KILN_INLINE uint32_t kiln_find8(const uint32_t id[8], uint32_t wanted)
{
    uint32_t found = 0;
    for (int i = 0; i < 8; i++)
        found |= (uint32_t)(id[i] == wanted) << i;
    return found;
}
#endif

#endif
