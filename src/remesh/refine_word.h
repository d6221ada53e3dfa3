/* The word that a tet of a refined mesh carries, so that the refinement can be taken back.
 *
 *   bits 0-5       generation, 5 * cycle + state
 *   bits 6+7k ...  what cycle k left behind: code (3 bits), tag of A, of C, of D, role
 *   bit 63         the tet belongs to the hierarchy; without it it is foreign
 *
 * It names corners of its own tet and no rows, so that renumbering does not matter; the order of
 * the corners does. Whatever another operator makes has the word 0 and is foreign, because the
 * column's rule is `none`. */
#ifndef KILN_REMESH_REFINE_WORD_H
#define KILN_REMESH_REFINE_WORD_H

#include "base/platform.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t kiln_refine_word;

#define KILN_REFINE_BASE (UINT64_C(1) << 63) /* a tet of the initial mesh */

enum {
    KILN_REFINE_CYCLES = 8,
    KILN_REFINE_LAST = 5 * KILN_REFINE_CYCLES, /* highest generation */
};

/* What the code says in state 2 about the edge between the centroid and b (the other centroid, or
 * the point in the face), where it is less than 6 with the slot of b that was overwritten:
 * 0-2 slots 3 and code, 3-5 (star) slots 3 and code-3, 6 and 7 (star) slots 0 and 1 of a new tet.
 * In state 3 it is the slot of b. */
enum { KILN_CODE_STAR = 3, KILN_CODE_NEW = 6, KILN_CODE_NEW_STAR = 7 };

/* Place of a tag within its cycle. */
enum { KILN_TAG_A = 3, KILN_TAG_C = 4, KILN_TAG_D = 5, KILN_TAG_ROLE = 6 };

KILN_INLINE bool kiln_word_known(kiln_refine_word word)
{
    return word >> 63 && (word & 63) <= KILN_REFINE_LAST;
}
KILN_INLINE uint32_t kiln_word_generation(kiln_refine_word word)
{
    return (uint32_t)(word & 63);
}
/* The cycle of a tet's state; a tet at rest (state 0) belongs to the cycle that comes. */
KILN_INLINE uint32_t kiln_word_cycle(kiln_refine_word word)
{
    return kiln_word_generation(word) / 5;
}
KILN_INLINE uint32_t kiln_word_shift(uint32_t cycle)
{
    return 6 + 7 * cycle;
}
KILN_INLINE uint32_t kiln_word_code(kiln_refine_word word, uint32_t cycle)
{
    return (uint32_t)(word >> kiln_word_shift(cycle)) & 7;
}
KILN_INLINE bool kiln_word_tag(kiln_refine_word word, uint32_t cycle, int tag)
{
    return (word >> (kiln_word_shift(cycle) + (uint32_t)tag)) & 1;
}
KILN_INLINE kiln_refine_word kiln_word_at(kiln_refine_word word, uint32_t generation)
{
    return (word & ~UINT64_C(63)) | generation;
}
KILN_INLINE kiln_refine_word kiln_word_with_code(kiln_refine_word word, uint32_t cycle,
                                                 uint32_t code)
{
    return (word & ~(UINT64_C(7) << kiln_word_shift(cycle))) | (kiln_refine_word)code
                                                                   << kiln_word_shift(cycle);
}
KILN_INLINE kiln_refine_word kiln_word_with_tag(kiln_refine_word word, uint32_t cycle, int tag,
                                                bool on)
{
    kiln_refine_word bit = UINT64_C(1) << (kiln_word_shift(cycle) + (uint32_t)tag);
    return on ? word | bit : word & ~bit;
}
/* Of a new tet, which knows nothing of what was before it. */
KILN_INLINE kiln_refine_word kiln_word_new(uint32_t generation)
{
    return KILN_REFINE_BASE | generation;
}
KILN_INLINE bool kiln_code_is_star(uint32_t code)
{
    return code >= KILN_CODE_STAR && code != KILN_CODE_NEW;
}

#endif
