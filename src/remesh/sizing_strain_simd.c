#include "remesh/sizing_strain.h"

enum {
    LANES = KILN_VD_LANES,
    OF_C = 0,
    OF_INVERSE = 6,
    OF_CENTRE = 12,
    OF_DET = 15,
    OF_LOW = 18, /* the vertices below the one of the star, as numbers */
    COLUMNS = 21,
    SUMS = 7
};

/* Structure of arrays, [column][row]. Rows go round the star one and a half times, so that the
 * pairs (i, i + k) for all i are rows next to each other. */
typedef struct star_table {
    size_t rows;
    double *column, *sum; /* [COLUMNS][rows], [SUMS][rows] */
    double *pairs;        /* [step][4][LANES]: what is known of the pairs in work */
} star_table;

KILN_INLINE kiln_vd load(const star_table *table, int column, size_t row)
{
    return kiln_vd_load(table->column + (size_t)column * table->rows + row);
}

static void fill(star_table *table, const kiln_strain_tet *tets, const kiln_tet *records,
                 uint32_t vertex, const uint32_t *star, uint32_t count)
{
    uint32_t next = 0;
    for (size_t row = 0; row < table->rows; row += LANES) {
        const kiln_strain_tet *at[LANES];
        for (size_t lane = 0; lane < LANES; lane++) {
            uint32_t t = star[next], column = OF_LOW;
            at[lane] = &tets[t];
            for (uint32_t k = 0; k < 4; k++) {
                uint32_t v = records[t].v[k];
                double low = v < vertex ? (double)v : -1.0 - 4.0 * t - k; /* no other has that */
                if (v != vertex)
                    table->column[column++ * table->rows + row + lane] = low;
            }
            next = next + 1 == count ? 0 : next + 1;
        }
        for (int part = 0; part < OF_LOW; part += 3) {
            const double *from[LANES];
            kiln_vd x, y, z;
            for (int lane = 0; lane < LANES; lane++)
                from[lane] = at[lane]->c + part;
            kiln_vd_load3(from, &x, &y, &z);
            double *to = table->column + (size_t)part * table->rows + row;
            kiln_vd_store(to, x);
            kiln_vd_store(to + table->rows, y);
            kiln_vd_store(to + 2 * table->rows, z);
        }
    }
}

/* cos(acos(r) / 3) = cos(2/3 acos(s)) with s = sqrt((1 + r) / 2), a smooth function of s: the best
 * polynomial of degree 9 over [0, 1] is within 5.4e-10. */
KILN_INLINE kiln_vd third_of_angle(kiln_vd r)
{
    static const double coefficient[10] = {0.5000000005459247479,    0.5773501595548873249,
                                           -0.1111074176714801129,   0.05340919390031788482,
                                           -0.03258147098831722734,  0.02146796468045340748,
                                           -0.01336776866459343926,  0.006717273042947847925,
                                           -0.002244766676212251927, 0.0003568325768031244259};
    kiln_vd half = kiln_vd_max(0.5 + 0.5 * r, kiln_vd_set(1e-30)),
            s = half * kiln_vd_rsqrt_rough(half);
    kiln_vd s2 = s * s, s4 = s2 * s2,
            pair[5]; /* by pairs, which is a shorter chain than Horner's */
    for (int k = 0; k < 5; k++)
        pair[k] =
            kiln_vd_fma(kiln_vd_set(coefficient[2 * k + 1]), s, kiln_vd_set(coefficient[2 * k]));
    kiln_vd low = kiln_vd_fma(pair[1], s2, pair[0]), high = kiln_vd_fma(pair[3], s2, pair[2]);
    return kiln_vd_fma(kiln_vd_fma(pair[4], s4, high), s4, low);
}

/* (C_s - C_t) C_t^-1 */
KILN_INLINE void relative_change(const kiln_vd s[6], const kiln_vd t[6], const kiln_vd inverse[6],
                                 kiln_vd e[3][3])
{
    static const int entry[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    kiln_vd d[6];
    for (int i = 0; i < 6; i++)
        d[i] = s[i] - t[i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            e[i][j] = kiln_vd_fma(d[entry[i][0]], inverse[entry[0][j]],
                                  kiln_vd_fma(d[entry[i][1]], inverse[entry[1][j]],
                                              d[entry[i][2]] * inverse[entry[2][j]]));
}

KILN_INLINE kiln_vd det(kiln_vd e[3][3])
{
    kiln_vd a = kiln_vd_fms(e[1][1], e[2][2], e[1][2] * e[2][1]);
    kiln_vd b = kiln_vd_fms(e[1][2], e[2][0], e[1][0] * e[2][2]);
    kiln_vd c = kiln_vd_fms(e[1][0], e[2][1], e[1][1] * e[2][0]);
    return kiln_vd_fma(e[0][0], a, kiln_vd_fma(e[0][1], b, e[0][2] * c));
}

/* The eigenvalues e of (C_s - C_t) C_t^-1 by their mean, the square of their deviation and the
 * product of their distances from the mean; and the trace of C_t C_s^-1. */
typedef struct invariants {
    kiln_vd mean, p2, product, inverse_trace;
} invariants;

KILN_INLINE kiln_vd trace_of_product(const kiln_vd a[6], const kiln_vd b[6])
{
    kiln_vd on = kiln_vd_fma(a[0], b[0], kiln_vd_fma(a[1], b[1], a[2] * b[2]));
    kiln_vd off = kiln_vd_fma(a[3], b[3], kiln_vd_fma(a[4], b[4], a[5] * b[5]));
    return on + 2.0 * off;
}

KILN_INLINE invariants compare(const kiln_vd s[6], const kiln_vd s_inverse[6], const kiln_vd t[6],
                               const kiln_vd t_inverse[6])
{
    kiln_vd e[3][3];
    relative_change(s, t, t_inverse, e);
    kiln_vd mean = (e[0][0] + e[1][1] + e[2][2]) * (1.0 / 3.0);
    for (int i = 0; i < 3; i++)
        e[i][i] -= mean;
    kiln_vd off = kiln_vd_fma(e[0][1], e[1][0], kiln_vd_fma(e[0][2], e[2][0], e[1][2] * e[2][1]));
    kiln_vd on = kiln_vd_fma(e[0][0], e[0][0], kiln_vd_fma(e[1][1], e[1][1], e[2][2] * e[2][2]));
    return (invariants){mean, (on + 2.0 * off) * (1.0 / 6.0), det(e),
                        trace_of_product(t, s_inverse)};
}

/* The larger of the largest 1 + e and the inverse of the smallest, less 1. The extreme e are
 * m + 2 p cos(angle) and m - 2 p cos(other angle). The inverse of the smallest comes from the
 * product of all three, or, where they are so far apart that it would suffer from the rounding of
 * the largest, as the larger root that the sum and product of the two other inverses have. */
KILN_INLINE kiln_vd strain_of(const invariants *of, kiln_vd inverse_product)
{
    kiln_vd p2 = kiln_vd_max(of->p2, kiln_vd_set(1e-200));
    kiln_vd over_p = kiln_vd_rsqrt_rough(p2), p = p2 * over_p;
    kiln_vd r = 0.5 * of->product * over_p * over_p * over_p;
    r = kiln_vd_max(kiln_vd_min(r, kiln_vd_set(1.0)), kiln_vd_set(-1.0));
    kiln_vd above = 2.0 * p * third_of_angle(r), below = -2.0 * p * third_of_angle(-r);
    kiln_vd most = 1.0 + of->mean + above, middle = of->mean - above - below;
    kiln_vd near = kiln_vd_fma(most * (1.0 + middle), inverse_product, kiln_vd_set(-1.0));
    kiln_vd root = kiln_vd_rsqrt_rough(most),
            sum = 0.5 * kiln_vd_fnma(root, root, of->inverse_trace);
    kiln_vd square =
        kiln_vd_max(kiln_vd_fms(sum, sum, most * inverse_product), kiln_vd_set(1e-200));
    kiln_vd far = kiln_vd_fma(square, kiln_vd_rsqrt_rough(square), sum) - 1.0;
    return kiln_vd_max(of->mean + above, kiln_vd_select(far < 0.5, near, far));
}

/* Do the two share a vertex below that of the star? Differences of whole numbers: exact, and their
 * product is zero only where one is. */
KILN_INLINE kiln_vi met_before(const kiln_vd s[3], const kiln_vd t[3])
{
    kiln_vd product = kiln_vd_set(1.0);
    for (int i = 0; i < 3; i++)
        product *= (s[i] - t[0]) * (s[i] - t[1]) * (s[i] - t[2]);
    return product == 0.0;
}

/* Rows i with the rows i + k for k = 1 .. steps, in three loops: what one pair needs is a long
 * chain of operations, and short loops overlap those of several. */
static void compare_rows(const star_table *table, size_t i, size_t steps)
{
    kiln_vd s[6], s_inverse[6];
    for (int k = 0; k < 6; k++) {
        s[k] = load(table, OF_C + k, i);
        s_inverse[k] = load(table, OF_INVERSE + k, i);
    }
    for (size_t step = 1; step <= steps; step++) {
        kiln_vd t[6], inverse[6];
        for (int k = 0; k < 6; k++) {
            t[k] = load(table, OF_C + k, i + step);
            inverse[k] = load(table, OF_INVERSE + k, i + step);
        }
        invariants of = compare(s, s_inverse, t, inverse);
        memcpy(table->pairs + 4 * LANES * step, &of, sizeof of);
    }
}

/* The invariants become the distortion less what is taken off. */
static void distort_rows(const star_table *table, size_t i, size_t steps, double taken_off)
{
    kiln_vd over_det = load(table, OF_DET + 1, i);
    for (size_t step = 1; step <= steps; step++) {
        double *at = table->pairs + 4 * LANES * step;
        const invariants of = {kiln_vd_load(at), kiln_vd_load(at + LANES),
                               kiln_vd_load(at + 2 * LANES), kiln_vd_load(at + 3 * LANES)};
        kiln_vd strain = strain_of(&of, load(table, OF_DET, i + step) * over_det);
        kiln_vd square = 1.0 + strain, change = square * kiln_vd_rsqrt(square) - taken_off;
        change = kiln_vd_select((strain < 1e12) & (change > 0.0), change, kiln_vd_set(0.0));
        kiln_vd_store(at, change);
    }
}

/* Adds to the sums of both rows; those of i are in registers. In an even star the last step meets
 * every pair twice and takes the first half of the i. */
static void add_rows(star_table *table, size_t i, size_t steps, size_t count)
{
    kiln_vd centre[3], low[3], sum[SUMS], row, none = kiln_vd_set(0.0), one = kiln_vd_set(1.0);
    for (int k = 0; k < LANES; k++)
        row[k] = (double)(i + (size_t)k);
    for (int k = 0; k < 3; k++) {
        centre[k] = load(table, OF_CENTRE + k, i);
        low[k] = load(table, OF_LOW + k, i);
    }
    for (int k = 0; k < SUMS; k++)
        sum[k] = none;
    for (size_t step = 1; step <= steps; step++) {
        kiln_vd d[3], below[3], change = kiln_vd_load(table->pairs + 4 * LANES * step);
        for (int k = 0; k < 3; k++) {
            d[k] = load(table, OF_CENTRE + k, i + step) - centre[k];
            below[k] = load(table, OF_LOW + k, i + step);
        }
        kiln_vd over_l =
            kiln_vd_rsqrt_rough(kiln_vd_fma(d[0], d[0], kiln_vd_fma(d[1], d[1], d[2] * d[2])));
        kiln_vi valid =
            ~met_before(low, below) & (row < (double)(2 * step == count ? step : count));
        kiln_vd weight = kiln_vd_select(valid, change * over_l * over_l * over_l, none);
        kiln_vd x = weight * d[0], y = weight * d[1], z = weight * d[2];
        const kiln_vd part[SUMS] = {x * d[0],
                                    y * d[1],
                                    z * d[2],
                                    y * d[2],
                                    x * d[2],
                                    x * d[1],
                                    kiln_vd_select(valid, one, none)};
        for (int k = 0; k < SUMS; k++) {
            double *to = table->sum + (size_t)k * table->rows + i + step;
            sum[k] += part[k];
            kiln_vd_store(to, kiln_vd_load(to) + part[k]);
        }
    }
    for (int k = 0; k < SUMS; k++) {
        double *to = table->sum + (size_t)k * table->rows + i;
        kiln_vd_store(to, kiln_vd_load(to) + sum[k]);
    }
}

/* Each pair of the star's tets is (i, i + step round the star) for one step up to half of it. */
static void add_all(star_table *table, size_t count, double taken_off)
{
    for (size_t i = 0; i < count; i += LANES) {
        size_t steps = count % 2 == 0 && i >= count / 2 ? count / 2 - 1 : count / 2;
        compare_rows(table, i, steps);
        distort_rows(table, i, steps, taken_off);
        add_rows(table, i, steps, count);
    }
}

void KILN_SIMD(kiln_strain_star)(const kiln_strain_tet *tets, const kiln_tet *records,
                                 uint32_t vertex, const uint32_t *star, uint32_t count,
                                 double taken_off, double *scratch, kiln_strain_sum *sums)
{
    size_t rows = ((size_t)count + count / 2 + 2 * LANES - 1) / LANES * LANES;
    star_table table = {.rows = rows, .column = scratch, .sum = scratch + COLUMNS * rows};
    table.pairs = table.sum + SUMS * rows;
    fill(&table, tets, records, vertex, star, count);
    memset(table.sum, 0, SUMS * rows * sizeof *table.sum);
    add_all(&table, count, taken_off);
    for (uint32_t i = 0; i < count; i++) {
        kiln_strain_sum *to =
            &sums[4 * (size_t)star[i] + kiln_tet_corner(&records[star[i]], vertex)];
        for (int k = 0; k < SUMS; k++) {
            const double *from = table.sum + (size_t)k * rows;
            double sum = from[i] + (i + count < rows ? from[i + count] : 0.0);
            k < 6 ? (to->m[k] = sum) : (to->count = sum);
        }
    }
}
