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
        double rest = kiln_vector_dot(context, r, z, count);
        if (!solved || !isfinite(rest) || rest < 0.0)
            return KILN_OK;
        *good = rest <= square * kiln_vector_dot(context, b, x, count);
        if (*good)
            return KILN_OK;
        if (i == 0) {
            memcpy(p, z, bytes);
            memcpy(kp, r, bytes);
        } else {
            kiln_vector_combine(context, 1.0, z, rest / before, p, p, count);
            kiln_vector_combine(context, 1.0, r, rest / before, kp, kp, count);
        }
        before = rest;
        memcpy(q, kp, bytes);
        system->add(system->user, p, q);
        double curvature = kiln_vector_dot(context, p, q, count);
        if (!(curvature > 0.0))
            return KILN_OK;
        double step = rest / curvature;
        kiln_vector_combine(context, 1.0, x, step, p, x, count);
        kiln_vector_combine(context, 1.0, r, -step, q, r, count);
    }
    return KILN_OK;
}
