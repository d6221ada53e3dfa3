#include "solve/vectors.h"

#include "base/parallel.h"

#include <math.h>

/* At most this many chunks, so that their results fit on the stack. */
enum { CHUNKS = 256, LEAST_GRAIN = 4096, SIDE = 8 };

typedef struct vector_job {
    const double *a, *b, *with;
    double p, q;
    double *out;
    double partial[CHUNKS];
} vector_job;

static size_t run(kiln_context *context, vector_job *job, size_t count, kiln_chunk_body body)
{
    size_t grain = (count + CHUNKS - 1) / CHUNKS;
    grain = grain > LEAST_GRAIN ? grain : LEAST_GRAIN;
    kiln_parallel_for(context, count, grain, body, job);
    return kiln_chunk_count(count, grain);
}

/* One sum alone waits for each addition. */
static double dot_of(const double *a, const double *b, size_t begin, size_t end)
{
    double sum[SIDE] = {0.0};
    size_t i = begin;
    for (; i + SIDE <= end; i += SIDE)
        for (int k = 0; k < SIDE; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < end; i++)
        sum[0] += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static void dot_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    vector_job *job = user;
    job->partial[chunk] = dot_of(job->a, job->b, begin, end);
}

static double add_up(const vector_job *job, size_t chunks)
{
    double sum = 0.0;
    for (size_t i = 0; i < chunks; i++)
        sum += job->partial[i];
    return sum;
}

double kiln_vector_dot(kiln_context *context, const double *a, const double *b, size_t count)
{
    vector_job job = {.a = a, .b = b};
    return add_up(&job, run(context, &job, count, dot_chunk));
}

static void largest_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    vector_job *job = user;
    const double *a = job->a;
    double most[SIDE] = {0.0};
    size_t i = begin;
    for (; i + SIDE <= end; i += SIDE)
        for (int k = 0; k < SIDE; k++) {
            double size = fabs(a[i + k]);
            most[k] = size > most[k] ? size : most[k];
        }
    for (; i < end; i++)
        most[0] = fabs(a[i]) > most[0] ? fabs(a[i]) : most[0];
    for (size_t k = 1; k < SIDE; k++)
        most[0] = most[k] > most[0] ? most[k] : most[0];
    job->partial[chunk] = most[0];
}

double kiln_vector_largest(kiln_context *context, const double *v, size_t count)
{
    vector_job job = {.a = v};
    double most = 0.0;
    size_t chunks = run(context, &job, count, largest_chunk);
    for (size_t i = 0; i < chunks; i++)
        most = job.partial[i] > most ? job.partial[i] : most;
    return most;
}

/* x - x is zero unless x is no number; sums vectorise, tests do not. */
static void finite_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    vector_job *job = user;
    const double *a = job->a;
    double sum[SIDE] = {0.0};
    size_t i = begin;
    for (; i + SIDE <= end; i += SIDE)
        for (int k = 0; k < SIDE; k++)
            sum[k] += a[i + k] - a[i + k];
    for (; i < end; i++)
        sum[0] += a[i] - a[i];
    for (size_t k = 1; k < SIDE; k++)
        sum[0] += sum[k];
    job->partial[chunk] = sum[0];
}

bool kiln_vector_is_finite(kiln_context *context, const double *v, size_t count)
{
    vector_job job = {.a = v};
    size_t chunks = run(context, &job, count, finite_chunk);
    for (size_t i = 0; i < chunks; i++)
        if (job.partial[i] != 0.0)
            return false;
    return true;
}

static void combine_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const vector_job *job = user;
    for (size_t i = begin; i < end; i++)
        job->out[i] = job->p * job->a[i] + job->q * job->b[i];
}

void kiln_vector_combine(kiln_context *context, double p, const double *a, double q,
                         const double *b, double *out, size_t count)
{
    vector_job job = {.a = a, .b = b, .p = p, .q = q, .out = out};
    run(context, &job, count, combine_chunk);
}

static void combine_dot_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    vector_job *job = user;
    combine_chunk(user, chunk, begin, end, worker);
    job->partial[chunk] = dot_of(job->with, job->out, begin, end);
}

double kiln_vector_combine_dot(kiln_context *context, double p, const double *a, double q,
                               const double *b, double *out, const double *with, size_t count)
{
    vector_job job = {.a = a, .b = b, .with = with, .p = p, .q = q, .out = out};
    return add_up(&job, run(context, &job, count, combine_dot_chunk));
}
