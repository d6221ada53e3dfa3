#include "solve/front.h"

#include <math.h>

/* Tiles that are worked on at a time: as many sums as there are registers for. */
#if defined(KILN_SIMD_AVX512)
enum { TALL = 3, WIDE = 8 };
#elif defined(KILN_SIMD_AVX2)
enum { TALL = 1, WIDE = 4 };
#else
enum { TALL = 1, WIDE = 2 };
#endif
enum { PARTS = KILN_STRIP / KILN_VD_LANES, TILE = KILN_STRIP * KILN_STRIP };
enum { BLOCK = 24 }; /* strips whose panel stays in the cache */

KILN_INLINE double *strip_at(const kiln_front *f, size_t s, size_t block)
{
    return f->L + s * f->columns * KILN_STRIP + block * TILE;
}

/* The tile of strip s and column block c, in L or U. */
KILN_INLINE double *tile_at(const kiln_front *f, size_t s, size_t c)
{
    size_t own = f->columns / KILN_STRIP;
    return c < own ? strip_at(f, s, c) : f->U + kiln_front_triangle(s - own) + (c - own) * TILE;
}

/* c[i] -= a[i] b' for some tiles, over `depth` columns of the strips a[i] and b. */
KILN_INLINE void subtract(const int tall, const double *const a[], const double *b, size_t depth,
                          double *const c[])
{
    for (int first = 0; first < KILN_STRIP; first += WIDE) {
        kiln_vd sum[TALL][WIDE][PARTS];
        for (int i = 0; i < tall; i++)
            for (int j = 0; j < WIDE; j++)
                for (int p = 0; p < PARTS; p++)
                    sum[i][j][p] =
                        kiln_vd_load(c[i] + KILN_STRIP * (first + j) + KILN_VD_LANES * p);
        for (size_t k = 0; k < depth; k++) {
            kiln_vd left[TALL][PARTS];
            for (int i = 0; i < tall; i++)
                for (int p = 0; p < PARTS; p++)
                    left[i][p] = kiln_vd_load(a[i] + KILN_STRIP * k + KILN_VD_LANES * p);
            for (int j = 0; j < WIDE; j++) {
                kiln_vd right = kiln_vd_set(b[KILN_STRIP * k + (size_t)(first + j)]);
                for (int i = 0; i < tall; i++)
                    for (int p = 0; p < PARTS; p++)
                        sum[i][j][p] = kiln_vd_fnma(left[i][p], right, sum[i][j][p]);
            }
        }
        for (int i = 0; i < tall; i++)
            for (int j = 0; j < WIDE; j++)
                for (int p = 0; p < PARTS; p++)
                    kiln_vd_store(c[i] + KILN_STRIP * (first + j) + KILN_VD_LANES * p,
                                  sum[i][j][p]);
    }
}

/* The tiles of column block c in strips s0 to s1 - 1, over the panel's column blocks p0 to p1 - 1.
 */
KILN_INLINE void subtract_panel(const kiln_front *f, size_t c, size_t p0, size_t p1, size_t s0,
                                size_t s1)
{
    const double *b = strip_at(f, c, p0);
    size_t depth = KILN_STRIP * (p1 - p0), s = s0;
    const double *a[TALL];
    double *to[TALL];
    for (; s + TALL <= s1; s += TALL) {
        for (size_t i = 0; i < TALL; i++) {
            a[i] = strip_at(f, s + i, p0);
            to[i] = tile_at(f, s + i, c);
        }
        subtract(TALL, a, b, depth, to);
    }
    for (; s < s1; s++) {
        a[0] = strip_at(f, s, p0);
        to[0] = tile_at(f, s, c);
        subtract(1, a, b, depth, to);
    }
}

/* L of a tile, its diagonal turned over; what is above it does not count. */
static bool factor_tile(double *tile)
{
    for (int j = 0; j < KILN_STRIP; j++) {
        double *column = tile + KILN_STRIP * j, pivot = column[j];
        if (!(pivot > 0.0) || pivot > 1e300)
            return false;
        double inverse = 1.0 / sqrt(pivot);
        kiln_vd x[PARTS];
        for (int p = 0; p < PARTS; p++) {
            x[p] = inverse * kiln_vd_load(column + KILN_VD_LANES * p);
            kiln_vd_store(column + KILN_VD_LANES * p, x[p]);
        }
        for (int l = j + 1; l < KILN_STRIP; l++)
            for (int p = 0; p < PARTS; p++) {
                double *to = tile + KILN_STRIP * l + KILN_VD_LANES * p;
                kiln_vd_store(to, kiln_vd_fnma(x[p], kiln_vd_set(column[l]), kiln_vd_load(to)));
            }
        column[j] = inverse;
    }
    return true;
}

/* The inverse of that in its place, with zeros above: row i is the unit row minus the rows before
 * it by what L has there, over L_ii. */
static void invert_tile(double *tile)
{
    double row[KILN_STRIP][KILN_STRIP];
    for (int i = 0; i < KILN_STRIP; i++) {
        kiln_vd sum[PARTS];
        for (int p = 0; p < PARTS; p++)
            sum[p] = kiln_vd_set(0.0);
        for (int k = 0; k < i; k++)
            for (int p = 0; p < PARTS; p++)
                sum[p] = kiln_vd_fnma(kiln_vd_set(tile[KILN_STRIP * k + i]),
                                      kiln_vd_load(row[k] + KILN_VD_LANES * p), sum[p]);
        double inverse = tile[KILN_STRIP * i + i];
        for (int p = 0; p < PARTS; p++)
            kiln_vd_store(row[i] + KILN_VD_LANES * p, inverse * sum[p]);
        row[i][i] = inverse;
    }
    for (int j = 0; j < KILN_STRIP; j++)
        for (int i = 0; i < KILN_STRIP; i++)
            tile[KILN_STRIP * j + i] = row[i][j];
}

/* tile = tile L^-T */
static void solve_tile(double *tile, const double *inverse)
{
    kiln_vd x[KILN_STRIP][PARTS];
    for (int j = 0; j < KILN_STRIP; j++)
        for (int p = 0; p < PARTS; p++)
            x[j][p] = kiln_vd_load(tile + KILN_STRIP * j + KILN_VD_LANES * p);
    for (int j = 0; j < KILN_STRIP; j++) {
        kiln_vd sum[PARTS];
        for (int p = 0; p < PARTS; p++)
            sum[p] = inverse[j] * x[0][p];
        for (int l = 1; l <= j; l++)
            for (int p = 0; p < PARTS; p++)
                sum[p] = kiln_vd_fma(x[l][p], kiln_vd_set(inverse[KILN_STRIP * l + j]), sum[p]);
        for (int p = 0; p < PARTS; p++)
            kiln_vd_store(tile + KILN_STRIP * j + KILN_VD_LANES * p, sum[p]);
    }
}

bool KILN_SIMD(kiln_front_factor)(const kiln_front *f, size_t p0, size_t p1)
{
    for (size_t c = p0; c < p1; c++) {
        subtract_panel(f, c, p0, c, c, p1);
        if (!factor_tile(strip_at(f, c, c)))
            return false;
        invert_tile(strip_at(f, c, c));
        for (size_t s = c + 1; s < p1; s++)
            solve_tile(strip_at(f, s, c), strip_at(f, c, c));
    }
    return true;
}

void KILN_SIMD(kiln_front_solve)(const kiln_front *f, size_t p0, size_t p1, size_t s0, size_t s1)
{
    for (size_t begin = s0; begin < s1; begin += BLOCK) {
        size_t end = begin + BLOCK < s1 ? begin + BLOCK : s1;
        for (size_t c = p0; c < p1; c++) {
            subtract_panel(f, c, p0, c, begin, end);
            for (size_t s = begin; s < end; s++)
                solve_tile(strip_at(f, s, c), strip_at(f, c, c));
        }
    }
}

void KILN_SIMD(kiln_front_update)(const kiln_front *f, size_t p0, size_t p1, size_t s0, size_t s1)
{
    for (size_t begin = s0; begin < s1; begin += BLOCK) {
        size_t end = begin + BLOCK < s1 ? begin + BLOCK : s1;
        for (size_t c = p1; c < end; c++)
            subtract_panel(f, c, p0, p1, c > begin ? c : begin, end);
    }
}

/* The eight numbers at v minus strip s times the numbers before it. */
KILN_INLINE void subtract_products(const kiln_front *f, size_t s, size_t count, const double *x,
                                   double *v)
{
    enum { SUMS = 4 };
    const double *at = strip_at(f, s, 0);
    kiln_vd sum[SUMS][PARTS];
    for (int i = 0; i < SUMS; i++)
        for (int p = 0; p < PARTS; p++)
            sum[i][p] = i == 0 ? kiln_vd_load(v + KILN_VD_LANES * p) : kiln_vd_set(0.0);
    for (size_t k = 0; k < count; k += SUMS) /* a multiple of 8 */
        for (size_t i = 0; i < SUMS; i++)
            for (int p = 0; p < PARTS; p++)
                sum[i][p] =
                    kiln_vd_fnma(kiln_vd_load(at + KILN_STRIP * (k + i) + KILN_VD_LANES * p),
                                 kiln_vd_set(x[k + i]), sum[i][p]);
    for (int p = 0; p < PARTS; p++)
        kiln_vd_store(v + KILN_VD_LANES * p, (sum[0][p] + sum[1][p]) + (sum[2][p] + sum[3][p]));
}

void KILN_SIMD(kiln_front_forward)(const kiln_front *f, double *v)
{
    size_t own = f->columns / KILN_STRIP;
    for (size_t s = 0; s < f->strips; s++) {
        double *at = v + KILN_STRIP * s;
        subtract_products(f, s, s < own ? KILN_STRIP * s : f->columns, v, at);
        if (s >= own)
            continue;
        const double *inverse = strip_at(f, s, s);
        kiln_vd sum[PARTS];
        for (int p = 0; p < PARTS; p++)
            sum[p] = at[0] * kiln_vd_load(inverse + KILN_VD_LANES * p);
        for (int j = 1; j < KILN_STRIP; j++)
            for (int p = 0; p < PARTS; p++)
                sum[p] = kiln_vd_fma(kiln_vd_load(inverse + KILN_STRIP * j + KILN_VD_LANES * p),
                                     kiln_vd_set(at[j]), sum[p]);
        for (int p = 0; p < PARTS; p++)
            kiln_vd_store(at + KILN_VD_LANES * p, sum[p]);
    }
}

enum { TOGETHER = 4 };

/* sums [8 columns][8 lanes] of the first `blocks` column blocks += the products of `count` strips
 * from s on. Strips are read from one end to the other, and some together, so that sums are not
 * moved for each: a solve takes as long as its L takes to come from memory. */
KILN_INLINE void add_products(const kiln_front *f, size_t s, const int count, size_t blocks,
                              const double *v, double *sums)
{
    kiln_vd x[TOGETHER][PARTS];
    for (int k = 0; k < count; k++)
        for (int p = 0; p < PARTS; p++)
            x[k][p] = kiln_vd_load(v + KILN_STRIP * (s + (size_t)k) + KILN_VD_LANES * (size_t)p);
    const double *at = strip_at(f, s, 0);
    size_t stride = KILN_STRIP * f->columns;
    for (size_t c = 0; c < KILN_STRIP * blocks; c++, at += KILN_STRIP, sums += KILN_STRIP)
        for (int p = 0; p < PARTS; p++) {
            kiln_vd sum = kiln_vd_load(sums + KILN_VD_LANES * p);
            for (int k = 0; k < count; k++)
                sum = kiln_vd_fma(kiln_vd_load(at + stride * (size_t)k + KILN_VD_LANES * p),
                                  x[k][p], sum);
            kiln_vd_store(sums + KILN_VD_LANES * p, sum);
        }
}

/* Column block c, whose products with all below are summed. */
KILN_INLINE void finish_block(const kiln_front *f, size_t c, const double *sums, double *v)
{
    const double *inverse = strip_at(f, c, c);
    double rest[KILN_STRIP], *at = v + KILN_STRIP * c;
    for (size_t j = 0; j < KILN_STRIP; j++) {
        const double *lane = sums + KILN_STRIP * (KILN_STRIP * c + j);
        rest[j] = at[j] - (((lane[0] + lane[1]) + (lane[2] + lane[3])) +
                           ((lane[4] + lane[5]) + (lane[6] + lane[7])));
    }
    for (int j = 0; j < KILN_STRIP; j++) {
        at[j] = 0.0;
        for (int l = j; l < KILN_STRIP; l++)
            at[j] += inverse[KILN_STRIP * j + l] * rest[l];
    }
}

void KILN_SIMD(kiln_front_backward)(const kiln_front *f, double *v, double *sums)
{
    size_t own = f->columns / KILN_STRIP, s = own;
    for (size_t i = 0; i < KILN_STRIP * f->columns; i++)
        sums[i] = 0.0;
    for (; s + TOGETHER <= f->strips; s += TOGETHER)
        add_products(f, s, TOGETHER, own, v, sums);
    for (; s < f->strips; s++)
        add_products(f, s, 1, own, v, sums);
    for (size_t c = own; c-- > 0;) {
        finish_block(f, c, sums, v);
        add_products(f, c, 1, c, v, sums);
    }
}
