/* The planes of contacts, held by the constraints of a solve, and whether they were the right ones.
 */
#include "step/touch_impl.h"

#include <string.h>

enum { MOST_RENEWALS = 3 /* of a plane in one step */ };

/* Holds the contact's plane by one more direction, unless those held do already. */
static void hold_plane(kiln_held *held, kiln_touch_contact *contact)
{
    double place = kiln_v3_dot(contact->normal, contact->point);
    contact->share = kiln_held_add(held, contact->normal, place, KILN_TOUCH_INDEPENDENT, NULL);
    contact->axis = contact->share > 0.0 ? held->axis[held->count - 1] : kiln_v3(0, 0, 0);
}

static size_t group_end(const kiln_touch *touch, size_t begin)
{
    size_t end = begin;
    while (end < touch->contacts.count &&
           touch->contacts.data[end].vertex == touch->contacts.data[begin].vertex)
        end++;
    return end;
}

kiln_status kiln_touch_constrain(kiln_touch *touch, kiln_constraints *active, kiln_error *error)
{
    const kiln_constraints *given = touch->given;
    KILN_TRY(kiln_constraints_reset(active, given->rows, error));
    memcpy(active->held, given->held, given->rows);
    memcpy(active->target, given->target, given->rows * sizeof *given->target);
    KILN_TRY(kiln_array_reserve(touch->context, &active->frames,
                                given->frames.count + touch->contacts.count, error));
    size_t next = 0; /* of the frames given; both lists ascend */
    for (size_t begin = 0, end; begin < touch->contacts.count; begin = end) {
        end = group_end(touch, begin);
        uint32_t v = touch->contacts.data[begin].vertex;
        while (next < given->frames.count && given->frames.data[next].row < v)
            active->frames.data[active->frames.count++] = given->frames.data[next++];
        if (next < given->frames.count && given->frames.data[next].row == v)
            next++; /* it gets another one */
        kiln_held held = kiln_constraints_held(given, v);
        for (size_t i = begin; i < end; i++)
            if (touch->contacts.data[i].active)
                hold_plane(&held, &touch->contacts.data[i]);
        KILN_TRY(kiln_constraints_set_held(active, v, &held, error));
    }
    while (next < given->frames.count)
        active->frames.data[active->frames.count++] = given->frames.data[next++];
    return KILN_OK;
}

/* What acts on a vertex is the sum of what its held directions do; the last contact alone has a
 * part along its own axis, so they are found from the last to the first. What remains is the doing
 * of what was given. */
void kiln_touch_share(kiln_touch *touch, double *held)
{
    for (size_t i = touch->contacts.count; i-- > 0;) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        c->part = 0.0;
        if (!c->active || c->share == 0.0)
            continue;
        kiln_vec3 all = kiln_touch_at(held, c->vertex);
        c->part = kiln_v3_dot(all, c->axis) / c->share;
        kiln_touch_put(held, c->vertex, kiln_v3_madd(all, -c->part, c->normal));
    }
}

static void share_out(kiln_touch *touch, double *held, double *contact)
{
    kiln_touch_share(touch, held);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_vec3 normal_force = kiln_v3_scale(c->normal, c->part);
        kiln_touch_add(contact, c->vertex, normal_force);
        c->force = kiln_v3_add(c->force, normal_force);
        c->load = c->part; /* may be negative until the release below */
    }
}

/* Liquid all about which the obstacle is wet. It comes off from the line inwards: let go of alone,
 * all of its faces would be dry at once, and their energy come from nowhere. */
static bool is_within(const kiln_touch *touch, const kiln_touch_contact *c, double cling)
{
    const kiln_touch_liquid *liquid = &touch->liquid;
    return cling > 0.0 && liquid->wet[c->vertex] > 0.0 &&
           liquid->wet[c->vertex] >= liquid->area[c->vertex];
}

/* Lets go of those that would have to pull, liquid of those that would have to pull too hard. */
static bool release(kiln_touch *touch)
{
    double largest = 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++)
        largest = fmax(largest, touch->contacts.data[i].load);
    bool released = false;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        double cling = kiln_touch_cling(touch, c->obstacle, c->vertex);
        if (c->active && c->load < -fmax(1e-12 * largest, cling) && !c->kept &&
            !is_within(touch, c, cling)) {
            c->active = false;
            released = true;
        }
        c->load = fmax(c->load, 0.0);
    }
    return released;
}

/* Planes of curved obstacles move along with what slides on them, and end where they do. */
static bool renew_planes(kiln_touch *touch, const double *x)
{
    bool renewed = false;
    double limit = kiln_touch_plane_slack(touch);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->active || c->share == 0.0 || c->renewed == MOST_RENEWALS)
            continue;
        kiln_vec3 normal, point;
        double d = kiln_touch_distance(touch, c->obstacle, c->vertex, kiln_touch_at(x, c->vertex),
                                       &normal, &point);
        if (fabs(d) <= limit)
            continue;
        kiln_vec3 way =
            kiln_v3_sub(kiln_touch_at(x, c->vertex), kiln_touch_at(touch->begin, c->vertex));
        if (!c->kept && !kiln_touch_stays(touch, d, way)) {
            c->active = false;
            c->load = 0.0;
            renewed = true;
            continue;
        }
        c->normal = normal;
        c->point = point;
        c->renewed++;
        renewed = true;
    }
    return renewed;
}

kiln_status kiln_touch_judge(kiln_touch *touch, const double *x, double *held, double *contact,
                             double *change, bool *changed, kiln_error *error)
{
    memset(contact, 0, 3 * touch->given->rows * sizeof *contact);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        c->load_before = c->load; /* what friction had in this pass */
        c->force = kiln_touch_friction_force(touch, c, x);
        kiln_touch_put(contact, c->vertex,
                       kiln_v3_add(kiln_touch_at(contact, c->vertex), c->force));
    }
    share_out(touch, held, contact);
    *changed = release(touch);
    *change = kiln_touch_renew_friction(touch, x);
    *changed |= renew_planes(touch, x);
    return kiln_touch_seek(touch, NULL, x, changed, error);
}
