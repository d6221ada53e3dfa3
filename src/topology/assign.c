#include "topology/assign.h"
#include "mesh/journal.h"

typedef struct region_of {
    int32_t was, now;
    uint32_t kind;
} region_of;
typedef KILN_ARRAY_OF(region_of)
region_table;

/* The number for tets of a region that are of this kind: the first one keeps it. */
static kiln_status find_region(kiln_context *context, region_table *known, int32_t was,
                               uint32_t kind, int32_t *highest, int32_t *now)
{
    bool taken = false;
    for (size_t i = 0; i < known->count; i++) {
        if (known->data[i].was != was)
            continue;
        taken = true;
        *now = known->data[i].now;
        if (known->data[i].kind == kind)
            return KILN_OK;
    }
    *now = taken ? ++*highest : was;
    region_of row = {was, *now, kind};
    return kiln_array_push(context, known, row, NULL);
}

static int32_t highest_region(const kiln_mesh *mesh)
{
    int32_t highest = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && mesh->info[t].region > highest)
            highest = mesh->info[t].region;
    return highest;
}

kiln_verdict kiln_regions_divide(kiln_txn *txn, const uint32_t *kind)
{
    const kiln_mesh *mesh = txn->mesh;
    region_table known = {0};
    int32_t highest = highest_region(mesh), now;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && verdict == KILN_ACCEPTED; t++) {
        int32_t was = mesh->info[t].region;
        if (!kiln_tet_live(mesh, t))
            continue;
        if (find_region(mesh->context, &known, was, kind[t], &highest, &now) != KILN_OK)
            verdict = KILN_REFUSED_MEMORY;
        else if (now != was)
            verdict = kiln_txn_set_region(txn, t, now);
    }
    kiln_array_free(mesh->context, &known);
    return verdict;
}

kiln_verdict kiln_parts_lock(kiln_txn *txn, const uint8_t *free)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && verdict == KILN_ACCEPTED; t++)
        if (kiln_tet_live(mesh, t) && !free[mesh->info[t].part] &&
            !(mesh->info[t].marks & KILN_MARK_LOCKED))
            verdict = kiln_txn_mark_tet(txn, t, KILN_MARK_LOCKED, 0);
    return verdict;
}

kiln_verdict kiln_parts_join_bodies(kiln_txn *txn, const uint32_t *body)
{
    kiln_mesh *mesh = txn->mesh;
    uint32_t parts = (uint32_t)mesh->parts.count;
    if (kiln_journal_reserve(mesh, 0, 0, 0, parts, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (uint32_t p = 0; p < parts; p++) {
        kiln_journal_part(mesh, p);
        mesh->parts.data[p].body = KILN_NONE;
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        kiln_part *part = &mesh->parts.data[mesh->info[t].part];
        part->body = body[t] < part->body ? body[t] : part->body;
    }
    return KILN_ACCEPTED;
}
