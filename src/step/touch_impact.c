/* Positions, velocities and accelerations that end on obstacles and not in them. */
#include "solve/vectors.h"
#include "step/integrator.h"
#include "step/touch_impl.h"

#include <string.h>

enum { MOST_SUPPORTS = 8 /* solves for what supports at the begin of a run */ };

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

double kiln_touch_into(const kiln_touch *touch, const kiln_touch_contact *c, kiln_vec3 v)
{
    v = kiln_v3_sub(v, kiln_obstacle_velocity(touch->obstacles[c->obstacle], c->point));
    return -kiln_v3_dot(v, c->normal);
}

/* Contacts are to lose what of the rate is along their normals, relative to the obstacle's if it is
 * a velocity. */
static void want_rest(kiln_touch *touch, const double *rate, bool relative)
{
    kiln_touch_begin_change(touch);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->active || c->share == 0.0)
            continue;
        kiln_vec3 now = kiln_v3_add(kiln_touch_at(rate, c->vertex),
                                    kiln_touch_at(touch->change.data, c->vertex));
        double into = relative ? kiln_touch_into(touch, c, now) : -kiln_v3_dot(now, c->normal);
        kiln_touch_add(touch->change.data, c->vertex, kiln_v3_scale(c->axis, into / c->share));
    }
}

/* F2, of vertices that were free at the begin, in two parts: from the velocity of the begin to that
 * of the solve, v, and from there to rest (note_stop). */
static void note_loss(kiln_touch *touch, const double *v)
{
    double time = touch->h * kiln_touch_share_of_end(touch);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        double before = kiln_touch_into(touch, c, kiln_touch_at(touch->begin_v, c->vertex));
        c->speed = kiln_touch_into(touch, c, kiln_touch_at(v, c->vertex));
        c->lost = 0.0;
        if (kiln_touch_is_new(touch, c))
            c->lost = 0.5 * time * c->load * (before + c->speed);
    }
}

static void note_stop(kiln_touch *touch)
{
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        if (kiln_touch_is_new(touch, c))
            c->lost += 0.5 * kiln_v3_dot(c->impulse, c->normal) * c->speed;
    }
}

kiln_status kiln_touch_stop(kiln_touch *touch, double *v, double *a, double *contact,
                            kiln_error *error)
{
    if (kiln_touch_count(touch) == 0)
        return KILN_OK;
    KILN_TRY(kiln_touch_hold(touch, error));
    note_loss(touch, v);
    want_rest(touch, v, true);
    KILN_TRY(kiln_touch_hit(touch, false, v, contact, error));
    note_stop(touch);
    if (!a)
        return KILN_OK;
    want_rest(touch, a, false);
    KILN_TRY(kiln_touch_follow(touch, error));
    kiln_vector_combine(touch->context, 1.0, a, 1.0, touch->change.data, a, 3 * touch->given->rows);
    kiln_touch_add_rest(touch, 1.0, touch->holds.kick);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        c->kick = kiln_v3_scale(c->normal, c->part);
    }
    return KILN_OK;
}

/* What has just met an obstacle is held in all directions and gets the velocity of the end, as if
 * nothing else had acted on it in the step. Is there any? */
static kiln_status want_new(kiln_touch *touch, const double *v, bool *any, kiln_error *error)
{
    const kiln_held whole = {3, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    *any = false;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        uint32_t vertex = touch->contacts.data[i].vertex;
        if (!kiln_touch_is_new(touch, &touch->contacts.data[i]))
            continue;
        *any = true;
        KILN_TRY(kiln_constraints_set_held(&touch->planes, vertex, &whole, error));
        kiln_touch_put(
            touch->change.data, vertex,
            kiln_v3_sub(kiln_touch_at(v, vertex), kiln_touch_at(touch->begin_v, vertex)));
    }
    return KILN_OK;
}

/* A vertex that meets two obstacles at once: the first has it. */
static void note_cut(kiln_touch *touch, const double *x, const double *v)
{
    double *impulse = touch->impulse.data, per_h = 1.0 / touch->h;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        if (!kiln_touch_is_new(touch, c))
            continue;
        kiln_vec3 rate = kiln_touch_at(v, c->vertex);
        c->cut = kiln_v3_scale(kiln_touch_at(impulse, c->vertex), -per_h);
        kiln_touch_put(impulse, c->vertex, kiln_v3(0, 0, 0));
        kiln_touch_put(touch->past_x.data, c->vertex,
                       kiln_v3_madd(kiln_touch_at(x, c->vertex), -touch->h, rate));
        kiln_touch_put(touch->past_v.data, c->vertex, rate);
    }
    kiln_touch_share(touch, impulse); /* others that follow, but for their planes */
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        c->cut = kiln_v3_madd(c->cut, -per_h * c->part, c->normal);
    }
    kiln_touch_add_rest(touch, -per_h, touch->holds.cut);
}

kiln_status kiln_touch_cut(kiln_touch *touch, const double *x, const double *v, kiln_error *error)
{
    bool any;
    touch->is_cut = false;
    if (!touch->looks_back)
        return KILN_OK;
    kiln_touch_begin_change(touch);
    KILN_TRY(kiln_touch_hold(touch, error));
    KILN_TRY(want_new(touch, v, &any, error));
    if (!any)
        return KILN_OK;
    KILN_TRY(kiln_mass_follow(touch->matter, &touch->planes, touch->change.data,
                              touch->impulse.data, error));
    kiln_touch_begin_past(touch);
    kiln_touch_shift_past(touch);
    note_cut(touch, x, v);
    return KILN_OK;
}

kiln_status kiln_touch_end_stage(kiln_touch *touch, kiln_error *error)
{
    touch->staged = true;
    touch->stage.count = 0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_touch_push_at push = {c->vertex, c->obstacle,
                                   kiln_v3_madd(c->force, 1.0 / touch->h, c->impulse)};
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
}

/* Vertices on an obstacle that accelerate into it. */
static kiln_status find_pressed(kiln_touch *touch, const double *a, kiln_error *error)
{
    for (size_t i = 0; i < touch->surface.count; i++)
        for (uint32_t o = 0; o < touch->obstacle_count; o++) {
            kiln_touch_contact c = {.vertex = touch->surface.data[i], .obstacle = o};
            double d = kiln_obstacle_distance(
                touch->obstacles[o], kiln_touch_at(touch->begin, c.vertex), &c.normal, &c.point);
            c.active = true;
            if (d <= touch->slack && kiln_v3_dot(kiln_touch_at(a, c.vertex), c.normal) < 0.0)
                KILN_TRY(kiln_array_push(touch->context, &touch->contacts, c, error));
        }
    return KILN_OK;
}

/* Friction of what supports, as that of the solve. */
static void rub_supported(kiln_touch *touch)
{
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        double friction = kiln_obstacle_friction(touch->obstacles[c->obstacle]);
        kiln_vec3 v = kiln_touch_along_plane(touch, c, kiln_touch_at(touch->begin_v, c->vertex));
        double per_speed = kiln_slip_at(kiln_v3_norm(v), touch->slip_speed).secant;
        if (c->active)
            c->rub = kiln_touch_free_part(touch, c->vertex,
                                          kiln_v3_scale(v, -friction * c->part * per_speed));
    }
}

/* Lets go of those that pull: matter that follows may be pushed off. */
static bool let_go(kiln_touch *touch)
{
    bool any = false;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        any |= c->active && c->part < 0.0;
        c->active &= c->part >= 0.0;
    }
    return any;
}

static kiln_status find_support(kiln_touch *touch, const double *a, kiln_error *error)
{
    KILN_TRY(find_pressed(touch, a, error));
    for (int pass = 0; pass == 0 || (pass < MOST_SUPPORTS && let_go(touch)); pass++) {
        KILN_TRY(kiln_touch_hold(touch, error));
        want_rest(touch, a, false);
        KILN_TRY(kiln_touch_follow(touch, error));
    }
    return KILN_OK;
}

/* Forces at the begin are noted as those of a first stage. */
static kiln_status add_support(kiln_touch *touch, double *a, kiln_error *error)
{
    kiln_vector_combine(touch->context, 1.0, a, 1.0, touch->change.data, a, 3 * touch->given->rows);
    kiln_touch_add_rest(touch, 1.0, touch->holds.kick);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_touch_push_at push = {c->vertex, c->obstacle,
                                   kiln_v3_madd(c->rub, c->part, c->normal)};
        KILN_TRY(kiln_array_push(touch->context, &touch->stage, push, error));
    }
    return KILN_OK;
}

kiln_status kiln_touch_support(kiln_touch *touch, const kiln_touch_start *start, double *a,
                               kiln_error *error)
{
    kiln_touch_adopt(touch, start);
    touch->staged = true;
    touch->stage.count = 0;
    KILN_TRY(find_support(touch, a, error));
    KILN_TRY(add_support(touch, a, error));
    rub_supported(touch);
    memset(touch->change.data, 0, 3 * touch->given->rows * sizeof(double));
    memset(touch->impulse.data, 0, 3 * touch->given->rows * sizeof(double));
    KILN_TRY(kiln_touch_follow(touch, error));
    KILN_TRY(add_support(touch, a, error));
    touch->contacts.count = 0;
    return KILN_OK;
}
