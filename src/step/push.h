/* What a hold or an obstacle gives to the momentum of bodies in a step, as a mean force.
 *
 * An integrator finds the force at the end of the step. What the momentum gains over the step is
 * h times the mean of that and of what came before, weighted as the integrator does, and what
 * changes velocities at once:
 *   implicit Euler   mean = end + hit
 *   newmark          mean = (left_n + end) / 2 + hit
 *   bdf2             mean = (mean_n + 2 end) / 3 + hit        (steps of one length)
 * so that the means of all, gravity and loads are the change of momentum divided by h. */
#ifndef KILN_STEP_PUSH_H
#define KILN_STEP_PUSH_H

#include "geom/vec3.h"

#include <stdbool.h>

/* N, or N m. */
typedef struct kiln_push {
    kiln_vec3 end;    /* at the end of the step */
    kiln_vec3 hit;    /* what changed velocities at once, divided by h */
    kiln_vec3 left;   /* newmark: what `end` is to the next step, once accelerations were mended */
    kiln_vec3 cut;    /* bdf2: what steps to come are not to see of the mean, with opposite sign,
                         where an impact cut vertices off from their past */
    kiln_vec3 before; /* first step: at its begin, or as good as known */
} kiln_push;

/* How the step weighs. */
typedef struct kiln_push_rule {
    double share; /* of `end` */
    bool first;   /* nothing is kept yet: `before` */
    bool by_left; /* newmark */
    bool staged;  /* a first step of two stages: `before` is that of the first */
} kiln_push_rule;

KILN_INLINE kiln_push kiln_push_torque(kiln_vec3 arm, const kiln_push *force)
{
    return (kiln_push){.end = kiln_v3_cross(arm, force->end),
                       .hit = kiln_v3_cross(arm, force->hit),
                       .left = kiln_v3_cross(arm, force->left),
                       .cut = kiln_v3_cross(arm, force->cut),
                       .before = kiln_v3_cross(arm, force->before)};
}

KILN_INLINE void kiln_push_add(kiln_push *sum, const kiln_push *push)
{
    sum->end = kiln_v3_add(sum->end, push->end);
    sum->hit = kiln_v3_add(sum->hit, push->hit);
    sum->left = kiln_v3_add(sum->left, push->left);
    sum->cut = kiln_v3_add(sum->cut, push->cut);
    sum->before = kiln_v3_add(sum->before, push->before);
}

/* The mean; *kept is what the rule needs of one step in the next. */
KILN_INLINE kiln_vec3 kiln_push_mean(const kiln_push_rule *rule, const kiln_push *push,
                                     kiln_vec3 *kept)
{
    kiln_vec3 before = rule->first ? push->before : *kept;
    kiln_vec3 mean = kiln_v3_madd(kiln_v3_scale(push->end, rule->share), 1.0 - rule->share, before);
    mean = kiln_v3_add(mean, push->hit);
    *kept = rule->by_left ? push->left : kiln_v3_add(mean, push->cut);
    return mean;
}

#endif
