/* The element loops of materials that flow inside a step: decomposed and assembled in vectors, the
 * potential lane by lane, since how long it takes depends on who flows. */
#include "fem/flow_potential.h"
#include "fem/elements_vd.h"

KILN_INLINE size_t vectors_of(const kiln_element_span *span)
{
    return span->batches * KILN_VD_PER_BATCH;
}

KILN_INLINE kiln_matter matter_of(const kiln_element_span *span, const kiln_hessian_vd *h, size_t b,
                                  size_t w, int lane, bool pressed, kiln_yield_surface *surface)
{
    size_t at = (size_t)lane + KILN_VD_LANES * w;
    size_t place = 2 * KILN_ELEMENT_LANES * (at / KILN_ELEMENT_LANES) + at % KILN_ELEMENT_LANES;
    *surface = (kiln_yield_surface){INFINITY, 0.0}; /* between steps */
    if (span->yield)
        *surface =
            (kiln_yield_surface){span->yield[place], span->yield[place + KILN_ELEMENT_LANES]};
    return (kiln_matter){.material = span->material,
                         .mu = h->e[b].mu[lane],
                         .lambda = h->e[b].lambda[lane],
                         .pressure = pressed && span->pressure ? span->pressure[at] : 0.0,
                         .s = {h->d[b].s[0][lane], h->d[b].s[1][lane], h->d[b].s[2][lane]}};
}

/* Derivatives of all lanes into h->f. */
static void fill(const kiln_element_span *span, kiln_hessian_vd *h, size_t w, bool pressed)
{
    for (size_t b = 0; b < KILN_SVD3_BATCHES; b++)
        for (int lane = 0; lane < KILN_VD_LANES; lane++) {
            kiln_yield_surface surface;
            kiln_principal f;
            kiln_matter matter = matter_of(span, h, b, w + b % h->count, lane, pressed, &surface);
            kiln_flow_principal(&matter, &surface, &f);
            for (int i = 0; i < 3; i++) {
                h->f[b].p[i][lane] = f.p[i];
                h->f[b].a[i][lane] = f.a[i][i];
                h->f[b].o[i][lane] = f.a[(i + 1) % 3][(i + 2) % 3];
                h->f[b].minus[i][lane] = f.minus[i];
                h->f[b].plus[i][lane] = f.plus[i];
            }
        }
}

static double energy_loop(const kiln_element_span *span, const double *x, double *each)
{
    double total = 0.0;
    for (size_t w = 0; w < vectors_of(span); w += KILN_SVD3_BATCHES) {
        kiln_hessian_vd h;
        KILN_SIMD(kiln_elements_decompose)(span, w, x, NULL, &h);
        for (size_t b = 0; b < h.count; b++)
            for (int lane = 0; lane < KILN_VD_LANES; lane++) {
                kiln_yield_surface surface;
                kiln_matter matter = matter_of(span, &h, b, w + b, lane, false, &surface);
                double volume = h.e[b].volume[lane];
                double energy = volume > 0.0 ? volume * kiln_flow_energy(&matter, &surface) : 0.0;
                each[KILN_VD_LANES * (w + b) + (size_t)lane] = energy;
                total += energy;
            }
    }
    return total;
}

static void gradient_loop(const kiln_element_span *span, const double *x, double scale, double *g)
{
    for (size_t w = 0; w < vectors_of(span); w += KILN_SVD3_BATCHES) {
        kiln_hessian_vd h;
        KILN_SIMD(kiln_elements_decompose)(span, w, x, NULL, &h);
        fill(span, &h, w, false);
        for (size_t b = 0; b < h.count; b++) {
            kiln_vd half[3][3], P[3][3], factor = scale * h.e[b].volume;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    half[i][j] = h.d[b].u[i][j] * (factor * h.f[b].p[j]);
            kiln_vd_multiply_transposed(half, h.d[b].v, P);
            kiln_elements_vd_scatter(&h.e[b], P, g);
        }
    }
}

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
        fill(span, &h, w, true);
        KILN_SIMD(kiln_elements_assemble)(&h, scale, g, H);
    }
}

extern const kiln_element_kernels KILN_SIMD(kiln_kernels_flow);
const kiln_element_kernels KILN_SIMD(kiln_kernels_flow) = {energy_loop, gradient_loop, hessian_loop,
                                                           NULL};
