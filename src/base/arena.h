/* Scratch memory by bump allocation. Marks nest; releasing one frees all that came after it in
 * constant time. Blocks are kept for reuse until the arena is destroyed. */
#ifndef KILN_BASE_ARENA_H
#define KILN_BASE_ARENA_H

#include "base/context.h"

typedef struct kiln_arena {
    kiln_context *context;
    struct kiln_arena_block *first, *current;
} kiln_arena;

typedef struct kiln_arena_mark {
    struct kiln_arena_block *block;
    size_t used;
} kiln_arena_mark;

void kiln_arena_init(kiln_arena *arena, kiln_context *context);
void kiln_arena_destroy(kiln_arena *arena);

/* 64-byte aligned, uninitialised; NULL when out of memory. */
void *kiln_arena_alloc(kiln_arena *arena, size_t bytes);
#define kiln_arena_array(arena, T, count) ((T *)kiln_arena_alloc((arena), sizeof(T) * (count)))

kiln_arena_mark kiln_arena_set_mark(const kiln_arena *arena);
void kiln_arena_release(kiln_arena *arena, kiln_arena_mark mark);

#endif
