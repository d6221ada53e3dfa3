#include "fem/elements_vd.h"

#include "fem/elements_guard.h"

/* Both places in one decomposition: it takes two vectors anyway. */
double KILN_SIMD(kiln_elements_stretch_span)(const kiln_element_span *span, const double *x,
                                             const double *y)
{
    kiln_vd worst = kiln_vd_set(1.0);
    for (size_t w = 0; w < span->batches * KILN_VD_PER_BATCH; w++) {
        kiln_elements_vd e;
        kiln_vd F[KILN_SVD3_BATCHES][3][3];
        kiln_svd3_vd d[KILN_SVD3_BATCHES];
        kiln_elements_vd_load(span, w, &e);
        kiln_elements_vd_deformation(&e, x, F[0]);
        kiln_elements_vd_deformation(&e, y, F[1]);
        kiln_svd3_vd_decompose(F, d);
        for (int i = 0; i < 3; i++) {
            kiln_vd ratio = d[0].s[i] / d[1].s[i];
            ratio = kiln_vd_max(ratio, 1.0 / ratio);
            worst = kiln_vd_max(worst, kiln_vd_select(ratio > 0.0, ratio, kiln_vd_set(INFINITY)));
        }
    }
    double most = 1.0;
    for (int i = 0; i < KILN_VD_LANES; i++)
        most = worst[i] > most ? worst[i] : most;
    return most;
}

/* theta (material.h) and its derivative in F. */
KILN_INLINE void dilation_of(kiln_dilation dilation, kiln_vd F[3][3], kiln_vd *theta,
                             kiln_vd D[3][3])
{
    if (dilation == KILN_DILATION_TRACE) {
        *theta = (F[0][0] - 1.0) + (F[1][1] - 1.0) + (F[2][2] - 1.0);
        for (int k = 0; k < 9; k++)
            D[k / 3][k % 3] = kiln_vd_set(k % 4 == 0 ? 1.0 : 0.0);
    } else if (dilation == KILN_DILATION_GREEN) {
        *theta = 0.5 * (kiln_vd_frobenius(F, F) - 3.0);
        memcpy(D, F, 9 * sizeof F[0][0]);
    } else {
        kiln_vd C[3][3];
        kiln_vd_cofactors(F, C);
        if (dilation != KILN_DILATION_STRETCH) {
            *theta = kiln_svd3_dot(F[0][0], C[0][0], F[0][1], C[0][1], F[0][2], C[0][2]) -
                     (dilation == KILN_DILATION_CHANGE ? 1.0 : 0.0);
            memcpy(D, C, sizeof C);
        } else {
            kiln_vd_polar(F, C, D);
            for (int k = 0; k < 9; k++)
                C[k / 3][k % 3] = F[k / 3][k % 3] - D[k / 3][k % 3];
            *theta = kiln_vd_frobenius(D, C); /* tr S - 3 = R : (F - R) */
        }
    }
}

void KILN_SIMD(kiln_elements_dilation_span)(const kiln_element_span *span, kiln_dilation dilation,
                                            const double *x, double *theta)
{
    for (size_t w = 0; w < span->batches * KILN_VD_PER_BATCH; w++) {
        kiln_elements_vd e;
        kiln_vd F[3][3], D[3][3], t;
        kiln_elements_vd_load(span, w, &e);
        kiln_elements_vd_deformation(&e, x, F);
        dilation_of(dilation, F, &t, D);
        kiln_vd_store(theta + w * KILN_VD_LANES, t);
    }
}

void KILN_SIMD(kiln_elements_add_dilation_span)(const kiln_element_span *span,
                                                kiln_dilation dilation, const double *x,
                                                const double *weight, double scale, double *g)
{
    for (size_t w = 0; w < span->batches * KILN_VD_PER_BATCH; w++) {
        kiln_elements_vd e;
        kiln_vd F[3][3], D[3][3], t;
        kiln_elements_vd_load(span, w, &e);
        kiln_elements_vd_deformation(&e, x, F);
        dilation_of(dilation, F, &t, D);
        kiln_vd factor = scale * e.volume * kiln_vd_load(weight + w * KILN_VD_LANES);
        factor = kiln_vd_select(e.volume > 0.0, factor, (kiln_vd){0}); /* padding has any weight */
        for (int k = 0; k < 9; k++)
            D[k / 3][k % 3] *= factor;
        kiln_elements_vd_scatter(&e, D, g);
    }
}
