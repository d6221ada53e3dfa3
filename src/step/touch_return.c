/* Impacts that give back what they took.
 *
 * A vertex that meets an obstacle is stopped, and with it the matter that the mass matrix ties to
 * it: an inelastic impact, though nothing inelastic happens to a body whose matter stops layer by
 * layer. The energy that takes (F2) is noted at the vertex, as the speed "contact_kept" at which
 * its lumped mass has it, and given back by a push when it leaves, as far as the matter about it
 * comes back too (`fastest`): all of it where that has half the speed that was lost or more, and
 * where it is slow, because the body was damped, flowed or came to rest, no more than that matter
 * has. So the energy never grows.
 *
 * R1. Only vertices without contact at both ends of the step count as matter about others, so the
 *     order in which vertices leave does not matter.
 * What newmark and bdf2 see of the force of the step before goes on when the vertex has left: that
 * is part of what it gets, and where it is more, some is taken back.
 *
 * R2. Those that leave in a step are given no more than they have kept, in sum. */
#include "step/touch_impl.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 4 /* for speeds that take what was kept */ };
#define CLOSE_ENOUGH 1e-3 /* of the energy */

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool touches(const kiln_touch *touch, uint32_t v)
{
    return touch->with[v] != 0 || touch->held.data[v];
}

/* The mean velocity of those about the vertex that do not touch; zero if there are none. */
static kiln_status look_about(kiln_touch *touch, const kiln_mesh *mesh, const double *velocity,
                              uint32_t v, kiln_vec3 *mean, kiln_error *error)
{
    double count = 0.0;
    *mean = kiln_v3(0, 0, 0);
    KILN_TRY(kiln_star(mesh, v, &touch->walker, error));
    kiln_u32_array *tets = &touch->walker.tets; /* in an order that the way round does not change */
    qsort(tets->data, tets->count, sizeof *tets->data, by_number);
    for (size_t i = 0; i < 4 * tets->count; i++) {
        uint32_t other = mesh->tet[tets->data[i / 4]].v[i % 4];
        if (other == v || touches(touch, other))
            continue;
        *mean = kiln_v3_add(*mean, kiln_touch_at(velocity, other));
        count++;
    }
    *mean = kiln_v3_scale(*mean, 1.0 / fmax(count, 1.0));
    return KILN_OK;
}

/* What the step before still did to a vertex in this one (newmark, bdf2) gave it energy, which is
 * not given again. */
static double left_to_give(const kiln_touch *touch, const kiln_touch_contact *c, const double *x)
{
    double kept = touch->kept.data[c->vertex];
    kiln_vec3 way =
        kiln_v3_sub(kiln_touch_at(x, c->vertex), kiln_touch_at(touch->begin, c->vertex));
    double risen = -kiln_touch_into(touch, c, kiln_v3_scale(way, 1.0 / touch->h));
    return 0.5 * touch->mass[c->vertex] * kept * kept - fmax(0.0, c->carried * risen);
}

/* About equal to the speed of the matter about where that is far less than what is kept, and what
 * is kept from half of it on. */
static double fastest(double about, double kept)
{
    return about > 0.0 ? about * (1.0 + 2.0 * about / kept) : 0.0;
}

/* Limits of its speed: what the matter about it has; no more is taken back than was carried on. */
static kiln_status limit(kiln_touch *touch, const kiln_mesh *mesh, const double *velocity,
                         kiln_touch_contact *c, kiln_error *error)
{
    kiln_vec3 about;
    double mass = touch->mass[c->vertex];
    c->most = c->speed;
    c->least = c->speed;
    if (touch->by_left)
        c->least = fmax(fmin(0.0, c->speed), c->speed - fmax(0.0, c->carried) / mass);
    if (c->budget <= 0.0 || c->speed < 0.0)
        return KILN_OK;
    KILN_TRY(look_about(touch, mesh, velocity, c->vertex, &about, error));
    double kept = sqrt(2.0 * c->budget / mass);
    c->most = fmax(c->speed, fastest(-kiln_touch_into(touch, c, about), kept));
    return KILN_OK;
}

/* What a vertex that has left gets; a contact again for the while. */
static kiln_status let_leave(kiln_touch *touch, const kiln_mesh *mesh, const double *x,
                             const double *velocity, uint32_t v, size_t known, kiln_error *error)
{
    kiln_touch_contact c = {
        .vertex = v, .obstacle = touch->with[v] - 1, .active = true, .leaving = true};
    kiln_obstacle_distance(touch->obstacles[c.obstacle], kiln_touch_at(x, v), &c.normal, &c.point);
    if (kiln_v3_norm2(kiln_touch_free_part(touch, v, c.normal)) < 1.0 - 1e-9)
        return KILN_OK;
    c.speed = -kiln_touch_into(touch, &c, kiln_touch_at(velocity, v));
    c.carried = (1.0 - kiln_touch_share_of_end(touch)) * touch->h * touch->push_before[v];
    c.budget = left_to_give(touch, &c, x);
    KILN_TRY(limit(touch, mesh, velocity, &c, error));
    kiln_touch_contact *old = kiln_touch_find(touch, known, v, c.obstacle);
    if (!old)
        return kiln_array_push(touch->context, &touch->contacts, c, error);
    c.force = old->force; /* of the pass that let it go */
    *old = c;
    return KILN_OK;
}

static double speed_with(const kiln_touch_contact *c, double mass)
{
    double square = c->speed * c->speed + 2.0 * c->budget / mass;
    return fmax(c->least, fmin(sqrt(fmax(0.0, square)), c->most));
}

static void want_speeds(kiln_touch *touch, double part)
{
    kiln_touch_begin_change(touch);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        if (c->leaving)
            kiln_touch_add(touch->change.data, c->vertex,
                           kiln_v3_scale(c->normal, part * (c->to - c->speed)));
    }
}

/* Speeds at which they would have what is theirs, if each had as much mass as it had in the try
 * before; the matter that follows depends on who leaves with it. */
static void wish(kiln_touch *touch, bool first)
{
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        double mass = touch->mass[c->vertex];
        if (!first && c->part * (c->to - c->speed) > 0.0)
            mass = c->part / (c->to - c->speed);
        if (c->leaving)
            c->to = speed_with(c, mass);
    }
    want_speeds(touch, 1.0);
}

/* Has everyone what is his? */
static bool is_fair(const kiln_touch *touch)
{
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        double off = 0.5 * c->part * (c->speed + c->to) - c->budget;
        bool limited = off < 0.0 ? c->to >= c->most : c->to <= c->least;
        if (c->leaving && !limited && fabs(off) > CLOSE_ENOUGH * fabs(c->budget))
            return false;
    }
    return true;
}

/* R2: the part of the change that takes no more than all have kept. */
static double affordable(const kiln_touch *touch)
{
    double linear = 0.0, square = 0.0, budget = 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->leaving)
            continue;
        linear += c->part * c->speed;
        square += 0.5 * c->part * (c->to - c->speed);
        budget += c->budget;
    }
    if (linear + square <= budget || square <= 0.0 || budget <= 0.0)
        return 1.0;
    return 2.0 * budget / (linear + sqrt(linear * linear + 4.0 * square * budget));
}

static kiln_status find_push(kiln_touch *touch, kiln_error *error)
{
    KILN_TRY(kiln_touch_hold(touch, error));
    for (int k = 0; k == 0 || (k < MOST_TRIES && !is_fair(touch)); k++) {
        wish(touch, k == 0);
        KILN_TRY(kiln_touch_follow(touch, error));
    }
    want_speeds(touch, affordable(touch));
    return KILN_OK;
}

static kiln_status push(kiln_touch *touch, double *v, double *contact, kiln_error *error)
{
    KILN_TRY(find_push(touch, error));
    if (touch->looks_back && !touch->is_cut)
        kiln_touch_begin_past(touch);
    KILN_TRY(kiln_touch_hit(touch, touch->looks_back, v, contact, error));
    for (size_t i = 0; i < touch->contacts.count; i++)
        touch->contacts.data[i].active &= !touch->contacts.data[i].leaving;
    return KILN_OK;
}

/* Those kept so far, and what new contacts add. */
static void note_kept(kiln_touch *touch)
{
    size_t rows = touch->given->rows;
    memset(touch->held.data, 0, rows);
    memcpy(touch->kept.data, touch->kept_before, rows * sizeof(double));
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        double *kept = &touch->kept.data[c->vertex];
        touch->held.data[c->vertex] |= c->active;
        if (kiln_touch_is_new(touch, c))
            *kept = sqrt(fmax(0.0, *kept * *kept + 2.0 * c->lost / touch->mass[c->vertex]));
    }
}

/* What the next step sees of what an obstacle did, along the normal (kiln_push_mean). */
static void note_seen(kiln_touch *touch)
{
    double share = kiln_touch_share_of_end(touch);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        bool known = touch->with[c->vertex] == c->obstacle + 1;
        kiln_vec3 mean = kiln_v3_madd(kiln_v3_scale(c->force, share), 1.0 / touch->h, c->impulse);
        c->seen = kiln_v3_dot(c->normal, kiln_v3_add(mean, c->cut));
        if (known)
            c->seen += (1.0 - share) * touch->push_before[c->vertex];
        if (touch->by_left)
            c->seen = kiln_v3_dot(c->normal, kiln_v3_add(c->force, c->kick));
    }
}

static kiln_status find_leaving(kiln_touch *touch, const kiln_mesh *mesh, const double *x,
                                const double *v, bool *any, kiln_error *error)
{
    size_t known = touch->contacts.count;
    *any = false;
    for (size_t i = 0; i < touch->surface.count; i++) {
        uint32_t vertex = touch->surface.data[i];
        if (touch->held.data[vertex])
            continue;
        if (touch->with[vertex] != 0)
            KILN_TRY(let_leave(touch, mesh, x, v, vertex, known, error));
        touch->kept.data[vertex] = 0.0; /* what it could not use is lost */
    }
    for (size_t i = 0; i < touch->contacts.count; i++)
        *any |= touch->contacts.data[i].leaving;
    if (touch->contacts.count > known)
        kiln_touch_sort(touch);
    return KILN_OK;
}

kiln_status kiln_touch_return(kiln_touch *touch, const kiln_mesh *mesh, const double *x, double *v,
                              double *contact, kiln_error *error)
{
    bool any;
    note_kept(touch);
    KILN_TRY(find_leaving(touch, mesh, x, v, &any, error));
    if (any)
        KILN_TRY(push(touch, v, contact, error));
    note_seen(touch);
    return KILN_OK;
}
