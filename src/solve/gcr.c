#include "solve/gcr.h"

#include "solve/vectors.h"

#include <math.h>
#include <string.h>

/* What counts as an improvement: the residual is this part of b, and x no more than so many times
 * what it was. Where K + A is singular and K is not, x would go off along what A took away. */
static const double GOOD = 0.1, GROWTH = 10.0;

void kiln_gcr_free(kiln_gcr *gcr, kiln_context *context)
{
    kiln_array_free(context, &gcr->room);
}

typedef struct search {
    kiln_context *context;
    size_t count;
    double *r, *z, *q; /* residual; [ROUNDS] directions, and their products */
    double square[KILN_GCR_ROUNDS];
} search;

static double *row(const search *s, double *of, int i)
{
    return of + (size_t)i * s->count;
}

static void subtract(const search *s, double factor, const double *v, double *from)
{
    kiln_vector_combine(s->context, 1.0, from, -factor, v, from, s->count);
}

/* Direction i along which the residual becomes least; true when it can. */
static bool take(search *s, int i, double *x)
{
    double *z = row(s, s->z, i), *q = row(s, s->q, i);
    for (int k = 0; k < i; k++) {
        const double *before = row(s, s->q, k);
        double part = kiln_vector_dot(s->context, q, before, s->count) / s->square[k];
        subtract(s, part, before, q);
        subtract(s, part, row(s, s->z, k), z);
    }
    s->square[i] = kiln_vector_dot(s->context, q, q, s->count);
    if (!(s->square[i] > 0.0) || !isfinite(s->square[i]))
        return false;
    double step = kiln_vector_dot(s->context, s->r, q, s->count) / s->square[i];
    subtract(s, -step, z, x);
    subtract(s, step, q, s->r);
    return true;
}

kiln_status kiln_gcr_improve(kiln_gcr *gcr, kiln_context *context, const kiln_gcr_system *system,
                             double tolerance, const double *b, double *x, size_t count,
                             kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, &gcr->room, (2 * KILN_GCR_ROUNDS + 1) * count, error));
    search s = {.context = context, .count = count, .r = gcr->room.data};
    s.z = s.r + count;
    s.q = s.z + KILN_GCR_ROUNDS * count;
    double whole = sqrt(kiln_vector_dot(context, b, b, count)), goal = tolerance * whole;
    size_t bytes = count * sizeof *x;
    memcpy(s.z, x, bytes);
    memcpy(s.r, b, bytes);
    memset(x, 0, bytes);
    bool solved = true;
    for (int i = 0; i < KILN_GCR_ROUNDS && solved; i++) {
        double *z = row(&s, s.z, i), *q = row(&s, s.q, i);
        if (i > 0)
            KILN_TRY(system->solve(system->user, s.r, z, &solved, error));
        memcpy(q, s.r, bytes); /* K z */
        system->add(system->user, z, q);
        if (!solved || !take(&s, i, x) || !(sqrt(kiln_vector_dot(context, s.r, s.r, count)) > goal))
            break;
    }
    double left = sqrt(kiln_vector_dot(context, s.r, s.r, count));
    double size = kiln_vector_largest(context, x, count);
    if (!(kiln_vector_dot(context, b, x, count) > 0.0) || !(left <= GOOD * whole) ||
        size > GROWTH * kiln_vector_largest(context, s.z, count))
        memcpy(x, s.z, bytes);
    return KILN_OK;
}
