#include "mesh/parts.h"
#include "mesh/idset.h"
#include "mesh/journal_impl.h"

#include <string.h>

/* Tets connected with `start` into `queue`, marking them in the set. */
static kiln_status flood(const kiln_mesh *mesh, uint32_t start, uint32_t part, kiln_idset *seen,
                         kiln_u32_array *queue, kiln_error *error)
{
    queue->count = 0;
    KILN_TRY(kiln_idset_clear(mesh->context, seen, 0, error));
    KILN_TRY(kiln_array_push(mesh->context, queue, start, error));
    kiln_idset_add(seen, kiln_idset_at(seen, start), start, 0);
    for (size_t next = 0; next < queue->count; next++)
        for (int f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[queue->data[next]].n[f];
            if (kiln_link_is_surface(link) || mesh->info[link / 4].part != part)
                continue;
            kiln_idset_slot *slot = kiln_idset_at(seen, link / 4);
            if (slot->epoch == seen->epoch)
                continue;
            kiln_idset_add(seen, slot, link / 4, 0);
            KILN_TRY(kiln_array_push(mesh->context, queue, link / 4, error));
            if (2 * (size_t)seen->members >= seen->slots.count)
                KILN_TRY(kiln_idset_grow(mesh->context, seen, error));
        }
    return KILN_OK;
}

/* Moves the queued tets from one part to another, volumes and counts with them. */
static kiln_status relabel(kiln_mesh *mesh, const kiln_u32_array *tets, uint32_t from, uint32_t to,
                           kiln_error *error)
{
    KILN_TRY(kiln_journal_reserve(mesh, 0, 0, 0, tets->count + 2, error));
    kiln_journal_part(mesh, from);
    kiln_journal_part(mesh, to);
    double volume = 0.0;
    for (size_t i = 0; i < tets->count; i++) {
        kiln_journal_set(mesh, KILN_WORD_TET_PART, tets->data[i], to);
        volume += kiln_mesh_tet_volume(mesh, tets->data[i]);
    }
    kiln_part *source = &mesh->parts.data[from], *target = &mesh->parts.data[to];
    source->tets -= (uint32_t)tets->count;
    source->volume = source->tets ? source->volume - volume : 0.0;
    target->tets += (uint32_t)tets->count;
    target->volume += volume;
    source->stamp = target->stamp = mesh->revision + 1;
    return KILN_OK;
}

typedef struct workspace {
    kiln_idset seen;
    kiln_u32_array queue;
} workspace;

static kiln_status join_glued(kiln_mesh *mesh, workspace *work, kiln_error *error)
{
    struct kiln_journal *journal = mesh->journal;
    for (size_t i = 0; i + 1 < journal->glued.count; i += 2) {
        uint32_t a = journal->glued.data[i], b = journal->glued.data[i + 1];
        if (!kiln_tet_live(mesh, a) || !kiln_tet_live(mesh, b) ||
            mesh->info[a].part == mesh->info[b].part)
            continue;
        if (mesh->parts.data[mesh->info[a].part].tets < mesh->parts.data[mesh->info[b].part].tets) {
            uint32_t swap = a;
            a = b;
            b = swap;
        }
        uint32_t from = mesh->info[b].part;
        KILN_TRY(flood(mesh, b, from, &work->seen, &work->queue, error));
        KILN_TRY(relabel(mesh, &work->queue, from, mesh->info[a].part, error));
    }
    return KILN_OK;
}

/* Floods from several seeds, one tet each in turn, and joins floods that meet. A flood that runs
 * out alone has found a component; when only one is left it need not be finished. */
typedef struct race {
    kiln_idset owner; /* tet -> flood */
    KILN_ARRAY_OF(kiln_u32_array)
    queues;
    kiln_u32_array next;   /* per flood: first tet not yet expanded */
    kiln_u32_array parent; /* union-find of floods */
} race;

static uint32_t flood_root(race *r, uint32_t i)
{
    while (r->parent.data[i] != i)
        i = r->parent.data[i] = r->parent.data[r->parent.data[i]];
    return i;
}

static void race_free(kiln_context *context, race *r)
{
    for (size_t i = 0; i < r->queues.count; i++)
        kiln_array_free(context, &r->queues.data[i]);
    kiln_array_free(context, &r->queues);
    kiln_array_free(context, &r->next);
    kiln_array_free(context, &r->parent);
    kiln_array_free(context, &r->owner.slots);
}

static kiln_status claim(kiln_context *context, race *r, uint32_t tet, uint32_t flood_index,
                         bool *joined, kiln_error *error)
{
    kiln_idset_slot *slot = kiln_idset_at(&r->owner, tet);
    if (slot->epoch == r->owner.epoch) {
        uint32_t a = flood_root(r, slot->value), b = flood_root(r, flood_index);
        *joined |= a != b;
        r->parent.data[a > b ? a : b] = a > b ? b : a;
        return KILN_OK;
    }
    kiln_idset_add(&r->owner, slot, tet, flood_index);
    KILN_TRY(kiln_array_push(context, &r->queues.data[flood_index], tet, error));
    if (2 * (size_t)r->owner.members >= r->owner.slots.count)
        return kiln_idset_grow(context, &r->owner, error);
    return KILN_OK;
}

static kiln_status start_race(kiln_mesh *mesh, race *r, uint32_t part, kiln_error *error)
{
    const struct kiln_journal *journal = mesh->journal;
    kiln_context *context = mesh->context;
    KILN_TRY(kiln_idset_clear(context, &r->owner, journal->opened.count, error));
    bool ignored = false;
    for (size_t i = 0; i < journal->opened.count; i++) {
        uint32_t tet = journal->opened.data[i];
        if (!kiln_tet_live(mesh, tet) || mesh->info[tet].part != part ||
            kiln_idset_has(&r->owner, tet))
            continue;
        kiln_u32_array empty = {0};
        uint32_t index = (uint32_t)r->queues.count;
        KILN_TRY(kiln_array_push(context, &r->queues, empty, error));
        KILN_TRY(kiln_array_push(context, &r->next, 0, error));
        KILN_TRY(kiln_array_push(context, &r->parent, index, error));
        KILN_TRY(claim(context, r, tet, index, &ignored, error));
    }
    return KILN_OK;
}

/* How many floods that are roots still have tets to expand in their union, and how many roots there
 * are. */
static void race_standing(race *r, uint32_t *roots, uint32_t *running, uint8_t *busy)
{
    *roots = *running = 0;
    memset(busy, 0, r->queues.count);
    for (uint32_t i = 0; i < r->queues.count; i++)
        busy[flood_root(r, i)] |= r->next.data[i] < r->queues.data[i].count;
    for (uint32_t i = 0; i < r->queues.count; i++)
        if (flood_root(r, i) == i) {
            ++*roots;
            *running += busy[i];
        }
}

static kiln_status run_race(kiln_mesh *mesh, race *r, uint8_t *busy, kiln_error *error)
{
    uint32_t roots, running;
    for (;;) {
        race_standing(r, &roots, &running, busy);
        if (roots <= 1 || running == 0 || (running == 1 && roots == 1))
            return KILN_OK;
        /* All but one finished: the last is the rest of the part. */
        if (running == 1)
            return KILN_OK;
        bool joined = false;
        for (int turn = 0; turn < 64 && !joined; turn++)
            for (uint32_t i = 0; i < r->queues.count; i++) {
                if (r->next.data[i] >= r->queues.data[i].count)
                    continue;
                uint32_t tet = r->queues.data[i].data[r->next.data[i]++];
                for (int f = 0; f < 4; f++) {
                    kiln_link link = mesh->tet[tet].n[f];
                    if (!kiln_link_is_surface(link))
                        KILN_TRY(claim(mesh->context, r, link / 4, i, &joined, error));
                }
            }
    }
}

/* Every finished flood but (when none runs on) the largest becomes a part of its own. */
static kiln_status label_race(kiln_mesh *mesh, race *r, uint32_t part, const uint8_t *busy,
                              kiln_error *error)
{
    uint32_t keeper = KILN_NONE;
    size_t most = 0;
    for (uint32_t i = 0; i < r->queues.count; i++) {
        if (flood_root(r, i) != i)
            continue;
        size_t size = 0;
        for (uint32_t j = 0; j < r->queues.count; j++)
            size += flood_root(r, j) == i ? r->queues.data[j].count : 0;
        if (busy[i]) {
            keeper = i;
            break;
        }
        if (size > most) {
            most = size;
            keeper = i;
        }
    }
    for (uint32_t i = 0; i < r->queues.count; i++) {
        if (flood_root(r, i) != i || i == keeper)
            continue;
        uint32_t made = (uint32_t)mesh->parts.count;
        kiln_part fresh = {.body = mesh->parts.data[part].body};
        KILN_TRY(kiln_array_push(mesh->context, &mesh->parts, fresh, error));
        for (uint32_t j = 0; j < r->queues.count; j++)
            if (flood_root(r, j) == i)
                KILN_TRY(relabel(mesh, &r->queues.data[j], part, made, error));
    }
    return KILN_OK;
}

static kiln_status separate_opened(kiln_mesh *mesh, uint32_t part, kiln_error *error)
{
    race r = {0};
    uint8_t *busy = NULL;
    kiln_status status = start_race(mesh, &r, part, error);
    size_t floods = r.queues.count;
    if (status == KILN_OK && floods > 1) {
        busy = kiln_resize(mesh->context, NULL, 0, floods);
        status = busy ? run_race(mesh, &r, busy, error) : kiln_fail_memory(error, floods);
        if (status == KILN_OK)
            status = label_race(mesh, &r, part, busy, error);
    }
    kiln_release(mesh->context, busy, floods);
    race_free(mesh->context, &r);
    return status;
}

kiln_status kiln_parts_settle(kiln_mesh *mesh, kiln_error *error)
{
    struct kiln_journal *journal = mesh->journal;
    if (journal->glued.count > 0) {
        workspace work = {0};
        kiln_status status = join_glued(mesh, &work, error);
        kiln_array_free(mesh->context, &work.queue);
        kiln_array_free(mesh->context, &work.seen.slots);
        KILN_TRY(status);
    }
    /* Each part once: those of later seeds were settled with the first seed of their part, and new
     * parts are whole. */
    size_t parts = mesh->parts.count;
    for (size_t i = 0; i < journal->opened.count; i++) {
        uint32_t tet = journal->opened.data[i];
        if (!kiln_tet_live(mesh, tet))
            continue;
        uint32_t part = mesh->info[tet].part;
        bool first = part < parts;
        for (size_t j = 0; j < i && first; j++) {
            uint32_t earlier = journal->opened.data[j];
            first = !kiln_tet_live(mesh, earlier) || mesh->info[earlier].part != part;
        }
        if (first)
            KILN_TRY(separate_opened(mesh, part, error));
    }
    return KILN_OK;
}

kiln_status kiln_parts_number(kiln_mesh *mesh, kiln_error *error)
{
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    kiln_u32_array queue = {0};
    mesh->parts.count = 0;
    for (uint32_t t = 0; t < tets; t++)
        mesh->info[t].part = KILN_NONE;
    kiln_status status = kiln_array_reserve(mesh->context, &queue, 1024, error);
    for (uint32_t start = 0; start < tets && status == KILN_OK; start++) {
        if (!kiln_tet_live(mesh, start) || mesh->info[start].part != KILN_NONE)
            continue;
        uint32_t part = (uint32_t)mesh->parts.count;
        kiln_part record = {.body = part, .stamp = mesh->revision};
        mesh->info[start].part = part;
        queue.count = 0;
        status = kiln_array_push(mesh->context, &queue, start, error);
        while (queue.count > 0 && status == KILN_OK) {
            uint32_t t = queue.data[--queue.count];
            record.tets++;
            record.volume += kiln_mesh_tet_volume(mesh, t);
            for (int f = 0; f < 4; f++) {
                kiln_link link = mesh->tet[t].n[f];
                if (kiln_link_is_surface(link) || mesh->info[link / 4].part != KILN_NONE)
                    continue;
                mesh->info[link / 4].part = part;
                if (status == KILN_OK)
                    status = kiln_array_push(mesh->context, &queue, link / 4, error);
            }
        }
        if (status == KILN_OK)
            status = kiln_array_push(mesh->context, &mesh->parts, record, error);
    }
    kiln_array_free(mesh->context, &queue);
    return status;
}

void kiln_body_assign(kiln_mesh *mesh, uint32_t part, uint32_t body)
{
    mesh->parts.data[part].body = body;
}

uint32_t kiln_part_count(const kiln_mesh *mesh)
{
    uint32_t count = 0;
    for (size_t i = 0; i < mesh->parts.count; i++)
        count += mesh->parts.data[i].tets > 0;
    return count;
}
