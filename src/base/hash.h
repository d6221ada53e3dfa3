/* 64-bit content hash, the same on every machine: order matters, padding must not be fed in. */
#ifndef KILN_BASE_HASH_H
#define KILN_BASE_HASH_H

#include "base/platform.h"

#include <stddef.h>
#include <stdint.h>

/* A bijection of 64 bits in which every input bit moves half of the output bits. */
KILN_INLINE uint64_t kiln_hash_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

KILN_INLINE uint64_t kiln_hash_add(uint64_t hash, uint64_t value)
{
    return kiln_hash_mix(hash * 0x9e3779b97f4a7c15u + value + 0x632be59bd9b4e019u);
}

uint64_t kiln_hash_bytes(uint64_t hash, const void *bytes, size_t count);

#endif
