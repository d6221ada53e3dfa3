#include "mesh/replace_impl.h"
#include "base/assert.h"
#include "mesh/journal.h"

#include <string.h>

enum { FEW_SLOTS = 64, FIRST_TABLE = 512 };

kiln_status kiln_scratch_create(kiln_context *context, struct kiln_scratch **out, kiln_error *error)
{
    struct kiln_scratch *scratch = kiln_resize(context, NULL, 0, sizeof *scratch);
    if (!scratch)
        return kiln_fail_memory(error, sizeof *scratch);
    memset(scratch, 0, sizeof *scratch);
    kiln_walker_init(&scratch->walker, context);
    *out = scratch;
    return KILN_OK;
}

void kiln_scratch_destroy(kiln_context *context, struct kiln_scratch *scratch)
{
    if (!scratch)
        return;
    kiln_walker_free(&scratch->walker);
    kiln_array_free(context, &scratch->table);
    kiln_array_free(context, &scratch->order);
    kiln_array_free(context, &scratch->fresh_slot);
    kiln_array_free(context, &scratch->number);
    kiln_array_free(context, &scratch->marks);
    kiln_array_free(context, &scratch->vertices);
    kiln_array_free(context, &scratch->old_set.slots);
    kiln_array_free(context, &scratch->vertex_set.slots);
    kiln_corner_lists *const lists[] = {&scratch->old_at, &scratch->fresh_at};
    for (int i = 0; i < 2; i++) {
        kiln_array_free(context, &lists[i]->vertex.slots);
        kiln_array_free(context, &lists[i]->start);
        kiln_array_free(context, &lists[i]->tets);
    }
    kiln_array_free(context, &scratch->volumes);
    kiln_release(context, scratch, sizeof *scratch);
}

/* Room for everything below, so that nothing after it can fail. */
static kiln_status reserve(kiln_mesh *mesh, const kiln_cavity *cavity)
{
    struct kiln_scratch *scratch = mesh->scratch;
    kiln_context *context = mesh->context;
    size_t old = cavity->old_count, fresh = cavity->fresh_count;
    size_t faces = cavity->surface_count + cavity->opened_count + cavity->glued_count;
    /* Looking a wrongly declared face up adds an entry too. */
    size_t entries = 4 * (old + fresh) + cavity->opened_count;
    KILN_TRY(kiln_array_reserve(context, &scratch->order, entries, NULL));
    KILN_TRY(kiln_array_reserve(context, &scratch->fresh_slot, 4 * fresh, NULL));
    KILN_TRY(kiln_array_reserve(context, &scratch->number, fresh, NULL));
    KILN_TRY(kiln_array_reserve(context, &scratch->marks, fresh, NULL));
    /* A small cavity uses few slots of the table, so that they stay in the nearest cache. */
    size_t slots = FEW_SLOTS;
    while (slots < 2 * entries)
        slots *= 2;
    scratch->mask = (uint32_t)slots - 1;
    if (KILN_UNLIKELY(slots > scratch->table.count || scratch->epoch >= UINT32_MAX - 1)) {
        slots = slots > FIRST_TABLE ? slots : FIRST_TABLE;
        KILN_TRY(kiln_array_reserve(context, &scratch->table, slots, NULL));
        scratch->table.count = slots;
        memset(scratch->table.data, 0, slots * sizeof *scratch->table.data);
        scratch->epoch = 0;
    }
    if (old > KILN_FEW_TETS)
        KILN_TRY(kiln_idset_clear(context, &scratch->old_set, old, NULL));
    scratch->many = old + fresh > KILN_MANY_TETS;
    if (KILN_UNLIKELY(scratch->many))
        KILN_TRY(kiln_cavity_reserve_lists(context, cavity, scratch));
    KILN_TRY(kiln_array_reserve(context, &scratch->volumes, old + fresh, NULL));
    KILN_TRY(kiln_array_reserve(context, &mesh->parts, mesh->parts.count + fresh, NULL));
    if (KILN_UNLIKELY(mesh->table[KILN_ON_TET].used + fresh > mesh->table[KILN_ON_TET].capacity ||
                      mesh->table[KILN_ON_FACE].used + faces > mesh->table[KILN_ON_FACE].capacity))
        KILN_TRY(kiln_mesh_reserve(mesh, 0, fresh, faces, NULL));
    return kiln_journal_reserve(mesh, 4 * old, old + fresh, 4 * old + faces,
                                16 * (old + fresh) + 4 * faces + 8, NULL);
}

kiln_verdict kiln_replace(kiln_txn *txn, const kiln_cavity *cavity, uint32_t *made)
{
    kiln_mesh *mesh = txn->mesh;
    struct kiln_scratch *scratch = mesh->scratch;
    KILN_ASSERT_OP(kiln_txn_depth(mesh), ==, txn->depth);
    if (reserve(mesh, cavity) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = kiln_cavity_check(mesh, cavity, scratch);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    bool general = scratch->outline_changes || scratch->spans_regions || kiln_star_count(mesh) > 0;
    verdict = kiln_cavity_check_vanishing(mesh, cavity, scratch, general);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    if (general && kiln_cavity_list_stars(mesh, cavity, scratch) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_cavity_apply(mesh, cavity, scratch, general);
    if (made)
        memcpy(made, scratch->number.data, cavity->fresh_count * sizeof *made);
    return KILN_ACCEPTED;
}
