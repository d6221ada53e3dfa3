/* Signed 3x3 SVD, scalar and batched, and functions of symmetric matrices. */
#include "bench/bench.h"

#include "base/random.h"
#include "geom/svd3.h"
#include "geom/sym3.h"

#include <stdio.h>

enum { COUNT = 4096 };

typedef struct svd_work {
    kiln_isa isa;
    kiln_mat3 matrices[COUNT];
    kiln_svd3 results[COUNT];
    double a[9 * COUNT], u[9 * COUNT], s[3 * COUNT], v[9 * COUNT];
    kiln_sym3 positive[COUNT], functions[COUNT]; /* A'A + 0.01 I */
} svd_work;

/* Deformation gradients of every sort: mild, strong, inverted, and one in 16 singular. */
static void fill(svd_work *w)
{
    kiln_random r = kiln_random_start(1, 0);
    for (int i = 0; i < COUNT; i++) {
        double amount = i % 2 ? 0.3 : 2.0;
        for (int k = 0; k < 9; k++) {
            double x = (k % 4 == 0 ? 1.0 : 0.0) + amount * kiln_random_range(&r, -1.0, 1.0);
            w->matrices[i].m[k / 3][k % 3] = i % 16 == 0 && k >= 6 ? 0.0 : x;
        }
        for (int k = 0; k < 9; k++)
            w->a[k * COUNT + i] = w->matrices[i].m[k / 3][k % 3];
        kiln_mat3 square = kiln_m3_mul(kiln_m3_transpose(w->matrices[i]), w->matrices[i]);
        w->positive[i] = kiln_sym3_madd(kiln_sym3_from_mat3(square), 0.01, kiln_sym3_identity());
    }
}

static double orthogonality(const kiln_mat3 *v)
{
    kiln_mat3 e = kiln_m3_mul(kiln_m3_transpose(*v), *v);
    for (int i = 0; i < 3; i++)
        e.m[i][i] -= 1.0;
    return sqrt(kiln_m3_norm2(e));
}

static double error_of(const kiln_mat3 *a, const kiln_svd3 *d)
{
    kiln_mat3 s = kiln_m3_diagonal(d->s[0], d->s[1], d->s[2]);
    kiln_mat3 back = kiln_m3_mul(kiln_m3_mul(d->u, s), kiln_m3_transpose(d->v));
    double e = sqrt(kiln_m3_norm2(kiln_m3_add(back, kiln_m3_scale(*a, -1.0))) / kiln_m3_norm2(*a));
    double u = orthogonality(&d->u), v = orthogonality(&d->v);
    return e > u ? (e > v ? e : v) : (u > v ? u : v);
}

static void run_scalar(void *user)
{
    svd_work *w = user;
    for (int i = 0; i < COUNT; i++)
        w->results[i] = kiln_svd3_decompose(w->matrices[i]);
}

static void run_batch(void *user)
{
    svd_work *w = user;
    kiln_svd3_decompose_batch(w->isa, COUNT, COUNT, w->a, w->u, w->s, w->v);
}

static void run_eigen(void *user)
{
    svd_work *w = user;
    for (int i = 0; i < COUNT; i++)
        w->results[i].s[0] = kiln_sym3_eigen(w->positive[i]).values[0];
}

static void run_sqrt(void *user)
{
    svd_work *w = user;
    for (int i = 0; i < COUNT; i++)
        w->functions[i] = kiln_sym3_sqrt(w->positive[i]);
}

static void run_exp_log(void *user)
{
    svd_work *w = user;
    for (int i = 0; i < COUNT; i++)
        w->functions[i] = kiln_sym3_exp(kiln_sym3_log(w->positive[i]));
}

static double relative_distance(kiln_mat3 a, kiln_mat3 b)
{
    return sqrt(kiln_m3_norm2(kiln_m3_add(a, kiln_m3_scale(b, -1.0))) / kiln_m3_norm2(b));
}

static void bench_symmetric(kiln_bench *bench, svd_work *w)
{
    double seconds = kiln_bench_time(bench, run_eigen, w), root = 0.0, round_trip = 0.0;
    kiln_bench_report(bench, "sym3 eigen", seconds / COUNT * 1e9, "ns", 0.0, 0, "");
    seconds = kiln_bench_time(bench, run_sqrt, w);
    for (int i = 0; i < COUNT; i++) {
        kiln_mat3 f = kiln_sym3_to_mat3(w->functions[i]);
        double e = relative_distance(kiln_m3_mul(f, f), kiln_sym3_to_mat3(w->positive[i]));
        root = e <= root ? root : e; /* NaN stays */
    }
    kiln_bench_report_checked(bench, "sym3 sqrt", seconds / COUNT * 1e9, "ns", 0.0, 0,
                              "sqrt^2 = A to", root, 4e-15);
    seconds = kiln_bench_time(bench, run_exp_log, w);
    for (int i = 0; i < COUNT; i++) {
        double e = relative_distance(kiln_sym3_to_mat3(w->functions[i]),
                                     kiln_sym3_to_mat3(w->positive[i]));
        round_trip = e <= round_trip ? round_trip : e;
    }
    kiln_bench_report_checked(bench, "sym3 exp + log", seconds / COUNT * 1e9, "ns", 0.0, 0,
                              "exp(log A) = A to", round_trip, 1e-14);
}

static void unpack(svd_work *w)
{
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 9; k++) {
            w->results[i].u.m[k / 3][k % 3] = w->u[k * COUNT + i];
            w->results[i].v.m[k / 3][k % 3] = w->v[k * COUNT + i];
        }
        for (int k = 0; k < 3; k++)
            w->results[i].s[k] = w->s[k * COUNT + i];
    }
}

static void report(kiln_bench *bench, const svd_work *w, const char *name, double seconds,
                   double bar)
{
    double worst = 0.0;
    for (int i = 0; i < COUNT; i++) {
        double e = error_of(&w->matrices[i], &w->results[i]);
        worst = e <= worst ? worst : e;
    }
    kiln_bench_report_checked(bench, name, seconds / COUNT * 1e9, "ns", bar, 0,
                              "reconstruction, orthogonality", worst, 4e-15);
}

void kiln_bench_linalg(kiln_bench *bench)
{
    static const char *const names[] = {"svd3 batched, scalar", "svd3 batched, avx2",
                                        "svd3 batched, avx512"};
    kiln_context *context = kiln_bench_context(bench);
    svd_work *w = kiln_resize(context, NULL, 0, sizeof *w);
    if (!w) {
        kiln_bench_report_failure(bench, "matrices", "out of memory");
        return;
    }
    fill(w);
    report(bench, w, "svd3 scalar", kiln_bench_time(bench, run_scalar, w), 400.0);
    for (int isa = 0; isa <= (int)context->isa; isa++) {
        w->isa = (kiln_isa)isa;
        double seconds = kiln_bench_time(bench, run_batch, w);
        unpack(w);
        report(bench, w, names[isa], seconds, isa == KILN_ISA_AVX512 ? 60.0 : 0.0);
    }
    bench_symmetric(bench, w);
    kiln_release(context, w, sizeof *w);
}
