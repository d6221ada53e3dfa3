#include "app/render_look.h"

#include <math.h>
#include <string.h>

enum { MOST_EVENTS = 10, MOST_RAYS = 8 }; /* surfaces that a ray meets; rays that wait */
static const float FAINT = 0.02f;         /* of all light: what is not followed */
static const double OFFSET = 1e-5;        /* of rays from the surface they leave */
static const double KEY_COSINE = 0.985, KEY_SOFT = 0.006; /* of the key light's disc and its rim */
static const float KEY_LIGHT = 5.0f, KEY_GLOW = 0.35f;
static const double WET = 2e-3;  /* what is nearer to an obstacle lies on it */
static const float BELOW = 0.9f; /* light on what it lies on: much of it comes together there */
static const kiln_rgb QUIET = {0.44f, 0.46f, 0.48f};

static const kiln_look looks[] = {
    {"water", 1.333, {0.80f, 0.24f, 0.10f}, 0.40f},
    {"honey", 1.49, {0.9f, 3.4f, 14.0f}, 0.62f},
    {"glass", 1.52, {0.14f, 0.07f, 0.09f}, 0.40f},
};

kiln_status kiln_look_find(const char *name, const kiln_look **out, kiln_error *error)
{
    *out = NULL;
    if (strcmp(name, "clay") == 0)
        return KILN_OK;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (strcmp(name, looks[i].name) == 0)
            *out = &looks[i];
    return *out ? KILN_OK
                : kiln_fail(error, KILN_ERR_INPUT, "--look", 0, -1,
                            "must be clay, water, honey or glass, got '%s'", name);
}

static kiln_rgb scaled(kiln_rgb c, float s)
{
    return (kiln_rgb){s * c.r, s * c.g, s * c.b};
}

static kiln_rgb times(kiln_rgb a, kiln_rgb b)
{
    return (kiln_rgb){a.r * b.r, a.g * b.g, a.b * b.b};
}

static kiln_rgb plus(kiln_rgb a, kiln_rgb b)
{
    return (kiln_rgb){a.r + b.r, a.g + b.g, a.b + b.b};
}

/* A ray on its way, and what it still counts. */
typedef struct ray {
    kiln_vec3 from, direction; /* unit */
    kiln_rgb weight;
    bool inside;
    int events; /* surfaces met so far */
} ray;

/* Of one that the eye sends out: what came back so far, and what was split off on the way. */
typedef struct sight {
    kiln_rgb seen;
    ray waiting[MOST_RAYS];
    int count;
} sight;

/* Unpolarised. The cosine is of the angle outside the denser matter. */
static double fresnel(double index, double cosine)
{
    double sine2 = (1.0 - cosine * cosine) / (index * index), inner = sqrt(fmax(0.0, 1.0 - sine2));
    double s = (cosine - index * inner) / (cosine + index * inner);
    double p = (inner - index * cosine) / (inner + index * cosine);
    return 0.5 * (s * s + p * p);
}

/* Blue above and bright at the horizon, with the backdrop's brightness; the key light is a disc in
 * a glow. */
static kiln_rgb sky(const kiln_look_stage *s, kiln_vec3 d)
{
    static const kiln_rgb zenith = {0.42f, 0.60f, 0.82f};
    kiln_rgb color = kiln_rgb_mix(s->bottom, times(s->top, zenith), (float)sqrt(fmax(0.0, d.z)));
    double toward = kiln_v3_dot(d, s->key);
    double disc = fmin(fmax((toward - KEY_COSINE) / KEY_SOFT, 0.0), 1.0);
    float light = KEY_LIGHT * (float)disc + KEY_GLOW * (float)pow(fmax(0.0, toward), 24.0);
    return plus(color, (kiln_rgb){light, 0.97f * light, 0.92f * light});
}

float kiln_look_lit(const kiln_look_stage *s, kiln_vec3 from, kiln_vec3 to_light)
{
    kiln_hit hit;
    if (!kiln_tracer_hit(s->tracer, from, to_light, &hit))
        return 1.0f;
    return s->look && hit.triangle < s->mesh->body_triangles ? 1.0f - s->look->shade : 0.0f;
}

/* The ground looks as the backdrop does where it is in the picture. */
static kiln_rgb ground(const kiln_look_stage *s, kiln_vec3 at, bool below)
{
    double x, y = s->height;
    if (kiln_v3_dot(kiln_v3_sub(at, s->camera->eye), s->camera->forward) > 0.0)
        kiln_camera_project(s->camera, at, &x, &y);
    float down = (float)fmin(fmax(y / s->height, 0.0), 1.0);
    kiln_vec3 from = kiln_v3_madd(at, 1e-6, kiln_v3(0, 0, 1));
    float lit = kiln_look_lit(s, from, s->key), open = kiln_look_lit(s, from, kiln_v3(0, 0, 1));
    float light = below ? BELOW : 0.55f * lit + 0.45f * open;
    float shade = 1.0f - 0.72f * (1.0f - light);
    return scaled(kiln_rgb_mix(s->top, s->bottom, down), shade);
}

static kiln_rgb obstacle(const kiln_look_stage *s, const kiln_surface_place *at, bool below)
{
    kiln_vec3 from = kiln_v3_madd(at->position, OFFSET, at->face_normal);
    double facing = kiln_v3_dot(at->normal, s->key);
    float light = below ? BELOW : kiln_look_lit(s, from, s->key);
    float lit = facing > 0.0 ? (float)facing * light : 0.0f;
    return scaled(QUIET, lit + 0.5f);
}

/* Where it goes on without meeting matter that light goes through. */
static kiln_rgb end_of(const kiln_look_stage *s, const ray *r, const kiln_hit *hit)
{
    if (hit) {
        kiln_surface_place at = kiln_render_mesh_at(s->mesh, hit->triangle, hit->u, hit->v);
        if (kiln_v3_dot(at.face_normal, r->direction) > 0.0) {
            at.face_normal = kiln_v3_scale(at.face_normal, -1.0);
            at.normal = kiln_v3_scale(at.normal, -1.0);
        }
        return obstacle(s, &at, r->inside);
    }
    if (s->ground && r->direction.z < -1e-9) {
        double distance = (s->mesh->floor - r->from.z) / r->direction.z;
        return ground(s, kiln_v3_madd(r->from, fmax(distance, 0.0), r->direction), false);
    }
    return sky(s, r->direction);
}

static kiln_vec3 mirrored(kiln_vec3 d, kiln_vec3 n)
{
    return kiln_v3_madd(d, -2.0 * kiln_v3_dot(d, n), n);
}

/* What a surface throws back from outside: what is seen there, bodies as if they were not. */
static kiln_rgb thrown_back(const kiln_look_stage *s, kiln_vec3 at, kiln_vec3 direction)
{
    ray r = {.from = at, .direction = direction};
    kiln_hit hit;
    bool meets = kiln_tracer_hit(s->tracer, at, direction, &hit);
    return end_of(s, &r, meets && hit.triangle >= s->mesh->body_triangles ? &hit : NULL);
}

/* Snell's law, from outside with index 1 or from inside; false: all of it stays inside. `n` is
 * against the ray. */
static bool bend(double index, bool inside, kiln_vec3 n, kiln_vec3 *d)
{
    double ratio = inside ? index : 1.0 / index, cosine = -kiln_v3_dot(*d, n);
    double k = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    if (k <= 0.0)
        return false;
    *d = kiln_v3_normalize(kiln_v3_madd(kiln_v3_scale(*d, ratio), ratio * cosine - sqrt(k), n));
    return true;
}

static kiln_rgb after_way(const kiln_look *look, kiln_rgb weight, double distance)
{
    float d = (float)distance;
    return times(weight, (kiln_rgb){expf(-look->absorb.r * d), expf(-look->absorb.g * d),
                                    expf(-look->absorb.b * d)});
}

/* What a surface keeps inside of light that leaves there waits, where it counts. */
static void split_off(sight *all, const ray *r, kiln_vec3 from, kiln_vec3 n, double back)
{
    ray kept = *r;
    kept.from = from;
    kept.direction = mirrored(r->direction, n);
    kept.weight = scaled(r->weight, (float)back);
    if (all->count < MOST_RAYS && fmaxf(kept.weight.r, fmaxf(kept.weight.g, kept.weight.b)) > FAINT)
        all->waiting[all->count++] = kept;
}

/* A surface of a body: what is thrown back there is seen, outside, or waits, inside; the rest goes
 * on. */
static void pass(const kiln_look_stage *s, ray *r, const kiln_hit *hit, sight *all)
{
    kiln_surface_place at = kiln_render_mesh_at(s->mesh, hit->triangle, hit->u, hit->v);
    kiln_vec3 n = at.normal, d = r->direction;
    r->inside = kiln_v3_dot(at.face_normal, d) > 0.0;
    if (r->inside) {
        r->weight = after_way(s->look, r->weight, hit->distance);
        n = kiln_v3_scale(n, -1.0);
        at.face_normal = kiln_v3_scale(at.face_normal, -1.0);
    }
    if (kiln_v3_dot(n, d) > -0.02) /* smooth normals may look away where facets do not */
        n = kiln_v3_normalize(kiln_v3_madd(n, -kiln_v3_dot(n, d) - 0.02, d));
    kiln_vec3 near = kiln_v3_madd(at.position, OFFSET, at.face_normal);
    double cosine = -kiln_v3_dot(n, d);
    if (!bend(s->look->index, r->inside, n, &d)) {
        r->from = near;
        r->direction = mirrored(r->direction, n);
        return; /* still inside */
    }
    double back = fresnel(s->look->index, r->inside ? -kiln_v3_dot(n, d) : cosine);
    if (r->inside)
        split_off(all, r, near, n, back);
    else
        all->seen = plus(all->seen, times(scaled(r->weight, (float)back),
                                          thrown_back(s, near, mirrored(r->direction, n))));
    r->weight = scaled(r->weight, (float)(1.0 - back));
    r->from = kiln_v3_madd(at.position, -OFFSET, at.face_normal);
    r->direction = d;
    r->inside = !r->inside;
}

/* Whether a ray inside a body comes to where that lies on an obstacle or on the ground: there it
 * ends, as there is no air between; the light there. `at` is a hit of the body. */
static bool ends_below(const kiln_look_stage *s, const ray *r, const kiln_hit *at, kiln_rgb *light)
{
    kiln_hit hit;
    kiln_vec3 before = kiln_v3_madd(r->from, at->distance - WET, r->direction);
    kiln_vec3 place = kiln_v3_madd(before, WET, r->direction);
    if (!r->inside)
        return false;
    if (kiln_tracer_hit_scenery(s->tracer, before, r->direction, 2.0 * WET, &hit)) {
        *light = end_of(s, r, &hit);
        return true;
    }
    if (!s->ground || r->direction.z >= 0.0 || place.z > s->mesh->floor + WET)
        return false;
    *light = ground(s, place, true);
    return true;
}

/* The light that a ray ends at. `hit`: of the body that it meets first; NULL: not known. */
static kiln_rgb follow(const kiln_look_stage *s, ray *r, const kiln_hit *first, sight *all)
{
    kiln_hit hit;
    if (first)
        hit = *first;
    for (; r->events < MOST_EVENTS; first = NULL) {
        if (!first && !kiln_tracer_hit(s->tracer, r->from, r->direction, &hit))
            return end_of(s, r, NULL);
        if (hit.triangle >= s->mesh->body_triangles) {
            if (r->inside)
                r->weight = after_way(s->look, r->weight, hit.distance);
            return end_of(s, r, &hit);
        }
        kiln_rgb light;
        if (ends_below(s, r, &hit, &light)) {
            r->weight = after_way(s->look, r->weight, hit.distance);
            return light;
        }
        r->events++;
        pass(s, r, &hit, all);
    }
    return sky(s, r->direction);
}

kiln_rgb kiln_look_through(const kiln_look_stage *s, kiln_vec3 from, kiln_vec3 direction,
                           const kiln_hit *first)
{
    double length = kiln_v3_norm(direction);
    kiln_hit hit = *first;
    hit.distance *= length;
    sight all = {.waiting = {{.from = from,
                              .direction = kiln_v3_scale(direction, 1.0 / length),
                              .weight = {1.0f, 1.0f, 1.0f}}},
                 .count = 1};
    for (first = &hit; all.count > 0; first = NULL) {
        ray r = all.waiting[--all.count];
        kiln_rgb light = follow(s, &r, first, &all);
        all.seen = plus(all.seen, times(r.weight, light));
    }
    return all.seen;
}
