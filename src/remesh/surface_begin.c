#include "remesh/surface_begin.h"
#include "remesh/surface.h"
#include "remesh/sizing.h"
#include "geom/distance.h"

#include <stdlib.h>
#include <string.h>

/* What counts as rounding: sine of an angle, and units in the last place of a coordinate. */
static const double SAME_DIRECTION = 1e-9, LAST_PLACES = 16 * 2.220446049250313e-16;
/* For the smooth surface; the rest is for the facets on it. */
static const double MOST_COARSENING = 0.25; /* in one pass: edges four times as long */
static const double LIFT_OF_BAND = 0.8;
static const double BENT_PART = 0.65, SMOOTH_PART = 0.88; /* of the band, for samples */
static const double BENT_COSINE = 0.98480775301220806;    /* 10 degrees */
/* A begin face is over a point only if its normal is within 84 degrees of the asked one. */
static const double SAME_SIDE = 0.1;

static bool is_sheet(const kiln_mesh *mesh, uint32_t tet, uint32_t face, bool *interface)
{
    kiln_link link = mesh->tet[tet].n[face];
    *interface = !kiln_link_is_surface(link);
    return kiln_link_is_front(mesh, tet, link);
}

/* Normal, twice the area long. */
static kiln_vec3 area_of(const kiln_vec3 p[3])
{
    return kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]));
}

static kiln_sheet_triangle triangle_of(const kiln_mesh *mesh, const kiln_vec3 *points, uint32_t tet,
                                       uint32_t face, double rounding)
{
    kiln_sheet_triangle t = {0};
    const uint8_t *c = kiln_face_corner[face];
    for (int k = 0; k < 3; k++) {
        t.v[k] = mesh->tet[tet].v[c[k]];
        t.p[k] = points[t.v[k]];
        uint32_t e = kiln_edge_of[c[k]][c[(k + 1) % 3]];
        t.features |= (mesh->info[tet].marks >> (KILN_MARK_FEATURE_EDGE + e) & 1) << k;
    }
    kiln_vec3 area = area_of(t.p);
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        double length = kiln_v3_norm(kiln_v3_sub(t.p[(k + 1) % 3], t.p[k]));
        t.edge += length / 3.0;
        longest = length > longest ? length : longest;
    }
    t.normal = kiln_v3_normalize(area);
    t.noise = SAME_DIRECTION + rounding * longest / kiln_v3_norm(area);
    return t;
}

static kiln_status collect_triangles(const kiln_remesher *remesher, struct kiln_surface *surface,
                                     kiln_error *error)
{
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    kiln_context *context = remesher->context;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        bool interface;
        for (uint32_t f = 0; f < 4 && kiln_tet_live(mesh, t); f++) {
            if (!is_sheet(mesh, t, f, &interface))
                continue;
            kiln_sheet_triangle triangle = triangle_of(mesh, points, t, f, surface->rounding);
            triangle.interface = interface;
            triangle.part = mesh->info[t].part;
            triangle.body = mesh->parts.data[triangle.part].body;
            KILN_TRY(kiln_array_push(context, &surface->triangles, triangle, error));
        }
    }
    return KILN_OK;
}

static int by_key(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

static kiln_status collect_segments(const kiln_remesher *remesher, struct kiln_surface *surface,
                                    kiln_error *error)
{
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    kiln_context *context = remesher->context;
    KILN_ARRAY_OF(uint64_t)
    keys = {0};
    kiln_status status = KILN_OK;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && status == KILN_OK; t++) {
        uint32_t marks =
            kiln_tet_live(mesh, t) ? mesh->info[t].marks >> KILN_MARK_FEATURE_EDGE & 63 : 0;
        for (uint32_t e = 0; marks >> e && status == KILN_OK; e++) {
            uint64_t a = mesh->tet[t].v[kiln_edge_ends[e][0]];
            uint64_t b = mesh->tet[t].v[kiln_edge_ends[e][1]];
            if (marks >> e & 1)
                status = kiln_array_push(context, &keys, a < b ? a << 32 | b : b << 32 | a, error);
        }
    }
    if (keys.count)
        qsort(keys.data, keys.count, sizeof *keys.data, by_key);
    for (size_t i = 0; i < keys.count && status == KILN_OK; i++) {
        if (i && keys.data[i] == keys.data[i - 1])
            continue;
        kiln_feature_segment s = {.v = {(uint32_t)(keys.data[i] >> 32), (uint32_t)keys.data[i]}};
        s.p[0] = points[s.v[0]];
        s.p[1] = points[s.v[1]];
        s.direction = kiln_v3_normalize(kiln_v3_sub(s.p[1], s.p[0]));
        s.tangent[0] = s.tangent[1] = s.direction;
        status = kiln_array_push(context, &surface->segments, s, error);
    }
    kiln_array_free(context, &keys);
    return status;
}

/* Which triangles every vertex has, in order of number. */
static kiln_status list_corners(const kiln_remesher *remesher, struct kiln_surface *surface,
                                kiln_error *error)
{
    size_t vertices = remesher->mesh->table[KILN_ON_VERTEX].used;
    size_t corners = 3 * surface->triangles.count;
    KILN_TRY(kiln_array_reserve(remesher->context, &surface->start, vertices + 2, error));
    KILN_TRY(kiln_array_reserve(remesher->context, &surface->corner, corners + 1, error));
    uint32_t *start = surface->start.data;
    surface->vertices = (uint32_t)vertices;
    memset(start, 0, (vertices + 2) * sizeof *start);
    for (size_t i = 0; i < corners; i++)
        start[surface->triangles.data[i / 3].v[i % 3] + 2]++;
    for (size_t v = 2; v < vertices + 2; v++)
        start[v] += start[v - 1];
    for (size_t i = 0; i < corners; i++)
        surface->corner.data[start[surface->triangles.data[i / 3].v[i % 3] + 1]++] = (uint32_t)i;
    return KILN_OK;
}

kiln_status kiln_surface_collect(kiln_remesher *remesher, struct kiln_surface *surface,
                                 kiln_error *error)
{
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    kiln_box box = kiln_box_empty();
    double largest = 0.0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        box = kiln_box_grow(box, points[v]);
        double far = fmax(fabs(points[v].x), fmax(fabs(points[v].y), fabs(points[v].z)));
        largest = far > largest ? far : largest;
    }
    kiln_vec3 side = kiln_v3_sub(box.high, box.low);
    surface->size = fmax(side.x, fmax(side.y, side.z));
    surface->rounding = LAST_PLACES * largest;
    surface->band = remesher->options.band;
    surface->bodies_coincide = remesher->options.bodies_coincide;
    surface->smooth = remesher->options.surface == KILN_SURFACE_SMOOTH;
    KILN_TRY(collect_triangles(remesher, surface, error));
    KILN_TRY(collect_segments(remesher, surface, error));
    KILN_TRY(list_corners(remesher, surface, error));
    KILN_TRY(kiln_array_reserve(remesher->context, &surface->volume, mesh->parts.count, error));
    KILN_TRY(kiln_array_reserve(remesher->context, &surface->area, mesh->parts.count, error));
    for (size_t i = 0; i < mesh->parts.count; i++) {
        surface->volume.data[i] = mesh->parts.data[i].volume;
        surface->area.data[i] = 0.0;
    }
    surface->volume.count = mesh->parts.count;
    for (size_t i = 0; i < surface->triangles.count; i++) {
        const kiln_sheet_triangle *t = &surface->triangles.data[i];
        if (!t->interface)
            surface->area.data[t->part] += 0.5 * kiln_v3_norm(area_of(t->p));
    }
    return KILN_OK;
}

bool kiln_surface_in_plane(const struct kiln_surface *surface, kiln_vec3 n, double noise,
                           kiln_vec3 a, kiln_vec3 b)
{
    kiln_vec3 d = kiln_v3_sub(b, a);
    return fabs(kiln_v3_dot(n, d)) <= noise * kiln_v3_norm(d) + surface->rounding;
}

/* Weight of a corner's normal: sine over the product of its edges, exact on a sphere (Max 1999). */
static kiln_vec3 weighted_normal(const kiln_sheet_triangle *t, uint32_t k)
{
    kiln_vec3 a = kiln_v3_sub(t->p[(k + 1) % 3], t->p[k]);
    kiln_vec3 b = kiln_v3_sub(t->p[(k + 2) % 3], t->p[k]);
    double below = kiln_v3_norm2(a) * kiln_v3_norm2(b);
    return kiln_v3_scale(kiln_v3_cross(a, b), below > 0.0 ? 1.0 / below : 0.0);
}

/* Whether two triangles at a vertex continue each other there: they share an edge that is no
 * feature. ka, kb: the vertex's corner in each. */
static bool continues(const kiln_sheet_triangle *a, uint32_t ka, const kiln_sheet_triangle *b,
                      uint32_t kb)
{
    for (uint32_t i = 1; i < 3; i++)
        for (uint32_t j = 1; j < 3; j++)
            if (a->v[(ka + i) % 3] == b->v[(kb + j) % 3])
                return !(a->features >> (i == 1 ? ka : (ka + 2) % 3) & 1);
    return false;
}

enum { CORNERS_ROOM = 64 };

/* Normals of the corners at one vertex: the same for those that continue each other. */
static void corner_normals(struct kiln_surface *surface, const uint32_t *corner, uint32_t count)
{
    uint8_t sheet[CORNERS_ROOM];
    kiln_sheet_triangle *triangles = surface->triangles.data;
    for (uint32_t i = 0; i < count; i++) {
        kiln_sheet_triangle *t = &triangles[corner[i] / 3];
        t->corner_normal[corner[i] % 3] = t->normal;
        sheet[i < CORNERS_ROOM ? i : 0] = (uint8_t)i;
    }
    if (count > CORNERS_ROOM)
        return;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const kiln_sheet_triangle *a = &triangles[corner[i] / 3],
                                      *b = &triangles[corner[j] / 3];
            if (sheet[i] == sheet[j] || !continues(a, corner[i] % 3, b, corner[j] % 3))
                continue;
            for (uint32_t k = 0, from = sheet[i], to = sheet[j]; k < count; k++)
                sheet[k] = sheet[k] == from ? (uint8_t)to : sheet[k];
        }
    for (uint32_t i = 0; i < count; i++) {
        kiln_vec3 sum = kiln_v3(0, 0, 0);
        for (uint32_t j = 0; j < count; j++)
            if (sheet[j] == sheet[i])
                sum = kiln_v3_add(sum, weighted_normal(&triangles[corner[j] / 3], corner[j] % 3));
        kiln_sheet_triangle *t = &triangles[corner[i] / 3];
        if (kiln_v3_dot(sum, t->normal) > 0.0)
            t->corner_normal[corner[i] % 3] = kiln_v3_normalize(sum);
    }
}

/* Flat: the sheet goes on in the triangle's plane at all corners, or is flat all round one. */
static bool lies_flat(const kiln_remesher *remesher, const struct kiln_surface *surface,
                      const kiln_sheet_triangle *t)
{
    bool flat = true;
    for (int k = 0; k < 3; k++) {
        if (remesher->side.data[t->v[k]].freedom == KILN_ON_PLANE)
            return true;
        for (int j = 1; j < 3; j++)
            flat = flat && kiln_surface_in_plane(surface, t->corner_normal[k], t->noise, t->p[k],
                                                 t->p[(k + j) % 3]);
    }
    return flat;
}

static void finish_segments(const kiln_remesher *remesher, struct kiln_surface *surface)
{
    for (size_t i = 0; i < surface->segments.count; i++) {
        kiln_feature_segment *s = &surface->segments.data[i];
        s->straight = true;
        for (int k = 0; k < 2; k++) {
            const kiln_vertex_side *side = &remesher->side.data[s->v[k]];
            if (side->freedom != KILN_ON_CURVE)
                continue;
            s->straight = false;
            s->tangent[k] = kiln_v3_dot(side->axis, s->direction) < 0.0
                                ? kiln_v3_scale(side->axis, -1.0)
                                : side->axis;
        }
    }
}

static kiln_status build_tree(kiln_context *context, const struct kiln_surface *surface,
                              bool segments, kiln_bvh *tree, kiln_error *error)
{
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    size_t count = segments ? surface->segments.count : surface->triangles.count;
    KILN_TRY(kiln_array_reserve(context, &boxes, count + 1, error));
    for (size_t i = 0; i < count; i++) {
        const kiln_vec3 *p = segments ? surface->segments.data[i].p : surface->triangles.data[i].p;
        boxes.data[i] = kiln_box_of(p, segments ? 2 : 3);
    }
    kiln_status status = kiln_bvh_build(tree, context, boxes.data, count, error);
    kiln_array_free(context, &boxes);
    return status;
}

/* Beyond a sharp edge another surface begins, with edges of its own. */
static void find_near(struct kiln_surface *surface)
{
    const double sharp = 0.5;
    for (size_t i = 0; i < surface->triangles.count; i++) {
        kiln_sheet_triangle *t = &surface->triangles.data[i];
        for (int k = 0; k < 3; k++)
            for (uint32_t c = surface->start.data[t->v[k]]; c < surface->start.data[t->v[k] + 1];
                 c++) {
                const kiln_sheet_triangle *other =
                    &surface->triangles.data[surface->corner.data[c] / 3];
                if (kiln_v3_dot(t->normal, other->normal) > sharp && other->allowed < t->near)
                    t->near = other->allowed;
            }
    }
}

/* By what factor longer edges are asked for than the triangle has, 1 where they are not: a surface
 * that may become coarse again must be allowed the chords of edges that long. */
static double coarser(const kiln_remesher *remesher, const kiln_sheet_triangle *t)
{
    const kiln_sizing *sizing = remesher->options.sizing;
    double length = 0.0;
    if (!sizing)
        return 1.0;
    for (int k = 0; k < 3; k++) {
        uint32_t a = t->v[k], b = t->v[(k + 1) % 3];
        kiln_sym3 at_a = kiln_sizing_at_vertex(sizing, a), at_b = kiln_sizing_at_vertex(sizing, b);
        const kiln_vec3 *p = kiln_remesher_points(remesher);
        length += kiln_metric_edge_length(&at_a, &at_b, kiln_v3_sub(p[b], p[a])) / 3.0;
    }
    return length < 1.0 ? 1.0 / fmax(length, MOST_COARSENING) : 1.0;
}

kiln_status kiln_surface_finish(const kiln_remesher *remesher, struct kiln_surface *surface,
                                kiln_error *error)
{
    const uint32_t *start = surface->start.data;
    for (uint32_t v = 0; v < remesher->mesh->table[KILN_ON_VERTEX].used; v++)
        if (start[v + 1] > start[v])
            corner_normals(surface, surface->corner.data + start[v], start[v + 1] - start[v]);
    for (size_t i = 0; i < surface->triangles.count; i++) {
        kiln_sheet_triangle *t = &surface->triangles.data[i];
        t->flat = lies_flat(remesher, surface, t);
        t->edge *= coarser(remesher, t);
        for (int k = 0; k < 3; k++)
            t->bent = t->bent || kiln_v3_dot(t->corner_normal[k], t->normal) < BENT_COSINE;
        t->allowed = (t->bent ? BENT_PART : SMOOTH_PART) * kiln_surface_band(surface, t->edge);
        t->near = t->allowed;
    }
    find_near(surface);
    finish_segments(remesher, surface);
    for (size_t i = 0; i < surface->triangles.count; i++)
        surface->reach += 0.1 * surface->triangles.data[i].edge / (double)surface->triangles.count;
    KILN_TRY(
        kiln_array_reserve(remesher->context, &surface->room, surface->triangles.count + 1, error));
    for (size_t i = 0; i < surface->triangles.count; i++)
        atomic_init(&surface->room.data[i], -1.0);
    KILN_TRY(build_tree(remesher->context, surface, false, &surface->triangle_tree, error));
    return build_tree(remesher->context, surface, true, &surface->segment_tree, error);
}

typedef struct foot_query {
    const struct kiln_surface *surface;
    kiln_vec3 direction;
} foot_query;

static double triangle_distance2(void *user, uint32_t item, kiln_vec3 point)
{
    const foot_query *query = user;
    const kiln_sheet_triangle *t = &query->surface->triangles.data[item];
    double side = kiln_v3_dot(t->normal, query->direction);
    if ((t->interface ? fabs(side) : side) < SAME_SIDE)
        return INFINITY;
    return kiln_triangle_distance2(point, t->p);
}

/* Within a distance of a begin face, as far as there is room. */
static bool is_within(foot_query *query, uint32_t item, kiln_vec3 p, double distance)
{
    double distance2 = triangle_distance2(query, item, p);
    if (!(distance >= 0.0 && distance2 <= distance * distance))
        return false;
    double room = kiln_surface_room(query->surface, item);
    return room >= 1.0 || distance2 <= room * room * distance * distance;
}

bool kiln_surface_near(const struct kiln_surface *surface, kiln_vec3 p, kiln_vec3 normal,
                       double limit, uint32_t *under)
{
    foot_query query = {surface, normal};
    const kiln_sheet_triangle *hint = &surface->triangles.data[*under];
    /* The band is judged by the nearest face; a short enough distance from any decides too. */
    double near = surface->smooth ? -1.0 : hint->near;
    if (is_within(&query, *under, p, near))
        return true;
    for (int k = 0; k < 3 && near > 0.0; k++)
        for (uint32_t c = surface->start.data[hint->v[k]]; c < surface->start.data[hint->v[k] + 1];
             c++)
            if (is_within(&query, surface->corner.data[c] / 3, p, near)) {
                *under = surface->corner.data[c] / 3;
                return true;
            }
    kiln_foot foot = kiln_surface_foot(surface, p, normal, limit, *under);
    if (foot.item == KILN_BVH_NONE)
        return false;
    *under = foot.item;
    return foot.distance <=
           kiln_surface_room(surface, foot.item) * surface->triangles.data[foot.item].allowed;
}

static double segment_distance2(void *user, uint32_t item, kiln_vec3 point)
{
    const foot_query *query = user;
    const kiln_feature_segment *s = &query->surface->segments.data[item];
    return fabs(kiln_v3_dot(s->direction, query->direction)) < SAME_SIDE
               ? INFINITY
               : kiln_closest_on_edge(point, s->p).distance2;
}

void kiln_surface_widen(struct kiln_surface *surface, double times)
{
    surface->band *= times;
    for (size_t i = 0; i < surface->triangles.count; i++) {
        surface->triangles.data[i].allowed *= times;
        surface->triangles.data[i].near *= times;
    }
}

double kiln_surface_band(const struct kiln_surface *surface, double edge)
{
    double of_size = KILN_BAND_OF_SIZE * surface->size, of_edge = KILN_BAND_OF_EDGE * edge;
    return surface->band * (of_size > of_edge ? of_size : of_edge);
}

static kiln_vec3 shortened(kiln_vec3 v, double most)
{
    double length = kiln_v3_norm(v);
    return length > most ? kiln_v3_scale(v, most / length) : v;
}

/* Points asked about are nearly always close to the surface, and a short reach spares most of the
 * tree. */
static uint32_t closest(const kiln_bvh *tree, kiln_vec3 p, double reach, double limit2,
                        kiln_bvh_distance2 distance2, void *user)
{
    double reach2 = reach * reach, first2 = limit2 < reach2 ? limit2 : reach2;
    uint32_t item = kiln_bvh_closest(tree, p, first2, distance2, user, NULL);
    return item != KILN_BVH_NONE || limit2 <= reach2
               ? item
               : kiln_bvh_closest(tree, p, limit2, distance2, user, NULL);
}

uint32_t kiln_surface_face_at(const struct kiln_surface *surface, uint32_t vertex)
{
    const uint32_t *start = surface->start.data;
    return vertex < surface->vertices && start[vertex] < start[vertex + 1]
               ? surface->corner.data[start[vertex]] / 3
               : KILN_BVH_NONE;
}

kiln_foot kiln_surface_foot(const struct kiln_surface *surface, kiln_vec3 p, kiln_vec3 normal,
                            double limit, uint32_t hint)
{
    foot_query query = {surface, normal};
    double there2 = hint == KILN_BVH_NONE ? INFINITY : triangle_distance2(&query, hint, p);
    double limit2 = there2 < limit * limit ? there2 : limit * limit;
    kiln_foot foot = {.item = closest(&surface->triangle_tree, p, surface->reach, limit2,
                                      triangle_distance2, &query)};
    if (foot.item == KILN_BVH_NONE)
        return foot;
    const kiln_sheet_triangle *t = &surface->triangles.data[foot.item];
    kiln_closest_point closest = kiln_closest_on_triangle(p, t->p);
    foot.distance = sqrt(closest.distance2);
    foot.begin = foot.point = kiln_v3_sub(p, closest.offset);
    foot.band = kiln_surface_room(surface, foot.item) * kiln_surface_band(surface, t->edge);
    foot.normal = t->normal;
    if (t->flat)
        return foot;
    kiln_vec3 lift = kiln_v3(0, 0, 0), sum = kiln_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        kiln_vec3 n = t->corner_normal[k];
        double height = kiln_v3_dot(kiln_v3_sub(foot.begin, t->p[k]), n);
        lift = kiln_v3_madd(lift, -0.5 * closest.weight[k] * height, n);
        sum = kiln_v3_madd(sum, closest.weight[k], n);
    }
    foot.point = kiln_v3_add(foot.begin, shortened(lift, LIFT_OF_BAND * foot.band));
    foot.normal = kiln_v3_normalize(sum);
    if (surface->smooth)
        foot.distance = kiln_v3_norm(kiln_v3_sub(p, foot.point));
    return foot;
}

kiln_foot kiln_surface_curve_foot(const struct kiln_surface *surface, kiln_vec3 p,
                                  kiln_vec3 direction)
{
    foot_query query = {surface, direction};
    kiln_foot foot = {.item = closest(&surface->segment_tree, p, surface->reach, INFINITY,
                                      segment_distance2, &query)};
    if (foot.item == KILN_BVH_NONE)
        return foot;
    const kiln_feature_segment *s = &surface->segments.data[foot.item];
    kiln_closest_point closest = kiln_closest_on_edge(p, s->p);
    foot.distance = sqrt(closest.distance2);
    foot.begin = foot.point = kiln_v3_sub(p, closest.offset);
    foot.band = kiln_surface_band(surface, kiln_v3_norm(kiln_v3_sub(s->p[1], s->p[0])));
    foot.normal = s->direction;
    if (s->straight)
        return foot;
    kiln_vec3 lift = kiln_v3(0, 0, 0), sum = kiln_v3(0, 0, 0);
    for (int k = 0; k < 2; k++) {
        kiln_vec3 from = kiln_v3_sub(foot.begin, s->p[k]), t = s->tangent[k];
        kiln_vec3 off = kiln_v3_madd(from, -kiln_v3_dot(from, t), t);
        lift = kiln_v3_madd(lift, -0.5 * closest.weight[k], off);
        sum = kiln_v3_madd(sum, closest.weight[k], t);
    }
    foot.point = kiln_v3_add(foot.begin, shortened(lift, LIFT_OF_BAND * foot.band));
    foot.normal = kiln_v3_normalize(sum);
    return foot;
}
