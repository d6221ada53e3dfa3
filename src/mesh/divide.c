#include "mesh/divide.h"
#include "mesh/txn.h"

#include <string.h>

typedef struct extraction {
    const kiln_mesh *from;
    const uint8_t *take; /* [part]; NULL: all of them */
    bool bare;           /* without fields */
    kiln_mesh *to;
    kiln_u32_array row[KILN_WHERE_COUNT]; /* [old row] new one or KILN_NONE */
    kiln_u32_array part;                  /* likewise */
} extraction;

static kiln_status check_idle(const kiln_mesh *mesh, kiln_error *error)
{
    if (kiln_txn_depth(mesh) > 0 || kiln_archive_active(mesh))
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                         "parts come and go only between transactions and passes");
    return KILN_OK;
}

static uint32_t part_of(const kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    uint32_t tet = where == KILN_ON_VERTEX ? mesh->vertex[row].tet
                   : where == KILN_ON_TET  ? row
                                           : mesh->face[row].at / 4;
    return mesh->info[tet].part;
}

static kiln_status number_rows(extraction *e, kiln_where where, kiln_error *error)
{
    const kiln_table *table = &e->from->table[where];
    KILN_TRY(kiln_array_reserve(e->from->context, &e->row[where], (size_t)table->used + 1, error));
    uint32_t count = 0;
    for (uint32_t row = 0; row < table->used; row++) {
        bool taken = kiln_row_live(e->from, where, row) &&
                     (!e->take || e->take[part_of(e->from, where, row)]);
        e->row[where].data[row] = taken ? count++ : KILN_NONE;
    }
    KILN_TRY(kiln_table_reserve(e->from->context, &e->to->table[where], count, error));
    e->to->table[where].used = e->to->table[where].live = count;
    return KILN_OK;
}

static kiln_status copy_parts(extraction *e, kiln_error *error)
{
    kiln_context *context = e->from->context;
    KILN_TRY(kiln_array_reserve(context, &e->part, e->from->parts.count + 1, error));
    for (size_t p = 0; p < e->from->parts.count; p++) {
        bool taken = (!e->take || e->take[p]) && e->from->parts.data[p].tets > 0;
        e->part.data[p] = taken ? (uint32_t)e->to->parts.count : KILN_NONE;
        if (taken)
            KILN_TRY(kiln_array_push(context, &e->to->parts, e->from->parts.data[p], error));
    }
    return KILN_OK;
}

static kiln_status copy_fields(extraction *e, kiln_error *error)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (size_t i = 0; i < e->from->table[where].fields.count; i++) {
            const kiln_field *field = &e->from->table[where].fields.data[i];
            if (!field->core)
                KILN_TRY(kiln_mesh_add_field(e->to, field->name, (kiln_where)where, field->type,
                                             field->components, field->rule, error));
        }
    return KILN_OK;
}

static void copy_rows(extraction *e, kiln_where where)
{
    const kiln_table *from = &e->from->table[where];
    for (size_t i = 0; i < e->to->table[where].fields.count; i++) { /* those of the mesh first */
        const kiln_field *source = &from->fields.data[i];
        char *target = e->to->table[where].fields.data[i].data;
        for (uint32_t row = 0; row < from->used; row++)
            if (e->row[where].data[row] != KILN_NONE)
                memcpy(target + (size_t)e->row[where].data[row] * source->stride,
                       source->data + (size_t)row * source->stride, source->stride);
    }
}

static void rename_rows(const extraction *e)
{
    kiln_mesh *mesh = e->to;
    const uint32_t *tets = e->row[KILN_ON_TET].data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_tet *tet = &mesh->tet[t];
        for (int k = 0; k < 4; k++) {
            tet->v[k] = e->row[KILN_ON_VERTEX].data[tet->v[k]];
            tet->n[k] =
                kiln_link_is_surface(tet->n[k])
                    ? KILN_LINK_SURFACE + e->row[KILN_ON_FACE].data[tet->n[k] - KILN_LINK_SURFACE]
                    : kiln_link_to(tets[tet->n[k] / 4], tet->n[k] % 4);
        }
        mesh->info[t].part = e->part.data[mesh->info[t].part];
    }
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->vertex[v].tet = tets[mesh->vertex[v].tet];
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        mesh->face[f].at = kiln_link_to(tets[mesh->face[f].at / 4], mesh->face[f].at % 4);
}

static kiln_status extract(extraction *e, kiln_error *error)
{
    kiln_mesh *to = e->to;
    to->next_twin = e->from->next_twin;
    to->clock = e->from->clock;
    to->revision = e->from->revision;
    to->world_policy = e->from->world_policy;
    if (!e->bare)
        KILN_TRY(copy_fields(e, error));
    KILN_TRY(copy_parts(e, error));
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        KILN_TRY(number_rows(e, (kiln_where)where, error));
    kiln_mesh_refresh(to);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        copy_rows(e, (kiln_where)where);
    rename_rows(e);
    return KILN_OK;
}

static kiln_status make(extraction *e, kiln_mesh **out, kiln_error *error)
{
    kiln_context *context = e->from->context;
    KILN_TRY(check_idle(e->from, error));
    KILN_TRY(kiln_mesh_create(context, &e->to, error));
    kiln_status status = extract(e, error);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        kiln_array_free(context, &e->row[where]);
    kiln_array_free(context, &e->part);
    if (status == KILN_OK)
        *out = e->to;
    else
        kiln_mesh_destroy(e->to);
    return status;
}

kiln_status kiln_mesh_extract(const kiln_mesh *mesh, const uint8_t *take, kiln_mesh **out,
                              kiln_error *error)
{
    extraction e = {.from = mesh, .take = take};
    return make(&e, out, error);
}

kiln_status kiln_mesh_copy_bare(const kiln_mesh *mesh, kiln_mesh **out, kiln_error *error)
{
    extraction e = {.from = mesh, .bare = true};
    return make(&e, out, error);
}

static kiln_status check_fields(const kiln_mesh *mesh, const kiln_mesh *more, kiln_error *error)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &mesh->table[where];
        if (more->table[where].fields.count != table->fields.count)
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "the two meshes have different fields");
        for (size_t i = 0; i < table->fields.count; i++) {
            const kiln_field *a = &table->fields.data[i];
            const kiln_field *b = kiln_mesh_field(more, (kiln_where)where, a->name);
            if (!b || a->type != b->type || a->components != b->components)
                return kiln_fail(error, KILN_ERR_INPUT, a->name, 0, -1,
                                 "the two meshes have different fields");
        }
    }
    return KILN_OK;
}

/* The appended rows speak of each other by the numbers they had. */
static void shift_rows(kiln_mesh *mesh, const uint32_t first[KILN_WHERE_COUNT], uint32_t part,
                       uint32_t twin)
{
    for (uint32_t t = first[KILN_ON_TET]; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_tet *tet = &mesh->tet[t];
        for (int k = 0; k < 4; k++) {
            tet->v[k] += first[KILN_ON_VERTEX];
            tet->n[k] +=
                kiln_link_is_surface(tet->n[k]) ? first[KILN_ON_FACE] : 4 * first[KILN_ON_TET];
        }
        mesh->info[t].part += part;
    }
    for (uint32_t v = first[KILN_ON_VERTEX]; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        mesh->vertex[v].tet += first[KILN_ON_TET];
        mesh->vertex[v].twin += mesh->vertex[v].twin ? twin : 0;
    }
    for (uint32_t f = first[KILN_ON_FACE]; f < mesh->table[KILN_ON_FACE].used; f++) {
        mesh->face[f].at += 4 * first[KILN_ON_TET];
        mesh->face[f].twin += mesh->face[f].twin ? twin : 0;
    }
}

kiln_status kiln_mesh_append(kiln_mesh *mesh, const kiln_mesh *more, kiln_error *error)
{
    KILN_TRY(check_idle(mesh, error));
    KILN_TRY(check_idle(more, error));
    KILN_TRY(check_fields(mesh, more, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &mesh->parts, mesh->parts.count + more->parts.count,
                                error));
    KILN_TRY(kiln_mesh_reserve(mesh, more->table[KILN_ON_VERTEX].used,
                               more->table[KILN_ON_TET].used, more->table[KILN_ON_FACE].used,
                               error));
    uint32_t first[KILN_WHERE_COUNT], part = (uint32_t)mesh->parts.count;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_table *table = &mesh->table[where];
        uint32_t rows = more->table[where].used;
        first[where] = table->used;
        for (size_t i = 0; i < table->fields.count; i++) {
            const kiln_field *field = &table->fields.data[i];
            const kiln_field *source = kiln_mesh_field(more, (kiln_where)where, field->name);
            if (rows > 0)
                memcpy(field->data + (size_t)first[where] * field->stride, source->data,
                       (size_t)rows * field->stride);
        }
        table->used += rows;
        table->live += rows;
    }
    shift_rows(mesh, first, part, mesh->next_twin - 1);
    mesh->next_twin += more->next_twin - 1;
    mesh->clock = more->clock > mesh->clock ? more->clock : mesh->clock;
    mesh->revision++;
    for (size_t p = 0; p < more->parts.count; p++) {
        mesh->parts.data[part + p] = more->parts.data[p];
        mesh->parts.data[part + p].stamp = mesh->revision;
    }
    mesh->parts.count += more->parts.count;
    return KILN_OK;
}
