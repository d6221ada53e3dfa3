#include "geom/distance.h"
#include "support.h"

#include <string.h>

static kiln_vec3 random_point(kiln_random *random)
{
    double x = kiln_random_range(random, -1, 1), y = kiln_random_range(random, -1, 1);
    return kiln_v3(x, y, kiln_random_range(random, -1, 1));
}

static kiln_vec3 mix(const kiln_vec3 *p, const double *w, int n)
{
    kiln_vec3 at = kiln_v3(0, 0, 0);
    for (int i = 0; i < n; i++)
        at = kiln_v3_madd(at, w[i], p[i]);
    return at;
}

/* Reference: squared distance of the convex hulls of two point sets by projected alternation is too
 * slow to converge; instead every pair of features is solved by normal equations in extended
 * precision and kept when its weights are not negative (the minimum of a convex problem is one of
 * them). Degenerate feature pairs are skipped: their minimum lies on a smaller feature. */
static long double solve_feature(const kiln_vec3 *a, const int *ia, int na, const kiln_vec3 *b,
                                 const int *ib, int nb)
{
    int n = na + nb - 2;
    long double column[5][3], r[3], m[5][6];
    const kiln_vec3 *p = &a[ia[0]], *q = &b[ib[0]];
    for (int k = 0; k < n; k++) {
        const kiln_vec3 *from = k < na - 1 ? p : q;
        const kiln_vec3 *to = k < na - 1 ? &a[ia[k + 1]] : &b[ib[k - na + 2]];
        long double sign = k < na - 1 ? 1 : -1;
        column[k][0] = sign * ((long double)to->x - from->x);
        column[k][1] = sign * ((long double)to->y - from->y);
        column[k][2] = sign * ((long double)to->z - from->z);
    }
    r[0] = (long double)p->x - q->x;
    r[1] = (long double)p->y - q->y;
    r[2] = (long double)p->z - q->z;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            m[i][j] = column[i][0] * column[j][0] + column[i][1] * column[j][1] +
                      column[i][2] * column[j][2];
        m[i][n] = -(column[i][0] * r[0] + column[i][1] * r[1] + column[i][2] * r[2]);
    }
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int i = c + 1; i < n; i++)
            if (fabsl(m[i][c]) > fabsl(m[pivot][c]))
                pivot = i;
        if (fabsl(m[pivot][c]) < 1e-30L)
            return INFINITY;
        for (int j = 0; j <= n; j++) {
            long double swap = m[c][j];
            m[c][j] = m[pivot][j];
            m[pivot][j] = swap;
        }
        for (int i = 0; i < n; i++) {
            long double f = i == c ? 0 : m[i][c] / m[c][c];
            for (int j = c; j <= n && i != c; j++)
                m[i][j] -= f * m[c][j];
        }
    }
    long double sum[2] = {0, 0};
    for (int k = 0; k < n; k++) {
        long double t = m[k][n] / m[k][k];
        if (t < -1e-15L)
            return INFINITY;
        sum[k >= na - 1] += t;
        for (int j = 0; j < 3; j++)
            r[j] += t * column[k][j];
    }
    if (sum[0] > 1 + 1e-15L || sum[1] > 1 + 1e-15L)
        return INFINITY;
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
}

static long double reference(const kiln_vec3 *a, int na, const kiln_vec3 *b, int nb)
{
    long double best = INFINITY;
    for (int u = 1; u < 1 << na; u++)
        for (int v = 1; v < 1 << nb; v++) {
            int ia[4], ib[4], ca = 0, cb = 0;
            for (int i = 0; i < 4; i++) {
                if (u >> i & 1)
                    ia[ca++] = i;
                if (v >> i & 1)
                    ib[cb++] = i;
            }
            if (ca + cb - 2 > 3)
                continue; /* at most three free parameters in space */
            long double d2 = solve_feature(a, ia, ca, b, ib, cb);
            best = d2 < best ? d2 : best;
        }
    return best;
}

/* Check's own assertions write to a pipe each time: too slow for every number of a campaign. */
#define EXPECT_LE(a, b)                                                                            \
    do {                                                                                           \
        if (!((a) <= (b)))                                                                         \
            ck_abort_msg(#a " <= " #b " failed: %.17g, %.17g", (double)(a), (double)(b));          \
    } while (0)

/* `scale` is the size of the configuration: distances are good to rounding of it. */
static void check_value(double got2, long double expected2, double scale)
{
    EXPECT_LE(fabs(sqrt(got2) - (double)sqrtl(expected2)), 4e-15 * scale);
}

static void check_weights(const double *w, unsigned feature, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        EXPECT_LE(0.0, w[i]);
        EXPECT_LE(w[i], 1.0);
        if (!(feature >> i & 1))
            EXPECT_LE(w[i], 0.0);
        sum += w[i];
    }
    EXPECT_LE(1, feature);
    EXPECT_LE(feature, (1u << n) - 1);
    EXPECT_LE(fabs(sum - 1.0), 1e-15);
}

static void check_point(const kiln_closest_point *c, kiln_vec3 p, const kiln_vec3 *q, int n)
{
    check_value(c->distance2, reference(&p, 1, q, n), 2.0);
    check_weights(c->weight, c->feature, n);
    kiln_vec3 at = mix(q, c->weight, n);
    EXPECT_LE(kiln_v3_norm(kiln_v3_sub(kiln_v3_sub(p, at), c->offset)), 4e-15);
    EXPECT_LE(fabs(kiln_v3_norm2(c->offset) - c->distance2), 1e-15);
}

static void check_pair(const kiln_closest_pair *c, const kiln_vec3 *a, const kiln_vec3 *b, int n)
{
    check_value(c->distance2, reference(a, n, b, n), 2.0);
    check_weights(c->weight_a, c->feature_a, n);
    check_weights(c->weight_b, c->feature_b, n);
    kiln_vec3 gap = kiln_v3_sub(mix(a, c->weight_a, n), mix(b, c->weight_b, n));
    EXPECT_LE(kiln_v3_norm(kiln_v3_sub(gap, c->offset)), 4e-15);
    EXPECT_LE(fabs(kiln_v3_norm2(c->offset) - c->distance2), 1e-15);
}

/* Random, nearly degenerate and exactly degenerate elements. */
static void random_element(kiln_random *random, kiln_vec3 *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = random_point(random);
    uint32_t kind = kiln_random_below(random, 8);
    double e = ldexp(1.0, -(int)kiln_random_below(random, 60));
    if (kind == 0) /* an edge almost without length */
        p[1] = kiln_v3_madd(p[0], e, p[1]);
    if (kind == 1 && n > 2) /* almost on a line */
        p[2] = kiln_v3_madd(kiln_v3_lerp(p[0], p[1], kiln_random_range(random, -1, 2)), e, p[2]);
    if (kind == 2 && n > 3) /* almost in a plane */
        p[3] = kiln_v3_madd(kiln_v3_lerp(kiln_v3_lerp(p[0], p[1], 0.3), p[2], 0.6), e, p[3]);
    if (kind == 3) /* small integers: ties and exact coincidences */
        for (int i = 0; i < n; i++)
            p[i] = kiln_v3(round(p[i].x), round(p[i].y), round(p[i].z));
}

START_TEST(points_match_the_reference)
{
    kiln_random random = kiln_random_start(21, 0);
    unsigned seen[16] = {0};
    for (uint64_t round = 0; round < kiln_test_rounds(10000, 1000000); round++) {
        kiln_vec3 p = random_point(&random), q[4];
        random_element(&random, q, 4);
        if (round % 8 == 0)
            p = kiln_v3(round % 3, round / 8 % 3 - 1.0, 0);
        kiln_closest_point c = kiln_closest_on_edge(p, q);
        check_point(&c, p, q, 2);
        c = kiln_closest_on_triangle(p, q);
        ck_assert_double_eq_tol(kiln_triangle_distance2(p, q), c.distance2,
                                1e-12 * (1.0 + c.distance2));
        check_point(&c, p, q, 3);
        c = kiln_closest_on_tet(p, q);
        check_point(&c, p, q, 4);
        seen[c.feature]++;
    }
    for (int i = 1; i < 16; i++)
        ck_assert_uint_gt(seen[i], 0);
}
END_TEST

START_TEST(pairs_match_the_reference)
{
    kiln_random random = kiln_random_start(22, 0);
    int crossing = 0, apart = 0;
    for (uint64_t round = 0; round < kiln_test_rounds(5000, 1000000); round++) {
        kiln_vec3 a[3], b[3];
        random_element(&random, a, 3);
        random_element(&random, b, 3);
        if (round % 4 == 0) /* almost parallel edges */
            b[1] = kiln_v3_madd(kiln_v3_add(b[0], kiln_v3_sub(a[1], a[0])),
                                ldexp(1.0, -(int)kiln_random_below(&random, 60)), b[1]);
        if (round % 8 == 1) /* apart */
            for (int i = 0; i < 3; i++)
                b[i].x += 1.5;
        kiln_closest_pair c = kiln_closest_edges(a, b);
        ck_assert_double_eq_tol(kiln_edges_distance2(a, b), c.distance2,
                                1e-12 * (1.0 + c.distance2));
        check_pair(&c, a, b, 2);
        c = kiln_closest_triangles(a, b);
        check_pair(&c, a, b, 3);
        crossing += c.distance2 == 0.0;
        apart += c.distance2 > 0.0;
    }
    ck_assert_int_gt(crossing, 100);
    ck_assert_int_gt(apart, 100);
}
END_TEST

START_TEST(features_are_named)
{
    const kiln_vec3 t[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const struct {
        kiln_vec3 p;
        unsigned triangle, tet;
        double d2;
    } row[] = {{{-1, -1, -1}, 1, 1, 3},     {{2, 0, -1}, 2, 2, 2},         {{0, 2, -1}, 4, 4, 2},
               {{0.5, -1, -1}, 3, 3, 2},    {{-1, 0.5, -1}, 5, 5, 2},      {{1, 1, -1}, 6, 6, 1.5},
               {{0.25, 0.25, -2}, 7, 7, 4}, {{0.25, 0.25, 0.25}, 7, 15, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        kiln_closest_point c = kiln_closest_on_triangle(row[i].p, t);
        ck_assert_uint_eq(c.feature, row[i].triangle);
        c = kiln_closest_on_tet(row[i].p, t);
        ck_assert_uint_eq(c.feature, row[i].tet);
        ck_assert_double_eq(c.distance2, row[i].d2);
    }
    ck_assert_double_eq(kiln_distance2_points(t[1], t[2]), 2.0);
}
END_TEST

START_TEST(parallel_edges_name_a_vertex)
{
    kiln_random random = kiln_random_start(23, 0);
    for (int round = 0; round < 2000; round++) {
        kiln_vec3 a[2] = {random_point(&random), random_point(&random)};
        kiln_vec3 u = kiln_v3_sub(a[1], a[0]), off = random_point(&random), b[2];
        double from = kiln_random_range(&random, -2, 2), to = kiln_random_range(&random, -2, 2);
        b[0] = kiln_v3_madd(kiln_v3_add(a[0], off), from, u);
        b[1] = kiln_v3_madd(kiln_v3_add(a[0], off), to, u);
        if (fabs(from - to) < 1e-3 || kiln_v3_norm(u) < 0.1)
            continue;
        kiln_closest_pair c = kiln_closest_edges(a, b);
        ck_assert(c.feature_a != 3 || c.feature_b != 3);
        check_pair(&c, a, b, 2);
    }
    /* The same edge, reversed, touching end to end, on one line apart, without length. */
    const kiln_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
    const int row[][5] = {{0, 1, 0, 1, 0}, {0, 1, 1, 0, 0}, {0, 1, 1, 2, 0}, {0, 1, 2, 3, 1},
                          {0, 3, 1, 2, 0}, {0, 0, 3, 3, 9}, {0, 2, 1, 1, 0}, {1, 1, 1, 1, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const kiln_vec3 a[2] = {p[row[i][0]], p[row[i][1]]}, b[2] = {p[row[i][2]], p[row[i][3]]};
        ck_assert_double_eq(kiln_closest_edges(a, b).distance2, row[i][4]);
    }
}
END_TEST

START_TEST(shift_and_scale_are_exact)
{
    kiln_random random = kiln_random_start(24, 0);
    for (int round = 0; round < 2000; round++) {
        kiln_vec3 p[6], far[6], big[6];
        double s = round % 2 ? 0x1p20 : 0x1p-20;
        for (int i = 0; i < 6; i++) {
            kiln_vec3 v = kiln_v3_scale(random_point(&random), 0x1p20);
            p[i] = kiln_v3_scale(kiln_v3(floor(v.x), floor(v.y), floor(v.z)), 0x1p-20);
            far[i] = kiln_v3_add(p[i], kiln_v3(0x1p20, 0x1p20, -0x1p20));
            big[i] = kiln_v3_scale(p[i], s);
        }
        kiln_closest_point c = kiln_closest_on_tet(p[0], p + 1);
        kiln_closest_point c_far = kiln_closest_on_tet(far[0], far + 1);
        kiln_closest_point c_big = kiln_closest_on_tet(big[0], big + 1);
        ck_assert(c.distance2 == c_far.distance2 && c.distance2 * s * s == c_big.distance2);
        ck_assert_int_eq(memcmp(c.weight, c_far.weight, sizeof c.weight), 0);
        ck_assert_int_eq(memcmp(c.weight, c_big.weight, sizeof c.weight), 0);
        kiln_closest_pair t = kiln_closest_triangles(p, p + 3);
        kiln_closest_pair t_far = kiln_closest_triangles(far, far + 3);
        kiln_closest_pair t_big = kiln_closest_triangles(big, big + 3);
        ck_assert(t.distance2 == t_far.distance2 && t.distance2 * s * s == t_big.distance2);
        ck_assert_int_eq(memcmp(t.weight_a, t_far.weight_a, sizeof t.weight_a), 0);
        ck_assert_int_eq(memcmp(t.weight_b, t_big.weight_b, sizeof t.weight_b), 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("distance");
    TCase *all = kiln_test_case(suite, "distance");
    tcase_add_test(all, points_match_the_reference);
    tcase_add_test(all, pairs_match_the_reference);
    tcase_add_test(all, features_are_named);
    tcase_add_test(all, parallel_edges_name_a_vertex);
    tcase_add_test(all, shift_and_scale_are_exact);
    return suite;
}
