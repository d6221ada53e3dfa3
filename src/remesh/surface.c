#include "remesh/surface.h"

kiln_status kiln_surface_create(kiln_remesher *remesher, kiln_error *error)
{
    (void)error;
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        kiln_vertex_side *side = &remesher->side.data[v];
        bool inside = !(mesh->vertex[v].flags &
                        (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE | KILN_VERTEX_REQUIRED));
        *side = (kiln_vertex_side){.begin = points[v],
                                   .hint = mesh->vertex[v].tet,
                                   .freedom = inside ? KILN_FREE : KILN_FIXED};
    }
    return KILN_OK;
}

void kiln_surface_destroy(kiln_remesher *remesher)
{
    (void)remesher;
}

kiln_vec3 kiln_freedom_project(const kiln_vertex_side *side, kiln_vec3 direction)
{
    switch ((kiln_freedom)side->freedom) {
    case KILN_ON_PLANE:
        return kiln_v3_madd(direction, -kiln_v3_dot(direction, side->axis), side->axis);
    case KILN_ON_LINE:
    case KILN_ON_CURVE:
        return kiln_v3_scale(side->axis, kiln_v3_dot(direction, side->axis));
    case KILN_FIXED:
        return kiln_v3(0, 0, 0);
    case KILN_FREE:
    case KILN_ON_SURFACE:
        break;
    }
    return direction;
}

double kiln_surface_term(const kiln_remesher *remesher, const kiln_vertex_side *side, kiln_vec3 p,
                         kiln_vec3 *gradient)
{
    (void)remesher;
    *gradient = kiln_v3(0, 0, 0);
    if (side->freedom != KILN_ON_SURFACE && side->freedom != KILN_ON_CURVE)
        return INFINITY;
    *gradient = kiln_v3_scale(kiln_quadric_gradient(&side->quadric, p), -KILN_QUADRIC_BETA);
    return KILN_QUADRIC_ALPHA - KILN_QUADRIC_BETA * kiln_quadric_value(&side->quadric, p);
}

kiln_vec3 kiln_surface_settle(const kiln_remesher *remesher, const kiln_vertex_side *side,
                              kiln_vec3 p)
{
    (void)remesher;
    (void)side;
    return p;
}

void kiln_surface_place(const kiln_remesher *remesher, uint32_t tet, const uint32_t *corner,
                        const double *weight, int count, kiln_place *place)
{
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    kiln_vec3 p = kiln_v3(0, 0, 0);
    (void)tet;
    for (int i = 0; i < count; i++)
        p = kiln_v3_madd(p, weight[i], points[corner[i]]);
    *place = (kiln_place){
        .side = {.begin = p, .hint = remesher->side.data[corner[0]].hint, .freedom = KILN_FIXED}};
    kiln_remesher_locate(remesher, p, place);
}

bool kiln_surface_allows(const kiln_remesher *remesher, kiln_workspace *workspace,
                         const uint32_t (*old)[3], size_t old_count, const uint32_t (*fresh)[3],
                         size_t fresh_count, const kiln_place *place)
{
    (void)remesher;
    (void)workspace;
    (void)old;
    (void)old_count;
    (void)fresh;
    (void)fresh_count;
    (void)place;
    return false;
}
