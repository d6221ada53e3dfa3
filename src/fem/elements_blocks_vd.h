/* From derivatives in singular values to the ten blocks of a tet in the matrix. Inside *_simd.c
 * files. */
#ifndef KILN_FEM_ELEMENTS_BLOCKS_VD_H
#define KILN_FEM_ELEMENTS_BLOCKS_VD_H

#include "fem/elements_vd.h"

/* In singular space: K[i][k] = sum_jl ca[j] H[ij][kl] cb[l]. */
KILN_INLINE void kiln_elements_vd_block(const kiln_principal_vd *f, const kiln_vd same[3],
                                        const kiln_vd other[3], const kiln_vd ca[3],
                                        const kiln_vd cb[3], kiln_vd K[3][3])
{
    kiln_vd w[3] = {ca[0] * cb[0], ca[1] * cb[1], ca[2] * cb[2]};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        K[i][i] = kiln_svd3_dot(f->a[i], w[i], same[k], w[j], same[j], w[k]);
        K[j][k] = kiln_vd_fma(f->o[i] * ca[j], cb[k], other[i] * ca[k] * cb[j]);
        K[k][j] = kiln_vd_fma(f->o[i] * ca[k], cb[j], other[i] * ca[j] * cb[k]);
    }
}

/* Where the rows of the vertices begin, and how long they are. */
typedef struct kiln_rows_vd {
    double *row[4][KILN_VD_LANES];
    size_t stride[4][KILN_VD_LANES];
} kiln_rows_vd;

KILN_INLINE void kiln_elements_vd_find_rows(const kiln_elements_vd *e, const kiln_bsr *H,
                                            kiln_rows_vd *rows)
{
    for (size_t i = 0; i < KILN_VD_LANES; i++)
        for (size_t a = 0; a < 4; a++) {
            const uint64_t *start = H->start + e->vertex[4 * i + a];
            rows->row[a][i] = H->value + 9 * start[0];
            rows->stride[a][i] = 3 * (size_t)(start[1] - start[0]);
        }
}

/* place: of the block in its row; NULL: the diagonal block, which is the first. */
KILN_INLINE void kiln_elements_vd_add_block(const kiln_rows_vd *rows, int a, const uint32_t *place,
                                            kiln_vd K[3][3])
{
    double *at[KILN_VD_LANES];
    for (size_t i = 0; i < KILN_VD_LANES; i++)
        at[i] = rows->row[a][i] + (place ? 3 * (size_t)place[i] : 0);
    for (int r = 0; r < 3; r++) {
        kiln_vd_add3(at, K[r][0], K[r][1], K[r][2]);
        for (size_t i = 0; i < KILN_VD_LANES; i++)
            at[i] += rows->stride[a][i];
    }
}

/* All ten blocks from those between vertices 1 to 3: rows of the element matrix sum to zero. */
KILN_INLINE void kiln_elements_vd_add_blocks(const kiln_elements_vd *e, kiln_vd K[6][3][3],
                                             kiln_bsr *H)
{
    /* K: blocks 11, 22, 33, 12, 13, 23; `place` has 01 02 03 12 13 23. */
    kiln_rows_vd rows;
    kiln_vd first[4][3][3];
    kiln_elements_vd_find_rows(e, H, &rows);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            first[1][i][j] = -(K[0][i][j] + K[3][j][i] + K[4][j][i]);
            first[2][i][j] = -(K[3][i][j] + K[1][i][j] + K[5][j][i]);
            first[3][i][j] = -(K[4][i][j] + K[5][i][j] + K[2][i][j]);
        }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            first[0][i][j] = first[0][j][i] = -(first[1][i][j] + first[2][i][j] + first[3][i][j]);
    kiln_elements_vd_add_block(&rows, 0, NULL, first[0]);
    for (int b = 1; b < 4; b++) {
        kiln_elements_vd_add_block(&rows, 0, e->batch->place[b - 1] + e->lane, first[b]);
        kiln_elements_vd_add_block(&rows, b, NULL, K[b - 1]);
    }
    kiln_elements_vd_add_block(&rows, 1, e->batch->place[3] + e->lane, K[3]);
    kiln_elements_vd_add_block(&rows, 1, e->batch->place[4] + e->lane, K[4]);
    kiln_elements_vd_add_block(&rows, 2, e->batch->place[5] + e->lane, K[5]);
}

/* The six blocks in world axes, U K U', times factor. c[a] = V' b_{a+1}. U NULL: I. */
KILN_INLINE void kiln_elements_vd_make_blocks(kiln_principal_vd *f, kiln_vd factor, kiln_vd U[3][3],
                                              kiln_vd c[3][3], kiln_vd K[6][3][3])
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    kiln_vd same[3], other[3];
    for (int i = 0; i < 3; i++) {
        same[i] = 0.5 * factor * (f->plus[i] + f->minus[i]);
        other[i] = 0.5 * factor * (f->minus[i] - f->plus[i]);
        f->a[i] *= factor;
        f->o[i] *= factor;
    }
    for (int k = 0; k < 6; k++) {
        kiln_vd local[3][3], half[3][3];
        if (!U) {
            kiln_elements_vd_block(f, same, other, c[pair[k][0]], c[pair[k][1]], K[k]);
            continue;
        }
        kiln_elements_vd_block(f, same, other, c[pair[k][0]], c[pair[k][1]], local);
        kiln_vd_multiply(U, local, half);
        if (k >= 3) {
            kiln_vd_multiply_transposed(half, U, K[k]);
            continue;
        }
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++)
                K[k][i][j] = K[k][j][i] =
                    kiln_svd3_dot(half[i][0], U[j][0], half[i][1], U[j][1], half[i][2], U[j][2]);
    }
}

#endif
