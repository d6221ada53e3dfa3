#include "geom/segment_crossing.h"
#include "geom/triangle_overlap.h"
#include "hard_points.h"
#include "support.h"

#include <gmp.h>
#include <stdio.h>
#include <string.h>

/* Reference: clip one triangle by the other in rational arithmetic. For convex sets a point inside
 * the common part is inside both exactly when the insides meet, so the mean of the clipped
 * polygon's vertices tells touching from crossing. */
typedef struct rational_vector {
    mpq_t c[3];
} rational_vector;

enum { POLYGON_MOST = 16 };

typedef struct clipper {
    rational_vector t[2][3], normal[2]; /* the two triangles */
    rational_vector polygon[2][POLYGON_MOST], mean;
    mpq_t value[POLYGON_MOST], a, b;
    rational_vector u, v, edge_normal;
    int current, count;
} clipper;

static void vector_init(rational_vector *v)
{
    mpq_inits(v->c[0], v->c[1], v->c[2], NULL);
}

static void clipper_init(clipper *x)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++)
            vector_init(&x->t[i][k]);
        vector_init(&x->normal[i]);
        for (int k = 0; k < POLYGON_MOST; k++)
            vector_init(&x->polygon[i][k]);
    }
    for (int k = 0; k < POLYGON_MOST; k++)
        mpq_init(x->value[k]);
    mpq_inits(x->a, x->b, NULL);
    vector_init(&x->mean);
    vector_init(&x->u);
    vector_init(&x->v);
    vector_init(&x->edge_normal);
}

static void vector_clear(rational_vector *v)
{
    mpq_clears(v->c[0], v->c[1], v->c[2], NULL);
}

static void clipper_clear(clipper *x)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++)
            vector_clear(&x->t[i][k]);
        vector_clear(&x->normal[i]);
        for (int k = 0; k < POLYGON_MOST; k++)
            vector_clear(&x->polygon[i][k]);
    }
    for (int k = 0; k < POLYGON_MOST; k++)
        mpq_clear(x->value[k]);
    mpq_clears(x->a, x->b, NULL);
    vector_clear(&x->mean);
    vector_clear(&x->u);
    vector_clear(&x->v);
    vector_clear(&x->edge_normal);
}

static void vector_set(rational_vector *r, kiln_vec3 p)
{
    for (int k = 0; k < 3; k++)
        mpq_set_d(r->c[k], *hard_at(&p, k));
}

static void vector_copy(rational_vector *r, const rational_vector *p)
{
    for (int k = 0; k < 3; k++)
        mpq_set(r->c[k], p->c[k]);
}

static void vector_subtract(rational_vector *r, const rational_vector *p, const rational_vector *q)
{
    for (int k = 0; k < 3; k++)
        mpq_sub(r->c[k], p->c[k], q->c[k]);
}

static bool vector_zero(const rational_vector *p)
{
    return mpq_sgn(p->c[0]) == 0 && mpq_sgn(p->c[1]) == 0 && mpq_sgn(p->c[2]) == 0;
}

static void vector_cross(clipper *x, rational_vector *r, const rational_vector *p,
                         const rational_vector *q)
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        mpq_mul(x->a, p->c[i], q->c[j]);
        mpq_mul(x->b, p->c[j], q->c[i]);
        mpq_sub(r->c[k], x->a, x->b);
    }
}

/* normal . (p - origin) */
static void side_value(clipper *x, mpq_t r, const rational_vector *normal,
                       const rational_vector *origin, const rational_vector *p)
{
    mpq_set_ui(r, 0, 1);
    for (int k = 0; k < 3; k++) {
        mpq_sub(x->a, p->c[k], origin->c[k]);
        mpq_mul(x->a, x->a, normal->c[k]);
        mpq_add(r, r, x->a);
    }
}

/* Keep the polygon where normal . (p - origin) >= 0 (or <= 0 when flipped). */
static void clip(clipper *x, const rational_vector *normal, const rational_vector *origin, int flip)
{
    const rational_vector *from = x->polygon[x->current];
    rational_vector *to = x->polygon[1 - x->current];
    int count = 0;
    for (int i = 0; i < x->count; i++) {
        side_value(x, x->value[i], normal, origin, &from[i]);
        if (flip)
            mpq_neg(x->value[i], x->value[i]);
    }
    for (int i = 0; i < x->count; i++) {
        int j = (i + 1) % x->count, si = mpq_sgn(x->value[i]), sj = mpq_sgn(x->value[j]);
        if (si >= 0)
            vector_copy(&to[count++], &from[i]);
        if (si * sj < 0) {
            mpq_sub(x->b, x->value[i], x->value[j]);
            mpq_div(x->b, x->value[i], x->b);
            for (int k = 0; k < 3; k++) {
                mpq_sub(x->a, from[j].c[k], from[i].c[k]);
                mpq_mul(x->a, x->a, x->b);
                mpq_add(to[count].c[k], from[i].c[k], x->a);
            }
            count++;
        }
        ck_assert_int_lt(count, POLYGON_MOST - 1);
    }
    x->current = 1 - x->current;
    x->count = count;
}

static void load_triangle(clipper *x, int which, const kiln_vec3 t[3])
{
    for (int k = 0; k < 3; k++)
        vector_set(&x->t[which][k], t[k]);
    vector_subtract(&x->u, &x->t[which][1], &x->t[which][0]);
    vector_subtract(&x->v, &x->t[which][2], &x->t[which][0]);
    vector_cross(x, &x->normal[which], &x->u, &x->v);
}

static void edge_normal(clipper *x, int which, int i)
{
    vector_subtract(&x->u, &x->t[which][(i + 1) % 3], &x->t[which][i]);
    vector_cross(x, &x->edge_normal, &x->normal[which], &x->u);
}

/* The polygon clipped to triangle `which`, and the mean of what is left. */
static void clip_to_triangle(clipper *x, int which)
{
    clip(x, &x->normal[which], &x->t[which][0], 0);
    clip(x, &x->normal[which], &x->t[which][0], 1);
    for (int i = 0; i < 3; i++) {
        edge_normal(x, which, i);
        clip(x, &x->edge_normal, &x->t[which][i], 0);
    }
    for (int k = 0; k < 3; k++) {
        mpq_set_ui(x->mean.c[k], 0, 1);
        for (int i = 0; i < x->count; i++)
            mpq_add(x->mean.c[k], x->mean.c[k], x->polygon[x->current][i].c[k]);
        mpq_set_ui(x->a, (unsigned long)(x->count ? x->count : 1), 1);
        mpq_div(x->mean.c[k], x->mean.c[k], x->a);
    }
}

static bool mean_is_inside(clipper *x, int which)
{
    for (int i = 0; i < 3; i++) {
        edge_normal(x, which, i);
        side_value(x, x->value[0], &x->edge_normal, &x->t[which][i], &x->mean);
        if (mpq_sgn(x->value[0]) <= 0)
            return false;
    }
    return true;
}

/* Is all that is left on the shared vertex, or on the line of the shared edge? */
static bool only_shared(clipper *x, const kiln_vec3 *shared, int count)
{
    if (count == 0)
        return false;
    rational_vector ends[2];
    vector_init(&ends[0]);
    vector_init(&ends[1]);
    for (int i = 0; i < 2; i++)
        vector_set(&ends[i], shared[count == 2 ? i : 0]);
    bool only = true;
    for (int i = 0; i < x->count && only; i++) {
        vector_subtract(&x->u, &x->polygon[x->current][i], &ends[0]);
        vector_subtract(&x->v, &ends[1], &ends[0]);
        vector_cross(x, &x->edge_normal, &x->u, &x->v);
        only = count == 2 ? vector_zero(&x->edge_normal) : vector_zero(&x->u);
    }
    vector_clear(&ends[0]);
    vector_clear(&ends[1]);
    return only;
}

/* -1 when a triangle is flat. `shared` are the `count` points at equal places of p and q. */
static int reference_overlap(clipper *x, const kiln_vec3 p[3], const kiln_vec3 q[3],
                             const kiln_vec3 *shared, int count)
{
    load_triangle(x, 0, p);
    load_triangle(x, 1, q);
    if (vector_zero(&x->normal[0]) || vector_zero(&x->normal[1]))
        return -1;
    x->current = 0;
    x->count = 3;
    for (int k = 0; k < 3; k++)
        vector_copy(&x->polygon[0][k], &x->t[0][k]);
    clip_to_triangle(x, 1);
    if (x->count == 0)
        return KILN_OVERLAP_DISJOINT;
    if (mean_is_inside(x, 0) && mean_is_inside(x, 1)) {
        vector_cross(x, &x->edge_normal, &x->normal[0], &x->normal[1]);
        return vector_zero(&x->edge_normal) ? KILN_OVERLAP_COPLANAR : KILN_OVERLAP_CROSS;
    }
    return only_shared(x, shared, count) ? KILN_OVERLAP_DISJOINT : KILN_OVERLAP_TOUCH;
}

/* Reference for flat triangles with small integer points: they meet when the origin is in the
 * convex hull of the differences p_i - q_j, hence (Caratheodory) in a proper simplex of them. */
typedef struct grid_point {
    int64_t c[3];
} grid_point;

static int64_t grid_triple(grid_point a, grid_point b, grid_point c)
{
    return a.c[0] * (b.c[1] * c.c[2] - b.c[2] * c.c[1]) +
           a.c[1] * (b.c[2] * c.c[0] - b.c[0] * c.c[2]) +
           a.c[2] * (b.c[0] * c.c[1] - b.c[1] * c.c[0]);
}

static grid_point grid_cross(grid_point a, grid_point b)
{
    return (grid_point){{a.c[1] * b.c[2] - a.c[2] * b.c[1], a.c[2] * b.c[0] - a.c[0] * b.c[2],
                         a.c[0] * b.c[1] - a.c[1] * b.c[0]}};
}

static int64_t grid_dot(grid_point a, grid_point b)
{
    return a.c[0] * b.c[0] + a.c[1] * b.c[1] + a.c[2] * b.c[2];
}

static bool origin_between(grid_point a, grid_point b)
{
    grid_point n = grid_cross(a, b);
    return grid_dot(n, n) == 0 && grid_dot(a, b) <= 0;
}

static bool origin_in_triangle(grid_point a, grid_point b, grid_point c)
{
    grid_point ab = grid_cross(a, b), bc = grid_cross(b, c), ca = grid_cross(c, a), n;
    for (int k = 0; k < 3; k++)
        n.c[k] = ab.c[k] + bc.c[k] + ca.c[k];
    return grid_dot(n, n) > 0 && grid_triple(a, b, c) == 0 && grid_dot(ab, n) >= 0 &&
           grid_dot(bc, n) >= 0 && grid_dot(ca, n) >= 0;
}

static bool origin_in_tet(grid_point a, grid_point b, grid_point c, grid_point d)
{
    int64_t wa = grid_triple(b, c, d), wb = -grid_triple(a, c, d), wc = grid_triple(a, b, d),
            wd = -grid_triple(a, b, c);
    bool none_positive = wa <= 0 && wb <= 0 && wc <= 0 && wd <= 0;
    bool none_negative = wa >= 0 && wb >= 0 && wc >= 0 && wd >= 0;
    return wa + wb + wc + wd != 0 && (none_positive || none_negative);
}

static bool grid_sets_meet(const kiln_vec3 p[3], const kiln_vec3 q[3])
{
    grid_point d[9];
    for (int i = 0; i < 9; i++) {
        kiln_vec3 w = kiln_v3_sub(p[i / 3], q[i % 3]);
        d[i] = (grid_point){{(int64_t)w.x, (int64_t)w.y, (int64_t)w.z}};
    }
    for (int i = 0; i < 9; i++)
        for (int j = i; j < 9; j++) {
            if (origin_between(d[i], d[j]))
                return true;
            for (int k = j + 1; k < 9; k++) {
                if (origin_in_triangle(d[i], d[j], d[k]))
                    return true;
                for (int l = k + 1; l < 9; l++)
                    if (origin_in_tet(d[i], d[j], d[k], d[l]))
                        return true;
            }
        }
    return false;
}

static void check(const char *name, uint64_t round, const kiln_vec3 *p, const kiln_vec3 *q,
                  int expected, int got)
{
    if (expected == got)
        return;
    char text[1024] = "";
    for (int i = 0; i < 6; i++) {
        size_t used = strlen(text);
        const kiln_vec3 *t = i < 3 ? &p[i] : &q[i - 3];
        snprintf(text + used, sizeof text - used, " (%a, %a, %a)", t->x, t->y, t->z);
    }
    ck_abort_msg("%s round %llu: expected %d, got %d:%s", name, (unsigned long long)round, expected,
                 got, text);
}

/* Pairs in special position too: in one plane, or corners of q on p's plane, edges or corners. */
static void hard_pair(kiln_random *random, uint64_t round, kiln_vec3 t[6])
{
    enum hard_family family = (enum hard_family)(round % HARD_FAMILIES);
    hard_points(random, family, 6, t);
    if (kiln_random_below(random, 8) == 0)
        for (int i = 0; i < 6; i++)
            t[i].z = t[i].x; /* all in one plane */
    if (family < HARD_COMBINED || family >= HARD_MIXED)
        return;
    t[5] = kiln_v3_lerp(t[0], t[4], 0.25);
    for (uint32_t k = kiln_random_below(random, 4); k > 0; k--)
        t[6 - k] = hard_combination(random, t);
}

static void turn_randomly(kiln_random *random, kiln_vec3 t[3], uint32_t ids[3])
{
    uint32_t i = kiln_random_below(random, 3), j = kiln_random_below(random, 3);
    kiln_vec3 p = t[i];
    t[i] = t[j];
    t[j] = p;
    uint32_t id = ids[i];
    ids[i] = ids[j];
    ids[j] = id;
}

START_TEST(overlap_equals_rational_clipping)
{
    clipper x;
    clipper_init(&x);
    kiln_random random = kiln_random_start(21, 4);
    uint64_t rounds = kiln_test_rounds(7000, 1000000), seen[4] = {0};
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 t[6];
        hard_pair(&random, round, t);
        int expected = reference_overlap(&x, t, t + 3, NULL, 0);
        if (expected < 0)
            continue;
        check("overlap", round, t, t + 3, expected, (int)kiln_triangle_overlap(t, t + 3));
        check("swapped", round, t, t + 3, expected, (int)kiln_triangle_overlap(t + 3, t));
        uint32_t ids[6] = {0, 1, 2, 3, 4, 5};
        turn_randomly(&random, t, ids);
        turn_randomly(&random, t + 3, ids + 3);
        check("turned", round, t, t + 3, expected,
              (int)kiln_triangle_overlap_shared(t, ids, t + 3, ids + 3));
        seen[expected]++;
    }
    for (int i = 0; i < 4; i++)
        ck_assert_uint_gt(seen[i], rounds / 200);
    clipper_clear(&x);
}
END_TEST

START_TEST(shared_vertices_do_not_count)
{
    clipper x;
    clipper_init(&x);
    kiln_random random = kiln_random_start(22, 4);
    uint64_t rounds = kiln_test_rounds(7000, 1000000), seen[3][4] = {{0}};
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 t[6];
        hard_pair(&random, round, t);
        int shared = 1 + (int)kiln_random_below(&random, 2);
        uint32_t ids[6] = {7, 8, 9, 17, 18, 19};
        for (int i = 0; i < shared; i++) {
            t[3 + i] = t[i];
            ids[3 + i] = ids[i];
        }
        int expected = reference_overlap(&x, t, t + 3, t, shared);
        turn_randomly(&random, t, ids);
        turn_randomly(&random, t + 3, ids + 3);
        if (expected < 0)
            expected = KILN_OVERLAP_TOUCH;
        else
            seen[shared][expected]++;
        check(shared == 1 ? "shared vertex" : "shared edge", round, t, t + 3, expected,
              (int)kiln_triangle_overlap_shared(t, ids, t + 3, ids + 3));
        check("shared, swapped", round, t, t + 3, expected,
              (int)kiln_triangle_overlap_shared(t + 3, ids + 3, t, ids));
    }
    for (int i = 0; i < 4; i++)
        ck_assert_uint_gt(seen[1][i], rounds / 1000);
    ck_assert_uint_gt(seen[2][KILN_OVERLAP_DISJOINT], rounds / 200);
    ck_assert_uint_gt(seen[2][KILN_OVERLAP_COPLANAR], rounds / 200);
    clipper_clear(&x);
}
END_TEST

START_TEST(flat_triangles_touch_or_not)
{
    kiln_random random = kiln_random_start(23, 4);
    uint64_t rounds = kiln_test_rounds(50000, 5000000), seen[2] = {0};
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 t[6];
        int ignored;
        hard_points(&random, HARD_GRID, 6, t);
        if (round % 2 == 0)
            t[2] = round % 4 ? t[1] : kiln_v3_madd(t[0], 2.0, kiln_v3_sub(t[1], t[0]));
        if (round % 3 == 0)
            t[4] = t[round % 5 ? 3 : 5];
        bool flat = kiln_triangle_axis(t, &ignored) < 0 || kiln_triangle_axis(t + 3, &ignored) < 0;
        bool meet = grid_sets_meet(t, t + 3);
        kiln_overlap got = kiln_triangle_overlap(t, t + 3);
        check("closed sets", round, t, t + 3, meet, got != KILN_OVERLAP_DISJOINT);
        if (flat) {
            check("flat", round, t, t + 3, meet ? KILN_OVERLAP_TOUCH : KILN_OVERLAP_DISJOINT,
                  (int)got);
            seen[meet]++;
        }
    }
    ck_assert_uint_gt(seen[0], rounds / 20);
    ck_assert_uint_gt(seen[1], rounds / 20);
}
END_TEST

START_TEST(the_same_triangle_is_coplanar_with_itself)
{
    const kiln_vec3 t[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0.5}};
    const uint32_t ids[3] = {4, 5, 6};
    ck_assert_int_eq(kiln_triangle_overlap(t, t), KILN_OVERLAP_COPLANAR);
    ck_assert_int_eq(kiln_triangle_overlap_shared(t, ids, t, ids), KILN_OVERLAP_COPLANAR);
    const kiln_vec3 flat[3] = {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}};
    ck_assert_int_eq(kiln_triangle_overlap_shared(flat, ids, flat, ids), KILN_OVERLAP_TOUCH);
}
END_TEST

/* Expected sign of the line pq against each edge, from the point where it meets the plane. */
static void check_edges(clipper *x, uint64_t round, const kiln_vec3 *s, const kiln_vec3 t[3],
                        const kiln_crossing *crossing)
{
    side_value(x, x->value[0], &x->normal[1], &x->t[1][0], &x->polygon[0][0]);
    side_value(x, x->value[1], &x->normal[1], &x->t[1][0], &x->polygon[0][1]);
    check("side of p", round, s, t, mpq_sgn(x->value[0]), crossing->end[0]);
    check("side of q", round, s, t, mpq_sgn(x->value[1]), crossing->end[1]);
    if (mpq_sgn(x->value[0]) * mpq_sgn(x->value[1]) > 0 || mpq_equal(x->value[0], x->value[1]))
        return;
    mpq_sub(x->b, x->value[0], x->value[1]);
    mpq_div(x->b, x->value[0], x->b);
    for (int k = 0; k < 3; k++) {
        mpq_sub(x->a, x->polygon[0][1].c[k], x->polygon[0][0].c[k]);
        mpq_mul(x->a, x->a, x->b);
        mpq_add(x->mean.c[k], x->polygon[0][0].c[k], x->a);
    }
    for (int i = 0; i < 3; i++) {
        edge_normal(x, 1, (i + 1) % 3);
        side_value(x, x->value[0], &x->edge_normal, &x->t[1][(i + 1) % 3], &x->mean);
        check("edge", round, s, t, mpq_sgn(x->value[0]), crossing->edge[i]);
    }
}

START_TEST(crossings_equal_rational_clipping)
{
    clipper x;
    clipper_init(&x);
    kiln_random random = kiln_random_start(24, 4);
    uint64_t rounds = kiln_test_rounds(10000, 1000000), seen[4] = {0};
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 t[6];
        hard_pair(&random, round, t);
        load_triangle(&x, 1, t);
        if (vector_zero(&x.normal[1]))
            continue;
        kiln_crossing crossing = kiln_segment_cross_triangle(t[4], t[5], t);
        x.current = 0;
        x.count = 2;
        vector_set(&x.polygon[0][0], t[4]);
        vector_set(&x.polygon[0][1], t[5]);
        check_edges(&x, round, t + 3, t, &crossing);
        clip_to_triangle(&x, 1);
        kiln_crossing_kind expected = KILN_CROSSING_NONE;
        if (x.count > 0) {
            bool ends = crossing.end[0] == 0 || crossing.end[1] == 0;
            expected = crossing.end[0] == 0 && crossing.end[1] == 0 ? KILN_CROSSING_COPLANAR
                       : !ends && mean_is_inside(&x, 1)             ? KILN_CROSSING_PROPER
                                                                    : KILN_CROSSING_TOUCH;
        }
        check("crossing", round, t + 3, t, (int)expected, (int)crossing.kind);
        seen[expected]++;
    }
    for (int i = 0; i < 4; i++)
        ck_assert_uint_gt(seen[i], rounds / 200);
    clipper_clear(&x);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("triangle overlap");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_test(all, overlap_equals_rational_clipping);
    tcase_add_test(all, shared_vertices_do_not_count);
    tcase_add_test(all, flat_triangles_touch_or_not);
    tcase_add_test(all, the_same_triangle_is_coplanar_with_itself);
    tcase_add_test(all, crossings_equal_rational_clipping);
    return suite;
}
