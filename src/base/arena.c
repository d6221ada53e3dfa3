#include "base/arena.h"

enum { ALIGNMENT = 64, FIRST_BLOCK = 1 << 16 };

/* Blocks form a list; those behind `current` are empty and wait for reuse. */
struct kiln_arena_block {
    struct kiln_arena_block *next;
    size_t size; /* of the whole block, header included */
    size_t used; /* from the block's start */
};

static size_t first_offset(const struct kiln_arena_block *block)
{
    uintptr_t start = (uintptr_t)(block + 1);
    return (size_t)(((start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1)) - (uintptr_t)block);
}

void kiln_arena_init(kiln_arena *arena, kiln_context *context)
{
    *arena = (kiln_arena){.context = context};
}

void kiln_arena_destroy(kiln_arena *arena)
{
    for (struct kiln_arena_block *block = arena->first; block;) {
        struct kiln_arena_block *next = block->next;
        kiln_release(arena->context, block, block->size);
        block = next;
    }
    arena->first = arena->current = NULL;
}

static struct kiln_arena_block *add_block(kiln_arena *arena, size_t bytes)
{
    size_t size = arena->current ? 2 * arena->current->size : FIRST_BLOCK;
    size_t needed = bytes + sizeof(struct kiln_arena_block) + ALIGNMENT;
    if (size < needed)
        size = needed;
    struct kiln_arena_block *block = kiln_resize(arena->context, NULL, 0, size);
    if (!block)
        return NULL;
    block->size = size;
    block->used = first_offset(block);
    if (arena->current) {
        block->next = arena->current->next;
        arena->current->next = block;
    } else {
        block->next = NULL;
        arena->first = block;
    }
    return block;
}

void *kiln_arena_alloc(kiln_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    size_t rounded = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct kiln_arena_block *block = arena->current ? arena->current : arena->first;
    while (block && block->used + rounded > block->size) {
        block = block->next;
        if (block)
            block->used = first_offset(block);
    }
    if (!block && !(block = add_block(arena, rounded)))
        return NULL;
    arena->current = block;
    void *result = (char *)block + block->used;
    block->used += rounded;
    return result;
}

kiln_arena_mark kiln_arena_set_mark(const kiln_arena *arena)
{
    return (kiln_arena_mark){arena->current, arena->current ? arena->current->used : 0};
}

void kiln_arena_release(kiln_arena *arena, kiln_arena_mark mark)
{
    arena->current = mark.block ? mark.block : arena->first;
    if (arena->current)
        arena->current->used = mark.block ? mark.used : first_offset(arena->current);
}
