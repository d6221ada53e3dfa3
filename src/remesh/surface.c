/* How vertices of the surface may move.
 *
 * What decides is in which directions a vertex can go without changing the sheets at all: any
 * tangent in a flat facet, along a straight feature whose sheets contain it, none elsewhere. There
 * the surface is curved, and the vertex slides on the smooth surface (curve) of the begin. */
#include "remesh/surface.h"
#include "remesh/surface_begin.h"

static const kiln_sheet_triangle *triangle_at(const struct kiln_surface *surface, uint32_t i,
                                              uint32_t *k)
{
    uint32_t corner = surface->corner.data[i];
    *k = corner % 3;
    return &surface->triangles.data[corner / 3];
}

/* Sum of the unit normals at a vertex. */
static kiln_vec3 mean_normal(const struct kiln_surface *surface, uint32_t v)
{
    kiln_vec3 sum = kiln_v3(0, 0, 0);
    uint32_t k;
    for (uint32_t i = surface->start.data[v]; i < surface->start.data[v + 1]; i++)
        sum = kiln_v3_add(sum, triangle_at(surface, i, &k)->normal);
    return kiln_v3_normalize(sum);
}

static bool all_in_plane(const struct kiln_surface *surface, uint32_t v, kiln_vec3 n)
{
    uint32_t k;
    for (uint32_t i = surface->start.data[v]; i < surface->start.data[v + 1]; i++) {
        const kiln_sheet_triangle *t = triangle_at(surface, i, &k);
        if (kiln_v3_dot(t->normal, n) <= 0.0)
            return false;
        for (uint32_t j = 1; j < 3; j++)
            if (!kiln_surface_in_plane(surface, n, t->noise, t->p[k], t->p[(k + j) % 3]))
                return false;
    }
    return true;
}

/* Whether every sheet at the vertex contains the direction. */
static bool all_contain(const struct kiln_surface *surface, uint32_t v, kiln_vec3 direction)
{
    uint32_t k;
    for (uint32_t i = surface->start.data[v]; i < surface->start.data[v + 1]; i++) {
        const kiln_sheet_triangle *t = triangle_at(surface, i, &k);
        if (fabs(kiln_v3_dot(t->normal, direction)) > t->noise)
            return false;
    }
    return true;
}

/* The direction that all sheets of an unmarked crease have in common; zero where there is none. */
static kiln_vec3 crease_of(const struct kiln_surface *surface, uint32_t v)
{
    uint32_t first = surface->start.data[v], end = surface->start.data[v + 1], k;
    kiln_vec3 n = triangle_at(surface, first, &k)->normal, best = kiln_v3(0, 0, 0);
    for (uint32_t i = first + 1; i < end; i++) {
        kiln_vec3 cross = kiln_v3_cross(n, triangle_at(surface, i, &k)->normal);
        best = kiln_v3_norm2(cross) > kiln_v3_norm2(best) ? cross : best;
    }
    best = kiln_v3_normalize(best);
    return all_contain(surface, v, best) ? best : kiln_v3(0, 0, 0);
}

/* Whether the sheet faces at the vertex hang together over edges at it: where two sheets touch in
 * nothing but the vertex it must stay. */
static bool one_sheet(const struct kiln_surface *surface, uint32_t v)
{
    uint32_t first = surface->start.data[v], end = surface->start.data[v + 1], ka, kb;
    uint64_t reached = 1, before = 0;
    if (end - first > 64)
        return false;
    while (reached != before) {
        before = reached;
        for (uint32_t i = first; i < end; i++)
            for (uint32_t j = first; j < end; j++) {
                const kiln_sheet_triangle *a = triangle_at(surface, i, &ka);
                const kiln_sheet_triangle *b = triangle_at(surface, j, &kb);
                if ((reached >> (i - first) & 1) && (a->v[(ka + 1) % 3] == b->v[(kb + 2) % 3] ||
                                                     a->v[(ka + 2) % 3] == b->v[(kb + 1) % 3]))
                    reached |= UINT64_C(1) << (j - first);
            }
    }
    return reached + 1 == (end - first == 64 ? 0 : UINT64_C(1) << (end - first));
}

/* Q = sum of d^2 / a_i^2 over the faces, d the distance from the tangent plane (DLR 4.3; there d_i
 * is the distance from the plane of face i, which also resists sliding along a curved surface). */
static kiln_quadric quadric_at(const struct kiln_surface *surface, uint32_t v, kiln_vec3 p,
                               kiln_vec3 axis, bool curve)
{
    kiln_quadric q = {.origin = p};
    uint32_t k;
    double weight = 0.0;
    for (uint32_t i = surface->start.data[v]; i < surface->start.data[v + 1]; i++) {
        const kiln_sheet_triangle *t = triangle_at(surface, i, &k);
        kiln_vec3 opposite = kiln_v3_sub(t->p[(k + 2) % 3], t->p[(k + 1) % 3]);
        kiln_vec3 area = kiln_v3_cross(opposite, kiln_v3_sub(t->p[k], t->p[(k + 1) % 3]));
        weight += kiln_v3_norm2(opposite) / kiln_v3_norm2(area);
    }
    kiln_quadric_set(&q, axis, weight, curve);
    return q;
}

/* The freedom of a vertex on a feature with two feature edges, whose far ends are given. */
static void classify_on_feature(const kiln_remesher *remesher, const struct kiln_surface *surface,
                                uint32_t v, const uint32_t end[2], kiln_vertex_side *side)
{
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    kiln_vec3 in = kiln_v3_sub(points[v], points[end[0]]);
    kiln_vec3 across = kiln_v3_sub(points[end[1]], points[end[0]]);
    side->axis = kiln_v3_normalize(across);
    kiln_vec3 off = kiln_v3_madd(in, -kiln_v3_dot(in, side->axis), side->axis);
    bool straight = kiln_v3_norm(off) <= 1e-9 * kiln_v3_norm(in) + surface->rounding;
    if (straight && all_contain(surface, v, side->axis)) {
        side->freedom = KILN_ON_LINE;
        return;
    }
    side->freedom = KILN_ON_CURVE;
    kiln_vec3 out = kiln_v3_sub(points[end[1]], points[v]);
    double a = kiln_v3_norm2(in), b = kiln_v3_norm2(out); /* tangent of the circle through three */
    side->axis =
        kiln_v3_normalize(kiln_v3_add(kiln_v3_scale(in, 1.0 / a), kiln_v3_scale(out, 1.0 / b)));
    side->quadric = quadric_at(surface, v, points[v], side->axis, true);
}

static void classify_on_sheet(const kiln_remesher *remesher, const struct kiln_surface *surface,
                              uint32_t v, kiln_vertex_side *side)
{
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    if (!one_sheet(surface, v))
        return;
    kiln_vec3 n = mean_normal(surface, v);
    side->axis = n;
    if (all_in_plane(surface, v, n)) {
        side->freedom = KILN_ON_PLANE;
        return;
    }
    if (remesher->options.surface == KILN_SURFACE_KEEP) {
        side->axis = crease_of(surface, v);
        if (kiln_v3_norm2(side->axis) > 0.0)
            side->freedom = KILN_ON_LINE;
        return;
    }
    side->freedom = KILN_ON_SURFACE;
    side->quadric = quadric_at(surface, v, points[v], n, false);
}

/* Vertices of required edges and faces and of locked tets stay where they are. */
static void fix_required(kiln_remesher *remesher)
{
    const kiln_mesh *mesh = remesher->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t marks = kiln_tet_live(mesh, t) ? mesh->info[t].marks : 0, fixed = 0;
        for (uint32_t e = 0; e < 6; e++)
            if (marks >> (KILN_MARK_REQUIRED_EDGE + e) & 1)
                fixed |= 1u << kiln_edge_ends[e][0] | 1u << kiln_edge_ends[e][1];
        for (uint32_t f = 0; f < 4; f++)
            if (marks >> (KILN_MARK_REQUIRED_FACE + f) & 1)
                fixed |= 15u & ~(1u << f);
        fixed |= marks & KILN_MARK_LOCKED ? 15u : 0;
        for (uint32_t k = 0; fixed >> k; k++)
            if (fixed >> k & 1)
                remesher->side.data[mesh->tet[t].v[k]].freedom = KILN_FIXED;
    }
}

/* The two far ends of the feature edges at every vertex; `count` may exceed 2. */
typedef struct feature_ends {
    uint32_t count, end[2];
} feature_ends;

static void classify(kiln_remesher *remesher, const struct kiln_surface *surface,
                     feature_ends *ends)
{
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    for (size_t i = 0; i < surface->segments.count; i++)
        for (int k = 0; k < 2; k++) {
            const kiln_feature_segment *s = &surface->segments.data[i];
            feature_ends *at = &ends[s->v[k]];
            if (at->count < 2)
                at->end[at->count] = s->v[1 - k];
            at->count++;
        }
    bool keep = remesher->options.surface == KILN_SURFACE_KEEP;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vertex_side *side = &remesher->side.data[v];
        if (!kiln_vertex_live(mesh, v))
            continue;
        uint32_t flags = mesh->vertex[v].flags;
        *side = (kiln_vertex_side){
            .begin = points[v], .hint = mesh->vertex[v].tet, .freedom = KILN_FIXED};
        if (flags & (KILN_VERTEX_REQUIRED | KILN_VERTEX_CORNER))
            continue;
        if (ends[v].count == 2)
            classify_on_feature(remesher, surface, v, ends[v].end, side);
        else if (ends[v].count == 0 && surface->start.data[v + 1] > surface->start.data[v])
            classify_on_sheet(remesher, surface, v, side);
        else if (ends[v].count == 0)
            side->freedom = KILN_FREE;
        if (keep && (side->freedom == KILN_ON_CURVE || side->freedom == KILN_ON_SURFACE))
            side->freedom = KILN_FIXED;
    }
    fix_required(remesher);
}

static kiln_status create(kiln_remesher *remesher, kiln_error *error)
{
    struct kiln_surface *surface = remesher->surface;
    KILN_TRY(kiln_surface_collect(remesher, surface, error));
    KILN_ARRAY_OF(feature_ends)
    ends = {0};
    size_t vertices = remesher->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(remesher->context, &ends, vertices + 1, error));
    for (size_t v = 0; v < vertices; v++)
        ends.data[v] = (feature_ends){0};
    classify(remesher, surface, ends.data);
    kiln_array_free(remesher->context, &ends);
    return kiln_surface_finish(remesher, surface, error);
}

kiln_status kiln_surface_create(kiln_remesher *remesher, kiln_error *error)
{
    remesher->surface = kiln_resize(remesher->context, NULL, 0, sizeof *remesher->surface);
    if (!remesher->surface)
        return kiln_fail_memory(error, sizeof *remesher->surface);
    *remesher->surface = (struct kiln_surface){0};
    return create(remesher, error);
}

void kiln_surface_release(kiln_context *context, struct kiln_surface *surface)
{
    if (!surface)
        return;
    kiln_array_free(context, &surface->triangles);
    kiln_array_free(context, &surface->segments);
    kiln_array_free(context, &surface->room);
    kiln_array_free(context, &surface->start);
    kiln_array_free(context, &surface->corner);
    kiln_array_free(context, &surface->volume);
    kiln_array_free(context, &surface->area);
    kiln_bvh_destroy(&surface->triangle_tree);
    kiln_bvh_destroy(&surface->segment_tree);
    kiln_release(context, surface, sizeof *surface);
}

void kiln_surface_destroy(kiln_remesher *remesher)
{
    kiln_surface_release(remesher->context, remesher->surface);
    remesher->surface = NULL;
}

/* That of a pass which changes nothing. */
kiln_status kiln_surface_freeze(kiln_mesh *mesh, const kiln_remesh_options *options,
                                struct kiln_surface **out, kiln_error *error)
{
    kiln_remesher remesher;
    kiln_remesh_options plain = *options;
    plain.sizing = NULL;
    plain.held = NULL;
    KILN_TRY(kiln_remesher_begin(mesh, &plain, &remesher, error));
    *out = remesher.surface;
    (*out)->smooth = false;
    remesher.surface = NULL;
    kiln_remesher_end(&remesher);
    return KILN_OK;
}
