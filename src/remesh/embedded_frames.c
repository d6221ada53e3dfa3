/* How vertices outside the mesh go with it: the matter round their closest points says. */
#include "base/assert.h"
#include "base/parallel.h"
#include "remesh/embedded_impl.h"

#include <math.h>
#include <string.h>

void kiln_frames_free(kiln_context *context, kiln_frames *frames)
{
    kiln_array_free(context, &frames->F);
}

bool kiln_embedded_has_outside(const kiln_embedded *e)
{
    size_t i = 0;
    while (i < e->now.hangs.count && !kiln_hang_is_outside(&e->now.hangs.data[i]))
        i++;
    return i < e->now.hangs.count;
}

static kiln_mat3 edges_of(const kiln_vec3 *p, const uint32_t v[4])
{
    return kiln_m3_columns(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]),
                           kiln_v3_sub(p[v[3]], p[v[0]]));
}

kiln_status kiln_frames_find(kiln_frames *frames, const kiln_mesh *mesh, kiln_error *error)
{
    kiln_context *context = mesh->context;
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_f64_array volume = {0};
    KILN_TRY(kiln_array_reserve(context, &frames->F, rows, error));
    KILN_TRY(kiln_array_reserve(context, &volume, rows, error));
    frames->F.count = rows;
    memset(frames->F.data, 0, rows * sizeof *frames->F.data);
    memset(volume.data, 0, rows * sizeof *volume.data);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (!kiln_tet_live(mesh, t))
            continue;
        kiln_mat3 rest = edges_of(mesh->u, v);
        double six = kiln_m3_det(rest);
        if (!(six > 0.0))
            continue;
        kiln_mat3 F = kiln_m3_scale(kiln_m3_mul(edges_of(mesh->x, v), kiln_m3_inverse(rest)), six);
        for (int i = 0; i < 4; i++) {
            frames->F.data[v[i]] = kiln_m3_add(frames->F.data[v[i]], F);
            volume.data[v[i]] += six;
        }
    }
    for (uint32_t v = 0; v < rows; v++)
        frames->F.data[v] = volume.data[v] > 0.0
                                ? kiln_m3_scale(frames->F.data[v], 1.0 / volume.data[v])
                                : kiln_m3_identity();
    kiln_array_free(context, &volume);
    return KILN_OK;
}

static kiln_mat3 frame_at(const kiln_frames *frames, const kiln_mesh *mesh, const kiln_hang *h)
{
    const uint32_t *v = mesh->tet[h->tet].v;
    kiln_mat3 F = kiln_m3_scale(frames->F.data[v[0]], h->weight[0]);
    for (int i = 1; i < 4; i++)
        F = kiln_m3_add(F, kiln_m3_scale(frames->F.data[v[i]], h->weight[i]));
    return F;
}

kiln_vec3 kiln_frames_world(const kiln_frames *frames, const kiln_mesh *mesh, const kiln_hang *h,
                            kiln_vec3 u)
{
    kiln_vec3 x = kiln_embedded_carried(mesh, mesh->x, h);
    if (!kiln_hang_is_outside(h))
        return x;
    kiln_vec3 off = kiln_v3_sub(u, kiln_embedded_carried(mesh, mesh->u, h));
    return kiln_v3_add(x, kiln_m3_apply(frame_at(frames, mesh, h), off));
}

kiln_vec3 kiln_frames_unmove(const kiln_frames *frames, const kiln_mesh *mesh, const kiln_hang *h,
                             kiln_vec3 way)
{
    kiln_mat3 F = frame_at(frames, mesh, h);
    double size2 = kiln_m3_norm2(F);
    bool turned = !(kiln_m3_det(F) > 1e-12 * size2 * sqrt(size2)); /* there is no way back */
    return turned ? way : kiln_m3_apply(kiln_m3_inverse(F), way);
}

kiln_vec3 kiln_frames_material(const kiln_frames *frames, const kiln_mesh *mesh, const kiln_hang *h,
                               kiln_vec3 x)
{
    kiln_vec3 u = kiln_embedded_carried(mesh, mesh->u, h);
    if (!kiln_hang_is_outside(h))
        return u;
    kiln_vec3 off = kiln_v3_sub(x, kiln_embedded_carried(mesh, mesh->x, h));
    return kiln_v3_add(u, kiln_frames_unmove(frames, mesh, h, off));
}

typedef struct space_work {
    const kiln_embedded *e;
    const kiln_mesh *mesh;
    kiln_frames frames;
    const kiln_vec3 *from;
    kiln_vec3 *to;
    bool material;
} space_work;

static void change_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const space_work *w = user;
    for (size_t i = begin; i < end; i++) {
        const kiln_hang *h = &w->e->now.hangs.data[i];
        kiln_vec3 from = kiln_hang_is_outside(h) ? w->from[i] : kiln_v3(0, 0, 0);
        w->to[i] = w->material ? kiln_frames_material(&w->frames, w->mesh, h, from)
                               : kiln_frames_world(&w->frames, w->mesh, h, from);
    }
}

static kiln_status change_space(space_work *w, kiln_error *error)
{
    kiln_context *context = w->e->context;
    kiln_status status =
        kiln_embedded_has_outside(w->e) ? kiln_frames_find(&w->frames, w->mesh, error) : KILN_OK;
    if (status == KILN_OK)
        kiln_parallel_for(context, w->e->now.hangs.count, KILN_EMBEDDED_GRAIN, change_chunk, w);
    kiln_frames_free(context, &w->frames);
    return status;
}

kiln_status kiln_embedded_positions(const kiln_embedded *e, const kiln_mesh *mesh, kiln_space space,
                                    kiln_vec3 *out, kiln_error *error)
{
    space_work w = {.e = e, .mesh = mesh, .from = e->now.u.data, .to = out};
    if (space == KILN_SPACE_WORLD)
        return change_space(&w, error);
    if (e->now.u.count)
        memcpy(out, e->now.u.data, e->now.u.count * sizeof *out);
    return KILN_OK;
}

kiln_status kiln_embedded_note(kiln_embedded *e, const kiln_mesh *mesh, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(e->context, &e->noted, e->now.u.count + 1, error));
    e->noted.count = e->now.u.count;
    return kiln_embedded_has_outside(e)
               ? kiln_embedded_positions(e, mesh, KILN_SPACE_WORLD, e->noted.data, error)
               : KILN_OK;
}

kiln_status kiln_embedded_rebase(kiln_embedded *e, const kiln_mesh *mesh, kiln_error *error)
{
    space_work w = {
        .e = e, .mesh = mesh, .from = e->noted.data, .to = e->now.u.data, .material = true};
    KILN_ASSERT(e->noted.count == e->now.u.count || !kiln_embedded_has_outside(e));
    return change_space(&w, error);
}
