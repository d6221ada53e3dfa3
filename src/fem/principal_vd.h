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

#endif
