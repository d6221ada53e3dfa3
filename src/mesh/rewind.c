/* Invariants between begin and end:
 *   W1  a column that was written otherwise than through the journal has an entry, made before
 *   W2  an entry's log length is that of the undo log when it was made, so that log and entries
 *       are undone in the order in which they came
 *   W3  once the contents were exchanged nothing more has to be saved: they go as a whole */
#include "mesh/rewind.h"
#include "base/assert.h"
#include "mesh/journal_impl.h"
#include "mesh/txn.h"

#include <string.h>

typedef struct buffer {
    char *data;
    size_t size;
} buffer;

typedef enum entry_kind { ENTRY_COLUMN, ENTRY_PASS, ENTRY_MESH } entry_kind;

typedef struct entry {
    entry_kind kind;
    size_t undo; /* length of the undo log then */
    kiln_where where;
    size_t field;
    size_t bytes;        /* column: of rows in use */
    buffer saved;        /* column */
    kiln_log_buffer log; /* pass */
    kiln_mesh *mesh;     /* mesh: the contents before */
} entry;

struct kiln_rewind {
    bool active, exchanged;
    kiln_mark mark;
    uint32_t clock;
    uint64_t revision;
    kiln_world_policy policy;
    KILN_ARRAY_OF(kiln_part)
    parts;
    KILN_ARRAY_OF(entry)
    entries;
    KILN_ARRAY_OF(buffer)
    spare; /* memory of columns that were saved before, for the next */
};

bool kiln_rewind_active(const kiln_mesh *mesh)
{
    return mesh->journal->rewind && mesh->journal->rewind->active;
}

static kiln_status make(kiln_mesh *mesh, kiln_error *error)
{
    struct kiln_rewind *rewind = kiln_resize(mesh->context, NULL, 0, sizeof *rewind);
    if (!rewind)
        return kiln_fail_memory(error, sizeof *rewind);
    memset(rewind, 0, sizeof *rewind);
    mesh->journal->rewind = rewind;
    return KILN_OK;
}

kiln_status kiln_rewind_begin(kiln_mesh *mesh, kiln_error *error)
{
    if (kiln_rewind_active(mesh) || kiln_txn_depth(mesh) > 0 || kiln_archive_active(mesh))
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                         "a step begins outside transactions, passes and other steps");
    if (!mesh->journal->rewind)
        KILN_TRY(make(mesh, error));
    struct kiln_rewind *rewind = mesh->journal->rewind;
    KILN_TRY(kiln_array_reserve(mesh->context, &rewind->parts, mesh->parts.count, error));
    if (mesh->parts.count)
        memcpy(rewind->parts.data, mesh->parts.data, mesh->parts.count * sizeof(kiln_part));
    kiln_clock_restart(mesh);
    rewind->parts.count = mesh->parts.count;
    rewind->mark = kiln_journal_mark(mesh);
    rewind->clock = mesh->clock;
    rewind->revision = mesh->revision;
    rewind->policy = mesh->world_policy;
    rewind->exchanged = false;
    rewind->active = true;
    return KILN_OK;
}

/* Memory that nobody needs in this step is not needed in the next. */
static void drop_spare(kiln_context *context, struct kiln_rewind *rewind)
{
    for (size_t i = 0; i < rewind->spare.count; i++)
        kiln_release(context, rewind->spare.data[i].data, rewind->spare.data[i].size);
    rewind->spare.count = 0;
}

/* The columns' memory becomes spare; there is room for it since it was taken. */
static void close_entries(kiln_mesh *mesh)
{
    struct kiln_rewind *rewind = mesh->journal->rewind;
    drop_spare(mesh->context, rewind);
    for (size_t i = 0; i < rewind->entries.count; i++) {
        entry *e = &rewind->entries.data[i];
        if (e->kind == ENTRY_COLUMN)
            rewind->spare.data[rewind->spare.count++] = e->saved;
        if (mesh->journal->archive.capacity < e->log.capacity) { /* for the next pass */
            kiln_log_buffer swap = mesh->journal->archive;
            mesh->journal->archive = e->log;
            e->log = swap;
            mesh->journal->archive.count = 0;
        }
        kiln_array_free(mesh->context, &e->log);
        kiln_mesh_destroy(e->mesh);
    }
    rewind->entries.count = 0;
    rewind->active = false;
    mesh->journal->undo.count = 0;
}

void kiln_rewind_end(kiln_mesh *mesh)
{
    KILN_ASSERT(kiln_rewind_active(mesh) && !kiln_archive_active(mesh));
    KILN_ASSERT_OP(kiln_txn_depth(mesh), ==, 0);
    close_entries(mesh);
}

/* Everything but the journal and the scratch of the primitive, which know only sizes. */
static void swap_contents(kiln_mesh *a, kiln_mesh *b)
{
    kiln_mesh swap = *a;
    *a = *b;
    *b = swap;
    b->journal = a->journal;
    b->scratch = a->scratch;
    a->journal = swap.journal;
    a->scratch = swap.scratch;
}

static void undo_entry(kiln_mesh *mesh, const entry *e)
{
    if (e->kind == ENTRY_COLUMN)
        memcpy(mesh->table[e->where].fields.data[e->field].data, e->saved.data, e->bytes);
    else if (e->kind == ENTRY_PASS)
        kiln_archive_restore(mesh, &e->log);
    else
        swap_contents(mesh, e->mesh);
}

static void close_open_ones(kiln_mesh *mesh)
{
    while (kiln_txn_depth(mesh) > 0) {
        kiln_txn txn = {mesh, kiln_txn_depth(mesh)};
        kiln_txn_rollback(&txn);
    }
    if (kiln_archive_active(mesh))
        kiln_archive_rollback(mesh);
}

void kiln_rewind_back(kiln_mesh *mesh)
{
    struct kiln_rewind *rewind = mesh->journal->rewind;
    KILN_ASSERT(kiln_rewind_active(mesh));
    close_open_ones(mesh);
    for (size_t i = rewind->entries.count; i-- > 0;) {
        kiln_journal_undo_committed(mesh, rewind->entries.data[i].undo);
        undo_entry(mesh, &rewind->entries.data[i]);
    }
    kiln_journal_undo_committed(mesh, rewind->mark.undo);
    if (rewind->parts.count)
        memcpy(mesh->parts.data, rewind->parts.data, rewind->parts.count * sizeof(kiln_part));
    kiln_journal_undo_to(mesh, &rewind->mark); /* counts, free lists, ledger */
    mesh->clock = rewind->clock;
    mesh->revision = rewind->revision;
    mesh->world_policy = rewind->policy;
    close_entries(mesh);
}

void kiln_rewind_destroy(kiln_context *context, struct kiln_journal *journal)
{
    struct kiln_rewind *rewind = journal->rewind;
    if (!rewind)
        return;
    for (size_t i = 0; i < rewind->entries.count; i++) {
        entry *e = &rewind->entries.data[i];
        kiln_release(context, e->saved.data, e->saved.size);
        kiln_array_free(context, &e->log);
        kiln_mesh_destroy(e->mesh);
    }
    drop_spare(context, rewind);
    kiln_array_free(context, &rewind->spare);
    kiln_array_free(context, &rewind->entries);
    kiln_array_free(context, &rewind->parts);
    kiln_release(context, rewind, sizeof *rewind);
}

kiln_status kiln_rewind_reserve(kiln_mesh *mesh, kiln_error *error)
{
    struct kiln_rewind *rewind = mesh->journal->rewind;
    if (!kiln_rewind_active(mesh))
        return KILN_OK;
    /* What is saved while a pass is open must leave room for the pass itself, which cannot fail. */
    size_t wanted = rewind->entries.count + 1 + (kiln_archive_active(mesh) ? 1 : 0);
    KILN_TRY(kiln_array_reserve(mesh->context, &rewind->spare, wanted, error));
    return kiln_array_reserve(mesh->context, &rewind->entries, wanted, error);
}

static entry *push(kiln_mesh *mesh, entry_kind kind)
{
    struct kiln_rewind *rewind = mesh->journal->rewind;
    entry *e = &rewind->entries.data[rewind->entries.count++];
    *e = (entry){.kind = kind, .undo = mesh->journal->undo.count};
    return e;
}

void kiln_rewind_keep_pass(kiln_mesh *mesh)
{
    entry *e = push(mesh, ENTRY_PASS);
    e->log = mesh->journal->archive;
    mesh->journal->archive = (kiln_log_buffer){0};
}

static bool is_saved(const struct kiln_rewind *rewind, kiln_where where, size_t field)
{
    for (size_t i = 0; i < rewind->entries.count; i++) {
        const entry *e = &rewind->entries.data[i];
        if (e->kind == ENTRY_COLUMN && e->where == where && e->field == field)
            return true;
    }
    return rewind->exchanged;
}

/* Memory of exactly that size: columns are freed by the size they have. */
static char *take_memory(kiln_context *context, struct kiln_rewind *rewind, size_t size)
{
    for (size_t i = 0; i < rewind->spare.count; i++)
        if (rewind->spare.data[i].size == size) {
            char *data = rewind->spare.data[i].data;
            rewind->spare.data[i] = rewind->spare.data[--rewind->spare.count];
            return data;
        }
    return kiln_resize(context, NULL, 0, size);
}

static kiln_status save(kiln_mesh *mesh, kiln_where where, size_t field, kiln_save how,
                        kiln_error *error)
{
    struct kiln_rewind *rewind = mesh->journal->rewind;
    kiln_table *table = &mesh->table[where];
    kiln_field *column = &table->fields.data[field];
    size_t size = (size_t)table->capacity * column->stride;
    if (is_saved(rewind, where, field) || table->used == 0)
        return KILN_OK;
    KILN_TRY(kiln_rewind_reserve(mesh, error));
    char *memory = take_memory(mesh->context, rewind, size);
    if (!memory)
        return kiln_fail_memory(error, size);
    entry *e = push(mesh, ENTRY_COLUMN);
    e->where = where;
    e->field = field;
    e->bytes = (size_t)table->used * column->stride;
    if (how == KILN_SAVE_COPY) {
        memcpy(memory, column->data, e->bytes);
        e->saved = (buffer){memory, size};
    } else { /* rows beyond those in use are zero, as in any column */
        memset(memory + e->bytes, 0, size - e->bytes);
        e->saved = (buffer){column->data, size};
        column->data = memory;
        kiln_mesh_refresh(mesh);
    }
    return KILN_OK;
}

kiln_status kiln_rewind_save(kiln_mesh *mesh, kiln_where where, const char *name, kiln_save how,
                             kiln_error *error)
{
    if (!kiln_rewind_active(mesh))
        return KILN_OK;
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    KILN_ASSERT(field);
    return save(mesh, where, (size_t)(field - mesh->table[where].fields.data), how, error);
}

kiln_status kiln_rewind_save_all(kiln_mesh *mesh, kiln_error *error)
{
    if (!kiln_rewind_active(mesh))
        return KILN_OK;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (size_t i = 0; i < mesh->table[where].fields.count; i++)
            KILN_TRY(save(mesh, (kiln_where)where, i, KILN_SAVE_COPY, error));
    return KILN_OK;
}

kiln_status kiln_mesh_exchange(kiln_mesh *mesh, kiln_mesh *other, kiln_error *error)
{
    KILN_ASSERT(kiln_txn_depth(mesh) == 0 && !kiln_archive_active(mesh));
    KILN_ASSERT(!kiln_rewind_active(other));
    if (!kiln_rewind_active(mesh)) {
        swap_contents(mesh, other);
        return KILN_OK;
    }
    KILN_TRY(kiln_rewind_reserve(mesh, error));
    kiln_mesh *empty;
    KILN_TRY(kiln_mesh_create(mesh->context, &empty, error));
    swap_contents(other, empty); /* now `empty` has the new contents */
    entry *e = push(mesh, ENTRY_MESH);
    e->mesh = empty;
    swap_contents(mesh, empty); /* and the old ones */
    mesh->journal->rewind->exchanged = true;
    return KILN_OK;
}
