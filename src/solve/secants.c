#include "solve/secants.h"

#include "solve/vectors.h"

#include <math.h>

/* Of |step| |change|; less is rounding. */
static const double LEAST_CURVATURE = 1e-10;

void kiln_secants_none(kiln_secants *secants, kiln_context *context, size_t length)
{
    secants->count = 0;
    secants->context = context;
    secants->length = length;
}

kiln_status kiln_secants_begin(kiln_secants *secants, kiln_context *context, size_t length,
                               kiln_error *error)
{
    kiln_secants_none(secants, context, length);
    return kiln_array_reserve(context, &secants->room, 2 * KILN_MOST_SECANTS * length, error);
}

void kiln_secants_free(kiln_secants *secants, kiln_context *context)
{
    kiln_array_free(context, &secants->room);
    secants->count = 0;
}

static double *step_of(const kiln_secants *s, int i)
{
    return s->room.data + (size_t)i * s->length;
}

static double *change_of(const kiln_secants *s, int i)
{
    return s->room.data + (size_t)(KILN_MOST_SECANTS + i) * s->length;
}

void kiln_secants_learn(kiln_secants *secants, double factor, const double *direction,
                        const double *before, const double *after)
{
    kiln_secants *s = secants;
    if (s->count == KILN_MOST_SECANTS)
        return;
    double *step = step_of(s, s->count), *change = change_of(s, s->count);
    kiln_vector_step steps[] = {
        {factor, direction, 0.0, direction, .out = step, .with = step},
        {1.0, after, -1.0, before, .out = change, .with = change},
        {.a = change, .with = step},
    };
    kiln_vector_take_steps(s->context, steps, 3, s->length);
    double curvature = steps[2].dot;
    if (!(curvature > LEAST_CURVATURE * sqrt(steps[0].dot * steps[1].dot)))
        return;
    s->curvature[s->count++] = curvature;
}

/* out = p v + q way; the dot product with what comes next, if anything does. */
static double add(const kiln_secants *s, double p, const double *v, double q, const double *way,
                  double *out, const double *next)
{
    kiln_vector_step step = {p, v, q, way, out, next, 0.0};
    kiln_vector_take_steps(s->context, &step, 1, s->length);
    return step.dot;
}

void kiln_secants_reduce(kiln_secants *secants, double factor, const double *from, double *rhs)
{
    kiln_secants *s = secants;
    const double *next = s->count ? step_of(s, s->count - 1) : NULL;
    double along = add(s, factor, from, 0.0, from, rhs, next);
    for (int i = s->count - 1; i >= 0; i--) {
        s->part[i] = along / s->curvature[i];
        next = i > 0 ? step_of(s, i - 1) : NULL;
        along = add(s, 1.0, rhs, -s->part[i], change_of(s, i), rhs, next);
    }
}

void kiln_secants_complete(const kiln_secants *secants, double *solution)
{
    const kiln_secants *s = secants;
    double along =
        s->count ? kiln_vector_dot(s->context, change_of(s, 0), solution, s->length) : 0.0;
    for (int i = 0; i < s->count; i++) {
        double more = s->part[i] - along / s->curvature[i];
        const double *next = i + 1 < s->count ? change_of(s, i + 1) : NULL;
        along = add(s, 1.0, solution, more, step_of(s, i), solution, next);
    }
}
