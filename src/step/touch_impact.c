/* Positions, velocities and accelerations that end on obstacles and not in them. */
#include "step/integrator.h"
#include "step/touch_impl.h"

kiln_status kiln_touch_project(kiln_touch *touch, bool settled, double *x, kiln_error *error)
{
    bool found = false;
    if (!settled)
        KILN_TRY(kiln_touch_seek(touch, NULL, x, &found, error));
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_vec3 normal, point, place = kiln_touch_at(x, c->vertex);
        if (!c->active || kiln_touch_distance(touch, c->obstacle, c->vertex, place, &normal,
                                              &point) >= -touch->slack)
            continue;
        kiln_vec3 way = kiln_touch_free_part(touch, c->vertex, normal);
        double share = kiln_v3_norm2(way), depth = kiln_v3_dot(normal, kiln_v3_sub(point, place));
        if (share < KILN_TOUCH_INDEPENDENT * KILN_TOUCH_INDEPENDENT)
            continue;
        kiln_vec3 to = point;
        if (touch->given->held[c->vertex]) /* to the plane, by the way that is left */
            to = kiln_v3_madd(place, depth / share, way);
        kiln_touch_put(x, c->vertex, to);
        c->force = kiln_v3_madd(c->force, touch->mass[c->vertex] * touch->per_scale,
                                kiln_v3_sub(to, place));
        c->normal = normal;
        c->point = point;
    }
    return KILN_OK;
}

kiln_vec3 kiln_touch_impact(const kiln_touch *touch, const kiln_touch_contact *c, kiln_vec3 way,
                            kiln_vec3 old, double change, double pressed)
{
    double share = kiln_v3_norm2(way);
    kiln_vec3 along = kiln_touch_along_plane(touch, c, old);
    double speed = kiln_v3_norm(along);
    double loss = kiln_obstacle_friction(touch->obstacles[c->obstacle]) * pressed;
    if (loss < 0.0 && speed <= touch->slip_speed)
        loss = 0.0; /* it sticks: friction was not all used */
    double lost = loss == 0.0 ? 0.0 : speed > loss ? loss / speed : 1.0;
    kiln_vec3 drag = kiln_touch_free_part(touch, c->vertex, kiln_v3_scale(along, -lost));
    drag = kiln_v3_madd(drag, -kiln_v3_dot(drag, way) / share, way); /* stays in the plane */
    return kiln_v3_madd(drag, change / share, way);
}

/* How fast it goes into the obstacle. */
static double into(const kiln_touch *touch, const kiln_touch_contact *c, kiln_vec3 v)
{
    v = kiln_v3_sub(v, kiln_obstacle_velocity(touch->obstacles[c->obstacle], c->point));
    return -kiln_v3_dot(v, c->normal);
}

void kiln_touch_stop(kiln_touch *touch, double *v, double *a, double *contact)
{
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->active)
            continue;
        kiln_vec3 way = kiln_touch_free_part(touch, c->vertex, c->normal);
        double share = kiln_v3_norm2(way);
        if (share < KILN_TOUCH_INDEPENDENT * KILN_TOUCH_INDEPENDENT)
            continue;
        kiln_vec3 old = kiln_touch_at(v, c->vertex);
        /* Where the solve has pressed too much, with friction of it, some of both is taken back. */
        double slower = into(touch, c, old), solved = touch->tau * c->load / touch->mass[c->vertex];
        kiln_vec3 change = kiln_touch_impact(touch, c, way, old, slower, fmax(slower, -solved));
        kiln_touch_put(v, c->vertex, kiln_v3_add(old, change));
        double mass = touch->mass[c->vertex];
        kiln_vec3 force = kiln_v3_scale(change, mass / touch->h);
        c->impulse = kiln_v3_scale(change, mass);
        kiln_touch_put(contact, c->vertex, kiln_v3_add(kiln_touch_at(contact, c->vertex), force));
        if (a) {
            kiln_vec3 rate = kiln_touch_at(a, c->vertex);
            kiln_vec3 less = kiln_v3_scale(way, -kiln_v3_dot(rate, c->normal) / share);
            kiln_touch_put(a, c->vertex, kiln_v3_add(rate, less));
            c->kick = kiln_v3_scale(less, mass);
        }
    }
}

kiln_status kiln_touch_recall(kiln_touch *touch, uint32_t vertex, kiln_vec3 x, kiln_vec3 v,
                              kiln_error *error)
{
    kiln_touch_past past = {vertex, x, v};
    return kiln_array_push(touch->context, &touch->pasts, past, error);
}

kiln_status kiln_touch_cut(kiln_touch *touch, const double *x, const double *v, kiln_error *error)
{
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_vec3 end = kiln_touch_at(x, c->vertex), rate = kiln_touch_at(v, c->vertex);
        if (!kiln_touch_is_new(touch, c))
            continue;
        c->cut = kiln_v3_scale(kiln_v3_sub(kiln_touch_at(touch->begin_v, c->vertex), rate),
                               touch->mass[c->vertex] / touch->h);
        KILN_TRY(
            kiln_touch_recall(touch, c->vertex, kiln_v3_madd(end, -touch->h, rate), rate, error));
    }
    return KILN_OK;
}

/* The second stage takes (1 - g) F of the first, F = m (v - v_n) / (g h), where h is that of the
 * step and g its part; of a vertex that an impact has cut off from the begin g F, and what that
 * differs by from the first is the obstacle's doing. */
kiln_status kiln_touch_end_stage(kiln_touch *touch, const double *v, kiln_error *error)
{
    const double g = KILN_STAGE_PART, more = g / (1.0 - g) - 1.0;
    touch->staged = true;
    touch->stage.count = 0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_touch_push_at push = {c->vertex, c->obstacle,
                                   kiln_v3_madd(c->force, 1.0 / touch->h, c->impulse)};
        kiln_vec3 gain =
            kiln_v3_sub(kiln_touch_at(v, c->vertex), kiln_touch_at(touch->begin_v, c->vertex));
        if (kiln_touch_is_new(touch, c))
            push.force = kiln_v3_madd(push.force, more * touch->mass[c->vertex] / touch->h, gain);
        KILN_TRY(kiln_array_push(touch->context, &touch->stage, push, error));
    }
    return KILN_OK;
}

static void add_push(const kiln_push *push, kiln_vec3 arm, kiln_push *force, kiln_push *torque)
{
    kiln_push turn = kiln_push_torque(arm, push);
    kiln_push_add(force, push);
    kiln_push_add(torque, &turn);
}

void kiln_touch_push(const kiln_touch *touch, uint32_t obstacle, const double *x, kiln_vec3 about,
                     kiln_push *force, kiln_push *torque)
{
    *force = *torque = (kiln_push){.hit = {0, 0, 0}};
    double per_h = touch->h > 0.0 ? 1.0 / touch->h : 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        if (c->obstacle != obstacle)
            continue;
        kiln_push push = {.end = c->force,
                          .hit = kiln_v3_scale(c->impulse, per_h),
                          .left = kiln_v3_add(c->force, c->kick),
                          .cut = c->cut};
        if (!touch->staged)
            push.before = c->force; /* as good as known */
        add_push(&push, kiln_v3_sub(kiln_touch_at(x, c->vertex), about), force, torque);
    }
    for (size_t i = 0; i < touch->stage.count && touch->staged; i++) {
        const kiln_touch_push_at *at = &touch->stage.data[i];
        kiln_push push = {.before = at->force};
        if (at->obstacle == obstacle)
            add_push(&push, kiln_v3_sub(kiln_touch_at(x, at->vertex), about), force, torque);
    }
    for (size_t i = 0; i < touch->gifts.count; i++) {
        const kiln_touch_gift *gift = &touch->gifts.data[i];
        kiln_vec3 hit = kiln_v3_scale(gift->impulse, per_h);
        kiln_push push = {.hit = hit, .cut = kiln_v3_scale(hit, -1.0)};
        if (gift->obstacle == obstacle)
            add_push(&push, kiln_v3_sub(kiln_touch_at(x, gift->vertex), about), force, torque);
    }
}

static void support(const kiln_touch *touch, const kiln_obstacle *obstacle, kiln_vec3 x,
                    kiln_vec3 v, kiln_vec3 *a)
{
    kiln_vec3 normal, point;
    double d = kiln_obstacle_distance(obstacle, x, &normal, &point);
    double into = -kiln_v3_dot(*a, normal);
    if (d > touch->slack || into <= 0.0)
        return;
    v = kiln_v3_sub(v, kiln_obstacle_velocity(obstacle, point));
    v = kiln_v3_madd(v, -kiln_v3_dot(v, normal), normal);
    double speed = kiln_v3_norm(v), y = speed / touch->slip_speed;
    double per_speed = y < 1.0 ? (2.0 - y) / touch->slip_speed : 1.0 / speed;
    *a = kiln_v3_madd(*a, into, normal);
    *a = kiln_v3_madd(*a, -kiln_obstacle_friction(obstacle) * into * per_speed, v);
}

void kiln_touch_support(const kiln_touch *touch, const double *x, const double *v, double *a)
{
    for (size_t i = 0; i < touch->surface.count; i++)
        for (size_t o = 0; o < touch->obstacle_count; o++) {
            uint32_t vertex = touch->surface.data[i];
            kiln_vec3 rate = kiln_touch_at(a, vertex);
            support(touch, touch->obstacles[o], kiln_touch_at(x, vertex), kiln_touch_at(v, vertex),
                    &rate);
            kiln_touch_put(a, vertex, rate);
        }
}
