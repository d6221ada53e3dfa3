/* From the numbers a file gives its nodes or elements to positions in our lists. Numbers are fed in
 * list order and kept as runs, so the usual 1, 2, 3, ... costs nothing. */
#ifndef KILN_IO_ID_MAP_H
#define KILN_IO_ID_MAP_H

#include "base/array.h"

#include <stdbool.h>

typedef struct kiln_id_run {
    uint64_t first; /* number of the first, the others follow on */
    uint32_t index; /* its position */
    uint32_t count;
} kiln_id_run;

typedef struct kiln_id_map {
    KILN_ARRAY_OF(kiln_id_run)
    runs;
    kiln_u32_array table;  /* position by number - first, when the numbers are dense enough */
    uint64_t first, range; /* numbers lie in [first, first + range) */
    uint32_t count;        /* positions given out */
} kiln_id_map;

enum { KILN_ID_NONE = 0xFFFFFFFF };

/* The next position gets number `id`; the next `count` positions get consecutive numbers. Numbers
 * have at most 63 bits. */
kiln_status kiln_id_map_push(kiln_id_map *map, kiln_context *context, uint64_t id,
                             kiln_error *error);
kiln_status kiln_id_map_push_run(kiln_id_map *map, kiln_context *context, uint64_t id,
                                 uint32_t count, kiln_error *error);
/* Makes lookups possible. *twice is a number that was given more than once (the lookup finds one of
 * its positions), or UINT64_MAX. */
kiln_status kiln_id_map_finish(kiln_id_map *map, kiln_context *context, uint64_t *twice,
                               kiln_error *error);
void kiln_id_map_free(kiln_id_map *map, kiln_context *context);

uint32_t kiln_id_map_search_(const kiln_id_map *map, uint64_t id);

/* Whether position = number - first. */
KILN_INLINE bool kiln_id_map_is_shift(const kiln_id_map *map)
{
    return map->runs.count == 1;
}

/* Position of a number, or KILN_ID_NONE. */
KILN_INLINE uint32_t kiln_id_map_find(const kiln_id_map *map, uint64_t id)
{
    uint64_t offset = id - map->first;
    if (offset >= map->range)
        return KILN_ID_NONE;
    if (kiln_id_map_is_shift(map))
        return (uint32_t)offset;
    return map->table.count ? map->table.data[offset] : kiln_id_map_search_(map, id);
}

#endif
