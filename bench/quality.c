/* Tet quality: scalar, thresholded, batched. */
#include "bench/bench.h"

#include "base/random.h"
#include "geom/tet_quality.h"

#include <stdio.h>

/* A Kuhn grid of 17^3 vertices, jittered: 24,576 tets of all shapes, larger than the first cache.
 */
enum { SIDE = 16, POINTS = (SIDE + 1) * (SIDE + 1) * (SIDE + 1), TETS = SIDE * SIDE * SIDE * 6 };

typedef struct tet_record {
    uint32_t v[4], n[4];
} tet_record;

typedef struct quality_work {
    kiln_isa isa;
    double threshold;
    kiln_vec3 positions[POINTS];
    tet_record tets[TETS];
    double quality[TETS], reference[TETS];
} quality_work;

static uint32_t corner(int x, int y, int z)
{
    return (uint32_t)((z * (SIDE + 1) + y) * (SIDE + 1) + x);
}

/* The six tets of a cell follow the permutations of the axes; odd ones are turned round. */
static void fill_cell(tet_record *out, int x, int y, int z)
{
    static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                   {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int t = 0; t < 6; t++) {
        int at[3] = {x, y, z};
        uint32_t v[4] = {corner(x, y, z)};
        for (int k = 0; k < 3; k++) {
            at[axes[t][k]]++;
            v[k + 1] = corner(at[0], at[1], at[2]);
        }
        int odd = t >= 3;
        out[t] = (tet_record){{v[0], v[odd ? 2 : 1], v[odd ? 1 : 2], v[3]}, {0}};
    }
}

static void fill(quality_work *w)
{
    kiln_random r = kiln_random_start(2, 0);
    int point = 0, cell = 0;
    for (int z = 0; z <= SIDE; z++)
        for (int y = 0; y <= SIDE; y++)
            for (int x = 0; x <= SIDE; x++) {
                w->positions[point++] = kiln_v3(x + kiln_random_range(&r, -0.3, 0.3),
                                                y + kiln_random_range(&r, -0.3, 0.3),
                                                z + kiln_random_range(&r, -0.3, 0.3));
                if (x < SIDE && y < SIDE && z < SIDE)
                    fill_cell(&w->tets[6 * cell++], x, y, z);
            }
}

static void run_scalar(void *user)
{
    quality_work *w = user;
    const kiln_vec3 *p = w->positions;
    for (int i = 0; i < TETS; i++) {
        const uint32_t *v = w->tets[i].v;
        w->quality[i] = kiln_tet_quality(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]);
    }
}

static void run_above(void *user)
{
    quality_work *w = user;
    const kiln_vec3 *p = w->positions;
    for (int i = 0; i < TETS; i++) {
        const uint32_t *v = w->tets[i].v;
        w->quality[i] =
            kiln_tet_quality_above(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]], w->threshold);
    }
}

static void run_batch(void *user)
{
    quality_work *w = user;
    kiln_tet_quality_batch(w->isa, TETS, NULL, w->tets[0].v, sizeof w->tets[0], w->positions,
                           w->quality);
}

static void run_volume_length(void *user)
{
    quality_work *w = user;
    const kiln_vec3 *p = w->positions;
    for (int i = 0; i < TETS; i++) {
        const uint32_t *v = w->tets[i].v;
        w->quality[i] = kiln_tet_volume_length(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]);
    }
}

/* Corner tet 0.736380, Kuhn tet 0.611973 (validation.md M1). */
static void describe_known(char *text, size_t size)
{
    kiln_vec3 o = {0, 0, 0}, x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1}, xy = {1, 1, 0};
    kiln_vec3 xyz = {1, 1, 1};
    snprintf(text, size, "corner %.6f (bar .736380), Kuhn %.6f (bar .611973)",
             kiln_tet_quality(&o, &x, &y, &z), kiln_tet_quality(&o, &x, &xy, &xyz));
}

static double largest_difference(const quality_work *w)
{
    double worst = 0.0;
    for (int i = 0; i < TETS; i++) {
        double d = fabs(w->quality[i] - w->reference[i]);
        worst = d > worst ? d : worst;
    }
    return worst;
}

static void bench_batches(kiln_bench *bench, quality_work *w)
{
    static const char *const names[] = {"q batched, scalar", "q batched, avx2",
                                        "q batched, avx512"};
    for (int isa = 0; isa <= (int)kiln_bench_context(bench)->isa; isa++) {
        w->isa = (kiln_isa)isa;
        double seconds = kiln_bench_time(bench, run_batch, w);
        kiln_bench_report_checked(bench, names[isa], seconds / TETS * 1e9, "ns",
                                  isa == KILN_ISA_AVX512 ? 5.5 : 0.0, 0, "from scalar",
                                  largest_difference(w), 4e-15);
    }
}

void kiln_bench_quality(kiln_bench *bench)
{
    kiln_context *context = kiln_bench_context(bench);
    quality_work *w = kiln_resize(context, NULL, 0, sizeof *w);
    if (!w) {
        kiln_bench_report_failure(bench, "quality", "out of memory");
        return;
    }
    fill(w);
    char text[80];
    describe_known(text, sizeof text);
    double seconds = kiln_bench_time(bench, run_scalar, w);
    kiln_bench_report(bench, "q scalar", seconds / TETS * 1e9, "ns", 25.0, 0, text);
    memcpy(w->reference, w->quality, sizeof w->reference);
    bench_batches(bench, w);
    w->threshold = 0.9; /* above what the grid has: every refusal is the cheap one */
    seconds = kiln_bench_time(bench, run_above, w);
    kiln_bench_report(bench, "q above 0.9, refused", seconds / TETS * 1e9, "ns", 0.0, 0, "");
    w->threshold = 0.15;
    seconds = kiln_bench_time(bench, run_above, w);
    kiln_bench_report(bench, "q above 0.15, mostly accepted", seconds / TETS * 1e9, "ns", 0.0, 0,
                      "");
    seconds = kiln_bench_time(bench, run_volume_length, w);
    kiln_bench_report(bench, "V / l_rms^3 scalar", seconds / TETS * 1e9, "ns", 0.0, 0, "");
    kiln_release(context, w, sizeof *w);
}
