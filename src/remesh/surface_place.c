/* Places on the surface: where a vertex may be, and what is known about it there. */
#include "remesh/surface.h"
#include "remesh/surface_begin.h"
#include "remesh/space.h"

/* The part of a direction in which a vertex may move (normal taken out, or along the axis). */
static kiln_vec3 project(const kiln_vertex_side *side, kiln_vec3 direction)
{
    switch ((kiln_freedom)side->freedom) {
    case KILN_ON_PLANE:
    case KILN_ON_SURFACE:
        return kiln_v3_madd(direction, -kiln_v3_dot(direction, side->axis), side->axis);
    case KILN_ON_LINE:
    case KILN_ON_CURVE:
        return kiln_v3_scale(side->axis, kiln_v3_dot(direction, side->axis));
    case KILN_FIXED:
        return kiln_v3(0, 0, 0);
    case KILN_FREE:
        break;
    }
    return direction;
}

static kiln_foot foot_of(const kiln_remesher *remesher, const kiln_vertex_side *side, kiln_vec3 p)
{
    return side->freedom == KILN_ON_CURVE
               ? kiln_surface_curve_foot(remesher->surface, p, side->axis)
               : kiln_surface_foot(remesher->surface, p, side->axis, INFINITY, KILN_BVH_NONE);
}

static bool is_curved(const kiln_vertex_side *side)
{
    return side->freedom == KILN_ON_SURFACE || side->freedom == KILN_ON_CURVE;
}

/* The weight of the quadric stays: the sum of 1 / a^2 over the faces the vertex had. */
static void move_side(kiln_vertex_side *side, const kiln_foot *foot)
{
    bool curve = side->freedom == KILN_ON_CURVE;
    side->axis = foot->normal;
    side->begin = foot->point;
    side->quadric.origin = foot->point;
    kiln_quadric_set(&side->quadric, foot->normal, kiln_quadric_weight(&side->quadric, curve),
                     curve);
}

double kiln_surface_term(const kiln_remesher *remesher, const kiln_vertex_side *side, kiln_vec3 p,
                         kiln_vec3 *gradient)
{
    *gradient = kiln_v3(0, 0, 0);
    if (!is_curved(side))
        return INFINITY;
    kiln_vertex_side there = *side;
    kiln_foot foot = foot_of(remesher, side, p);
    if (foot.item != KILN_BVH_NONE)
        move_side(&there, &foot);
    *gradient = kiln_v3_scale(kiln_quadric_gradient(&there.quadric, p), -KILN_QUADRIC_BETA);
    return KILN_QUADRIC_ALPHA - KILN_QUADRIC_BETA * kiln_quadric_value(&there.quadric, p);
}

/* Facets on a smooth surface leave out volume, more of it the larger they become. What a part has
 * lost since the begin is given back by settling vertices that much outside, all over its surface
 * the same; the loop closes itself, since places so found are judged like others. */
static double give_back(const kiln_remesher *remesher, const kiln_foot *foot)
{
    const double most = 0.1; /* of the band */
    const struct kiln_surface *surface = remesher->surface;
    const kiln_sheet_triangle *t = &surface->triangles.data[foot->item];
    if (t->interface || t->flat || remesher->options.space != KILN_SPACE_MATERIAL)
        return 0.0;
    double lost = surface->volume.data[t->part] - remesher->mesh->parts.data[t->part].volume;
    double out = 2.0 * lost / surface->area.data[t->part], limit = most * foot->band;
    return out > limit ? limit : out < -limit ? -limit : out;
}

kiln_vec3 kiln_surface_rebase(const kiln_remesher *remesher, kiln_vertex_side *side, kiln_vec3 p)
{
    if (side->freedom == KILN_FREE)
        return p;
    if (!is_curved(side))
        return kiln_v3_add(side->begin, project(side, kiln_v3_sub(p, side->begin)));
    kiln_foot foot = foot_of(remesher, side, p);
    if (foot.item == KILN_BVH_NONE)
        return side->begin;
    if (side->freedom == KILN_ON_SURFACE)
        foot.point = kiln_v3_madd(foot.point, give_back(remesher, &foot), foot.normal);
    move_side(side, &foot);
    return foot.point;
}

/* The unit normal of the sheet face of a tet, oriented like those of the begin. */
static kiln_vec3 sheet_normal(const kiln_remesher *remesher, uint32_t tet, uint32_t face)
{
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    const uint8_t *c = kiln_face_corner[face];
    kiln_vec3 a = points[mesh->tet[tet].v[c[0]]];
    kiln_vec3 n = kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(points[mesh->tet[tet].v[c[1]]], a),
                                                  kiln_v3_sub(points[mesh->tet[tet].v[c[2]]], a)));
    kiln_link link = mesh->tet[tet].n[face];
    bool inward =
        !kiln_link_is_surface(link) && mesh->info[tet].region > mesh->info[link / 4].region;
    return inward ? kiln_v3_scale(n, -1.0) : n;
}

enum { RING_ROOM = 64, NORMALS_ROOM = 4 };

/* Normals of the sheet faces at the edge of two vertices of a tet. */
static int edge_normals(const kiln_remesher *remesher, uint32_t tet, uint32_t va, uint32_t vb,
                        kiln_vec3 normal[NORMALS_ROOM])
{
    const kiln_mesh *mesh = remesher->mesh;
    uint32_t ring[RING_ROOM];
    kiln_ring shape = kiln_edge_ring(mesh, tet, kiln_tet_corner(&mesh->tet[tet], va),
                                     kiln_tet_corner(&mesh->tet[tet], vb), ring, RING_ROOM);
    if (shape.count > RING_ROOM)
        return 0;
    int count = 0;
    for (uint32_t i = 0; i < shape.count; i++)
        for (uint32_t f = 0; f < 4 && count < NORMALS_ROOM; f++) {
            const kiln_tet *t = &mesh->tet[ring[i] / 4];
            bool exit = f == ring[i] % 4,
                 entry = i == 0 && !shape.closed && t->v[f] != va && t->v[f] != vb && !exit;
            if ((exit || entry) && kiln_link_is_wall(mesh, ring[i] / 4, t->n[f]))
                normal[count++] = sheet_normal(remesher, ring[i] / 4, f);
        }
    return count;
}

/* The side of a vertex at p inside a sheet whose faces there have these normals. */
static void place_on_sheet(const kiln_remesher *remesher, const kiln_vec3 *normal, int count,
                           kiln_vec3 p, kiln_vertex_side *side)
{
    const struct kiln_surface *surface = remesher->surface;
    kiln_vec3 sum = kiln_v3(0, 0, 0);
    for (int i = 0; i < count; i++)
        sum = kiln_v3_add(sum, normal[i]);
    kiln_foot foot = kiln_surface_foot(surface, p, kiln_v3_normalize(sum), INFINITY, KILN_BVH_NONE);
    if (foot.item == KILN_BVH_NONE)
        return;
    const kiln_sheet_triangle *t = &surface->triangles.data[foot.item];
    bool flat = t->flat && kiln_surface_in_plane(surface, t->normal, 0.0, t->p[0], p);
    for (int i = 0; i < count; i++)
        flat = flat && kiln_v3_norm(kiln_v3_cross(normal[i], t->normal)) <= 2 * t->noise;
    if (!flat && remesher->options.surface == KILN_SURFACE_KEEP)
        return;
    side->freedom = flat ? KILN_ON_PLANE : KILN_ON_SURFACE;
    side->axis = foot.normal;
    if (!flat)
        kiln_quadric_set(&side->quadric, foot.normal, 8.0 / (t->edge * t->edge), false);
}

static void place_on_feature(const kiln_remesher *remesher, kiln_vec3 direction, kiln_vec3 p,
                             kiln_vertex_side *side)
{
    const struct kiln_surface *surface = remesher->surface;
    kiln_foot foot = kiln_surface_curve_foot(surface, p, kiln_v3_normalize(direction));
    if (foot.item == KILN_BVH_NONE)
        return;
    const kiln_feature_segment *s = &surface->segments.data[foot.item];
    bool line = s->straight && foot.distance <= surface->rounding;
    if (!line && remesher->options.surface == KILN_SURFACE_KEEP)
        return;
    side->freedom = line ? KILN_ON_LINE : KILN_ON_CURVE;
    side->axis = foot.normal;
    double edge2 = kiln_v3_norm2(kiln_v3_sub(s->p[1], s->p[0]));
    if (!line)
        kiln_quadric_set(&side->quadric, foot.normal, 8.0 / edge2, true);
}

void kiln_surface_place(const kiln_remesher *remesher, uint32_t tet, const uint32_t *corner,
                        const double *weight, int count, kiln_place *place)
{
    const kiln_mesh *mesh = remesher->mesh;
    const bool world = kiln_site_in_world(remesher, tet, corner, count);
    const kiln_vec3 *points = world ? mesh->x : kiln_remesher_points(remesher);
    kiln_vec3 p = kiln_v3(0, 0, 0), normal[NORMALS_ROOM];
    for (int i = 0; i < count; i++)
        p = kiln_v3_madd(p, weight[i], points[corner[i]]);
    *place = (kiln_place){.side = {.begin = p,
                                   .hint = remesher->side.data[corner[0]].hint,
                                   .freedom = KILN_FIXED,
                                   .world = world}};
    place->side.quadric.origin = p;
    const kiln_tet *t = &mesh->tet[tet];
    uint32_t a = kiln_tet_corner(t, corner[0]), b = kiln_tet_corner(t, corner[1]);
    if (count == 2 && mesh->info[tet].marks >> (KILN_MARK_FEATURE_EDGE + kiln_edge_of[a][b]) & 1) {
        place_on_feature(remesher, kiln_v3_sub(points[corner[1]], points[corner[0]]), p,
                         &place->side);
    } else if (count == 2) {
        int normals = edge_normals(remesher, tet, corner[0], corner[1], normal);
        if (normals > 0)
            place_on_sheet(remesher, normal, normals, p, &place->side);
    } else {
        uint32_t face = 6 - a - b - kiln_tet_corner(t, corner[2]);
        normal[0] = sheet_normal(remesher, tet, face);
        place_on_sheet(remesher, normal, 1, p, &place->side);
    }
    if (is_curved(&place->side))
        p = kiln_surface_rebase(remesher, &place->side, p);
    kiln_remesher_locate(remesher, p, place);
}
