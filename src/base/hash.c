#include "base/hash.h"

#include <string.h>

uint64_t kiln_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    size_t left = count;
    /* Four chains at once: one alone waits for its multiplications. */
    uint64_t lane[4] = {hash, hash + 1, hash + 2, hash + 3};
    for (; left >= 32; left -= 32, at += 32) {
        uint64_t word[4];
        memcpy(word, at, 32);
        for (int i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ word[i]) * 0x9e3779b97f4a7c15u;
            lane[i] ^= lane[i] >> 29;
        }
    }
    if (count >= 32)
        for (int i = 0; i < 4; i++)
            hash = kiln_hash_add(hash, lane[i]);
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
