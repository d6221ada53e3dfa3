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
    changes->retied_tets.count = changes->retied_vertices.count = 0;
    changes->tet_ties.count = changes->vertex_ties.count = 0;
    changes->reweighed.count = changes->weights.count = 0;
    changes->around.count = changes->around_retied.count = 0;
    changes->met.count = changes->met_retied.count = 0;
}

void kiln_changes_free(kiln_context *context, kiln_changes *changes)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_array_free(context, &changes->rows[where]);
        kiln_array_free(context, &changes->moved[where]);
        kiln_array_free(context, &changes->marks[where]);
    }
    kiln_array_free(context, &changes->retied_tets);
    kiln_array_free(context, &changes->retied_vertices);
    kiln_array_free(context, &changes->tet_ties);
    kiln_array_free(context, &changes->vertex_ties);
    kiln_array_free(context, &changes->reweighed);
    kiln_array_free(context, &changes->weights);
    kiln_array_free(context, &changes->around);
    kiln_array_free(context, &changes->around_retied);
    kiln_array_free(context, &changes->met);
    kiln_array_free(context, &changes->met_retied);
}

/* Marks for as many rows as there are now, those there were kept. */
static kiln_status cover_rows(kiln_context *context, kiln_u32_array *marks, size_t rows,
                              kiln_error *error)
{
    size_t words = (rows + 31) / 32;
    KILN_TRY(kiln_array_reserve(context, marks, words, error));
    for (; marks->count < words; marks->count++)
        marks->data[marks->count] = 0;
    return KILN_OK;
}

static kiln_status cover(kiln_changes *c, const kiln_mesh *mesh, kiln_error *error)
{
    const kiln_table *table = mesh->table;
    kiln_context *context = mesh->context;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        KILN_TRY(cover_rows(context, &c->marks[where], table[where].used, error));
    KILN_TRY(cover_rows(context, &c->tet_ties, table[KILN_ON_TET].used, error));
    KILN_TRY(cover_rows(context, &c->weights, table[KILN_ON_TET].used, error));
    return cover_rows(context, &c->vertex_ties, table[KILN_ON_VERTEX].used, error);
}

static void set_bit(kiln_u32_array *marks, uint32_t row)
{
    marks->data[row / 32] |= 1u << row % 32;
}

static uint32_t get_bit(const kiln_u32_array *marks, uint32_t row)
{
    return marks->data[row / 32] >> row % 32 & 1;
}

static void mark(kiln_changes *c, kiln_where where, uint32_t row)
{
    set_bit(&c->marks[where], row);
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

static void mark_retied_tet(kiln_changes *c, const kiln_mesh *mesh, uint32_t t)
{
    mark_tet(c, mesh, t);
    set_bit(&c->tet_ties, t);
    for (int k = 0; k < 4; k++)
        set_bit(&c->vertex_ties, mesh->tet[t].v[k]);
}

static bool has_other_corners(const kiln_mesh *mesh, uint32_t t)
{
    const kiln_tet *was = kiln_archive_tet(mesh, t);
    return memcmp(was->v, mesh->tet[t].v, sizeof was->v) != 0;
}

static bool is_other(const kiln_mesh *mesh, size_t field, uint32_t t)
{
    kiln_begin_column column = kiln_begin_column_of(mesh, KILN_ON_TET, field);
    return memcmp(kiln_begin_row(&column, t), column.live + (size_t)t * column.stride,
                  column.stride) != 0;
}

/* Links alone do not count: whoever follows them has no business outside the mesh. */
static void note_values(kiln_changes *c, const kiln_mesh *mesh, uint32_t t)
{
    const kiln_table *table = &mesh->table[KILN_ON_TET];
    for (size_t i = 1; i < table->fields.count; i++) {
        if (!is_other(mesh, i, t))
            continue;
        if (!c->weight || strcmp(table->fields.data[i].name, c->weight) != 0) {
            mark_tet(c, mesh, t);
            return;
        }
        set_bit(&c->weights, t);
    }
}

static void note_touched(kiln_changes *c, const kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    bool live = kiln_row_live(mesh, where, row);
    if (where != KILN_ON_TET) {
        if (live)
            mark(c, where, row);
        return;
    }
    if (live && !has_other_corners(mesh, row)) {
        note_values(c, mesh, row);
        return;
    }
    if (live)
        mark_retied_tet(c, mesh, row);
    const kiln_tet *was = kiln_archive_tet(mesh, row); /* a row may have got another tet */
    for (int k = 0; k < 4 && was->v[0] != KILN_NONE; k++)
        if (kiln_vertex_live(mesh, was->v[k])) {
            mark(c, KILN_ON_VERTEX, was->v[k]);
            set_bit(&c->vertex_ties, was->v[k]);
        }
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
                mark_retied_tet(c, mesh, row);
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
            mark_retied_tet(c, mesh, walker.tets.data[k]);
    }
    kiln_walker_free(&walker);
    for (size_t i = 0; i < c->moved[KILN_ON_TET].count; i++)
        mark_retied_tet(c, mesh, c->moved[KILN_ON_TET].data[i].to);
    for (size_t i = 0; i < c->moved[KILN_ON_FACE].count; i++)
        mark(c, KILN_ON_FACE, c->moved[KILN_ON_FACE].data[i].to);
    return status;
}

static kiln_status list(kiln_context *context, kiln_u32_array *marks, uint32_t used,
                        kiln_u32_array *rows, kiln_error *error)
{
    for (size_t w = 0; w < (used + 31) / 32; w++)
        for (uint32_t bits = marks->data[w]; bits; bits &= bits - 1) {
            uint32_t row = (uint32_t)(32 * w) + (uint32_t)kiln_lowest_bit(bits);
            if (row < used)
                KILN_TRY(kiln_array_push(context, rows, row, error));
        }
    return KILN_OK;
}

/* Those that are not among the changed. */
static kiln_status list_reweighed(kiln_changes *c, const kiln_mesh *mesh, kiln_error *error)
{
    for (size_t w = 0; w < c->weights.count; w++)
        c->weights.data[w] &= ~c->marks[KILN_ON_TET].data[w];
    return list(mesh->context, &c->weights, mesh->table[KILN_ON_TET].used, &c->reweighed, error);
}

/* If `wanted` is 1. There must be room for it. Nobody could foresee the branches: none. */
KILN_INLINE void meet(kiln_changes *c, const kiln_mesh *mesh, uint32_t tet, uint32_t wanted)
{
    uint32_t *word = &c->met.data[tet / 32], fresh = wanted & ~(*word >> tet % 32);
    *word |= fresh << tet % 32;
    c->around.data[c->around.count] = tet;
    c->around.count += fresh;
    KILN_PREFETCH(&mesh->tet[tet]);
}

/* Stars are connected through faces that have the vertex: from the anchors of all marked vertices
 * across every face with one. The list of those of reweighed tets is nobody's: marked here. */
static kiln_status find_around(kiln_changes *c, const kiln_mesh *mesh, kiln_error *error)
{
    const kiln_u32_array *vertices = &c->rows[KILN_ON_VERTEX], *marked = &c->marks[KILN_ON_VERTEX];
    const kiln_u32_array *reweighed = &c->reweighed;
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(cover_rows(mesh->context, &c->met, tets, error));
    KILN_TRY(cover_rows(mesh->context, &c->met_retied, tets, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &c->around, vertices->count + reweighed->count + 1,
                                error));
    for (size_t i = 0; i < vertices->count; i++)
        meet(c, mesh, mesh->vertex[vertices->data[i]].tet, 1);
    for (size_t i = 0; i < reweighed->count; i++) {
        meet(c, mesh, reweighed->data[i], 1);
        for (int k = 0; k < 4; k++)
            mark(c, KILN_ON_VERTEX, mesh->tet[reweighed->data[i]].v[k]);
    }
    for (size_t i = 0; i < c->around.count; i++) {
        const kiln_tet *tet = &mesh->tet[c->around.data[i]];
        uint32_t corners = 0, retied = 0;
        for (int k = 0; k < 4; k++) {
            corners |= get_bit(marked, tet->v[k]) << k;
            retied |= get_bit(&c->vertex_ties, tet->v[k]);
        }
        if (retied)
            set_bit(&c->met_retied, c->around.data[i]);
        KILN_TRY(kiln_array_reserve(mesh->context, &c->around, c->around.count + 5, error));
        for (int k = 0; k < 4; k++)
            if (!kiln_link_is_surface(tet->n[k]))
                meet(c, mesh, tet->n[k] / 4, (corners & ~(1u << k)) != 0);
    }
    return KILN_OK;
}

static kiln_status list_all(kiln_changes *c, const kiln_mesh *mesh, kiln_error *error)
{
    const kiln_table *table = mesh->table;
    kiln_context *context = mesh->context;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        KILN_TRY(list(context, &c->marks[where], table[where].used, &c->rows[where], error));
    KILN_TRY(list(context, &c->tet_ties, table[KILN_ON_TET].used, &c->retied_tets, error));
    KILN_TRY(
        list(context, &c->vertex_ties, table[KILN_ON_VERTEX].used, &c->retied_vertices, error));
    KILN_TRY(list_reweighed(c, mesh, error));
    KILN_TRY(find_around(c, mesh, error));
    c->around.count = 0; /* once more, ascending */
    KILN_TRY(list(context, &c->met, table[KILN_ON_TET].used, &c->around, error));
    KILN_TRY(list(context, &c->met_retied, table[KILN_ON_TET].used, &c->around_retied, error));
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        c->marks[where].count = 0;
    c->tet_ties.count = c->vertex_ties.count = c->weights.count = 0;
    c->met.count = c->met_retied.count = 0;
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
    return list_all(c, mesh, error);
}
