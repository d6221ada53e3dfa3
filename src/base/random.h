/* Counter-based random numbers: a value is a pure function of (seed, stream, counter), so results
 * do not depend on the order or the thread in which they are drawn. */
#ifndef KILN_BASE_RANDOM_H
#define KILN_BASE_RANDOM_H

#include "base/hash.h"

typedef struct kiln_random {
    uint64_t key, counter;
} kiln_random;

KILN_INLINE kiln_random kiln_random_start(uint64_t seed, uint64_t stream)
{
    return (kiln_random){kiln_hash_add(kiln_hash_mix(seed + 1), stream), 0};
}

KILN_INLINE uint64_t kiln_random_u64(kiln_random *random)
{
    uint64_t inner = kiln_hash_mix(random->counter++ * 0x9e3779b97f4a7c15u + random->key);
    return kiln_hash_mix(inner ^ (random->key >> 7));
}

/* Uniform in [0, 1), 53 bits. */
KILN_INLINE double kiln_random_unit(kiln_random *random)
{
    return (double)(kiln_random_u64(random) >> 11) * 0x1p-53;
}

KILN_INLINE double kiln_random_range(kiln_random *random, double low, double high)
{
    return low + (high - low) * kiln_random_unit(random);
}

/* Uniform in [0, n), n > 0, by fixed-point multiplication (bias below n / 2^32). */
KILN_INLINE uint32_t kiln_random_below(kiln_random *random, uint32_t n)
{
    return (uint32_t)(((kiln_random_u64(random) >> 32) * n) >> 32);
}

#endif
