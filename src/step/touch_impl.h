/* The inside of kiln_touch, shared by touch.c (what exists), touch_find.c (who meets an obstacle),
 * touch_planes.c (holding and letting go), touch_friction.c and touch_impact.c (the end of a step).
 */
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

/* What an impact changes of a velocity: the part along the normal by `change`, and by friction of
 * `pressed` (m/s, of the normal force times its duration over the mass; less than 0: friction that
 * was too much is taken back). `way` is the free part of the normal. */
kiln_vec3 kiln_touch_impact(const kiln_touch *touch, const kiln_touch_contact *contact,
                            kiln_vec3 way, kiln_vec3 old, double change, double pressed);
/* Notes a past. */
kiln_status kiln_touch_recall(kiln_touch *touch, uint32_t vertex, kiln_vec3 x, kiln_vec3 v,
                              kiln_error *error);

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
