/* Inside of a pattern, for those who make one. */
#ifndef KILN_SOLVE_BSR_PATTERN_H
#define KILN_SOLVE_BSR_PATTERN_H

#include "base/hash.h"
#include "solve/bsr.h"

/* The rows of a clique. */
typedef struct kiln_clique {
    const uint32_t *begin, *end;
} kiln_clique;

KILN_INLINE kiln_clique kiln_clique_at(const kiln_cliques *set, size_t clique)
{
    if (set->start)
        return (kiln_clique){set->row + set->start[clique], set->row + set->start[clique + 1]};
    return (kiln_clique){set->row + clique * set->size, set->row + (clique + 1) * set->size};
}

KILN_INLINE size_t kiln_bsr_blocks(const kiln_bsr *matrix)
{
    return matrix->start ? (size_t)matrix->start[matrix->rows] : 0;
}

/* The hash of a pattern is the sum of this and of one for each row, so that rows can be exchanged.
 */
KILN_INLINE uint64_t kiln_bsr_hash_size(uint32_t block, size_t rows)
{
    return kiln_hash_add(block, rows);
}
KILN_INLINE uint64_t kiln_bsr_hash_row(size_t row, const uint32_t *column, size_t count)
{
    return kiln_hash_bytes(row, column, count * sizeof *column);
}

/* Start, columns, spill and what was renewed; the fields still name them. */
void kiln_bsr_free_pattern(kiln_bsr *matrix);
/* Exchanges the pattern for that of `fresh`, which has its arrays, hash and renewed rows, and is
 * freed on failure. The old one stays then. */
kiln_status kiln_bsr_take_pattern(kiln_bsr *matrix, kiln_bsr *fresh, kiln_error *error);

#endif
