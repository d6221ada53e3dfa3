#include "contact/obstacle_impl.h"
#include "geom/distance.h"
#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

/* Pseudonormals give the sign for a surface that is closed, oriented and manifold, with triangles
 * that have a normal. One with a rim is a sheet: it has two sides and no inside, and distances from
 * it have no sign. Everything else is refused here, so that a query need not ask. */

enum { DEGENERATE_SHIFT = 30 }; /* height below 2^-30 of the longest edge: no normal to speak of */

/* One of the two or more triangles at an edge, by the corner opposite it. */
typedef struct half_edge {
    uint32_t low, high; /* points */
    uint32_t at;        /* triangle * 3 + corner */
} half_edge;

static int compare_halves(const void *a, const void *b)
{
    const half_edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static kiln_status check_triangles(const kiln_soup *surface, double *volume, kiln_error *error)
{
    KILN_TRY(kiln_soup_check(surface, "mesh", error));
    if (surface->triangles.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, "mesh", 0, -1, "the surface has no triangles");
    if (surface->triangles.count > UINT32_MAX / 3)
        return kiln_fail(error, KILN_ERR_LIMIT, "mesh", 0, -1, "too many triangles");
    *volume = 0.0;
    kiln_vec3 origin = surface->points.data[surface->triangles.data[0].v[0]];
    for (size_t t = 0; t < surface->triangles.count; t++) {
        kiln_vec3 p[3];
        for (int k = 0; k < 3; k++)
            p[k] = kiln_v3_sub(surface->points.data[surface->triangles.data[t].v[k]], origin);
        kiln_vec3 a = kiln_v3_sub(p[1], p[0]), b = kiln_v3_sub(p[2], p[0]);
        kiln_vec3 c = kiln_v3_sub(p[2], p[1]), n = kiln_v3_cross(a, b);
        double longest = fmax(kiln_v3_norm2(c), fmax(kiln_v3_norm2(a), kiln_v3_norm2(b)));
        if (!(kiln_v3_norm(n) > ldexp(longest, -DEGENERATE_SHIFT)))
            return kiln_fail(error, KILN_ERR_INPUT, "mesh", 0, -1,
                             "triangle %zu (from 0) has no area", t);
        *volume += kiln_v3_triple(p[0], p[1], p[2]) / 6.0;
    }
    return KILN_OK;
}

static void list_halves(const kiln_soup *surface, half_edge *halves)
{
    for (uint32_t t = 0; t < surface->triangles.count; t++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t a = surface->triangles.data[t].v[(k + 1) % 3];
            uint32_t b = surface->triangles.data[t].v[(k + 2) % 3];
            halves[3 * t + k] = (half_edge){a < b ? a : b, a < b ? b : a, 3 * t + k};
        }
    qsort(halves, 3 * surface->triangles.count, sizeof *halves, compare_halves);
}

/* `across` [triangle][3]: triangle * 3 + corner on the other side of the edge opposite a corner;
 * KILN_NONE at a rim, and then *open. */
static kiln_status match_edges(const kiln_soup *surface, const half_edge *halves, uint32_t *across,
                               bool *open, kiln_error *error)
{
    size_t count = 3 * surface->triangles.count;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1;
             end < count && halves[end].low == halves[i].low && halves[end].high == halves[i].high;)
            end++;
        if (end - i > 2)
            return kiln_fail(error, KILN_ERR_INPUT, "mesh", 0, -1,
                             "the surface branches: the edge of points %u and %u (from 0) has %zu "
                             "triangles instead of 2, or 1 at a rim",
                             halves[i].low, halves[i].high, end - i);
        if (end - i == 1) {
            across[halves[i].at] = KILN_NONE;
            *open = true;
            continue;
        }
        uint32_t a = halves[i].at, b = halves[i + 1].at;
        uint32_t start_a = surface->triangles.data[a / 3].v[(a % 3 + 1) % 3];
        uint32_t start_b = surface->triangles.data[b / 3].v[(b % 3 + 1) % 3];
        if (start_a == start_b)
            return kiln_fail(error, KILN_ERR_INPUT, "mesh", 0, -1,
                             "triangles %u and %u (from 0) at one edge look to opposite sides",
                             a / 3, b / 3);
        across[a] = b;
        across[b] = a;
    }
    return KILN_OK;
}

static double angle_at(const kiln_vec3 corner[3], int k)
{
    kiln_vec3 a = kiln_v3_sub(corner[(k + 1) % 3], corner[k]);
    kiln_vec3 b = kiln_v3_sub(corner[(k + 2) % 3], corner[k]);
    return atan2(kiln_v3_norm(kiln_v3_cross(a, b)), kiln_v3_dot(a, b));
}

/* The corner at the same point in the next triangle round it. Over the edge opposite corner k + 1,
 * which ends at corner k; the other triangle has it the other way round, so there the point follows
 * the corner opposite the edge. */
static uint32_t next_in_fan(const uint32_t *across, uint32_t corner)
{
    uint32_t other = across[corner - corner % 3 + (corner + 1) % 3];
    return other - other % 3 + (other + 1) % 3;
}

static void set_fan(kiln_obstacle_mesh *mesh, const uint32_t *across, uint32_t start, uint8_t *done)
{
    kiln_vec3 sum = {0};
    uint32_t c = start;
    do {
        const kiln_obstacle_triangle *t = &mesh->triangle[c / 3];
        sum = kiln_v3_madd(sum, angle_at(t->corner, (int)(c % 3)), t->face_normal);
        c = next_in_fan(across, c);
    } while (c != start);
    sum = kiln_v3_normalize(sum);
    do {
        mesh->triangle[c / 3].vertex_normal[c % 3] = sum;
        done[c] = 1;
        c = next_in_fan(across, c);
    } while (c != start);
}

static void set_faces_and_edges(kiln_obstacle_mesh *mesh, const kiln_soup *surface,
                                const uint32_t *across)
{
    for (uint32_t t = 0; t < mesh->count; t++) {
        kiln_obstacle_triangle *row = &mesh->triangle[t];
        for (int k = 0; k < 3; k++)
            row->corner[k] = surface->points.data[surface->triangles.data[t].v[k]];
        row->face_normal =
            kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(row->corner[1], row->corner[0]),
                                            kiln_v3_sub(row->corner[2], row->corner[0])));
    }
    for (uint32_t t = 0; t < mesh->count && !mesh->open; t++)
        for (uint32_t k = 0; k < 3; k++)
            mesh->triangle[t].edge_normal[k] = kiln_v3_normalize(kiln_v3_add(
                mesh->triangle[t].face_normal, mesh->triangle[across[3 * t + k] / 3].face_normal));
}

/* `done` [corner] and `seen` [point] are zero. */
static kiln_status set_vertices(kiln_obstacle_mesh *mesh, const kiln_soup *surface,
                                const uint32_t *across, uint8_t *done, uint8_t *seen,
                                kiln_error *error)
{
    for (uint32_t c = 0; c < 3 * mesh->count; c++) {
        if (done[c])
            continue;
        uint32_t point = surface->triangles.data[c / 3].v[c % 3];
        if (seen[point]++)
            return kiln_fail(error, KILN_ERR_INPUT, "mesh", 0, -1,
                             "two sheets of the surface touch in point %u (from 0)", point);
        set_fan(mesh, across, c, done);
    }
    return KILN_OK;
}

static kiln_status build_tree(kiln_context *context, kiln_obstacle_mesh *mesh, kiln_error *error)
{
    size_t bytes = mesh->count * sizeof(kiln_box);
    kiln_box *boxes = kiln_resize(context, NULL, 0, bytes);
    if (!boxes)
        return kiln_fail_memory(error, bytes);
    for (size_t t = 0; t < mesh->count; t++) {
        boxes[t] = kiln_box_empty();
        for (int k = 0; k < 3; k++)
            boxes[t] = kiln_box_grow(boxes[t], mesh->triangle[t].corner[k]);
    }
    kiln_status status = kiln_bvh_build(&mesh->tree, context, boxes, mesh->count, error);
    kiln_release(context, boxes, bytes);
    return status;
}

/* Normals by way of the scratch, which is one block: halves, across, done, seen. */
static kiln_status set_normals(kiln_obstacle_mesh *mesh, const kiln_soup *surface, void *scratch,
                               kiln_error *error)
{
    half_edge *halves = scratch;
    uint32_t *across = (uint32_t *)(halves + 3 * mesh->count);
    uint8_t *done = (uint8_t *)(across + 3 * mesh->count);
    list_halves(surface, halves);
    KILN_TRY(match_edges(surface, halves, across, &mesh->open, error));
    set_faces_and_edges(mesh, surface, across);
    if (mesh->open)
        return KILN_OK;
    memset(done, 0, 3 * mesh->count + surface->points.count);
    return set_vertices(mesh, surface, across, done, done + 3 * mesh->count, error);
}

kiln_status kiln_obstacle_mesh_build(kiln_context *context, kiln_soup *surface,
                                     kiln_obstacle_mesh *mesh, kiln_error *error)
{
    double volume = 0.0;
    KILN_TRY(check_triangles(surface, &volume, error));
    if (volume < 0.0)
        for (size_t t = 0; t < surface->triangles.count; t++) {
            uint32_t *v = surface->triangles.data[t].v, swap = v[1];
            v[1] = v[2];
            v[2] = swap;
        }
    size_t count = surface->triangles.count, bytes = count * sizeof *mesh->triangle;
    size_t scratch_bytes = 3 * count * (sizeof(half_edge) + sizeof(uint32_t) + 1);
    scratch_bytes += surface->points.count;
    *mesh = (kiln_obstacle_mesh){.triangle = kiln_resize(context, NULL, 0, bytes), .count = count};
    void *scratch = kiln_resize(context, NULL, 0, scratch_bytes);
    kiln_status status = mesh->triangle && scratch ? set_normals(mesh, surface, scratch, error)
                                                   : kiln_fail_memory(error, bytes);
    if (status == KILN_OK && volume == 0.0 && !mesh->open)
        status = kiln_fail(error, KILN_ERR_INPUT, "mesh", 0, -1, "the surface encloses no volume");
    if (status == KILN_OK)
        status = build_tree(context, mesh, error);
    kiln_release(context, scratch, scratch_bytes);
    if (status != KILN_OK)
        kiln_obstacle_mesh_free(context, mesh);
    return status;
}

void kiln_obstacle_mesh_free(kiln_context *context, kiln_obstacle_mesh *mesh)
{
    if (mesh->tree.context)
        kiln_bvh_destroy(&mesh->tree);
    kiln_release(context, mesh->triangle, mesh->count * sizeof *mesh->triangle);
    *mesh = (kiln_obstacle_mesh){0};
}

static double triangle_distance2(void *user, uint32_t item, kiln_vec3 point)
{
    const kiln_obstacle_mesh *mesh = user;
    return kiln_closest_on_triangle(point, mesh->triangle[item].corner).distance2;
}

/* Normal of the feature with that mask of corners. */
static kiln_vec3 feature_normal(const kiln_obstacle_triangle *t, unsigned feature)
{
    for (int k = 0; k < 3; k++) {
        if (feature == 1u << k)
            return t->vertex_normal[k];
        if (feature == (7u & ~(1u << k)))
            return t->edge_normal[k];
    }
    return t->face_normal;
}

/* Away from it, on either side; on it, along the normal of its triangle. */
static kiln_obstacle_hit from_sheet(const kiln_obstacle_triangle *t, const kiln_closest_point *c,
                                    kiln_vec3 p)
{
    double distance = sqrt(c->distance2), size = fabs(p.x) + fabs(p.y) + fabs(p.z);
    kiln_vec3 normal =
        distance > 1e-14 * size ? kiln_v3_scale(c->offset, 1.0 / distance) : t->face_normal;
    return (kiln_obstacle_hit){distance, normal, kiln_v3_sub(p, c->offset)};
}

kiln_obstacle_hit kiln_obstacle_to_mesh(const kiln_obstacle *obstacle, kiln_vec3 p)
{
    const kiln_obstacle_mesh *mesh = &obstacle->mesh;
    uint32_t item =
        kiln_bvh_closest(&mesh->tree, p, INFINITY, triangle_distance2, (void *)mesh, NULL);
    const kiln_obstacle_triangle *t = &mesh->triangle[item];
    kiln_closest_point c = kiln_closest_on_triangle(p, t->corner);
    if (mesh->open)
        return from_sheet(t, &c, p);
    kiln_vec3 normal = feature_normal(t, c.feature);
    double distance = sqrt(c.distance2);
    if (kiln_v3_dot(c.offset, normal) < 0.0)
        distance = -distance;
    /* Beside an edge or a vertex the gradient is along the offset, unless that is mere rounding. */
    double size = fabs(p.x) + fabs(p.y) + fabs(p.z);
    if (c.feature != 7u && fabs(distance) > 1e-14 * size)
        normal = kiln_v3_scale(c.offset, 1.0 / distance);
    return (kiln_obstacle_hit){distance, normal, kiln_v3_sub(p, c.offset)};
}
