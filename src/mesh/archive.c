/* The mesh at the begin of a pass, from the first images of the rows that changed since. */
#include "base/assert.h"
#include "mesh/begin_view.h"
#include "mesh/journal_impl.h"
#include "mesh/rewind.h"
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
    KILN_TRY(kiln_rewind_reserve(mesh, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &journal->archive_parts, mesh->parts.count, error));
    if (mesh->parts.count)
        memcpy(journal->archive_parts.data, mesh->parts.data,
               mesh->parts.count * sizeof(kiln_part));
    journal->archive_parts.count = mesh->parts.count;
    journal->archive_mark = kiln_journal_mark(mesh);
    journal->archive_active = true;
    return KILN_OK;
}

void kiln_archive_drop(kiln_mesh *mesh)
{
    struct kiln_journal *journal = mesh->journal;
    const kiln_log_buffer *log = &journal->archive;
    for (size_t end = log->count; end > 0;) {
        uint32_t where = log->data[end - 1], row = log->data[end - 2];
        journal->archive_first[where].data[row] = 0;
        end -= KILN_LOG_TRAILER + mesh->table[where].row_size / 4;
    }
    journal->archive.count = 0;
    journal->archive_active = false;
}

void kiln_archive_end(kiln_mesh *mesh)
{
    struct kiln_journal *journal = mesh->journal;
    KILN_ASSERT(journal->archive_active && journal->marks.count == 0);
    size_t length = journal->archive.count;
    kiln_archive_drop(mesh);
    journal->archive.count = length;
    if (kiln_rewind_active(mesh) && length > 0)
        kiln_rewind_keep_pass(mesh);
    journal->archive.count = 0;
}

void kiln_archive_restore(kiln_mesh *mesh, const kiln_log_buffer *log)
{
    for (size_t end = log->count; end > 0;) {
        uint32_t where = log->data[end - 1], row = log->data[end - 2];
        end -= KILN_LOG_TRAILER + mesh->table[where].row_size / 4;
        kiln_row_restore(mesh, (kiln_where)where, row, log->data + end);
        if (where == KILN_ON_VERTEX) /* the image may be from inside a transaction */
            mesh->vertex[row].flags &= ~(uint32_t)KILN_VERTEX_LISTED;
    }
}

void kiln_archive_rollback(kiln_mesh *mesh)
{
    struct kiln_journal *journal = mesh->journal;
    KILN_ASSERT(journal->archive_active && journal->marks.count == 0);
    kiln_archive_restore(mesh, &journal->archive);
    if (journal->archive_parts.count)
        memcpy(mesh->parts.data, journal->archive_parts.data,
               journal->archive_parts.count * sizeof(kiln_part));
    kiln_mark mark = journal->archive_mark;
    mark.undo = journal->undo.count;
    mark.archive = journal->archive.count;
    kiln_journal_undo_to(mesh, &mark); /* counts, free lists, ledger */
    kiln_archive_drop(mesh);
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

static size_t field_offset(const kiln_table *table, size_t field)
{
    size_t offset = 0;
    for (size_t i = 0; i < field; i++)
        offset += table->fields.data[i].stride;
    return offset;
}

void kiln_archive_value(const kiln_mesh *mesh, kiln_where where, const kiln_field *field,
                        uint32_t row, void *value)
{
    const kiln_table *table = &mesh->table[where];
    size_t offset = field_offset(table, (size_t)(field - table->fields.data));
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

kiln_begin_column kiln_begin_column_of(const kiln_mesh *mesh, kiln_where where, size_t field)
{
    const struct kiln_journal *journal = mesh->journal;
    const kiln_table *table = &mesh->table[where];
    bool active = journal->archive_active;
    return (kiln_begin_column){
        .live = table->fields.data[field].data,
        .first = active && journal->archive.count ? journal->archive_first[where].data : NULL,
        .images = journal->archive.data,
        .stride = table->fields.data[field].stride,
        .offset = (uint32_t)field_offset(table, field),
        .rows = active ? kiln_archive_rows(mesh, where) : table->used};
}

kiln_begin_view kiln_begin_view_of(const kiln_mesh *mesh, kiln_space space)
{
    return (kiln_begin_view){
        .tet = kiln_begin_column_of(mesh, KILN_ON_TET, 0),
        .info = kiln_begin_column_of(mesh, KILN_ON_TET, 1),
        .position = kiln_begin_column_of(mesh, KILN_ON_VERTEX, space == KILN_SPACE_WORLD ? 1 : 0)};
}

kiln_begin_view kiln_live_view_of(const kiln_mesh *mesh, kiln_space space)
{
    kiln_begin_view view = kiln_begin_view_of(mesh, space);
    view.tet.first = view.info.first = view.position.first = NULL;
    view.tet.rows = view.info.rows = mesh->table[KILN_ON_TET].used;
    view.position.rows = mesh->table[KILN_ON_VERTEX].used;
    return view;
}

const kiln_part *kiln_begin_parts(const kiln_mesh *mesh, size_t *count)
{
    const struct kiln_journal *journal = mesh->journal;
    if (count)
        *count = journal->archive_active ? journal->archive_parts.count : mesh->parts.count;
    return journal->archive_active ? journal->archive_parts.data : mesh->parts.data;
}

kiln_status kiln_archive_touched_rows(const kiln_mesh *mesh, kiln_where where, kiln_u32_array *rows,
                                      kiln_error *error)
{
    const kiln_log_buffer *log = &mesh->journal->archive;
    size_t start = rows->count;
    for (size_t end = log->count; end > 0;) {
        uint32_t table = log->data[end - 1], row = log->data[end - 2];
        end -= KILN_LOG_TRAILER + mesh->table[table].row_size / 4;
        if (table == (uint32_t)where)
            KILN_TRY(kiln_array_push(mesh->context, rows, row, error));
    }
    for (size_t i = start, j = rows->count; i + 1 < j; i++) { /* the log is read from its end */
        uint32_t last = rows->data[--j];
        rows->data[j] = rows->data[i];
        rows->data[i] = last;
    }
    return KILN_OK;
}
