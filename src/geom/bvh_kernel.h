/* The overlap search over ranges of leaf groups, one variant per instruction set. */
#ifndef KILN_GEOM_BVH_KERNEL_H
#define KILN_GEOM_BVH_KERNEL_H

#include "geom/bvh.h"

enum { KILN_BVH_BATCH = 2048 };

/* Pairs gather in `batch`, which goes to `flush` when it may not hold the next eight. */
typedef struct kiln_bvh_output {
    kiln_bvh_pair_sink flush;
    void *user;
    size_t count;
    bool stopped;
    kiln_bvh_pair batch[KILN_BVH_BATCH];
} kiln_bvh_output;

/* Leaf groups begin..end-1 of `a` against all of `b`; against those not before them in the order,
 * each pair once, when a == b. Rests of the batch are left to the caller. */
KILN_SIMD_DECLARE(void, kiln_bvh_overlap_range, const kiln_bvh *a, const kiln_bvh *b, size_t begin,
                  size_t end, kiln_bvh_output *out);

#endif
