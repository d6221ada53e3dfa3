#include "hard_points.h"
#include "geom/predicates.h"
#include "geom/tet_location.h"
#include "support.h"

#include <gmp.h>
#include <stdio.h>
#include <string.h>

/* Exact reference: coordinates as integers in a common unit 2^exponent. */
typedef struct reference {
    mpz_t coordinate[5][3], row[4][4], sum, term;
    int exponent;
} reference;

static void reference_init(reference *r)
{
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            mpz_init(r->coordinate[i][k]);
    for (int i = 0; i < 16; i++)
        mpz_init(r->row[i / 4][i % 4]);
    mpz_inits(r->sum, r->term, NULL);
}

static void reference_clear(reference *r)
{
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            mpz_clear(r->coordinate[i][k]);
    for (int i = 0; i < 16; i++)
        mpz_clear(r->row[i / 4][i % 4]);
    mpz_clears(r->sum, r->term, NULL);
}

static void reference_load(reference *r, int count, const kiln_vec3 *p)
{
    int exponent[5][3], low = 5000;
    double fraction[5][3];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            kiln_vec3 point = p[i];
            fraction[i][k] = frexp(*hard_at(&point, k), &exponent[i][k]);
            if (fraction[i][k] != 0.0 && exponent[i][k] < low)
                low = exponent[i][k];
        }
    r->exponent = low - 53;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            mpz_set_d(r->coordinate[i][k], ldexp(fraction[i][k], 53));
            if (fraction[i][k] != 0.0)
                mpz_mul_2exp(r->coordinate[i][k], r->coordinate[i][k],
                             (mp_bitcnt_t)(exponent[i][k] - low));
        }
}

/* Rows p_i - p_0 and their squared lengths. */
static void reference_rows(reference *r, int count)
{
    for (int i = 1; i < count; i++) {
        mpz_set_ui(r->row[i - 1][3], 0);
        for (int k = 0; k < 3; k++) {
            mpz_sub(r->row[i - 1][k], r->coordinate[i][k], r->coordinate[0][k]);
            mpz_addmul(r->row[i - 1][3], r->row[i - 1][k], r->row[i - 1][k]);
        }
    }
}

/* Determinant over all permutations, in r->sum. */
static void reference_determinant(reference *r, int n, const int column[])
{
    int order[4];
    mpz_set_ui(r->sum, 0);
    for (int code = 0; code < 256; code++) {
        int used = 0, inversions = 0;
        for (int i = 0; i < n; i++) {
            order[i] = code >> (2 * i) & 3;
            used |= 1 << order[i];
            for (int j = 0; j < i; j++)
                inversions += order[j] > order[i];
        }
        if (used != (1 << n) - 1 || code >> (2 * n) != 0)
            continue;
        mpz_set(r->term, r->row[0][column[order[0]]]);
        for (int i = 1; i < n; i++)
            mpz_mul(r->term, r->term, r->row[i][column[order[i]]]);
        if (inversions & 1)
            mpz_sub(r->sum, r->sum, r->term);
        else
            mpz_add(r->sum, r->sum, r->term);
    }
}

static int reference_orient3d(reference *r, const kiln_vec3 p[4])
{
    reference_load(r, 4, p);
    reference_rows(r, 4);
    reference_determinant(r, 3, (const int[]){0, 1, 2});
    return mpz_sgn(r->sum);
}

static int reference_orient2d(reference *r, const kiln_vec3 p[3])
{
    reference_load(r, 3, p);
    reference_rows(r, 3);
    reference_determinant(r, 2, (const int[]){0, 1});
    return mpz_sgn(r->sum);
}

/* Lifted from the first point, not the last, as the predicate does. */
static int reference_insphere(reference *r, const kiln_vec3 p[5])
{
    reference_load(r, 5, p);
    reference_rows(r, 5);
    reference_determinant(r, 4, (const int[]){0, 1, 2, 3});
    return -mpz_sgn(r->sum);
}

static void fail_at(const char *name, uint64_t round, const kiln_vec3 *p, int count, int expected,
                    int got)
{
    char text[1024] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " (%a, %a, %a)", p[i].x, p[i].y, p[i].z);
    }
    ck_abort_msg("%s round %llu: exact sign %d, got %d:%s", name, (unsigned long long)round,
                 expected, got, text);
}

START_TEST(orient3d_has_the_exact_sign)
{
    reference r;
    reference_init(&r);
    kiln_random random = kiln_random_start(11, 3);
    uint64_t rounds = kiln_test_rounds(100000, 10000000), zeros = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 p[4];
        hard_points(&random, (enum hard_family)(round % HARD_FAMILIES), 4, p);
        int expected = reference_orient3d(&r, p);
        int sign = kiln_orient3d_sign(p[0], p[1], p[2], p[3]);
        int exact = kiln_sign(kiln_orient3d_exact(p[0], p[1], p[2], p[3]));
        if (sign != expected || exact != expected)
            fail_at("orient3d", round, p, 4, expected, sign != expected ? sign : exact);
        zeros += expected == 0;
    }
    ck_assert_uint_gt(zeros, rounds / 50);
    reference_clear(&r);
}
END_TEST

START_TEST(orient2d_has_the_exact_sign)
{
    reference r;
    reference_init(&r);
    kiln_random random = kiln_random_start(12, 3);
    uint64_t rounds = kiln_test_rounds(100000, 10000000), zeros = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 p[4];
        enum hard_family family = (enum hard_family)(round % HARD_FAMILIES);
        hard_points(&random, family, 3, p);
        if (family >= HARD_COMBINED && family <= HARD_TINY)
            p[2] = hard_combination(&random, (const kiln_vec3[]){p[0], p[1], p[0]});
        int expected = reference_orient2d(&r, p);
        int sign = kiln_sign(kiln_orient2d(p[0].x, p[0].y, p[1].x, p[1].y, p[2].x, p[2].y));
        int exact = kiln_sign(kiln_orient2d_exact(p[0].x, p[0].y, p[1].x, p[1].y, p[2].x, p[2].y));
        if (sign != expected || exact != expected)
            fail_at("orient2d", round, p, 3, expected, sign != expected ? sign : exact);
        zeros += expected == 0;
    }
    ck_assert_uint_gt(zeros, rounds / 50);
    reference_clear(&r);
}
END_TEST

/* Five points on or next to a common sphere. */
static void sphere_points(kiln_random *random, kiln_vec3 p[5])
{
    static const double lengths[3][3] = {{0, 3, 4}, {0, 0, 5}, {0, 5, 0}};
    double scale = ldexp(1.0, (int)kiln_random_below(random, 40) - 20);
    bool on_grid = kiln_random_below(random, 2) == 0;
    for (int i = 0; i < 5; i++) {
        const double *length = lengths[kiln_random_below(random, 3)];
        uint32_t first = kiln_random_below(random, 3);
        for (uint32_t k = 0; k < 3; k++) {
            double x = length[(first + k) % 3];
            *hard_at(&p[i], (int)k) = kiln_random_below(random, 2) ? x : -x;
        }
        if (!on_grid)
            p[i] = kiln_v3_normalize(kiln_v3(kiln_random_range(random, -1, 1),
                                             kiln_random_range(random, -1, 1),
                                             kiln_random_range(random, -1, 1)));
        p[i] = kiln_v3_scale(p[i], scale);
    }
}

START_TEST(insphere_has_the_exact_sign)
{
    reference r;
    reference_init(&r);
    kiln_random random = kiln_random_start(13, 3);
    uint64_t rounds = kiln_test_rounds(40000, 10000000), zeros = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 p[5];
        uint64_t family = round % (HARD_FAMILIES + 3);
        if (family < HARD_FAMILIES)
            hard_points(&random, (enum hard_family)family, 5, p);
        else
            sphere_points(&random, p);
        int expected = reference_insphere(&r, p);
        int sign = kiln_sign(kiln_insphere(p[0], p[1], p[2], p[3], p[4]));
        int exact = kiln_sign(kiln_insphere_exact(p[0], p[1], p[2], p[3], p[4]));
        if (sign != expected || exact != expected)
            fail_at("insphere", round, p, 5, expected, sign != expected ? sign : exact);
        zeros += expected == 0;
    }
    ck_assert_uint_gt(zeros, rounds / 50);
    reference_clear(&r);
}
END_TEST

START_TEST(signs_mean_what_the_header_says)
{
    kiln_vec3 o = {0, 0, 0}, x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    ck_assert(kiln_orient3d(o, x, y, z) == 1.0);
    ck_assert(kiln_orient3d_exact(o, x, y, z) == 1.0);
    ck_assert(kiln_orient2d(0, 0, 1, 0, 0, 1) == 1.0);
    ck_assert(kiln_orient2d_exact(0, 0, 1, 0, 0, 1) == 1.0);
    ck_assert(kiln_insphere(o, x, y, z, kiln_v3(0.25, 0.25, 0.25)) > 0.0);
    ck_assert(kiln_insphere(o, x, y, z, kiln_v3(2, 2, 2)) < 0.0);
    ck_assert(kiln_insphere(o, x, y, z, kiln_v3(1, 1, 1)) == 0.0);
    ck_assert(kiln_insphere(x, o, y, z, kiln_v3(0.25, 0.25, 0.25)) < 0.0);
}
END_TEST

/* Odd permutations change the sign, even ones keep it. */
START_TEST(signs_follow_permutations)
{
    kiln_random random = kiln_random_start(14, 3);
    uint64_t rounds = kiln_test_rounds(8000, 1000000);
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_vec3 p[5];
        hard_points(&random, (enum hard_family)(round % HARD_FAMILIES), 5, p);
        int orient = kiln_orient3d_sign(p[0], p[1], p[2], p[3]);
        int sphere = kiln_sign(kiln_insphere(p[0], p[1], p[2], p[3], p[4]));
        int i = (int)kiln_random_below(&random, 4), j = (int)kiln_random_below(&random, 3);
        j += j >= i;
        kiln_vec3 swapped = p[i];
        p[i] = p[j];
        p[j] = swapped;
        ck_assert_int_eq(kiln_orient3d_sign(p[0], p[1], p[2], p[3]), -orient);
        ck_assert_int_eq(kiln_sign(kiln_insphere(p[0], p[1], p[2], p[3], p[4])), -sphere);
    }
}
END_TEST

START_TEST(values_approximate_the_determinant)
{
    reference r;
    reference_init(&r);
    kiln_random random = kiln_random_start(15, 3);
    for (int round = 0; round < 5000; round++) {
        kiln_vec3 p[5];
        hard_points(&random, round % 2 ? HARD_COMBINED_WIDE : HARD_COMBINED, 5, p);
        reference_orient3d(&r, p);
        double exact = ldexp(mpz_get_d(r.sum), 3 * r.exponent);
        double value = kiln_orient3d_exact(p[0], p[1], p[2], p[3]);
        ck_assert_double_le(fabs(value - exact), 1e-15 * fabs(exact));
        reference_insphere(&r, p);
        long power;
        double fraction = -mpz_get_d_2exp(&power, r.sum);
        exact = ldexp(fraction, (int)power + 5 * r.exponent);
        value = kiln_insphere_exact(p[0], p[1], p[2], p[3], p[4]);
        ck_assert_double_le(fabs(value - exact), 1e-15 * fabs(exact));
    }
    reference_clear(&r);
}
END_TEST

START_TEST(values_keep_their_sign_beyond_the_range)
{
    double h = 0x1p1000, s = 0x1p-1074;
    kiln_vec3 o = {0, 0, 0};
    ck_assert(kiln_orient3d(o, kiln_v3(h, 0, 0), kiln_v3(0, h, 0), kiln_v3(0, 0, h)) ==
              0x1.fffffffffffffp1023);
    ck_assert(kiln_orient3d(o, kiln_v3(s, 0, 0), kiln_v3(0, s, 0), kiln_v3(0, 0, s)) == s);
    ck_assert(kiln_orient3d(o, kiln_v3(0, s, 0), kiln_v3(s, 0, 0), kiln_v3(0, 0, s)) == -s);
    ck_assert(kiln_orient2d(0, 0, s, 0, 0, s) == s);
    /* The difference of the largest doubles overflows. */
    double m = 0x1.fffffffffffffp1023;
    ck_assert_int_eq(kiln_orient3d_sign(kiln_v3(-m, -m, -m), kiln_v3(m, -m, -m), kiln_v3(-m, m, -m),
                                        kiln_v3(-m, -m, m)),
                     1);
}
END_TEST

START_TEST(batches_equal_single_calls)
{
    enum { MOST = 67 };
    kiln_random random = kiln_random_start(16, 3);
    for (int round = 0; round < 200; round++) {
        double rows[12][MOST], det[MOST + 1];
        kiln_vec3 p[MOST][4];
        size_t count = kiln_random_below(&random, MOST + 1);
        kiln_orient3d_lanes lanes;
        const double **points[4] = {lanes.a, lanes.b, lanes.c, lanes.d};
        for (int i = 0; i < 12; i++)
            points[i / 3][i % 3] = rows[i];
        size_t undecided = 0;
        for (size_t i = 0; i < count; i++) {
            hard_points(&random, (enum hard_family)kiln_random_below(&random, HARD_FAMILIES), 4,
                        p[i]);
            double ignored;
            undecided += !kiln_orient3d_filter(p[i][0], p[i][1], p[i][2], p[i][3], &ignored);
            for (int k = 0; k < 12; k++)
                rows[k][i] = *hard_at(&p[i][k / 3], k % 3);
        }
        for (int isa = 0; isa < KILN_ISA_COUNT; isa++) {
            kiln_isa parsed;
            if (!kiln_isa_parse(kiln_isa_name((kiln_isa)isa), &parsed))
                continue;
            det[count] = 7.0;
            ck_assert_uint_eq(kiln_orient3d_batch(parsed, count, &lanes, det), undecided);
            ck_assert(det[count] == 7.0);
            for (size_t i = 0; i < count; i++)
                ck_assert(det[i] == kiln_orient3d(p[i][0], p[i][1], p[i][2], p[i][3]));
        }
    }
}
END_TEST

/* Points with chosen zero barycentric weights in grid tets, where eighths are exact. */
START_TEST(points_are_located_in_tets)
{
    kiln_random random = kiln_random_start(17, 3);
    int seen[KILN_TET_OUTSIDE + 1] = {0};
    for (int round = 0; round < 40000; round++) {
        kiln_vec3 tet[4], point = {0, 0, 0};
        do
            hard_points(&random, HARD_GRID, 4, tet);
        while (kiln_orient3d(tet[0], tet[1], tet[2], tet[3]) <= 0.0);
        double weight[4];
        unsigned beyond = 0, level = 0;
        int zeros = 0;
        weight[0] = 8.0;
        for (int i = 1; i < 4; i++) {
            weight[i] = round % 2 ? (double)kiln_random_below(&random, 4)
                                  : (double)kiln_random_below(&random, 7) - 3.0;
            weight[i] *= kiln_random_below(&random, 2) ? 1.0 : 8.0 / 3.0;
            weight[i] = floor(weight[i]);
            weight[0] -= weight[i];
        }
        for (unsigned i = 0; i < 4; i++) {
            point = kiln_v3_madd(point, weight[i] / 8.0, tet[i]);
            beyond |= (unsigned)(weight[i] < 0.0) << i;
            level |= (unsigned)(weight[i] == 0.0) << i;
            zeros += weight[i] == 0.0;
        }
        kiln_tet_location where = kiln_tet_locate(tet, point);
        ck_assert_uint_eq(where.beyond, beyond);
        ck_assert_uint_eq(where.level, level);
        static const kiln_tet_place by_zeros[] = {KILN_TET_INSIDE, KILN_TET_ON_FACE,
                                                  KILN_TET_ON_EDGE, KILN_TET_ON_VERTEX};
        ck_assert_int_eq(where.place, beyond ? KILN_TET_OUTSIDE : by_zeros[zeros]);
        seen[where.place]++;
    }
    for (int place = 0; place <= KILN_TET_OUTSIDE; place++)
        ck_assert_int_gt(seen[place], 50);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("predicates");
    TCase *signs = kiln_test_case(suite, "signs");
    tcase_add_test(signs, signs_mean_what_the_header_says);
    tcase_add_test(signs, orient2d_has_the_exact_sign);
    tcase_add_test(signs, orient3d_has_the_exact_sign);
    tcase_add_test(signs, insphere_has_the_exact_sign);
    tcase_add_test(signs, signs_follow_permutations);
    TCase *rest = kiln_test_case(suite, "values, batches, location");
    tcase_add_test(rest, values_approximate_the_determinant);
    tcase_add_test(rest, values_keep_their_sign_beyond_the_range);
    tcase_add_test(rest, batches_equal_single_calls);
    tcase_add_test(rest, points_are_located_in_tets);
    return suite;
}
