/* Field values of the tets a cavity puts in. A pass refines this by overlap at its end; here every
 * new tet gets a sound value at once, and totals are kept. */
#include "mesh/replace_impl.h"
#include "mesh/journal.h"

#include <float.h>
#include <string.h>

/* A parent's value: from R's images in the log, or from the live column. */
static const char *parent_value(const kiln_mesh *mesh, const kiln_cavity *cavity,
                                const struct kiln_scratch *scratch, const kiln_field *field,
                                size_t offset, uint32_t parent)
{
    uint32_t index = kiln_cavity_old_index(scratch, cavity, parent);
    if (index < cavity->old_count)
        return (const char *)kiln_old_image(mesh, scratch, index) + offset;
    return field->data + (size_t)parent * field->stride;
}

static double amount_of(const char *image, uint32_t component)
{
    double amount;
    memcpy(&amount, image + 8 * component, sizeof amount);
    return amount;
}

static void add_share(kiln_field *field, uint32_t tet, const char *image, double part)
{
    double *value = (double *)(field->data + (size_t)tet * field->stride);
    for (uint32_t c = 0; c < field->components; c++)
        value[c] += part * amount_of(image, c);
}

/* volume[fresh], children[old] volume of its children; returns the sum over N. */
static double measure(const kiln_mesh *mesh, const kiln_cavity *cavity,
                      const struct kiln_scratch *scratch, double *volume, double *children)
{
    double total = 0.0;
    for (uint32_t j = 0; j < cavity->old_count; j++)
        children[j] = 0.0;
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        /* A tet that is positive by the exact predicate may round to no volume. */
        volume[i] = fmax(kiln_mesh_tet_volume(mesh, scratch->number.data[i]), DBL_MIN);
        uint32_t j = kiln_cavity_old_index(scratch, cavity, cavity->fresh[i].parent);
        if (j < cavity->old_count)
            children[j] += volume[i];
        total += volume[i];
    }
    return total;
}

/* Extensive values: to the heir where one is named; else each parent's amount is shared among its
 * children by volume, and what tets without children held is pooled and shared among all. */
static void share_out(kiln_mesh *mesh, const kiln_cavity *cavity, struct kiln_scratch *scratch,
                      kiln_field *field, size_t offset)
{
    double *volume = scratch->volumes.data, *children = volume + cavity->fresh_count;
    double pool[KILN_FIELD_COMPONENTS];
    bool pooled = false;
    const uint32_t *number = scratch->number.data;
    memset(pool, 0, field->stride);
    double total = measure(mesh, cavity, scratch, volume, children);
    for (uint32_t i = 0; i < cavity->fresh_count; i++)
        memset(field->data + (size_t)number[i] * field->stride, 0, field->stride);
    for (uint32_t j = 0; j < cavity->old_count; j++) {
        const char *image = (const char *)kiln_old_image(mesh, scratch, j) + offset;
        if (cavity->heir && cavity->heir[j] != KILN_NONE) {
            add_share(field, number[cavity->heir[j]], image, 1.0);
        } else if (children[j] == 0.0) {
            pooled = true;
            for (uint32_t c = 0; c < field->components; c++)
                pool[c] += amount_of(image, c);
        }
    }
    for (uint32_t i = 0; i < cavity->fresh_count; i++) {
        uint32_t j = kiln_cavity_old_index(scratch, cavity, cavity->fresh[i].parent);
        if (j < cavity->old_count && !(cavity->heir && cavity->heir[j] != KILN_NONE))
            add_share(field, number[i], (const char *)kiln_old_image(mesh, scratch, j) + offset,
                      volume[i] / children[j]);
        if (pooled)
            add_share(field, number[i], (const char *)pool, volume[i] / total);
    }
}

void kiln_cavity_hand_on_fields(kiln_mesh *mesh, const kiln_cavity *cavity,
                                struct kiln_scratch *scratch)
{
    kiln_table *table = &mesh->table[KILN_ON_TET];
    size_t offset = 0;
    for (size_t k = 0; k < table->fields.count; offset += table->fields.data[k++].stride) {
        kiln_field *field = &table->fields.data[k];
        if (field->core)
            continue;
        if (field->rule == KILN_RULE_CONSERVE) {
            share_out(mesh, cavity, scratch, field, offset);
            continue;
        }
        for (uint32_t i = 0; i < cavity->fresh_count; i++) {
            char *value = field->data + (size_t)scratch->number.data[i] * field->stride;
            uint32_t parent = cavity->fresh[i].parent;
            if (parent == KILN_NONE || field->rule == KILN_RULE_NONE ||
                field->rule == KILN_RULE_RECOMPUTE)
                memset(value, 0, field->stride);
            else
                memmove(value, parent_value(mesh, cavity, scratch, field, offset, parent),
                        field->stride);
        }
    }
}
