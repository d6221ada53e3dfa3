#include "base/hash.h"

#include <string.h>

uint64_t kiln_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    size_t left = count;
    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = kiln_hash_add(hash, word);
    }
    uint64_t tail = 0;
    if (left)
        memcpy(&tail, at, left);
    return kiln_hash_add(kiln_hash_add(hash, tail), count);
}
