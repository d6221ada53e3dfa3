#include "topology/edge_table.h"

#include "base/hash.h"

#include <string.h>

static kiln_edge_slot *find(const kiln_edge_table *table, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t mask = table->size - 1, at = kiln_hash_mix((uint64_t)low << 32 | high) & mask;
    while (table->slots[at].count && (table->slots[at].low != low || table->slots[at].high != high))
        at = (at + 1) & mask;
    return &table->slots[at];
}

const kiln_edge_slot *kiln_edge_table_find(const kiln_edge_table *table, uint32_t a, uint32_t b)
{
    return find(table, a, b);
}

kiln_status kiln_edge_table_build(kiln_edge_table *table, kiln_context *context,
                                  const kiln_soup_triangle *triangles, size_t count,
                                  kiln_error *error)
{
    size_t size = 64;
    while (size < 4 * count)
        size *= 2;
    kiln_edge_table_free(table);
    table->context = context;
    table->slots = kiln_resize(context, NULL, 0, size * sizeof *table->slots);
    if (!table->slots)
        return kiln_fail_memory(error, size * sizeof *table->slots);
    table->size = size;
    memset(table->slots, 0, size * sizeof *table->slots);
    for (size_t i = 0; i < 3 * count; i++) {
        const uint32_t *v = triangles[i / 3].v;
        uint32_t a = v[i % 3], b = v[(i + 1) % 3];
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            continue;
        kiln_edge_slot *slot = find(table, a, b);
        slot->low = a < b ? a : b;
        slot->high = a < b ? b : a;
        if (slot->count < 2)
            slot->side[slot->count] = (uint32_t)i;
        slot->count++;
    }
    return KILN_OK;
}

void kiln_edge_table_free(kiln_edge_table *table)
{
    if (table->slots)
        kiln_release(table->context, table->slots, table->size * sizeof *table->slots);
    *table = (kiln_edge_table){0};
}

bool kiln_edge_is_turned(const kiln_edge_slot *edge, const kiln_soup_triangle *triangles)
{
    uint32_t a = triangles[edge->side[0] / 3].v[edge->side[0] % 3];
    return a == triangles[edge->side[1] / 3].v[edge->side[1] % 3];
}
