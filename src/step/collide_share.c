/* What pairs count: areas, by what they face and how far they stick out where the solve began, of
 * the softer of the two, and each place of a surface once (contact/sight.h). */
#include "step/collide_impl.h"

#include <string.h>

/* Squared sine below which edges count less, down to LEAST_EDGES: where they are parallel their
 * distance has a kink, at which a solve would not end if its force were more than the tolerance
 * (1e-3: cubes that meet face to face took 860 iterations for 12). Vertices against faces repel
 * there too, as they do where edges are flat or hollow, whose force would be that of the mesh. */
#define PARALLEL    0.03
#define LEAST_EDGES 1e-5
/* An edge that sticks out counts so much across one that does not, wherever that is: what lies
 * along one of its faces where a solve begins may bend over it in the solve. */
#define ALONE 0.1
/* Edges that are nearer than this part of the reach and would count so many times more are
 * counted so, that often in a solve. */
#define PRESSED   0.5
#define MUCH_MORE 4.0
enum { REFOLDS = 8 };
/* A vertex counts with this part of its area, though it be on an edge. */
#define LEAST_FACING 0.1
/* Nor does the finer of two bodies answer alone. */
#define LEAST_PART 0.05

/* Walls are as hard as can be. */
static double side_modulus(const kiln_collide *c, const uint32_t *v, uint32_t count)
{
    double sum = 0.0;
    if (kiln_collide_is_wall(c, v[0]))
        return INFINITY;
    for (uint32_t k = 0; k < count; k++)
        sum += c->modulus.data[v[k]];
    return sum / count;
}

static kiln_fan_surface surface_of(const kiln_collide *c, uint32_t row)
{
    if (kiln_collide_is_wall(c, row))
        return (kiln_fan_surface){&c->walls.fans, c->walls.faces.data, c->first_wall};
    return (kiln_fan_surface){&c->fans, c->surface.faces.data, 0};
}

/* 1 for edges that cross at an angle. */
static double skewness(const kiln_surface_pair *pair, const kiln_vec3 *x)
{
    kiln_vec3 a = kiln_v3_sub(x[pair->v[1]], x[pair->v[0]]);
    kiln_vec3 b = kiln_v3_sub(x[pair->v[3]], x[pair->v[2]]);
    double sine2 = kiln_v3_norm2(kiln_v3_cross(a, b)), y;
    y = fmin(sine2 / (PARALLEL * kiln_v3_norm2(a) * kiln_v3_norm2(b)), 1.0);
    return y * (2.0 - y);
}

/* What lies across the middle of an edge is at its ends farther from its faces by a quarter of
 * length times angle. By 1 if that is more than the reach: then vertices do not feel it. */
static double height_of(const kiln_collide *c, const kiln_vec3 *x, const uint32_t *edge,
                        double reach)
{
    kiln_fan_surface surface = surface_of(c, edge[0]);
    double length = kiln_v3_norm(kiln_v3_sub(x[edge[1]], x[edge[0]]));
    return fmin(0.25 * length * kiln_fan_sharpness(&surface, x, edge[0], edge[1]) / reach, 1.0);
}

/* What it is by itself, before something flat: less where one of its faces is along that, as at the
 * rim of a block that lies on it; then vertices of both feel it. */
static double ridge_of(const kiln_collide *c, const kiln_vec3 *x, const uint32_t *edge,
                       const uint32_t *other, kiln_vec3 towards, double reach)
{
    kiln_fan_surface surface = surface_of(c, edge[0]);
    double length = kiln_v3_norm(kiln_v3_sub(x[other[1]], x[other[0]]));
    double fall = kiln_fan_fall(&surface, x, edge[0], edge[1], towards);
    return fmin(0.5 * length * fall / reach, 1.0);
}

static double edges_at(const kiln_collide *c, const kiln_surface_pair *pair, const kiln_vec3 *x)
{
    const uint32_t *a = pair->v, *b = pair->v + 2;
    double skew = skewness(pair, x), reach = pair->reach;
    if (!(skew > LEAST_EDGES))
        return LEAST_EDGES;
    double high_a = height_of(c, x, a, reach), high_b = height_of(c, x, b, reach);
    kiln_vec3 n = kiln_surface_pair_distance(pair, x).normal;
    double ridge_a = ridge_of(c, x, a, b, kiln_v3_scale(n, -1.0), reach);
    double ridge_b = ridge_of(c, x, b, a, n, reach);
    double most = fmax(fmax(ridge_a, ridge_b), ALONE * fmax(high_a, high_b));
    return fmax(skew * most, LEAST_EDGES);
}

static double count_edges(const kiln_collide *c, const kiln_surface_pair *pair)
{
    return pair->area * edges_at(c, pair, kiln_collide_points(c->folded.data)) *
           fmin(side_modulus(c, pair->v, 2), side_modulus(c, pair->v + 2, 2));
}

/* What is flat where a solve begins may bend in it, and then edges press each other that count for
 * nothing. */
bool kiln_collide_refold(kiln_collide *c, const double *x)
{
    const kiln_vec3 *before = kiln_collide_points(c->folded.data), *now = kiln_collide_points(x);
    bool must = false;
    for (size_t a = 0; a < c->acting.count && c->refolds < REFOLDS && !must; a++) {
        size_t i = c->acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        must = pair->split == 2 && c->distance.data[i].d < PRESSED * pair->reach &&
               edges_at(c, pair, now) > MUCH_MORE * edges_at(c, pair, before);
    }
    if (!must)
        return false;
    memcpy(c->folded.data, x, 3 * c->given->rows * sizeof *x);
    c->refolds++;
    c->state++;
    c->solve++;
    kiln_collide_measure(c, x);
    return true;
}

/* The part of a vertex's faces that looks at a face presses it: the sides of a block do not. */
static double facing(const kiln_collide *c, uint32_t vertex, const uint32_t v[3])
{
    if (kiln_collide_is_wall(c, vertex))
        return 1.0;
    const kiln_vec3 *x = kiln_collide_points(c->begin.data);
    kiln_vec3 a = kiln_v3_sub(x[v[1]], x[v[0]]), b = kiln_v3_sub(x[v[2]], x[v[0]]);
    kiln_vec3 normal = kiln_v3_normalize(kiln_v3_cross(a, b));
    return fmax(-kiln_v3_dot(c->facing.data[vertex], normal), LEAST_FACING);
}

/* Where walls stick out as often as the body has vertices, each answers for its part; where they
 * are flat the body's vertices do alone. */
static double part_at_wall(const kiln_collide *c, uint32_t vertex, uint32_t face)
{
    const kiln_walls *walls = &c->walls;
    double before = walls->face_area.data[walls->obstacle.data[walls->faces.data[3 * face]]];
    return 1.0 - 0.5 * walls->sharp.data[face] * fmin(c->surface.area.data[vertex] / before, 1.0);
}

/* The vertices of both bodies feel each other, and those that lie closer answer for more: how many
 * of a coarse mesh are below a body depends on where it lies. Both have 1 in sum. */
static double part_at_body(const kiln_collide *c, uint32_t vertex, const uint32_t v[3])
{
    if (kiln_collide_is_wall(c, vertex))
        return 1.0;
    const double *area = c->surface.area.data;
    double ratio = (area[v[0]] + area[v[1]] + area[v[2]]) / (3.0 * area[vertex]);
    double square = ratio * ratio, part = square / (1.0 + square);
    return fmin(fmax(part, LEAST_PART), 1.0 - LEAST_PART);
}

/* Of the area of the pair, Pa. */
static double weight_of(const kiln_collide *c, uint32_t vertex, uint32_t face, const uint32_t v[3])
{
    double part =
        kiln_collide_is_wall(c, v[0]) ? part_at_wall(c, vertex, face) : part_at_body(c, vertex, v);
    return part * facing(c, vertex, v) * fmin(side_modulus(c, &vertex, 1), side_modulus(c, v, 3));
}

/* A vertex and a face of which the search makes a pair (contact/surface_pairs.c, is_wanted): faces
 * next to one that it does. */
static bool is_pair(const kiln_collide *c, uint32_t vertex, const uint32_t v[3])
{
    const uint8_t *held = c->given->held;
    if (v[0] == vertex || v[1] == vertex || v[2] == vertex)
        return false;
    return !held || held[vertex] != 7 || held[v[0]] != 7 || held[v[1]] != 7 || held[v[2]] != 7;
}

/* What faces share is taken away where they meet; so those that repel at another distance than the
 * rest are not of the surface that is seen, and count by themselves. */
typedef struct looker {
    const kiln_collide_sight *sight;
    const uint32_t *faces;
    uint32_t first;
} looker;

/* To 40 bits, so that sums of a few are exact. */
static double rounded(double x)
{
    double wide = 8193.0 * x;
    return wide - (wide - x);
}

static double share_of(const void *user, uint32_t vertex, uint32_t face)
{
    const looker *l = user;
    const kiln_collide *c = l->sight->collide;
    uint32_t v[3];
    for (size_t k = 0; k < 3; k++)
        v[k] = l->first + l->faces[3 * (size_t)face + k];
    if (!is_pair(c, vertex, v) ||
        !kiln_surface_pair_is_whole(&c->surface, &l->sight->rules, c->mesh->u, vertex, v))
        return 0.0;
    return rounded(weight_of(c, vertex, face, v));
}

void kiln_collide_count_pair(const kiln_collide_sight *sight, size_t i,
                             const kiln_pair_distance *at, kiln_counts *out)
{
    const kiln_collide *c = sight->collide;
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    out->parts = 0;
    if (pair->split == 2) {
        out->own = count_edges(c, pair);
        return;
    }
    kiln_fan_surface surface = surface_of(c, pair->v[1]);
    const looker look = {sight, surface.faces, surface.first};
    if (share_of(&look, pair->v[0], pair->face) == 0.0) {
        out->own = pair->area * weight_of(c, pair->v[0], pair->face, pair->v + 1);
        return;
    }
    const kiln_sight view = {.surface = surface,
                             .x = sight->x,
                             .from = kiln_collide_friction_of(c, i) > 0.0
                                         ? NULL
                                         : (c->from ? kiln_collide_points(c->from) : NULL),
                             .within = pair->reach + pair->clearance,
                             .share = share_of,
                             .user = &look};
    kiln_sight_count(&view, pair->v[0], pair->face, at->feature, out);
    out->own *= pair->area;
    for (int k = 0; k < out->parts; k++)
        out->part[k].count *= pair->area;
}
