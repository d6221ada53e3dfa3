/* How far a step may go, and what it did to the tets. */
#include "fem/elements_guard.h"

#include "base/parallel.h"
#include "geom/svd3.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

/* What a tet keeps that has less than it should: the search for a root wants a beginning above. */
#define ALL_BUT_ROUNDING (1.0 - 1e-9)

typedef struct guard_job {
    const kiln_elements *e;
    const double *x, *y; /* y: the step, or the other place */
    bool all;            /* tets, not only those with a barrier */
    double least;        /* J that is left, where there is as much */
} guard_job;

static kiln_mat3 edges(const kiln_elements *e, size_t number, const double *x)
{
    const uint32_t *v = e->vertex.data + 4 * number;
    kiln_mat3 D;
    for (int a = 1; a < 4; a++)
        for (int i = 0; i < 3; i++)
            D.m[i][a - 1] = x[3 * (size_t)v[a] + (size_t)i] - x[3 * (size_t)v[0] + (size_t)i];
    return D;
}

static double column_triple(const kiln_mat3 *a, const kiln_mat3 *b, const kiln_mat3 *c)
{
    kiln_mat3 m = {{{a->m[0][0], b->m[0][1], c->m[0][2]},
                    {a->m[1][0], b->m[1][1], c->m[1][2]},
                    {a->m[2][0], b->m[2][1], c->m[2][2]}}};
    return kiln_m3_det(m);
}

/* J = det Dw det B is what counts: sorted vertices make det Dw of some good tets negative. */
static double det_gradient(const kiln_elements *e, size_t number)
{
    const kiln_element_batch *batch = &e->batches.data[number / LANES];
    kiln_mat3 B;
    for (int k = 0; k < 9; k++)
        B.m[k / 3][k % 3] = batch->gradient[k][number % LANES];
    return kiln_m3_det(B);
}

/* det(D + t E) = c[0] + c[1] t + c[2] t^2 + c[3] t^3 */
static void volume_cubic(const kiln_mat3 *D, const kiln_mat3 *E, double c[4])
{
    c[0] = kiln_m3_det(*D);
    c[1] = column_triple(E, D, D) + column_triple(D, E, D) + column_triple(D, D, E);
    c[2] = column_triple(D, E, E) + column_triple(E, D, E) + column_triple(E, E, D);
    c[3] = kiln_m3_det(*E);
}

static double at(const double c[4], double t)
{
    return ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
}

/* Where the slope of the cubic is zero, ascending; their number. */
static int turning_points(const double c[4], double t[2])
{
    double a = 3.0 * c[3], b = c[2], k = c[1], root = b * b - a * k;
    if (!(root > 0.0))
        return 0;
    double q = -(b + copysign(sqrt(root), b));
    int n = 0;
    if (q != 0.0)
        t[n++] = k / q;
    if (a != 0.0)
        t[n++] = q / a;
    if (n == 2 && t[0] > t[1]) {
        double swap = t[0];
        t[0] = t[1], t[1] = swap;
    }
    return n;
}

/* First t in (0, limit] with c(t) <= 0, given c(0) > 0; more than limit: none. Between the turning
 * points the cubic is monotonic, so bisection finds the one root of the first piece that ends
 * below. The end that is still positive is returned: no root lies before it. */
static double first_root(const double c[4], double limit)
{
    double turn[2], low = 0.0;
    int turns = turning_points(c, turn);
    for (int piece = 0; piece <= turns; piece++) {
        double high = piece < turns ? turn[piece] : limit;
        high = high < limit ? high : limit;
        if (high <= low)
            continue;
        if (at(c, high) <= 0.0) {
            for (int i = 0; i < 60 && high - low > 1e-12 * high; i++) {
                double middle = 0.5 * (low + high);
                *(at(c, middle) > 0.0 ? &low : &high) = middle;
            }
            return low;
        }
        low = high;
    }
    return 2.0 * limit;
}

/* Largest safe step of one tet. */
static double tet_step(const guard_job *job, size_t number)
{
    const double limit = 1.0 / KILN_FLAT_MARGIN;
    kiln_mat3 D = edges(job->e, number, job->x), E = edges(job->e, number, job->y);
    double c[4], B = det_gradient(job->e, number);
    volume_cubic(&D, &E, c);
    for (int i = 0; i < 4; i++)
        c[i] *= B < 0.0 ? -1.0 : 1.0;
    if (!(c[0] > 0.0))
        return 1.0;
    if (job->least > 0.0)
        c[0] -= fmin(job->least / fabs(B), ALL_BUT_ROUNDING * c[0]);
    double fall = limit * (fabs(c[1]) + limit * (fabs(c[2]) + limit * fabs(c[3])));
    if (c[0] > 1.0001 * fall)
        return 1.0;
    double step = KILN_FLAT_MARGIN * first_root(c, limit);
    return step < 1.0 ? step : 1.0;
}

static void step_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const guard_job *job = user;
    const kiln_element_chunk *c = &job->e->chunks.data[chunk];
    double least = 1.0;
    size_t number = LANES * (size_t)c->batch, stop = number + LANES * (size_t)c->batches;
    if (job->all || job->e->materials.data[c->material].model->barrier)
        for (; number < stop; number++) {
            double step = tet_step(job, number);
            least = step < least ? step : least;
        }
    job->e->partial.data[chunk] = least;
}

static double least_step(guard_job job)
{
    const kiln_elements *e = job.e;
    double least = 1.0;
    kiln_parallel_for(e->context, e->chunks.count, 1, step_chunk, &job);
    for (size_t c = 0; c < e->chunks.count; c++)
        least = e->partial.data[c] < least ? e->partial.data[c] : least;
    return least;
}

double kiln_elements_max_step(void *self, const double *x, const double *dx)
{
    return least_step((guard_job){.e = self, .x = x, .y = dx});
}

double kiln_elements_positive_step(const kiln_elements *elements, double least, const double *x,
                                   const double *dx)
{
    return least_step((guard_job){.e = elements, .x = x, .y = dx, .all = true, .least = least});
}

static bool is_inverted(const kiln_elements *e, size_t number, const double *x)
{
    kiln_mat3 D = edges(e, number, x);
    return !(kiln_m3_det(D) * (det_gradient(e, number) < 0.0 ? -1.0 : 1.0) > 0.0);
}

/* The number of inverted tets of a chunk and the first slot of them, as doubles, to `partial`. */
static void inverted_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const guard_job *job = user;
    const kiln_element_chunk *c = &job->e->chunks.data[chunk];
    size_t number = LANES * (size_t)c->batch, stop = number + LANES * (size_t)c->batches;
    double count = 0.0, first = KILN_NONE;
    for (; number < stop; number++) {
        uint32_t slot = job->e->batches.data[number / LANES].slot[number % LANES];
        if (slot == KILN_NONE || !is_inverted(job->e, number, job->x))
            continue;
        count += 1.0;
        first = slot < first ? slot : first;
    }
    job->e->partial.data[2 * chunk] = count;
    job->e->partial.data[2 * chunk + 1] = first;
}

size_t kiln_elements_inverted(const kiln_elements *elements, const double *x, uint32_t *first)
{
    guard_job job = {.e = elements, .x = x};
    size_t count = 0;
    kiln_parallel_for(elements->context, elements->chunks.count, 1, inverted_chunk, &job);
    *first = KILN_NONE;
    for (size_t c = 0; c < elements->chunks.count; c++) {
        const double *partial = elements->partial.data + 2 * c;
        count += (size_t)partial[0];
        *first = partial[1] < *first ? (uint32_t)partial[1] : *first;
    }
    return count;
}

static void stretch_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    static double (*const table[])(const kiln_element_span *, const double *, const double *) =
        KILN_SIMD_TABLE(kiln_elements_stretch_span);
    (void)begin, (void)end, (void)worker;
    const guard_job *job = user;
    kiln_element_span span = kiln_elements_span(job->e, chunk);
    job->e->partial.data[chunk] = table[job->e->context->isa](&span, job->x, job->y);
}

static double tet_stretch(const kiln_element *e, const double *x, const double *y)
{
    kiln_svd3 a = kiln_svd3_decompose(kiln_element_deformation(e, x));
    kiln_svd3 b = kiln_svd3_decompose(kiln_element_deformation(e, y));
    double worst = 1.0;
    for (int i = 0; i < 3; i++) {
        double ratio = a.s[i] / b.s[i];
        worst = fmax(worst, ratio > 0.0 ? fmax(ratio, 1.0 / ratio) : INFINITY);
    }
    return worst;
}

/* The worst of the chunk that has the largest stretch. */
static uint32_t worst_tet(const guard_job *job, size_t chunk)
{
    const kiln_element_chunk *c = &job->e->chunks.data[chunk];
    size_t number = LANES * (size_t)c->batch, stop = number + LANES * (size_t)c->batches;
    uint32_t worst = KILN_NONE;
    for (double most = 0.0; number < stop; number++) {
        kiln_element e = kiln_elements_at(job->e, number);
        double stretch = e.slot == KILN_NONE ? 0.0 : tet_stretch(&e, job->x, job->y);
        if (stretch > most) {
            most = stretch;
            worst = e.slot;
        }
    }
    return worst;
}

double kiln_elements_stretch(const kiln_elements *elements, const double *x, const double *y,
                             uint32_t *tet)
{
    guard_job job = {.e = elements, .x = x, .y = y};
    double worst = 1.0;
    size_t in = elements->chunks.count;
    kiln_parallel_for(elements->context, elements->chunks.count, 1, stretch_chunk, &job);
    for (size_t c = 0; c < elements->chunks.count; c++)
        if (elements->partial.data[c] > worst) {
            worst = elements->partial.data[c];
            in = c;
        }
    if (tet)
        *tet = in < elements->chunks.count ? worst_tet(&job, in) : KILN_NONE;
    return worst;
}
