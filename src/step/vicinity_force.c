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

double kiln_vicinity_share(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                           const kiln_surface_pair *pair, const kiln_pair_distance *at)
{
    if (!is_flat(n, pair))
        return 1.0;
    const double weight[3] = {-at->weight[1], -at->weight[2], -at->weight[3]};
    return kiln_walls_share(&surface->collide->walls, surface->walls, pair->face, weight,
                            n->x.data[pair->v[0]]);
}

/* J, N and N/m of a pair at a distance. */
static kiln_repulsion repulsion_of(const kiln_vicinity *n, const kiln_vicinity_surface *surface,
                                   size_t i, const kiln_pair_distance *at)
{
    const kiln_surface_pair *pair = &n->pairs.data[i];
    double s = at->d / pair->reach, scale = n->scale.data[i];
    bool over = surface->over && (n->before.data[i] < pair->reach || s < 1.0);
    if (!over && s >= 1.0)
        return (kiln_repulsion){0};
    kiln_repulsion b =
        over ? kiln_repulsion_over(n->before.data[i] / pair->reach, s, !is_flat(n, pair), 0.0)
             : kiln_repulsion_at(s);
    scale *= kiln_vicinity_share(n, surface, pair, at);
    if (scale == 0.0)
        return (kiln_repulsion){0};
    return (kiln_repulsion){scale * pair->reach * b.value, scale * b.slope,
                            scale * b.curvature / pair->reach};
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

/* m, no farther apart, beyond their clearance, than a pair is: it costs far less than to say how
 * far. */
static double least_apart(const kiln_vicinity *n, size_t i)
{
    return n->apart.data[i] - 2.0 * sqrt(strayed(n, &n->pairs.data[i]));
}

/* A pair that surely does nothing. */
static bool is_idle(const kiln_vicinity *n, const kiln_vicinity_surface *surface, size_t i)
{
    double reach = n->pairs.data[i].reach;
    return !(surface->over && n->before.data[i] < reach) &&
           least_apart(n, i) > KILN_VICINITY_SURELY * reach;
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
        kiln_pair_distance at = kiln_surface_pair_distance(&n->pairs.data[i], n->x.data);
        value[i] = repulsion_of(n, surface, i, &at).value;
    }
    for (size_t i = 0; i < n->rubs.count; i++) {
        double slip[2], e = surface->collide->slip_speed;
        slip_of(n, surface, o, &n->rubs.data[i], slip);
        value[n->pairs.count + i] =
            n->rubs.data[i].load * surface->tau * kiln_slip_at(hypot(slip[0], slip[1]), e).value;
    }
}

double kiln_vicinity_sum(kiln_vicinity *n, const kiln_vicinity_surface *surface)
{
    double sum = 0.0;
    for (size_t i = 0; i < n->pairs.count; i++) {
        if (is_idle(n, surface, i))
            continue;
        kiln_pair_distance at = kiln_surface_pair_distance(&n->pairs.data[i], n->x.data);
        sum += repulsion_of(n, surface, i, &at).value;
    }
    return sum;
}

double kiln_vicinity_nearest(const kiln_vicinity *n)
{
    double least = INFINITY;
    for (size_t i = 0; i < n->pairs.count; i++)
        least = fmin(least, n->apart.data[i] / n->pairs.data[i].reach);
    return least;
}

void kiln_vicinity_visit(kiln_vicinity *n, const kiln_vicinity_surface *surface,
                         const kiln_local_objective *o, const kiln_vec3 *x, kiln_vicinity_see *see,
                         void *user)
{
    stand_at(n, x);
    for (size_t i = 0; i < n->pairs.count; i++) {
        if (is_idle(n, surface, i))
            continue;
        kiln_pair_distance at = kiln_surface_pair_distance(&n->pairs.data[i], n->x.data);
        kiln_repulsion b = repulsion_of(n, surface, i, &at);
        kiln_vicinity_push push = {n->pairs.data[i].v, at.weight, at.normal, b.slope, b.curvature};
        if (b.slope != 0.0)
            see(user, &push);
    }
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
    double least = least_apart(n, i) - 2.0 * sqrt(moved);
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
