#include "solve/secants.h"

#include "solve/vectors.h"

#include <math.h>

/* Of |step| |change|; less is rounding. */
static const double LEAST_CURVATURE = 1e-10;

kiln_status kiln_secants_begin(kiln_secants *secants, kiln_context *context, size_t length,
                               kiln_error *error)
{
    secants->count = 0;
    secants->context = context;
    secants->length = length;
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

static double dot(const kiln_secants *s, const double *a, const double *b)
{
    return kiln_vector_dot(s->context, a, b, s->length);
}

void kiln_secants_learn(kiln_secants *secants, double factor, const double *direction,
                        const double *before, const double *after)
{
    kiln_secants *s = secants;
    if (s->count == KILN_MOST_SECANTS)
        return;
    double *step = step_of(s, s->count), *change = change_of(s, s->count);
    kiln_vector_combine(s->context, factor, direction, 0.0, direction, step, s->length);
    kiln_vector_combine(s->context, 1.0, after, -1.0, before, change, s->length);
    double curvature = dot(s, step, change);
    if (!(curvature > LEAST_CURVATURE * sqrt(dot(s, step, step) * dot(s, change, change))))
        return;
    s->curvature[s->count++] = curvature;
}

/* v += factor way; the dot product with what comes next, if anything does. */
static double add(const kiln_secants *s, double factor, const double *way, double *v,
                  const double *next)
{
    if (next)
        return kiln_vector_combine_dot(s->context, 1.0, v, factor, way, v, next, s->length);
    kiln_vector_combine(s->context, 1.0, v, factor, way, v, s->length);
    return 0.0;
}

void kiln_secants_reduce(kiln_secants *secants, double *rhs)
{
    kiln_secants *s = secants;
    double along = s->count ? dot(s, step_of(s, s->count - 1), rhs) : 0.0;
    for (int i = s->count - 1; i >= 0; i--) {
        s->part[i] = along / s->curvature[i];
        along = add(s, -s->part[i], change_of(s, i), rhs, i > 0 ? step_of(s, i - 1) : NULL);
    }
}

void kiln_secants_complete(const kiln_secants *secants, double *solution)
{
    const kiln_secants *s = secants;
    double along = s->count ? dot(s, change_of(s, 0), solution) : 0.0;
    for (int i = 0; i < s->count; i++) {
        double more = s->part[i] - along / s->curvature[i];
        along =
            add(s, more, step_of(s, i), solution, i + 1 < s->count ? change_of(s, i + 1) : NULL);
    }
}
