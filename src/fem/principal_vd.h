/* principal.h for vectors, inside *_simd.c files. */
#ifndef KILN_FEM_PRINCIPAL_VD_H
#define KILN_FEM_PRINCIPAL_VD_H

#include "geom/svd3_vd.h"

/* As kiln_principal; the 3x3 block has the diagonal a and o[k] for the pair without k. */
typedef struct kiln_principal_vd {
    kiln_vd p[3], a[3], o[3], minus[3], plus[3];
} kiln_principal_vd;

/* f(I, J) with constant f_I: twice f_I, f_J and f_JJ. Others add to it. */
KILN_INLINE void kiln_principal_vd_start(kiln_vd twice_i, kiln_vd j, kiln_vd j_j,
                                         const kiln_vd s[3], kiln_principal_vd *f)
{
    kiln_vd co[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3, l = (i + 2) % 3;
        f->p[i] = kiln_vd_fma(twice_i, s[i], j * co[i]);
        f->minus[i] = kiln_vd_fnma(j, s[i], twice_i);
        f->plus[i] = kiln_vd_fma(j, s[i], twice_i);
        f->a[i] = kiln_vd_fma(j_j * co[i], co[i], twice_i);
        f->o[i] = kiln_vd_fma(j_j * co[k], co[l], j * s[i]);
    }
}

/* Four times f_II (second derivative in I), an outer product of s. */
KILN_INLINE void kiln_principal_vd_add_i_i(kiln_vd four, const kiln_vd s[3], kiln_principal_vd *f)
{
    for (int i = 0; i < 3; i++) {
        f->a[i] = kiln_vd_fma(four * s[i], s[i], f->a[i]);
        f->o[i] = kiln_vd_fma(four * s[(i + 1) % 3], s[(i + 2) % 3], f->o[i]);
    }
}

KILN_INLINE kiln_vd kiln_principal_vd_positive(kiln_vd x)
{
    return kiln_vd_select(x > 0.0, x, (kiln_vd){0});
}

/* Where the 3x3 block is not positive definite by its minors. */
KILN_INLINE kiln_vi kiln_principal_vd_indefinite(const kiln_principal_vd *f)
{
    kiln_vd m01 = kiln_vd_fms(f->a[0], f->a[1], f->o[2] * f->o[2]);
    kiln_vd c0 = kiln_vd_fms(f->o[2], f->o[0], f->o[1] * f->a[1]);
    kiln_vd c1 = kiln_vd_fms(f->o[2], f->o[1], f->o[0] * f->a[0]);
    kiln_vd det = kiln_vd_fma(f->o[1], c0, kiln_vd_fma(f->o[0], c1, f->a[2] * m01));
    return ~((f->a[0] > 0.0) & (m01 > 0.0) & (det > 0.0));
}

/* Rare enough, or dear enough by itself, to be kept out of the loops' registers. */
static KILN_NOINLINE void kiln_principal_vd_clamp(kiln_principal_vd f[KILN_SVD3_BATCHES],
                                                  const kiln_vi bad[KILN_SVD3_BATCHES])
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
    for (int sweep = 0; sweep < KILN_SVD3_SWEEPS; sweep++)
        for (int k = 2; k >= 0; k--)
            for (int b = 0; b < KILN_SVD3_BATCHES; b++)
                kiln_svd3_rotate(d[b], o[b], v[b], k == 0 ? 1 : 0, k == 2 ? 1 : 2);
    for (int b = 0; b < KILN_SVD3_BATCHES; b++) {
        kiln_svd3_polish(v[b]);
        for (int i = 0; i < 3; i++)
            d[b][i] = kiln_principal_vd_positive(d[b][i]) * inverse[b];
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++) {
                kiln_vd sum = kiln_svd3_dot(v[b][i][0] * d[b][0], v[b][j][0], v[b][i][1] * d[b][1],
                                            v[b][j][1], v[b][i][2] * d[b][2], v[b][j][2]);
                kiln_vd *at = i == j ? &f[b].a[i] : &f[b].o[3 - i - j];
                *at = kiln_vd_select(bad[b], sum, *at);
            }
    }
}

KILN_INLINE void kiln_principal_vd_project(kiln_principal_vd f[KILN_SVD3_BATCHES])
{
    kiln_vi bad[KILN_SVD3_BATCHES], any = {0};
    for (int b = 0; b < KILN_SVD3_BATCHES; b++) {
        for (int i = 0; i < 3; i++) {
            f[b].minus[i] = kiln_principal_vd_positive(f[b].minus[i]);
            f[b].plus[i] = kiln_principal_vd_positive(f[b].plus[i]);
        }
        bad[b] = kiln_principal_vd_indefinite(&f[b]);
        any |= bad[b];
    }
    if (kiln_vi_bits(any))
        kiln_principal_vd_clamp(f, bad);
}

#endif
