/* What may become of faces of the surface and of interfaces.
 *
 * Exact changes, whose triangles lie in the planes of the old ones and cover the same area, are
 * allowed in every mode. Others are judged against the surface at the begin of the pass: no part of
 * the new triangles farther from it than the band and, the other way round, no begin vertex that
 * was in the band of the old ones left outside that of the new. */
#include "geom/distance.h"
#include "geom/predicates.h"
#include "mesh/build.h"
#include "remesh/surface.h"
#include "remesh/surface_begin.h"

static const double FLIP_COSINE = 0.99026806874157036; /* 8 degrees, DLR 4.4 */
static const double TURN_COSINE = 0.86602540378443865; /* 30 degrees from the begin surface */
/* Signed change of a part's volume in a pass: of the volume, and (so that a mesh of a few tets can
 * change at all) of two mean tets, what DLR 4.4 allows a flip. */
static const double VOLUME_BUDGET = 1e-3, TETS_BUDGET = 2 * KILN_MOST_VOLUME_CHANGE;
static const double SAME_AREA = 1e-9;

/* How many samples lie on an edge. */
static int parts_of(const kiln_sheet_triangle *t)
{
    return t->bent ? 6 : 4;
}

typedef struct facet {
    const uint32_t *v;
    kiln_vec3 p[3], normal;
    double area; /* twice */
    kiln_box box;
} facet;

typedef struct change {
    const kiln_remesher *remesher;
    const struct kiln_surface *surface;
    const facet *old, *fresh;
    size_t old_count, fresh_count;
    const kiln_place *place;
} change;

static kiln_vec3 point_in(const kiln_remesher *remesher, kiln_space space, const kiln_place *place,
                          uint32_t v)
{
    if (v == KILN_PROPOSED)
        return space == KILN_SPACE_WORLD ? place->x : place->u;
    return kiln_mesh_positions(remesher->mesh, space)[v];
}

static facet facet_of(const kiln_remesher *remesher, const kiln_place *place, const uint32_t v[3])
{
    facet f = {.v = v};
    f.box = kiln_box_empty();
    for (int k = 0; k < 3; k++) {
        f.p[k] = point_in(remesher, remesher->options.space, place, v[k]);
        f.box = kiln_box_grow(f.box, f.p[k]);
    }
    kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(f.p[1], f.p[0]), kiln_v3_sub(f.p[2], f.p[0]));
    f.area = kiln_v3_norm(n);
    f.normal = kiln_v3_normalize(n);
    return f;
}

static double longest_of(const facet *f)
{
    double longest = 0.0;
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, kiln_v3_norm(kiln_v3_sub(f->p[(k + 1) % 3], f->p[k])));
    return longest;
}

/* Sine by which rounding may turn the normal; the plane of a needle says nothing. */
static double noise_of(const change *c, const facet *f)
{
    const double most = 1e-7;
    return fmin(1e-9 + c->surface->rounding * longest_of(f) / f->area, most);
}

/* Less high than the band is wide: it may turn over without a point of it leaving the band. */
static bool is_needle(const facet *f)
{
    double longest = longest_of(f);
    return f->area < KILN_BAND_OF_EDGE * longest * longest;
}

static bool lies_in(const change *c, const facet *f, const facet *plane)
{
    double noise = noise_of(c, plane);
    if (kiln_v3_dot(f->normal, plane->normal) <= 0.0)
        return false;
    for (int k = 0; k < 3; k++)
        if (!kiln_surface_in_plane(c->surface, plane->normal, noise, plane->p[0], f->p[k]))
            return false;
    return true;
}

static bool is_exact(const change *c)
{
    double before = 0.0, after = 0.0;
    for (size_t i = 0; i < c->old_count; i++)
        before += c->old[i].area;
    for (size_t j = 0; j < c->fresh_count; j++) {
        bool found = false;
        for (size_t i = 0; i < c->old_count && !found; i++)
            found = lies_in(c, &c->fresh[j], &c->old[i]);
        if (!found)
            return false;
        after += c->fresh[j].area;
    }
    return fabs(after - before) <= SAME_AREA * before;
}

static bool turns_too_far(const change *c)
{
    for (size_t i = 0; i < c->old_count; i++)
        for (size_t j = 0; j < c->fresh_count && !is_needle(&c->old[i]); j++)
            if (kiln_v3_dot(c->old[i].normal, c->fresh[j].normal) <= FLIP_COSINE)
                return true;
    return false;
}

/* Cosine of the sharpest edge between two of the triangles. */
static double sharpest(const facet *f, size_t count)
{
    double least = 1.0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            for (int k = 0; k < 9; k++)
                if (f[i].v[k % 3] == f[j].v[(k / 3 + 1) % 3] &&
                    f[i].v[(k % 3 + 1) % 3] == f[j].v[k / 3])
                    least = fmin(least, kiln_v3_dot(f[i].normal, f[j].normal));
    return least;
}

static kiln_vec3 point_of(const facet *f, double a, double b)
{
    kiln_vec3 p = kiln_v3_scale(f->p[0], 1.0 - a - b);
    return kiln_v3_madd(kiln_v3_madd(p, a, f->p[1]), b, f->p[2]);
}

/* A begin face near a triangle, if one of its vertices had any. */
static uint32_t begin_at(const change *c, const facet *f)
{
    uint32_t item = KILN_BVH_NONE;
    for (int k = 0; k < 3 && item == KILN_BVH_NONE; k++)
        item = kiln_surface_face_at(c->surface, f->v[k]);
    return item;
}

/* The begin surface under the middle of a triangle. */
static kiln_foot foot_of(const change *c, const facet *f)
{
    double limit = kiln_surface_band(c->surface, 20.0 * sqrt(f->area));
    return kiln_surface_foot(c->surface, point_of(f, 1 / 3.0, 1 / 3.0), f->normal, limit,
                             begin_at(c, f));
}

static double cosine_to(const change *c, const facet *f, const kiln_foot *foot)
{
    if (foot->item == KILN_BVH_NONE)
        return -1.0;
    double cosine = kiln_v3_dot(foot->normal, f->normal);
    return c->surface->triangles.data[foot->item].interface ? fabs(cosine) : cosine;
}

static bool has_edge(const facet *f, size_t count, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            if ((f[i].v[k] == a && f[i].v[(k + 1) % 3] == b) ||
                (f[i].v[k] == b && f[i].v[(k + 1) % 3] == a))
                return true;
    return false;
}

/* Edges of the triangle that need samples: not those of the outline, nor those that a triangle
 * before has. */
static unsigned edges_to_judge(const change *c, size_t j)
{
    unsigned edges = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t a = c->fresh[j].v[k], b = c->fresh[j].v[(k + 1) % 3];
        if (!has_edge(c->fresh, j, a, b) && !has_edge(c->old, c->old_count, a, b))
            edges |= 1u << k;
    }
    return edges;
}

/* Whether begin faces under the old triangles touch others. */
typedef struct touch_query {
    const struct kiln_surface *surface;
    bool found;
} touch_query;

static bool visit_touching(void *user, uint32_t item)
{
    touch_query *query = user;
    query->found = kiln_surface_room(query->surface, item) == 0.0;
    return !query->found;
}

static bool touches(const change *c)
{
    touch_query query = {.surface = c->surface};
    kiln_box box = c->old[0].box;
    for (size_t i = 1; i < c->old_count; i++)
        box = kiln_box_join(box, c->old[i].box);
    kiln_bvh_query_box(&c->surface->triangle_tree, box, visit_touching, &query);
    return query.found;
}

static bool in_plane_exactly(const facet *f, const facet *plane)
{
    const kiln_vec3 *p = plane->p;
    bool in = true;
    for (int k = 0; k < 3 && in; k++)
        in = kiln_orient3d(p[0], p[1], p[2], f->p[k]) == 0.0;
    return in;
}

/* What touches bears no rounding: one sheet would be through the other. */
static bool is_exact_to_the_bit(const change *c)
{
    for (size_t j = 0; j < c->fresh_count; j++) {
        bool found = false;
        for (size_t i = 0; i < c->old_count && !found; i++)
            found = in_plane_exactly(&c->fresh[j], &c->old[i]);
        if (!found)
            return false;
    }
    return true;
}

/* Points on a grid that is at most half as wide as the begin faces, one of which is given. */
static bool near_begin(const change *c, size_t index, uint32_t item)
{
    enum { PARTS_MOST = 8 };
    const facet *f = &c->fresh[index];
    const kiln_sheet_triangle *under = &c->surface->triangles.data[item];
    double longest = 0.0, limit = kiln_surface_band(c->surface, 2.0 * under->edge);
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, kiln_v3_norm(kiln_v3_sub(f->p[(k + 1) % 3], f->p[k])));
    int parts = (int)fmin(PARTS_MOST, fmax(parts_of(under), 2.0 * longest / under->edge));
    unsigned edges = edges_to_judge(c, index);
    for (int i = 0; i < parts; i++)
        for (int j = 0; i + j <= parts && j < parts; j++) {
            /* Corner 0 has weight 0 on edge 1, corner 1 on edge 2, corner 2 on edge 0. */
            bool skip = i + j == 0 || (i + j == parts && !(edges >> 1 & 1)) ||
                        (i == 0 && !(edges >> 2 & 1)) || (j == 0 && !(edges & 1));
            kiln_vec3 p = point_of(f, i / (double)parts, j / (double)parts);
            if (!skip && !kiln_surface_near(c->surface, p, f->normal, limit, &item))
                return false;
        }
    return true;
}

/* The new vertex itself, which is no sample: all of the band is for it. The mean of its faces is no
 * side to look from at a tip. */
static bool place_in_band(const change *c)
{
    kiln_vec3 p = point_in(c->remesher, c->remesher->options.space, c->place, KILN_PROPOSED);
    for (size_t j = 0; j < c->fresh_count; j++) {
        kiln_foot foot = kiln_surface_foot(c->surface, p, c->fresh[j].normal, INFINITY,
                                           begin_at(c, &c->fresh[j]));
        if (foot.item != KILN_BVH_NONE && foot.distance <= foot.band)
            return true;
    }
    return false;
}

/* The new triangles are in the band; *least becomes the cosine by which one turns farthest. */
static bool stays_near(const change *c, double *least)
{
    *least = 1.0;
    if (c->place && !place_in_band(c))
        return false;
    for (size_t j = 0; j < c->fresh_count; j++) {
        kiln_foot foot = foot_of(c, &c->fresh[j]);
        if (foot.item == KILN_BVH_NONE ||
            foot.distance > kiln_surface_room(c->surface, foot.item) *
                                c->surface->triangles.data[foot.item].allowed ||
            !near_begin(c, j, foot.item))
            return false;
        *least = fmin(*least, cosine_to(c, &c->fresh[j], &foot));
    }
    return true;
}

/* Normals are within 30 degrees of the begin surface, or no worse than they were. */
static bool stays_even(const change *c, double least)
{
    double before = 1.0;
    for (size_t i = 0; i < c->old_count && least < TURN_COSINE; i++) {
        kiln_foot foot = foot_of(c, &c->old[i]);
        before = fmin(before, cosine_to(c, &c->old[i], &foot));
    }
    return least >= TURN_COSINE || least >= before;
}

/* A box settles most questions, and the triangle that the point before was near most of the rest:
 * it is asked first, and *last becomes the one found. */
static bool any_within(const facet *f, size_t count, kiln_vec3 p, double distance, size_t *last)
{
    const kiln_vec3 reach = kiln_v3(distance, distance, distance);
    const kiln_box around = {kiln_v3_sub(p, reach), kiln_v3_add(p, reach)};
    for (size_t i = 0, at = *last; i < count; i++, at = at + 1 < count ? at + 1 : 0)
        if (kiln_box_overlap(around, f[at].box) &&
            kiln_triangle_distance2(p, f[at].p) <= distance * distance) {
            *last = at;
            return true;
        }
    return false;
}

typedef struct cover {
    const change *c;
    kiln_box box;
    size_t last_fresh, last_old; /* near the point asked for before */
    bool lost;
} cover;

enum { POINTS_ROOM = 24 };

/* A point of a begin face, and how far from it the new triangles may be. */
typedef struct begin_point {
    kiln_vec3 at;
    double allowed;
} begin_point;

/* Least of all faces at a corner: beyond a feature they may be much smaller. */
static double allowed_at(const struct kiln_surface *surface, uint32_t vertex)
{
    double least = INFINITY;
    for (uint32_t i = surface->start.data[vertex]; i < surface->start.data[vertex + 1]; i++)
        least = fmin(least, surface->triangles.data[surface->corner.data[i] / 3].near);
    return least;
}

/* Points of a begin face that it is the one to answer for: some inside, those on edges whose ends
 * ascend in its order, and corners of which it is the first face. Only the corners are samples of
 * the smooth surface. */
static size_t points_of(const struct kiln_surface *surface, uint32_t item,
                        begin_point point[POINTS_ROOM])
{
    const kiln_sheet_triangle *t = &surface->triangles.data[item];
    const double near = t->near; /* the point may be on a smaller face as well */
    kiln_vec3 middle = kiln_v3_scale(kiln_v3_add(kiln_v3_add(t->p[0], t->p[1]), t->p[2]), 1 / 3.0);
    size_t count = 0;
    const int parts = surface->smooth ? 0 : 4;
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t next = (k + 1) % 3;
        for (int i = 1; i < parts && (t->v[k] < t->v[next] || t->features >> k & 1); i++)
            point[count++] =
                (begin_point){kiln_v3_lerp(t->p[k], t->p[next], i / (double)parts), near};
        if (surface->corner.data[surface->start.data[t->v[k]]] == 3 * item + k)
            point[count++] = (begin_point){t->p[k], allowed_at(surface, t->v[k])};
        if (!surface->smooth)
            point[count++] = (begin_point){kiln_v3_lerp(middle, t->p[k], 0.5), near};
    }
    if (!surface->smooth)
        point[count++] = (begin_point){middle, near};
    return count;
}

/* What of a begin face is in the band of the old triangles must be in that of the new. */
static bool visit_begin(void *user, uint32_t item)
{
    cover *search = user;
    const change *c = search->c;
    begin_point point[POINTS_ROOM];
    size_t count = points_of(c->surface, item, point);
    for (size_t k = 0; k < count && !search->lost; k++) {
        const begin_point *p = &point[k];
        kiln_box at = {p->at, p->at};
        search->lost =
            kiln_box_overlap(at, search->box) &&
            !any_within(c->fresh, c->fresh_count, p->at, p->allowed, &search->last_fresh) &&
            any_within(c->old, c->old_count, p->at, p->allowed, &search->last_old);
    }
    return !search->lost;
}

typedef struct widest_query {
    const struct kiln_surface *surface;
    double margin;
} widest_query;

static bool visit_width(void *user, uint32_t item)
{
    widest_query *query = user;
    query->margin = fmax(query->margin, query->surface->triangles.data[item].near);
    return true;
}

/* How far points may be from the old triangles that have them in their band: it is that of the
 * begin faces, which may have longer edges. */
static double reach_of(const change *c, kiln_box box, double margin)
{
    const kiln_vec3 grow = kiln_v3(margin, margin, margin);
    widest_query query = {c->surface, margin};
    kiln_box around = {kiln_v3_sub(box.low, grow), kiln_v3_add(box.high, grow)};
    kiln_bvh_query_box(&c->surface->triangle_tree, around, visit_width, &query);
    return query.margin;
}

static bool uncovers_begin(const change *c)
{
    kiln_box box = kiln_box_empty();
    double margin = 0.0;
    for (size_t i = 0; i < c->old_count; i++)
        for (int k = 0; k < 3; k++) {
            box = kiln_box_grow(box, c->old[i].p[k]);
            double edge = kiln_v3_norm(kiln_v3_sub(c->old[i].p[(k + 1) % 3], c->old[i].p[k]));
            margin = fmax(margin, kiln_surface_band(c->surface, edge));
        }
    margin = reach_of(c, box, margin);
    kiln_vec3 grow = kiln_v3(margin, margin, margin);
    cover search = {.c = c, .box = {kiln_v3_sub(box.low, grow), kiln_v3_add(box.high, grow)}};
    kiln_bvh_query_box(&c->surface->triangle_tree, search.box, visit_begin, &search);
    return search.lost;
}

/* Both ways in the band of the surface that several passes are held to, if there is one. */
static bool stays_held(const change *c)
{
    change first = *c;
    double least;
    first.surface = c->remesher->options.held;
    return !first.surface || (stays_near(&first, &least) && !uncovers_begin(&first));
}

static double volume_under(const change *c, const facet *f, size_t count, kiln_vec3 origin)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        kiln_vec3 p[3];
        for (int k = 0; k < 3; k++)
            p[k] = point_in(c->remesher, KILN_SPACE_MATERIAL, c->place, f[i].v[k]);
        sum += kiln_tet_volume(origin, p[0], p[1], p[2]);
    }
    return sum;
}

/* Beyond the budget only what brings the volume back. Interfaces move volume within a part. */
static bool exceeds_budget(const change *c)
{
    const kiln_mesh *mesh = c->remesher->mesh;
    uint32_t v = c->old[0].v[0], part = mesh->info[mesh->vertex[v].tet].part;
    if (!(mesh->vertex[v].flags & KILN_VERTEX_SURFACE) || part >= c->surface->volume.count)
        return false;
    double begin = c->surface->volume.data[part];
    double drift = mesh->parts.data[part].volume - begin;
    double by = volume_under(c, c->fresh, c->fresh_count, mesh->u[v]) -
                volume_under(c, c->old, c->old_count, mesh->u[v]);
    double budget = VOLUME_BUDGET + TETS_BUDGET / mesh->parts.data[part].tets;
    return fabs(drift + by) > budget * begin && fabs(drift + by) > fabs(drift);
}

/* Splits and flips for a smoother surface of matter that has flowed. Its faces are chords by then,
 * farther from what they stand for than the band, and a vertex that had to stay on them would keep
 * them for ever: nothing brings such matter back. */
static bool is_free(const change *c)
{
    bool split = c->place && c->fresh_count == 2 * c->old_count;
    if (!split && !c->remesher->judge.unfolds)
        return false;
    for (size_t i = 0; i < 3 * c->old_count; i++)
        if (!kiln_remesher_has_flowed(c->remesher, c->old[i / 3].v[i % 3]))
            return false;
    return true;
}

static bool judge(const change *c)
{
    for (size_t j = 0; j < c->fresh_count; j++)
        if (!(c->fresh[j].area > 0.0))
            return false;
    if (is_exact(c))
        return !touches(c) || is_exact_to_the_bit(c);
    if (c->remesher->options.surface == KILN_SURFACE_KEEP)
        return false;
    bool flips = !c->place && c->old_count == c->fresh_count;
    bool free = is_free(c);
    if (free && c->place)
        return !exceeds_budget(c);
    if (flips && !free && turns_too_far(c))
        return false;
    double fold = cos(kiln_build_default_options().feature_angle);
    double edge = sharpest(c->fresh, c->fresh_count);
    if (edge < fold && edge < sharpest(c->old, c->old_count))
        return false;
    if (free)
        return !exceeds_budget(c);
    double least;
    return !exceeds_budget(c) && stays_near(c, &least) && stays_even(c, least) &&
           !uncovers_begin(c) && stays_held(c);
}

bool kiln_surface_is_guarded(const kiln_remesher *remesher, kiln_workspace *workspace,
                             const uint32_t (*old)[3], size_t old_count, const uint32_t (*fresh)[3],
                             size_t fresh_count, const kiln_place *place)
{
    const kiln_surface_guard *guard = remesher->options.guard;
    if (!guard || old_count == 0)
        return true;
    kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
    kiln_vec3(*p)[3] =
        kiln_arena_alloc(&workspace->arena, (old_count + fresh_count) * sizeof(kiln_vec3[3]));
    if (!p)
        return kiln_workspace_fail(workspace);
    for (size_t i = 0; i < 3 * old_count; i++)
        p[i / 3][i % 3] = point_in(remesher, KILN_SPACE_WORLD, NULL, old[i / 3][i % 3]);
    kiln_vec3(*q)[3] = p + old_count;
    for (size_t i = 0; i < 3 * fresh_count; i++)
        q[i / 3][i % 3] = point_in(remesher, KILN_SPACE_WORLD, place, fresh[i / 3][i % 3]);
    bool allowed = guard->allows(guard->self, old[0][0], (const kiln_vec3(*)[3])p, old_count,
                                 (const kiln_vec3(*)[3])q, fresh_count);
    kiln_arena_release(&workspace->arena, mark);
    return allowed;
}

bool kiln_surface_allows(const kiln_remesher *remesher, kiln_workspace *workspace,
                         const uint32_t (*old)[3], size_t old_count, const uint32_t (*fresh)[3],
                         size_t fresh_count, const kiln_place *place)
{
    if (old_count == 0 || fresh_count == 0)
        return false;
    kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
    facet *facets = kiln_arena_array(&workspace->arena, facet, old_count + fresh_count);
    bool allowed = false;
    if (facets) {
        for (size_t i = 0; i < old_count; i++)
            facets[i] = facet_of(remesher, NULL, old[i]);
        for (size_t j = 0; j < fresh_count; j++)
            facets[old_count + j] = facet_of(remesher, place, fresh[j]);
        change c = {remesher,  remesher->surface, facets, facets + old_count,
                    old_count, fresh_count,       place};
        allowed = judge(&c) && kiln_surface_is_guarded(remesher, workspace, old, old_count, fresh,
                                                       fresh_count, place);
    }
    workspace->failed = workspace->failed || !facets;
    kiln_arena_release(&workspace->arena, mark);
    return allowed;
}
