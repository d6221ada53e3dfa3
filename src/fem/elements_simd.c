/* From singular values to blocks in the matrix: the part of the Hessian that all models share. */
#include "fem/elements_blocks_vd.h"

enum { SWEEPS = 5 };

KILN_INLINE kiln_vd positive(kiln_vd x)
{
    return kiln_vd_select(x > 0.0, x, (kiln_vd){0});
}

/* Where the 3x3 block is not positive definite by its minors. */
KILN_INLINE kiln_vi indefinite(const kiln_principal_vd *f)
{
    kiln_vd m01 = kiln_vd_fms(f->a[0], f->a[1], f->o[2] * f->o[2]);
    kiln_vd c0 = kiln_vd_fms(f->o[2], f->o[0], f->o[1] * f->a[1]);
    kiln_vd c1 = kiln_vd_fms(f->o[2], f->o[1], f->o[0] * f->a[0]);
    kiln_vd det = kiln_vd_fma(f->o[1], c0, kiln_vd_fma(f->o[0], c1, f->a[2] * m01));
    return ~((f->a[0] > 0.0) & (m01 > 0.0) & (det > 0.0));
}

/* Jacobi rotations, negative eigenvalues to zero; five sweeps converge where the SVD's four leave
 * something to its last step. */
static void clamp(kiln_principal_vd f[KILN_SVD3_BATCHES], const kiln_vi bad[KILN_SVD3_BATCHES])
{
    kiln_vd d[KILN_SVD3_BATCHES][3], o[KILN_SVD3_BATCHES][3], v[KILN_SVD3_BATCHES][3][3];
    kiln_vd scale[KILN_SVD3_BATCHES], inverse[KILN_SVD3_BATCHES];
    for (int b = 0; b < KILN_SVD3_BATCHES; b++) {
        kiln_vd top = kiln_vd_abs(f[b].a[0]);
        for (int i = 0; i < 3; i++) {
            top = kiln_vd_max(top, kiln_vd_abs(f[b].a[i]));
            top = kiln_vd_max(top, kiln_vd_abs(f[b].o[i]));
        }
        kiln_vd_binade(top, &scale[b], &inverse[b]);
        for (int i = 0; i < 3; i++) {
            d[b][i] = scale[b] * f[b].a[i], o[b][i] = scale[b] * f[b].o[i];
            for (int j = 0; j < 3; j++)
                v[b][i][j] = kiln_vd_set(i == j ? 1.0 : 0.0);
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int k = 2; k >= 0; k--)
            for (int b = 0; b < KILN_SVD3_BATCHES; b++)
                kiln_svd3_rotate(d[b], o[b], v[b], k == 0 ? 1 : 0, k == 2 ? 1 : 2);
    for (int b = 0; b < KILN_SVD3_BATCHES; b++) {
        kiln_svd3_polish(v[b]);
        for (int i = 0; i < 3; i++)
            d[b][i] = positive(d[b][i]) * inverse[b];
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++) {
                kiln_vd sum = kiln_svd3_dot(v[b][i][0] * d[b][0], v[b][j][0], v[b][i][1] * d[b][1],
                                            v[b][j][1], v[b][i][2] * d[b][2], v[b][j][2]);
                kiln_vd *at = i == j ? &f[b].a[i] : &f[b].o[3 - i - j];
                *at = kiln_vd_select(bad[b], sum, *at);
            }
    }
}

void KILN_SIMD(kiln_elements_project)(kiln_principal_vd f[KILN_SVD3_BATCHES])
{
    kiln_vi bad[KILN_SVD3_BATCHES], any = {0};
    for (int b = 0; b < KILN_SVD3_BATCHES; b++) {
        for (int i = 0; i < 3; i++) {
            f[b].minus[i] = positive(f[b].minus[i]);
            f[b].plus[i] = positive(f[b].plus[i]);
        }
        bad[b] = indefinite(&f[b]);
        any |= bad[b];
    }
    if (kiln_vi_bits(any))
        clamp(f, bad);
}

void KILN_SIMD(kiln_elements_polar_by_svd)(kiln_vd F[3][3], const kiln_vi *where, kiln_vd R[3][3])
{
    kiln_vd a[KILN_SVD3_BATCHES][3][3];
    kiln_svd3_vd d[KILN_SVD3_BATCHES];
    for (int b = 0; b < KILN_SVD3_BATCHES; b++)
        memcpy(a[b], F, sizeof a[b]);
    kiln_svd3_vd_decompose(a, d);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[i][j] = kiln_vd_select(*where,
                                     kiln_svd3_dot(d[0].u[i][0], d[0].v[j][0], d[0].u[i][1],
                                                   d[0].v[j][1], d[0].u[i][2], d[0].v[j][2]),
                                     R[i][j]);
}

/* Asks for the blocks that these tets will add to, before the SVD that takes longer than a miss:
 * without it a third of the assembly is spent waiting for the matrix. */
void KILN_SIMD(kiln_elements_prefetch)(const kiln_elements_vd *e, const kiln_bsr *H)
{
    for (size_t lane = 0; lane < KILN_VD_LANES; lane++) {
        int pair = 0;
        for (size_t a = 0; a < 4; a++) {
            const uint64_t *start = H->start + e->vertex[4 * lane + a];
            const double *row = H->value + 9 * start[0];
            size_t stride = 3 * (size_t)(start[1] - start[0]);
            for (size_t r = 0; r < 3; r++)
                KILN_PREFETCH(row + r * stride);
            for (size_t b = a + 1; b < 4; b++, pair++)
                for (size_t r = 0; r < 3; r++)
                    KILN_PREFETCH(row + 3 * (size_t)e->batch->place[pair][e->lane + lane] +
                                  r * stride);
        }
    }
}

void KILN_SIMD(kiln_elements_decompose)(const kiln_element_span *span, size_t w, const double *x,
                                        const kiln_bsr *H, kiln_hessian_vd *h)
{
    kiln_vd F[KILN_SVD3_BATCHES][3][3];
    size_t left = span->batches * KILN_VD_PER_BATCH - w;
    h->count = left < KILN_SVD3_BATCHES ? 1 : KILN_SVD3_BATCHES;
    for (size_t b = 0; b < KILN_SVD3_BATCHES; b++) {
        kiln_elements_vd_load(span, w + b % h->count, &h->e[b]);
        kiln_elements_vd_deformation(&h->e[b], x, F[b]);
        if (H)
            KILN_SIMD(kiln_elements_prefetch)(&h->e[b], H);
    }
    h->exact = span->exact;
    kiln_svd3_vd_decompose(F, h->d);
}

void KILN_SIMD(kiln_elements_assemble)(kiln_hessian_vd *h, double scale, double *g, kiln_bsr *H)
{
    if (!h->exact)
        KILN_SIMD(kiln_elements_project)(h->f);
    for (size_t b = 0; b < h->count; b++) {
        kiln_elements_vd *e = &h->e[b];
        kiln_svd3_vd *d = &h->d[b];
        kiln_vd c[3][3], K[6][3][3], factor = scale * e->volume;
        if (g) {
            kiln_vd half[3][3], P[3][3];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    half[i][j] = d->u[i][j] * (factor * h->f[b].p[j]);
            kiln_vd_multiply_transposed(half, d->v, P);
            kiln_elements_vd_scatter(e, P, g);
        }
        kiln_vd_multiply(e->B, d->v, c);
        kiln_elements_vd_make_blocks(&h->f[b], factor, d->u, c, K);
        kiln_elements_vd_add_blocks(e, K, H);
    }
}

void KILN_SIMD(kiln_elements_assemble_linear)(kiln_hessian_vd *h, double scale, kiln_bsr *H)
{
    kiln_vd K[6][3][3];
    kiln_elements_vd_make_blocks(&h->f[0], scale * h->e[0].volume, NULL, h->e[0].B, K);
    kiln_elements_vd_add_blocks(&h->e[0], K, H);
}
