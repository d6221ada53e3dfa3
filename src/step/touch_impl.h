/* The inside of kiln_touch, shared by touch.c (what exists), touch_find.c (who meets an obstacle),
 * touch_planes.c (holding and letting go), touch_friction.c, touch_follow.c (what changes at once),
 * touch_impact.c and touch_return.c (the end of a step). */
#ifndef KILN_STEP_TOUCH_IMPL_H
#define KILN_STEP_TOUCH_IMPL_H

#include "step/touch.h"

/* A normal that is this close to the span of what is held already is not held again. */
#define KILN_TOUCH_INDEPENDENT 0.05
/* Of the length of the model: inside by less is no contact, and planes that are off by less are
 * good enough for this step. */
#define KILN_TOUCH_SLACK       1e-9
#define KILN_TOUCH_PLANE_SLACK 1e-6

KILN_INLINE kiln_vec3 kiln_touch_at(const double *x, uint32_t v)
{
    return kiln_v3(x[3 * (size_t)v], x[3 * (size_t)v + 1], x[3 * (size_t)v + 2]);
}

KILN_INLINE void kiln_touch_put(double *x, uint32_t v, kiln_vec3 p)
{
    x[3 * (size_t)v] = p.x;
    x[3 * (size_t)v + 1] = p.y;
    x[3 * (size_t)v + 2] = p.z;
}

KILN_INLINE double kiln_touch_plane_slack(const kiln_touch *touch)
{
    return touch->slack * (KILN_TOUCH_PLANE_SLACK / KILN_TOUCH_SLACK);
}

/* Of a step's mean force, that at its end (kiln_push_rule); the rest is what the step before
 * left. */
KILN_INLINE double kiln_touch_share_of_end(const kiln_touch *touch)
{
    return 1.0 / (touch->per_scale * touch->tau * touch->h);
}

/* The part of a direction in which the vertex may move, as far as what was given is concerned. */
KILN_INLINE kiln_vec3 kiln_touch_free_part(const kiln_touch *touch, uint32_t v, kiln_vec3 direction)
{
    kiln_held held = kiln_constraints_held(touch->given, v);
    return kiln_held_free_part(&held, direction);
}

/* As kiln_obstacle_distance, of the obstacle as the vertex sees it: smaller by what it is still
 * allowed to be inside. */
double kiln_touch_distance(const kiln_touch *touch, uint32_t o, uint32_t v, kiln_vec3 x,
                           kiln_vec3 *normal, kiln_vec3 *point);
/* The pull, N, up to which a vertex of liquid stays on an obstacle that it wets; 0: on no other. A
 * sound line of length s pulls by tension s sin(angle), and to take liquid off takes its work of
 * adhesion, tension (1 + cos(angle)) a unit of area; twice that, as the length of a vertex is no
 * better known. */
double kiln_touch_cling(const kiln_touch *touch, uint32_t o, uint32_t v);
/* Is a vertex that was on the obstacle and is now at distance d still on it, after that way? */
bool kiln_touch_stays(const kiln_touch *touch, double d, kiln_vec3 way);
/* Adds what meets an obstacle and is not a contact yet; wakes those that had been let go. At the
 * begin of a step by the velocities of `start`, after a pass (NULL) by x. */
kiln_status kiln_touch_seek(kiln_touch *touch, const kiln_touch_start *start, const double *x,
                            bool *found, kiln_error *error);

KILN_INLINE bool kiln_touch_is_new(const kiln_touch *touch, const kiln_touch_contact *contact)
{
    return contact->active && touch->with[contact->vertex] != contact->obstacle + 1;
}

KILN_INLINE void kiln_touch_add(double *x, uint32_t v, kiln_vec3 p)
{
    kiln_touch_put(x, v, kiln_v3_add(kiln_touch_at(x, v), p));
}

/* What obstacles change at once, and how matter follows (touch_follow.c): hold the contacts, begin,
 * say in touch->change what they change by, follow. */
kiln_status kiln_touch_hold(kiln_touch *touch, kiln_error *error);
void kiln_touch_begin_change(kiln_touch *touch);
/* Completes touch->change, with `rub` of the contacts; `part` of each is what that takes besides,
 * and what is given takes the rest, which is left in touch->impulse. */
kiln_status kiln_touch_follow(kiln_touch *touch, kiln_error *error);
/* Adds that rest, times `scale`. */
void kiln_touch_add_rest(const kiln_touch *touch, double scale, double *given);
/* Velocities change: those of active contacts as touch->change says, all others follow; friction of
 * what that takes, less what the solve has pressed too much. Adds up impulses. `forget`: steps to
 * come are not to see it. */
kiln_status kiln_touch_hit(kiln_touch *touch, bool forget, double *v, double *contact,
                           kiln_error *error);
/* What is held at vertices, shared out to `part` of the contacts; the rest stays. */
void kiln_touch_share(kiln_touch *touch, double *held);
/* How fast it goes into the obstacle. */
double kiln_touch_into(const kiln_touch *touch, const kiln_touch_contact *contact, kiln_vec3 v);

/* Of the step, from what it starts with. */
void kiln_touch_adopt(kiln_touch *touch, const kiln_touch_start *start);
kiln_touch_contact *kiln_touch_find(kiln_touch *touch, size_t count, uint32_t v, uint32_t o);
void kiln_touch_sort(kiln_touch *touch);

/* Pasts are those of the begin; then steps to come see the begin as if touch->change had been
 * there. */
void kiln_touch_begin_past(kiln_touch *touch);
void kiln_touch_shift_past(kiln_touch *touch);

/* What of a velocity is along the contact's plane, relative to the obstacle. */
kiln_vec3 kiln_touch_along_plane(const kiln_touch *touch, const kiln_touch_contact *contact,
                                 kiln_vec3 v);
/* That of the velocity at the end of the step, with the vertices at x. */
kiln_vec3 kiln_touch_slip_velocity(const kiln_touch *touch, const kiln_touch_contact *contact,
                                   const double *x);
/* What friction does to the vertex, N. */
kiln_vec3 kiln_touch_friction_force(const kiln_touch *touch, const kiln_touch_contact *contact,
                                    const double *x);
/* By how much what friction depends on has changed in a pass that ended at x, relative to it. */
double kiln_touch_renew_friction(kiln_touch *touch, const double *x);
kiln_term kiln_touch_friction_term(kiln_touch *touch);

#endif
