/* What front.h promises, for numbers REAL in vectors VECTOR: included once for each precision
 * (front_simd.c, front_single_simd.c). Macros rather than a second text, since the two would have
 * to be kept the same line by line. The includer says
 *
 *   REAL, VECTOR, LANES, LOAD, STORE, SET, FMA, FNMA, ROOT, LARGEST (of a pivot)
 *   TALL, WIDE   tiles that are worked on at a time: as many sums as there are registers for
 *   ROUNDED      whether vectors have to be made REAL for a solve
 *   SIGNED       whether every fourth column has a pivot less than zero: L Z L' with Z = 1, 1, 1,
 * -1 KERNELS      the name of the table */
#include "solve/front.h"

#include <math.h>

enum { PARTS = KILN_STRIP / LANES, TILE = KILN_STRIP * KILN_STRIP };
enum { BLOCK = 24 }; /* strips whose panel stays in the cache */

/* Whether a column of a front has -1 in Z; nodes begin with a whole block of four. */
KILN_INLINE bool is_minus(size_t column)
{
    return SIGNED && column % 4 == 3;
}

KILN_INLINE REAL *strip_at(const kiln_front *f, size_t s, size_t block)
{
    return (REAL *)f->L + s * f->columns * KILN_STRIP + block * TILE;
}

/* --- a front's numbers --- */

static void clear(const kiln_front *f, size_t used)
{
    REAL *L = f->L;
    memset(f->L, 0, f->columns * f->strips * KILN_STRIP * sizeof(REAL));
    memset(f->U, 0, kiln_front_triangle(f->strips - f->columns / KILN_STRIP) * sizeof(REAL));
    for (size_t j = used; j < f->columns; j++)
        L[(j / KILN_STRIP * f->columns + j) * KILN_STRIP + j % KILN_STRIP] = is_minus(j) ? -1 : 1;
}

static void add_block(const kiln_front *f, size_t row, size_t column, const double *value, size_t n,
                      bool diagonal)
{
    for (size_t r = 0; r < n; r++) {
        size_t at = row + r, end = diagonal ? r + 1 : n;
        REAL *to = (REAL *)f->L + (at / KILN_STRIP * f->columns + column) * KILN_STRIP;
        for (size_t c = 0; c < end; c++)
            to[KILN_STRIP * c + at % KILN_STRIP] += (REAL)value[n * r + c];
    }
}

/* Columns `begin` to `end` - 1 of a strip, to the places of its rows in column 0; all its rows have
 * them. */
KILN_INLINE void add_columns(const REAL *from, const uint32_t *target, size_t begin, size_t end,
                             size_t shift, REAL *const to[KILN_STRIP], size_t rows)
{
    if (rows < KILN_STRIP) {
        for (size_t j = begin; j < end; j++)
            for (size_t r = 0; r < rows; r++)
                to[r][KILN_STRIP * (target[j] - shift)] += from[KILN_STRIP * j + r];
    } else if (to[7] == to[0] + 7) {
        for (size_t j = begin; j < end; j++) {
            REAL *at = to[0] + KILN_STRIP * (target[j] - shift);
            for (int p = 0; p < PARTS; p++)
                STORE(at + LANES * p,
                      LOAD(at + LANES * p) + LOAD(from + KILN_STRIP * j + LANES * p));
        }
    } else {
        for (size_t j = begin; j < end; j++) {
            size_t at = KILN_STRIP * (target[j] - shift);
            for (size_t r = 0; r < KILN_STRIP; r++)
                to[r][at] += from[KILN_STRIP * j + r];
        }
    }
}

static void add_strips(const kiln_front *f, const void *child, const uint32_t *targets,
                       size_t count, size_t t0, size_t t1)
{
    size_t inside = 0; /* columns that are L's */
    while (inside < count && targets[inside] < f->columns)
        inside++;
    for (size_t t = t0; t < t1; t++) {
        const REAL *from = (const REAL *)child + kiln_front_triangle(t);
        const uint32_t *target = targets + KILN_STRIP * t;
        size_t first = KILN_STRIP * t, rows = count - first;
        REAL *L[KILN_STRIP] = {NULL}, *U[KILN_STRIP] = {NULL};
        rows = rows < KILN_STRIP ? rows : KILN_STRIP;
        for (size_t r = 0; r < rows; r++) {
            size_t at = target[r];
            L[r] = (REAL *)f->L + at / KILN_STRIP * f->columns * KILN_STRIP + at % KILN_STRIP;
            at -= at < f->columns ? at : f->columns;
            U[r] = (REAL *)f->U + kiln_front_triangle(at / KILN_STRIP) + at % KILN_STRIP;
        }
        size_t split = inside < first ? inside : first;
        add_columns(from, targets, 0, split, 0, L, rows);
        add_columns(from, targets, split, first, f->columns, U, rows);
        for (size_t r = 0; r < rows; r++) /* the triangle on the diagonal */
            for (size_t j = first; j <= first + r; j++) {
                REAL value = from[KILN_STRIP * j + r];
                if (j < inside)
                    L[r][KILN_STRIP * targets[j]] += value;
                else
                    U[r][KILN_STRIP * (targets[j] - f->columns)] += value;
            }
    }
}

/* --- elimination --- */

/* The tile of strip s and column block c, in L or U. */
KILN_INLINE REAL *tile_at(const kiln_front *f, size_t s, size_t c)
{
    size_t own = f->columns / KILN_STRIP;
    return c < own ? strip_at(f, s, c)
                   : (REAL *)f->U + kiln_front_triangle(s - own) + (c - own) * TILE;
}

/* sum[i] -= column k of a[i] times that of b, from row `first` on; or += it. */
KILN_INLINE void subtract_column(const int tall, const REAL *const a[], const REAL *b, size_t k,
                                 const bool minus, VECTOR sum[TALL][WIDE][PARTS])
{
    VECTOR left[TALL][PARTS];
    for (int i = 0; i < tall; i++)
        for (int p = 0; p < PARTS; p++)
            left[i][p] = LOAD(a[i] + KILN_STRIP * k + LANES * p);
    for (int j = 0; j < WIDE; j++) {
        VECTOR right = SET(b[KILN_STRIP * k + (size_t)j]);
        for (int i = 0; i < tall; i++)
            for (int p = 0; p < PARTS; p++)
                sum[i][j][p] = minus ? FMA(left[i][p], right, sum[i][j][p])
                                     : FNMA(left[i][p], right, sum[i][j][p]);
    }
}

/* c[i] -= a[i] Z b' for some tiles, over `depth` columns (a multiple of 8) of the strips a[i] and
 * b.
 */
KILN_INLINE void subtract(const int tall, const REAL *const a[], const REAL *b, size_t depth,
                          REAL *const c[])
{
    for (int first = 0; first < KILN_STRIP; first += WIDE) {
        VECTOR sum[TALL][WIDE][PARTS];
        for (int i = 0; i < tall; i++)
            for (int j = 0; j < WIDE; j++)
                for (int p = 0; p < PARTS; p++)
                    sum[i][j][p] = LOAD(c[i] + KILN_STRIP * (first + j) + LANES * p);
#if SIGNED
        for (size_t k = 0; k < depth; k += 4) {
            subtract_column(tall, a, b + first, k, false, sum);
            subtract_column(tall, a, b + first, k + 1, false, sum);
            subtract_column(tall, a, b + first, k + 2, false, sum);
            subtract_column(tall, a, b + first, k + 3, true, sum);
        }
#else
        for (size_t k = 0; k < depth; k++)
            subtract_column(tall, a, b + first, k, false, sum);
#endif
        for (int i = 0; i < tall; i++)
            for (int j = 0; j < WIDE; j++)
                for (int p = 0; p < PARTS; p++)
                    STORE(c[i] + KILN_STRIP * (first + j) + LANES * p, sum[i][j][p]);
    }
}

/* The tiles of column block c in strips s0 to s1 - 1, over the panel's column blocks p0 to p1 - 1.
 */
KILN_INLINE void subtract_panel(const kiln_front *f, size_t c, size_t p0, size_t p1, size_t s0,
                                size_t s1)
{
    const REAL *b = strip_at(f, c, p0);
    size_t depth = KILN_STRIP * (p1 - p0), s = s0;
    const REAL *a[TALL];
    REAL *to[TALL];
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
static bool factor_tile(REAL *tile)
{
    for (int j = 0; j < KILN_STRIP; j++) {
        const bool minus = is_minus((size_t)j);
        REAL *column = tile + KILN_STRIP * j, pivot = minus ? -column[j] : column[j];
        if (!(pivot > 0) || pivot > LARGEST)
            return false;
        REAL inverse = (REAL)1.0 / ROOT(pivot), factor = minus ? -inverse : inverse;
        VECTOR x[PARTS];
        for (int p = 0; p < PARTS; p++) {
            x[p] = factor * LOAD(column + LANES * p);
            STORE(column + LANES * p, x[p]);
        }
        for (int l = j + 1; l < KILN_STRIP; l++)
            for (int p = 0; p < PARTS; p++) {
                REAL *to = tile + KILN_STRIP * l + LANES * p;
                STORE(to, minus ? FMA(x[p], SET(column[l]), LOAD(to))
                                : FNMA(x[p], SET(column[l]), LOAD(to)));
            }
        column[j] = inverse;
    }
    return true;
}

/* The inverse of that in its place, with zeros above: row i is the unit row minus the rows before
 * it by what L has there, over L_ii. */
static void invert_tile(REAL *tile)
{
    REAL row[KILN_STRIP][KILN_STRIP];
    for (int i = 0; i < KILN_STRIP; i++) {
        VECTOR sum[PARTS];
        for (int p = 0; p < PARTS; p++)
            sum[p] = SET(0);
        for (int k = 0; k < i; k++)
            for (int p = 0; p < PARTS; p++)
                sum[p] = FNMA(SET(tile[KILN_STRIP * k + i]), LOAD(row[k] + LANES * p), sum[p]);
        REAL inverse = tile[KILN_STRIP * i + i];
        for (int p = 0; p < PARTS; p++)
            STORE(row[i] + LANES * p, inverse * sum[p]);
        row[i][i] = inverse;
    }
    for (int j = 0; j < KILN_STRIP; j++)
        for (int i = 0; i < KILN_STRIP; i++)
            tile[KILN_STRIP * j + i] = row[i][j];
}

/* tile = tile L^-T Z */
static void solve_tile(REAL *tile, const REAL *inverse)
{
    VECTOR x[KILN_STRIP][PARTS];
    for (int j = 0; j < KILN_STRIP; j++)
        for (int p = 0; p < PARTS; p++)
            x[j][p] = LOAD(tile + KILN_STRIP * j + LANES * p);
    for (int j = 0; j < KILN_STRIP; j++) {
        VECTOR sum[PARTS];
        for (int p = 0; p < PARTS; p++)
            sum[p] = inverse[j] * x[0][p];
        for (int l = 1; l <= j; l++)
            for (int p = 0; p < PARTS; p++)
                sum[p] = FMA(x[l][p], SET(inverse[KILN_STRIP * l + j]), sum[p]);
        for (int p = 0; p < PARTS; p++)
            STORE(tile + KILN_STRIP * j + LANES * p, is_minus((size_t)j) ? -sum[p] : sum[p]);
    }
}

static bool factor_panel(const kiln_front *f, size_t p0, size_t p1)
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

static void solve_panel(const kiln_front *f, size_t p0, size_t p1, size_t s0, size_t s1)
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

static void update_panel(const kiln_front *f, size_t p0, size_t p1, size_t s0, size_t s1)
{
    for (size_t begin = s0; begin < s1; begin += BLOCK) {
        size_t end = begin + BLOCK < s1 ? begin + BLOCK : s1;
        for (size_t c = p1; c < end; c++)
            subtract_panel(f, c, p0, p1, c > begin ? c : begin, end);
    }
}

/* --- substitution --- */

/* The eight numbers at v minus strip s times the numbers before it. */
KILN_INLINE void subtract_products(const kiln_front *f, size_t s, size_t count, const REAL *x,
                                   REAL *v)
{
    enum { SUMS = 4 };
    const REAL *at = strip_at(f, s, 0);
    VECTOR sum[SUMS][PARTS];
    for (int i = 0; i < SUMS; i++)
        for (int p = 0; p < PARTS; p++)
            sum[i][p] = i == 0 ? LOAD(v + LANES * p) : SET(0);
    for (size_t k = 0; k < count; k += SUMS) /* a multiple of 8 */
        for (size_t i = 0; i < SUMS; i++)
            for (int p = 0; p < PARTS; p++)
                sum[i][p] =
                    FNMA(LOAD(at + KILN_STRIP * (k + i) + LANES * p), SET(x[k + i]), sum[i][p]);
    for (int p = 0; p < PARTS; p++)
        STORE(v + LANES * p, (sum[0][p] + sum[1][p]) + (sum[2][p] + sum[3][p]));
}

KILN_INLINE void go_forward(const kiln_front *f, REAL *v)
{
    size_t own = f->columns / KILN_STRIP;
    for (size_t s = 0; s < f->strips; s++) {
        REAL *at = v + KILN_STRIP * s;
        subtract_products(f, s, s < own ? KILN_STRIP * s : f->columns, v, at);
        if (s >= own)
            continue;
        const REAL *inverse = strip_at(f, s, s);
        VECTOR sum[PARTS];
        for (int p = 0; p < PARTS; p++)
            sum[p] = at[0] * LOAD(inverse + LANES * p);
        for (int j = 1; j < KILN_STRIP; j++)
            for (int p = 0; p < PARTS; p++)
                sum[p] = FMA(LOAD(inverse + KILN_STRIP * j + LANES * p), SET(at[j]), sum[p]);
        for (int p = 0; p < PARTS; p++)
            STORE(at + LANES * p, sum[p]);
    }
}

enum { TOGETHER = 4 };

/* sums [8 columns][8 lanes] of the first `blocks` column blocks += the products of `count` strips
 * from s on. Strips are read from one end to the other, and some together, so that sums are not
 * moved for each: a solve takes as long as its L takes to come from memory. */
KILN_INLINE void add_products(const kiln_front *f, size_t s, const int count, size_t blocks,
                              const REAL *v, REAL *sums)
{
    VECTOR x[TOGETHER][PARTS];
    for (int k = 0; k < count; k++)
        for (int p = 0; p < PARTS; p++)
            x[k][p] = LOAD(v + KILN_STRIP * (s + (size_t)k) + LANES * (size_t)p);
    const REAL *at = strip_at(f, s, 0);
    size_t stride = KILN_STRIP * f->columns;
    for (size_t c = 0; c < KILN_STRIP * blocks; c++, at += KILN_STRIP, sums += KILN_STRIP)
        for (int p = 0; p < PARTS; p++) {
            VECTOR sum = LOAD(sums + LANES * p);
            for (int k = 0; k < count; k++)
                sum = FMA(LOAD(at + stride * (size_t)k + LANES * p), x[k][p], sum);
            STORE(sums + LANES * p, sum);
        }
}

/* Column block c, whose products with all below are summed: L' x = Z v. */
KILN_INLINE void finish_block(const kiln_front *f, size_t c, const REAL *sums, REAL *v)
{
    const REAL *inverse = strip_at(f, c, c);
    REAL rest[KILN_STRIP], *at = v + KILN_STRIP * c;
    for (size_t j = 0; j < KILN_STRIP; j++) {
        const REAL *lane = sums + KILN_STRIP * (KILN_STRIP * c + j);
        rest[j] = (is_minus(j) ? -at[j] : at[j]) - (((lane[0] + lane[1]) + (lane[2] + lane[3])) +
                                                    ((lane[4] + lane[5]) + (lane[6] + lane[7])));
    }
    for (int j = 0; j < KILN_STRIP; j++) {
        at[j] = 0;
        for (int l = j; l < KILN_STRIP; l++)
            at[j] += inverse[KILN_STRIP * j + l] * rest[l];
    }
}

KILN_INLINE void go_backward(const kiln_front *f, REAL *v, REAL *sums)
{
    size_t own = f->columns / KILN_STRIP, s = own;
    for (size_t i = 0; i < KILN_STRIP * f->columns; i++)
        sums[i] = 0;
    for (; s + TOGETHER <= f->strips; s += TOGETHER)
        add_products(f, s, TOGETHER, own, v, sums);
    for (; s < f->strips; s++)
        add_products(f, s, 1, own, v, sums);
    for (size_t c = own; c-- > 0;) {
        finish_block(f, c, sums, v);
        add_products(f, c, 1, c, v, sums);
    }
}

#if ROUNDED
static void take(REAL *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (REAL)from[i];
}

static void give(double *to, const REAL *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (double)from[i];
}

static void solve_forward(const kiln_front *f, double *v, double *room)
{
    REAL *rounded = (REAL *)room;
    take(rounded, v, KILN_STRIP * f->strips);
    go_forward(f, rounded);
    give(v, rounded, KILN_STRIP * f->strips);
}

static void solve_backward(const kiln_front *f, double *v, double *room)
{
    REAL *rounded = (REAL *)room;
    take(rounded, v, KILN_STRIP * f->strips);
    go_backward(f, rounded, rounded + KILN_STRIP * f->strips);
    give(v, rounded, f->columns);
}
#else
static void solve_forward(const kiln_front *f, double *v, double *room)
{
    (void)room;
    go_forward(f, v);
}

static void solve_backward(const kiln_front *f, double *v, double *room)
{
    go_backward(f, v, room);
}
#endif

const kiln_front_kernels KERNELS = {.bytes = sizeof(REAL),
                                    .clear = clear,
                                    .add_block = add_block,
                                    .add_strips = add_strips,
                                    .factor = factor_panel,
                                    .solve = solve_panel,
                                    .update = update_panel,
                                    .forward = solve_forward,
                                    .backward = solve_backward};
