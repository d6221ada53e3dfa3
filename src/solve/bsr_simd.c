#include "solve/bsr_spill.h"

#include <string.h>

/* Blocks of n, which is a constant where it is called. */
KILN_INLINE void multiply_blocks(const kiln_bsr *matrix, const size_t n, size_t begin, size_t end,
                                 const double *x, double *y, double *spilled)
{
    double *own = y + n * begin;
    memset(own, 0, n * (end - begin) * sizeof(double));
    for (size_t i = begin; i < end; i++) {
        size_t first = (size_t)matrix->start[i], blocks = (size_t)matrix->start[i + 1] - first;
        const double *v = matrix->value + n * n * first, *xi = x + n * i;
        double sum[KILN_BSR_MOST] = {0.0};
        for (size_t b = 0; b < blocks; b++) {
            uint32_t to = matrix->spill->slot[first + b];
            double *out = to < KILN_BSR_GRAIN ? own + n * to : spilled + n * (to - KILN_BSR_GRAIN);
            const double *xj = x + n * matrix->column[first + b];
            for (size_t r = 0; r < n; r++) {
                const double *row = v + n * (r * blocks + b);
                for (size_t c = 0; c < n; c++)
                    sum[r] += row[c] * xj[c];
                for (size_t c = 0; b > 0 && c < n; c++)
                    out[c] += row[c] * xi[r];
            }
        }
        for (size_t r = 0; r < n; r++)
            own[n * (i - begin) + r] += sum[r];
    }
}

static void multiply_threes(const kiln_bsr *matrix, size_t begin, size_t end, const double *x,
                            double *y, double *spilled)
{
    const uint32_t *slot = matrix->spill->slot, *column = matrix->column;
    double *own = y + 3 * begin;
    memset(own, 0, 3 * (end - begin) * sizeof(double));
    for (size_t i = begin; i < end; i++) {
        size_t first = (size_t)matrix->start[i], blocks = (size_t)matrix->start[i + 1] - first;
        const double *v = matrix->value + 9 * first, *xi = x + 3 * i;
        size_t stride = 3 * blocks;
        kiln_v3d x0 = kiln_v3d_set(xi[0]), x1 = kiln_v3d_set(xi[1]), x2 = kiln_v3d_set(xi[2]);
        kiln_v3d xj = kiln_v3d_load(xi);
        kiln_v3d s0 = kiln_v3d_load(v) * xj, s1 = kiln_v3d_load(v + stride) * xj,
                 s2 = kiln_v3d_load(v + 2 * stride) * xj;
        for (size_t b = 1; b < blocks; b++) {
            uint32_t to = slot[first + b];
            double *out = to < KILN_BSR_GRAIN ? own + 3 * to : spilled + 3 * (to - KILN_BSR_GRAIN);
            kiln_v3d v0 = kiln_v3d_load(v + 3 * b), v1 = kiln_v3d_load(v + stride + 3 * b),
                     v2 = kiln_v3d_load(v + 2 * stride + 3 * b);
            xj = kiln_v3d_load(x + 3 * (size_t)column[first + b]);
            s0 = kiln_v3d_fma(v0, xj, s0);
            s1 = kiln_v3d_fma(v1, xj, s1);
            s2 = kiln_v3d_fma(v2, xj, s2);
            kiln_v3d o = kiln_v3d_fma(v0, x0, kiln_v3d_load(out));
            kiln_v3d_store(out, kiln_v3d_fma(v2, x2, kiln_v3d_fma(v1, x1, o)));
        }
        double *yi = own + 3 * (i - begin);
        kiln_v3d_store(yi, kiln_v3d_load(yi) + kiln_v3d_sums(s0, s1, s2));
    }
}

void KILN_SIMD(kiln_bsr_multiply_chunk)(const kiln_bsr *matrix, size_t begin, size_t end,
                                        const double *x, double *y, double *spilled)
{
    if (matrix->block == 3)
        multiply_threes(matrix, begin, end, x, y, spilled);
    else if (matrix->block == 1)
        multiply_blocks(matrix, 1, begin, end, x, y, spilled);
    else
        multiply_blocks(matrix, 4, begin, end, x, y, spilled);
}
