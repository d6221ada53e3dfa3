#include "solve/unknowns.h"

#include "base/assert.h"

#include <string.h>

void kiln_unknowns_init(kiln_unknowns *unknowns, kiln_context *context, uint32_t block)
{
    *unknowns = (kiln_unknowns){.block = block, .context = context};
}

void kiln_unknowns_init_all(kiln_unknowns *unknowns, kiln_context *context, uint32_t block,
                            size_t rows)
{
    *unknowns = (kiln_unknowns){.block = block, .rows = rows, .all = true, .context = context};
}

void kiln_unknowns_free(kiln_unknowns *unknowns)
{
    kiln_array_free(unknowns->context, &unknowns->slot_of);
    kiln_array_free(unknowns->context, &unknowns->row_of);
    kiln_unknowns_init(unknowns, unknowns->context, unknowns->block);
}

void kiln_unknowns_clear(kiln_unknowns *unknowns)
{
    for (size_t row = 0; row < unknowns->slot_of.count; row++)
        unknowns->row_of.data[unknowns->slot_of.data[row]] = KILN_BSR_NO_ROW;
    unknowns->slot_of.count = unknowns->rows = 0;
}

kiln_status kiln_unknowns_add(kiln_unknowns *unknowns, uint32_t slot, uint32_t *row,
                              kiln_error *error)
{
    kiln_context *context = unknowns->context;
    KILN_ASSERT_OP(unknowns->all, ==, false);
    size_t known = unknowns->row_of.count;
    if (slot >= known) {
        KILN_TRY(kiln_array_reserve(context, &unknowns->row_of, (size_t)slot + 1, error));
        size_t room = unknowns->row_of.capacity;
        memset(unknowns->row_of.data + known, 0xFF, (room - known) * sizeof(uint32_t));
        unknowns->row_of.count = room;
    }
    uint32_t *at = &unknowns->row_of.data[slot];
    if (*at == KILN_BSR_NO_ROW) {
        KILN_TRY(kiln_array_push(context, &unknowns->slot_of, slot, error));
        *at = (uint32_t)unknowns->rows++;
    }
    *row = *at;
    return KILN_OK;
}

uint32_t kiln_unknowns_row(const kiln_unknowns *unknowns, uint32_t slot)
{
    if (unknowns->all)
        return slot < unknowns->rows ? slot : KILN_BSR_NO_ROW;
    return slot < unknowns->row_of.count ? unknowns->row_of.data[slot] : KILN_BSR_NO_ROW;
}

uint32_t kiln_unknowns_slot(const kiln_unknowns *unknowns, uint32_t row)
{
    return unknowns->all ? row : unknowns->slot_of.data[row];
}

void kiln_unknowns_gather(const kiln_unknowns *unknowns, const double *column, double *x)
{
    size_t n = unknowns->block;
    for (uint32_t row = 0; row < unknowns->rows; row++)
        memcpy(x + n * row, column + n * kiln_unknowns_slot(unknowns, row), n * sizeof *x);
}

void kiln_unknowns_scatter(const kiln_unknowns *unknowns, const double *x, double *column)
{
    size_t n = unknowns->block;
    for (uint32_t row = 0; row < unknowns->rows; row++)
        memcpy(column + n * kiln_unknowns_slot(unknowns, row), x + n * row, n * sizeof *x);
}

kiln_status kiln_unknowns_hold(const kiln_unknowns *unknowns, const kiln_constraints *slots,
                               kiln_constraints *rows, kiln_error *error)
{
    KILN_ASSERT_OP(rows->block, ==, unknowns->block);
    KILN_ASSERT_OP(slots->block, ==, unknowns->block);
    KILN_TRY(kiln_constraints_reset(rows, unknowns->rows, error));
    kiln_unknowns_gather(unknowns, slots->goal, rows->goal);
    for (uint32_t row = 0; row < unknowns->rows; row++) {
        uint32_t slot = kiln_unknowns_slot(unknowns, row);
        rows->held[row] = slots->held[slot];
        const kiln_mat3 *axes =
            slots->frames.count && slots->held[slot] ? kiln_constraints_frame(slots, slot) : NULL;
        if (axes) {
            kiln_constraint_frame frame = {row, *axes};
            KILN_TRY(kiln_array_push(rows->context, &rows->frames, frame, error));
        }
    }
    return KILN_OK;
}
