/* Fields as a user of the library sees them (kiln/kiln.h): by name, all live rows at once. */
#include "mesh/mesh.h"
#include "mesh/txn.h"

#include <math.h>
#include <string.h>

static kiln_field *find(const kiln_mesh *mesh, kiln_where where, const char *name)
{
    if (!mesh || !name || (unsigned)where >= KILN_WHERE_COUNT)
        return NULL;
    kiln_field *field = kiln_mesh_field(mesh, where, name);
    return field && !field->core ? field : NULL;
}

const char *kiln_mesh_field_name(const kiln_mesh *mesh, kiln_where where, size_t index)
{
    if (!mesh || (unsigned)where >= KILN_WHERE_COUNT)
        return NULL;
    const kiln_table *table = &mesh->table[where];
    for (size_t i = 0; i < table->fields.count; i++)
        if (!table->fields.data[i].core && index-- == 0)
            return table->fields.data[i].name;
    return NULL;
}

uint32_t kiln_mesh_field_components(const kiln_mesh *mesh, kiln_where where, const char *name)
{
    const kiln_field *field = find(mesh, where, name);
    return field ? field->components : 0;
}

static kiln_status check_given(const kiln_mesh *mesh, kiln_where where, const char *name,
                               const double *values, kiln_error *error)
{
    KILN_TRY(kiln_need(mesh, "mesh", error));
    KILN_TRY(kiln_need(name, "name", error));
    KILN_TRY(kiln_need(values, "values", error));
    if ((unsigned)where >= KILN_WHERE_COUNT)
        return kiln_fail(error, KILN_ERR_INPUT, "where", 0, -1, "there is no place %d", (int)where);
    return KILN_OK;
}

kiln_status kiln_mesh_get_field(const kiln_mesh *mesh, kiln_where where, const char *name,
                                double *values, kiln_error *error)
{
    KILN_TRY(check_given(mesh, where, name, values, error));
    const kiln_field *field = find(mesh, where, name);
    if (!field)
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "there is no such field");
    for (uint32_t row = 0; row < mesh->table[where].used; row++)
        for (uint32_t c = 0; c < field->components && kiln_row_live(mesh, where, row); c++)
            *values++ = kiln_field_value(field, row, c);
    return KILN_OK;
}

static kiln_status check_new_values(const kiln_mesh *mesh, kiln_where where, const char *name,
                                    uint32_t components, const double *values, kiln_error *error)
{
    const kiln_field *field = find(mesh, where, name);
    if (name[0] == '.' || (where == KILN_ON_VERTEX && strcmp(name, "u") == 0))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "the name is taken by the mesh");
    if (field && field->components != components)
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "the field has %u components, not %u",
                         field->components, components);
    if (field && field->type != KILN_F64)
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, name, 0, -1, "the field is not of doubles");
    if (components < 1 || components > KILN_FIELD_COMPONENTS)
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                         "a field has 1 to %d components, not %u", (int)KILN_FIELD_COMPONENTS,
                         components);
    size_t count = (size_t)mesh->table[where].live * components;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                             "the value of item %zu (from 0) is not finite", i / components);
    return KILN_OK;
}

kiln_status kiln_mesh_set_field(kiln_mesh *mesh, kiln_where where, const char *name,
                                uint32_t components, const double *values, kiln_error *error)
{
    KILN_TRY(check_given(mesh, where, name, values, error));
    if (kiln_txn_depth(mesh) > 0 || kiln_archive_active(mesh)) /* the writes are not logged */
        return kiln_fail(error, KILN_ERR_STATE, name, 0, -1,
                         "fields cannot be set inside a transaction or pass");
    KILN_TRY(check_new_values(mesh, where, name, components, values, error));
    if (!find(mesh, where, name))
        KILN_TRY(kiln_mesh_add_field(mesh, name, where, KILN_F64, components,
                                     kiln_rule_default(where), error));
    kiln_field *field = find(mesh, where, name);
    for (uint32_t row = 0; row < mesh->table[where].used; row++)
        if (kiln_row_live(mesh, where, row)) {
            memcpy(field->data + (size_t)row * field->stride, values, field->stride);
            values += components;
        }
    mesh->revision++;
    return KILN_OK;
}
