/* Impacts that give back what they took.
 *
 * A vertex that meets an obstacle is stopped, and with it the matter that is lumped there: an
 * inelastic impact, though nothing inelastic happens to a body whose matter stops layer by layer.
 * What it loses is noted at the vertex, as the speed "contact_kept" whose energy that is, and given
 * back by a push when it leaves, as far as the matter about it comes back too (`fastest`): all of
 * it where that has half the speed that was lost or more, and where it is slow, because the body
 * was damped, flowed or came to rest, no more than that matter has. So the energy never grows.
 *
 * R1. Only vertices without contact at both ends of the step count as matter about others, so the
 *     order in which vertices leave does not matter.
 * R2. What is kept is never more than what obstacles took: where forces change within a step, less
 *     is noted. */
#include "step/touch_impl.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The part of a velocity that leads away from the obstacle. */
static double parting(const kiln_touch *touch, const kiln_touch_contact *c, kiln_vec3 v)
{
    v = kiln_v3_sub(v, kiln_obstacle_velocity(touch->obstacles[c->obstacle], c->point));
    return kiln_v3_dot(c->normal, v);
}

/* How far the vertex has come from the obstacle in the step. */
static double rise(const kiln_touch *touch, const kiln_touch_contact *c, const kiln_touch_end *end)
{
    kiln_vec3 way =
        kiln_v3_sub(kiln_touch_at(end->x, c->vertex), kiln_touch_at(touch->begin, c->vertex));
    return touch->h * parting(touch, c, kiln_v3_scale(way, 1.0 / touch->h));
}

/* Square of the speed that a vertex loses which was free at the begin: what it had then, less what
 * inner forces and loads slowed it down by. */
static double taken(const kiln_touch *touch, const kiln_touch_contact *c, const kiln_touch_end *end)
{
    double speed = parting(touch, c, kiln_touch_at(touch->begin_v, c->vertex));
    kiln_vec3 rate =
        kiln_v3_sub(kiln_touch_at(end->x, c->vertex), kiln_touch_at(end->centre, c->vertex));
    double others = kiln_v3_dot(c->normal, rate) / end->scale - c->load / end->mass[c->vertex];
    if (end->begin_a) /* forces of both ends do the work */
        others = 0.5 * (others + kiln_v3_dot(c->normal, kiln_touch_at(end->begin_a, c->vertex)));
    double work = others * rise(touch, c, end); /* J/kg */
    return speed < 0.0 ? fmax(0.0, speed * speed + 2.0 * fmin(0.0, work)) : 0.0;
}

static bool touches(const kiln_touch *touch, uint32_t v)
{
    return touch->with[v] != 0 || touch->held.data[v];
}

/* The mean velocity of those about the vertex that do not touch; zero if there are none. */
static kiln_status look_about(kiln_touch *touch, const kiln_touch_end *end, uint32_t v,
                              kiln_vec3 *mean, kiln_error *error)
{
    double count = 0.0;
    *mean = kiln_v3(0, 0, 0);
    KILN_TRY(kiln_star(end->mesh, v, &touch->walker, error));
    kiln_u32_array *tets = &touch->walker.tets; /* in an order that the way round does not change */
    qsort(tets->data, tets->count, sizeof *tets->data, by_number);
    for (size_t i = 0; i < 4 * tets->count; i++) {
        uint32_t other = end->mesh->tet[tets->data[i / 4]].v[i % 4];
        if (other == v || touches(touch, other))
            continue;
        *mean = kiln_v3_add(*mean, kiln_touch_at(end->v, other));
        count++;
    }
    *mean = kiln_v3_scale(*mean, 1.0 / fmax(count, 1.0));
    return KILN_OK;
}

/* Newmark's force at the begin of the way was that of the contact, not zero: the energy that this
 * gave is not given again. */
static double left_to_give(const kiln_touch *touch, const kiln_touch_contact *c,
                           const kiln_touch_end *end)
{
    double kept = touch->kept.data[c->vertex];
    double work = touch->load[c->vertex] / end->mass[c->vertex] * rise(touch, c, end);
    return kept * kept - fmax(0.0, work);
}

/* About equal to the speed of the matter about where that is far less than what is kept, and what
 * is kept from half of it on. */
static double fastest(double about, double kept)
{
    return about > 0.0 ? about * (1.0 + 2.0 * about / kept) : 0.0;
}

static kiln_status push(kiln_touch *touch, const kiln_touch_end *end, uint32_t v, kiln_error *error)
{
    kiln_touch_contact c = {.vertex = v, .obstacle = touch->with[v] - 1};
    kiln_vec3 old = kiln_touch_at(end->v, v), about;
    kiln_obstacle_distance(touch->obstacles[c.obstacle], kiln_touch_at(end->x, v), &c.normal,
                           &c.point);
    kiln_vec3 way = kiln_touch_free_part(touch, v, c.normal);
    double speed = parting(touch, &c, old), give = left_to_give(touch, &c, end);
    if (speed < 0.0 || give <= 0.0 || kiln_v3_norm2(way) < 1.0 - 1e-9)
        return KILN_OK;
    KILN_TRY(look_about(touch, end, v, &about, error));
    double to = fmin(sqrt(speed * speed + give), fastest(parting(touch, &c, about), sqrt(give)));
    if (to <= speed)
        return KILN_OK;
    kiln_vec3 change = kiln_touch_impact(touch, &c, way, old, to - speed, to - speed);
    kiln_touch_put(end->v, v, kiln_v3_add(old, change));
    kiln_vec3 force = kiln_v3_scale(change, end->mass[v] / touch->h);
    kiln_touch_put(end->contact, v, kiln_v3_add(kiln_touch_at(end->contact, v), force));
    kiln_touch_gift gift = {v, c.obstacle, kiln_v3_scale(change, end->mass[v])};
    KILN_TRY(kiln_array_push(touch->context, &touch->gifts, gift, error));
    return kiln_touch_recall(touch, v,
                             kiln_v3_madd(kiln_touch_at(touch->begin, v), -touch->h, change),
                             kiln_v3_add(kiln_touch_at(touch->begin_v, v), change), error);
}

kiln_status kiln_touch_return(kiln_touch *touch, const kiln_touch_end *end, kiln_error *error)
{
    size_t rows = touch->given->rows;
    memset(touch->held.data, 0, rows);
    memcpy(touch->kept.data, touch->kept_before, rows * sizeof(double));
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        double *kept = &touch->kept.data[c->vertex];
        touch->held.data[c->vertex] |= c->active;
        if (kiln_touch_is_new(touch, c))
            *kept = sqrt(*kept * *kept + taken(touch, c, end));
    }
    for (size_t i = 0; i < touch->surface.count; i++) {
        uint32_t v = touch->surface.data[i];
        if (touch->held.data[v] || !(touch->kept.data[v] > 0.0))
            continue;
        if (touch->with[v] != 0)
            KILN_TRY(push(touch, end, v, error));
        touch->kept.data[v] = 0.0; /* what it could not use is lost */
    }
    return KILN_OK;
}
