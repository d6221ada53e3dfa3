#include "mesh/journal_impl.h"
#include "base/assert.h"
#include "base/hash.h"
#include "mesh/rewind.h"

#include <string.h>

enum { TRAILER = KILN_LOG_TRAILER, PART_WORDS = sizeof(kiln_part) / 4, FIRST_SLOTS = 64 };

kiln_status kiln_journal_create(kiln_context *context, struct kiln_journal **out, kiln_error *error)
{
    struct kiln_journal *journal = kiln_resize(context, NULL, 0, sizeof *journal);
    if (!journal)
        return kiln_fail_memory(error, sizeof *journal);
    memset(journal, 0, sizeof *journal);
    *out = journal;
    return KILN_OK;
}

void kiln_journal_destroy(kiln_context *context, struct kiln_journal *journal)
{
    if (!journal)
        return;
    kiln_array_free(context, &journal->undo);
    kiln_array_free(context, &journal->marks);
    for (size_t i = 0; i < journal->star_buffers; i++)
        kiln_array_free(context, &journal->stars.data[i].tets);
    kiln_array_free(context, &journal->stars);
    kiln_array_free(context, &journal->star_slots);
    kiln_array_free(context, &journal->added);
    kiln_array_free(context, &journal->archive);
    kiln_array_free(context, &journal->archive_parts);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        kiln_array_free(context, &journal->archive_first[where]);
    kiln_rewind_destroy(context, journal);
    kiln_release(context, journal, sizeof *journal);
}

kiln_status kiln_journal_reserve(kiln_mesh *mesh, size_t vertices, size_t tets, size_t faces,
                                 size_t words, kiln_error *error)
{
    struct kiln_journal *journal = mesh->journal;
    const size_t rows[KILN_WHERE_COUNT] = {vertices, tets, faces};
    size_t total = words * (TRAILER + PART_WORDS);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        total += rows[where] * (TRAILER + mesh->table[where].row_size / 4);
    KILN_TRY(kiln_array_reserve(mesh->context, &journal->undo, journal->undo.count + total, error));
    if (!journal->archive_active)
        return KILN_OK;
    /* A word's row may have to be archived whole. */
    size_t widest = mesh->table[KILN_ON_VERTEX].row_size + mesh->table[KILN_ON_TET].row_size +
                    mesh->table[KILN_ON_FACE].row_size;
    total += words * (TRAILER + widest / 4);
    if (journal->archive.count + total >= UINT32_MAX) /* offsets in archive_first */
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1,
                         "the pass has changed more than 16 GiB of mesh");
    return kiln_array_reserve(mesh->context, &journal->archive, journal->archive.count + total,
                              error);
}

/* Appends the row's columns to the buffer; capacity was reserved. */
static void push_row(kiln_mesh *mesh, kiln_log_buffer *log, kiln_where where, uint32_t row)
{
    const kiln_table *table = &mesh->table[where];
    KILN_ASSERT_OP(log->count + table->row_size / 4 + TRAILER, <=, log->capacity);
    char *to = (char *)(log->data + log->count);
    if (where == KILN_ON_TET) { /* the two core columns, of known size */
        memcpy(to, &mesh->tet[row], sizeof(kiln_tet));
        memcpy(to + sizeof(kiln_tet), &mesh->info[row], sizeof(kiln_tet_info));
        to += sizeof(kiln_tet) + sizeof(kiln_tet_info);
    }
    for (size_t i = where == KILN_ON_TET ? 2 : 0; i < table->fields.count; i++) {
        uint32_t stride = table->fields.data[i].stride;
        memcpy(to, table->fields.data[i].data + (size_t)row * stride, stride);
        to += stride;
    }
    log->count += table->row_size / 4;
    log->data[log->count++] = row;
    log->data[log->count++] = KILN_LOG_ROW + (uint32_t)where;
}

void kiln_row_restore(kiln_mesh *mesh, kiln_where where, uint32_t row, const uint32_t *image)
{
    kiln_table *table = &mesh->table[where];
    const char *from = (const char *)image;
    for (size_t i = 0; i < table->fields.count; i++) {
        uint32_t stride = table->fields.data[i].stride;
        memcpy(table->fields.data[i].data + (size_t)row * stride, from, stride);
        from += stride;
    }
}

void kiln_archive_touch(kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    struct kiln_journal *journal = mesh->journal;
    if (row >= journal->archive_mark.table[where].used || journal->archive_first[where].data[row])
        return;
    journal->archive_first[where].data[row] = (uint32_t)journal->archive.count + 1;
    push_row(mesh, &journal->archive, where, row);
}

void kiln_journal_row(kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    struct kiln_journal *journal = mesh->journal;
    if (journal->archive_active)
        kiln_archive_touch(mesh, where, row);
    push_row(mesh, &journal->undo, where, row);
}

size_t kiln_journal_position(const kiln_mesh *mesh)
{
    return mesh->journal->undo.count;
}

/* The tail of an entry whose payload of `words` is already at the end of the log. */
static void close_entry(kiln_log_buffer *log, uint32_t words, uint32_t index, uint32_t kind)
{
    log->count += words;
    log->data[log->count++] = index;
    log->data[log->count++] = kind;
}

void kiln_journal_part(kiln_mesh *mesh, uint32_t part)
{
    kiln_log_buffer *log = &mesh->journal->undo;
    KILN_ASSERT_OP(log->count + PART_WORDS + TRAILER, <=, log->capacity);
    memcpy(log->data + log->count, &mesh->parts.data[part], sizeof(kiln_part));
    close_entry(log, PART_WORDS, part, KILN_LOG_PART);
}

void kiln_archive_word(kiln_mesh *mesh, kiln_word word, uint32_t index)
{
    if (word == KILN_WORD_LINK)
        kiln_archive_touch(mesh, KILN_ON_TET, index / 4);
    else if (word <= KILN_WORD_VERTEX_TWIN)
        kiln_archive_touch(mesh, KILN_ON_VERTEX, index);
    else if (word <= KILN_WORD_FACE_TWIN)
        kiln_archive_touch(mesh, KILN_ON_FACE, index);
    else
        kiln_archive_touch(mesh, KILN_ON_TET, index);
}

void kiln_journal_set(kiln_mesh *mesh, kiln_word word, uint32_t index, uint32_t value)
{
    kiln_journal_set_now(mesh, word, index, value);
}

/* Slot of the vertex in the star map, or the empty slot where it would go. */
static uint32_t *star_slot(const struct kiln_journal *journal, uint32_t vertex)
{
    size_t mask = journal->star_slots.count - 1;
    size_t at = kiln_hash_mix(vertex) & mask;
    for (;; at = (at + 1) & mask) {
        uint32_t index = journal->star_slots.data[at];
        if (index == 0 || journal->stars.data[index - 1].vertex == vertex)
            return &journal->star_slots.data[at];
    }
}

bool kiln_star_listed(const kiln_mesh *mesh, uint32_t vertex)
{
    return (mesh->vertex[vertex].flags & KILN_VERTEX_LISTED) != 0;
}

static kiln_star_entry *star_entry(const kiln_mesh *mesh, uint32_t vertex)
{
    KILN_ASSERT(kiln_star_listed(mesh, vertex));
    return &mesh->journal->stars.data[*star_slot(mesh->journal, vertex) - 1];
}

const kiln_u32_array *kiln_star_list(const kiln_mesh *mesh, uint32_t vertex)
{
    return &star_entry(mesh, vertex)->tets;
}

static kiln_status grow_star_map(kiln_mesh *mesh, kiln_error *error)
{
    struct kiln_journal *journal = mesh->journal;
    size_t slots = journal->star_slots.count ? 2 * journal->star_slots.count : FIRST_SLOTS;
    KILN_TRY(kiln_array_reserve(mesh->context, &journal->star_slots, slots, error));
    journal->star_slots.count = slots;
    memset(journal->star_slots.data, 0, slots * sizeof(uint32_t));
    for (size_t i = 0; i < journal->stars.count; i++)
        *star_slot(journal, journal->stars.data[i].vertex) = (uint32_t)i + 1;
    return KILN_OK;
}

kiln_status kiln_star_reserve(kiln_mesh *mesh, uint32_t vertex, size_t more, kiln_error *error)
{
    struct kiln_journal *journal = mesh->journal;
    kiln_u32_array *tets = &star_entry(mesh, vertex)->tets;
    KILN_TRY(kiln_array_reserve(mesh->context, tets, tets->count + more, error));
    return kiln_array_reserve(mesh->context, &journal->undo,
                              journal->undo.count + tets->count + more + 1 + TRAILER, error);
}

kiln_status kiln_star_start(kiln_mesh *mesh, uint32_t vertex, const uint32_t *tets, size_t count,
                            kiln_error *error)
{
    struct kiln_journal *journal = mesh->journal;
    kiln_context *context = mesh->context;
    if (2 * (journal->stars.count + 1) > journal->star_slots.count)
        KILN_TRY(grow_star_map(mesh, error));
    KILN_TRY(kiln_array_reserve(context, &journal->stars, journal->stars.count + 1, error));
    KILN_TRY(kiln_journal_reserve(mesh, 0, 0, 0, 2, error));
    kiln_star_entry *entry = &journal->stars.data[journal->stars.count];
    if (journal->stars.count == journal->star_buffers) {
        *entry = (kiln_star_entry){0};
        journal->star_buffers++;
    }
    KILN_TRY(kiln_array_reserve(context, &entry->tets, count + 1, error));

    entry->vertex = vertex;
    entry->tets.count = 0;
    journal->stars.count++;
    *star_slot(journal, vertex) = (uint32_t)journal->stars.count;
    close_entry(&journal->undo, 0, vertex, KILN_LOG_STAR_NEW);
    mesh->vertex[vertex].flags |= KILN_VERTEX_LISTED;
    for (size_t i = 0; i < count; i++)
        kiln_star_insert(mesh, vertex, tets[i]);
    return KILN_OK;
}

void kiln_star_save(kiln_mesh *mesh, uint32_t vertex)
{
    kiln_log_buffer *log = &mesh->journal->undo;
    const kiln_u32_array *tets = kiln_star_list(mesh, vertex);
    KILN_ASSERT_OP(log->count + tets->count + 1 + TRAILER, <=, log->capacity);
    memcpy(log->data + log->count, tets->data, tets->count * sizeof(uint32_t));
    log->data[log->count + tets->count] = (uint32_t)tets->count;
    close_entry(log, (uint32_t)tets->count + 1, vertex, KILN_LOG_STAR);
}

void kiln_star_insert(kiln_mesh *mesh, uint32_t vertex, uint32_t tet)
{
    kiln_u32_array *tets = &star_entry(mesh, vertex)->tets;
    KILN_ASSERT_OP(tets->count, <, tets->capacity);
    size_t at = tets->count++;
    for (; at > 0 && tets->data[at - 1] > tet; at--)
        tets->data[at] = tets->data[at - 1];
    tets->data[at] = tet;
}

void kiln_star_remove(kiln_mesh *mesh, uint32_t vertex, uint32_t tet)
{
    kiln_u32_array *tets = &star_entry(mesh, vertex)->tets;
    size_t at = 0;
    while (at < tets->count && tets->data[at] != tet)
        at++;
    KILN_ASSERT_OP(at, <, tets->count);
    memmove(tets->data + at, tets->data + at + 1, (tets->count - at - 1) * sizeof(uint32_t));
    tets->count--;
}

size_t kiln_star_count(const kiln_mesh *mesh)
{
    return mesh->journal->stars.count;
}

uint32_t kiln_star_vertex(const kiln_mesh *mesh, size_t index)
{
    return mesh->journal->stars.data[index].vertex;
}

kiln_mark kiln_journal_mark(const kiln_mesh *mesh)
{
    const struct kiln_journal *journal = mesh->journal;
    kiln_mark mark = {.undo = journal->undo.count,
                      .archive = journal->archive.count,
                      .parts = mesh->parts.count,
                      .openings = journal->openings,
                      .gluings = journal->gluings,
                      .added = journal->added.count,
                      .next_twin = mesh->next_twin,
                      .ledger = mesh->ledger};
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        mark.table[where].used = mesh->table[where].used;
        mark.table[where].live = mesh->table[where].live;
        mark.table[where].free = mesh->table[where].free;
    }
    return mark;
}

static void drop_newest_star(kiln_mesh *mesh, uint32_t vertex)
{
    struct kiln_journal *journal = mesh->journal;
    KILN_ASSERT_OP(journal->stars.data[journal->stars.count - 1].vertex, ==, vertex);
    *star_slot(journal, vertex) = 0;
    journal->stars.count--;
    mesh->vertex[vertex].flags &= ~(uint32_t)KILN_VERTEX_LISTED;
}

KILN_INLINE void undo_newest(kiln_mesh *mesh)
{
    kiln_log_buffer *log = &mesh->journal->undo;
    uint32_t kind = log->data[log->count - 1], index = log->data[log->count - 2];
    log->count -= TRAILER;
    if (kind < KILN_WHERE_COUNT) {
        log->count -= mesh->table[kind].row_size / 4;
        kiln_row_restore(mesh, (kiln_where)kind, index, log->data + log->count);
    } else if (kind >= KILN_LOG_WORD) {
        log->count -= 1;
        *kiln_word_address(mesh, (kiln_word)(kind - KILN_LOG_WORD), index) = log->data[log->count];
    } else if (kind == KILN_LOG_PART) {
        log->count -= PART_WORDS;
        memcpy(&mesh->parts.data[index], log->data + log->count, sizeof(kiln_part));
    } else if (kind == KILN_LOG_STAR) {
        kiln_u32_array *tets = &star_entry(mesh, index)->tets;
        tets->count = log->data[--log->count];
        log->count -= tets->count;
        memcpy(tets->data, log->data + log->count, tets->count * sizeof(uint32_t));
    } else {
        drop_newest_star(mesh, index);
    }
}

/* Rows that only the undone part had touched are live again as they were: forget their images. */
static void shorten_archive(kiln_mesh *mesh, size_t length)
{
    struct kiln_journal *journal = mesh->journal;
    kiln_log_buffer *log = &journal->archive;
    while (log->count > length) {
        uint32_t where = log->data[log->count - 1], row = log->data[log->count - 2];
        journal->archive_first[where].data[row] = 0;
        log->count -= TRAILER + mesh->table[where].row_size / 4;
    }
}

void kiln_journal_undo_to(kiln_mesh *mesh, const kiln_mark *mark)
{
    struct kiln_journal *journal = mesh->journal;
    while (journal->undo.count > mark->undo)
        undo_newest(mesh);
    if (journal->archive_active)
        shorten_archive(mesh, mark->archive);
    mesh->parts.count = mark->parts;
    journal->openings = mark->openings;
    journal->gluings = mark->gluings;
    journal->added.count = mark->added;
    mesh->next_twin = mark->next_twin;
    mesh->ledger = mark->ledger;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        mesh->table[where].used = mark->table[where].used;
        mesh->table[where].live = mark->table[where].live;
        mesh->table[where].free = mark->table[where].free;
    }
}

void kiln_journal_undo_committed(kiln_mesh *mesh, size_t length)
{
    kiln_log_buffer *log = &mesh->journal->undo;
    while (log->count > length) {
        uint32_t kind = log->data[log->count - 1], index = log->data[log->count - 2];
        if (kind == KILN_LOG_STAR) {
            log->count -= TRAILER;
            log->count -= log->data[log->count - 1] + 1;
        } else if (kind == KILN_LOG_STAR_NEW) {
            log->count -= TRAILER;
        } else {
            undo_newest(mesh);
            if (kind == KILN_LOG_ROW + KILN_ON_VERTEX ||
                kind == KILN_LOG_WORD + KILN_WORD_VERTEX_FLAGS)
                mesh->vertex[index].flags &= ~(uint32_t)KILN_VERTEX_LISTED;
        }
    }
}

/* The part of the log that outlives a commit: what a rewind may still have to undo, except inside a
 * pass, whose archive does that. */
static size_t kept_length(const kiln_mesh *mesh)
{
    const struct kiln_journal *journal = mesh->journal;
    if (!kiln_rewind_active(mesh))
        return 0;
    return journal->archive_active ? journal->archive_mark.undo : journal->undo.count;
}

void kiln_journal_forget(kiln_mesh *mesh)
{
    struct kiln_journal *journal = mesh->journal;
    while (journal->stars.count > 0)
        drop_newest_star(mesh, journal->stars.data[journal->stars.count - 1].vertex);
    journal->undo.count = kept_length(mesh);
    journal->added.count = 0;
    journal->openings = journal->gluings = 0;
}
