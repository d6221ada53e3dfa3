#include "solve/front_heap.h"

#include <string.h>

void kiln_front_heap_restart(kiln_front_heap *heap)
{
    heap->holes.count = 0;
    heap->end = 0;
}

/* The smallest hole that is large enough, or the end. */
kiln_status kiln_front_heap_claim(kiln_front_heap *heap, uint64_t size, uint64_t *offset,
                                  kiln_error *error)
{
    kiln_heap_piece *hole = heap->holes.data;
    size_t count = heap->holes.count, best = count;
    for (size_t i = 0; i < count; i++)
        if (hole[i].size >= size && (best == count || hole[i].size < hole[best].size))
            best = i;
    if (best < count) {
        *offset = hole[best].offset;
        hole[best].offset += size;
        hole[best].size -= size;
        return KILN_OK;
    }
    *offset = heap->end;
    heap->end += size;
    return kiln_array_reserve(heap->context, &heap->holes, count + 2, error);
}

kiln_status kiln_front_heap_give_back(kiln_front_heap *heap, uint64_t offset, uint64_t size,
                                      kiln_error *error)
{
    size_t at = 0, count = 0;
    if (size == 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(heap->context, &heap->holes, heap->holes.count + 1, error));
    kiln_heap_piece *hole = heap->holes.data;
    while (at < heap->holes.count && hole[at].offset < offset)
        at++;
    memmove(hole + at + 1, hole + at, (heap->holes.count - at) * sizeof *hole);
    hole[at] = (kiln_heap_piece){offset, size};
    heap->holes.count++;
    for (size_t i = 0; i < heap->holes.count; i++) {
        kiln_heap_piece *last = count ? &hole[count - 1] : NULL;
        if (hole[i].size == 0)
            continue;
        if (last && last->offset + last->size == hole[i].offset)
            last->size += hole[i].size;
        else
            hole[count++] = hole[i];
    }
    heap->holes.count = count;
    return KILN_OK;
}

void kiln_front_heap_free(kiln_front_heap *heap)
{
    kiln_array_free(heap->context, &heap->holes);
}
