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
    kiln_vd half = kiln_vd_max(0.5 + 0.5 * r, kiln_vd_set(1e-30)), s = half * kiln_vd_rsqrt(half);
    kiln_vd sum = kiln_vd_set(coefficient[9]);
    for (int k = 8; k >= 0; k--)
        sum = kiln_vd_fma(sum, s, kiln_vd_set(coefficient[k]));
    return sum;
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

/* The larger of the largest eigenvalue 1 + e of C_s C_t^-1 and the inverse of the smallest, less 1.
 * Of the three e, with mean m and deviation p, the extreme ones are m + 2 p cos(angle) and
 * m - 2 p cos(other angle); the product of all eigenvalues gives the inverse of the smallest
 * without cancellation. */
KILN_INLINE kiln_vd strain_between(const kiln_vd s[6], const kiln_vd t[6], const kiln_vd inverse[6],
                                   kiln_vd inverse_product)
{
    kiln_vd e[3][3];
    relative_change(s, t, inverse, e);
    kiln_vd mean = (e[0][0] + e[1][1] + e[2][2]) * (1.0 / 3.0);
    for (int i = 0; i < 3; i++)
        e[i][i] -= mean;
    kiln_vd off = kiln_vd_fma(e[0][1], e[1][0], kiln_vd_fma(e[0][2], e[2][0], e[1][2] * e[2][1]));
    kiln_vd on = kiln_vd_fma(e[0][0], e[0][0], kiln_vd_fma(e[1][1], e[1][1], e[2][2] * e[2][2]));
    kiln_vd p2 = kiln_vd_max((on + 2.0 * off) * (1.0 / 6.0), kiln_vd_set(1e-200));
    kiln_vd over_p = kiln_vd_rsqrt(p2), p = p2 * over_p;
    kiln_vd r = 0.5 * det(e) * over_p * over_p * over_p;
    r = kiln_vd_max(kiln_vd_min(r, kiln_vd_set(1.0)), kiln_vd_set(-1.0));
    kiln_vd above = 2.0 * p * third_of_angle(r), below = -2.0 * p * third_of_angle(-r);
    kiln_vd most = mean + above, middle = mean - above - below;
    return kiln_vd_max(most, (1.0 + most) * (1.0 + middle) * inverse_product - 1.0);
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

typedef struct pair_side {
    kiln_vd c[6], centre[3], over_det, low[3];
} pair_side;

/* Rows i with rows j, where `valid`: adds to the sums of both; those of i are in registers. */
KILN_INLINE void add_pairs(const star_table *table, const pair_side *s, size_t j, kiln_vi valid,
                           double taken_off, kiln_vd sum[SUMS])
{
    kiln_vd t[6], inverse[6], low[3], d[3];
    for (int k = 0; k < 6; k++) {
        t[k] = load(table, OF_C + k, j);
        inverse[k] = load(table, OF_INVERSE + k, j);
    }
    for (int k = 0; k < 3; k++) {
        low[k] = load(table, OF_LOW + k, j);
        d[k] = load(table, OF_CENTRE + k, j) - s->centre[k];
    }
    kiln_vd strain = strain_between(s->c, t, inverse, load(table, OF_DET, j) * s->over_det);
    kiln_vd square = 1.0 + strain;
    kiln_vd change = square * kiln_vd_rsqrt(square) - taken_off;
    kiln_vd over_l = kiln_vd_rsqrt(kiln_vd_fma(d[0], d[0], kiln_vd_fma(d[1], d[1], d[2] * d[2])));
    kiln_vd weight = change * over_l * over_l * over_l, none = kiln_vd_set(0.0);
    valid &= ~met_before(s->low, low);
    weight = kiln_vd_select(valid & (strain < 1e12) & (weight > 0.0), weight, none);
    kiln_vd x = weight * d[0], y = weight * d[1], z = weight * d[2];
    const kiln_vd part[SUMS] = {x * d[0],
                                y * d[1],
                                z * d[2],
                                y * d[2],
                                x * d[2],
                                x * d[1],
                                kiln_vd_select(valid, kiln_vd_set(1.0), none)};
    for (int k = 0; k < SUMS; k++) {
        double *to = table->sum + (size_t)k * table->rows + j;
        sum[k] += part[k];
        kiln_vd_store(to, kiln_vd_load(to) + part[k]);
    }
}

/* Each pair of the star's tets is (i, i + k round the star) for one k up to half of it; in an even
 * star the last k meets every pair twice and takes the first half of the i. */
static void add_all(star_table *table, uint32_t count, double taken_off)
{
    kiln_vd lane;
    for (int k = 0; k < LANES; k++)
        lane[k] = k;
    for (uint32_t i = 0; i < count; i += LANES) {
        pair_side s;
        kiln_vd sum[SUMS], row = lane + i;
        for (int k = 0; k < 6; k++)
            s.c[k] = load(table, OF_C + k, i);
        for (int k = 0; k < 3; k++) {
            s.centre[k] = load(table, OF_CENTRE + k, i);
            s.low[k] = load(table, OF_LOW + k, i);
        }
        s.over_det = load(table, OF_DET + 1, i);
        for (int k = 0; k < SUMS; k++)
            sum[k] = kiln_vd_set(0.0);
        for (uint32_t k = 1; k <= count / 2; k++) {
            uint32_t end = 2 * k == count ? k : count;
            if (i < end)
                add_pairs(table, &s, i + k, row < (double)end, taken_off, sum);
        }
        for (int k = 0; k < SUMS; k++) {
            double *to = table->sum + (size_t)k * table->rows + i;
            kiln_vd_store(to, kiln_vd_load(to) + sum[k]);
        }
    }
}

void KILN_SIMD(kiln_strain_star)(const kiln_strain_tet *tets, const kiln_tet *records,
                                 uint32_t vertex, const uint32_t *star, uint32_t count,
                                 double taken_off, double *scratch, kiln_strain_sum *sums)
{
    size_t rows = ((size_t)count + count / 2 + 2 * LANES - 1) / LANES * LANES;
    star_table table = {.rows = rows, .column = scratch, .sum = scratch + COLUMNS * rows};
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
