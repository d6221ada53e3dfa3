/* Lookups that do not depend on their hints. A walk through a body that is not convex ends where
 * the straight way to the point leaves it, at the other limb of an angle or across a tube. Then the
 * tet nearest to the point is asked for. */
#include "geom/distance.h"
#include "remesh/sizing_impl.h"

kiln_status kiln_sizing_index_build(const kiln_sizing *sizing, kiln_sizing_index *index,
                                    kiln_error *error)
{
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    *index = (kiln_sizing_index){.sizing = sizing};
    if (sizing->constant || sizing->by_functions)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(sizing->context, &boxes, sizing->tet_rows, error));
    kiln_status status = kiln_array_reserve(sizing->context, &index->tets, sizing->tet_rows, error);
    for (uint32_t t = 0; t < sizing->tet_rows && status == KILN_OK; t++) {
        const uint32_t *v = sizing->tet[t].v;
        if (!kiln_sizing_live(sizing, t))
            continue;
        kiln_vec3 p[4] = {sizing->point[v[0]], sizing->point[v[1]], sizing->point[v[2]],
                          sizing->point[v[3]]};
        index->tets.data[index->tets.count++] = t;
        boxes.data[boxes.count++] = kiln_box_of(p, 4);
    }
    if (status == KILN_OK)
        status = kiln_bvh_build(&index->tree, sizing->context, boxes.data, boxes.count, error);
    kiln_array_free(sizing->context, &boxes);
    if (status != KILN_OK)
        kiln_sizing_index_free(index);
    return status;
}

void kiln_sizing_index_free(kiln_sizing_index *index)
{
    kiln_bvh_destroy(&index->tree);
    kiln_array_free(index->sizing->context, &index->tets);
}

static double distance2_to_tet(void *user, uint32_t item, kiln_vec3 p)
{
    const kiln_sizing_index *index = user;
    const kiln_sizing *s = index->sizing;
    const uint32_t *v = s->tet[index->tets.data[item]].v;
    double nearest2 = INFINITY;
    bool inside = true;
    for (int f = 0; f < 4; f++) {
        const uint8_t *c = kiln_face_corner[f];
        kiln_vec3 q[3] = {s->point[v[c[0]]], s->point[v[c[1]]], s->point[v[c[2]]]};
        kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(q[1], q[0]), kiln_v3_sub(q[2], q[0]));
        if (!(kiln_v3_dot(n, kiln_v3_sub(p, q[0])) > 0.0))
            continue;
        inside = false;
        nearest2 = fmin(nearest2, kiln_triangle_distance2(p, q));
    }
    return inside ? 0.0 : nearest2;
}

/* Weights of a place are not negative; outside what is left of them is not where the point is. */
static bool is_there(const kiln_sizing *s, const kiln_sizing_place *place, kiln_vec3 p)
{
    static const double NEAR = 1e-6; /* of the tet's longest edge from its first corner */
    const uint32_t *v = s->tet[place->tet].v;
    kiln_vec3 at = {0};
    double size2 = 0.0;
    for (int k = 0; k < 4; k++) {
        kiln_vec3 from = kiln_v3_sub(s->point[v[k]], p);
        at = kiln_v3_madd(at, place->weight[k], from);
        size2 = fmax(size2, kiln_v3_norm2(kiln_v3_sub(s->point[v[k]], s->point[v[0]])));
    }
    return kiln_v3_norm2(at) <= NEAR * NEAR * size2;
}

kiln_sym3 kiln_sizing_find(const kiln_sizing_index *index, kiln_vec3 p, uint32_t *hint)
{
    const kiln_sizing *s = index->sizing;
    if (s->constant || s->by_functions)
        return kiln_sizing_at(s, p, hint);
    kiln_sizing_place place = kiln_sizing_locate(s, p, *hint);
    if (!is_there(s, &place, p)) {
        uint32_t item = kiln_bvh_closest(&index->tree, p, INFINITY, distance2_to_tet,
                                         (void *)(uintptr_t)index, NULL);
        if (item != KILN_BVH_NONE)
            place = kiln_sizing_locate(s, p, index->tets.data[item]);
    }
    *hint = place.tet;
    return kiln_sizing_in(s, p, s->tet[place.tet].v, place.weight);
}
