/* Newmark's acceleration at the begin of a step on a mesh that has changed since the step was
 * tried. It is carried over as any field is, but forces are not: what was made lies off its rest,
 * and is stiff. With a the forces at the begin newmark gains
 *
 *     d' (M a + g) / 2,     d the way of the step, g the gradient of what lasts at its begin,
 *
 * of which all but rounding vanishes where a is theirs: two balls that hit each other, while they
 * were refined, lost a tenth of their energy by it. With the accelerations of the forces themselves
 * they lost more: then what is stiff rings from end to end of its springs. So the part of a along
 * the way that the step takes is made theirs, part by part; that is known of the try and of the
 * patches. What is rigid of the way has no say, as momentum and angular momentum are right already.
 */
#include "step/solid_impl.h"

#include <math.h>
#include <string.h>

/* Of the velocity along the way. What hardly moves is not to be driven by what it is freed of. */
#define MOST_RECALLED 0.1

/* The way, and what that is without what is rigid and held of it. */
static void find_way(kiln_attempt *t, double *way, double *rest)
{
    kiln_solid *s = t->solid;
    const double *x = t->history[KILN_HISTORY_X], *end = &s->start_at[0].x;
    kiln_constraints given = kiln_solid_given(s);
    for (size_t i = 0; i < 3 * s->rows; i++)
        way[i] = end[i] - x[i];
    kiln_spin_rigid(&s->spin, x, way, rest);
    for (size_t i = 0; i < 3 * s->rows; i++)
        rest[i] = kiln_vertex_live(s->mesh, (uint32_t)(i / 3)) ? way[i] - rest[i] : 0.0;
    kiln_constraints_project(&given, rest);
}

/* Per s^2: by how much of `rest` its acceleration is short; its mass times that is `weighed`. */
static double shortfall(const kiln_attempt *t, const kiln_spin_part *part, const double *force,
                        const double *rest, const double *weighed)
{
    const uint32_t *rows = t->solid->spin.rows.data;
    double missing = 0.0, own = 0.0, most = 2.0 * MOST_RECALLED / (t->h * t->h);
    for (uint32_t at = part->begin; at < part->end; at++)
        for (size_t i = 3 * (size_t)rows[at]; i < 3 * (size_t)rows[at] + 3; i++) {
            missing -= force[i] * rest[i];
            own += weighed[i] * rest[i];
        }
    return own > 0.0 ? fmax(-most, fmin(missing / own, most)) : 0.0;
}

kiln_status kiln_attempt_recall(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    const double *a = t->history[KILN_HISTORY_A];
    double *force = s->rate.data, *inertia = s->rate2.data, *rest = s->centre.data;
    double *recalled = s->start_a.data;
    KILN_TRY(kiln_attempt_list_terms(t, error));
    kiln_attempt_renew_lagged(t, t->history[KILN_HISTORY_X], NULL);
    find_way(t, inertia, rest);
    kiln_attempt_gradient(t, 1, s->lasting, t->history[KILN_HISTORY_X], force);
    kiln_mass_multiply(s->mass, a, inertia);
    for (size_t i = 0; i < 3 * s->rows; i++)
        force[i] += inertia[i];
    kiln_mass_multiply(s->mass, rest, inertia);
    memcpy(recalled, a, 3 * s->rows * sizeof *a);
    for (size_t p = 0; p < s->spin.parts.count; p++) {
        const kiln_spin_part *part = &s->spin.parts.data[p];
        double more = shortfall(t, part, force, rest, inertia);
        for (uint32_t at = part->begin; at < part->end; at++)
            for (size_t k = 0, i = 3 * (size_t)s->spin.rows.data[at]; k < 3; k++)
                recalled[i + k] += more * rest[i + k];
    }
    t->history[KILN_HISTORY_A] = recalled;
    return KILN_OK;
}
