#include "remesh/edge_removal_polygon.h"
#include "remesh/edge_removal_ears.h"
#include "remesh/edge_removal_select.h"

static double tet_score(const kiln_remesher *remesher, kiln_space space, const uint32_t v[4],
                        double floor)
{
    double score =
        kiln_remesher_score_in(remesher, space, NULL, v) * kiln_selection_factor(remesher->mesh, v);
    return score > floor && kiln_remesher_valid_elsewhere(remesher, space, NULL, v) ? score
                                                                                    : -INFINITY;
}

/* The worse tet of a triangle, or -INFINITY where it is not above `floor`. */
static double triangle_score(const kiln_remesher *remesher, const kiln_polygon *polygon, uint32_t i,
                             uint32_t k, uint32_t j, double floor)
{
    const uint32_t *v = polygon->v;
    const uint32_t below[4] = {polygon->a, v[i], v[k], v[j]};
    const uint32_t above[4] = {polygon->b, v[i], v[j], v[k]};
    double low = tet_score(remesher, polygon->space, below, floor);
    if (!(low > floor))
        return -INFINITY;
    double high = tet_score(remesher, polygon->space, above, floor);
    return high < low ? high : low;
}

/* Every triangulation of four or more vertices has two ears that are not neighbours. Besides the
 * first ear and its neighbours there is another one, or both neighbours (the last vertex, then, and
 * 1) are the two. */
KILN_INLINE bool ears_allow(uint32_t ears, uint32_t count)
{
    uint32_t first = ears & -ears;
    uint32_t beside = first << 1 | (uint32_t)(first == 1) << (count - 1);
    return (ears & ~(first | beside)) != 0 || (first == 1 && (ears & beside) == beside);
}

/* By the bound on kiln_tet_quality, where that is the score; else by the sign of the volume, which
 * every score has. */
static uint32_t promising_ears(const kiln_remesher *remesher, const kiln_polygon *polygon,
                               double floor)
{
    static uint32_t (*const table[])(const kiln_ear_points *, uint32_t, kiln_vec3, kiln_vec3,
                                     double) = KILN_SIMD_TABLE(kiln_ears_above);
    const kiln_vec3 *points = kiln_mesh_positions(remesher->mesh, polygon->space);
    bool plain = !remesher->options.sizing && remesher->options.measure == KILN_MEASURE_QUALITY;
    uint32_t n = polygon->count;
    kiln_ear_points ring;
    for (uint32_t i = 0; i < n + 2 || i % 8 != 2; i++) {
        const kiln_vec3 *p = &points[polygon->v[i == 0 ? n - 1 : i <= n ? i - 1 : 0]];
        ring.x[i] = p->x;
        ring.y[i] = p->y;
        ring.z[i] = p->z;
    }
    return table[remesher->context->isa](&ring, n, points[polygon->a], points[polygon->b],
                                         plain ? floor : 0.0);
}

static bool score_ears(const kiln_remesher *remesher, const kiln_polygon *polygon, double floor,
                       double *ear)
{
    uint32_t n = polygon->count, ears = promising_ears(remesher, polygon, floor);
    if (!ears_allow(ears, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        ear[i] = -INFINITY;
        if (ears >> i & 1)
            ear[i] = triangle_score(remesher, polygon, i == 0 ? n - 1 : i - 1, i,
                                    i == n - 1 ? 0 : i + 1, floor);
        if (ear[i] == -INFINITY)
            ears &= ~(1u << i);
    }
    return ears_allow(ears, n);
}

/* The best third corner k of the triangle on the side i, j:
 * T(i, j) = max over k of min(triangle, T(i, k), T(k, j)). */
static double best_cut(const kiln_remesher *remesher, kiln_polygon *polygon, const double *ear,
                       double T[][KILN_POLYGON_MOST], uint32_t i, uint32_t j, double floor)
{
    uint32_t n = polygon->count;
    double best = floor;
    bool found = false;
    for (uint32_t k = i + 1; k < j; k++) {
        double rest = T[i][k] < T[k][j] ? T[i][k] : T[k][j];
        if (rest <= best)
            continue;
        double own = j == i + 2                       ? ear[k]
                     : j == n - 1 && i == 0 && k == 1 ? ear[0]
                     : j == n - 1 && i == 0 && k == n - 2
                         ? ear[n - 1]
                         : triangle_score(remesher, polygon, i, k, j, best);
        own = own < rest ? own : rest;
        if (own <= best)
            continue;
        best = own;
        polygon->cut[i][j] = (uint8_t)k;
        found = true;
    }
    return found ? best : -INFINITY;
}

/* Four vertices have two triangulations, each of two ears. */
static double best_diagonal(kiln_polygon *polygon, const double *ear)
{
    double even = ear[0] < ear[2] ? ear[0] : ear[2], odd = ear[1] < ear[3] ? ear[1] : ear[3];
    polygon->cut[0][3] = even > odd ? 1 : 2;
    polygon->cut[1][3] = 2;
    polygon->cut[0][2] = 1;
    return even > odd ? even : odd;
}

double kiln_polygon_triangulate(const kiln_remesher *remesher, kiln_polygon *polygon, double floor)
{
    uint32_t n = polygon->count;
    double ear[KILN_POLYGON_MOST], T[KILN_POLYGON_MOST][KILN_POLYGON_MOST];
    if (n == 3) {
        polygon->cut[0][2] = 1;
        return triangle_score(remesher, polygon, 0, 1, 2, floor);
    }
    if (!score_ears(remesher, polygon, floor, ear))
        return -INFINITY;
    if (n == 4)
        return best_diagonal(polygon, ear);
    for (uint32_t i = 0; i + 1 < n; i++)
        T[i][i + 1] = INFINITY;
    for (uint32_t width = 2; width < n; width++)
        for (uint32_t i = 0; i + width < n; i++)
            T[i][i + width] = best_cut(remesher, polygon, ear, T, i, i + width, floor);
    return T[0][n - 1];
}

uint32_t kiln_polygon_tets(const kiln_polygon *polygon, const uint32_t *ring, kiln_new_tet *fresh)
{
    struct {
        uint32_t i, j;
    } side[KILN_POLYGON_MOST];
    uint32_t sides = 1, made = 0;
    side[0].i = 0;
    side[0].j = polygon->count - 1;
    while (sides > 0) {
        uint32_t i = side[--sides].i, j = side[sides].j, k = polygon->cut[i][j];
        uint32_t p = polygon->v[i], q = polygon->v[k], r = polygon->v[j];
        fresh[made++] = (kiln_new_tet){{polygon->a, p, q, r}, ring[i], KILN_NONE, 0};
        fresh[made++] = (kiln_new_tet){{polygon->b, p, r, q}, ring[k], KILN_NONE, 0};
        if (j > k + 1) {
            side[sides].i = k;
            side[sides++].j = j;
        }
        if (k > i + 1) {
            side[sides].i = i;
            side[sides++].j = k;
        }
    }
    return made;
}
