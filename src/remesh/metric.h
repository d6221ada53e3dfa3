/* Algebra of single metrics. A metric M is symmetric positive definite, in 1/m^2: the length of e
 * in it is sqrt(e'Me), a pure number, and 1 is what the mesher aims at. An eigenvector with
 * eigenvalue s asks for edges of 1/sqrt(s) metres along it. Metrics are averaged and interpolated
 * by their logarithms, which keeps them positive and treats finer and coarser alike. */
#ifndef KILN_REMESH_METRIC_H
#define KILN_REMESH_METRIC_H

#include "base/simd.h"
#include "geom/sym3.h"

#include <stdbool.h>

/* e'Me */
KILN_INLINE double kiln_metric_length2(const kiln_sym3 *m, kiln_vec3 e)
{
    return m->xx * e.x * e.x + m->yy * e.y * e.y + m->zz * e.z * e.z +
           2.0 * (m->yz * e.y * e.z + m->xz * e.x * e.z + m->xy * e.x * e.y);
}
/* Rounding may make the square of a short edge in a steep metric negative: then it is 0. */
KILN_INLINE double kiln_metric_length(const kiln_sym3 *m, kiln_vec3 e)
{
    double square = kiln_metric_length2(m, e);
    return square > 0.0 ? sqrt(square) : 0.0;
}

/* Logarithmic mean (a - b) / ln(a / b) of two lengths: the length of an edge along which size goes
 * geometrically from one end's metric (a) to the other's (b). With s = (a - b) / (a + b) it is
 * (a + b) / 2 * s / atanh(s), whose series loses nothing where a = b. */
KILN_INLINE double kiln_metric_mean_length(double a, double b)
{
    double sum = a + b, s = (a - b) / sum, z = s * s;
    if (!(sum > 0.0) || z >= 1.0)
        return 0.0;
    if (z > 0.01)
        return a > b ? (a - b) / log(a / b) : (b - a) / log(b / a); /* symmetric to the bit */
    double series = 1.0 / 17;
    for (int k = 15; k > 0; k -= 2)
        series = series * z + 1.0 / k;
    return 0.5 * sum / series;
}
KILN_INLINE double kiln_metric_edge_length(const kiln_sym3 *at_a, const kiln_sym3 *at_b,
                                           kiln_vec3 e)
{
    return kiln_metric_mean_length(kiln_metric_length(at_a, e), kiln_metric_length(at_b, e));
}

/* Edges of h metres in every direction. */
KILN_INLINE kiln_sym3 kiln_metric_from_size(double h)
{
    return kiln_sym3_scale(kiln_sym3_identity(), 1.0 / (h * h));
}
/* Edges of sizes[k] metres along column k of an orthogonal matrix. */
kiln_sym3 kiln_metric_from_directions(const kiln_mat3 *directions, const double sizes[3]);

/* Limits of what a metric may ask for: h_min <= size <= h_max in every direction, and sizes of one
 * point differ by no more than `ratio`. Zero: no such limit. The ratio is kept by making the coarse
 * directions finer. */
typedef struct kiln_metric_bounds {
    double h_min, h_max; /* m */
    double ratio;
} kiln_metric_bounds;
kiln_sym3 kiln_metric_bound(kiln_sym3 m, const kiln_metric_bounds *bounds);
/* The same in place for many, and the logarithms of what is bounded. A metric with no positive
 * trace is none and stays as it is; one that is semidefinite has a logarithm within bounds only. */
void kiln_metric_bound_batch(kiln_isa isa, size_t count, const kiln_metric_bounds *bounds,
                             kiln_sym3 *metrics);
void kiln_metric_log_batch(kiln_isa isa, size_t count, const kiln_metric_bounds *bounds,
                           kiln_sym3 *metrics);

/* At least as fine as both in every direction, by simultaneous reduction: with a = LL' and the
 * eigenvalues s of L^-1 b L^-T the result is L max(1, s) L'. Exactly a (or b) where that is the
 * finer one everywhere. */
kiln_sym3 kiln_metric_intersect(kiln_sym3 a, kiln_sym3 b);
/* No finer than either in any direction of the common reduction: L min(1, s) L'. */
kiln_sym3 kiln_metric_unite(kiln_sym3 a, kiln_sym3 b);
/* Is a at least as fine as b in every direction, up to a relative 1e-12? */
bool kiln_metric_covers(const kiln_sym3 *a, const kiln_sym3 *b);

/* What a metric at one point allows at a distance e from it: coarser by the factor
 * 1 + growth * length of e, growth = ln(ratio of neighbouring sizes). The same factor in all
 * directions, so that stretched metrics stay so; growing each direction by its own length would
 * make everything isotropic far away (Alauzet 2010, metric-space gradation). */
KILN_INLINE kiln_sym3 kiln_metric_grow(const kiln_sym3 *m, kiln_vec3 e, double growth)
{
    double factor = 1.0 + growth * kiln_metric_length(m, e);
    return kiln_sym3_scale(*m, 1.0 / (factor * factor));
}

/* exp of a log-metric, without eigenvalues: within 1e-12 of the largest eigenvalue for sizes that
 * differ by up to 1e6. */
kiln_sym3 kiln_metric_exp(const kiln_sym3 *log_metric);

#endif
