#include "geom/svd3.h"
#include "geom/svd3_vd.h"

enum { LANES = KILN_VD_LANES, BLOCK = LANES * KILN_SVD3_BATCHES };

static void decompose_block(const double *a, double *u, double *s, double *v, size_t stride)
{
    kiln_vd m[KILN_SVD3_BATCHES][3][3];
    kiln_svd3_vd r[KILN_SVD3_BATCHES];
    for (int b = 0; b < KILN_SVD3_BATCHES; b++)
        for (size_t i = 0; i < 9; i++)
            m[b][i / 3][i % 3] = kiln_vd_load(a + i * stride + (size_t)(b * LANES));
    kiln_svd3_vd_decompose(m, r);
    for (int b = 0; b < KILN_SVD3_BATCHES; b++) {
        for (size_t i = 0; i < 9; i++) {
            kiln_vd_store(u + i * stride + (size_t)(b * LANES), r[b].u[i / 3][i % 3]);
            kiln_vd_store(v + i * stride + (size_t)(b * LANES), r[b].v[i / 3][i % 3]);
        }
        for (size_t i = 0; i < 3; i++)
            kiln_vd_store(s + i * stride + (size_t)(b * LANES), r[b].s[i]);
    }
}

/* The last, partial block goes through padded copies. */
static void decompose_rest(size_t count, size_t stride, const double *a, double *u, double *s,
                           double *v)
{
    double pa[9 * BLOCK] = {0}, pu[9 * BLOCK], ps[3 * BLOCK], pv[9 * BLOCK];
    for (size_t i = 0; i < 9; i++)
        memcpy(pa + i * BLOCK, a + i * stride, count * sizeof *a);
    decompose_block(pa, pu, ps, pv, BLOCK);
    for (size_t i = 0; i < 9; i++) {
        memcpy(u + i * stride, pu + i * BLOCK, count * sizeof *u);
        memcpy(v + i * stride, pv + i * BLOCK, count * sizeof *v);
    }
    for (size_t i = 0; i < 3; i++)
        memcpy(s + i * stride, ps + i * BLOCK, count * sizeof *s);
}

void KILN_SIMD(kiln_svd3_batch)(size_t count, size_t stride, const double *a, double *u, double *s,
                                double *v)
{
    size_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        decompose_block(a + i, u + i, s + i, v + i, stride);
    if (i < count)
        decompose_rest(count - i, stride, a + i, u + i, s + i, v + i);
}
