/* What is near does: energies, forces, and how far a way may go. */
#include "contact/ccd.h"
#include "contact/repulsion.h"
#include "step/collide_impl.h"
#include "step/vicinity.h"
#include "step/patch.h"

#include <math.h>
#include <string.h>

/* As in the step's own detection (collide_detect.c). */
#define KEPT .25
#define LEFT .5

static bool is_wall(const kiln_vicinity *n, uint32_t row)
{
    return n->vertex.data[row] >= KILN_LINK_SURFACE;
}

static bool is_flat(const kiln_vicinity *n, const kiln_surface_pair *pair)
{
    return pair->split != 2 && is_wall(n, pair->v[1]);
}

/* A pair is one term, before a wall some (contact/walls.h): each counts by itself. */
typedef struct term {
    kiln_pair_distance at;
    double before, count;
} term;
enum { TERMS = 1 + KILN_SIGHT_PARTS };

/* Of a vertex that may move. */
static void count_at_wall(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                          const kiln_local_objective *o, size_t i, kiln_counts *out)
{
    const kiln_surface_pair *pair = &n->pairs.data[i];
    uint32_t row = pair->v[0];
    const kiln_wall_sight sight = {
        .walls = &surface->collide->walls,
        .begin = surface->walls,
        .places = surface->walls,
        .from = surface->over ? surface->wall_begin : NULL,
        .p = n->x.data[row],
        .began = surface->over ? o->mesh->x[n->vertex.data[row]] : kiln_v3(0, 0, 0),
        .within = pair->reach + pair->clearance,
        .area = pair->area,
        .facing = kiln_v3_scale(n->facing.data[row], 1.0 / (6.0 * n->area.data[row]))};
    kiln_walls_count(&sight, pair->face, out);
}

static int find_terms(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                      const kiln_local_objective *o, size_t i, const kiln_pair_distance *at,
                      term out[TERMS])
{
    const kiln_surface_pair *pair = &n->pairs.data[i];
    kiln_counts counts = {.own = 1.0};
    if (is_flat(n, pair))
        count_at_wall(n, surface, o, i, &counts);
    out[0] = (term){*at, n->before.data[i], counts.own};
    for (int k = 0; k < counts.parts; k++) {
        const double *w = counts.part[k].weight, d = counts.part[k].distance;
        out[1 + k] = (term){
            {.d = d - pair->clearance,
             .normal = d > 0.0 ? kiln_v3_scale(counts.part[k].offset, 1.0 / d) : kiln_v3(0, 0, 0),
             .weight = {1.0, -w[0], -w[1], -w[2]}},
            counts.part[k].before - pair->clearance,
            counts.part[k].count};
    }
    return 1 + counts.parts;
}

/* J, N and N/m of a term. */
static kiln_repulsion repulsion_of(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                                   size_t i, const term *t)
{
    const kiln_surface_pair *pair = &n->pairs.data[i];
    double s = t->at.d / pair->reach, scale = n->scale.data[i] * t->count;
    bool over = surface->over && (t->before < pair->reach || s < 1.0);
    if (scale == 0.0 || (!over && s >= 1.0))
        return (kiln_repulsion){0};
    kiln_repulsion b = over
                           ? kiln_repulsion_over(t->before / pair->reach, s, !is_flat(n, pair), 0.0)
                           : kiln_repulsion_at(s);
    return (kiln_repulsion){scale * pair->reach * b.value, scale * b.slope,
                            scale * b.curvature / pair->reach};
}

double kiln_vicinity_load(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                          const kiln_local_objective *o, size_t i, const kiln_pair_distance *at)
{
    term terms[TERMS];
    double load = 0.0;
    int count = find_terms(n, surface, o, i, at, terms);
    for (int k = 0; k < count; k++)
        load -= n->scale.data[i] * terms[k].count *
                kiln_repulsion_at(terms[k].at.d / n->pairs.data[i].reach).slope;
    return fmax(load, 0.0);
}

/* J, all of its terms where the rows are. */
static double energy_of(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                        const kiln_local_objective *o, size_t i)
{
    term terms[TERMS];
    double sum = 0.0;
    kiln_pair_distance at = kiln_surface_pair_distance(&n->pairs.data[i], n->x.data);
    int count = find_terms(n, surface, o, i, &at, terms);
    for (int k = 0; k < count; k++)
        sum += repulsion_of(n, surface, i, &terms[k]).value;
    return sum;
}

/* m^2, as far as one of a pair's vertices is from where it was gathered. */
static double strayed(const kiln_vicinity *n, const kiln_surface_pair *pair)
{
    double most = 0.0;
    for (int k = 0; k < 4; k++)
        if (pair->v[k] < n->free)
            most = fmax(
                most, kiln_v3_norm2(kiln_v3_sub(n->x.data[pair->v[k]], n->place.data[pair->v[k]])));
    return most;
}

double kiln_vicinity_least_apart(const kiln_vicinity *n, size_t i)
{
    return n->apart.data[i] - 2.0 * sqrt(strayed(n, &n->pairs.data[i]));
}

/* A pair that surely does nothing. */
static bool is_idle(const kiln_vicinity *n, const kiln_vicinity_surface *surface, size_t i)
{
    double reach = n->pairs.data[i].reach;
    return !(surface->over && n->before.data[i] < reach) &&
           kiln_vicinity_least_apart(n, i) > KILN_VICINITY_SURELY * reach;
}

static void stand_at(kiln_vicinity *n, const kiln_vec3 *x)
{
    if (n->free > 0)
        memcpy(n->x.data, x, n->free * sizeof *x);
}

static kiln_vec3 origin_of(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                           const kiln_local_objective *o, uint32_t row)
{
    uint32_t id = n->vertex.data[row];
    return is_wall(n, row) ? surface->wall_origin[id - KILN_LINK_SURFACE]
                           : kiln_objective_origin(o, id);
}

/* How fast a pair slips, along its tangents. */
static void slip_of(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                    const kiln_local_objective *o, const kiln_vicinity_rub *rub, double out[2])
{
    kiln_vec3 v = kiln_v3(0, 0, 0);
    const uint32_t *row = n->pairs.data[rub->pair].v;
    for (int k = 0; k < 4; k++)
        v = kiln_v3_madd(v, rub->weight[k] / surface->tau,
                         kiln_v3_sub(n->x.data[row[k]], origin_of(n, surface, o, row[k])));
    out[0] = kiln_v3_dot(v, rub->along[0]);
    out[1] = kiln_v3_dot(v, rub->along[1]);
}

void kiln_vicinity_values(kiln_vicinity *n, const kiln_vicinity_surface *surface,
                          const kiln_local_objective *o, const kiln_vec3 *x, double *value)
{
    stand_at(n, x);
    for (size_t i = 0; i < n->pairs.count; i++) {
        value[i] = 0.0;
        if (is_idle(n, surface, i))
            continue;
        value[i] = energy_of(n, surface, o, i);
    }
    for (size_t i = 0; i < n->rubs.count; i++) {
        double slip[2], e = surface->collide->slip_speed;
        slip_of(n, surface, o, &n->rubs.data[i], slip);
        value[n->pairs.count + i] =
            n->rubs.data[i].load * surface->tau * kiln_slip_at(hypot(slip[0], slip[1]), e).value;
    }
}

double kiln_vicinity_sum(kiln_vicinity *n, const kiln_vicinity_surface *surface,
                         const kiln_local_objective *o)
{
    double sum = 0.0;
    for (size_t i = 0; i < n->pairs.count; i++)
        sum += is_idle(n, surface, i) ? 0.0 : energy_of(n, surface, o, i);
    return sum;
}

double kiln_vicinity_nearest(const kiln_vicinity *n)
{
    double least = INFINITY;
    for (size_t i = 0; i < n->pairs.count; i++)
        least = fmin(least, n->apart.data[i] / n->pairs.data[i].reach);
    return least;
}

/* What is taken away, before hollows, has no stiffness that a solve could go by. */
static void push_pair(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                      const kiln_local_objective *o, size_t i, kiln_vicinity_see *see, void *user)
{
    term terms[TERMS];
    kiln_pair_distance at = kiln_surface_pair_distance(&n->pairs.data[i], n->x.data);
    int count = find_terms(n, surface, o, i, &at, terms);
    for (int k = 0; k < count; k++) {
        kiln_repulsion b = repulsion_of(n, surface, i, &terms[k]);
        kiln_vicinity_push push = {n->pairs.data[i].v, terms[k].at.weight, terms[k].at.normal,
                                   b.slope, terms[k].count < 0.0 ? 0.0 : b.curvature};
        if (b.slope != 0.0)
            see(user, &push);
    }
}

void kiln_vicinity_visit(kiln_vicinity *n, const kiln_vicinity_surface *surface,
                         const kiln_local_objective *o, const kiln_vec3 *x, kiln_vicinity_see *see,
                         void *user)
{
    stand_at(n, x);
    for (size_t i = 0; i < n->pairs.count; i++)
        if (!is_idle(n, surface, i))
            push_pair(n, surface, o, i, see, user);
    for (size_t i = 0; i < n->rubs.count; i++) {
        const kiln_vicinity_rub *rub = &n->rubs.data[i];
        double slip[2], e = surface->collide->slip_speed;
        slip_of(n, surface, o, rub, slip);
        double secant = rub->load * kiln_slip_at(hypot(slip[0], slip[1]), e).secant;
        for (int k = 0; k < 2; k++) {
            kiln_vicinity_push push = {n->pairs.data[rub->pair].v, rub->weight, rub->along[k],
                                       secant * slip[k], secant / surface->tau};
            see(user, &push);
        }
    }
}

/* Ways. */

static double largest_move(const kiln_vicinity *n, const kiln_vec3 *x, const kiln_vec3 *step,
                           double part)
{
    double most = 0.0;
    for (size_t r = 0; r < n->free; r++) {
        kiln_vec3 off = kiln_v3_sub(kiln_v3_madd(x[r], part, step[r]), n->place.data[r]);
        most = fmax(most, kiln_v3_norm2(off));
    }
    return sqrt(most);
}

static double way_of(const kiln_vicinity *n, size_t i, const kiln_vec3 *step, double best)
{
    const kiln_surface_pair *pair = &n->pairs.data[i];
    kiln_vec3 begin[4], end[4];
    double moved = 0.0;
    for (int k = 0; k < 4; k++) {
        begin[k] = end[k] = n->x.data[pair->v[k]];
        if (pair->v[k] >= n->free)
            continue;
        end[k] = kiln_v3_madd(begin[k], best, step[pair->v[k]]);
        moved = fmax(moved, kiln_v3_norm2(kiln_v3_sub(end[k], begin[k])));
    }
    double least = kiln_vicinity_least_apart(n, i) - 2.0 * sqrt(moved);
    if (least > KILN_VICINITY_SURELY * pair->reach)
        return best;
    double d = kiln_surface_pair_distance(pair, n->x.data).d;
    double gap = (d > pair->reach ? LEFT * pair->reach : KEPT * d) + pair->clearance;
    if (d + pair->clearance - 2.0 * sqrt(moved) > gap * (1.0 + 1e-9))
        return best;
    double t = pair->split == 1 ? kiln_ccd_vertex_face(begin, end, gap)
                                : kiln_ccd_edge_edge(begin, end, gap);
    return isinf(t) ? best : t * best;
}

double kiln_vicinity_way(kiln_vicinity *n, const kiln_vec3 *x, const kiln_vec3 *step, bool *in_room)
{
    double best = 1.0;
    stand_at(n, x);
    *in_room = n->triangles.count == 0 || largest_move(n, x, step, 1.0) <= n->room;
    while (!*in_room && best > 1e-6 && largest_move(n, x, step, best) > n->room)
        best *= 0.5;
    for (size_t i = 0; i < n->pairs.count && best > 0.0; i++)
        best = way_of(n, i, step, best);
    return best;
}
