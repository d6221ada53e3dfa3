#include "solve/amend.h"

#include "solve/vectors.h"

#include <math.h>
#include <string.h>

enum { VECTORS = 5 };

void kiln_amend_free(kiln_amend *amend, kiln_context *context)
{
    kiln_array_free(context, &amend->room);
}

kiln_status kiln_amend_improve(kiln_amend *amend, kiln_context *context,
                               const kiln_amend_system *system, const double *b, double *x,
                               size_t count, bool *good, int *solves, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, &amend->room, VECTORS * count, error));
    double *r = amend->room.data, *z = r + count, *p = z + count, *kp = p + count, *q = kp + count;
    size_t bytes = count * sizeof *x;
    double square = system->tolerance * system->tolerance, before = 0.0;
    bool solved = true;
    memset(r, 0, bytes);
    system->add(system->user, x, r);
    kiln_vector_combine(context, -1.0, r, 0.0, r, r, count);
    *good = false;
    for (int i = 0; i < system->most; i++) {
        ++*solves;
        KILN_TRY(system->solve(system->user, r, z, &solved, error));
        kiln_vector_step sums[] = {{.a = z, .with = r}, {.a = x, .with = b}};
        kiln_vector_take_steps(context, sums, 2, count);
        double rest = sums[0].dot;
        if (!solved || !isfinite(rest) || rest < 0.0)
            return KILN_OK;
        *good = rest <= square * sums[1].dot;
        if (*good)
            return KILN_OK;
        double part = i > 0 ? rest / before : 0.0;
        kiln_vector_step ways[] = {{1.0, z, part, i > 0 ? p : z, .out = p},
                                   {1.0, r, part, i > 0 ? kp : r, .out = kp},
                                   {1.0, kp, 0.0, kp, .out = q}};
        kiln_vector_take_steps(context, ways, 3, count);
        before = rest;
        system->add(system->user, p, q);
        double curvature = kiln_vector_dot(context, p, q, count);
        if (!(curvature > 0.0))
            return KILN_OK;
        double step = rest / curvature;
        kiln_vector_step moves[] = {{1.0, x, step, p, .out = x}, {1.0, r, -step, q, .out = r}};
        kiln_vector_take_steps(context, moves, 2, count);
    }
    return KILN_OK;
}
