#include "io/id_map.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

kiln_status kiln_id_map_push_run(kiln_id_map *map, kiln_context *context, uint64_t id,
                                 uint32_t count, kiln_error *error)
{
    KILN_ASSERT_OP(id, <=, (uint64_t)INT64_MAX);
    kiln_id_run *last = map->runs.count ? &map->runs.data[map->runs.count - 1] : NULL;
    if (last && last->first + last->count == id) {
        last->count += count;
    } else if (count) {
        kiln_id_run run = {id, map->count, count};
        KILN_TRY(kiln_array_push(context, &map->runs, run, error));
    }
    map->count += count;
    return KILN_OK;
}

kiln_status kiln_id_map_push(kiln_id_map *map, kiln_context *context, uint64_t id,
                             kiln_error *error)
{
    return kiln_id_map_push_run(map, context, id, 1, error);
}

static int by_first(const void *left, const void *right)
{
    const kiln_id_run *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static kiln_status fill_table(kiln_id_map *map, kiln_context *context, uint64_t *twice,
                              kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, &map->table, (size_t)map->range, error));
    memset(map->table.data, 0xFF, (size_t)map->range * sizeof(uint32_t));
    map->table.count = (size_t)map->range;
    for (size_t i = 0; i < map->runs.count; i++) {
        kiln_id_run run = map->runs.data[i];
        uint32_t *slot = map->table.data + (run.first - map->first);
        for (uint32_t k = 0; k < run.count; k++) {
            if (slot[k] != KILN_ID_NONE)
                *twice = run.first + k;
            slot[k] = run.index + k;
        }
    }
    return KILN_OK;
}

static void sort_runs(kiln_id_map *map, uint64_t *twice)
{
    kiln_id_run *run = map->runs.data;
    qsort(run, map->runs.count, sizeof *run, by_first);
    uint64_t end = run[0].first + run[0].count;
    for (size_t i = 1; i < map->runs.count; i++) {
        if (run[i].first < end)
            *twice = run[i].first;
        if (run[i].first + run[i].count > end)
            end = run[i].first + run[i].count;
    }
}

kiln_status kiln_id_map_finish(kiln_id_map *map, kiln_context *context, uint64_t *twice,
                               kiln_error *error)
{
    *twice = UINT64_MAX;
    size_t runs = map->runs.count;
    if (runs == 0)
        return KILN_OK;
    uint64_t first = UINT64_MAX, end = 0;
    for (size_t i = 0; i < runs; i++) {
        kiln_id_run run = map->runs.data[i];
        first = run.first < first ? run.first : first;
        end = run.first + run.count > end ? run.first + run.count : end;
    }
    map->first = first;
    map->range = end - first;
    /* The table may take as much again as the points do (24 bytes each), no more. */
    if (runs > 1 && map->range <= 6 * (uint64_t)map->count)
        return fill_table(map, context, twice, error);
    if (runs > 1)
        sort_runs(map, twice);
    return KILN_OK;
}

uint32_t kiln_id_map_search_(const kiln_id_map *map, uint64_t id)
{
    size_t low = 0, high = map->runs.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (map->runs.data[middle].first <= id)
            low = middle;
        else
            high = middle;
    }
    kiln_id_run run = map->runs.data[low];
    return id - run.first < run.count ? run.index + (uint32_t)(id - run.first) : KILN_ID_NONE;
}

void kiln_id_map_free(kiln_id_map *map, kiln_context *context)
{
    kiln_array_free(context, &map->runs);
    kiln_array_free(context, &map->table);
    *map = (kiln_id_map){0};
}
