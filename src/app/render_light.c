#include "app/render_light.h"

#include "base/parallel.h"
#include "base/random.h"

#include <string.h>

enum { TILE = 32, SKY_RAYS = 2, MAP_STEPS = 256 };

static const kiln_rgb key_color = {1.00f, 0.95f, 0.87f};
static const double key_strength = 1.00, sky_strength = 0.52, gloss_strength = 0.16;
static const double key_radius = 0.11; /* tangent of the key light's half angle: soft shadows */
static const double gloss_exponent = 48.0;
static const kiln_rgb quiet_color = {0.44f, 0.46f, 0.48f};
static const kiln_rgb edge_ink = {0.030f, 0.024f, 0.022f};
static const float edge_opacity = 0.80f;

typedef struct light_frame {
    kiln_light_job *job;
    kiln_vec3 key, key_side, key_up;
    kiln_rgb map[MAP_STEPS + 1];
    double floor, reach;
    kiln_look_stage stage;
} light_frame;

typedef struct pair {
    double a, b;
} pair;

/* The i-th point of the additive sequence of the plastic number, shifted: well spread for any
 * number of points. */
static pair spread(pair shift, uint32_t i)
{
    double a = shift.a + 0.7548776662466927 * i, b = shift.b + 0.5698402909980532 * i;
    return (pair){a - floor(a), b - floor(b)};
}

/* Interleaved sampling (Keller and Heidrich, 2001): the pixels of a 4 by 4 block share one long
 * sequence, each taking its own stretch in an order that keeps neighbours apart, so that the filter
 * finds little noise to remove. Blocks are shifted at random against one another. */
static pair block_shift(int x, int y)
{
    kiln_random random = kiln_random_start((uint64_t)(x / 4), (uint64_t)(y / 4));
    double a = kiln_random_unit(&random), b = kiln_random_unit(&random);
    return (pair){a, b};
}

static uint32_t stretch_of(int x, int y)
{
    static const uint8_t order[4][4] = {
        {0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    return order[y % 4][x % 4];
}

static void basis_around(kiln_vec3 n, kiln_vec3 *s, kiln_vec3 *t)
{
    kiln_vec3 helper = fabs(n.z) < 0.9 ? kiln_v3(0, 0, 1) : kiln_v3(1, 0, 0);
    *s = kiln_v3_normalize(kiln_v3_cross(helper, n));
    *t = kiln_v3_cross(n, *s);
}

/* Uniform on the unit disc (Shirley and Chiu's concentric map keeps strata together). */
static pair on_disc(pair unit)
{
    double x = 2 * unit.a - 1, y = 2 * unit.b - 1;
    if (x == 0.0 && y == 0.0)
        return (pair){0, 0};
    bool wide = fabs(x) > fabs(y);
    double r = wide ? x : y;
    double phi = 0.7853981633974483 * (wide ? y / x : 2.0 - x / y);
    return (pair){r * cos(phi), r * sin(phi)};
}

static kiln_vec3 toward_key(const light_frame *frame, pair unit)
{
    pair d = on_disc(unit);
    kiln_vec3 to = kiln_v3_madd(frame->key, key_radius * d.a, frame->key_side);
    return kiln_v3_normalize(kiln_v3_madd(to, key_radius * d.b, frame->key_up));
}

static kiln_vec3 cosine_direction(kiln_vec3 n, pair unit)
{
    kiln_vec3 s, t;
    basis_around(n, &s, &t);
    pair d = on_disc(unit);
    double up = sqrt(fmax(0.0, 1.0 - d.a * d.a - d.b * d.b));
    kiln_vec3 out = kiln_v3_scale(n, up);
    return kiln_v3_madd(kiln_v3_madd(out, d.a, s), d.b, t);
}

/* A bright studio: cool from above, warm from the floor. */
static kiln_rgb sky(kiln_vec3 d)
{
    static const kiln_rgb zenith = {0.92f, 1.00f, 1.12f}, horizon = {0.88f, 0.90f, 0.93f},
                          floor_bounce = {0.46f, 0.42f, 0.38f};
    if (d.z > 0.0)
        return kiln_rgb_mix(horizon, zenith, (float)sqrt(d.z));
    return kiln_rgb_mix(horizon, floor_bounce, (float)fmin(1.0, -3.0 * d.z));
}

typedef struct surface_point {
    kiln_vec3 position, lifted, face_normal, normal; /* normals towards the eye */
    kiln_rgb albedo;
} surface_point;

static kiln_vec3 load3(const float *p)
{
    return kiln_v3(p[0], p[1], p[2]);
}

static kiln_rgb color_at(const light_frame *frame, const kiln_hit *hit)
{
    const kiln_render_mesh *mesh = frame->job->mesh;
    const float *value = mesh->value[hit->triangle];
    switch (mesh->paint[hit->triangle]) {
    case KILN_PAINT_MAP: {
        double t = value[0] + hit->u * (value[1] - value[0]) + hit->v * (value[2] - value[0]);
        return frame->map[(int)(fmin(fmax(t, 0.0), 1.0) * MAP_STEPS + 0.5)];
    }
    case KILN_PAINT_KIND:
        return kiln_color_of_kind((size_t)value[0]);
    case KILN_PAINT_QUIET:
        return quiet_color;
    default:
        return mesh->scale.base;
    }
}

/* How much of the sample at (x, y) the triangle's edges cover. Lines keep their width in pixels;
 * where the triangles are only a few lines wide they fade, so that a fine mesh does not go black.
 */
static float edge_cover(const light_frame *frame, size_t triangle, double x, double y)
{
    const kiln_light_job *job = frame->job;
    const uint32_t *c = job->mesh->corner[triangle];
    double inside = -1e9, longest = 0.0, area; /* inside: how deep in the line of an edge */
    const float *p[3] = {job->screen[c[0]], job->screen[c[1]], job->screen[c[2]]};
    area = fabs((double)(p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) -
                (double)(p[2][0] - p[0][0]) * (p[1][1] - p[0][1]));
    for (int k = 0; k < 3; k++) {
        const float *a = p[k], *b = p[(k + 1) % 3];
        double dx = b[0] - a[0], dy = b[1] - a[1], length = sqrt(dx * dx + dy * dy);
        longest = fmax(longest, length);
        /* The half of an outline's line that lies beyond it has no triangle to be drawn on. */
        double half = (job->outline[triangle] >> k & 1 ? 1.0 : 0.5) * job->edge_width;
        if (length > 0.0)
            inside = fmax(inside, half - fabs((x - a[0]) * dy - (y - a[1]) * dx) / length);
    }
    double altitude = longest > 0.0 ? area / longest : 0.0;
    double fade = fmin(1.0, altitude / (5.0 * job->edge_width));
    double cover = inside * 1.5 + 0.5;
    return (float)(fade * fmin(fmax(cover, 0.0), 1.0));
}

/* Where the smooth surface that the normals describe would be: starting shadow rays there keeps
 * the facets' own shadow off it (Hanika, "Hacking the Shadow Terminator", 2021). */
static kiln_vec3 lift(const kiln_render_mesh *mesh, const kiln_hit *hit, kiln_vec3 p)
{
    const double weight[3] = {1 - hit->u - hit->v, hit->u, hit->v};
    const float *normals = mesh->normal[hit->triangle][0];
    kiln_vec3 lifted = p;
    for (int k = 0; k < 3; k++) {
        kiln_vec3 n = load3(normals + 3 * k);
        kiln_vec3 corner = load3(mesh->position[mesh->corner[hit->triangle][k]]);
        double below = fmin(0.0, kiln_v3_dot(kiln_v3_sub(p, corner), n));
        lifted = kiln_v3_madd(lifted, -weight[k] * below, n);
    }
    return lifted;
}

static surface_point point_of(const light_frame *frame, const kiln_hit *hit, kiln_vec3 direction,
                              double x, double y)
{
    const kiln_render_mesh *mesh = frame->job->mesh;
    const kiln_surface_place at = kiln_render_mesh_at(mesh, hit->triangle, hit->u, hit->v);
    surface_point s = {.position = at.position, .face_normal = at.face_normal, .normal = at.normal};
    bool outside = kiln_v3_dot(s.face_normal, direction) < 0.0;
    s.lifted = outside ? lift(mesh, hit, s.position) : s.position;
    if (!outside) {
        s.face_normal = kiln_v3_scale(s.face_normal, -1.0);
        s.normal = kiln_v3_scale(s.normal, -1.0);
    }
    s.albedo = color_at(frame, hit);
    if (frame->job->edges && hit->triangle < mesh->body_triangles) {
        float cover = edge_opacity * edge_cover(frame, hit->triangle, x, y);
        s.albedo = kiln_rgb_mix(s.albedo, edge_ink, cover);
    }
    return s;
}

static const double offset = 2e-4; /* of rays from the surface they leave */

static void add_surface(const light_frame *frame, const surface_point *s, kiln_vec3 direction,
                        pair shift, uint32_t sample, kiln_light_pixel *pixel)
{
    const kiln_tracer *tracer = frame->job->tracer;
    kiln_vec3 from = kiln_v3_madd(s->lifted, offset, s->face_normal);
    kiln_vec3 to_key = toward_key(frame, spread((pair){shift.b, shift.a}, sample));
    double facing = kiln_v3_dot(s->normal, to_key);
    if (facing > 0.0 && !kiln_tracer_blocked(tracer, from, to_key)) {
        kiln_vec3 half = kiln_v3_normalize(kiln_v3_sub(to_key, kiln_v3_normalize(direction)));
        pixel->light[0] += (float)facing;
        pixel->light[4] +=
            (float)(facing * pow(fmax(0.0, kiln_v3_dot(half, s->normal)), gloss_exponent));
    }
    for (uint32_t i = 0; i < SKY_RAYS; i++) {
        kiln_vec3 d = cosine_direction(s->normal, spread(shift, sample * SKY_RAYS + i));
        /* What is blocked sees lit clay instead of sky: a first bounce. */
        static const kiln_rgb bounce = {0.20f, 0.175f, 0.16f};
        kiln_rgb seen = kiln_tracer_blocked(tracer, from, d) ? bounce : sky(d);
        pixel->light[1] += seen.r / SKY_RAYS;
        pixel->light[2] += seen.g / SKY_RAYS;
        pixel->light[3] += seen.b / SKY_RAYS;
    }
    pixel->coverage += 1.0f;
    pixel->albedo.r += s->albedo.r;
    pixel->albedo.g += s->albedo.g;
    pixel->albedo.b += s->albedo.b;
    const kiln_vec3 both[2] = {s->normal, s->position};
    float *const to[2] = {pixel->normal, pixel->position};
    for (int i = 0; i < 2; i++) {
        to[i][0] += (float)both[i].x;
        to[i][1] += (float)both[i].y;
        to[i][2] += (float)both[i].z;
    }
}

static void add_ground(const light_frame *frame, kiln_vec3 direction, pair shift, uint32_t sample,
                       kiln_light_pixel *pixel)
{
    const kiln_light_job *job = frame->job;
    if (direction.z >= -1e-9)
        return;
    double distance = (frame->floor - job->camera->eye.z) / direction.z;
    if (distance <= 0.0)
        return;
    kiln_vec3 from = kiln_v3_madd(job->camera->eye, distance, direction);
    pixel->ground += 1.0f;
    /* Far from everything nothing shades; saves rays over most of the picture. */
    if (from.x * from.x + from.y * from.y > frame->reach * frame->reach) {
        pixel->openness += 1.0f;
        return;
    }
    from.z += 1e-6;
    double key_share = 0.55, light = 0.0;
    kiln_vec3 to_key = toward_key(frame, spread((pair){shift.b, shift.a}, sample));
    light += key_share * kiln_look_lit(&frame->stage, from, to_key);
    for (uint32_t i = 0; i < SKY_RAYS; i++) {
        kiln_vec3 d = cosine_direction(kiln_v3(0, 0, 1), spread(shift, sample * SKY_RAYS + i));
        light += (1.0 - key_share) / SKY_RAYS * kiln_look_lit(&frame->stage, from, d);
    }
    pixel->openness += (float)light;
}

static void add_clear(const light_frame *frame, kiln_vec3 direction, const kiln_hit *hit,
                      kiln_light_pixel *pixel)
{
    kiln_rgb seen = kiln_look_through(&frame->stage, frame->job->camera->eye, direction, hit);
    pixel->clear += 1.0f;
    pixel->seen.r += seen.r;
    pixel->seen.g += seen.g;
    pixel->seen.b += seen.b;
}

static void finish_pixel(kiln_light_pixel *pixel, int samples)
{
    if (pixel->coverage > 0.0f) {
        float s = 1.0f / pixel->coverage;
        pixel->albedo = (kiln_rgb){s * pixel->albedo.r, s * pixel->albedo.g, s * pixel->albedo.b};
        for (int i = 0; i < 5; i++)
            pixel->light[i] *= s;
        for (int i = 0; i < 3; i++) {
            pixel->normal[i] *= s;
            pixel->position[i] *= s;
        }
    }
    if (pixel->ground > 0.0f)
        pixel->openness /= pixel->ground;
    if (pixel->clear > 0.0f) {
        float s = 1.0f / pixel->clear;
        pixel->seen = (kiln_rgb){s * pixel->seen.r, s * pixel->seen.g, s * pixel->seen.b};
    }
    pixel->clear /= (float)samples;
    pixel->coverage /= (float)samples;
    pixel->ground /= (float)samples;
}

static void light_pixel(const light_frame *frame, int x, int y)
{
    const kiln_light_job *job = frame->job;
    size_t index = (size_t)y * (size_t)job->width + (size_t)x;
    kiln_light_pixel pixel = {0};
    pair shift = block_shift(x, y);
    uint32_t first = stretch_of(x, y) * (uint32_t)job->samples;
    for (uint32_t i = 0; i < (uint32_t)job->samples; i++) {
        pair jitter = spread((pair){0.25, 0.25}, i);
        double px = x + jitter.a, py = y + jitter.b;
        kiln_vec3 direction = kiln_camera_ray(job->camera, px, py);
        kiln_hit hit;
        bool meets = kiln_tracer_hit(job->tracer, job->camera->eye, direction, &hit);
        if (meets && job->look && hit.triangle < job->mesh->body_triangles) {
            add_clear(frame, direction, &hit, &pixel);
        } else if (meets) {
            surface_point s = point_of(frame, &hit, direction, px, py);
            add_surface(frame, &s, direction, shift, first + i, &pixel);
        } else if (job->ground) {
            add_ground(frame, direction, shift, first + i, &pixel);
        }
    }
    finish_pixel(&pixel, job->samples);
    job->pixels[index] = pixel;
}

static void light_tiles(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const light_frame *frame = user;
    if (kiln_context_is_stopping(frame->job->mesh->arena->context))
        return; /* nobody will look at the picture */
    int across = (frame->job->width + TILE - 1) / TILE;
    for (size_t tile = begin; tile < end; tile++) {
        int x0 = (int)(tile % (size_t)across) * TILE, y0 = (int)(tile / (size_t)across) * TILE;
        for (int y = y0; y < y0 + TILE && y < frame->job->height; y++)
            for (int x = x0; x < x0 + TILE && x < frame->job->width; x++)
                light_pixel(frame, x, y);
    }
}

void kiln_light_render(kiln_context *context, kiln_light_job *job)
{
    light_frame frame = {.job = job, .floor = job->mesh->floor, .reach = 6.0};
    /* The key light stands at the camera's left shoulder, high. */
    kiln_vec3 back = kiln_v3_scale(job->camera->forward, -1.0);
    kiln_vec3 level = kiln_v3_normalize(kiln_v3(back.x, back.y, 0.0));
    kiln_vec3 key = kiln_v3_madd(kiln_v3_scale(level, 0.45), -0.75, job->camera->right);
    frame.key = kiln_v3_normalize(kiln_v3(key.x, key.y, 1.05));
    basis_around(frame.key, &frame.key_side, &frame.key_up);
    frame.stage = (kiln_look_stage){.look = job->look,
                                    .mesh = job->mesh,
                                    .tracer = job->tracer,
                                    .camera = job->camera,
                                    .height = job->height,
                                    .ground = job->ground,
                                    .top = job->top,
                                    .bottom = job->bottom,
                                    .key = frame.key};
    for (int i = 0; i <= MAP_STEPS; i++)
        frame.map[i] = kiln_color_map_at(job->mesh->scale.map, (double)i / MAP_STEPS);
    size_t tiles =
        (size_t)((job->width + TILE - 1) / TILE) * (size_t)((job->height + TILE - 1) / TILE);
    kiln_parallel_for(context, tiles, 1, light_tiles, &frame);
}

kiln_rgb kiln_light_shade(kiln_rgb albedo, const float light[5])
{
    float key = (float)key_strength * light[0],
          gloss = (float)(gloss_strength * key_strength) * light[4];
    float ambient = (float)sky_strength;
    return (kiln_rgb){albedo.r * (key * key_color.r + ambient * light[1]) + gloss,
                      albedo.g * (key * key_color.g + ambient * light[2]) + gloss,
                      albedo.b * (key * key_color.b + ambient * light[3]) + gloss};
}
