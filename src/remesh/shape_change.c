#include "remesh/shape_change.h"
#include "base/parallel.h"
#include "geom/bvh.h"
#include "geom/distance.h"
#include "remesh/surface.h"

#include <stdlib.h>

static int by_region(const void *a, const void *b)
{
    int32_t p = ((const kiln_region_volume *)a)->region,
            q = ((const kiln_region_volume *)b)->region;
    return (p > q) - (p < q);
}

static kiln_status add_volume(kiln_context *context, kiln_mesh_shape *shape, int32_t region,
                              double volume, kiln_error *error)
{
    for (size_t i = shape->regions.count; i-- > 0;)
        if (shape->regions.data[i].region == region) {
            shape->regions.data[i].volume += volume;
            return KILN_OK;
        }
    return kiln_array_push(context, &shape->regions, ((kiln_region_volume){region, volume}), error);
}

static kiln_status take(const kiln_mesh *mesh, const kiln_vec3 *points, kiln_mesh_shape *out,
                        kiln_error *error)
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const kiln_tet *tet = &mesh->tet[t];
        double volume = kiln_tet_volume(points[tet->v[0]], points[tet->v[1]], points[tet->v[2]],
                                        points[tet->v[3]]);
        KILN_TRY(add_volume(mesh->context, out, mesh->info[t].region, volume, error));
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = tet->n[f];
            kiln_shape_triangle triangle = {.interface = !kiln_link_is_surface(link)};
            if (!kiln_link_is_front(mesh, t, link))
                continue;
            for (int k = 0; k < 3; k++)
                triangle.p[k] = points[tet->v[kiln_face_corner[f][k]]];
            KILN_TRY(kiln_array_push(mesh->context, &out->triangles, triangle, error));
        }
    }
    if (out->regions.count)
        qsort(out->regions.data, out->regions.count, sizeof *out->regions.data, by_region);
    return KILN_OK;
}

kiln_status kiln_mesh_shape_take(const kiln_mesh *mesh, kiln_space space, kiln_mesh_shape *out,
                                 kiln_error *error)
{
    out->triangles.count = out->regions.count = 0;
    kiln_status status = take(mesh, kiln_mesh_positions(mesh, space), out, error);
    if (status != KILN_OK)
        kiln_mesh_shape_free(mesh->context, out);
    return status;
}

void kiln_mesh_shape_free(kiln_context *context, kiln_mesh_shape *shape)
{
    kiln_array_free(context, &shape->triangles);
    kiln_array_free(context, &shape->regions);
}

/* One direction: how far the triangles of `from` are from those of `to`. */
typedef struct comparison {
    const kiln_mesh_shape *from, *to;
    kiln_bvh tree; /* of `to` */
    bool reverse;  /* the band is that of the surface before: `from` */
    double size;
    double *distance, *of_band; /* [chunk], the largest */
} comparison;

typedef struct nearest_query {
    const kiln_mesh_shape *shape;
    bool interface;
    kiln_vec3 normal; /* of the triangle the point is of */
} nearest_query;

static kiln_vec3 normal_of(const kiln_shape_triangle *t)
{
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(t->p[1], t->p[0]), kiln_v3_sub(t->p[2], t->p[0])));
}

/* The other side of a wall or of a slit is no part of the surface that a point has come from. */
static bool looks_away(const nearest_query *query, const kiln_shape_triangle *t)
{
    const double away = -0.5;
    return !query->interface && kiln_v3_dot(query->normal, normal_of(t)) < away;
}

static double distance2_to(void *user, uint32_t item, kiln_vec3 point)
{
    const nearest_query *query = user;
    const kiln_shape_triangle *t = &query->shape->triangles.data[item];
    return t->interface == query->interface && !looks_away(query, t)
               ? kiln_closest_on_triangle(point, t->p).distance2
               : INFINITY;
}

static double mean_edge(const kiln_shape_triangle *t)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        sum += kiln_v3_norm(kiln_v3_sub(t->p[(k + 1) % 3], t->p[k]));
    return sum / 3.0;
}

static void compare_triangle(comparison *c, size_t chunk, const kiln_shape_triangle *t)
{
    enum { PARTS = 4 }; /* of an edge */
    nearest_query query = {c->to, t->interface, normal_of(t)};
    for (int i = 0; i <= PARTS; i++)
        for (int j = 0; i + j <= PARTS; j++) {
            double a = i / (double)PARTS, b = j / (double)PARTS, d2 = INFINITY;
            kiln_vec3 p = kiln_v3_scale(t->p[0], 1.0 - a - b);
            p = kiln_v3_madd(kiln_v3_madd(p, a, t->p[1]), b, t->p[2]);
            uint32_t item = kiln_bvh_closest(&c->tree, p, INFINITY, distance2_to, &query, &d2);
            double distance = item == KILN_BVH_NONE ? INFINITY : sqrt(d2);
            const kiln_shape_triangle *before =
                c->reverse || item == KILN_BVH_NONE ? t : &c->to->triangles.data[item];
            double band = fmax(KILN_BAND_OF_SIZE * c->size, KILN_BAND_OF_EDGE * mean_edge(before));
            c->distance[chunk] = fmax(c->distance[chunk], distance);
            c->of_band[chunk] = fmax(c->of_band[chunk], distance / band);
        }
}

static void compare_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    comparison *c = user;
    (void)worker;
    c->distance[chunk] = c->of_band[chunk] = 0.0;
    for (size_t i = begin; i < end; i++)
        compare_triangle(c, chunk, &c->from->triangles.data[i]);
}

static kiln_status build_tree(kiln_context *context, comparison *c, kiln_error *error)
{
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    size_t count = c->to->triangles.count;
    KILN_TRY(kiln_array_reserve(context, &boxes, count + 1, error));
    for (size_t i = 0; i < count; i++)
        boxes.data[i] = kiln_box_of(c->to->triangles.data[i].p, 3);
    kiln_status status = kiln_bvh_build(&c->tree, context, boxes.data, count, error);
    kiln_array_free(context, &boxes);
    return status;
}

static kiln_status compare_one_way(kiln_context *context, comparison *c, double *distance,
                                   double *of_band, kiln_error *error)
{
    enum { GRAIN = 64 };
    kiln_f64_array room = {0};
    size_t chunks = kiln_chunk_count(c->from->triangles.count, GRAIN);
    kiln_status status = build_tree(context, c, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &room, 2 * chunks + 1, error);
    if (status == KILN_OK) {
        c->distance = room.data;
        c->of_band = room.data + chunks;
        kiln_parallel_for(context, c->from->triangles.count, GRAIN, compare_chunk, c);
        *distance = 0.0;
        for (size_t i = 0; i < chunks; i++) {
            *distance = fmax(*distance, c->distance[i]);
            *of_band = fmax(*of_band, c->of_band[i]);
        }
    }
    kiln_array_free(context, &room);
    kiln_bvh_destroy(&c->tree);
    return status;
}

static double volume_of(const kiln_mesh_shape *shape, int32_t region)
{
    for (size_t i = 0; i < shape->regions.count; i++)
        if (shape->regions.data[i].region == region)
            return shape->regions.data[i].volume;
    return 0.0;
}

static void compare_volumes(const kiln_mesh_shape *before, const kiln_mesh_shape *after,
                            kiln_shape_change *out)
{
    double all_before = 0.0, all_after = 0.0;
    for (size_t i = 0; i < after->regions.count; i++)
        all_after += after->regions.data[i].volume;
    for (size_t i = 0; i < before->regions.count; i++) {
        const kiln_region_volume *r = &before->regions.data[i];
        double change = volume_of(after, r->region) / r->volume - 1.0;
        all_before += r->volume;
        if (i == 0 || fabs(change) > fabs(out->region)) {
            out->region = change;
            out->region_tag = r->region;
        }
    }
    out->volume = all_after / all_before - 1.0;
}

kiln_status kiln_shape_compare(kiln_context *context, const kiln_mesh_shape *before,
                               const kiln_mesh_shape *after, kiln_shape_change *out,
                               kiln_error *error)
{
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < 3 * before->triangles.count; i++)
        box = kiln_box_grow(box, before->triangles.data[i / 3].p[i % 3]);
    kiln_vec3 side = kiln_v3_sub(box.high, box.low);
    *out = (kiln_shape_change){.size = fmax(side.x, fmax(side.y, side.z))};
    comparison forth = {.from = after, .to = before, .size = out->size};
    comparison back = {.from = before, .to = after, .reverse = true, .size = out->size};
    KILN_TRY(compare_one_way(context, &forth, &out->outward, &out->of_band, error));
    KILN_TRY(compare_one_way(context, &back, &out->backward, &out->of_band, error));
    out->hausdorff = fmax(out->outward, out->backward);
    compare_volumes(before, after, out);
    return KILN_OK;
}
