/* Continuous detection against the exact times of random and degenerate motions: 9,250 in make
 * test, 1,100,000 in make soak, where time is looked at too. */
#include "base/clock.h"
#include "ccd_queries.h"
#include "contact/ccd.h"
#include "exact_meeting.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* Of the size of what meets: what stays farther apart is not to be reported. */
#define COMFORT 1e-7
/* Without sanitizers: of ordinary queries, of those of any kind, and of one, the least of three. */
#define ORDINARY_SECONDS 2e-6
#define MEAN_SECONDS     2e-5
#define WORST_SECONDS    2e-4

typedef struct tally {
    uint64_t queries, hits;
    uint64_t missed, late; /* nothing reported, or after the exact time */
    uint64_t alarms;       /* reported, but do not meet */
    uint64_t loose;        /* of these and of hits: before they come within COMFORT */
    uint64_t stuck;        /* of these: at time zero */
    double mean, worst;    /* s */
} tally;

static double detect(const ccd_query *q)
{
    return q->edges ? kiln_ccd_edge_edge(q->begin, q->end, q->gap)
                    : kiln_ccd_vertex_face(q->begin, q->end, q->gap);
}

static double size_of(const ccd_query *q)
{
    double most = 0.0;
    for (int i = 1; i < 4; i++)
        most = fmax(most, fmax(kiln_v3_norm(kiln_v3_sub(q->begin[i], q->begin[0])),
                               kiln_v3_norm(kiln_v3_sub(q->end[i], q->end[0]))));
    return most;
}

static void show(const ccd_query *q, const char *what, double found, double exact)
{
    printf("%s, %s, gap %a: found %.17g, exact %.17g\n", what, q->edges ? "edges" : "vertex, face",
           q->gap, found, exact);
    for (int i = 0; i < 8; i++) {
        kiln_vec3 p = i < 4 ? q->begin[i] : q->end[i - 4];
        printf("  {%a, %a, %a},\n", p.x, p.y, p.z);
    }
}

static void judge(poly_pool *pool, const ccd_query *q, double t, tally *sum)
{
    double exact = exact_meeting(pool, q->edges, q->begin, q->end, q->gap);
    sum->queries++;
    sum->hits += !isinf(exact);
    if (t > exact)
        show(q, isinf(t) ? "missed" : "late", t, exact);
    sum->missed += isinf(t) && !isinf(exact);
    sum->late += t > exact && !isinf(t);
    sum->alarms += !isinf(t) && isinf(exact);
    if (isinf(t))
        return;
    double near = q->gap + COMFORT * size_of(q);
    bool loose = t < exact_meeting(pool, q->edges, q->begin, q->end, near);
    sum->loose += loose;
    if (loose)
        show(q, "loose", t, exact);
    sum->stuck += loose && t == 0.0;
}

/* The least of three, when it looks slow: others use the machine. */
static double time_of(const ccd_query *q, double worst)
{
    double least = INFINITY;
    for (int i = 0; i < 3 && least > worst; i++) {
        double began = kiln_wall_seconds();
        detect(q);
        least = fmin(least, kiln_wall_seconds() - began);
    }
    return least;
}

enum { BATCH = 250 };

static void try_batch(poly_pool *pool, kiln_random *random, enum ccd_kind kind, tally *sum)
{
    ccd_query q[BATCH];
    double t[BATCH];
    for (int i = 0; i < BATCH; i++)
        q[i] = ccd_make(random, kind);
    double began = kiln_processor_seconds();
    for (int i = 0; i < BATCH; i++)
        t[i] = detect(&q[i]);
    sum->mean += kiln_processor_seconds() - began; /* divided in the end */
    for (int i = 0; i < BATCH; i++) {
        judge(pool, &q[i], t[i], sum);
        sum->worst = fmax(sum->worst, time_of(&q[i], sum->worst));
    }
}

static void print_tally(const char *name, const tally *sum)
{
    printf("SOAK %s: %llu queries, %llu meet, %llu missed, %llu late, %llu alarms (%llu loose, "
           "%llu stuck), mean %.2f us, worst %.0f us\n",
           name, (unsigned long long)sum->queries, (unsigned long long)sum->hits,
           (unsigned long long)sum->missed, (unsigned long long)sum->late,
           (unsigned long long)sum->alarms, (unsigned long long)sum->loose,
           (unsigned long long)sum->stuck, 1e6 * sum->mean, 1e6 * sum->worst);
}

static tally try_kind(enum ccd_kind kind, uint64_t rounds)
{
    kiln_random random = kiln_random_start(23, kind);
    poly_pool pool = {0};
    tally sum = {0};
    while (sum.queries < rounds)
        try_batch(&pool, &random, kind, &sum);
    poly_pool_free(&pool);
    sum.mean /= (double)sum.queries;
    print_tally(ccd_kind_name[kind], &sum);
    return sum;
}

/* A million random ones in all, and a hundred thousand degenerate ones. */
static uint64_t rounds_of(enum ccd_kind kind)
{
    if (kind < CCD_RANDOM_KINDS)
        return kiln_test_rounds(500, 1000000 / CCD_RANDOM_KINDS);
    return kiln_test_rounds(250, 100000 / (CCD_KINDS - CCD_RANDOM_KINDS));
}

START_TEST(test_kind)
{
    enum ccd_kind kind = (enum ccd_kind)_i;
    tally sum = try_kind(kind, rounds_of(kind));
    ck_assert_int_eq(sum.missed, 0);
    ck_assert_int_eq(sum.late, 0);
    ck_assert_int_eq(sum.loose, 0);
#ifndef KILN_SANITIZED
    ck_assert_double_lt(sum.mean, kind == CCD_ORDINARY ? ORDINARY_SECONDS : MEAN_SECONDS);
    ck_assert_double_lt(sum.worst, WORST_SECONDS);
#endif
}
END_TEST

/* Shifts of small numbers and powers of two change no bit of the answer. */
START_TEST(test_place)
{
    kiln_random random = kiln_random_start(29, 0);
    for (int i = 0; i < 20000; i++) {
        ccd_query q = {.edges = i % 2}, far, scaled;
        ccd_make_degenerate(&random, CCD_GRID + i % (CCD_KINDS - CCD_GRID), &q);
        far = scaled = q;
        ccd_place(&far, 1.0, 0x1p20);
        ccd_place(&scaled, i % 4 < 2 ? 0x1p20 : 0x1p-20, 0.0);
        ck_assert_double_eq(detect(&q), detect(&far));
        ck_assert_double_eq(detect(&q), detect(&scaled));
    }
}
END_TEST

/* The reference: the distance is more than the gap before, and just the gap then, by another
 * reckoning; and it does not matter in which order corners come, nor which way time runs. */
static void check_reference(poly_pool *pool, const ccd_query *q)
{
    double t = exact_meeting(pool, q->edges, q->begin, q->end, q->gap), end = fmin(t, 1.0);
    double small = 1e-12 * size_of(q);
    for (int i = 0; i < 16 && t > 0.0; i++)
        ck_assert_double_ge(ccd_distance(q, end * i / 16.0), q->gap - small);
    if (!isinf(t))
        ck_assert_double_le(ccd_distance(q, t), q->gap + small);

    ccd_query other = *q;
    int i = q->edges ? 0 : 1;
    other.begin[i] = q->begin[i + 1];
    other.begin[i + 1] = q->begin[i];
    other.end[i] = q->end[i + 1];
    other.end[i + 1] = q->end[i];
    ck_assert_double_eq(exact_meeting(pool, q->edges, other.begin, other.end, q->gap), t);
    ck_assert_int_eq(isinf(exact_meeting(pool, q->edges, q->end, q->begin, q->gap)), isinf(t));
}

START_TEST(test_reference)
{
    kiln_random random = kiln_random_start(31, 0);
    poly_pool pool = {0};
    for (int i = 0; i < 25 * CCD_KINDS; i++) {
        enum ccd_kind kind = (enum ccd_kind)(i % CCD_KINDS);
        ccd_query q = ccd_make(&random, kind);
        check_reference(&pool, &q);
    }
    poly_pool_free(&pool);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("ccd campaign");
    TCase *tc = kiln_test_case(suite, "ccd campaign");
    tcase_add_test(tc, test_reference);
    tcase_add_test(tc, test_place);
    tcase_add_loop_test(tc, test_kind, 0, CCD_KINDS);
    return suite;
}
