/* What may become of faces of the surface and of interfaces.
 *
 * Exact changes, whose triangles lie in the planes of the old ones and cover the same area, are
 * allowed in every mode. Others are judged against the surface at the begin of the pass: no part of
 * the new triangles farther from it than the band and, the other way round, no begin vertex that
 * was in the band of the old ones left outside that of the new. */
#include "geom/distance.h"
#include "mesh/build.h"
#include "remesh/surface.h"
#include "remesh/surface_begin.h"

static const double FLIP_COSINE = 0.99026806874157036; /* 8 degrees, DLR 4.4 */
static const double TURN_COSINE = 0.86602540378443865; /* 30 degrees from the begin surface */
/* Signed change of a part's volume in a pass: of the volume, and (so that a mesh of a few tets can
 * change at all) of two mean tets, what DLR 4.4 allows a flip. */
static const double VOLUME_BUDGET = 1e-3, TETS_BUDGET = 2 * 0.09;
static const double SAME_AREA = 1e-9;

typedef struct facet {
    const uint32_t *v;
    kiln_vec3 p[3], normal;
    double area; /* twice */
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
    for (int k = 0; k < 3; k++)
        f.p[k] = point_in(remesher, remesher->options.space, place, v[k]);
    kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(f.p[1], f.p[0]), kiln_v3_sub(f.p[2], f.p[0]));
    f.area = kiln_v3_norm(n);
    f.normal = kiln_v3_normalize(n);
    return f;
}

/* Sine by which rounding may turn the normal; the plane of a needle says nothing. */
static double noise_of(const change *c, const facet *f)
{
    const double most = 1e-7;
    double longest = 0.0;
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, kiln_v3_norm(kiln_v3_sub(f->p[(k + 1) % 3], f->p[k])));
    return fmin(1e-9 + c->surface->rounding * longest / f->area, most);
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
        for (size_t j = 0; j < c->fresh_count; j++)
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

/* A sample of a triangle: corners' weights. */
static const double samples[4][3] = {
    {1 / 3.0, 1 / 3.0, 1 / 3.0}, {0.5, 0.5, 0.0}, {0.0, 0.5, 0.5}, {0.5, 0.0, 0.5}};

static kiln_vec3 sample_of(const facet *f, int s)
{
    kiln_vec3 p = kiln_v3_scale(f->p[0], samples[s][0]);
    p = kiln_v3_madd(p, samples[s][1], f->p[1]);
    return kiln_v3_madd(p, samples[s][2], f->p[2]);
}

/* Cosine of the angle between the triangle and the begin surface under it. */
static double cosine_to_begin(const change *c, const facet *f)
{
    kiln_foot foot = kiln_surface_foot(c->surface, sample_of(f, 0), f->normal);
    if (foot.item == KILN_BVH_NONE)
        return -1.0;
    double cosine = kiln_v3_dot(foot.normal, f->normal);
    return c->surface->triangles.data[foot.item].interface ? fabs(cosine) : cosine;
}

static bool near_begin(const change *c, const facet *f)
{
    for (int s = 0; s < 4; s++) {
        kiln_foot foot = kiln_surface_foot(c->surface, sample_of(f, s), f->normal);
        if (foot.item == KILN_BVH_NONE || foot.distance > foot.band)
            return false;
    }
    return true;
}

/* Normals within 30 degrees of the begin surface, or no worse than they were. */
static bool turned_from_begin(const change *c)
{
    double least = 1.0, before = 1.0;
    for (size_t j = 0; j < c->fresh_count; j++)
        least = fmin(least, cosine_to_begin(c, &c->fresh[j]));
    if (least >= TURN_COSINE)
        return false;
    for (size_t i = 0; i < c->old_count; i++)
        before = fmin(before, cosine_to_begin(c, &c->old[i]));
    return least < before;
}

static double distance2_to(const facet *f, size_t count, kiln_vec3 p)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        least = fmin(least, kiln_triangle_distance2(p, f[i].p));
    return least;
}

typedef struct cover {
    const change *c;
    bool lost;
} cover;

/* A begin vertex in the band of the old triangles must be in that of the new. */
static bool visit_begin(void *user, uint32_t item)
{
    cover *search = user;
    const change *c = search->c;
    const kiln_sheet_triangle *t = &c->surface->triangles.data[item];
    double band = kiln_surface_band(c->surface, t->edge), band2 = band * band;
    for (int k = 0; k < 3 && !search->lost; k++)
        search->lost = distance2_to(c->fresh, c->fresh_count, t->p[k]) > band2 &&
                       distance2_to(c->old, c->old_count, t->p[k]) <= band2;
    return !search->lost;
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
    kiln_vec3 grow = kiln_v3(margin, margin, margin);
    cover search = {c, false};
    kiln_bvh_query_box(&c->surface->triangle_tree,
                       (kiln_box){kiln_v3_sub(box.low, grow), kiln_v3_add(box.high, grow)},
                       visit_begin, &search);
    return search.lost;
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

static bool judge(const change *c)
{
    for (size_t j = 0; j < c->fresh_count; j++)
        if (!(c->fresh[j].area > 0.0))
            return false;
    if (is_exact(c))
        return true;
    if (c->remesher->options.surface == KILN_SURFACE_KEEP)
        return false;
    if (!c->place && c->old_count == c->fresh_count && turns_too_far(c))
        return false;
    double fold = cos(kiln_build_default_options().feature_angle);
    double edge = sharpest(c->fresh, c->fresh_count);
    if (edge < fold && edge < sharpest(c->old, c->old_count))
        return false;
    for (size_t j = 0; j < c->fresh_count; j++)
        if (!near_begin(c, &c->fresh[j]))
            return false;
    return !turned_from_begin(c) && !uncovers_begin(c) && !exceeds_budget(c);
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
        allowed = judge(&c);
    }
    workspace->failed = workspace->failed || !facets;
    kiln_arena_release(&workspace->arena, mark);
    return allowed;
}
