/* Delaunay tetrahedralisation of random and cospherical points; the whole-domain remesh. */
#include "base/random.h"
#include "bench/bench.h"
#include "measure/fixture.h"
#include "remesh/delaunay.h"
#include "remesh/domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void kiln_bench_delaunay(kiln_bench *bench);

static kiln_vec3 random_point(kiln_random *random)
{
    double x = kiln_random_unit(random), y = kiln_random_unit(random);
    return kiln_v3(x, y, kiln_random_unit(random));
}

static kiln_vec3 in_cube(kiln_random *random, size_t i, size_t count)
{
    (void)i, (void)count;
    return random_point(random);
}

static kiln_vec3 on_grid(kiln_random *random, size_t i, size_t count)
{
    (void)random;
    size_t side = (size_t)(cbrt((double)count) + 0.5);
    return kiln_v3((double)(i % side), (double)(i / side % side), (double)(i / side / side));
}

static kiln_vec3 on_sphere(kiln_random *random, size_t i, size_t count)
{
    (void)i, (void)count;
    for (;;) {
        kiln_vec3 p = kiln_v3_sub(random_point(random), kiln_v3(0.5, 0.5, 0.5));
        double length = kiln_v3_norm(p);
        if (length > 0.1 && length < 0.5)
            return kiln_v3_scale(p, 1.0 / length);
    }
}

static const struct {
    const char *name;
    kiln_vec3 (*point)(kiln_random *random, size_t i, size_t count);
    size_t count;
    double bar; /* CPU seconds */
    double volume;
} clouds[] = {
    {"1,000,000 random points", in_cube, 1000000, 8.0, 0.0},
    {"100,000 random points", in_cube, 100000, 0.0, 0.0},
    {"grid of 64^3", on_grid, 262144, 0.0, 63.0 * 63.0 * 63.0},
    {"100,000 points on a sphere", on_sphere, 100000, 0.0, 0.0},
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Six times it first: whole numbers on a grid, so that its sum is exact. */
static double volume_of(const kiln_delaunay *delaunay, const kiln_vec3 *points)
{
    double sum = 0.0;
    for (size_t t = 0; t < delaunay->tets.count; t++) {
        const uint32_t *v = delaunay->tets.data[t].v;
        kiln_vec3 o = points[v[0]];
        sum += kiln_v3_triple(kiln_v3_sub(points[v[1]], o), kiln_v3_sub(points[v[2]], o),
                              kiln_v3_sub(points[v[3]], o));
    }
    return sum / 6.0;
}

/* Seconds of the quickest of three: a cloud of a million is not repeated nine times. */
static void time_cloud(kiln_bench *bench, size_t row, kiln_vec3 *points)
{
    kiln_random random = kiln_random_start(1, row);
    for (size_t i = 0; i < clouds[row].count; i++)
        points[i] = clouds[row].point(&random, i, clouds[row].count);
    kiln_delaunay delaunay = {0};
    kiln_error error;
    double best = INFINITY;
    for (int round = 0; round < 3; round++) {
        double start = cpu_seconds();
        if (kiln_delaunay_build(&delaunay, kiln_bench_context(bench), points, clouds[row].count,
                                &error) != KILN_OK) {
            kiln_bench_report_failure(bench, clouds[row].name, error.message);
            kiln_delaunay_destroy(&delaunay);
            return;
        }
        double seconds = cpu_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    char text[96];
    double volume = volume_of(&delaunay, points), want = clouds[row].volume;
    snprintf(text, sizeof text, "%zu tets, volume %.6g", delaunay.tets.count, volume);
    if (want > 0.0)
        kiln_bench_report_checked(bench, clouds[row].name, best, "s", clouds[row].bar, 0,
                                  "volume off by", fabs(volume - want) / want, 1e-12);
    else
        kiln_bench_report(bench, clouds[row].name, best, "s", clouds[row].bar, 0, text);
    kiln_delaunay_destroy(&delaunay);
}

static void time_remesh(kiln_bench *bench)
{
    const char *name = "whole-domain remesh, 50k tets";
    kiln_domain_options options = kiln_domain_default_options();
    kiln_domain_report report;
    kiln_mesh *mesh, *made;
    kiln_error error;
    if (kiln_fixture_mesh(kiln_bench_context(bench), "ball", "h=0.076", 0.0, &mesh, &error) !=
        KILN_OK) {
        kiln_bench_report_failure(bench, name, error.message);
        return;
    }
    double start = cpu_seconds();
    kiln_status status = kiln_domain_remesh(mesh, &options, &made, &report, &error);
    double seconds = cpu_seconds() - start;
    kiln_mesh_destroy(mesh);
    if (status != KILN_OK) {
        kiln_bench_report_failure(bench, name, error.message);
        return;
    }
    kiln_mesh_destroy(made);
    kiln_bench_report_checked(bench, name, seconds, "s", 20.0, 0, "volume off by",
                              fabs(report.volume_after / report.volume_before - 1.0), 0.005);
}

void kiln_bench_delaunay(kiln_bench *bench)
{
    time_remesh(bench);
    for (size_t row = 0; row < sizeof clouds / sizeof clouds[0]; row++) {
        kiln_vec3 *points = malloc(clouds[row].count * sizeof *points);
        if (points)
            time_cloud(bench, row, points);
        else
            kiln_bench_report_failure(bench, clouds[row].name, "out of memory");
        free(points);
    }
}
