#include "sim/pick.h"

#include <string.h>

static kiln_status combine(const kiln_mesh *mesh, kiln_where where, const kiln_pick *pick,
                           kiln_u32_array *done, size_t row, kiln_error *error)
{
    if (pick->kind == KILN_PICK_SELECTOR)
        return kiln_select(mesh, where, &pick->selector, &done[row], error);
    if (pick->a >= row || (pick->kind != KILN_PICK_NOT && pick->b >= row))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "a selection is not a tree");
    if (pick->kind == KILN_PICK_NOT)
        return kiln_select_not(mesh, where, &done[pick->a], &done[row], error);
    kiln_select_operation operation = pick->kind == KILN_PICK_AND  ? KILN_SELECT_AND
                                      : pick->kind == KILN_PICK_OR ? KILN_SELECT_OR
                                                                   : KILN_SELECT_MINUS;
    return kiln_select_combine(mesh->context, operation, &done[pick->a], &done[pick->b], &done[row],
                               error);
}

kiln_status kiln_picks_select(const kiln_mesh *mesh, kiln_where where, const kiln_picks *picks,
                              kiln_u32_array *out, kiln_error *error)
{
    const kiln_selector all = {.kind = KILN_SELECT_ALL};
    if (picks->count == 0)
        return kiln_select(mesh, where, &all, out, error);
    kiln_context *context = mesh->context;
    size_t size = picks->count * sizeof(kiln_u32_array);
    kiln_u32_array *done = kiln_resize(context, NULL, 0, size);
    if (!done)
        return kiln_fail_memory(error, size);
    memset(done, 0, size);
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < picks->count && status == KILN_OK; i++)
        status = combine(mesh, where, &picks->data[i], done, i, error);
    if (status == KILN_OK) {
        kiln_array_free(context, out);
        *out = done[picks->count - 1];
    }
    for (size_t i = 0; i < picks->count - (status == KILN_OK); i++)
        kiln_array_free(context, &done[i]);
    kiln_release(context, done, size);
    return status;
}
