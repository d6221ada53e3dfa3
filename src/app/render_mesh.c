#include "app/render_mesh.h"

#include "app/render_paint.h"
#include "base/parallel.h"

#include <string.h>

/* Smooth shading stops at edges sharper than this. */
static const double crease_cosine = 0.80; /* 37 degrees */

kiln_vec3 kiln_render_turn_up(kiln_vec3 p, char up)
{
    if (up == 'y')
        return kiln_v3(p.x, -p.z, p.y);
    if (up == 'x')
        return kiln_v3(p.y, p.z, p.x);
    return p;
}

static kiln_status choose_tets(const kiln_soup *soup, const kiln_render_options *options,
                               kiln_arena *arena, uint8_t **kept, kiln_error *error)
{
    *kept = NULL;
    if (!options->clip || soup->tets.count == 0)
        return KILN_OK;
    *kept = kiln_arena_array(arena, uint8_t, soup->tets.count);
    if (!*kept)
        return kiln_fail_memory(error, soup->tets.count);
    for (size_t t = 0; t < soup->tets.count; t++) {
        const uint32_t *v = soup->tets.data[t].v;
        double side = 0.0;
        for (int k = 0; k < 4; k++)
            side += 0.25 * kiln_v3_dot(options->clip_normal, soup->points.data[v[k]]);
        (*kept)[t] = side <= options->clip_offset;
    }
    return KILN_OK;
}

/* The faces to draw, turned outwards; those of a soup without tets as they are. */
static kiln_status collect_faces(const kiln_soup *soup, const uint8_t *kept, kiln_skin *faces,
                                 kiln_error *error)
{
    if (soup->tets.count)
        KILN_TRY(kiln_skin_collect(soup, kept, faces, error));
    for (size_t i = 0; i < faces->count; i++) {
        const uint32_t *v = soup->tets.data[faces->data[i].tet].v;
        const kiln_vec3 *p = soup->points.data;
        if (kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]) < 0.0) {
            uint32_t swapped = faces->data[i].v[1];
            faces->data[i].v[1] = faces->data[i].v[2];
            faces->data[i].v[2] = swapped;
        }
    }
    for (size_t i = 0; soup->tets.count == 0 && i < soup->triangles.count; i++) {
        const uint32_t *v = soup->triangles.data[i].v;
        kiln_skin_face face = {.v = {v[0], v[1], v[2]}, .tet = UINT32_MAX};
        KILN_TRY(kiln_array_push(soup->context, faces, face, error));
    }
    if (faces->count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         kept ? "the clip plane leaves nothing to show"
                              : "there are no tets or triangles to show");
    return KILN_OK;
}

/* Scenery's points are numbered after the soup's. */
static kiln_vec3 point_of(const kiln_soup *soup, const kiln_render_options *options, size_t v)
{
    bool own = v < soup->points.count;
    kiln_vec3 p =
        own ? soup->points.data[v] : options->scenery->points.data[v - soup->points.count];
    return kiln_render_turn_up(p, options->up);
}

static kiln_status frame_of(const kiln_soup *soup, const kiln_skin *faces,
                            const kiln_render_options *options, kiln_render_stage *out,
                            kiln_error *error)
{
    if (options->stage) {
        *out = *options->stage;
        return KILN_OK;
    }
    kiln_vec3 low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < 3 * faces->count; i++) {
        kiln_vec3 p = point_of(soup, options, faces->data[i / 3].v[i % 3]);
        low = kiln_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = kiln_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    kiln_vec3 half = kiln_v3_sub(kiln_v3_scale(high, 0.5), kiln_v3_scale(low, 0.5));
    *out = (kiln_render_stage){.center = kiln_v3_lerp(low, high, 0.5),
                               .reach = fmax(half.x, fmax(half.y, half.z)),
                               .floor = low.z};
    if (!(out->reach > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "the mesh has no extent to show");
    return KILN_OK;
}

/* Copies the vertices in use, centred and scaled; `number` [point] gets their new numbers, those of
 * the bodies first. */
static kiln_status place_vertices(const kiln_soup *soup, const kiln_skin *faces,
                                  const kiln_render_options *options, size_t points,
                                  uint32_t *number, kiln_render_mesh *mesh, kiln_error *error)
{
    memset(number, 0xff, points * sizeof *number);
    for (size_t i = 0; i < 3 * faces->count; i++) {
        uint32_t v = faces->data[i / 3].v[i % 3];
        if (number[v] == UINT32_MAX)
            number[v] = (uint32_t)mesh->vertex_count++;
        if (i < 3 * mesh->body_triangles)
            mesh->body_vertices = mesh->vertex_count;
    }
    kiln_render_stage stage;
    KILN_TRY(frame_of(soup, faces, options, &stage, error));
    mesh->position = kiln_arena_alloc(mesh->arena, (mesh->vertex_count + 2) * sizeof(float[3]));
    if (!mesh->position)
        return kiln_fail_memory(error, (mesh->vertex_count + 2) * sizeof(float[3]));
    mesh->floor = (stage.floor - stage.center.z) / stage.reach;
    for (size_t v = 0; v < points; v++) {
        if (number[v] == UINT32_MAX)
            continue;
        kiln_vec3 p = kiln_v3_sub(point_of(soup, options, v), stage.center);
        float *to = mesh->position[number[v]];
        to[0] = (float)(p.x / stage.reach);
        to[1] = (float)(p.y / stage.reach);
        to[2] = (float)(p.z / stage.reach);
    }
    return KILN_OK;
}

static kiln_vec3 load3(const float *p)
{
    return kiln_v3(p[0], p[1], p[2]);
}

static kiln_vec3 blend3(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, double u, double v)
{
    return kiln_v3_madd(kiln_v3_madd(a, u, kiln_v3_sub(b, a)), v, kiln_v3_sub(c, a));
}

kiln_surface_place kiln_render_mesh_at(const kiln_render_mesh *mesh, size_t triangle, double u,
                                       double v)
{
    const uint32_t *corner = mesh->corner[triangle];
    kiln_vec3 a = load3(mesh->position[corner[0]]), b = load3(mesh->position[corner[1]]);
    kiln_vec3 c = load3(mesh->position[corner[2]]);
    const float(*n)[3] = (const float(*)[3])mesh->normal[triangle];
    return (kiln_surface_place){
        .position = blend3(a, b, c, u, v),
        .face_normal = kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(b, a), kiln_v3_sub(c, a))),
        .normal = kiln_v3_normalize(blend3(load3(n[0]), load3(n[1]), load3(n[2]), u, v))};
}

static kiln_vec3 position_of(const kiln_render_mesh *mesh, uint32_t v)
{
    const float *p = mesh->position[v];
    return kiln_v3(p[0], p[1], p[2]);
}

/* Twice the area times the unit normal. */
static kiln_vec3 face_normal(const kiln_render_mesh *mesh, size_t triangle)
{
    const uint32_t *c = mesh->corner[triangle];
    kiln_vec3 a = position_of(mesh, c[0]);
    return kiln_v3_cross(kiln_v3_sub(position_of(mesh, c[1]), a),
                         kiln_v3_sub(position_of(mesh, c[2]), a));
}

typedef struct smoothing {
    kiln_render_mesh *mesh;
    const kiln_skin *faces;
    const uint32_t *start, *around; /* triangles around each vertex */
    bool flat;
} smoothing;

static void smooth_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const smoothing *job = user;
    for (size_t i = begin; i < end; i++) {
        kiln_vec3 own = kiln_v3_normalize(face_normal(job->mesh, i));
        for (int k = 0; k < 3; k++) {
            kiln_vec3 sum = own;
            uint32_t v = job->mesh->corner[i][k];
            if (!job->flat && !job->faces->data[i].cut) {
                sum = kiln_v3(0, 0, 0);
                for (uint32_t j = job->start[v]; j < job->start[v + 1]; j++) {
                    kiln_vec3 other = face_normal(job->mesh, job->around[j]);
                    bool smooth = !job->faces->data[job->around[j]].cut &&
                                  kiln_v3_dot(own, kiln_v3_normalize(other)) > crease_cosine;
                    if (smooth || job->around[j] == i)
                        sum = kiln_v3_add(sum, other);
                }
                sum = kiln_v3_normalize(sum);
            }
            float *to = job->mesh->normal[i][k];
            to[0] = (float)sum.x;
            to[1] = (float)sum.y;
            to[2] = (float)sum.z;
        }
    }
}

/* A triangle besides `i` at its edge `k`; UINT32_MAX: none. */
static uint32_t across_edge(const smoothing *job, uint32_t i, int k)
{
    const uint32_t *c = job->mesh->corner[i];
    uint32_t v = c[k], w = c[(k + 1) % 3];
    for (uint32_t j = job->start[v]; j < job->start[v + 1]; j++) {
        const uint32_t *o = job->mesh->corner[job->around[j]];
        if (job->around[j] != i && (o[0] == w || o[1] == w || o[2] == w))
            return job->around[j];
    }
    return UINT32_MAX;
}

static kiln_status smooth_normals(kiln_render_mesh *mesh, const kiln_skin *faces, bool flat,
                                  kiln_error *error)
{
    size_t corners = 3 * mesh->triangle_count;
    kiln_arena_mark mark = kiln_arena_set_mark(mesh->arena);
    uint32_t *start = kiln_arena_array(mesh->arena, uint32_t, mesh->vertex_count + 2);
    uint32_t *around = kiln_arena_array(mesh->arena, uint32_t, corners);
    if (!start || !around)
        return kiln_fail_memory(error, corners * sizeof *around);
    memset(start, 0, (mesh->vertex_count + 2) * sizeof *start);
    for (size_t i = 0; i < corners; i++)
        start[mesh->corner[i / 3][i % 3] + 2]++;
    for (size_t v = 2; v < mesh->vertex_count + 2; v++)
        start[v] += start[v - 1];
    for (size_t i = 0; i < corners; i++)
        around[start[mesh->corner[i / 3][i % 3] + 1]++] = (uint32_t)(i / 3);
    smoothing job = {mesh, faces, start, around, flat};
    kiln_parallel_for(mesh->arena->context, mesh->triangle_count, 4096, smooth_chunk, &job);
    for (size_t i = 0; i < corners; i++)
        mesh->across[i / 3][i % 3] = across_edge(&job, (uint32_t)(i / 3), (int)(i % 3));
    kiln_arena_release(mesh->arena, mark);
    return KILN_OK;
}

static kiln_status append_scenery(const kiln_soup *soup, const kiln_soup *scenery, kiln_skin *faces,
                                  kiln_error *error)
{
    uint32_t first = (uint32_t)soup->points.count;
    for (size_t i = 0; i < scenery->triangles.count; i++) {
        const uint32_t *v = scenery->triangles.data[i].v;
        kiln_skin_face face = {.v = {first + v[0], first + v[1], first + v[2]}, .tet = UINT32_MAX};
        KILN_TRY(kiln_array_push(soup->context, faces, face, error));
    }
    return KILN_OK;
}

static kiln_status fill(const kiln_soup *soup, const kiln_render_options *options, kiln_skin *faces,
                        kiln_render_mesh *mesh, kiln_error *error)
{
    size_t points = soup->points.count, bodies = faces->count;
    mesh->body_triangles = bodies;
    if (options->scenery) {
        points += options->scenery->points.count;
        KILN_TRY(append_scenery(soup, options->scenery, faces, error));
    }
    size_t count = faces->count;
    mesh->triangle_count = count;
    mesh->corner = kiln_arena_alloc(mesh->arena, count * sizeof *mesh->corner);
    mesh->normal = kiln_arena_alloc(mesh->arena, count * sizeof *mesh->normal);
    mesh->across = kiln_arena_alloc(mesh->arena, count * sizeof *mesh->across);
    mesh->value = kiln_arena_alloc(mesh->arena, count * sizeof *mesh->value);
    mesh->paint = kiln_arena_alloc(mesh->arena, count);
    uint32_t *number = kiln_arena_array(mesh->arena, uint32_t, points);
    if (!mesh->corner || !mesh->normal || !mesh->across || !mesh->value || !mesh->paint || !number)
        return kiln_fail_memory(error, count * sizeof *mesh->normal);
    KILN_TRY(place_vertices(soup, faces, options, points, number, mesh, error));
    for (size_t i = 0; i < 3 * count; i++)
        mesh->corner[i / 3][i % 3] = number[faces->data[i / 3].v[i % 3]];
    KILN_TRY(smooth_normals(mesh, faces, options->flat, error));
    memset(mesh->paint + bodies, KILN_PAINT_QUIET, count - bodies);
    memset(mesh->value + bodies, 0, (count - bodies) * sizeof *mesh->value);
    kiln_skin painted = *faces;
    painted.count = bodies;
    return kiln_render_paint(soup, options, &painted, mesh, error);
}

kiln_status kiln_render_mesh_create(const kiln_soup *soup, const kiln_render_options *options,
                                    kiln_arena *arena, kiln_render_mesh *out, kiln_error *error)
{
    kiln_render_mesh mesh = {.arena = arena};
    kiln_skin faces = {0};
    uint8_t *kept;
    kiln_status status = choose_tets(soup, options, arena, &kept, error);
    if (status == KILN_OK)
        status = collect_faces(soup, kept, &faces, error);
    if (status == KILN_OK)
        status = fill(soup, options, &faces, &mesh, error);
    kiln_array_free(soup->context, &faces);
    if (status == KILN_OK)
        *out = mesh;
    return status;
}
