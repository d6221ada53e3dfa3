#include "app/render.h"

#include "app/legend.h"
#include "app/render_filter.h"
#include "app/render_round.h"
#include "app/stroke_font.h"
#include "base/parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kiln_render_options kiln_render_default_options(void)
{
    return (kiln_render_options){.width = 1280,
                                 .height = 720,
                                 .azimuth = -58.0,
                                 .elevation = 20.0,
                                 .up = 'z',
                                 .samples = 6,
                                 .zoom = 1.0,
                                 .background = "light"};
}

void kiln_render_face_clip(kiln_render_options *options)
{
    const double degrees = 57.29577951308232;
    kiln_vec3 n = kiln_v3_normalize(kiln_render_turn_up(options->clip_normal, options->up));
    double level = hypot(n.x, n.y);
    if (level > 1e-3)
        options->azimuth = atan2(n.y, n.x) * degrees - 32.0;
    double tilt = atan2(n.z, level) * degrees;
    options->elevation = tilt > 60.0 ? 42.0 : tilt < -60.0 ? -30.0 : 18.0 + 0.4 * tilt;
}

/* Top and bottom colours of the backdrop, and the colour of text on it. */
typedef struct backdrop {
    kiln_rgb top, bottom, ink;
} backdrop;

static kiln_status parse_background(const char *name, backdrop *out, kiln_error *error)
{
    static const struct {
        const char *name;
        uint32_t top, bottom, ink;
    } known[] = {{"light", 0xdfe5ea, 0xf6f4f0, 0x2b2f36},
                 {"dark", 0x23272e, 0x3a3f47, 0xe6e3dc},
                 {"white", 0xffffff, 0xffffff, 0x222222},
                 {"black", 0x000000, 0x000000, 0xeeeeee}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0) {
            *out = (backdrop){kiln_rgb_from_hex(known[i].top), kiln_rgb_from_hex(known[i].bottom),
                              kiln_rgb_from_hex(known[i].ink)};
            return KILN_OK;
        }
    char *end;
    unsigned long hex = name[0] == '#' ? strtoul(name + 1, &end, 16) : 0;
    if (name[0] != '#' || strlen(name) != 7 || strspn(name + 1, "0123456789abcdefABCDEF") != 6)
        return kiln_fail(error, KILN_ERR_INPUT, "--background", 0, -1,
                         "must be light, dark, white, black or #rrggbb, got '%s'", name);
    kiln_rgb flat = kiln_rgb_from_hex((uint32_t)hex);
    float brightness = 0.2126f * flat.r + 0.7152f * flat.g + 0.0722f * flat.b;
    *out = (backdrop){flat, flat, kiln_rgb_from_hex(brightness > 0.2f ? 0x222222 : 0xeeeeee)};
    return KILN_OK;
}

/* Linear to 0.6, then bent towards 1: highlights keep their hue, middle tones their value, so that
 * colours can be read off the legend. */
static float tone(float x)
{
    const float knee = 0.6f;
    return x <= knee ? x : knee + (1.0f - knee) * (1.0f - expf(-(x - knee) / (1.0f - knee)));
}

typedef struct composition {
    const kiln_light_pixel *pixels;
    kiln_image *image;
    backdrop back;
} composition;

static void compose_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const composition *job = user;
    int width = job->image->width, height = job->image->height;
    if (kiln_context_is_stopping(job->image->context))
        return;
    for (size_t y = begin; y < end; y++) {
        kiln_rgb back = kiln_rgb_mix(job->back.top, job->back.bottom, (float)y / (float)height);
        for (int x = 0; x < width; x++) {
            const kiln_light_pixel *p = &job->pixels[y * (size_t)width + (size_t)x];
            float shade = 1.0f - (p->ground > 0.0f ? 0.72f * (1.0f - p->openness) : 0.0f);
            kiln_rgb color = {back.r * shade, back.g * shade, back.b * shade};
            if (p->coverage > 0.0f) {
                kiln_rgb lit = kiln_light_shade(p->albedo, p->light);
                kiln_rgb front = {tone(lit.r), tone(lit.g), tone(lit.b)};
                color = kiln_rgb_mix(color, front, p->coverage / (1.0f - p->clear));
            }
            if (p->clear > 0.0f) {
                kiln_rgb seen = {fminf(p->seen.r, 1.0f), fminf(p->seen.g, 1.0f),
                                 fminf(p->seen.b, 1.0f)};
                color = kiln_rgb_mix(color, seen, p->clear);
            }
            kiln_image_blend(job->image, x, (int)y, color, 1.0f);
        }
    }
}

static kiln_status project_vertices(const kiln_render_mesh *mesh, kiln_light_job *job,
                                    kiln_error *error)
{
    job->screen = kiln_arena_alloc(mesh->arena, mesh->body_vertices * sizeof *job->screen);
    if (!job->screen)
        return kiln_fail_memory(error, mesh->body_vertices * sizeof *job->screen);
    for (size_t v = 0; v < mesh->body_vertices; v++) {
        const float *p = mesh->position[v];
        double x, y;
        kiln_camera_project(job->camera, kiln_v3(p[0], p[1], p[2]), &x, &y);
        job->screen[v][0] = (float)x;
        job->screen[v][1] = (float)y;
    }
    return KILN_OK;
}

/* An edge is an outline when the triangle across it folds back to the same side in the picture,
 * whichever way the two are turned, or is not there. */
static kiln_status find_outlines(const kiln_render_mesh *mesh, kiln_light_job *job,
                                 kiln_error *error)
{
    job->outline = kiln_arena_array(mesh->arena, uint8_t, mesh->body_triangles);
    if (!job->outline)
        return kiln_fail_memory(error, mesh->body_triangles);
    for (size_t i = 0; i < mesh->body_triangles; i++) {
        const uint32_t *c = mesh->corner[i];
        job->outline[i] = 0;
        for (int k = 0; k < 3; k++) {
            uint32_t other = mesh->across[i][k], v = c[k], w = c[(k + 1) % 3];
            double side[2] = {1.0, 1.0};
            const float *a = job->screen[v], *b = job->screen[w];
            for (int s = 0; s < 2 && other != UINT32_MAX; s++) {
                const uint32_t *t = mesh->corner[s ? other : i];
                uint32_t apex = t[0] != v && t[0] != w   ? t[0]
                                : t[1] != v && t[1] != w ? t[1]
                                                         : t[2];
                const float *p = job->screen[apex];
                side[s] = (double)(b[0] - a[0]) * (double)(p[1] - a[1]) -
                          (double)(b[1] - a[1]) * (double)(p[0] - a[0]);
            }
            job->outline[i] |= (uint8_t)((side[0] > 0.0) == (side[1] > 0.0)) << k;
        }
    }
    return KILN_OK;
}

int kiln_render_legend_width(const char *title, int width, int height)
{
    kiln_color_scale scale = {.paint = title ? KILN_PAINT_MAP : KILN_PAINT_BASE};
    snprintf(scale.title, sizeof scale.title, "%s", title ? title : "");
    return kiln_legend_width(&scale, width, height);
}

static kiln_camera camera_of(const kiln_render_mesh *mesh, const kiln_render_options *options)
{
    const kiln_render_stage *stage = options->stage;
    int legend = kiln_legend_width(&mesh->scale, options->width, options->height);
    kiln_camera camera =
        stage ? stage->camera
              : kiln_camera_frame((const float(*)[3])mesh->position, mesh->body_vertices,
                                  options->azimuth, options->elevation, options->width - legend,
                                  options->height);
    if (stage)
        camera.eye = kiln_v3_scale(kiln_v3_sub(camera.eye, stage->center), 1.0 / stage->reach);
    camera.scale /= options->zoom;
    return camera;
}

static void draw_caption(kiln_image *image, const char *caption, kiln_rgb ink)
{
    float height = fmaxf(7.0f, (float)image->height / 45.0f);
    kiln_text_draw(image, caption, 1.6f * height, (float)image->height - 1.6f * height, height,
                   ink);
}

static kiln_status draw(kiln_context *context, const kiln_render_mesh *mesh,
                        const kiln_tracer *tracer, const kiln_render_options *options,
                        const backdrop *back, kiln_image *image, kiln_error *error)
{
    kiln_camera camera = camera_of(mesh, options);
    size_t pixels = (size_t)options->width * (size_t)options->height;
    kiln_light_job job = {.mesh = mesh,
                          .tracer = tracer,
                          .camera = &camera,
                          .width = options->width,
                          .height = options->height,
                          .samples = options->samples,
                          .edges = options->edges,
                          .look = options->look,
                          .top = back->top,
                          .bottom = back->bottom,
                          .ground = !options->no_ground && camera.eye.z > mesh->floor,
                          .edge_width = fmaxf(0.8f, (float)options->height / 720.0f)};
    KILN_TRY(project_vertices(mesh, &job, error));
    KILN_TRY(find_outlines(mesh, &job, error));
    job.pixels = kiln_arena_array(mesh->arena, kiln_light_pixel, pixels);
    kiln_light_pixel *smooth = kiln_arena_array(mesh->arena, kiln_light_pixel, pixels);
    if (!job.pixels || !smooth)
        return kiln_fail_memory(error, pixels * sizeof *smooth);
    kiln_light_render(context, &job);
    kiln_light_filter(context, &job, smooth);
    composition last = {smooth, image, *back};
    kiln_parallel_for(context, (size_t)options->height, 16, compose_rows, &last);
    kiln_legend_draw(image, &mesh->scale, back->ink);
    if (options->caption)
        draw_caption(image, options->caption, back->ink);
    if (kiln_context_is_stopping(context))
        return kiln_fail(error, KILN_ERR_STATE, "render", 0, -1, "interrupted");
    return KILN_OK;
}

kiln_status kiln_render(kiln_context *context, const kiln_soup *soup,
                        const kiln_render_options *options, kiln_image *out, kiln_error *error)
{
    backdrop back;
    KILN_TRY(parse_background(options->background, &back, error));
    kiln_image image;
    KILN_TRY(kiln_image_create(context, options->width, options->height, &image, error));
    kiln_arena arena;
    kiln_arena_init(&arena, context);
    kiln_render_mesh mesh;
    kiln_tracer *tracer = NULL;
    kiln_status status = kiln_render_mesh_create(soup, options, &arena, &mesh, error);
    if (status == KILN_OK && options->look)
        status = kiln_render_round(&mesh, error);
    if (status == KILN_OK)
        status = kiln_tracer_create(&mesh, &tracer, error);
    if (status == KILN_OK)
        status = draw(context, &mesh, tracer, options, &back, &image, error);
    kiln_tracer_destroy(tracer);
    kiln_arena_destroy(&arena);
    if (status != KILN_OK)
        kiln_image_destroy(&image);
    else
        *out = image;
    return status;
}
