/* Coulomb friction that Newton can digest: energy mu N tau f(|v|), v the velocity along the plane
 * of contact. f' grows from 0 to 1 up to the slip speed e as 2 y/e - (y/e)^2 (the smooth Coulomb
 * law of Li et al. 2020). */
#ifndef KILN_STEP_SLIP_H
#define KILN_STEP_SLIP_H

#include "geom/vec3.h"

typedef struct kiln_slip {
    double value;  /* f(|v|) */
    double secant; /* f'(|v|) / |v| */
} kiln_slip;

KILN_INLINE kiln_slip kiln_slip_at(double speed, double e)
{
    double y = speed / e;
    if (y < 1.0)
        return (kiln_slip){e * (y * y - y * y * y / 3.0 + 1.0 / 3.0), (2.0 - y) / e};
    return (kiln_slip){speed, 1.0 / speed};
}

/* Of Newton's last matrix; radius 0: there was none. */
typedef struct kiln_slip_memory {
    kiln_vec3 pull, slid;
    double radius, growth;
} kiln_slip_memory;

/* The force is mu N w with w = v / r, r = |v| / f'. Its exact derivative (T - r' w d') / r,
 * d = v / |v|, is that of a kink and lets Newton jump to and fro between sticking and sliding. With
 * a w that follows r w = v by Newton's own linearisation, kept within the unit disc, it does not
 * (Chan, Golub and Mulet 1999, the same for total variation); near the solution both agree. Returns
 * r' w; the derivative is secant (T - sym(r' w d')), T the projection to the plane. */
KILN_INLINE kiln_vec3 kiln_slip_turn(kiln_slip_memory *m, kiln_vec3 v, double secant, double e)
{
    double y = kiln_v3_norm(v) / e;
    kiln_vec3 pull = kiln_v3_scale(v, secant);
    if (m->radius > 0.0) {
        kiln_vec3 change = kiln_v3_sub(v, m->slid);
        double grown = m->growth * kiln_v3_dot(kiln_v3_normalize(m->slid), change);
        pull = kiln_v3_scale(kiln_v3_madd(v, -grown, m->pull), 1.0 / m->radius);
        double size = kiln_v3_norm(pull);
        if (size > 1.0)
            pull = kiln_v3_scale(pull, 1.0 / size);
    }
    m->pull = pull;
    m->slid = v;
    m->radius = 1.0 / secant;
    m->growth = y < 1.0 ? 1.0 / ((2.0 - y) * (2.0 - y)) : 1.0; /* dr / d|v| */
    return kiln_v3_scale(pull, m->growth);
}

#endif
