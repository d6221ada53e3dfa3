#include "solve/kept_values.h"

#include <string.h>

size_t kiln_kept_values_bytes(const kiln_kept_values *kept)
{
    return kept->memory ? 2 * (kept->coordinates + kept->stencils) * sizeof(double) : 0;
}

void kiln_kept_values_free(kiln_kept_values *kept, kiln_context *context)
{
    kiln_release(context, kept->memory, kiln_kept_values_bytes(kept));
    *kept = (kiln_kept_values){0};
}

void kiln_kept_values_forget(kiln_kept_values *kept)
{
    kept->full[0] = kept->full[1] = false;
}

static double *place(const kiln_kept_values *kept, int slot)
{
    return kept->memory + (size_t)slot * (kept->coordinates + kept->stencils);
}

static bool has_size(const kiln_kept_values *kept, size_t coordinates, size_t stencils)
{
    return kept->memory && kept->coordinates == coordinates && kept->stencils == stencils;
}

double *kiln_kept_values_find(kiln_kept_values *kept, size_t coordinates, size_t stencils,
                              uint64_t state, const double *x)
{
    if (!has_size(kept, coordinates, stencils))
        return NULL;
    for (int slot = 0; slot < 2; slot++) {
        const double *at = place(kept, slot);
        if (!kept->full[slot] || kept->state[slot] != state ||
            memcmp(at, x, coordinates * sizeof *x) != 0)
            continue;
        kept->last = slot;
        return place(kept, slot) + coordinates;
    }
    return NULL;
}

kiln_status kiln_kept_values_reserve(kiln_kept_values *kept, kiln_context *context,
                                     size_t coordinates, size_t stencils, kiln_error *error)
{
    if (has_size(kept, coordinates, stencils))
        return KILN_OK;
    kiln_kept_values_free(kept, context);
    size_t bytes = 2 * (coordinates + stencils) * sizeof(double);
    if (bytes == 0)
        return KILN_OK;
    double *memory = kiln_resize(context, NULL, 0, bytes);
    if (!memory)
        return kiln_fail_memory(error, bytes);
    *kept = (kiln_kept_values){.coordinates = coordinates, .stencils = stencils, .memory = memory};
    return KILN_OK;
}

double *kiln_kept_values_begin(kiln_kept_values *kept, kiln_context *context, size_t coordinates,
                               size_t stencils, uint64_t state, const double *x)
{
    kiln_status status = kiln_kept_values_reserve(kept, context, coordinates, stencils, NULL);
    if (status != KILN_OK || !kept->memory)
        return NULL;
    int slot = 1 - kept->last;
    kept->last = slot;
    kept->full[slot] = true;
    kept->state[slot] = state;
    memcpy(place(kept, slot), x, coordinates * sizeof *x);
    return place(kept, slot) + coordinates;
}
