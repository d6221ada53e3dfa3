/* Allocations of a heap played through in advance: where each piece will lie, and how large the
 * heap has to be. */
#ifndef KILN_SOLVE_FRONT_HEAP_H
#define KILN_SOLVE_FRONT_HEAP_H

#include "base/array.h"

typedef struct kiln_heap_piece {
    uint64_t offset, size;
} kiln_heap_piece;

typedef struct kiln_front_heap {
    kiln_context *context;
    KILN_ARRAY_OF(kiln_heap_piece)
    holes;        /* ascending; they never touch */
    uint64_t end; /* of all that was ever claimed */
} kiln_front_heap;

void kiln_front_heap_restart(kiln_front_heap *heap); /* empty */
kiln_status kiln_front_heap_claim(kiln_front_heap *heap, uint64_t size, uint64_t *offset,
                                  kiln_error *error);
kiln_status kiln_front_heap_give_back(kiln_front_heap *heap, uint64_t offset, uint64_t size,
                                      kiln_error *error);
void kiln_front_heap_free(kiln_front_heap *heap);

#endif
