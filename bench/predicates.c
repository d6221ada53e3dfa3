/* Exact predicates: filter paths on random points, exact stages on degenerate and nearly degenerate
 * ones, and the triangle test on random pairs, of which about a quarter cross. */
#include "bench/bench.h"

#include "base/random.h"
#include "geom/predicates.h"
#include "geom/triangle_overlap.h"

#include <stdio.h>

/* Rows padded so that the twelve streams of a batch do not fall into one cache set. */
enum { COUNT = 256, ROW = COUNT + 24 };

/* The data stays in the first-level cache; this many passes over it make the clock's own cost
 * disappear. */
enum { PASSES = 32 };

typedef struct predicate_work {
    kiln_isa isa;
    kiln_vec3 random[COUNT][6];
    kiln_vec3 flat[COUNT][4];   /* exactly coplanar */
    kiln_vec3 nearly[COUNT][4]; /* coplanar but for the rounding of the fourth point */
    kiln_vec3 sphere[COUNT][5]; /* cospherical but for rounding */
    double rows[12][ROW], det[COUNT];
    kiln_orient3d_lanes lanes;
    double sum;
} predicate_work;

static kiln_vec3 random_point(kiln_random *r)
{
    double x = kiln_random_range(r, -1.0, 1.0), y = kiln_random_range(r, -1.0, 1.0);
    return kiln_v3(x, y, kiln_random_range(r, -1.0, 1.0));
}

static void fill(predicate_work *w)
{
    kiln_random r = kiln_random_start(7, 0);
    const double **points[4] = {w->lanes.a, w->lanes.b, w->lanes.c, w->lanes.d};
    for (int k = 0; k < 12; k++)
        points[k / 3][k % 3] = w->rows[k];
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 6; k++)
            w->random[i][k] = random_point(&r);
        for (int k = 0; k < 4; k++) {
            w->nearly[i][k] = w->flat[i][k] = w->random[i][k];
            w->flat[i][k].z = w->flat[i][k].x;
            w->rows[3 * k][i] = w->random[i][k].x;
            w->rows[3 * k + 1][i] = w->random[i][k].y;
            w->rows[3 * k + 2][i] = w->random[i][k].z;
        }
        kiln_vec3 *p = w->nearly[i];
        p[3] = kiln_v3_lerp(kiln_v3_lerp(p[0], p[1], kiln_random_unit(&r)), p[2],
                            kiln_random_unit(&r));
        for (int k = 0; k < 5; k++)
            w->sphere[i][k] = kiln_v3_normalize(w->random[i][k]);
    }
}

static void run_filter(void *user)
{
    predicate_work *w = user;
    for (int i = 0; i < PASSES * COUNT; i++) {
        const kiln_vec3 *p = w->random[i % COUNT];
        w->sum += kiln_orient3d(p[0], p[1], p[2], p[3]);
    }
}

static void run_batch(void *user)
{
    predicate_work *w = user;
    for (int pass = 0; pass < PASSES; pass++)
        w->sum += (double)kiln_orient3d_batch(w->isa, COUNT, &w->lanes, w->det);
}

static void run_zero(void *user)
{
    predicate_work *w = user;
    for (int i = 0; i < PASSES * COUNT; i++) {
        const kiln_vec3 *p = w->flat[i % COUNT];
        w->sum += kiln_orient3d(p[0], p[1], p[2], p[3]);
    }
}

static void run_nearly(void *user)
{
    predicate_work *w = user;
    for (int i = 0; i < PASSES * COUNT; i++) {
        const kiln_vec3 *p = w->nearly[i % COUNT];
        w->sum += kiln_orient3d(p[0], p[1], p[2], p[3]);
    }
}

static void run_insphere(void *user)
{
    predicate_work *w = user;
    for (int i = 0; i < PASSES * COUNT; i++) {
        const kiln_vec3 *p = w->random[i % COUNT];
        w->sum += kiln_insphere(p[0], p[1], p[2], p[3], p[4]);
    }
}

static void run_sphere(void *user)
{
    predicate_work *w = user;
    for (int i = 0; i < PASSES * COUNT; i++) {
        const kiln_vec3 *p = w->sphere[i % COUNT];
        w->sum += kiln_insphere(p[0], p[1], p[2], p[3], p[4]);
    }
}

static void run_triangles(void *user)
{
    predicate_work *w = user;
    for (int i = 0; i < PASSES * COUNT; i++)
        w->sum += (double)kiln_triangle_overlap(w->random[i % COUNT], w->random[i % COUNT] + 3);
}

/* Signs that differ from the exact stage's. */
static int orient3d_mismatches(kiln_vec3 (*points)[4])
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const kiln_vec3 *p = points[i];
        wrong += kiln_orient3d_sign(p[0], p[1], p[2], p[3]) !=
                 kiln_sign(kiln_orient3d_exact(p[0], p[1], p[2], p[3]));
        wrong += kiln_orient3d_sign(p[1], p[0], p[2], p[3]) !=
                 -kiln_orient3d_sign(p[0], p[1], p[2], p[3]);
    }
    return wrong;
}

static int filter_mismatches(predicate_work *w, int *batch)
{
    int wrong = 0;
    run_batch(w);
    for (int i = 0; i < COUNT; i++) {
        const kiln_vec3 *p = w->random[i];
        int exact = kiln_sign(kiln_orient3d_exact(p[0], p[1], p[2], p[3]));
        wrong += kiln_orient3d_sign(p[0], p[1], p[2], p[3]) != exact;
        *batch += kiln_sign(w->det[i]) != exact;
    }
    return wrong;
}

static int insphere_mismatches(const kiln_vec3 *points, int stride)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const kiln_vec3 *p = points + i * stride;
        wrong += kiln_sign(kiln_insphere(p[0], p[1], p[2], p[3], p[4])) !=
                 kiln_sign(kiln_insphere_exact(p[0], p[1], p[2], p[3], p[4]));
    }
    return wrong;
}

static int triangle_mismatches(const predicate_work *w)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const kiln_vec3 *p = w->random[i], *q = p + 3;
        wrong += kiln_triangle_overlap(p, q) !=
                 kiln_triangle_overlap(q, (const kiln_vec3[]){p[1], p[0], p[2]});
    }
    return wrong;
}

static void report(kiln_bench *bench, predicate_work *w, const char *name, void (*body)(void *),
                   double bar, int mismatches, const char *against)
{
    char accuracy[96];
    snprintf(accuracy, sizeof accuracy, "%d of %d differ from %s", mismatches, COUNT, against);
    double seconds = kiln_bench_time(bench, body, w);
    kiln_bench_keep(w->sum);
    kiln_bench_report(bench, name, seconds / (PASSES * COUNT) * 1e9, "ns", bar, 0, accuracy);
}

void kiln_bench_predicates(kiln_bench *bench)
{
    kiln_context *context = kiln_bench_context(bench);
    predicate_work *w = kiln_resize(context, NULL, 0, sizeof *w);
    if (!w) {
        kiln_bench_report_failure(bench, "predicates", "out of memory");
        return;
    }
    w->isa = context->isa;
    w->sum = 0.0;
    fill(w);
    int batch = 0, filter = filter_mismatches(w, &batch);
    report(bench, w, "orient3d filter", run_filter, 12.0, filter, "exact");
    report(bench, w, "orient3d batch", run_batch, 2.0, batch, "exact");
    report(bench, w, "orient3d exact zero", run_zero, 180.0, orient3d_mismatches(w->flat),
           "exact and swapped");
    report(bench, w, "orient3d full exact", run_nearly, 450.0, orient3d_mismatches(w->nearly),
           "exact and swapped");
    report(bench, w, "insphere filter", run_insphere, 28.0, insphere_mismatches(w->random[0], 6),
           "exact");
    report(bench, w, "insphere hard", run_sphere, 8000.0, insphere_mismatches(w->sphere[0], 5),
           "exact");
    report(bench, w, "triangle overlap", run_triangles, 80.0, triangle_mismatches(w), "swapped");
    kiln_release(context, w, sizeof *w);
}
