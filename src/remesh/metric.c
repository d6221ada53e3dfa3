#include "remesh/metric.h"

#include "geom/svd3.h"

kiln_sym3 kiln_metric_from_directions(const kiln_mat3 *directions, const double sizes[3])
{
    double values[3];
    for (int i = 0; i < 3; i++)
        values[i] = 1.0 / (sizes[i] * sizes[i]);
    return kiln_sym3_compose(values, directions);
}

/* False where nothing changes. s descends. */
static bool bound_values(double s[3], const kiln_metric_bounds *bounds)
{
    double most = bounds->h_min > 0.0 ? 1.0 / (bounds->h_min * bounds->h_min) : INFINITY;
    double least = bounds->h_max > 0.0 ? 1.0 / (bounds->h_max * bounds->h_max) : 0.0;
    double finest = s[0] < most ? s[0] : most;
    if (bounds->ratio > 0.0 && finest / (bounds->ratio * bounds->ratio) > least)
        least = finest / (bounds->ratio * bounds->ratio);
    if (s[0] <= most && s[2] >= least)
        return false;
    for (int i = 0; i < 3; i++) {
        double value = s[i] > least ? s[i] : least;
        s[i] = value < most ? value : most;
    }
    return true;
}

static bool has_bounds(const kiln_metric_bounds *bounds)
{
    return bounds->h_min > 0.0 || bounds->h_max > 0.0 || bounds->ratio > 0.0;
}

kiln_sym3 kiln_metric_bound(kiln_sym3 m, const kiln_metric_bounds *bounds)
{
    if (!has_bounds(bounds))
        return m;
    kiln_eigen3 e = kiln_sym3_eigen(m);
    return bound_values(e.values, bounds) ? kiln_sym3_compose(e.values, &e.vectors) : m;
}

/* The matrices of a batch that need their eigenvalues; in structure of arrays. */
enum { BLOCK = 64 };
typedef struct eigen_block {
    size_t count;
    kiln_sym3 *metric[BLOCK];
    double a[9 * BLOCK], u[9 * BLOCK], s[3 * BLOCK], v[9 * BLOCK];
} eigen_block;

/* log A = top I + log(A / top), as kiln_sym3_log. */
static kiln_sym3 log_of(const double s[3], const kiln_mat3 *vectors)
{
    double top = log(s[0]), below[3] = {0};
    for (int i = 1; i < 3; i++) {
        double part = s[i] / s[0];
        below[i] = log(part > 0x1p-53 ? part : 0x1p-53);
    }
    return kiln_sym3_madd(kiln_sym3_compose(below, vectors), top, kiln_sym3_identity());
}

/* A metric is its own singular value decomposition, whose batch is five times as fast as
 * eigenvalues one by one. */
static void run_block(kiln_isa isa, const kiln_metric_bounds *bounds, bool logarithm,
                      eigen_block *block)
{
    kiln_svd3_decompose_batch(isa, block->count, BLOCK, block->a, block->u, block->s, block->v);
    for (size_t i = 0; i < block->count; i++) {
        double s[3];
        kiln_mat3 v;
        for (int k = 0; k < 9; k++)
            v.m[k / 3][k % 3] = block->v[k * BLOCK + i];
        for (int k = 0; k < 3; k++)
            s[k] = block->s[k * BLOCK + i];
        bool bound = bound_values(s, bounds);
        if (logarithm)
            *block->metric[i] = log_of(s, &v);
        else if (bound)
            *block->metric[i] = kiln_sym3_compose(s, &v);
    }
    block->count = 0;
}

static void add_to_block(eigen_block *block, kiln_sym3 *metric)
{
    kiln_mat3 a = kiln_sym3_to_mat3(*metric);
    for (int k = 0; k < 9; k++)
        block->a[k * BLOCK + block->count] = a.m[k / 3][k % 3];
    block->metric[block->count++] = metric;
}

static void run_batch(kiln_isa isa, size_t count, const kiln_metric_bounds *bounds, bool logarithm,
                      kiln_sym3 *metrics)
{
    eigen_block block = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        kiln_sym3 *m = &metrics[i];
        if (!(m->xx + m->yy + m->zz > 0.0))
            continue;
        if (m->yz == 0.0 && m->xz == 0.0 && m->xy == 0.0 && m->xx == m->yy && m->xx == m->zz) {
            double s[3] = {m->xx, m->xx, m->xx};
            bound_values(s, bounds);
            *m = kiln_sym3_scale(kiln_sym3_identity(), logarithm ? log(s[0]) : s[0]);
            continue;
        }
        add_to_block(&block, m);
        if (block.count == BLOCK)
            run_block(isa, bounds, logarithm, &block);
    }
    run_block(isa, bounds, logarithm, &block);
}

void kiln_metric_bound_batch(kiln_isa isa, size_t count, const kiln_metric_bounds *bounds,
                             kiln_sym3 *metrics)
{
    if (has_bounds(bounds))
        run_batch(isa, count, bounds, false, metrics);
}

void kiln_metric_log_batch(kiln_isa isa, size_t count, const kiln_metric_bounds *bounds,
                           kiln_sym3 *metrics)
{
    run_batch(isa, count, bounds, true, metrics);
}

/* l = {l00, l11, l22, l21, l20, l10} with a = LL'; false unless a is positive definite. */
static bool cholesky(const kiln_sym3 *a, double l[6])
{
    double d0 = a->xx, l10 = a->xy / d0, l20 = a->xz / d0;
    double d1 = a->yy - l10 * a->xy;
    double r21 = a->yz - l20 * a->xy, l21 = r21 / d1;
    double d2 = a->zz - l20 * a->xz - l21 * r21;
    if (!(d0 > 0.0 && d1 > 0.0 && d2 > 0.0))
        return false;
    double s0 = sqrt(d0), s1 = sqrt(d1);
    l[0] = s0;
    l[1] = s1;
    l[2] = sqrt(d2);
    l[3] = l21 * s1;
    l[4] = l20 * s0;
    l[5] = l10 * s0;
    return true;
}

bool kiln_metric_covers(const kiln_sym3 *a, const kiln_sym3 *b)
{
    double l[6];
    kiln_sym3 rest = kiln_sym3_madd(kiln_sym3_scale(*a, 1.0 + 1e-12), -1.0, *b);
    return cholesky(&rest, l);
}

/* L^-1 b L^-T */
static kiln_sym3 reduce(const double l[6], const kiln_sym3 *b)
{
    kiln_mat3 m = kiln_sym3_to_mat3(*b);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < 3; j++) {
            m.m[0][j] /= l[0];
            m.m[1][j] = (m.m[1][j] - l[5] * m.m[0][j]) / l[1];
            m.m[2][j] = (m.m[2][j] - l[4] * m.m[0][j] - l[3] * m.m[1][j]) / l[2];
        }
        m = kiln_m3_transpose(m);
    }
    return kiln_sym3_from_mat3(m);
}

/* L max(1, s) L' for the eigenvalues s of L^-1 b L^-T; min for sense -1. */
static kiln_sym3 recompose(const double l[6], const kiln_sym3 *b, double sense)
{
    kiln_eigen3 e = kiln_sym3_eigen(reduce(l, b));
    kiln_mat3 lower = {{{l[0], 0, 0}, {l[5], l[1], 0}, {l[4], l[3], l[2]}}};
    for (int i = 0; i < 3; i++)
        e.values[i] = sense * e.values[i] > sense ? e.values[i] : 1.0;
    kiln_mat3 basis = kiln_m3_mul(lower, e.vectors);
    return kiln_sym3_compose(e.values, &basis);
}

kiln_sym3 kiln_metric_intersect(kiln_sym3 a, kiln_sym3 b)
{
    double l[6];
    if (kiln_metric_covers(&a, &b) || !cholesky(&b, l))
        return a;
    if (kiln_metric_covers(&b, &a) || !cholesky(&a, l))
        return b;
    return recompose(l, &b, 1.0);
}

kiln_sym3 kiln_metric_unite(kiln_sym3 a, kiln_sym3 b)
{
    double l[6];
    if (kiln_metric_covers(&a, &b) || !cholesky(&a, l))
        return b;
    if (kiln_metric_covers(&b, &a))
        return a;
    return recompose(l, &b, -1.0);
}

static kiln_sym3 square(const kiln_sym3 *b)
{
    return (kiln_sym3){b->xx * b->xx + b->xy * b->xy + b->xz * b->xz,
                       b->xy * b->xy + b->yy * b->yy + b->yz * b->yz,
                       b->xz * b->xz + b->yz * b->yz + b->zz * b->zz,
                       b->xy * b->xz + b->yy * b->yz + b->yz * b->zz,
                       b->xx * b->xz + b->xy * b->yz + b->xz * b->zz,
                       b->xx * b->xy + b->xy * b->yy + b->xz * b->yz};
}

/* With A = t I + B, tr B = 0, Cayley and Hamilton give B^3 = p B + r I, so every power series in B
 * is c0 + c1 B + c2 B^2: Taylor's of exp(B / 2^s) by Horner's rule on the three coefficients, then
 * s squarings of them. No eigenvectors and no branch on equal eigenvalues. */
kiln_sym3 kiln_metric_exp(const kiln_sym3 *log_metric)
{
    static const double taylor[11] = {
        1,         1,          1.0 / 2,     1.0 / 6,      1.0 / 24,     1.0 / 120,
        1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800};
    double t = (log_metric->xx + log_metric->yy + log_metric->zz) / 3.0;
    kiln_sym3 b = kiln_sym3_madd(*log_metric, -t, kiln_sym3_identity()), b2 = square(&b);
    double p = 0.5 * (b2.xx + b2.yy + b2.zz), r = kiln_sym3_det(b), shrink = 1.0;
    int squarings = 0;
    for (double bound = p; bound > 0.03125 && squarings < 40; bound *= 0.25, squarings++)
        shrink *= 0.5; /* until the Frobenius norm, the root of 2 p, is below 1/4 */
    p *= shrink * shrink;
    r *= shrink * shrink * shrink;
    double c0 = taylor[10], c1 = 0.0, c2 = 0.0;
    for (int k = 9; k >= 0; k--) {
        double top = c2;
        c2 = c1;
        c1 = c0 + p * top;
        c0 = taylor[k] + r * top;
    }
    for (; squarings > 0; squarings--) {
        double cube = 2.0 * c1 * c2, fourth = c2 * c2;
        c2 = 2.0 * c0 * c2 + c1 * c1 + p * fourth;
        c1 = 2.0 * c0 * c1 + p * cube + r * fourth;
        c0 = c0 * c0 + r * cube;
    }
    double scale = exp(t);
    c1 *= shrink;
    c2 *= shrink * shrink;
    kiln_sym3 m = kiln_sym3_madd(kiln_sym3_scale(b, c1), c2, b2);
    return kiln_sym3_scale(kiln_sym3_madd(m, c0, kiln_sym3_identity()), scale);
}
