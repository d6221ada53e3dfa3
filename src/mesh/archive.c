/* The mesh at the begin of a pass, from the first images of the rows that changed since. */
#include "base/assert.h"
#include "mesh/journal_impl.h"
#include "mesh/txn.h"

#include <string.h>

bool kiln_archive_active(const kiln_mesh *mesh)
{
    return mesh->journal->archive_active;
}

kiln_status kiln_archive_begin(kiln_mesh *mesh, kiln_error *error)
{
    struct kiln_journal *journal = mesh->journal;
    if (journal->archive_active || journal->marks.count > 0)
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                         "a pass begins outside transactions and other passes");
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_u32_array *first = &journal->archive_first[where];
        size_t used = mesh->table[where].used;
        KILN_TRY(kiln_array_reserve(mesh->context, first, used, error));
        /* The entries below `count` were zeroed by archive_end. */
        if (used > first->count) {
            memset(first->data + first->count, 0, (used - first->count) * sizeof(uint32_t));
            first->count = used;
        }
    }
    KILN_TRY(kiln_array_reserve(mesh->context, &journal->archive_parts, mesh->parts.count, error));
    if (mesh->parts.count)
        memcpy(journal->archive_parts.data, mesh->parts.data,
               mesh->parts.count * sizeof(kiln_part));
    journal->archive_parts.count = mesh->parts.count;
    journal->archive_mark = kiln_journal_mark(mesh);
    journal->archive_active = true;
    return KILN_OK;
}

void kiln_archive_end(kiln_mesh *mesh)
{
    struct kiln_journal *journal = mesh->journal;
    kiln_log_buffer *log = &journal->archive;
    KILN_ASSERT(journal->archive_active && journal->marks.count == 0);
    while (log->count > 0) {
        uint32_t where = log->data[log->count - 1], row = log->data[log->count - 2];
        journal->archive_first[where].data[row] = 0;
        log->count -= 2 + mesh->table[where].row_size / 4;
    }
    journal->archive_active = false;
}

void kiln_archive_rollback(kiln_mesh *mesh)
{
    struct kiln_journal *journal = mesh->journal;
    kiln_log_buffer *log = &journal->archive;
    KILN_ASSERT(journal->archive_active && journal->marks.count == 0);
    for (size_t end = log->count; end > 0;) {
        uint32_t where = log->data[end - 1], row = log->data[end - 2];
        end -= 2 + mesh->table[where].row_size / 4;
        kiln_row_restore(mesh, (kiln_where)where, row, log->data + end);
        if (where == KILN_ON_VERTEX) /* the image may be from inside a transaction */
            mesh->vertex[row].flags &= ~(uint32_t)KILN_VERTEX_LISTED;
    }
    if (journal->archive_parts.count)
        memcpy(mesh->parts.data, journal->archive_parts.data,
               journal->archive_parts.count * sizeof(kiln_part));
    kiln_mark mark = journal->archive_mark;
    mark.undo = journal->undo.count;
    mark.archive = log->count;
    kiln_journal_undo_to(mesh, &mark); /* counts, free lists, ledger */
    kiln_archive_end(mesh);
}

uint32_t kiln_archive_rows(const kiln_mesh *mesh, kiln_where where)
{
    return mesh->journal->archive_mark.table[where].used;
}

bool kiln_archive_touched(const kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    return mesh->journal->archive_first[where].data[row] != 0;
}

/* The row's image at `offset`, or NULL when it is unchanged. */
static const char *image(const kiln_mesh *mesh, kiln_where where, uint32_t row, size_t offset)
{
    KILN_ASSERT(mesh->journal->archive_active);
    KILN_ASSERT_OP(row, <, kiln_archive_rows(mesh, where));
    uint32_t first = mesh->journal->archive_first[where].data[row];
    return first ? (const char *)(mesh->journal->archive.data + first - 1) + offset : NULL;
}

const kiln_tet *kiln_archive_tet(const kiln_mesh *mesh, uint32_t tet)
{
    const char *old = image(mesh, KILN_ON_TET, tet, 0);
    return old ? (const kiln_tet *)old : &mesh->tet[tet];
}

void kiln_archive_value(const kiln_mesh *mesh, kiln_where where, const kiln_field *field,
                        uint32_t row, void *value)
{
    const kiln_table *table = &mesh->table[where];
    size_t offset = 0;
    for (size_t i = 0; &table->fields.data[i] != field; i++)
        offset += table->fields.data[i].stride;
    const char *old = image(mesh, where, row, offset);
    memcpy(value, old ? old : field->data + (size_t)row * field->stride, field->stride);
    /* Lists belong to the transactions since, wherever the value is from. */
    if (where == KILN_ON_VERTEX && field->data == (const char *)mesh->vertex) {
        kiln_vertex_info info;
        memcpy(&info, value, sizeof info);
        info.flags &= ~(uint32_t)KILN_VERTEX_LISTED;
        memcpy(value, &info, sizeof info);
    }
}

kiln_vec3 kiln_archive_u(const kiln_mesh *mesh, uint32_t vertex)
{
    kiln_vec3 u;
    kiln_archive_value(mesh, KILN_ON_VERTEX, &mesh->table[KILN_ON_VERTEX].fields.data[0], vertex,
                       &u);
    return u;
}

kiln_vec3 kiln_archive_x(const kiln_mesh *mesh, uint32_t vertex)
{
    kiln_vec3 x;
    kiln_archive_value(mesh, KILN_ON_VERTEX, &mesh->table[KILN_ON_VERTEX].fields.data[1], vertex,
                       &x);
    return x;
}
