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

/* Scratch of settling: what a flood has seen, and its queue. */
typedef struct workspace {
    kiln_idset seen;
    kiln_u32_array queue;
} workspace;

/* Tets a and b are linked but labelled differently: the smaller part takes the other's label. */
static kiln_status join(kiln_mesh *mesh, uint32_t a, uint32_t b, workspace *work, kiln_error *error)
{
    if (mesh->parts.data[mesh->info[a].part].tets < mesh->parts.data[mesh->info[b].part].tets) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    uint32_t from = mesh->info[b].part;
    KILN_TRY(flood(mesh, b, from, &work->seen, &work->queue, error));
    return relabel(mesh, &work->queue, from, mesh->info[a].part, error);
}

/* Wherever faces were glued the vertices carry star lists, so every pair of linked tets with
 * different labels is found in them, whatever happened to the tets since. */
static kiln_status join_glued(kiln_mesh *mesh, workspace *work, kiln_error *error)
{
    for (size_t i = 0; i < kiln_star_count(mesh); i++) {
        uint32_t vertex = kiln_star_vertex(mesh, i);
        if (!kiln_vertex_live(mesh, vertex))
            continue;
        const kiln_u32_array *star = kiln_star_list(mesh, vertex);
        for (size_t j = 0; j < star->count; j++)
            for (int f = 0; f < 4; f++) {
                kiln_link link = mesh->tet[star->data[j]].n[f];
                if (!kiln_link_is_surface(link) &&
                    mesh->info[link / 4].part != mesh->info[star->data[j]].part)
                    KILN_TRY(join(mesh, star->data[j], link / 4, work, error));
            }
    }
    return KILN_OK;
}

/* Floods from several starts, one tet each in turn, and joins floods that meet. A flood that runs
 * out alone has found a component; when only one is left it need not be finished. */
typedef struct race {
    kiln_idset owner; /* tet -> flood */
    KILN_ARRAY_OF(kiln_u32_array)
    queues;
    kiln_u32_array next;   /* per flood: first tet not yet expanded */
    kiln_u32_array parent; /* union-find of floods */
    KILN_ARRAY_OF(uint8_t)
    busy;
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
    kiln_array_free(context, &r->busy);
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

/* A flood for each cluster of linked tets among those of the part in the listed stars: whatever was
 * opened, each side has such tets. */
static kiln_status start_race(kiln_mesh *mesh, race *r, uint32_t part, workspace *work,
                              kiln_error *error)
{
    kiln_context *context = mesh->context;
    work->queue.count = 0;
    KILN_TRY(kiln_idset_clear(context, &work->seen, 0, error));
    for (size_t i = 0; i < kiln_star_count(mesh); i++) {
        uint32_t vertex = kiln_star_vertex(mesh, i);
        if (!kiln_vertex_live(mesh, vertex))
            continue;
        const kiln_u32_array *star = kiln_star_list(mesh, vertex);
        for (size_t j = 0; j < star->count; j++) {
            kiln_idset_slot *slot = kiln_idset_at(&work->seen, star->data[j]);
            if (slot->epoch == work->seen.epoch || mesh->info[star->data[j]].part != part)
                continue;
            kiln_idset_add(&work->seen, slot, star->data[j], 0);
            KILN_TRY(kiln_array_push(context, &work->queue, star->data[j], error));
            if (2 * (size_t)work->seen.members >= work->seen.slots.count)
                KILN_TRY(kiln_idset_grow(context, &work->seen, error));
        }
    }
    KILN_TRY(kiln_idset_clear(context, &r->owner, work->queue.count, error));
    bool ignored = false;
    for (size_t i = 0; i < work->queue.count; i++) {
        if (kiln_idset_has(&r->owner, work->queue.data[i]))
            continue;
        kiln_u32_array empty = {0};
        uint32_t index = (uint32_t)r->queues.count;
        KILN_TRY(kiln_array_push(context, &r->next, 0, error));
        KILN_TRY(kiln_array_push(context, &r->parent, index, error));
        KILN_TRY(kiln_array_push(context, &r->queues, empty, error));
        KILN_TRY(claim(context, r, work->queue.data[i], index, &ignored, error));
        for (size_t next = 0; next < r->queues.data[index].count; next++)
            for (int f = 0; f < 4; f++) {
                kiln_link link = mesh->tet[r->queues.data[index].data[next]].n[f];
                if (!kiln_link_is_surface(link) && kiln_idset_has(&work->seen, link / 4))
                    KILN_TRY(claim(context, r, link / 4, index, &ignored, error));
            }
    }
    return KILN_OK;
}

/* How many unions of floods there are, and how many of them still have tets to expand. */
static void race_standing(race *r, uint32_t *roots, uint32_t *running)
{
    *roots = *running = 0;
    memset(r->busy.data, 0, r->queues.count);
    for (uint32_t i = 0; i < r->queues.count; i++)
        r->busy.data[flood_root(r, i)] |= r->next.data[i] < r->queues.data[i].count;
    for (uint32_t i = 0; i < r->queues.count; i++)
        if (flood_root(r, i) == i) {
            ++*roots;
            *running += r->busy.data[i];
        }
}

static kiln_status run_race(kiln_mesh *mesh, race *r, kiln_error *error)
{
    for (;;) {
        uint32_t roots, running;
        race_standing(r, &roots, &running);
        /* With all but one finished, the last is the rest of the part. */
        if (roots <= 1 || running <= 1)
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

/* Every finished flood becomes a part of its own, except that the one still running, else the
 * largest, keeps the number. */
static kiln_status label_race(kiln_mesh *mesh, race *r, uint32_t part, kiln_error *error)
{
    uint32_t keeper = KILN_NONE;
    size_t most = 0;
    for (uint32_t i = 0; i < r->queues.count; i++) {
        if (flood_root(r, i) != i)
            continue;
        size_t size = 0;
        for (uint32_t j = 0; j < r->queues.count; j++)
            size += flood_root(r, j) == i ? r->queues.data[j].count : 0;
        if (r->busy.data[i])
            size = SIZE_MAX;
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

static kiln_status separate(kiln_mesh *mesh, uint32_t part, workspace *work, kiln_error *error)
{
    race r = {0};
    kiln_status status = start_race(mesh, &r, part, work, error);
    if (status == KILN_OK && r.queues.count > 1) {
        status = kiln_array_reserve(mesh->context, &r.busy, r.queues.count, error);
        if (status == KILN_OK)
            status = run_race(mesh, &r, error);
        if (status == KILN_OK)
            status = label_race(mesh, &r, part, error);
    }
    race_free(mesh->context, &r);
    return status;
}

/* Each part that has tets in the listed stars, once; parts made here are whole. */
static kiln_status separate_opened(kiln_mesh *mesh, workspace *work, kiln_error *error)
{
    size_t parts = mesh->parts.count;
    kiln_idset done = {0};
    kiln_status status = kiln_idset_clear(mesh->context, &done, parts, error);
    for (size_t i = 0; i < kiln_star_count(mesh) && status == KILN_OK; i++) {
        uint32_t vertex = kiln_star_vertex(mesh, i);
        if (!kiln_vertex_live(mesh, vertex))
            continue;
        const kiln_u32_array *star = kiln_star_list(mesh, vertex);
        for (size_t j = 0; j < star->count && status == KILN_OK; j++) {
            uint32_t part = mesh->info[star->data[j]].part;
            kiln_idset_slot *slot = kiln_idset_at(&done, part);
            if (part >= parts || slot->epoch == done.epoch)
                continue;
            kiln_idset_add(&done, slot, part, 0);
            status = separate(mesh, part, work, error);
        }
    }
    kiln_array_free(mesh->context, &done.slots);
    return status;
}

kiln_status kiln_parts_settle(kiln_mesh *mesh, kiln_error *error)
{
    const struct kiln_journal *journal = mesh->journal;
    workspace work = {0};
    kiln_status status = journal->gluings ? join_glued(mesh, &work, error) : KILN_OK;
    if (status == KILN_OK && journal->openings)
        status = separate_opened(mesh, &work, error);
    kiln_array_free(mesh->context, &work.queue);
    kiln_array_free(mesh->context, &work.seen.slots);
    return status;
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
    for (size_t i = 0; mesh && i < mesh->parts.count; i++)
        count += mesh->parts.data[i].tets > 0;
    return count;
}
