/* What a vertex counts before a surface: the Euler sum over its triangles, edges and points, each
 * by itself, for flat, waved and rough sheets; constant above what is flat, without jumps. */
#include "contact/repulsion.h"
#include "contact/sight.h"
#include "fixtures.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { N = 8, SIDE = N + 1, POINTS = SIDE * SIDE, FACES = 2 * N * N };
#define REACH 0.6

/* A sheet of N x N squares, points in rows 1 on; the vertex is row 0. */
typedef struct sheet {
    kiln_context *context;
    kiln_u32_array faces;
    kiln_fans fans;
    kiln_vec3 x[POINTS + 1], from[POINTS + 1];
    double share[FACES];
    kiln_random random;
} sheet;

static double share_of(const void *user, uint32_t vertex, uint32_t face)
{
    ck_assert_uint_eq(vertex, 0);
    return ((const sheet *)user)->share[face];
}

static void add_face(sheet *s, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t v[3] = {a, b, c};
    kiln_error error = {0};
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(kiln_array_push(s->context, &s->faces, v[k], &error), KILN_OK);
}

static double within(sheet *s, double size)
{
    return size * (2.0 * kiln_random_unit(&s->random) - 1.0);
}

/* `rough`: by how much points are off a plane and a wave. */
static void place(sheet *s, kiln_vec3 *x, double wave, double rough)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            x[1 + i * SIDE + j] = kiln_v3(i + within(s, rough), j + within(s, rough),
                                          wave * (sin(1.7 * i) + cos(1.1 * j)) + within(s, rough));
}

static void begin(sheet *s, uint64_t seed)
{
    *s = (sheet){.context = kiln_test_context(1)};
    kiln_error error = {0};
    s->random = kiln_random_start(seed, 0);
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++) {
            uint32_t a = i * SIDE + j, b = a + SIDE;
            bool turned = kiln_random_below(&s->random, 2);
            add_face(s, a, b, turned ? a + 1 : b + 1);
            add_face(s, turned ? b : a, b + 1, a + 1);
        }
    ck_assert_int_eq(kiln_fans_build(&s->fans, s->context, &s->faces, POINTS, &error), KILN_OK);
    for (int f = 0; f < FACES; f++)
        s->share[f] = 1.0;
}

static void end(sheet *s)
{
    kiln_fans_free(&s->fans, s->context);
    kiln_array_free(s->context, &s->faces);
    kiln_context_destroy(s->context);
}

/* Of a distance now and where the step began. */
static double value_at(double d, double before, bool over)
{
    double b = kiln_repulsion_at(d / REACH).value;
    return over ? b * (2.0 + kiln_repulsion_at(before / REACH).value) : b;
}

static kiln_sight sight_of(const sheet *s, bool over)
{
    return (kiln_sight){.surface = {&s->fans, s->faces.data, NULL},
                        .x = s->x + 1,
                        .from = over ? s->from + 1 : NULL,
                        .p = s->x[0],
                        .began = s->from[0],
                        .within = REACH,
                        .share = share_of,
                        .user = s};
}

static kiln_closest_point on_face(const sheet *s, const kiln_vec3 *x, size_t face)
{
    const uint32_t *v = &s->faces.data[3 * face];
    const kiln_vec3 corner[3] = {x[1 + v[0]], x[1 + v[1]], x[1 + v[2]]};
    return kiln_closest_on_triangle(x[0], corner);
}

/* The sum, and its gradient by the place of the vertex. */
static double counted(const sheet *s, bool over, kiln_vec3 *gradient, int *parts)
{
    kiln_sight sight = sight_of(s, over);
    double sum = 0.0;
    kiln_counts counts;
    *gradient = kiln_v3(0, 0, 0);
    *parts = 0;
    for (uint32_t f = 0; f < FACES; f++) {
        kiln_closest_point at = on_face(s, s->x, f);
        double d = sqrt(at.distance2), before = sqrt(on_face(s, s->from, f).distance2);
        if (d >= REACH || s->share[f] == 0.0)
            continue;
        kiln_sight_count(&sight, 0, f, &counts);
        sum += counts.own * value_at(d, before, over);
        double slope = counts.own * kiln_repulsion_at(d / REACH).slope / REACH;
        *gradient = kiln_v3_madd(*gradient, slope / d, at.offset);
        for (int k = 0; k < counts.parts; k++) {
            double e = counts.part[k].distance;
            sum += counts.part[k].count * value_at(e, counts.part[k].before, over);
            slope = counts.part[k].count * kiln_repulsion_at(e / REACH).slope / REACH;
            *gradient = kiln_v3_madd(*gradient, slope / e, counts.part[k].offset);
            *parts += e < REACH;
        }
    }
    return sum;
}

/* Every triangle, edge and point by itself. */
static double by_itself(const sheet *s, bool over)
{
    static double edge[POINTS][POINTS]; /* least share of the faces at it */
    static int around[POINTS][POINTS];
    double point[POINTS], sum = 0.0;
    for (uint32_t a = 0; a < POINTS; a++) {
        point[a] = INFINITY;
        for (uint32_t b = 0; b < POINTS; b++) {
            edge[a][b] = INFINITY;
            around[a][b] = 0;
        }
    }
    for (uint32_t f = 0; f < FACES; f++) {
        double share = s->share[f];
        sum += share * value_at(sqrt(on_face(s, s->x, f).distance2),
                                sqrt(on_face(s, s->from, f).distance2), over);
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t a = s->faces.data[3 * f + k], b = s->faces.data[3 * f + (k + 1) % 3];
            double *e = a < b ? &edge[a][b] : &edge[b][a];
            *e = fmin(*e, share);
            around[a < b ? a : b][a < b ? b : a]++;
        }
    }
    for (uint32_t a = 0; a < POINTS; a++)
        for (uint32_t b = a + 1; b < POINTS; b++) {
            if (isinf(edge[a][b]))
                continue;
            double g = around[a][b] == 2 ? edge[a][b] : 0.0;
            const kiln_vec3 now[2] = {s->x[1 + a], s->x[1 + b]};
            const kiln_vec3 was[2] = {s->from[1 + a], s->from[1 + b]};
            sum -= g * value_at(sqrt(kiln_closest_on_edge(s->x[0], now).distance2),
                                sqrt(kiln_closest_on_edge(s->from[0], was).distance2), over);
            point[a] = fmin(point[a], g);
            point[b] = fmin(point[b], g);
        }
    for (uint32_t a = 0; a < POINTS; a++)
        sum += point[a] * value_at(kiln_v3_norm(kiln_v3_sub(s->x[0], s->x[1 + a])),
                                   kiln_v3_norm(kiln_v3_sub(s->from[0], s->from[1 + a])), over);
    return sum;
}

/* Sums are those of all by itself: shares equal, different and zero, and with a history. */
START_TEST(test_sum)
{
    static const struct {
        double wave, rough;
    } kinds[] = {{0, 0}, {0.3, 0}, {0.3, 0.2}, {1.0, 0.2}};
    sheet s;
    size_t with_parts = 0;
    begin(&s, 11 + (uint64_t)_i);
    for (int trial = 0; trial < 600; trial++) {
        bool over = trial % 2;
        place(&s, s.x, kinds[_i].wave, kinds[_i].rough);
        place(&s, s.from, kinds[_i].wave, kinds[_i].rough);
        uint32_t near = 1 + kiln_random_below(&s.random, POINTS);
        s.x[0] = kiln_v3_add(s.x[near], kiln_v3(within(&s, 0.5), within(&s, 0.5),
                                                0.05 + within(&s, 0.04) + within(&s, 0.3)));
        s.from[0] = kiln_v3_add(s.x[0], kiln_v3(within(&s, 0.2), within(&s, 0.2), 0.0));
        for (int f = 0; f < FACES; f++)
            s.share[f] = trial % 3 == 0 ? 1.0 : kiln_random_below(&s.random, 4) / 4.0;
        kiln_vec3 gradient;
        int parts;
        double sum = counted(&s, over, &gradient, &parts), expected = by_itself(&s, over);
        ck_assert_double_eq_tol(sum, expected, 1e-10 * (1.0 + fabs(expected)));
        with_parts += parts > 0;
    }
    if (_i > 0)
        ck_assert_uint_gt(with_parts, 50);
    end(&s);
}
END_TEST

/* Above a flat sheet the energy and the force are those of the height, at edges and points too. */
START_TEST(test_slide)
{
    sheet s;
    begin(&s, 5);
    place(&s, s.x, 0.0, 0.0);
    const double height = 0.3, b = kiln_repulsion_at(height / REACH).value;
    const double slope = kiln_repulsion_at(height / REACH).slope / REACH;
    for (int i = 0; i <= 4000; i++) {
        kiln_vec3 gradient;
        int parts;
        /* Straight along a row of points, along a diagonal, and anyhow. */
        double t = 1.0 + 6.0 * i / 4000.0, y = i % 3 == 0 ? 3.0 : i % 3 == 1 ? t : 8.0 - 0.83 * t;
        s.x[0] = kiln_v3(t, y, height);
        ck_assert_double_eq_tol(counted(&s, false, &gradient, &parts), b, 1e-13 * b);
        ck_assert_int_eq(parts, 0);
        ck_assert_double_eq_tol(gradient.x, 0.0, 1e-12);
        ck_assert_double_eq_tol(gradient.y, 0.0, 1e-12);
        ck_assert_double_eq_tol(gradient.z, slope, 1e-12);
    }
    end(&s);
}
END_TEST

/* Energy and force along a way over hollows and humps: differences follow the force, and neither
 * jumps. */
START_TEST(test_no_jumps)
{
    sheet s;
    enum { STEPS = 20000 };
    begin(&s, 7);
    place(&s, s.x, 0.25, 0.1);
    kiln_vec3 gradient, last = kiln_v3(0, 0, 0), was = last;
    double before = 0.0;
    size_t hollow = 0;
    int parts;
    for (int i = 0; i <= STEPS; i++) {
        double t = i / (double)STEPS, x = 0.9 + 6.1 * t, y = 1.2 + 5.7 * t;
        s.x[0] = kiln_v3(x, y, 0.35 + 0.25 * (sin(1.7 * x) + cos(1.1 * y)));
        double sum = counted(&s, false, &gradient, &parts);
        hollow += parts > 0;
        if (i > 0) {
            kiln_vec3 mean = kiln_v3_scale(kiln_v3_add(gradient, last), 0.5);
            double work = kiln_v3_dot(mean, kiln_v3_sub(s.x[0], was));
            ck_assert_double_eq_tol(sum - before, work, 1e-6);
            ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(gradient, last)), 0.05);
        }
        before = sum;
        was = s.x[0];
        last = gradient;
    }
    ck_assert_uint_gt(hollow, STEPS / 20);
    end(&s);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("sight");
    TCase *tc = kiln_test_case(suite, "sight");
    tcase_add_loop_test(tc, test_sum, 0, 4);
    tcase_add_test(tc, test_slide);
    tcase_add_test(tc, test_no_jumps);
    suite_add_tcase(suite, tc);
    return suite;
}
