#include "fem/offset.h"

#include "base/parallel.h"
#include "geom/predicates.h"
#include "mesh/rewind.h"

#include <string.h>

enum { GRAIN = 512 };

kiln_offsets kiln_offsets_of(const kiln_mesh *mesh)
{
    const kiln_field *shape = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_OFFSET);
    const kiln_field *volume = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_REST_VOLUME);
    if (!shape || !volume)
        return (kiln_offsets){NULL, NULL};
    return (kiln_offsets){(kiln_sym3 *)(void *)shape->data, (double *)(void *)volume->data};
}

kiln_status kiln_offsets_add(kiln_mesh *mesh, kiln_error *error)
{
    if (kiln_offsets_of(mesh).shape)
        return KILN_OK;
    if (!kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_OFFSET)) /* one may be left of a failure */
        KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_OFFSET, KILN_ON_TET, KILN_F64, 6,
                                     KILN_RULE_SPD_LOG, error));
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_REST_VOLUME, KILN_ON_TET, KILN_F64, 1,
                                 KILN_RULE_CONSERVE, error));
    kiln_offsets offsets = kiln_offsets_of(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t)) {
            offsets.shape[t] = kiln_sym3_identity();
            offsets.rest_volume[t] = kiln_mesh_tet_volume(mesh, t);
        }
    return KILN_OK;
}

kiln_mat3 kiln_offset_map(const kiln_sym3 *shape, double volume, double rest_volume)
{
    double size = volume == rest_volume ? 1.0 : cbrt(volume / rest_volume);
    if (kiln_offset_is_identity(shape))
        return kiln_m3_scale(kiln_m3_identity(), size);
    kiln_mat3 root = kiln_sym3_to_mat3(kiln_sym3_sqrt(*shape));
    return kiln_m3_scale(root, size / cbrt(kiln_m3_det(root)));
}

static kiln_mat3 edges(const uint32_t v[4], const kiln_vec3 *p)
{
    return kiln_m3_columns(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]),
                           kiln_v3_sub(p[v[3]], p[v[0]]));
}

/* (I + E) G (I + E)'. As a change of G its rounding is in proportion to E: with A = I + E itself a
 * sliver would lose digits each time it moves a little. */
static kiln_sym3 carried(const kiln_sym3 *shape, const kiln_mat3 *E)
{
    kiln_mat3 G = kiln_sym3_to_mat3(*shape), EG = kiln_m3_mul(*E, G);
    kiln_mat3 EGE = kiln_m3_mul(EG, kiln_m3_transpose(*E));
    kiln_sym3 moved = kiln_sym3_madd(*shape, 2.0, kiln_sym3_from_mat3(EG));
    moved = kiln_sym3_madd(moved, 1.0, kiln_sym3_from_mat3(EGE));
    return kiln_offset_unit(moved);
}

typedef struct follow_job {
    kiln_mesh *mesh;
    const kiln_vec3 *u;
    kiln_offsets offsets;
} follow_job;

static bool moves(const follow_job *job, const uint32_t v[4])
{
    for (int k = 0; k < 4; k++)
        if (memcmp(&job->mesh->u[v[k]], &job->u[v[k]], sizeof *job->u) != 0)
            return true;
    return false;
}

static void follow_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const follow_job *job = user;
    for (uint32_t t = (uint32_t)begin; t < end; t++) {
        const uint32_t *v = job->mesh->tet[t].v;
        if (!kiln_tet_live(job->mesh, t) || !moves(job, v))
            continue;
        kiln_mat3 Dm = edges(v, job->mesh->u);
        kiln_mat3 moved = kiln_m3_add(edges(v, job->u), kiln_m3_scale(Dm, -1.0));
        kiln_mat3 E = kiln_m3_mul(moved, kiln_m3_inverse(Dm));
        job->offsets.shape[t] = carried(&job->offsets.shape[t], &E);
    }
}

kiln_status kiln_offsets_follow(kiln_mesh *mesh, const kiln_vec3 *u, kiln_error *error)
{
    follow_job job = {mesh, u, kiln_offsets_of(mesh)};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t) && moves(&job, v) &&
            kiln_orient3d_sign(u[v[0]], u[v[1]], u[v[2]], u[v[3]]) <= 0)
            return kiln_fail(error, KILN_ERR_NUMERIC, "offset", 0, -1,
                             "tet %u would be inverted in the material", (unsigned)t);
    }
    if (job.offsets.shape)
        KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, KILN_FIELD_OFFSET, KILN_SAVE_COPY, error));
    kiln_parallel_for(mesh->context, mesh->table[KILN_ON_TET].used, GRAIN, follow_chunk, &job);
    return kiln_mesh_place(mesh, u, error);
}

static double settle(const kiln_mesh *mesh, const kiln_offsets *offsets, uint32_t tet)
{
    if (!kiln_tet_live(mesh, tet) || !kiln_offset_is_identity(&offsets->shape[tet]))
        return 0.0;
    double volume = kiln_mesh_tet_volume(mesh, tet), gained = volume - offsets->rest_volume[tet];
    offsets->rest_volume[tet] = volume;
    return gained;
}

void kiln_offsets_settle(kiln_mesh *mesh, double *gained)
{
    kiln_offsets offsets = kiln_offsets_of(mesh);
    *gained = 0.0;
    for (uint32_t t = 0; offsets.shape && t < mesh->table[KILN_ON_TET].used; t++)
        *gained += settle(mesh, &offsets, t);
}

void kiln_offsets_settle_changed(kiln_mesh *mesh, const kiln_changes *changes, double *gained)
{
    kiln_offsets offsets = kiln_offsets_of(mesh);
    const kiln_u32_array *rows = &changes->rows[KILN_ON_TET];
    *gained = 0.0;
    if (changes->all)
        kiln_offsets_settle(mesh, gained);
    for (size_t i = 0; offsets.shape && i < rows->count; i++)
        *gained += settle(mesh, &offsets, rows->data[i]);
}
