/* How a product with the half-stored matrix is split: rows go in fixed chunks; what a chunk adds to
 * its own rows it adds directly, what it adds to rows of later chunks goes to a compact buffer of
 * its own, and each chunk afterwards collects what earlier ones have for it, in their order. So the
 * sums are the same for any number of threads. */
#ifndef KILN_SOLVE_BSR_SPILL_H
#define KILN_SOLVE_BSR_SPILL_H

#include "solve/bsr.h"

enum { KILN_BSR_GRAIN = 256 }; /* rows of a chunk */

/* Part of chunk `from`'s buffer that belongs to one later chunk. */
typedef struct kiln_spill_range {
    uint32_t from;
    uint64_t begin, end; /* slots */
} kiln_spill_range;

typedef struct kiln_bsr_spill {
    size_t chunks, blocks, slots, ranges;
    uint64_t *first;            /* [chunks + 1] slots of a chunk */
    uint32_t *row;              /* [slots] row a slot is for; ascending within a chunk */
    uint32_t *slot;             /* [blocks] place in the chunk: rows below the grain, then slots */
    uint64_t *incoming_first;   /* [chunks + 1] */
    kiln_spill_range *incoming; /* [ranges] by the chunk they go to, then by `from` */
} kiln_bsr_spill;

/* A pattern comes with an empty one, which the first product fills: factors need none. */
kiln_status kiln_bsr_spill_make(const kiln_bsr *matrix, kiln_error *error);
void kiln_bsr_spill_free(kiln_context *context, kiln_bsr_spill *spill); /* NULL allowed */
size_t kiln_bsr_spill_bytes(const kiln_bsr_spill *spill);

void kiln_bsr_sort_columns(uint32_t *column, size_t count); /* ascending */

/* y = A x with `spilled` [slots][n] for scratch; after kiln_bsr_spill_make. */
void kiln_bsr_multiply_with(const kiln_bsr *matrix, const double *x, double *y, double *spilled);

/* y = A x in the rows [begin, end) as far as the chunk itself goes, and its spilled sums. */
KILN_SIMD_DECLARE(void, kiln_bsr_multiply_chunk, const kiln_bsr *matrix, size_t begin, size_t end,
                  const double *x, double *y, double *spilled);

#endif
