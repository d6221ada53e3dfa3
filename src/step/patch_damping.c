/* Dampers of the tets of a patch (fem/damping.h): the same potential as the whole step's, of what
 * the vertices bring from the step's begin. */
#include "fem/element_kernels.h"
#include "step/patch_impl.h"

static kiln_damper_span span_of(const kiln_element_span *span, const kiln_patch_past *past,
                                const kiln_damper *dampers)
{
    return (kiln_damper_span){.damper = dampers,
                              .batch = span->batch,
                              .vertex = span->vertex,
                              .batches = span->batches,
                              .x_n = past->begin};
}

void kiln_patch_form_dampers(const kiln_local_objective *objective, const kiln_element_span *span,
                             const kiln_patch_past *past, kiln_patch_rates of, kiln_damper *out)
{
    static void (*const set_past[])(const kiln_damper_past *, const uint32_t *, size_t,
                                    kiln_damper *) = KILN_SIMD_TABLE(kiln_damper_set_past);
    const kiln_local_objective *o = objective;
    const kiln_material *material = span->material;
    kiln_isa isa = o->mesh->context->isa;
    kiln_damper_rates rates = {.stiffness = material->damping_stiffness,
                               .stiffness_of = of.steady,
                               .viscosity = material->viscosity,
                               .viscosity_of = of.viscosity,
                               .per_tau = 1.0 / o->brief.tau};
    const double *origin = o->scheme.origin;
    kiln_damper_past at = {.x_n = past->begin,
                           .before = past->before,
                           .v = past->rate,
                           .before_weight = origin[KILN_HISTORY_X_BEFORE],
                           .rate_weight = o->scheme.impulses ? 0.0 : origin[KILN_HISTORY_V]};
    kiln_element_span shape = *span;
    shape.pressure = NULL; /* nodal pressure is not damped (sim/scene.c) */
    material->model->kernels[isa]->dampers(&shape, past->begin, &rates, out);
    set_past[isa](&at, span->vertex, span->batches, out);
}

double kiln_patch_damped(const kiln_local_objective *objective, const kiln_element_span *span,
                         const kiln_patch_past *past, const kiln_damper *dampers,
                         const double *from, const double *x)
{
    static double (*const energy[])(const kiln_damper_span *, const double *, const double *,
                                    double *, double *) = KILN_SIMD_TABLE(kiln_damper_energy);
    kiln_damper_span damped = span_of(span, past, dampers);
    return objective->brief.weight *
           energy[objective->mesh->context->isa](&damped, from, x, NULL, NULL);
}

void kiln_patch_add_dampers(const kiln_local_objective *objective, const kiln_element_span *span,
                            const kiln_patch_past *past, const kiln_damper *dampers,
                            const double *x, double *g, kiln_bsr *H)
{
    static void (*const act[])(const kiln_damper_span *, const double *, double, double *,
                               kiln_bsr *, double *) = KILN_SIMD_TABLE(kiln_damper_add);
    kiln_damper_span damped = span_of(span, past, dampers);
    act[objective->mesh->context->isa](&damped, x, objective->brief.weight, g, H, NULL);
}

void kiln_patch_add_aside(const kiln_local_objective *objective, const kiln_element_span *span,
                          const kiln_patch_past *past, const kiln_damper *dampers, const double *x,
                          double *g)
{
    static void (*const act[])(const kiln_damper_span *, const double *, double *) =
        KILN_SIMD_TABLE(kiln_damper_centre);
    kiln_damper_span damped = span_of(span, past, dampers);
    act[objective->mesh->context->isa](&damped, x, g);
}
