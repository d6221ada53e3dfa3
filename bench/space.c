/* Overlap volumes, box tree, curve order. */
#include "base/random.h"
#include "bench/bench.h"
#include "geom/bvh.h"
#include "geom/curve_order.h"
#include "geom/tet_clip.h"

#include <stdio.h>
#include <stdlib.h>

void kiln_bench_space(kiln_bench *bench);

typedef kiln_vec3 tet[4];

static kiln_vec3 random_point(kiln_random *random)
{
    double x = kiln_random_unit(random), y = kiln_random_unit(random);
    return kiln_v3(x, y, kiln_random_unit(random));
}

typedef struct overlap_work {
    tet *a, *b;
    size_t count;
    double sum;
    size_t meeting;
} overlap_work;

static void run_overlaps(void *user)
{
    overlap_work *work = user;
    work->sum = 0.0;
    work->meeting = 0;
    for (size_t i = 0; i < work->count; i++) {
        double volume = kiln_tet_overlap(work->a[i], work->b[i]);
        work->sum += volume;
        work->meeting += volume > 0.0;
    }
    kiln_bench_keep(work->sum);
}

/* The unit cube in n^3 cells of six tets, inner vertices moved by up to 0.15 of a cell. */
static tet *jittered_cube(int n, uint64_t seed, size_t *count)
{
    static const int PATH[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    tet *tets = malloc(sizeof *tets * 6 * (size_t)(n * n * n));
    *count = 0;
    for (int cell = 0; tets && cell < n * n * n; cell++)
        for (int p = 0; p < 6; p++, ++*count) {
            int at[3] = {cell % n, cell / n % n, cell / n / n};
            for (int k = 0; k < 4; k++) {
                uint64_t vertex = (uint64_t)(at[0] + (n + 1) * (at[1] + (n + 1) * at[2]));
                kiln_random random = kiln_random_start(seed, vertex);
                double x[3];
                for (int j = 0; j < 3; j++) {
                    double move = kiln_random_range(&random, -0.15, 0.15);
                    x[j] = (at[j] + (at[j] > 0 && at[j] < n ? move : 0.0)) / n;
                }
                tets[*count][k] = kiln_v3(x[0], x[1], x[2]);
                if (k < 3)
                    at[PATH[p][k]]++;
            }
        }
    return tets;
}

static kiln_box *boxes_of_tets(tet *tets, size_t count)
{
    kiln_box *boxes = malloc(count * sizeof *boxes);
    for (size_t i = 0; boxes && i < count; i++) {
        boxes[i] = kiln_box_empty();
        for (int k = 0; k < 4; k++)
            boxes[i] = kiln_box_grow(boxes[i], tets[i][k]);
    }
    return boxes;
}

/* Largest relative error of the sum of the overlaps of a random tet with a partition of the cube;
 * tets flatter than a fifth of the mean volume are left out. */
static double partition_error(void)
{
    size_t count;
    tet *tets = jittered_cube(6, 1, &count);
    kiln_random random = kiln_random_start(2, 0);
    double worst = 0.0;
    for (int round = 0; tets && round < 200; round++) {
        tet a;
        for (int k = 0; k < 4; k++)
            a[k] = random_point(&random);
        double whole = kiln_tet_moments(a, a[0], KILN_MOMENT_VOLUME).volume, sum = 0.0;
        for (size_t i = 0; i < count; i++)
            sum += kiln_tet_overlap(a, tets[i]);
        double error = fabs(sum - whole) / whole;
        worst = whole > 0.003 && error > worst ? error : worst;
    }
    free(tets);
    return worst;
}

static void bench_random_overlap(kiln_bench *bench)
{
    overlap_work work = {.count = 20000};
    kiln_random random = kiln_random_start(1, 0);
    work.a = malloc(work.count * sizeof *work.a);
    work.b = malloc(work.count * sizeof *work.b);
    for (size_t i = 0; work.a && work.b && i < work.count; i++)
        for (int k = 0; k < 4; k++) {
            work.a[i][k] = random_point(&random);
            work.b[i][k] = random_point(&random);
        }
    if (work.a && work.b) {
        double seconds = kiln_bench_time(bench, run_overlaps, &work);
        char text[128];
        snprintf(text, sizeof text, "%.0f%% of pairs meet, partition sum off by",
                 100.0 * (double)work.meeting / (double)work.count);
        kiln_bench_report_checked(bench, "tet-tet overlap, random",
                                  1e-6 * (double)work.count / seconds, "M pairs/s", 2.0, 1, text,
                                  partition_error(), 1e-13);
    } else
        kiln_bench_report_failure(bench, "tet-tet overlap, random", "out of memory");
    free(work.a);
    free(work.b);
}

/* Two meshes of the same cube: the pairs whose boxes overlap, as a transfer meets them. */
static void bench_mesh_overlap(kiln_bench *bench)
{
    kiln_context *context = kiln_bench_context(bench);
    size_t old_count, new_count;
    tet *old = jittered_cube(9, 3, &old_count), *made = jittered_cube(8, 4, &new_count);
    kiln_box *old_boxes = boxes_of_tets(old, old_count);
    kiln_box *new_boxes = boxes_of_tets(made, new_count);
    kiln_bvh a = {0}, b = {0};
    kiln_bvh_pair_array pairs = {0};
    overlap_work work = {0};
    if (kiln_bvh_build(&a, context, old_boxes, old_count, NULL) == KILN_OK &&
        kiln_bvh_build(&b, context, new_boxes, new_count, NULL) == KILN_OK &&
        kiln_bvh_pair_overlap(&a, &b, &pairs, NULL) == KILN_OK) {
        work.count = pairs.count;
        work.a = malloc(work.count * sizeof *work.a);
        work.b = malloc(work.count * sizeof *work.b);
        for (size_t i = 0; i < work.count; i++)
            for (int k = 0; k < 4; k++) {
                work.a[i][k] = old[pairs.data[i].a][k];
                work.b[i][k] = made[pairs.data[i].b][k];
            }
        double seconds = kiln_bench_time(bench, run_overlaps, &work);
        char text[128];
        snprintf(text, sizeof text, "volume of the cube off by %.1e, %.0f%% of %zu pairs meet",
                 fabs(work.sum - 1.0), 100.0 * (double)work.meeting / (double)work.count,
                 work.count);
        kiln_bench_report(bench, "tet-tet overlap, mesh-like", 1e-6 * (double)work.count / seconds,
                          "M pairs/s", 5.0, 1, text);
    }
    kiln_array_free(context, &pairs);
    kiln_bvh_destroy(&a);
    kiln_bvh_destroy(&b);
    free(old);
    free(made);
    free(old_boxes);
    free(new_boxes);
    free(work.a);
    free(work.b);
}

typedef struct tree_work {
    kiln_context *context;
    kiln_bvh bvh;
    kiln_box *boxes;
    uint32_t (*triangles)[3];
    size_t count;
    kiln_bvh_pair_array pairs;
} tree_work;

enum { AROUND = 224, ALONG = 224 };

/* A bumpy sphere of 100352 triangles with jittered vertices, in random order. */
static void make_surface(tree_work *work)
{
    kiln_random random = kiln_random_start(5, 0);
    kiln_vec3 *points = malloc(sizeof *points * AROUND * (ALONG + 1));
    work->count = 2 * AROUND * ALONG;
    work->triangles = malloc(work->count * sizeof *work->triangles);
    work->boxes = malloc(work->count * sizeof *work->boxes);
    if (!points || !work->triangles || !work->boxes)
        abort();
    for (int i = 0; i <= ALONG; i++)
        for (int j = 0; j < AROUND; j++) {
            double u = KILN_PI * (i + 0.5) / (ALONG + 1) + kiln_random_range(&random, -3e-3, 3e-3);
            double v = 2 * KILN_PI * j / AROUND + kiln_random_range(&random, -6e-3, 6e-3);
            double r = 1 + 0.05 * sin(9 * u) * cos(7 * v);
            points[i * AROUND + j] = kiln_v3(r * sin(u) * cos(v), r * sin(u) * sin(v), r * cos(u));
        }
    for (uint32_t t = 0; t < work->count; t++) {
        uint32_t i = t / 2 / AROUND * AROUND, j = t / 2 % AROUND, k = (j + 1) % AROUND;
        uint32_t *v = work->triangles[t];
        v[0] = i + j;
        v[1] = t % 2 ? i + AROUND + k : i + k;
        v[2] = t % 2 ? i + AROUND + j : i + AROUND + k;
    }
    for (uint32_t t = 0; t < work->count; t++) {
        uint32_t s = t + kiln_random_below(&random, (uint32_t)work->count - t);
        for (int k = 0; k < 3; k++) {
            uint32_t swap = work->triangles[t][k];
            work->triangles[t][k] = work->triangles[s][k];
            work->triangles[s][k] = swap;
        }
        work->boxes[t] = kiln_box_empty();
        for (int k = 0; k < 3; k++)
            work->boxes[t] = kiln_box_grow(work->boxes[t], points[work->triangles[t][k]]);
    }
    free(points);
}

static void run_first_build(void *user)
{
    tree_work *work = user;
    kiln_bvh_destroy(&work->bvh);
    if (kiln_bvh_build(&work->bvh, work->context, work->boxes, work->count, NULL) != KILN_OK)
        abort();
}

static void run_rebuild(void *user)
{
    tree_work *work = user;
    if (kiln_bvh_build(&work->bvh, work->context, work->boxes, work->count, NULL) != KILN_OK)
        abort();
}

static void run_refit(void *user)
{
    tree_work *work = user;
    if (kiln_bvh_refit(&work->bvh, work->boxes, NULL) != KILN_OK)
        abort();
}

static void run_self_overlap(void *user)
{
    tree_work *work = user;
    work->pairs.count = 0;
    if (kiln_bvh_self_overlap(&work->bvh, &work->pairs, NULL) != KILN_OK)
        abort();
}

static bool share(const uint32_t a[3], const uint32_t b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] == b[0] || a[i] == b[1] || a[i] == b[2])
            return true;
    return false;
}

/* Pairs of the first few hundred triangles with all others that the search should have and has. */
static void sample_pairs(const tree_work *work, size_t *expected, size_t *got)
{
    enum { SAMPLE = 500 };
    *expected = *got = 0;
    for (uint32_t i = 0; i < SAMPLE; i++)
        for (uint32_t j = i + 1; j < work->count; j++)
            *expected += kiln_box_overlap(work->boxes[i], work->boxes[j]) &&
                         !share(work->triangles[i], work->triangles[j]);
    for (size_t p = 0; p < work->pairs.count; p++)
        *got += work->pairs.data[p].a < SAMPLE;
}

static void bench_tree(kiln_bench *bench)
{
    tree_work work = {.context = kiln_bench_context(bench)};
    make_surface(&work);
    double first = kiln_bench_time(bench, run_first_build, &work);
    double again = kiln_bench_time(bench, run_rebuild, &work);
    double refit = kiln_bench_time(bench, run_refit, &work);
    kiln_bench_report(bench, "box tree of 100k triangles, first build", 1e3 * first, "ms", 6.0, 0,
                      "");
    kiln_bench_report(bench, "box tree, rebuilt in its memory", 1e3 * again, "ms", 6.0, 0, "");
    kiln_bench_report(bench, "box tree, refit", 1e3 * refit, "ms", 0.0, 0, "");
    if (kiln_bvh_set_vertices(&work.bvh, &work.triangles[0][0], 3, NULL) != KILN_OK)
        abort();
    double search = kiln_bench_time(bench, run_self_overlap, &work);
    size_t expected, got;
    sample_pairs(&work, &expected, &got);
    char text[128];
    snprintf(text, sizeof text, "%zu pairs; sample: %zu by brute force, %zu found",
             work.pairs.count, expected, got);
    kiln_bench_report(bench, "box tree, self-overlap without neighbours", 1e3 * search, "ms", 12.0,
                      0, text);
    kiln_array_free(work.context, &work.pairs);
    kiln_bvh_destroy(&work.bvh);
    free(work.boxes);
    free(work.triangles);
}

typedef struct order_work {
    kiln_context *context;
    kiln_vec3 *points;
    uint32_t *order;
    size_t count;
} order_work;

static void run_order(void *user)
{
    order_work *work = user;
    if (kiln_curve_order(work->context, work->points, work->count, 21, work->order, NULL) !=
        KILN_OK)
        abort();
}

static void bench_order(kiln_bench *bench)
{
    order_work work = {.context = kiln_bench_context(bench), .count = 1000000};
    kiln_random random = kiln_random_start(6, 0);
    work.points = malloc(work.count * sizeof *work.points);
    work.order = malloc(work.count * sizeof *work.order);
    if (!work.points || !work.order)
        abort();
    for (size_t i = 0; i < work.count; i++)
        work.points[i] = random_point(&random);
    double seconds = kiln_bench_time(bench, run_order, &work);
    double length = 0.0;
    for (size_t i = 1; i < work.count; i++)
        length +=
            kiln_v3_norm(kiln_v3_sub(work.points[work.order[i]], work.points[work.order[i - 1]]));
    char text[128];
    snprintf(text, sizeof text, "mean step %.2f mean spacings",
             length / (double)work.count * cbrt((double)work.count));
    kiln_bench_report(bench, "Hilbert order of a million points",
                      1e-6 * (double)work.count / seconds, "M points/s", 0.0, 1, text);
    free(work.points);
    free(work.order);
}

void kiln_bench_space(kiln_bench *bench)
{
    bench_random_overlap(bench);
    bench_mesh_overlap(bench);
    bench_tree(bench);
    bench_order(bench);
}
