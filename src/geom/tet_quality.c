/* With det = 6 V, S1 the sum of 1/l and S2 the sum of l^2 over the six edges,
 * q = 6 sqrt(2) (det / 6) (6 / S1) / (S2 / 6)^2 = 216 sqrt(2) det / (S1 S2^2). */
#include "geom/tet_quality.h"

static const double quality_factor = 305.47012947258853;       /* 216 sqrt(2) */
static const double volume_length_factor = 20.784609690826528; /* 12 sqrt(3) */

typedef struct tet_edges {
    kiln_vec3 ab, ac, ad, bc, bd, cd;
} tet_edges;

typedef struct tet_sums {
    double det, l2[6], s2;
} tet_sums;

KILN_INLINE tet_edges edges_of(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                               const kiln_vec3 *d)
{
    return (tet_edges){kiln_v3_sub(*b, *a), kiln_v3_sub(*c, *a), kiln_v3_sub(*d, *a),
                       kiln_v3_sub(*c, *b), kiln_v3_sub(*d, *b), kiln_v3_sub(*d, *c)};
}

KILN_INLINE tet_sums sums_of(const tet_edges *e)
{
    tet_sums s = {kiln_v3_triple(e->ab, e->ac, e->ad),
                  {kiln_v3_norm2(e->ab), kiln_v3_norm2(e->cd), kiln_v3_norm2(e->ac),
                   kiln_v3_norm2(e->bd), kiln_v3_norm2(e->ad), kiln_v3_norm2(e->bc)},
                  0.0};
    s.s2 = (s.l2[0] + s.l2[1]) + (s.l2[2] + s.l2[3]) + (s.l2[4] + s.l2[5]);
    return s;
}

/* 1/p + 1/q with one division. */
KILN_INLINE double inverse_pair(double p2, double q2)
{
    double p = sqrt(p2), q = sqrt(q2);
    return (p + q) / (p * q);
}

/* A zero length makes S1 infinite or, with its opposite edge, NaN: then the tet is flat. */
KILN_INLINE double quality_of(const tet_sums *s)
{
    double s1 = inverse_pair(s->l2[0], s->l2[1]) + inverse_pair(s->l2[2], s->l2[3]) +
                inverse_pair(s->l2[4], s->l2[5]);
    double below = s1 * s->s2 * s->s2;
    return below > 0.0 ? quality_factor * s->det / below : 0.0;
}

double kiln_tet_quality(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                        const kiln_vec3 *d)
{
    tet_edges e = edges_of(a, b, c, d);
    tet_sums s = sums_of(&e);
    return quality_of(&s);
}

bool kiln_tet_quality_above(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                            const kiln_vec3 *d, double threshold)
{
    tet_edges e = edges_of(a, b, c, d);
    tet_sums s = sums_of(&e);
    if (threshold >= 0.0) {
        if (s.det <= 0.0)
            return false;
        /* l_harm <= l_rms, so q^2 <= 72 V^2 / l_rms^6 = 2 det^2 / (S2 / 6)^3. The margin leaves
         * what rounding could turn to the full formula, the range what could overflow. */
        double bound = threshold * threshold * (s.s2 * s.s2 * s.s2) * (1.0 / 216.0);
        if (2.0 * s.det * s.det <= bound * (1.0 - 1e-13) && s.s2 > 1e-90 && s.s2 < 1e90)
            return false;
    }
    return quality_of(&s) > threshold;
}

/* L'e, M = L L'. */
KILN_INLINE double metric_norm2(const double L[6], kiln_vec3 e)
{
    double x = L[0] * e.x + L[1] * e.y + L[2] * e.z, y = L[3] * e.y + L[4] * e.z, z = L[5] * e.z;
    return x * x + y * y + z * z;
}

double kiln_tet_quality_metric(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                               const kiln_vec3 *d, const kiln_sym3 *metric)
{
    double L[6];
    L[0] = sqrt(metric->xx);
    L[1] = metric->xy / L[0];
    L[2] = metric->xz / L[0];
    L[3] = sqrt(metric->yy - L[1] * L[1]);
    L[4] = (metric->yz - L[1] * L[2]) / L[3];
    L[5] = sqrt(metric->zz - L[2] * L[2] - L[4] * L[4]);
    tet_edges e = edges_of(a, b, c, d);
    tet_sums s = {L[0] * L[3] * L[5] * kiln_v3_triple(e.ab, e.ac, e.ad),
                  {metric_norm2(L, e.ab), metric_norm2(L, e.cd), metric_norm2(L, e.ac),
                   metric_norm2(L, e.bd), metric_norm2(L, e.ad), metric_norm2(L, e.bc)},
                  0.0};
    s.s2 = (s.l2[0] + s.l2[1]) + (s.l2[2] + s.l2[3]) + (s.l2[4] + s.l2[5]);
    return quality_of(&s);
}

double kiln_tet_volume_length(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                              const kiln_vec3 *d)
{
    tet_edges e = edges_of(a, b, c, d);
    tet_sums s = sums_of(&e);
    return s.s2 > 0.0 ? volume_length_factor * s.det / (s.s2 * sqrt(s.s2)) : 0.0;
}

/* Outward normals (for a positive tet) of the faces opposite a, b, c, d, twice the area long. */
static void normals_of(const tet_edges *e, kiln_vec3 normals[4])
{
    normals[0] = kiln_v3_cross(e->bc, e->bd);
    normals[1] = kiln_v3_cross(e->ad, e->ac);
    normals[2] = kiln_v3_cross(e->ab, e->ad);
    normals[3] = kiln_v3_cross(e->ac, e->ab);
}

/* The faces that meet in each edge, in the order of kiln_tet_dihedrals. */
static const int faces_at[6][2] = {{2, 3}, {1, 3}, {1, 2}, {0, 3}, {0, 2}, {0, 1}};

/* The normals m, n of two faces at the edge e have |m x n| = |det| |e|. */
double kiln_tet_min_sine(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                         const kiln_vec3 *d)
{
    tet_edges e = edges_of(a, b, c, d);
    kiln_vec3 normals[4];
    normals_of(&e, normals);
    double det = kiln_v3_triple(e.ab, e.ac, e.ad), area[4], least = HUGE_VAL;
    for (int i = 0; i < 4; i++) {
        area[i] = kiln_v3_norm(normals[i]);
        if (!(area[i] > 0.0))
            return 0.0;
    }
    const kiln_vec3 *const edge[6] = {&e.ab, &e.ac, &e.ad, &e.bc, &e.bd, &e.cd};
    for (int i = 0; i < 6; i++) {
        double h = kiln_v3_norm(*edge[i]) / area[faces_at[i][0]] / area[faces_at[i][1]];
        least = h < least ? h : least;
    }
    return det * least;
}

void kiln_tet_dihedrals(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                        const kiln_vec3 *d, double angles[6])
{
    tet_edges e = edges_of(a, b, c, d);
    kiln_vec3 normals[4];
    normals_of(&e, normals);
    double det = fabs(kiln_v3_triple(e.ab, e.ac, e.ad));
    const kiln_vec3 *const edge[6] = {&e.ab, &e.ac, &e.ad, &e.bc, &e.bd, &e.cd};
    for (int i = 0; i < 6; i++) {
        kiln_vec3 m = normals[faces_at[i][0]], n = normals[faces_at[i][1]];
        bool bare = kiln_v3_norm2(m) == 0.0 || kiln_v3_norm2(n) == 0.0;
        angles[i] = bare ? 0.0 : atan2(det * kiln_v3_norm(*edge[i]), -kiln_v3_dot(m, n));
    }
}

double kiln_tet_measure(kiln_measure measure, const kiln_vec3 *a, const kiln_vec3 *b,
                        const kiln_vec3 *c, const kiln_vec3 *d)
{
    switch (measure) {
    case KILN_MEASURE_MIN_SINE:
        return kiln_tet_min_sine(a, b, c, d);
    case KILN_MEASURE_VOLUME_LENGTH:
        return kiln_tet_volume_length(a, b, c, d);
    case KILN_MEASURE_QUALITY:
        break;
    }
    return kiln_tet_quality(a, b, c, d);
}

void kiln_tet_quality_batch(kiln_isa isa, size_t count, const uint32_t *ids,
                            const uint32_t *vertices, size_t stride, const kiln_vec3 *positions,
                            double *quality)
{
    static void (*const table[])(size_t, const uint32_t *, const uint32_t *, size_t,
                                 const kiln_vec3 *, double *) =
        KILN_SIMD_TABLE(kiln_tet_quality_batch);
    table[isa](count, ids, vertices, stride, positions, quality);
}
