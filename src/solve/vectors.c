#include "solve/vectors.h"

#include "base/parallel.h"

#include <math.h>

/* At most this many chunks, so that their results fit on the stack. */
enum { CHUNKS = 256, LEAST_GRAIN = 1024, SIDE = 8 };

typedef struct vector_job {
    const double *v;
    double partial[CHUNKS];
} vector_job;

typedef struct steps_job {
    const kiln_vector_step *step;
    int steps;
    double partial[KILN_MOST_VECTOR_STEPS][CHUNKS];
} steps_job;

static size_t run(kiln_context *context, void *job, size_t count, kiln_chunk_body body)
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

static void take_step(const kiln_vector_step *s, size_t begin, size_t end, double *dot)
{
    if (s->out)
        for (size_t i = begin; i < end; i++)
            s->out[i] = s->p * s->a[i] + s->q * s->b[i];
    if (s->with)
        *dot = dot_of(s->with, s->out ? s->out : s->a, begin, end);
}

static void steps_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    steps_job *job = user;
    for (int k = 0; k < job->steps; k++)
        take_step(&job->step[k], begin, end, &job->partial[k][chunk]);
}

void kiln_vector_take_steps(kiln_context *context, kiln_vector_step *step, int steps, size_t count)
{
    steps_job job;
    job.step = step;
    job.steps = steps;
    size_t chunks = run(context, &job, count, steps_chunk);
    for (int k = 0; k < steps; k++) {
        step[k].dot = 0.0;
        for (size_t i = 0; i < chunks && step[k].with; i++)
            step[k].dot += job.partial[k][i];
    }
}

double kiln_vector_dot(kiln_context *context, const double *a, const double *b, size_t count)
{
    kiln_vector_step step = {.a = b, .with = a};
    kiln_vector_take_steps(context, &step, 1, count);
    return step.dot;
}

void kiln_vector_combine(kiln_context *context, double p, const double *a, double q,
                         const double *b, double *out, size_t count)
{
    kiln_vector_step step = {p, a, q, b, .out = out};
    kiln_vector_take_steps(context, &step, 1, count);
}

static void largest_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    vector_job *job = user;
    const double *a = job->v;
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
    vector_job job = {.v = v};
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
    const double *a = job->v;
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
    vector_job job = {.v = v};
    size_t chunks = run(context, &job, count, finite_chunk);
    for (size_t i = 0; i < chunks; i++)
        if (job.partial[i] != 0.0)
            return false;
    return true;
}
