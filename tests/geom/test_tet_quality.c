#include "geom/tet_quality.h"

#include "matrices.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kiln_vec3 regular[4] = {{1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}};
static const kiln_vec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const kiln_vec3 kuhn[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
static const double pi = 3.14159265358979323846;

static double measure(kiln_measure m, const kiln_vec3 p[4])
{
    return kiln_tet_measure(m, &p[0], &p[1], &p[2], &p[3]);
}

static double quality(const kiln_vec3 p[4])
{
    return kiln_tet_quality(&p[0], &p[1], &p[2], &p[3]);
}

/* q by its definition in long double, as an independent reference. */
static double reference(const kiln_vec3 p[4])
{
    long double e[6][3], inverse = 0.0L, squares = 0.0L;
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int i = 0; i < 6; i++) {
        const kiln_vec3 *a = &p[ends[i][0]], *b = &p[ends[i][1]];
        e[i][0] = (long double)b->x - a->x;
        e[i][1] = (long double)b->y - a->y;
        e[i][2] = (long double)b->z - a->z;
        long double l2 = e[i][0] * e[i][0] + e[i][1] * e[i][1] + e[i][2] * e[i][2];
        inverse += 1.0L / sqrtl(l2);
        squares += l2;
    }
    long double volume = (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                          e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
                         6.0L;
    long double harmonic = 6.0L / inverse, mean_square = squares / 6.0L;
    return (double)(6.0L * sqrtl(2.0L) * volume * harmonic / (mean_square * mean_square));
}

/* Mild, flat, needle and far from the origin, of any size. */
static void random_tet(kiln_random *r, kiln_vec3 p[4])
{
    double squash = kiln_random_below(r, 2) ? 1.0 : kiln_test_random_scale(r, -8, 0);
    double scale = kiln_test_random_scale(r, -20, 20);
    for (int i = 0; i < 4; i++)
        p[i] = kiln_v3(scale * kiln_random_range(r, -1, 1), scale * kiln_random_range(r, -1, 1),
                       scale * squash * kiln_random_range(r, -1, 1));
}

START_TEST(known_values)
{
    ck_assert_double_eq_tol(quality(regular), 1.0, 4e-16);
    ck_assert_double_eq_tol(quality(corner), 0.736380, 5e-7);
    ck_assert_double_eq_tol(quality(kuhn), 0.611973, 5e-7);
    ck_assert_double_eq_tol(measure(KILN_MEASURE_VOLUME_LENGTH, regular), 1.0, 4e-16);
    ck_assert_double_eq_tol(measure(KILN_MEASURE_MIN_SINE, regular), sqrt(8.0) / 3.0, 4e-16);
    /* corner: V = 1/6, l_rms^2 = 3/2; dihedral angles 90 and 54.7 degrees */
    ck_assert_double_eq_tol(measure(KILN_MEASURE_VOLUME_LENGTH, corner), sqrt(2.0) / pow(1.5, 1.5),
                            4e-16);
    ck_assert_double_eq_tol(measure(KILN_MEASURE_MIN_SINE, corner), sqrt(2.0 / 3.0), 4e-16);
    ck_assert_double_eq_tol(measure(KILN_MEASURE_MIN_SINE, kuhn), sqrt(0.5), 4e-16);
    ck_assert_double_eq(measure(KILN_MEASURE_QUALITY, kuhn), quality(kuhn));
}
END_TEST

START_TEST(dihedral_angles)
{
    double angles[6];
    kiln_tet_dihedrals(&regular[0], &regular[1], &regular[2], &regular[3], angles);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(angles[i], acos(1.0 / 3.0), 4e-16);
    kiln_tet_dihedrals(&corner[0], &corner[1], &corner[2], &corner[3], angles);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(angles[i], i < 3 ? pi / 2 : acos(sqrt(1.0 / 3.0)), 4e-16);
    /* Kuhn path 0, x, xy, xyz: 45 at ab and cd, 90 at ac, bd and bc, 60 at the diagonal ad */
    const double want[6] = {pi / 4, pi / 2, pi / 3, pi / 2, pi / 2, pi / 4};
    kiln_tet_dihedrals(&kuhn[0], &kuhn[1], &kuhn[2], &kuhn[3], angles);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol(angles[i], want[i], 4e-16);
    /* a flat cap: 0 at the rim, 180 degrees at the edges to the apex */
    kiln_vec3 apex = {0.25, 0.25, 1e-9};
    kiln_tet_dihedrals(&corner[0], &corner[1], &corner[2], &apex, angles);
    ck_assert_double_eq_tol(angles[0], 0.0, 1e-8);
    ck_assert_double_eq_tol(angles[2], pi, 1e-7);
    /* orientation does not matter, and the sine of the smallest is the measure */
    kiln_random r = kiln_random_start(30, 0);
    for (int n = 0; n < 10000; n++) {
        kiln_vec3 p[4];
        double turned[6], least = 1.0;
        random_tet(&r, p);
        kiln_tet_dihedrals(&p[0], &p[1], &p[2], &p[3], angles);
        kiln_tet_dihedrals(&p[1], &p[0], &p[2], &p[3], turned);
        static const int to[6] = {0, 3, 4, 1, 2, 5};
        for (int i = 0; i < 6; i++) {
            ck_assert_double_eq_tol(angles[i], turned[to[i]], 1e-6);
            least = fmin(least, sin(angles[i]));
        }
        ck_assert_double_eq_tol(fabs(measure(KILN_MEASURE_MIN_SINE, p)), least, 1e-6);
    }
}
END_TEST

/* Error of the rounded determinant over q's own scale: eps for tets of any shape. */
START_TEST(quality_is_accurate)
{
    kiln_random r = kiln_random_start(31, 0);
    double worst = 0.0;
    for (uint64_t n = kiln_test_rounds(100000, 10000000); n > 0; n--) {
        kiln_vec3 p[4];
        random_tet(&r, p);
        double off = fabs(quality(p) - reference(p));
        worst = off > worst || isnan(off) ? off : worst;
    }
    printf("q: %.2e from the definition in long double\n", worst);
    ck_assert_double_le(worst, 4e-15);
}
END_TEST

START_TEST(sign_follows_orientation)
{
    kiln_random r = kiln_random_start(32, 0);
    for (int n = 0; n < 10000; n++) {
        kiln_vec3 p[4];
        random_tet(&r, p);
        kiln_vec3 turned[4] = {p[1], p[0], p[2], p[3]};
        for (kiln_measure m = KILN_MEASURE_QUALITY; m <= KILN_MEASURE_VOLUME_LENGTH; m++) {
            double there = measure(m, p), back = measure(m, turned);
            ck_assert_double_eq_tol(there, -back, 4e-15);
            if (fabs(there) > 1e-12)
                ck_assert((there > 0.0) == (kiln_tet_volume(p[0], p[1], p[2], p[3]) > 0.0));
        }
    }
    kiln_vec3 mirror[4] = {regular[1], regular[0], regular[2], regular[3]};
    ck_assert_double_eq_tol(quality(mirror), -1.0, 4e-16);
}
END_TEST

/* All 81 ways to put four vertices on three points in line, and flat squares. */
START_TEST(degenerate_tets_have_no_quality)
{
    static const kiln_vec3 line[3] = {{1, 2, 3}, {2, 4, 6}, {4, 8, 12}};
    const kiln_vec3 square[4] = {{0, 0, 5}, {1, 0, 5}, {1, 1, 5}, {0, 1, 5}};
    for (int n = 0; n <= 81; n++) {
        kiln_vec3 p[4] = {line[n % 3], line[n / 3 % 3], line[n / 9 % 3], line[n / 27 % 3]};
        if (n == 81)
            memcpy(p, square, sizeof p);
        for (kiln_measure m = KILN_MEASURE_QUALITY; m <= KILN_MEASURE_VOLUME_LENGTH; m++)
            ck_assert_double_eq(measure(m, p), 0.0);
        const kiln_sym3 metric = {4, 9, 25, 0, 0, 0};
        ck_assert_double_eq(kiln_tet_quality_metric(&p[0], &p[1], &p[2], &p[3], &metric), 0.0);
        ck_assert(!kiln_tet_quality_above(&p[0], &p[1], &p[2], &p[3], 0.0));
        ck_assert(kiln_tet_quality_above(&p[0], &p[1], &p[2], &p[3], -0.1));
        double angles[6];
        kiln_tet_dihedrals(&p[0], &p[1], &p[2], &p[3], angles);
        for (int i = 0; i < 6; i++)
            ck_assert(angles[i] == 0.0 || (n == 81 && fabs(angles[i] - pi) < 1e-15));
        const uint32_t v[4] = {0, 1, 2, 3};
        for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
            double q = 1.0;
            kiln_tet_quality_batch((kiln_isa)isa, 1, NULL, v, sizeof v, p, &q);
            ck_assert_double_eq(q, 0.0);
        }
    }
}
END_TEST

START_TEST(measures_do_not_depend_on_scale_or_order)
{
    static const int even[3][4] = {{1, 2, 0, 3}, {0, 2, 3, 1}, {1, 0, 3, 2}};
    kiln_random r = kiln_random_start(33, 0);
    for (int n = 0; n < 10000; n++) {
        kiln_vec3 p[4], moved[4];
        random_tet(&r, p);
        double s = 0x1p80;
        const int *order = even[n % 3];
        for (int i = 0; i < 4; i++)
            moved[i] = kiln_v3_scale(p[order[i]], n % 2 ? s : 1.0 / s);
        for (kiln_measure m = KILN_MEASURE_QUALITY; m <= KILN_MEASURE_VOLUME_LENGTH; m++)
            ck_assert_double_eq_tol(measure(m, p), measure(m, moved), 4e-15);
    }
}
END_TEST

START_TEST(above_equals_comparison)
{
    kiln_random r = kiln_random_start(34, 0);
    uint64_t wrong = 0;
    for (uint64_t n = kiln_test_rounds(200000, 5000000); n > 0; n--) {
        kiln_vec3 p[4];
        random_tet(&r, p);
        if (n % 2 == 0) /* nearly regular: where the bound is sharp */
            for (int i = 0; i < 4; i++)
                p[i] = kiln_v3_add(regular[i], kiln_v3_scale(p[i], 1e-9 / kiln_v3_norm(p[i])));
        double q = quality(p), next = nextafter(q, 2.0), last = nextafter(q, -2.0);
        double thresholds[6] = {q, next, last, kiln_random_range(&r, -1, 1), 0.0, 1.0};
        for (int i = 0; i < 6; i++)
            wrong += kiln_tet_quality_above(&p[0], &p[1], &p[2], &p[3], thresholds[i]) !=
                     (q > thresholds[i]);
    }
    ck_assert_uint_eq(wrong, 0);
    kiln_vec3 huge[4], tiny[4];
    for (int i = 0; i < 4; i++) {
        huge[i] = kiln_v3_scale(regular[i], 1e80);
        tiny[i] = kiln_v3_scale(regular[i], 1e-80);
    }
    ck_assert(kiln_tet_quality_above(&huge[0], &huge[1], &huge[2], &huge[3], 0.99));
    ck_assert(kiln_tet_quality_above(&tiny[0], &tiny[1], &tiny[2], &tiny[3], 0.99));
}
END_TEST

/* In the metric M = J'J a tet has the quality of its image under J. */
START_TEST(metric_equals_mapped_tet)
{
    kiln_random r = kiln_random_start(35, 0);
    for (int n = 0; n < 20000; n++) {
        kiln_vec3 p[4], image[4];
        random_tet(&r, p);
        kiln_mat3 j = kiln_test_compose(&r, 1.0, kiln_random_range(&r, 0.05, 1.0), 3.0);
        kiln_sym3 m = kiln_sym3_from_mat3(kiln_m3_mul(kiln_m3_transpose(j), j));
        for (int i = 0; i < 4; i++)
            image[i] = kiln_m3_apply(j, p[i]);
        ck_assert_double_eq_tol(kiln_tet_quality_metric(&p[0], &p[1], &p[2], &p[3], &m),
                                quality(image), 1e-12);
        kiln_sym3 one = kiln_sym3_scale(kiln_sym3_identity(), 16.0);
        ck_assert_double_eq_tol(kiln_tet_quality_metric(&p[0], &p[1], &p[2], &p[3], &one),
                                quality(p), 4e-15);
    }
}
END_TEST

typedef struct record {
    uint32_t v[4], n[4];
} record;

enum { TETS = 83 };

START_TEST(batches_equal_the_scalar_function)
{
    kiln_random r = kiln_random_start(36, 0);
    double worst = 0.0;
    for (uint64_t n = kiln_test_rounds(1000, 120482); n > 0; n--) {
        kiln_vec3 *p = malloc(4 * TETS * sizeof *p); /* sharp end: reading on is an error */
        record tets[TETS];
        for (int i = 0; i < TETS; i++)
            random_tet(&r, &p[4 * i]);
        for (uint32_t i = 0; i < TETS; i++)
            for (uint32_t k = 0; k < 4; k++)
                tets[i].v[k] = 4 * i + 3 - k, tets[i].n[k] = UINT32_MAX;
        for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
            double q[TETS];
            kiln_tet_quality_batch((kiln_isa)isa, TETS, NULL, tets[0].v, sizeof tets[0], p, q);
            for (int i = 0; i < TETS; i++) {
                const uint32_t *v = tets[i].v;
                double off = fabs(q[i] - kiln_tet_quality(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]));
                worst = off > worst || isnan(off) ? off : worst;
            }
        }
        free(p);
    }
    printf("batched q: %.2e from the scalar one\n", worst);
    ck_assert_double_le(worst, 4e-15);
}
END_TEST

/* Packed indices, a list of ids, every count from 0: same bits, nothing written beyond. */
START_TEST(batches_take_lists_and_any_count)
{
    kiln_random r = kiln_random_start(37, 0);
    kiln_vec3 p[4 * TETS];
    uint32_t v[TETS][4], ids[TETS];
    for (uint32_t i = 0; i < TETS; i++) {
        random_tet(&r, &p[4 * i]);
        ids[i] = (i * 31) % TETS;
        for (uint32_t k = 0; k < 4; k++)
            v[i][k] = 4 * i + k;
    }
    for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
        double all[TETS], some[TETS + 1];
        kiln_tet_quality_batch((kiln_isa)isa, TETS, NULL, v[0], sizeof v[0], p, all);
        for (size_t count = 0; count <= TETS; count++) {
            some[count] = 77.0;
            kiln_tet_quality_batch((kiln_isa)isa, count, ids, v[0], sizeof v[0], p, some);
            for (size_t i = 0; i < count; i++)
                ck_assert(some[i] == all[ids[i]]);
            ck_assert(some[count] == 77.0);
        }
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("tet_quality");
    TCase *test_case = kiln_test_case(suite, "tet_quality");
    tcase_add_test(test_case, known_values);
    tcase_add_test(test_case, dihedral_angles);
    tcase_add_test(test_case, quality_is_accurate);
    tcase_add_test(test_case, sign_follows_orientation);
    tcase_add_test(test_case, degenerate_tets_have_no_quality);
    tcase_add_test(test_case, measures_do_not_depend_on_scale_or_order);
    tcase_add_test(test_case, above_equals_comparison);
    tcase_add_test(test_case, metric_equals_mapped_tet);
    tcase_add_test(test_case, batches_equal_the_scalar_function);
    tcase_add_test(test_case, batches_take_lists_and_any_count);
    return suite;
}
