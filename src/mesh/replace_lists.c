/* Which tets of a large cavity have a vertex, so that nothing searches all of it for each. */
#include "mesh/replace_impl.h"

static kiln_status reserve_list(kiln_context *context, kiln_corner_lists *lists, size_t tets)
{
    KILN_TRY(kiln_idset_clear(context, &lists->vertex, 4 * tets, NULL));
    KILN_TRY(kiln_array_reserve(context, &lists->start, 4 * tets + 2, NULL));
    return kiln_array_reserve(context, &lists->tets, 4 * tets + 1, NULL);
}

kiln_status kiln_cavity_reserve_lists(kiln_context *context, const kiln_cavity *cavity,
                                      struct kiln_scratch *scratch)
{
    KILN_TRY(reserve_list(context, &scratch->old_at, cavity->old_count));
    return reserve_list(context, &scratch->fresh_at, cavity->fresh_count);
}

/* Corners of the i-th tet of R or of N. */
static const uint32_t *corners_of(const kiln_mesh *mesh, const kiln_cavity *cavity, bool old,
                                  uint32_t i)
{
    return old ? mesh->tet[cavity->old[i]].v : cavity->fresh[i].v;
}

/* Counts two places on, so that the sums are begins while filling and ends of the one before
 * afterwards. */
static void fill(const kiln_mesh *mesh, const kiln_cavity *cavity, bool old,
                 kiln_corner_lists *lists)
{
    uint32_t count = old ? cavity->old_count : cavity->fresh_count, *start = lists->start.data;
    start[0] = start[1] = 0;
    for (uint32_t i = 0; i < 4 * count; i++) {
        uint32_t vertex = corners_of(mesh, cavity, old, i / 4)[i % 4];
        kiln_idset_slot *slot = kiln_idset_at(&lists->vertex, vertex);
        if (slot->epoch != lists->vertex.epoch) {
            start[lists->vertex.members + 2] = 0;
            kiln_idset_add(&lists->vertex, slot, vertex, lists->vertex.members);
        }
        start[slot->value + 2]++;
    }
    for (uint32_t place = 0; place < lists->vertex.members; place++)
        start[place + 2] += start[place + 1];
    for (uint32_t i = 0; i < 4 * count; i++) {
        uint32_t vertex = corners_of(mesh, cavity, old, i / 4)[i % 4];
        lists->tets.data[start[kiln_idset_at(&lists->vertex, vertex)->value + 1]++] = i / 4;
    }
}

void kiln_cavity_fill_lists(const kiln_mesh *mesh, const kiln_cavity *cavity,
                            struct kiln_scratch *scratch)
{
    fill(mesh, cavity, true, &scratch->old_at);
    fill(mesh, cavity, false, &scratch->fresh_at);
}

const uint32_t *kiln_corner_list(const kiln_corner_lists *lists, uint32_t vertex, uint32_t *count)
{
    const kiln_idset_slot *slot = kiln_idset_at(&lists->vertex, vertex);
    *count = 0;
    if (slot->epoch != lists->vertex.epoch)
        return lists->tets.data;
    *count = lists->start.data[slot->value + 1] - lists->start.data[slot->value];
    return lists->tets.data + lists->start.data[slot->value];
}
