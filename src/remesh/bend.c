#include "remesh/bend.h"

#include <string.h>

/* A place far outside is no place to trust averages at. */
static const double LARGEST_WEIGHT = 2.0;

static kiln_mat3 edges_of(const kiln_vec3 *points, const uint32_t v[4])
{
    return kiln_m3_columns(kiln_v3_sub(points[v[1]], points[v[0]]),
                           kiln_v3_sub(points[v[2]], points[v[0]]),
                           kiln_v3_sub(points[v[3]], points[v[0]]));
}

/* F of a tet, weighted by its volume, at its corners. */
static void add_tet(const kiln_mesh *mesh, uint32_t tet, kiln_mat3 *sum, double *weight)
{
    const uint32_t *v = mesh->tet[tet].v;
    kiln_mat3 material = edges_of(mesh->u, v);
    double volume = kiln_m3_det(material);
    if (!(volume > 0.0))
        return;
    kiln_mat3 share =
        kiln_m3_scale(kiln_m3_mul(edges_of(mesh->x, v), kiln_m3_inverse(material)), volume);
    for (int k = 0; k < 4; k++) {
        sum[v[k]] = kiln_m3_add(sum[v[k]], share);
        weight[v[k]] += volume;
    }
}

kiln_status kiln_bend_create(kiln_remesher *remesher, kiln_error *error)
{
    const kiln_mesh *mesh = remesher->mesh;
    const uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_f64_array weight = {0};
    KILN_TRY(kiln_array_reserve(remesher->context, &remesher->gradient, rows, error));
    KILN_TRY(kiln_array_reserve(remesher->context, &weight, rows, error));
    memset(remesher->gradient.data, 0, rows * sizeof *remesher->gradient.data);
    memset(weight.data, 0, rows * sizeof *weight.data);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            add_tet(mesh, t, remesher->gradient.data, weight.data);
    for (uint32_t v = 0; v < rows; v++)
        if (weight.data[v] > 0.0)
            remesher->gradient.data[v] =
                kiln_m3_scale(remesher->gradient.data[v], 1.0 / weight.data[v]);
    remesher->gradient.count = rows;
    kiln_array_free(remesher->context, &weight);
    return KILN_OK;
}

kiln_vec3 kiln_bend_point(const kiln_remesher *remesher, kiln_vec3 p, const kiln_begin_place *where)
{
    kiln_begin_view material = kiln_begin_view_of(remesher->mesh, KILN_SPACE_MATERIAL);
    const uint32_t *v = kiln_begin_tet(&material, where->tet)->v;
    kiln_vec3 x = kiln_begin_point(remesher->mesh, KILN_SPACE_WORLD, where), bend = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        if (fabs(where->weight[k]) > LARGEST_WEIGHT)
            return x;
        kiln_vec3 from = kiln_v3_sub(p, kiln_begin_position(&material, v[k]));
        bend = kiln_v3_madd(bend, where->weight[k],
                            kiln_m3_apply(remesher->gradient.data[v[k]], from));
    }
    return kiln_v3_madd(x, 0.5, bend);
}
