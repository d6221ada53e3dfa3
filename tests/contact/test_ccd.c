/* Continuous detection against cases with exact answers (validation C1) and against random motions
 * that are made to meet at a known time. */
#include "contact/ccd.h"
#include "exact_meeting.h"
#include "geom/distance.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>

typedef double ccd(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap);

typedef struct query {
    const char *name;
    ccd *find;
    kiln_vec3 begin[4], end[4];
    double time; /* exact; INFINITY: they miss */
} query;

#define FACE                                                                                       \
    {0, 0, 0}, {1, 0, 0},                                                                          \
    {                                                                                              \
        0, 1, 0                                                                                    \
    }
#define VERTEX_FACE kiln_ccd_vertex_face
#define EDGES       kiln_ccd_edge_edge

static const query queries[] = {
    {"inside", VERTEX_FACE, {{.25, .25, 1}, FACE}, {{.25, .25, -1}, FACE}, .5},
    {"corner", VERTEX_FACE, {{0, 0, 1}, FACE}, {{0, 0, -2}, FACE}, 1.0 / 3},
    {"edge", VERTEX_FACE, {{.5, .5, 1}, FACE}, {{.5, .5, -3}, FACE}, .25},
    {"miss", VERTEX_FACE, {{.5 + 1e-9, .5, 1}, FACE}, {{.5 + 1e-9, .5, -3}, FACE}, INFINITY},
    {"stop above", VERTEX_FACE, {{.25, .25, 1}, FACE}, {{.25, .25, 1e-12}, FACE}, INFINITY},
    {"in the plane", VERTEX_FACE, {{-1, .25, 0}, FACE}, {{1, .25, 0}, FACE}, .5},
    {"all move",
     VERTEX_FACE,
     {{.2, .2, .5}, FACE},
     {{.2, .2, -.25}, {0, 0, .1}, {1, .2, -.3}, {-.2, 1, .2}},
     .6423968846425789},
    {"edges cross",
     EDGES,
     {{-1, 0, 0}, {1, 0, 0}, {0, -1, 1}, {0, 1, 1}},
     {{-1, 0, 0}, {1, 0, 0}, {0, -1, -1}, {0, 1, -1}},
     .5},
    {"end on edge",
     EDGES,
     {{-1, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}},
     {{-1, 0, 0}, {1, 0, 0}, {0, 0, -2}, {0, 1, -2}},
     1.0 / 3},
    {"parallel",
     EDGES,
     {{-1, 0, 0}, {1, 0, 0}, {-.5, 0, 1}, {2, 0, 1}},
     {{-1, 0, 0}, {1, 0, 0}, {-.5, 0, -1}, {2, 0, -1}},
     .5},
    {"edges turn",
     EDGES,
     {{-1, 0, 0}, {1, 0, 0}, {.2, -1, 1}, {0, 1, .5}},
     {{-1, 0, 0}, {1, 0, .5}, {.2, -1, -.5}, {.4, 1, -1}},
     .4176222990241626},
};

/* Shifts are added to coordinates that stay exact; so are powers of two. */
static double ask(const query *q, double scale, double shift)
{
    kiln_vec3 begin[4], end[4], by = kiln_v3(shift, -shift, shift);
    for (int i = 0; i < 4; i++) {
        begin[i] = kiln_v3_scale(kiln_v3_add(q->begin[i], by), scale);
        end[i] = kiln_v3_scale(kiln_v3_add(q->end[i], by), scale);
    }
    return q->find(begin, end, 0.0);
}

START_TEST(test_exact_cases)
{
    const query *q = &queries[_i];
    for (int power = -20; power <= 20; power += 20) {
        double t = ask(q, ldexp(1.0, power), 0.0);
        if (isinf(q->time)) {
            ck_assert_msg(isinf(t), "%s: %.17g", q->name, t);
        } else {
            ck_assert_msg(t <= q->time && t >= q->time - 1e-6, "%s: %.17g, exact %.17g", q->name, t,
                          q->time);
        }
    }
}
END_TEST

/* What other tests ask gives these times, too. */
START_TEST(test_reference)
{
    const query *q = &queries[_i];
    poly_pool pool = {0};
    double t = exact_meeting(&pool, q->find == EDGES, q->begin, q->end, 0.0);
    poly_pool_free(&pool);
    if (isinf(q->time)) {
        ck_assert_msg(isinf(t), "%s: %.17g", q->name, t);
    } else {
        ck_assert_msg(fabs(t - q->time) <= 0x1p-53, "%s: %.17g, exact %.17g", q->name, t, q->time);
    }
}
END_TEST

/* Far from the origin nothing is lost. */
START_TEST(test_exact_cases_far_away)
{
    const query *q = &queries[_i];
    if (isinf(q->time) || fmod(q->begin[0].x, 0.25) != 0.0 || fmod(q->end[3].x, 0.25) != 0.0)
        return;
    double t = ask(q, 1.0, 0x1p20);
    ck_assert_msg(t <= q->time && t >= q->time - 1e-6, "%s: %.17g", q->name, t);
}
END_TEST

/* Where products leave the range of doubles nothing is proven, and nothing is missed. */
START_TEST(test_huge_and_tiny)
{
    const query *q = &queries[_i];
    for (int power = -1060; power <= 1000; power += 20) {
        double t = ask(q, ldexp(1.0, power), 0.0);
        ck_assert_msg(t <= q->time, "%s: %.17g at 2^%d", q->name, t, power);
        if (abs(power) <= 100 && isinf(q->time))
            ck_assert_msg(isinf(t), "%s at 2^%d", q->name, power);
        else if (abs(power) <= 100)
            ck_assert_msg(t >= q->time - 1e-6, "%s: %.17g at 2^%d", q->name, t, power);
    }
}
END_TEST

/* The distance at which the search stops is the gap that was asked for. */
START_TEST(test_gap)
{
    kiln_vec3 begin[4] = {{.25, .25, 1}, FACE}, end[4] = {{.25, .25, -1}, FACE};
    double t = kiln_ccd_vertex_face(begin, end, 0.25);
    ck_assert_double_le(t, 0.375);
    ck_assert_double_ge(t, 0.375 - 1e-6);
    end[0].z = 0.26;
    ck_assert(isinf(kiln_ccd_vertex_face(begin, end, 0.25)));
    ck_assert_double_eq(kiln_ccd_vertex_face(begin, end, 1.5), 0.0); /* nearer from the start */
}
END_TEST

/* k / 2^bits, in [-1, 1]. */
static double dyadic(kiln_random *random, int bits)
{
    double k = floor(ldexp(2.0 * kiln_random_unit(random) - 1.0, bits) + 0.5);
    return ldexp(k, -bits);
}

static kiln_vec3 dyadic3(kiln_random *random, int bits)
{
    double x = dyadic(random, bits), y = dyadic(random, bits), z = dyadic(random, bits);
    return kiln_v3(x, y, z);
}

/* All corners are placed for time t0 such that the sides meet exactly, then sent off with dyadic
 * velocities: every number is exact, so they do meet at t0. `flat` makes ways that graze. */
static void meet(kiln_random *random, bool edges, double flat, double t0, kiln_vec3 begin[4],
                 kiln_vec3 end[4])
{
    kiln_vec3 at[4], way;
    for (int i = 0; i < 4; i++)
        at[i] = dyadic3(random, 12);
    double s = fabs(dyadic(random, 6)), r = fabs(dyadic(random, 6)) * (1.0 - s);
    if (edges) { /* b's first end is where a's point and b's other end put it: weights s and 1/2 */
        kiln_vec3 on_a = kiln_v3_lerp(at[0], at[1], s);
        at[2] = kiln_v3_sub(kiln_v3_scale(on_a, 2.0), at[3]);
    } else {
        at[0] = kiln_v3_add(kiln_v3_scale(at[1], 1.0 - s - r),
                            kiln_v3_add(kiln_v3_scale(at[2], s), kiln_v3_scale(at[3], r)));
    }
    for (int i = 0; i < 4; i++) {
        way = dyadic3(random, 12);
        way.z *= flat;
        begin[i] = kiln_v3_madd(at[i], -t0, way);
        end[i] = kiln_v3_madd(at[i], 1.0 - t0, way);
    }
}

static double distance_at(bool edges, const kiln_vec3 begin[4], const kiln_vec3 end[4], double t)
{
    kiln_vec3 p[4];
    for (int i = 0; i < 4; i++)
        p[i] = kiln_v3_lerp(begin[i], end[i], t);
    return sqrt(edges ? kiln_closest_edges(p, p + 2).distance2
                      : kiln_closest_on_triangle(p[0], p + 1).distance2);
}

START_TEST(test_nothing_is_missed)
{
    kiln_random random = kiln_random_start(7, (uint64_t)_i);
    bool edges = _i & 1;
    double flat = ldexp(1.0, -4 * (_i / 2)), worst = 0.0;
    uint64_t rounds = kiln_test_rounds(20000, 5000000);
    for (uint64_t k = 0; k < rounds; k++) {
        kiln_vec3 begin[4], end[4];
        double t0 = ldexp((double)(1 + k % 63), -6);
        meet(&random, edges, flat, t0, begin, end);
        double t =
            edges ? kiln_ccd_edge_edge(begin, end, 0.0) : kiln_ccd_vertex_face(begin, end, 0.0);
        ck_assert_msg(t <= t0, "missed: round %llu, %.17g of %.17g", (unsigned long long)k, t, t0);
        worst = fmax(worst, distance_at(edges, begin, end, t));
    }
    /* Ways are at most sqrt(12) long. */
    ck_assert_msg(worst <= 1e-6 * sqrt(12.0), "stopped at a distance of %g", worst);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("ccd");
    TCase *tc = kiln_test_case(suite, "ccd");
    int count = (int)(sizeof queries / sizeof queries[0]);
    tcase_add_loop_test(tc, test_exact_cases, 0, count);
    tcase_add_loop_test(tc, test_reference, 0, count);
    tcase_add_loop_test(tc, test_exact_cases_far_away, 0, count);
    tcase_add_loop_test(tc, test_huge_and_tiny, 0, count);
    tcase_add_test(tc, test_gap);
    tcase_add_loop_test(tc, test_nothing_is_missed, 0, 8);
    suite_add_tcase(suite, tc);
    return suite;
}
