/* The element loops of linear matter that flows inside a step: small strain, so that flow is taken
 * off the strain itself (flow_potential.h) and the return to the surface is a formula. With e the
 * deviator of the strain, n = e / |e| and y the size of what is left of its stress, the energy has
 * the gradient y n + bulk tr and the Hessian
 *     y / |e| (D - n n') + 2 mu y' / (2 mu + y') n n' + bulk 1 1'
 * with D the projection on deviators: convex, unless matter softens. */
#include "fem/elements_blocks_vd.h"

typedef struct strain_return {
    kiln_vd e[3][3], trace, size; /* deviator of the strain and its norm; dilation */
    kiln_vd bulk, left;           /* stresses over strains: of the dilation, and y / |e| */
    kiln_vd along;                /* in place of `left`, of strains along e */
    kiln_vd energy;
} strain_return;

KILN_INLINE size_t vectors_of(const kiln_element_span *span)
{
    return span->batches * KILN_VD_PER_BATCH;
}

KILN_INLINE void find_strain(kiln_vd F[3][3], strain_return *r)
{
    r->trace = F[0][0] - 1.0 + (F[1][1] - 1.0) + (F[2][2] - 1.0);
    for (int i = 0; i < 3; i++) {
        r->e[i][i] = F[i][i] - 1.0 - r->trace / 3.0;
        for (int j = i + 1; j < 3; j++)
            r->e[i][j] = r->e[j][i] = 0.5 * (F[i][j] + F[j][i]);
    }
    r->size = kiln_vd_sqrt(kiln_vd_frobenius(r->e, r->e));
}

/* Softening matter has its threshold until none is left; where that falls faster than elastic
 * stress, all flows at once. */
static void return_strain(const kiln_element_span *span, size_t w, const kiln_elements_vd *e,
                          kiln_vd F[3][3], strain_return *r)
{
    const kiln_vd none = {0};
    const double *surface =
        span->yield + 2 * KILN_ELEMENT_LANES * (w / KILN_VD_PER_BATCH) + e->lane;
    kiln_vd threshold = kiln_vd_load(surface), growth = kiln_vd_load(surface + KILN_ELEMENT_LANES);
    kiln_vd stiff = e->mu + e->mu, sum = stiff + growth;
    find_strain(F, r);
    kiln_vd over = kiln_vd_fms(stiff, r->size, threshold);
    kiln_vd q = over / sum, y = kiln_vd_fma(growth, q, threshold);
    kiln_vi flows = over > 0.0, empty = ~((sum > 0.0) & (y > 0.0));
    kiln_vd until =
        kiln_vd_select(growth < 0.0, kiln_vd_min(r->size, -threshold / growth), r->size);
    q = kiln_vd_select(empty, until, q);
    y = kiln_vd_select(empty, none, y);
    kiln_vd taken = 0.5 * (threshold + y) * q;
    r->bulk = e->lambda + stiff / 3.0;
    r->left = kiln_vd_select(flows, y / r->size, stiff);
    r->along = kiln_vd_select(flows, kiln_vd_select(empty, none, stiff * growth / sum), stiff);
    kiln_vd shape =
        kiln_vd_select(flows, y * y / (stiff + stiff) + taken, 0.5 * stiff * r->size * r->size);
    r->energy = kiln_vd_fma(0.5 * r->bulk * r->trace, r->trace, shape);
}

KILN_INLINE void load(const kiln_element_span *span, size_t w, const double *x, kiln_elements_vd *e,
                      strain_return *r)
{
    kiln_vd F[3][3];
    kiln_elements_vd_load(span, w, e);
    kiln_elements_vd_deformation(e, x, F);
    return_strain(span, w, e, F, r);
}

static double energy_loop(const kiln_element_span *span, const double *x, double *each)
{
    double total = 0.0;
    for (size_t w = 0; w < vectors_of(span); w++) {
        kiln_elements_vd e;
        strain_return r;
        load(span, w, x, &e, &r);
        kiln_vd energy = kiln_vd_select(e.volume > 0.0, e.volume * r.energy, (kiln_vd){0});
        kiln_vd_store(each + w * KILN_VD_LANES, energy);
        for (int i = 0; i < KILN_VD_LANES; i++)
            total += energy[i];
    }
    return total;
}

KILN_INLINE void add_forces(kiln_elements_vd *e, const strain_return *r, double scale, double *g)
{
    kiln_vd P[3][3], factor = scale * e->volume;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[i][j] = factor * r->left * r->e[i][j];
    for (int i = 0; i < 3; i++)
        P[i][i] = kiln_vd_fma(factor * r->bulk, r->trace, P[i][i]);
    kiln_elements_vd_scatter(e, P, g);
}

static void gradient_loop(const kiln_element_span *span, const double *x, double scale, double *g)
{
    for (size_t w = 0; w < vectors_of(span); w++) {
        kiln_elements_vd e;
        strain_return r;
        load(span, w, x, &e, &r);
        add_forces(&e, &r, scale, g);
    }
}

/* K += factor (n b_a) (n b_b)' */
KILN_INLINE void add_along(kiln_vd factor, kiln_vd n[3][3], kiln_vd B[3][3], kiln_vd K[6][3][3])
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    kiln_vd v[3][3]; /* [i][a] */
    kiln_vd_multiply_transposed(n, B, v);
    for (int p = 0; p < 6; p++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                K[p][i][j] = kiln_vd_fma(factor * v[i][pair[p][0]], v[j][pair[p][1]], K[p][i][j]);
}

static void hessian_loop(const kiln_element_span *span, const double *x, double scale, double *g,
                         kiln_bsr *H)
{
    for (size_t w = 0; w < vectors_of(span); w++) {
        kiln_elements_vd e;
        strain_return r;
        kiln_principal_vd f;
        kiln_vd K[6][3][3], n[3][3];
        load(span, w, x, &e, &r);
        if (g)
            add_forces(&e, &r, scale, g);
        for (int i = 0; i < 3; i++) {
            f.a[i] = kiln_vd_fma(kiln_vd_set(2.0 / 3.0), r.left, r.bulk);
            f.o[i] = kiln_vd_fnma(kiln_vd_set(1.0 / 3.0), r.left, r.bulk);
            f.minus[i] = r.left;
            f.plus[i] = (kiln_vd){0};
        }
        kiln_vd factor = scale * e.volume;
        kiln_vd along = span->exact ? r.along : kiln_vd_max(r.along, (kiln_vd){0});
        kiln_vd over = kiln_vd_select(r.size > 0.0, 1.0 / r.size, (kiln_vd){0});
        for (int k = 0; k < 9; k++)
            n[k / 3][k % 3] = over * r.e[k / 3][k % 3];
        kiln_elements_vd_make_blocks(&f, factor, NULL, e.B, K);
        add_along(factor * (along - r.left), n, e.B, K);
        kiln_elements_vd_add_blocks(&e, K, H);
    }
}

extern const kiln_element_kernels KILN_SIMD(kiln_kernels_flow_linear);
const kiln_element_kernels KILN_SIMD(kiln_kernels_flow_linear) = {energy_loop, gradient_loop,
                                                                  hessian_loop, NULL};
