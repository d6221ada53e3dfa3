#include "mesh/field.h"
#include "geom/sym3.h"
#include "mesh/mesh.h"

#include <string.h>

const char *kiln_rule_name(kiln_rule rule)
{
    static const char *const names[KILN_RULE_COUNT] = {
#define RULE_NAME(name, text, meaning) text,
        KILN_RULE_TABLE(RULE_NAME)
#undef RULE_NAME
    };
    return names[rule];
}

kiln_rule kiln_rule_default(kiln_where where)
{
    static const kiln_rule rules[KILN_WHERE_COUNT] = {KILN_RULE_INTERPOLATE, KILN_RULE_AVERAGE,
                                                      KILN_RULE_COPY};
    return rules[where];
}

size_t kiln_type_size(kiln_type type)
{
    static const size_t size[KILN_TYPE_COUNT] = {8, 4, 4, 8};
    return size[type];
}

double kiln_field_value(const kiln_field *field, uint32_t row, uint32_t component)
{
    const char *at = field->data + (size_t)row * field->stride;
    switch (field->type) {
    case KILN_F64:
        return ((const double *)at)[component];
    case KILN_U32:
        return ((const uint32_t *)at)[component];
    case KILN_I32:
        return ((const int32_t *)at)[component];
    default:
        return (double)((const uint64_t *)at)[component];
    }
}

kiln_status kiln_table_reserve(kiln_context *context, kiln_table *table, size_t wanted,
                               kiln_error *error)
{
    if (wanted <= table->capacity)
        return KILN_OK;
    size_t larger = (size_t)table->capacity + table->capacity / 2;
    if (larger < wanted)
        larger = wanted;
    if (larger >= KILN_NONE)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "more than 2^32 rows wanted");
    for (size_t i = 0; i < table->fields.count; i++) {
        kiln_field *field = &table->fields.data[i];
        field->grown = kiln_resize(context, NULL, 0, larger * field->stride);
        if (!field->grown) {
            while (i-- > 0)
                kiln_release(context, table->fields.data[i].grown,
                             larger * table->fields.data[i].stride);
            return kiln_fail_memory(error, larger * field->stride);
        }
    }
    for (size_t i = 0; i < table->fields.count; i++) {
        kiln_field *field = &table->fields.data[i];
        size_t old_size = (size_t)table->capacity * field->stride;
        if (old_size)
            memcpy(field->grown, field->data, old_size);
        memset(field->grown + old_size, 0, larger * field->stride - old_size);
        kiln_release(context, field->data, old_size);
        field->data = field->grown;
    }
    table->capacity = (uint32_t)larger;
    return KILN_OK;
}

kiln_status kiln_table_add_field(kiln_context *context, kiln_table *table, const kiln_field *field,
                                 kiln_error *error)
{
    size_t size = (size_t)table->capacity * field->stride;
    kiln_field added = *field;
    added.data = size ? kiln_resize(context, NULL, 0, size) : NULL;
    if (size && !added.data)
        return kiln_fail_memory(error, size);
    if (size)
        memset(added.data, 0, size);
    if (kiln_array_push(context, &table->fields, added, error) != KILN_OK) {
        kiln_release(context, added.data, size);
        return KILN_ERR_MEMORY;
    }
    table->row_size += field->stride;
    return KILN_OK;
}

void kiln_table_free(kiln_context *context, kiln_table *table)
{
    for (size_t i = 0; i < table->fields.count; i++)
        kiln_release(context, table->fields.data[i].data,
                     (size_t)table->capacity * table->fields.data[i].stride);
    kiln_array_free(context, &table->fields);
}

static void combine_linear(kiln_field *field, uint32_t to, const uint32_t *from,
                           const double *weight, int count)
{
    for (uint32_t c = 0; c < field->components; c++) {
        double sum = 0.0;
        for (int i = 0; i < count; i++)
            sum += weight[i] * ((double *)(field->data + (size_t)from[i] * field->stride))[c];
        ((double *)(field->data + (size_t)to * field->stride))[c] = sum;
    }
}

/* exp(sum w log A): stays positive definite, and exact where all sources are equal. */
static void combine_spd(kiln_field *field, uint32_t to, const uint32_t *from, const double *weight,
                        int count)
{
    const char *first = field->data + (size_t)from[0] * field->stride;
    char *result = field->data + (size_t)to * field->stride;
    bool all_equal = true;
    for (int i = 1; i < count; i++)
        all_equal &=
            memcmp(first, field->data + (size_t)from[i] * field->stride, field->stride) == 0;
    if (all_equal) {
        memmove(result, first, field->stride);
        return;
    }
    kiln_sym3 sum = {0};
    for (int i = 0; i < count; i++) {
        kiln_sym3 a;
        memcpy(&a, field->data + (size_t)from[i] * field->stride, sizeof a);
        sum = kiln_sym3_madd(sum, weight[i], kiln_sym3_log(a));
    }
    sum = kiln_sym3_exp(sum);
    memcpy(result, &sum, sizeof sum);
}

static void combine_bits(kiln_field *field, uint32_t to, const uint32_t *from, int count)
{
    char *result = field->data + (size_t)to * field->stride;
    char all[8 * 16];
    for (uint32_t start = 0; start < field->stride; start += sizeof all) {
        size_t size = field->stride - start < sizeof all ? field->stride - start : sizeof all;
        memcpy(all, field->data + (size_t)from[0] * field->stride + start, size);
        for (int i = 1; i < count; i++)
            for (size_t b = 0; b < size; b++)
                all[b] &= field->data[(size_t)from[i] * field->stride + start + b];
        memcpy(result + start, all, size);
    }
}

void kiln_table_combine(kiln_table *table, uint32_t to, const uint32_t *from, const double *weight,
                        int count)
{
    int heaviest = 0;
    for (int i = 1; i < count; i++)
        if (weight[i] > weight[heaviest])
            heaviest = i;
    for (size_t f = 0; f < table->fields.count; f++) {
        kiln_field *field = &table->fields.data[f];
        if (field->core)
            continue;
        char *result = field->data + (size_t)to * field->stride;
        if (count == 0 || field->rule == KILN_RULE_NONE || field->rule == KILN_RULE_RECOMPUTE ||
            field->rule == KILN_RULE_CONSERVE)
            memset(result, 0, field->stride);
        else if (field->rule == KILN_RULE_INHERIT)
            combine_bits(field, to, from, count);
        else if (field->rule == KILN_RULE_SPD_LOG)
            combine_spd(field, to, from, weight, count);
        else if (field->type != KILN_F64 || field->rule == KILN_RULE_COPY ||
                 field->rule == KILN_RULE_DIRECT)
            memmove(result, field->data + (size_t)from[heaviest] * field->stride, field->stride);
        else
            combine_linear(field, to, from, weight, count);
    }
}
