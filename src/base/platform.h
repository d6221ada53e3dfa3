/* Compiler extensions live here and in simd.h, nowhere else. */
#ifndef KILN_BASE_PLATFORM_H
#define KILN_BASE_PLATFORM_H

#include <stdint.h>

#ifdef __clang__
#define KILN_COMPILER __VERSION__
#else
#define KILN_COMPILER "GCC " __VERSION__
#endif

#if defined(__GNUC__)
#define KILN_LIKELY(c)           __builtin_expect(!!(c), 1)
#define KILN_UNLIKELY(c)         __builtin_expect(!!(c), 0)
#define KILN_PRINTF(fmt, first)  __attribute__((format(printf, fmt, first)))
#define KILN_NOINLINE            __attribute__((noinline))
#define KILN_INLINE              static inline __attribute__((always_inline, unused))
#define KILN_PREFETCH(p)         __builtin_prefetch(p)
#define KILN_UNUSED              __attribute__((unused))
#define KILN_BSWAP32(x)          __builtin_bswap32(x)
#define KILN_BSWAP64(x)          __builtin_bswap64(x)
#define KILN_LEADING_ZEROS64(x)  __builtin_clzll(x) /* x is not zero */
#define KILN_TRAILING_ZEROS(x)   __builtin_ctz(x)   /* likewise, 32 bits */
#define KILN_TRAILING_ZEROS64(x) __builtin_ctzll(x) /* and 64 */

/* Product of two 64-bit words and its carries. */
__extension__ typedef unsigned __int128 kiln_u128;

/* Full product of two words: low half returned, high half stored. */
KILN_INLINE uint64_t kiln_multiply128(uint64_t a, uint64_t b, uint64_t *high)
{
    kiln_u128 product = (kiln_u128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
}
#else
#error "Kiln is built with GCC or Clang"
#endif

/* Between two looks at what another thread will change. */
KILN_INLINE void kiln_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Index of the lowest set bit; bits != 0. */
KILN_INLINE int kiln_lowest_bit(unsigned bits)
{
    return __builtin_ctz(bits);
}

#endif
