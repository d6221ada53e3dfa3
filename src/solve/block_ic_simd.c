#include "solve/block_ic.h"

/* Each place needs what the place before it has just stored, so a sweep waits for memory and
 * additions most of the time. The parts do not depend on each other: two at once fill the gaps. */

KILN_INLINE void forward_any(const kiln_block_ic *ic, const size_t n, size_t k, double *y,
                             double *spilled, size_t separators)
{
    for (uint64_t b = ic->start[k]; b < ic->start[k + 1]; b++) {
        size_t j = ic->column[b];
        double *out = j < separators ? y + n * j : spilled + n * (j - separators);
        for (size_t r = 0; r < n; r++)
            for (size_t c = 0; c < n; c++)
                out[c] -= (double)ic->value[n * (n * b + r) + c] * y[n * k + r];
    }
}

KILN_INLINE void backward_any(const kiln_block_ic *ic, const size_t n, size_t k, double *y)
{
    double sum[KILN_BSR_MOST] = {0.0};
    for (uint64_t b = ic->start[k]; b < ic->start[k + 1]; b++)
        for (size_t r = 0; r < n; r++)
            for (size_t c = 0; c < n; c++)
                sum[r] += (double)ic->value[n * (n * b + r) + c] * y[n * ic->column[b] + c];
    const double *d = ic->inverse + n * n * k;
    for (size_t r = 0; r < n; r++) {
        sum[r] = -sum[r];
        for (size_t c = 0; c < n; c++)
            sum[r] += d[n * r + c] * y[n * k + c];
    }
    for (size_t r = 0; r < n; r++)
        y[n * k + r] = sum[r];
}

KILN_INLINE void forward_threes(const kiln_block_ic *ic, size_t k, double *y, double *spilled,
                                size_t separators)
{
    const double *yk = y + 3 * k;
    kiln_v3d y0 = kiln_v3d_set(yk[0]), y1 = kiln_v3d_set(yk[1]), y2 = kiln_v3d_set(yk[2]);
    for (uint64_t b = ic->start[k]; b < ic->start[k + 1]; b++) {
        size_t j = ic->column[b];
        const float *u = ic->value + 9 * b;
        double *out = j < separators ? y + 3 * j : spilled + 3 * (j - separators);
        kiln_v3d o = kiln_v3d_fnma(kiln_v3d_load_floats(u), y0, kiln_v3d_load(out));
        o = kiln_v3d_fnma(kiln_v3d_load_floats(u + 3), y1, o);
        kiln_v3d_store(out, kiln_v3d_fnma(kiln_v3d_load_floats(u + 6), y2, o));
    }
}

KILN_INLINE void backward_threes(const kiln_block_ic *ic, size_t k, double *y)
{
    const double *d = ic->inverse + 9 * k;
    kiln_v3d s0 = kiln_v3d_set(0.0), s1 = s0, s2 = s0;
    for (uint64_t b = ic->start[k]; b < ic->start[k + 1]; b++) {
        const float *u = ic->value + 9 * b;
        kiln_v3d z = kiln_v3d_load(y + 3 * (size_t)ic->column[b]);
        s0 = kiln_v3d_fma(kiln_v3d_load_floats(u), z, s0);
        s1 = kiln_v3d_fma(kiln_v3d_load_floats(u + 3), z, s1);
        s2 = kiln_v3d_fma(kiln_v3d_load_floats(u + 6), z, s2);
    }
    double *yk = y + 3 * k;
    kiln_v3d w = kiln_v3d_load(d) * kiln_v3d_set(yk[0]);
    w = kiln_v3d_fma(kiln_v3d_load(d + 3), kiln_v3d_set(yk[1]), w);
    w = kiln_v3d_fma(kiln_v3d_load(d + 6), kiln_v3d_set(yk[2]), w);
    kiln_v3d_store(yk, w - kiln_v3d_sums(s0, s1, s2));
}

/* The size of the blocks is a constant where these are inlined. */
KILN_INLINE void forward_place(const kiln_block_ic *ic, const size_t n, size_t k, double *y,
                               double *spilled, size_t separators)
{
    if (n == 3)
        forward_threes(ic, k, y, spilled, separators);
    else
        forward_any(ic, n, k, y, spilled, separators);
}

KILN_INLINE void backward_place(const kiln_block_ic *ic, const size_t n, size_t k, double *y)
{
    if (n == 3)
        backward_threes(ic, k, y);
    else
        backward_any(ic, n, k, y);
}

KILN_INLINE void forward(const kiln_block_ic *ic, const size_t n, const kiln_ic_range pair[2],
                         double *y)
{
    size_t a = pair[0].begin, b = pair[1].begin;
    size_t separators = pair[0].spilled ? ic->separators_begin : ic->rows;
    for (; a < pair[0].end && b < pair[1].end; a++, b++) {
        forward_place(ic, n, a, y, pair[0].spilled, separators);
        forward_place(ic, n, b, y, pair[1].spilled, separators);
    }
    for (; a < pair[0].end; a++)
        forward_place(ic, n, a, y, pair[0].spilled, separators);
    for (; b < pair[1].end; b++)
        forward_place(ic, n, b, y, pair[1].spilled, separators);
}

KILN_INLINE void backward(const kiln_block_ic *ic, const size_t n, const kiln_ic_range pair[2],
                          double *y)
{
    size_t a = pair[0].end, b = pair[1].end;
    while (a > pair[0].begin && b > pair[1].begin) {
        backward_place(ic, n, --a, y);
        backward_place(ic, n, --b, y);
    }
    while (a > pair[0].begin)
        backward_place(ic, n, --a, y);
    while (b > pair[1].begin)
        backward_place(ic, n, --b, y);
}

void KILN_SIMD(kiln_block_ic_forward)(const kiln_block_ic *ic, const kiln_ic_range pair[2],
                                      double *y)
{
    if (ic->n == 3)
        forward(ic, 3, pair, y);
    else if (ic->n == 1)
        forward(ic, 1, pair, y);
    else
        forward(ic, 4, pair, y);
}

void KILN_SIMD(kiln_block_ic_backward)(const kiln_block_ic *ic, const kiln_ic_range pair[2],
                                       double *y)
{
    if (ic->n == 3)
        backward(ic, 3, pair, y);
    else if (ic->n == 1)
        backward(ic, 1, pair, y);
    else
        backward(ic, 4, pair, y);
}
