/* Which vertices meet an obstacle, and on which plane. */
#include "base/parallel.h"
#include "step/touch_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GRAIN = 512,     /* vertices per chunk of a test against all obstacles */
    MOST_TRACES = 24 /* of a vertex on its way to an obstacle */
};
/* A vertex that slides on a curved obstacle comes off it by a small part of its way; one that went
 * over an edge by more. */
#define MOST_RISE 0.25

double kiln_touch_distance(const kiln_touch *touch, uint32_t o, uint32_t v, kiln_vec3 x,
                           kiln_vec3 *normal, kiln_vec3 *point)
{
    double sunk = touch->sunk.data[v];
    double d = kiln_obstacle_distance(touch->obstacles[o], x, normal, point);
    *point = kiln_v3_madd(*point, -sunk, *normal);
    return d + sunk;
}

typedef struct search {
    kiln_touch *touch;
    const kiln_touch_start *start; /* NULL: after a pass */
    const double *x;               /* where vertices are at the end */
} search;

typedef enum way_in { MISSED, FROM_SURFACE, FROM_OUTSIDE } way_in;

/* Where a straight way enters the obstacle, by steps of the distance left. Grazing ways run out of
 * steps and count as missed; their ends are looked at in any case. */
static way_in enter(const kiln_touch *touch, uint32_t o, uint32_t v, kiln_vec3 begin, kiln_vec3 way,
                    kiln_vec3 *normal, kiln_vec3 *point)
{
    double length = kiln_v3_norm(way), gone = 0.0, slack = touch->slack;
    for (int i = 0; i < MOST_TRACES && gone < length; i++) {
        kiln_vec3 here = kiln_v3_madd(begin, gone / length, way);
        double d = kiln_touch_distance(touch, o, v, here, normal, point);
        if (d < -slack)
            return MISSED; /* began inside: the end decides */
        if (d <= slack)
            return kiln_v3_dot(*normal, way) >= 0.0 ? MISSED : i > 0 ? FROM_OUTSIDE : FROM_SURFACE;
        gone += d;
    }
    return MISSED;
}

bool kiln_touch_stays(const kiln_touch *touch, double d, kiln_vec3 way)
{
    return d <= kiln_touch_plane_slack(touch) + MOST_RISE * kiln_v3_norm(way);
}

/* A vertex that was pressed on the obstacle goes with it: its velocity, which knows nothing of that
 * force, carries it off where the obstacle slows down. Its way along the obstacle counts. */
static bool pressed_on(const search *s, uint32_t v, uint32_t o, kiln_vec3 begin, kiln_vec3 way)
{
    if (!(s->start->load[v] > 0.0))
        return false;
    kiln_vec3 normal, point;
    kiln_touch_distance(s->touch, o, v, begin, &normal, &point);
    way = kiln_v3_madd(way, -kiln_v3_dot(way, normal), normal);
    return kiln_touch_stays(
        s->touch, kiln_touch_distance(s->touch, o, v, kiln_v3_add(begin, way), &normal, &point),
        way);
}

double kiln_touch_cling(const kiln_touch *touch, uint32_t o, uint32_t v)
{
    double angle = kiln_obstacle_wetting(touch->obstacles[o])->angle;
    if (!touch->liquid.tension || !(angle < KILN_PI))
        return 0.0;
    return touch->liquid.tension[v] * sqrt(touch->liquid.area[v]) *
           (sin(angle) + 2.0 * (1.0 + cos(angle)));
}

/* Liquid is on what it wets from the first step on, and wherever it is put there, or inside: what
 * remeshing makes a little below a wall would go on sinking, and its faces would be dry. */
static bool lies_on(const kiln_touch *touch, uint32_t v, uint32_t o)
{
    if (!(kiln_touch_cling(touch, o, v) > 0.0))
        return false;
    if (touch->liquid.towards[v] == o + 1)
        return true;
    kiln_vec3 normal, point, x = kiln_touch_at(touch->begin, v);
    x = kiln_v3_madd(x, touch->h, kiln_obstacle_velocity(touch->obstacles[o], x));
    return kiln_touch_distance(touch, o, v, x, &normal, &point) <= kiln_touch_plane_slack(touch);
}

/* Does the vertex meet the obstacle, and on which plane? That of the nearest surface, unless the
 * way in was another: near edges and deep inside the nearest may be a side it did not come from. */
static bool meets(const search *s, uint32_t v, uint32_t o, kiln_vec3 *normal, kiln_vec3 *point)
{
    const kiln_touch *touch = s->touch;
    const kiln_obstacle *obstacle = touch->obstacles[o];
    kiln_vec3 x = kiln_touch_at(touch->begin, v);
    kiln_vec3 end = s->start ? kiln_v3_madd(x, touch->h, kiln_touch_at(s->start->v, v))
                             : kiln_touch_at(s->x, v);
    /* The obstacle is where it will be at the end: seen from it the vertex starts where the
     * obstacle's own motion puts it. */
    kiln_vec3 begin = kiln_v3_madd(x, touch->h, kiln_obstacle_velocity(obstacle, x));
    kiln_vec3 way = kiln_v3_sub(end, begin);
    double d = kiln_touch_distance(touch, o, v, end, normal, point);
    bool inside = d < -touch->slack;
    bool before = s->start && s->start->with && s->start->with[v] == o + 1;
    if (s->start && lies_on(touch, v, o))
        return true;
    if (before && !inside && (kiln_touch_stays(touch, d, way) || pressed_on(s, v, o, begin, way)))
        return true;
    if (s->start && touch->h == 0.0 && fabs(d) <= touch->slack)
        return true; /* static: what lies on it must not fall through before it is looked at */
    if (d > kiln_v3_norm(way))
        return false; /* a surface further from the end than the way is long was not met */
    kiln_vec3 entry_normal, entry;
    way_in in = enter(touch, o, v, begin, way, &entry_normal, &entry);
    bool met = inside || in == FROM_OUTSIDE;
    if (met && in != MISSED && (!inside || kiln_v3_dot(entry_normal, *normal) < 0.5)) {
        *normal = entry_normal;
        *point = entry;
    }
    return met;
}

static void flag_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const search *s = user;
    const kiln_touch *touch = s->touch;
    kiln_vec3 normal, point;
    for (size_t i = begin; i < end; i++) {
        uint32_t v = touch->surface.data[i];
        bool found = false;
        if (touch->given->held[v] != 7)
            for (uint32_t o = 0; o < touch->obstacle_count && !found; o++)
                found = meets(s, v, o, &normal, &point);
        touch->flag.data[i] = found;
    }
}

static int by_place(const void *left, const void *right)
{
    const kiln_touch_contact *a = left, *b = right;
    if (a->vertex != b->vertex)
        return a->vertex < b->vertex ? -1 : 1;
    return (a->obstacle > b->obstacle) - (a->obstacle < b->obstacle);
}

kiln_touch_contact *kiln_touch_find(kiln_touch *touch, size_t count, uint32_t v, uint32_t o)
{
    kiln_touch_contact key = {.vertex = v, .obstacle = o};
    return count ? bsearch(&key, touch->contacts.data, count, sizeof key, by_place) : NULL;
}

void kiln_touch_sort(kiln_touch *touch)
{
    qsort(touch->contacts.data, touch->contacts.count, sizeof *touch->contacts.data, by_place);
}

/* The contact of a vertex with an obstacle that it meets. Among the first `known` there may be one
 * that was let go. */
static kiln_status add_contact(const search *s, size_t known, kiln_touch_contact new, bool *found,
                               kiln_error *error)
{
    kiln_touch *touch = s->touch;
    uint32_t v = new.vertex, o = new.obstacle;
    if (kiln_v3_norm(kiln_touch_free_part(touch, v, new.normal)) < KILN_TOUCH_INDEPENDENT)
        return KILN_OK; /* no obstacle stops what is led */
    kiln_touch_contact *old = kiln_touch_find(touch, known, v, o);
    if (old && old->active)
        return KILN_OK; /* its plane is looked after elsewhere */
    *found = true;
    new.slip =
        kiln_v3_norm(s->start ? kiln_touch_along_plane(touch, &new, kiln_touch_at(s->start->v, v))
                              : kiln_touch_slip_velocity(touch, &new, s->x));
    if (old) {
        new.kept = true;
        new.force = old->force; /* of the pass that let it go */
        *old = new;
        return KILN_OK;
    }
    if (s->start && s->start->with && s->start->with[v] == o + 1)
        new.load = s->start->load[v];
    return kiln_array_push(touch->context, &touch->contacts, new, error);
}

kiln_status kiln_touch_seek(kiln_touch *touch, const kiln_touch_start *start, const double *x,
                            bool *found, kiln_error *error)
{
    search s = {.touch = touch, .start = start, .x = x};
    kiln_parallel_for(touch->context, touch->surface.count, GRAIN, flag_chunk, &s);
    size_t known = touch->contacts.count;
    for (size_t i = 0; i < touch->surface.count; i++) {
        if (!touch->flag.data[i])
            continue;
        for (uint32_t o = 0; o < touch->obstacle_count; o++) {
            kiln_touch_contact new = {.vertex = touch->surface.data[i], .obstacle = o};
            new.active = true;
            if (meets(&s, new.vertex, o, &new.normal, &new.point))
                KILN_TRY(add_contact(&s, known, new, found, error));
        }
    }
    if (touch->contacts.count > known)
        kiln_touch_sort(touch);
    return KILN_OK;
}

/* Vertices that begin inside: remeshing made them on an edge across a round obstacle, or the scene
 * put them there. A vertex is led out over `recover` seconds: the shorter the step, the shorter the
 * way, so that a failed step can succeed when it is halved. */
static void sunk_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    kiln_touch *touch = user;
    double keep = 1.0 - touch->h / touch->recover;
    for (size_t i = begin; i < end; i++) {
        uint32_t v = touch->surface.data[i];
        double deepest = -touch->slack;
        for (uint32_t o = 0; o < touch->obstacle_count; o++) {
            kiln_vec3 normal, point, x = kiln_touch_at(touch->begin, v);
            x = kiln_v3_madd(x, touch->h, kiln_obstacle_velocity(touch->obstacles[o], x));
            deepest =
                fmin(deepest, kiln_obstacle_distance(touch->obstacles[o], x, &normal, &point));
        }
        touch->sunk.data[v] = deepest < -touch->slack ? -deepest * keep : 0.0;
    }
}

void kiln_touch_adopt(kiln_touch *touch, const kiln_touch_start *start)
{
    touch->contacts.count = 0;
    touch->is_cut = false;
    touch->given = start->given;
    touch->begin = start->x;
    touch->begin_v = start->v;
    touch->with = start->with;
    touch->load = start->load;
    touch->kept_before = start->kept;
    touch->push_before = start->push;
    touch->h = start->h;
    touch->origin = start->origin;
    touch->tau = start->tau;
    touch->matter = start->matter;
    touch->mass = kiln_mass_lumped(start->matter);
    touch->holds = start->holds;
    touch->per_scale = start->per_scale;
    touch->liquid = start->liquid;
}

kiln_status kiln_touch_begin(kiln_touch *touch, const kiln_touch_start *start, kiln_error *error)
{
    kiln_touch_adopt(touch, start);
    const kiln_touch_liquid *liquid = &touch->liquid;
    if (touch->recover > 0.0 || liquid->towards)
        memset(touch->sunk.data, 0, touch->sunk.count * sizeof(double));
    if (touch->h > 0.0 && touch->h < touch->recover)
        kiln_parallel_for(touch->context, touch->surface.count, GRAIN, sunk_chunk, touch);
    for (size_t i = 0; i < touch->surface.count && liquid->towards; i++) {
        uint32_t v = touch->surface.data[i];
        if (liquid->above[v] > 0.0)
            touch->sunk.data[v] = -liquid->above[v];
    }
    bool found = false;
    return kiln_touch_seek(touch, start, NULL, &found, error);
}
