#include "step/touch.h"

#include "base/assert.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum {
    GRAIN = 512,      /* vertices per chunk of a test against all obstacles */
    MOST_TRACES = 24, /* of a vertex on its way to an obstacle */
    MOST_RENEWALS = 3 /* of a plane in one step */
};
/* A normal that is this close to the span of what is held already is not held again. */
#define INDEPENDENT 0.05
/* A vertex that slides on a curved obstacle comes off it by a small part of its way; one that went
 * over an edge by more. */
#define MOST_RISE 0.25
/* Planes that are off by less (times the length of the model) are good enough for this step. */
#define PLANE_SLACK 1e-6
#define SLACK       1e-9

static kiln_vec3 at(const double *x, uint32_t v)
{
    return kiln_v3(x[3 * (size_t)v], x[3 * (size_t)v + 1], x[3 * (size_t)v + 2]);
}

static void put(double *x, uint32_t v, kiln_vec3 p)
{
    x[3 * (size_t)v] = p.x;
    x[3 * (size_t)v + 1] = p.y;
    x[3 * (size_t)v + 2] = p.z;
}

static double friction_value(void *self, const double *x);
static void friction_add(void *self, const double *x, double scale, double *g, kiln_bsr *H);

void kiln_touch_init(kiln_touch *touch, kiln_context *context, kiln_obstacle *const *obstacles,
                     size_t obstacle_count)
{
    *touch = (kiln_touch){
        .context = context,
        .obstacles = obstacles,
        .obstacle_count = obstacle_count,
        .friction = {.name = "friction",
                     .self = touch,
                     .weight = 1.0,
                     .value = friction_value,
                     .add = friction_add},
    };
}

void kiln_touch_free(kiln_touch *touch)
{
    kiln_array_free(touch->context, &touch->surface);
    kiln_array_free(touch->context, &touch->flag);
    kiln_array_free(touch->context, &touch->sunk);
    kiln_array_free(touch->context, &touch->contacts);
}

void kiln_touch_measure(kiln_touch *touch, double length)
{
    touch->slack = SLACK * length;
}

kiln_status kiln_touch_build(kiln_touch *touch, const kiln_mesh *mesh, double length,
                             kiln_error *error)
{
    kiln_touch_measure(touch, length);
    touch->surface.count = touch->contacts.count = 0;
    if (touch->obstacle_count == 0)
        return KILN_OK;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_SURFACE)
            KILN_TRY(kiln_array_push(touch->context, &touch->surface, v, error));
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(touch->context, &touch->sunk, rows, error));
    touch->sunk.count = rows;
    memset(touch->sunk.data, 0, rows * sizeof(double));
    return kiln_array_reserve(touch->context, &touch->flag, touch->surface.count, error);
}

size_t kiln_touch_count(const kiln_touch *touch)
{
    size_t count = 0;
    for (size_t i = 0; i < touch->contacts.count; i++)
        count += touch->contacts.data[i].active;
    return count;
}

size_t kiln_touch_bytes(const kiln_touch *touch)
{
    return touch->surface.capacity * sizeof(uint32_t) + touch->flag.capacity +
           touch->sunk.capacity * sizeof(double) +
           touch->contacts.capacity * sizeof(kiln_touch_contact);
}

/* What of a velocity is along the contact's plane, relative to the obstacle. */
static kiln_vec3 along_plane(const kiln_touch *touch, const kiln_touch_contact *c, kiln_vec3 v)
{
    v = kiln_v3_sub(v, kiln_obstacle_velocity(touch->obstacles[c->obstacle], c->point));
    return kiln_v3_madd(v, -kiln_v3_dot(v, c->normal), c->normal);
}

/* That of the velocity at the end of the step, with the vertices at x. */
static kiln_vec3 slip_velocity(const kiln_touch *touch, const kiln_touch_contact *c,
                               const double *x)
{
    kiln_vec3 way = kiln_v3_sub(at(x, c->vertex), at(touch->origin, c->vertex));
    return along_plane(touch, c, kiln_v3_scale(way, 1.0 / touch->tau));
}

/* The part of a direction in which the vertex may move, as far as what was given is concerned. */
static kiln_vec3 free_part(const kiln_constraints *given, uint32_t v, kiln_vec3 direction)
{
    kiln_held held = kiln_constraints_held(given, v);
    return kiln_held_free_part(&held, direction);
}

/* Finding contacts. */

/* As kiln_obstacle_distance, of the obstacle as the vertex sees it: smaller by what it is still
 * allowed to be inside. */
static double distance(const kiln_touch *touch, uint32_t o, uint32_t v, kiln_vec3 x,
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
        double d = distance(touch, o, v, here, normal, point);
        if (d < -slack)
            return MISSED; /* began inside: the end decides */
        if (d <= slack)
            return kiln_v3_dot(*normal, way) >= 0.0 ? MISSED : i > 0 ? FROM_OUTSIDE : FROM_SURFACE;
        gone += d;
    }
    return MISSED;
}

/* Is a vertex that was on the obstacle and is now at distance d still on it, after that way? */
static bool stays(const kiln_touch *touch, double d, kiln_vec3 way)
{
    return d <= touch->slack * (PLANE_SLACK / SLACK) + MOST_RISE * kiln_v3_norm(way);
}

/* A vertex that was pressed on the obstacle goes with it: its velocity, which knows nothing of that
 * force, carries it off where the obstacle slows down. Its way along the obstacle counts. */
static bool pressed_on(const search *s, uint32_t v, uint32_t o, kiln_vec3 begin, kiln_vec3 way)
{
    if (!(s->start->load[v] > 0.0))
        return false;
    kiln_vec3 normal, point;
    distance(s->touch, o, v, begin, &normal, &point);
    way = kiln_v3_madd(way, -kiln_v3_dot(way, normal), normal);
    return stays(s->touch, distance(s->touch, o, v, kiln_v3_add(begin, way), &normal, &point), way);
}

/* Does the vertex meet the obstacle, and on which plane? That of the nearest surface, unless the
 * way in was another: near edges and deep inside the nearest may be a side it did not come from. */
static bool meets(const search *s, uint32_t v, uint32_t o, kiln_vec3 *normal, kiln_vec3 *point)
{
    const kiln_touch *touch = s->touch;
    const kiln_obstacle *obstacle = touch->obstacles[o];
    kiln_vec3 x = at(touch->begin, v);
    kiln_vec3 end = s->start ? kiln_v3_madd(x, touch->h, at(s->start->v, v)) : at(s->x, v);
    /* The obstacle is where it will be at the end: seen from it the vertex starts where the
     * obstacle's own motion puts it. */
    kiln_vec3 begin = kiln_v3_madd(x, touch->h, kiln_obstacle_velocity(obstacle, x));
    kiln_vec3 way = kiln_v3_sub(end, begin);
    double d = distance(touch, o, v, end, normal, point);
    bool inside = d < -touch->slack;
    bool before = s->start && s->start->with && s->start->with[v] == o + 1;
    if (before && !inside && (stays(touch, d, way) || pressed_on(s, v, o, begin, way)))
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

static kiln_touch_contact *find(kiln_touch *touch, size_t count, uint32_t v, uint32_t o)
{
    kiln_touch_contact key = {.vertex = v, .obstacle = o};
    return count ? bsearch(&key, touch->contacts.data, count, sizeof key, by_place) : NULL;
}

/* Adds what meets an obstacle and is not a contact yet; wakes those that had been let go. */
static kiln_status seek(kiln_touch *touch, const search *s, bool *found, kiln_error *error)
{
    kiln_parallel_for(touch->context, touch->surface.count, GRAIN, flag_chunk, (void *)s);
    size_t known = touch->contacts.count;
    for (size_t i = 0; i < touch->surface.count; i++) {
        if (!touch->flag.data[i])
            continue;
        uint32_t v = touch->surface.data[i];
        for (uint32_t o = 0; o < touch->obstacle_count; o++) {
            kiln_touch_contact new = {.vertex = v, .obstacle = o, .active = true};
            if (!meets(s, v, o, &new.normal, &new.point) ||
                kiln_v3_norm(free_part(touch->given, v, new.normal)) < INDEPENDENT)
                continue; /* no obstacle stops what is led */
            kiln_touch_contact *old = find(touch, known, v, o);
            if (old && old->active)
                continue; /* its plane is looked after elsewhere */
            *found = true;
            new.slip = kiln_v3_norm(s->start ? along_plane(touch, &new, at(s->start->v, v))
                                             : slip_velocity(touch, &new, s->x));
            if (old) {
                new.kept = true;
                *old = new;
                continue;
            }
            if (s->start && s->start->with && s->start->with[v] == o + 1)
                new.load = s->start->load[v];
            KILN_TRY(kiln_array_push(touch->context, &touch->contacts, new, error));
        }
    }
    if (touch->contacts.count > known)
        qsort(touch->contacts.data, touch->contacts.count, sizeof *touch->contacts.data, by_place);
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
            kiln_vec3 normal, point, x = at(touch->begin, v);
            x = kiln_v3_madd(x, touch->h, kiln_obstacle_velocity(touch->obstacles[o], x));
            deepest =
                fmin(deepest, kiln_obstacle_distance(touch->obstacles[o], x, &normal, &point));
        }
        touch->sunk.data[v] = deepest < -touch->slack ? -deepest * keep : 0.0;
    }
}

kiln_status kiln_touch_begin(kiln_touch *touch, const kiln_touch_start *start, kiln_error *error)
{
    touch->contacts.count = 0;
    touch->given = start->given;
    touch->begin = start->x;
    touch->h = start->h;
    touch->origin = start->origin;
    touch->tau = start->tau;
    if (touch->recover > 0.0)
        memset(touch->sunk.data, 0, touch->sunk.count * sizeof(double));
    if (touch->h > 0.0 && touch->h < touch->recover)
        kiln_parallel_for(touch->context, touch->surface.count, GRAIN, sunk_chunk, touch);
    bool found = false;
    search s = {.touch = touch, .start = start};
    return seek(touch, &s, &found, error);
}

/* Holding them. */

/* Holds the contact's plane by one more direction, unless those held do already. */
static void hold_plane(kiln_held *held, kiln_touch_contact *contact)
{
    double place = kiln_v3_dot(contact->normal, contact->point);
    contact->share = kiln_held_add(held, contact->normal, place, INDEPENDENT, NULL);
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

/* Judging a pass. */

/* The force at a vertex is the sum of those of its held directions; the last contact alone has a
 * part along its own axis, so they are found from the last to the first. What remains is the
 * force of what was given. */
static void share_out(kiln_touch *touch, double *held, double *contact)
{
    for (size_t i = touch->contacts.count; i-- > 0;) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->active || c->share == 0.0) {
            c->load = 0.0;
            continue;
        }
        kiln_vec3 force = at(held, c->vertex);
        double load = kiln_v3_dot(force, c->axis) / c->share;
        kiln_vec3 normal_force = kiln_v3_scale(c->normal, load);
        put(held, c->vertex, kiln_v3_sub(force, normal_force));
        put(contact, c->vertex, kiln_v3_add(at(contact, c->vertex), normal_force));
        c->load = load; /* may be negative until the release below */
    }
}

/* Lets go of those that would have to pull. */
static bool release(kiln_touch *touch)
{
    double largest = 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++)
        largest = fmax(largest, touch->contacts.data[i].load);
    bool released = false;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        if (c->active && c->load < -1e-12 * largest && !c->kept) {
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
    double limit = touch->slack * (PLANE_SLACK / SLACK);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->active || c->share == 0.0 || c->renewed == MOST_RENEWALS)
            continue;
        kiln_vec3 normal, point;
        double d = distance(touch, c->obstacle, c->vertex, at(x, c->vertex), &normal, &point);
        if (fabs(d) <= limit)
            continue;
        kiln_vec3 way = kiln_v3_sub(at(x, c->vertex), at(touch->begin, c->vertex));
        if (!c->kept && !stays(touch, d, way)) {
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

/* By how much what friction depends on has changed, relative to it. */
static double renew_friction(kiln_touch *touch, const double *x)
{
    double change = 0.0, sum = 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        double mu = kiln_obstacle_friction(touch->obstacles[c->obstacle]);
        change += mu * fabs(c->load - c->load_before);
        sum += mu * c->load;
        if (touch->linearised && c->active) {
            double slip = kiln_v3_norm(slip_velocity(touch, c, x));
            double most = fmax(fmax(slip, c->slip), touch->slip_speed);
            change += mu * c->load * fabs(slip - c->slip) / most;
            c->slip = slip;
        }
    }
    return change > 0.0 ? change / fmax(sum, change) : 0.0;
}

kiln_status kiln_touch_judge(kiln_touch *touch, const double *x, double *held, double *contact,
                             double *change, bool *changed, kiln_error *error)
{
    memset(contact, 0, 3 * touch->given->rows * sizeof *contact);
    friction_add(touch, x, -1.0, contact, NULL); /* with the loads this pass had */
    for (size_t i = 0; i < touch->contacts.count; i++)
        touch->contacts.data[i].load_before = touch->contacts.data[i].load;
    share_out(touch, held, contact);
    *changed = release(touch);
    *change = renew_friction(touch, x);
    *changed |= renew_planes(touch, x);
    search s = {.touch = touch, .x = x};
    return seek(touch, &s, changed, error);
}

/* The end of the step. */

kiln_status kiln_touch_project(kiln_touch *touch, bool settled, double *x, kiln_error *error)
{
    bool found = false;
    search s = {.touch = touch, .x = x};
    if (!settled)
        KILN_TRY(seek(touch, &s, &found, error));
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_vec3 normal, point, place = at(x, c->vertex);
        if (!c->active ||
            distance(touch, c->obstacle, c->vertex, place, &normal, &point) >= -touch->slack)
            continue;
        kiln_vec3 way = free_part(touch->given, c->vertex, normal);
        double share = kiln_v3_norm2(way), depth = kiln_v3_dot(normal, kiln_v3_sub(point, place));
        if (share < INDEPENDENT * INDEPENDENT)
            continue;
        if (touch->given->held[c->vertex]) /* to the plane, by the way that is left */
            put(x, c->vertex, kiln_v3_madd(place, depth / share, way));
        else
            put(x, c->vertex, point);
        c->normal = normal;
        c->point = point;
    }
    return KILN_OK;
}

/* What the impact changes of a velocity; `way` is the free part of the normal. */
static kiln_vec3 impact(const kiln_touch *touch, const kiln_touch_contact *c, kiln_vec3 way,
                        kiln_vec3 old)
{
    const kiln_obstacle *obstacle = touch->obstacles[c->obstacle];
    kiln_vec3 relative = kiln_v3_sub(old, kiln_obstacle_velocity(obstacle, c->point));
    double into = -kiln_v3_dot(relative, c->normal), share = kiln_v3_norm2(way);
    kiln_vec3 along = kiln_v3_madd(relative, into, c->normal);
    double speed = kiln_v3_norm(along);
    double loss = into > 0.0 ? kiln_obstacle_friction(obstacle) * into : 0.0;
    double lost = speed > loss ? loss / speed : 1.0;
    kiln_vec3 drag = free_part(touch->given, c->vertex, kiln_v3_scale(along, -lost));
    drag = kiln_v3_madd(drag, -kiln_v3_dot(drag, way) / share, way); /* stays in the plane */
    return kiln_v3_madd(drag, into / share, way);
}

void kiln_touch_stop(const kiln_touch *touch, const double *mass, double h, double *v, double *a,
                     double *contact)
{
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->active)
            continue;
        kiln_vec3 way = free_part(touch->given, c->vertex, c->normal);
        double share = kiln_v3_norm2(way);
        if (share < INDEPENDENT * INDEPENDENT)
            continue;
        kiln_vec3 old = at(v, c->vertex), change = impact(touch, c, way, old);
        put(v, c->vertex, kiln_v3_add(old, change));
        kiln_vec3 force = kiln_v3_scale(change, mass[c->vertex] / h);
        put(contact, c->vertex, kiln_v3_add(at(contact, c->vertex), force));
        if (a) {
            kiln_vec3 rate = at(a, c->vertex);
            put(a, c->vertex, kiln_v3_madd(rate, -kiln_v3_dot(rate, c->normal) / share, way));
        }
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
            kiln_vec3 rate = at(a, vertex);
            support(touch, touch->obstacles[o], at(x, vertex), at(v, vertex), &rate);
            put(a, vertex, rate);
        }
}

void kiln_touch_remember(const kiln_touch *touch, uint32_t *with, double *load)
{
    for (size_t i = 0; i < touch->surface.count; i++) {
        with[touch->surface.data[i]] = 0;
        load[touch->surface.data[i]] = 0.0;
    }
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        if (!c->active || (with[c->vertex] != 0 && load[c->vertex] >= c->load))
            continue;
        with[c->vertex] = c->obstacle + 1;
        load[c->vertex] = c->load;
    }
}

/* Friction (slip.h): v is relative to the obstacle. */

typedef struct slip {
    double weight; /* mu N, 0: none */
    kiln_vec3 v;   /* along the plane, m/s */
    double value;  /* f(|v|) */
    double secant; /* f'(|v|) / |v| */
} slip;

static slip slip_of(const kiln_touch *touch, const kiln_touch_contact *c, const double *x)
{
    slip s = {.weight = 0.0};
    if (!c->active || !(c->load > 0.0))
        return s;
    double e = touch->slip_speed;
    s.weight = kiln_obstacle_friction(touch->obstacles[c->obstacle]) * c->load;
    s.v = slip_velocity(touch, c, x);
    double speed = kiln_v3_norm(s.v);
    kiln_slip law = kiln_slip_at(touch->linearised ? c->slip : speed, e);
    s.secant = law.secant;
    s.value = touch->linearised ? 0.5 * s.secant * speed * speed : law.value;
    return s;
}

static double friction_value(void *self, const double *x)
{
    const kiln_touch *touch = self;
    double sum = 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        slip s = slip_of(touch, &touch->contacts.data[i], x);
        sum += s.weight * touch->tau * s.value;
    }
    return sum;
}

static void add_block(kiln_bsr *H, const kiln_touch_contact *c, double weight, kiln_vec3 a,
                      kiln_vec3 b)
{
    const double n[3] = {c->normal.x, c->normal.y, c->normal.z};
    const double p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
    size_t stride;
    double *block = kiln_bsr_at(H, c->vertex, H->start[c->vertex], &stride);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            block[i * stride + j] +=
                weight * ((i == j) - n[i] * n[j] - 0.5 * (p[i] * q[j] + q[i] * p[j]));
}

static void friction_hessian(const kiln_touch *touch, kiln_touch_contact *c, const slip *s,
                             double weight, kiln_bsr *H)
{
    kiln_vec3 turn = kiln_slip_turn(&c->memory, s->v, s->secant, touch->slip_speed);
    add_block(H, c, weight * s->secant / touch->tau, turn, kiln_v3_normalize(s->v));
}

static void friction_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    const kiln_touch *touch = self;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        slip s = slip_of(touch, c, x);
        if (s.weight == 0.0)
            continue;
        double weight = scale * s.weight;
        put(g, c->vertex, kiln_v3_madd(at(g, c->vertex), weight * s.secant, s.v));
        if (H && touch->linearised)
            add_block(H, c, weight * s.secant / touch->tau, kiln_v3(0, 0, 0), kiln_v3(0, 0, 0));
        else if (H)
            friction_hessian(touch, c, &s, weight, H);
    }
}

bool kiln_touch_has_friction(const kiln_touch *touch)
{
    for (size_t o = 0; o < touch->obstacle_count; o++)
        if (kiln_obstacle_friction(touch->obstacles[o]) > 0.0)
            return true;
    return false;
}
