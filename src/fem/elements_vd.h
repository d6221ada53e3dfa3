/* Vectors of elements: gathering F, scattering forces and blocks, the polar decomposition. Inside
 * *_simd.c files. Vector w of a span is lanes of batch w * KILN_VD_LANES / 8. */
#ifndef KILN_FEM_ELEMENTS_VD_H
#define KILN_FEM_ELEMENTS_VD_H

#include "fem/element_kernels.h"
#include "fem/principal_vd.h"

enum { KILN_VD_PER_BATCH = KILN_ELEMENT_LANES / KILN_VD_LANES };

typedef struct kiln_elements_vd {
    const kiln_element_batch *batch;
    const uint32_t *vertex; /* [lane][4] */
    size_t lane;            /* of the batch, where the vector begins */
    kiln_vd B[3][3];
    kiln_vd volume, mu, lambda;
} kiln_elements_vd;

KILN_INLINE void kiln_elements_vd_load(const kiln_element_span *span, size_t w, kiln_elements_vd *e)
{
    size_t b = w / KILN_VD_PER_BATCH;
    e->lane = w % KILN_VD_PER_BATCH * KILN_VD_LANES;
    e->batch = span->batch + b;
    e->vertex = span->vertex + 4 * KILN_VD_LANES * w;
    for (int k = 0; k < 9; k++)
        e->B[k / 3][k % 3] = kiln_vd_load(e->batch->gradient[k] + e->lane);
    e->volume = kiln_vd_load(e->batch->volume + e->lane);
    if (span->lame) {
        const double *lame = span->lame + 2 * KILN_ELEMENT_LANES * b + e->lane;
        e->mu = kiln_vd_load(lame);
        e->lambda = kiln_vd_load(lame + KILN_ELEMENT_LANES);
    } else {
        e->mu = kiln_vd_set(span->mu);
        e->lambda = kiln_vd_set(span->lambda);
    }
    if (span->shape)
        e->lambda = span->shape_lambda * e->mu;
}

/* Edge vectors Dw[i][a] = x_{a+1} - x_0. */
KILN_INLINE void kiln_elements_vd_edges(const kiln_elements_vd *e, const double *x,
                                        kiln_vd Dw[3][3])
{
    kiln_vd origin[3];
    for (size_t a = 0; a < 4; a++) {
        const double *at[KILN_VD_LANES];
        kiln_vd p[3];
        for (size_t i = 0; i < KILN_VD_LANES; i++)
            at[i] = x + 3 * (size_t)e->vertex[4 * i + a];
        kiln_vd_load3(at, &p[0], &p[1], &p[2]);
        for (int i = 0; i < 3; i++)
            if (a == 0)
                origin[i] = p[i];
            else
                Dw[i][a - 1] = p[i] - origin[i];
    }
}

KILN_INLINE void kiln_vd_multiply(kiln_vd A[3][3], kiln_vd B[3][3], kiln_vd out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = kiln_svd3_dot(A[i][0], B[0][j], A[i][1], B[1][j], A[i][2], B[2][j]);
}

/* A B' */
KILN_INLINE void kiln_vd_multiply_transposed(kiln_vd A[3][3], kiln_vd B[3][3], kiln_vd out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = kiln_svd3_dot(A[i][0], B[j][0], A[i][1], B[j][1], A[i][2], B[j][2]);
}

KILN_INLINE void kiln_elements_vd_deformation(kiln_elements_vd *e, const double *x, kiln_vd F[3][3])
{
    kiln_vd Dw[3][3];
    kiln_elements_vd_edges(e, x, Dw);
    kiln_vd_multiply(Dw, e->B, F);
}

KILN_INLINE void kiln_vd_cofactors(kiln_vd F[3][3], kiln_vd C[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int p = (i + 1) % 3, q = (i + 2) % 3, u = (j + 1) % 3, v = (j + 2) % 3;
            C[i][j] = kiln_vd_fms(F[p][u], F[q][v], F[p][v] * F[q][u]);
        }
}

KILN_INLINE kiln_vd kiln_vd_determinant(kiln_vd F[3][3])
{
    kiln_vd c0 = kiln_vd_fms(F[1][1], F[2][2], F[1][2] * F[2][1]);
    kiln_vd c1 = kiln_vd_fms(F[1][2], F[2][0], F[1][0] * F[2][2]);
    kiln_vd c2 = kiln_vd_fms(F[1][0], F[2][1], F[1][1] * F[2][0]);
    return kiln_svd3_dot(F[0][0], c0, F[0][1], c1, F[0][2], c2);
}

KILN_INLINE kiln_vd kiln_vd_frobenius(kiln_vd A[3][3], kiln_vd B[3][3])
{
    kiln_vd sum = A[0][0] * B[0][0];
    for (int k = 1; k < 9; k++)
        sum = kiln_vd_fma(A[k / 3][k % 3], B[k / 3][k % 3], sum);
    return sum;
}

/* What energies are made of near rest, from G = F - I without cancellation: the trace of G, |G|^2
 * and `more` = det F - 1 - tr G. */
KILN_INLINE void kiln_vd_small_invariants(kiln_vd F[3][3], kiln_vd *trace, kiln_vd *square,
                                          kiln_vd *more)
{
    kiln_vd G[3][3];
    for (int k = 0; k < 9; k++)
        G[k / 3][k % 3] = F[k / 3][k % 3] - (k % 4 == 0 ? 1.0 : 0.0);
    kiln_vd m0 = kiln_vd_fms(G[1][1], G[2][2], G[1][2] * G[2][1]);
    kiln_vd m1 = kiln_vd_fms(G[0][0], G[2][2], G[0][2] * G[2][0]);
    kiln_vd m2 = kiln_vd_fms(G[0][0], G[1][1], G[0][1] * G[1][0]);
    kiln_vd c1 = kiln_vd_fms(G[1][2], G[2][0], G[1][0] * G[2][2]);
    kiln_vd c2 = kiln_vd_fms(G[1][0], G[2][1], G[1][1] * G[2][0]);
    kiln_vd det = kiln_vd_fma(G[0][0], m0, kiln_vd_fma(G[0][1], c1, G[0][2] * c2));
    *trace = (G[0][0] + G[1][1]) + G[2][2];
    *square = kiln_vd_frobenius(G, G);
    *more = (m0 + m1) + (m2 + det);
}

/* g += P b_a for the four vertices; P already times volume and scale. */
KILN_INLINE void kiln_elements_vd_scatter(kiln_elements_vd *e, kiln_vd P[3][3], double *g)
{
    kiln_vd f[3][3], first[3]; /* f[i][a] */
    kiln_vd_multiply_transposed(P, e->B, f);
    for (int i = 0; i < 3; i++)
        first[i] = -(f[i][0] + f[i][1] + f[i][2]);
    for (size_t a = 0; a < 4; a++) {
        double *at[KILN_VD_LANES];
        for (size_t i = 0; i < KILN_VD_LANES; i++)
            at[i] = g + 3 * (size_t)e->vertex[4 * i + a];
        if (a == 0)
            kiln_vd_add3(at, first[0], first[1], first[2]);
        else
            kiln_vd_add3(at, f[0][a - 1], f[1][a - 1], f[2][a - 1]);
    }
}

/* Two vectors on their way to a Hessian. */
typedef struct kiln_hessian_vd {
    kiln_elements_vd e[KILN_SVD3_BATCHES];
    kiln_svd3_vd d[KILN_SVD3_BATCHES];
    kiln_principal_vd f[KILN_SVD3_BATCHES];
    size_t count; /* 1 at the end of an odd span: then both are the same */
    bool exact;   /* no projection */
} kiln_hessian_vd;

/* elements_simd.c: what all models share, apart so that it is compiled once. The model fills `f`
 * between the two calls. H, which is only asked for its memory, may be NULL. */
void KILN_SIMD(kiln_elements_decompose)(const kiln_element_span *span, size_t w, const double *x,
                                        const kiln_bsr *H, kiln_hessian_vd *h);
void KILN_SIMD(kiln_elements_assemble)(kiln_hessian_vd *h, double scale, double *g, kiln_bsr *H);
/* The PSD part of both, each 3x3 block and each number by itself. */
void KILN_SIMD(kiln_elements_project)(kiln_principal_vd f[KILN_SVD3_BATCHES]);
/* damping_simd.c: the dampers of these vectors, w the first (the model fills `f` if they have
 * stiffness). */
void KILN_SIMD(kiln_damper_form)(kiln_hessian_vd *h, const struct kiln_damper_rates *rates,
                                 kiln_dilation dilation, size_t w, struct kiln_damper *out);
/* Only the first vector, U = V = I, no projection, no gradient. */
void KILN_SIMD(kiln_elements_assemble_linear)(kiln_hessian_vd *h, double scale, kiln_bsr *H);
/* Asks for the blocks that the vector will add to; the others do it themselves. */
void KILN_SIMD(kiln_elements_prefetch)(const kiln_elements_vd *e, const kiln_bsr *H);
/* R = U V' in the lanes of the mask. */
void KILN_SIMD(kiln_elements_polar_by_svd)(kiln_vd F[3][3], const kiln_vi *where, kiln_vd R[3][3]);

/* Rotation R of F = R S, the signs of the stretches as in svd3.h. C: the cofactors of F.
 *
 * t = tr S is the largest root of (t^2 - |F|^2)^2 = 8 J t + 4 |C|^2 (the other roots have two of
 * the stretches negated), and R = ((k + |F|^2) F + t C - F F'F) / z with k = (t^2 - |F|^2)/2 =
 * s0 s1 + s1 s2 + s2 s0 and z = k t - J = (s0 + s1)(s1 + s2)(s2 + s0): Markley's FOAM (J.
 * Astronautical Sciences 1993). Newton comes down from sqrt(3) |F| >= t. An error of t leaves the
 * singular vectors right, so one step to the nearest orthogonal matrix squares it away. Where s1 +
 * s2 is below about a hundredth of s0 the division loses digits: those lanes take the SVD. */
KILN_INLINE void kiln_vd_polar(kiln_vd F[3][3], kiln_vd C[3][3], kiln_vd R[3][3])
{
    kiln_vd I = kiln_vd_frobenius(F, F), N = kiln_vd_frobenius(C, C);
    kiln_vd J = kiln_svd3_dot(F[0][0], C[0][0], F[0][1], C[0][1], F[0][2], C[0][2]);
    kiln_vd t = kiln_vd_sqrt(3.0 * I), k, z;
    kiln_vi open;
    for (int step = 0; step < 8; step++) {
        k = 0.5 * kiln_vd_fms(t, t, I);
        z = kiln_vd_fms(k, t, J);
        kiln_vd down = (kiln_vd_fms(k, k, N) - 2.0 * J * t) / (z + z);
        t -= down;
        open = ~(kiln_vd_abs(down) < 1e-5 * t);
        if (!kiln_vi_bits(open))
            break;
    }
    k = 0.5 * kiln_vd_fms(t, t, I);
    z = kiln_vd_fms(k, t, J);
    kiln_vd r = 1.0 / z, S[3][3], X[3][3], E[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            S[i][j] = S[j][i] = kiln_svd3_dot(F[0][i], F[0][j], F[1][i], F[1][j], F[2][i], F[2][j]);
    kiln_vd side = t * r;
    for (int i = 0; i < 3; i++)
        S[i][i] -= k + I;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            X[i][j] =
                kiln_vd_fnma(r, kiln_svd3_dot(F[i][0], S[0][j], F[i][1], S[1][j], F[i][2], S[2][j]),
                             side * C[i][j]);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            E[i][j] = E[j][i] =
                0.5 * ((i == j ? 3.0 : 0.0) -
                       kiln_svd3_dot(X[0][i], X[0][j], X[1][i], X[1][j], X[2][i], X[2][j]));
    kiln_vd_multiply(X, E, R);
    kiln_vi poor = open | ~(z > 0.01 * t * t * t);
    if (KILN_UNLIKELY(kiln_vi_bits(poor)))
        KILN_SIMD(kiln_elements_polar_by_svd)(F, &poor, R);
}

#endif
