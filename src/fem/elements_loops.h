/* The loops of one material, for inclusion by material_<model>_simd.c, which defines before
 *     KILN_MODEL                                       name of the kernels
 *     energy_density(mu, lambda, F, *W)                F is kiln_vd[3][3]
 *     stress(mu, lambda, F, P)
 *     principal(mu, lambda, pressure, s, *kiln_principal_vd)
 *     KILN_MODEL_IS_LINEAR                             1: U = V = I, the Hessian is as it is
 * One copy per model, so that the densities are inlined into them. */
#include "fem/damping_impl.h"
#include "fem/elements_vd.h"

KILN_INLINE size_t vectors_of(const kiln_element_span *span)
{
    return span->batches * KILN_VD_PER_BATCH;
}

static double energy_loop(const kiln_element_span *span, const double *x, double *each)
{
    kiln_vd sum = {0};
    for (size_t w = 0; w < vectors_of(span); w++) {
        kiln_elements_vd e;
        kiln_vd F[3][3], W;
        kiln_elements_vd_load(span, w, &e);
        kiln_elements_vd_deformation(&e, x, F);
        energy_density(e.mu, e.lambda, F, &W);
        W = kiln_vd_select(e.volume > 0.0, e.volume * W, (kiln_vd){0});
        kiln_vd_store(each + w * KILN_VD_LANES, W);
        sum += W;
    }
    double total = 0.0;
    for (int i = 0; i < KILN_VD_LANES; i++)
        total += sum[i];
    return total;
}

static void gradient_loop(const kiln_element_span *span, const double *x, double scale, double *g)
{
    for (size_t w = 0; w < vectors_of(span); w++) {
        kiln_elements_vd e;
        kiln_vd F[3][3], P[3][3];
        kiln_elements_vd_load(span, w, &e);
        kiln_elements_vd_deformation(&e, x, F);
        stress(e.mu, e.lambda, F, P);
        kiln_vd factor = scale * e.volume;
        for (int k = 0; k < 9; k++)
            P[k / 3][k % 3] *= factor;
        kiln_elements_vd_scatter(&e, P, g);
    }
}

KILN_INLINE kiln_vd pressure_of(const kiln_element_span *span, size_t w)
{
    return span->pressure ? kiln_vd_load(span->pressure + w * KILN_VD_LANES) : (kiln_vd){0};
}

#if KILN_MODEL_IS_LINEAR
static void hessian_loop(const kiln_element_span *span, const double *x, double scale, double *g,
                         kiln_bsr *H)
{
    const kiln_vd one[3] = {kiln_vd_set(1.0), kiln_vd_set(1.0), kiln_vd_set(1.0)};
    if (g)
        gradient_loop(span, x, scale, g);
    for (size_t w = 0; w < vectors_of(span); w++) {
        kiln_hessian_vd h;
        kiln_elements_vd_load(span, w, &h.e[0]);
        if (w + 1 < vectors_of(span)) {
            kiln_elements_vd_load(span, w + 1, &h.e[1]);
            KILN_SIMD(kiln_elements_prefetch)(&h.e[1], H);
        }
        principal(h.e[0].mu, h.e[0].lambda, pressure_of(span, w), one, &h.f[0]);
        KILN_SIMD(kiln_elements_assemble_linear)(&h, scale, H);
    }
}
#else
static void hessian_loop(const kiln_element_span *span, const double *x, double scale, double *g,
                         kiln_bsr *H)
{
    if (g && span->pressure) { /* the gradient is that of W_shape alone */
        gradient_loop(span, x, scale, g);
        g = NULL;
    }
    for (size_t w = 0; w < vectors_of(span); w += KILN_SVD3_BATCHES) {
        kiln_hessian_vd h;
        KILN_SIMD(kiln_elements_decompose)(span, w, x, H, &h);
        for (size_t b = 0; b < KILN_SVD3_BATCHES; b++)
            principal(h.e[b].mu, h.e[b].lambda, pressure_of(span, w + b % h.count), h.d[b].s,
                      &h.f[b]);
        KILN_SIMD(kiln_elements_assemble)(&h, scale, g, H);
    }
}
#endif

static void dampers_loop(const kiln_element_span *span, const double *x,
                         const kiln_damper_rates *rates, kiln_damper *out)
{
    for (size_t w = 0; w < vectors_of(span); w += KILN_SVD3_BATCHES) {
        kiln_hessian_vd h;
        KILN_SIMD(kiln_elements_decompose)(span, w, x, NULL, &h);
        for (size_t b = 0; b < KILN_SVD3_BATCHES && kiln_damper_is_stiff(rates); b++)
            principal(h.e[b].mu, h.e[b].lambda, pressure_of(span, w + b % h.count), h.d[b].s,
                      &h.f[b]);
        KILN_SIMD(kiln_damper_form)(&h, rates, span->material->model->dilation, w, out);
    }
}

#define KILN_KERNELS_(name) KILN_SIMD(kiln_kernels_##name)
#define KILN_KERNELS(name)  KILN_KERNELS_(name)
extern const kiln_element_kernels KILN_KERNELS(KILN_MODEL);
const kiln_element_kernels KILN_KERNELS(KILN_MODEL) = {energy_loop, gradient_loop, hessian_loop,
                                                       dampers_loop};
