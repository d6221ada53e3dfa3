/* A small set of numbers with a value each, emptied in constant time by an epoch. */
#ifndef KILN_MESH_IDSET_H
#define KILN_MESH_IDSET_H

#include "base/array.h"
#include "base/hash.h"

#include <string.h>

typedef struct kiln_idset_slot {
    uint32_t epoch, id, value;
} kiln_idset_slot;

typedef struct kiln_idset {
    KILN_ARRAY_OF(kiln_idset_slot)
    slots; /* count is a power of two */
    uint32_t epoch, members;
} kiln_idset;

/* Empty, with room for `members` before kiln_idset_grow is due. */
KILN_INLINE kiln_status kiln_idset_clear(kiln_context *context, kiln_idset *set, size_t members,
                                         kiln_error *error)
{
    size_t wanted = set->slots.count ? set->slots.count : 64;
    while (wanted < 2 * members)
        wanted *= 2;
    if (KILN_UNLIKELY(wanted > set->slots.count || set->epoch == UINT32_MAX)) {
        KILN_TRY(kiln_array_reserve(context, &set->slots, wanted, error));
        set->slots.count = wanted;
        memset(set->slots.data, 0, wanted * sizeof *set->slots.data);
        set->epoch = 0;
    }
    set->epoch++;
    set->members = 0;
    return KILN_OK;
}

/* The slot of an id, or the vacant one where it goes (epoch not the set's). */
KILN_INLINE kiln_idset_slot *kiln_idset_at(const kiln_idset *set, uint32_t id)
{
    size_t mask = set->slots.count - 1;
    size_t at = ((id * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (set->slots.data[at].epoch == set->epoch && set->slots.data[at].id != id)
        at = (at + 1) & mask;
    return &set->slots.data[at];
}

KILN_INLINE int kiln_idset_has(const kiln_idset *set, uint32_t id)
{
    return kiln_idset_at(set, id)->epoch == set->epoch;
}

/* Adds an id that is absent; the caller keeps the set at most half full. */
KILN_INLINE void kiln_idset_add(kiln_idset *set, kiln_idset_slot *vacant, uint32_t id,
                                uint32_t value)
{
    *vacant = (kiln_idset_slot){set->epoch, id, value};
    set->members++;
}

/* Doubles the slots and keeps the members. */
KILN_INLINE kiln_status kiln_idset_grow(kiln_context *context, kiln_idset *set, kiln_error *error)
{
    kiln_idset larger = {0};
    KILN_TRY(kiln_idset_clear(context, &larger, set->slots.count, error));
    for (size_t i = 0; i < set->slots.count; i++) {
        const kiln_idset_slot *slot = &set->slots.data[i];
        if (slot->epoch == set->epoch)
            kiln_idset_add(&larger, kiln_idset_at(&larger, slot->id), slot->id, slot->value);
    }
    kiln_array_free(context, &set->slots);
    *set = larger;
    return KILN_OK;
}

#endif
