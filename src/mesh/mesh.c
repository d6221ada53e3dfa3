#include "mesh/mesh.h"
#include "base/assert.h"
#include "base/hash.h"
#include "mesh/journal.h"
#include "mesh/replace.h"
#include "mesh/rewind.h"
#include "mesh/txn.h"

#include <stdio.h>
#include <string.h>

const uint8_t kiln_face_corner[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
const uint8_t kiln_edge_ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
const uint8_t kiln_edge_of[4][4] = {{9, 0, 1, 2}, {0, 9, 3, 4}, {1, 3, 9, 5}, {2, 4, 5, 9}};

/* The core columns, in the order in which kiln_mesh_refresh reads those of a table. The dot keeps
 * them apart from the fields of users and files. */
static const struct {
    kiln_where where;
    const char *name;
    uint32_t stride;
} core_columns[] = {
    {KILN_ON_VERTEX, ".u", sizeof(kiln_vec3)},
    {KILN_ON_VERTEX, ".x", sizeof(kiln_vec3)},
    {KILN_ON_VERTEX, ".vertex", sizeof(kiln_vertex_info)},
    {KILN_ON_TET, ".tet", sizeof(kiln_tet)},
    {KILN_ON_TET, ".info", sizeof(kiln_tet_info)},
    {KILN_ON_FACE, ".face", sizeof(kiln_face)},
};

kiln_status kiln_mesh_create(kiln_context *context, kiln_mesh **out, kiln_error *error)
{
    kiln_mesh *mesh = kiln_resize(context, NULL, 0, sizeof *mesh);
    if (!mesh)
        return kiln_fail_memory(error, sizeof *mesh);
    memset(mesh, 0, sizeof *mesh);
    mesh->context = context;
    mesh->clock = mesh->next_twin = 1;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        mesh->table[where].free = KILN_NONE;
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < sizeof core_columns / sizeof core_columns[0] && status == KILN_OK; i++) {
        kiln_field field = {.core = true, .components = 1, .stride = core_columns[i].stride};
        snprintf(field.name, sizeof field.name, "%s", core_columns[i].name);
        status = kiln_table_add_field(context, &mesh->table[core_columns[i].where], &field, error);
    }
    if (status == KILN_OK)
        status = kiln_journal_create(context, &mesh->journal, error);
    if (status == KILN_OK)
        status = kiln_scratch_create(context, &mesh->scratch, error);
    if (status != KILN_OK) {
        kiln_mesh_destroy(mesh);
        return status;
    }
    *out = mesh;
    return KILN_OK;
}

void kiln_mesh_destroy(kiln_mesh *mesh)
{
    if (!mesh)
        return;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        kiln_table_free(mesh->context, &mesh->table[where]);
    kiln_array_free(mesh->context, &mesh->parts);
    kiln_journal_destroy(mesh->context, mesh->journal);
    kiln_scratch_destroy(mesh->context, mesh->scratch);
    kiln_release(mesh->context, mesh, sizeof *mesh);
}

void kiln_mesh_refresh(kiln_mesh *mesh)
{
    mesh->u = (kiln_vec3 *)mesh->table[KILN_ON_VERTEX].fields.data[0].data;
    mesh->x = (kiln_vec3 *)mesh->table[KILN_ON_VERTEX].fields.data[1].data;
    mesh->vertex = (kiln_vertex_info *)mesh->table[KILN_ON_VERTEX].fields.data[2].data;
    mesh->tet = (kiln_tet *)mesh->table[KILN_ON_TET].fields.data[0].data;
    mesh->info = (kiln_tet_info *)mesh->table[KILN_ON_TET].fields.data[1].data;
    mesh->face = (kiln_face *)mesh->table[KILN_ON_FACE].fields.data[0].data;
}

kiln_status kiln_mesh_reserve(kiln_mesh *mesh, size_t vertices, size_t tets, size_t faces,
                              kiln_error *error)
{
    const size_t more[KILN_WHERE_COUNT] = {vertices, tets, faces};
    const size_t most[KILN_WHERE_COUNT] = {KILN_NONE - 1, KILN_MAX_TETS, KILN_MAX_FACES};
    kiln_status status = KILN_OK;
    for (int where = 0; where < KILN_WHERE_COUNT && status == KILN_OK; where++) {
        kiln_table *table = &mesh->table[where];
        size_t wanted = table->used + more[where];
        if (wanted > most[where])
            status = kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "more than %zu %s", most[where],
                               where == KILN_ON_VERTEX ? "vertices"
                               : where == KILN_ON_TET  ? "tets"
                                                       : "surface faces");
        else
            status = kiln_table_reserve(mesh->context, table, wanted, error);
    }
    kiln_mesh_refresh(mesh); /* columns that did grow have moved, whatever came after */
    return status;
}

kiln_status kiln_mesh_add_field(kiln_mesh *mesh, const char *name, kiln_where where, kiln_type type,
                                uint32_t components, kiln_rule rule, kiln_error *error)
{
    if (kiln_txn_depth(mesh) > 0 || kiln_archive_active(mesh) || kiln_rewind_active(mesh))
        return kiln_fail(error, KILN_ERR_STATE, name, 0, -1, /* images have the rows' layout */
                         "fields cannot be added inside a transaction, pass or step");
    if (strlen(name) >= KILN_NAME_SIZE || !name[0])
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "field names have 1 to %d characters",
                         KILN_NAME_SIZE - 1);
    if (kiln_mesh_field(mesh, where, name))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "there is such a field already");
    if (components == 0 || components > KILN_FIELD_COMPONENTS)
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "fields have 1 to %d components",
                         KILN_FIELD_COMPONENTS);
    if (rule == KILN_RULE_SPD_LOG && (type != KILN_F64 || components != 6))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                         "the rule spd-log is for 6 doubles, a kiln_sym3");
    if (rule == KILN_RULE_CONSERVE && type != KILN_F64)
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "the rule conserve is for doubles");
    kiln_field field = {.type = type,
                        .rule = rule,
                        .components = components,
                        .stride = components * (uint32_t)kiln_type_size(type)};
    snprintf(field.name, sizeof field.name, "%s", name);
    kiln_status status = kiln_table_add_field(mesh->context, &mesh->table[where], &field, error);
    kiln_mesh_refresh(mesh);
    return status;
}

kiln_field *kiln_mesh_field(const kiln_mesh *mesh, kiln_where where, const char *name)
{
    const kiln_table *table = &mesh->table[where];
    for (size_t i = 0; i < table->fields.count; i++)
        if (strcmp(table->fields.data[i].name, name) == 0)
            return &table->fields.data[i];
    return NULL;
}

uint64_t kiln_mesh_hash(const kiln_mesh *mesh)
{
    if (!mesh)
        return 0;
    uint64_t hash = mesh->next_twin;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &mesh->table[where];
        hash = kiln_hash_add(kiln_hash_add(hash, table->used), table->live);
        for (size_t i = 0; i < table->fields.count; i++) {
            const kiln_field *field = &table->fields.data[i];
            hash = kiln_hash_bytes(hash, field->data, (size_t)table->used * field->stride);
        }
        hash = kiln_hash_add(hash, table->free);
    }
    hash = kiln_hash_bytes(hash, mesh->parts.data, mesh->parts.count * sizeof *mesh->parts.data);
    return kiln_hash_bytes(hash, &mesh->ledger, sizeof mesh->ledger);
}

kiln_status kiln_mesh_place(kiln_mesh *mesh, const kiln_vec3 *u, kiln_error *error)
{
    const kiln_table *vertices = &mesh->table[KILN_ON_VERTEX];
    KILN_ASSERT_OP(kiln_txn_depth(mesh), ==, 0);
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, ".u",
                              vertices->live == vertices->used ? KILN_SAVE_ALL : KILN_SAVE_COPY,
                              error));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            mesh->u[v] = u[v];
    mesh->revision++;
    for (size_t p = 0; p < mesh->parts.count; p++) {
        mesh->parts.data[p].volume = 0.0;
        mesh->parts.data[p].stamp = mesh->revision;
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            mesh->parts.data[mesh->info[t].part].volume += kiln_mesh_tet_volume(mesh, t);
    return KILN_OK;
}

bool kiln_mesh_spaces_agree(const kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v) && memcmp(&mesh->u[v], &mesh->x[v], sizeof *mesh->u) != 0)
            return false;
    return true;
}

size_t kiln_mesh_bytes(const kiln_mesh *mesh)
{
    size_t bytes = sizeof *mesh + mesh->parts.capacity * sizeof *mesh->parts.data;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        bytes += (size_t)mesh->table[where].capacity * mesh->table[where].row_size;
    return bytes;
}

double kiln_mesh_volume(const kiln_mesh *mesh)
{
    double volume = 0.0;
    for (uint32_t t = 0; mesh && t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            volume += kiln_mesh_tet_volume(mesh, t);
    return volume;
}
