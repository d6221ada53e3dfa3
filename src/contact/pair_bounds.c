#include "contact/pair_bounds.h"

void kiln_pair_distances2(const kiln_context *context, const kiln_surface_pair *pairs, size_t count,
                          const kiln_vec3 *x, double loss, double *distance2)
{
    static void (*const table[KILN_ISA_COUNT])(const kiln_surface_pair *, size_t, const kiln_vec3 *,
                                               double, double *) =
        KILN_SIMD_TABLE(kiln_pair_distances2);
    table[context->isa](pairs, count, x, loss, distance2);
}

void kiln_pair_ways2(const kiln_context *context, const kiln_surface_pair *pairs, size_t count,
                     const kiln_vec3 *way, double *way2)
{
    static void (*const table[KILN_ISA_COUNT])(const kiln_surface_pair *, size_t, const kiln_vec3 *,
                                               double *) = KILN_SIMD_TABLE(kiln_pair_ways2);
    table[context->isa](pairs, count, way, way2);
}
