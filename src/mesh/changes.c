#include "mesh/changes.h"

#include "mesh/begin_view.h"
#include "mesh/close_ranks.h"
#include "mesh/walk.h"

#include <string.h>

void kiln_changes_start(kiln_changes *changes, const kiln_mesh *mesh)
{
    changes->all = false;
    changes->renumbered = NULL;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        changes->before[where] = mesh->table[where].used;
        changes->rows[where].count = changes->moved[where].count = 0;
        changes->marks[where].count = 0;
    }
}

void kiln_changes_free(kiln_context *context, kiln_changes *changes)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_array_free(context, &changes->rows[where]);
        kiln_array_free(context, &changes->moved[where]);
        kiln_array_free(context, &changes->marks[where]);
    }
}

/* Marks for as many rows as there are now, those there were kept. */
static kiln_status cover(kiln_changes *c, const kiln_mesh *mesh, kiln_error *error)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        size_t words = (mesh->table[where].used + 31) / 32;
        KILN_TRY(kiln_array_reserve(mesh->context, &c->marks[where], words, error));
        for (; c->marks[where].count < words; c->marks[where].count++)
            c->marks[where].data[c->marks[where].count] = 0;
    }
    return KILN_OK;
}

static void mark(kiln_changes *c, kiln_where where, uint32_t row)
{
    c->marks[where].data[row / 32] |= 1u << row % 32;
}

/* With what is known by the names of its corners and faces. */
static void mark_tet(kiln_changes *c, const kiln_mesh *mesh, uint32_t t)
{
    mark(c, KILN_ON_TET, t);
    for (int k = 0; k < 4; k++) {
        mark(c, KILN_ON_VERTEX, mesh->tet[t].v[k]);
        if (kiln_link_is_surface(mesh->tet[t].n[k]))
            mark(c, KILN_ON_FACE, mesh->tet[t].n[k] - KILN_LINK_SURFACE);
    }
}

/* Links alone do not count: whoever follows them has no business outside the mesh. */
static bool differs(const kiln_mesh *mesh, uint32_t t)
{
    const kiln_table *table = &mesh->table[KILN_ON_TET];
    const kiln_tet *was = kiln_archive_tet(mesh, t);
    if (memcmp(was->v, mesh->tet[t].v, sizeof was->v) != 0)
        return true;
    for (size_t i = 1; i < table->fields.count; i++) {
        kiln_begin_column column = kiln_begin_column_of(mesh, KILN_ON_TET, i);
        if (memcmp(kiln_begin_row(&column, t), column.live + (size_t)t * column.stride,
                   column.stride) != 0)
            return true;
    }
    return false;
}

static void note_touched(kiln_changes *c, const kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    bool live = kiln_row_live(mesh, where, row);
    if (where != KILN_ON_TET) {
        if (live)
            mark(c, where, row);
        return;
    }
    if (live && !differs(mesh, row))
        return;
    if (live)
        mark_tet(c, mesh, row);
    const kiln_tet *was = kiln_archive_tet(mesh, row); /* a row may have got another tet */
    for (int k = 0; k < 4 && was->v[0] != KILN_NONE; k++)
        if (kiln_vertex_live(mesh, was->v[k]))
            mark(c, KILN_ON_VERTEX, was->v[k]);
}

kiln_status kiln_changes_note_pass(kiln_changes *c, const kiln_mesh *mesh, kiln_error *error)
{
    KILN_TRY(cover(c, mesh, error));
    kiln_status status = KILN_OK;
    kiln_u32_array touched = {0};
    for (int where = 0; where < KILN_WHERE_COUNT && status == KILN_OK; where++) {
        touched.count = 0;
        status = kiln_archive_touched_rows(mesh, (kiln_where)where, &touched, error);
        for (size_t i = 0; i < touched.count && status == KILN_OK; i++)
            note_touched(c, mesh, (kiln_where)where, touched.data[i]);
        for (uint32_t row = kiln_archive_rows(mesh, (kiln_where)where);
             row < mesh->table[where].used; row++)
            if (!kiln_row_live(mesh, (kiln_where)where, row))
                continue;
            else if (where == KILN_ON_TET)
                mark_tet(c, mesh, row);
            else
                mark(c, (kiln_where)where, row);
    }
    kiln_array_free(mesh->context, &touched);
    return status;
}

/* What has another name, and what names it. */
static kiln_status mark_moved(kiln_changes *c, const kiln_mesh *mesh, kiln_error *error)
{
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < c->moved[KILN_ON_VERTEX].count && status == KILN_OK; i++) {
        uint32_t vertex = c->moved[KILN_ON_VERTEX].data[i].to;
        mark(c, KILN_ON_VERTEX, vertex);
        status = kiln_star(mesh, vertex, &walker, error);
        for (size_t k = 0; k < walker.tets.count && status == KILN_OK; k++)
            mark_tet(c, mesh, walker.tets.data[k]);
    }
    kiln_walker_free(&walker);
    for (size_t i = 0; i < c->moved[KILN_ON_TET].count; i++)
        mark_tet(c, mesh, c->moved[KILN_ON_TET].data[i].to);
    for (size_t i = 0; i < c->moved[KILN_ON_FACE].count; i++)
        mark(c, KILN_ON_FACE, c->moved[KILN_ON_FACE].data[i].to);
    return status;
}

static kiln_status list(kiln_changes *c, const kiln_mesh *mesh, kiln_where where, kiln_error *error)
{
    kiln_u32_array *rows = &c->rows[where];
    uint32_t used = mesh->table[where].used;
    for (size_t w = 0; w < (used + 31) / 32; w++)
        for (uint32_t bits = c->marks[where].data[w]; bits; bits &= bits - 1) {
            uint32_t row = (uint32_t)(32 * w) + (uint32_t)kiln_lowest_bit(bits);
            if (row < used)
                KILN_TRY(kiln_array_push(mesh->context, rows, row, error));
        }
    c->marks[where].count = 0;
    return KILN_OK;
}

kiln_status kiln_changes_close(kiln_changes *c, kiln_mesh *mesh, kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = txn.depth ? kiln_txn_settle(&txn, kiln_txn_close_ranks(&txn, c->moved))
                                     : KILN_REFUSED_MEMORY;
    if (verdict != KILN_ACCEPTED)
        return kiln_txn_fail(verdict, error);
    KILN_TRY(mark_moved(c, mesh, error));
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        KILN_TRY(list(c, mesh, (kiln_where)where, error));
    return KILN_OK;
}
