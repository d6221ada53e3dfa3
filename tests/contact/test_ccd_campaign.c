/* Continuous detection against the exact times of random and degenerate motions: 22,000 in make
 * test, 1,100,000 in make soak, where time is looked at too. */
#include "base/clock.h"
#include "ccd_queries.h"
#include "contact/ccd.h"
#include "exact_meeting.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

/* Of the size of what meets: what stays farther apart is not to be reported. */
#define COMFORT 1e-6

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

enum { BATCH = 500 };

static void try_batch(poly_pool *pool, kiln_random *random, enum ccd_kind kind, tally *sum)
{
    ccd_query q[BATCH];
    double t[BATCH];
    for (int i = 0; i < BATCH; i++)
        q[i] = ccd_make(random, kind);
    double began = kiln_wall_seconds();
    for (int i = 0; i < BATCH; i++)
        t[i] = detect(&q[i]);
    sum->mean += kiln_wall_seconds() - began; /* divided in the end */
    for (int i = 0; i < BATCH; i++) {
        judge(pool, &q[i], t[i], sum);
        sum->worst = fmax(sum->worst, time_of(&q[i], sum->worst));
    }
}

static void print_tally(const char *name, const tally *sum)
{
    printf("%-10s %8llu queries %7llu meet %llu missed %llu late %7llu alarms %6llu loose "
           "%4llu stuck, mean %.2f us, worst %.0f us\n",
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

START_TEST(test_campaign)
{
    int kind = _i ? CCD_RANDOM_KINDS : 0, end = _i ? CCD_KINDS : CCD_RANDOM_KINDS;
    tally all = {0};
    for (; kind < end; kind++) {
        tally sum = try_kind((enum ccd_kind)kind,
                             _i ? kiln_test_rounds(1000, 10000) : kiln_test_rounds(1000, 91000));
        all.queries += sum.queries;
        all.missed += sum.missed + sum.late;
    }
    ck_assert_int_eq(all.missed, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("ccd campaign");
    TCase *tc = kiln_test_case(suite, "ccd campaign");
    tcase_add_loop_test(tc, test_campaign, 0, 2);
    return suite;
}
