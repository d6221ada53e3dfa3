/* Compiler extensions live here and in simd.h, nowhere else. */
#ifndef KILN_BASE_PLATFORM_H
#define KILN_BASE_PLATFORM_H

#if defined(__GNUC__)
#define KILN_LIKELY(c)          __builtin_expect(!!(c), 1)
#define KILN_UNLIKELY(c)        __builtin_expect(!!(c), 0)
#define KILN_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define KILN_NOINLINE           __attribute__((noinline))
#define KILN_INLINE             static inline __attribute__((always_inline, unused))
#define KILN_PREFETCH(p)        __builtin_prefetch(p)
#define KILN_UNUSED             __attribute__((unused))
#define KILN_TYPEOF(x)          __typeof__(x)
/* Product of two 64-bit words and its carries. */
__extension__ typedef unsigned __int128 kiln_u128;
#else
#error "Kiln is built with GCC or Clang"
#endif

#endif
