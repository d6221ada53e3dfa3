/* Continuous detection: how far a way may go. */
#include "base/clock.h"
#include "base/parallel.h"
#include "contact/ccd.h"
#include "step/collide_impl.h"

/* Of the distance at the begin of a Newton step, kept all along it. */
#define KEPT 0.1

typedef struct evaluation {
    kiln_collide *collide;
    const kiln_vec3 *x, *dx;
    double kept;           /* of the distance at x, all along the way */
    const uint32_t *items; /* pairs, NULL: all */
} evaluation;

static double way_of(const evaluation *e, const kiln_surface_pair *pair, double best)
{
    kiln_vec3 begin[4], end[4];
    for (int k = 0; k < 4; k++) {
        begin[k] = e->x[pair->v[k]];
        end[k] = kiln_v3_madd(begin[k], best, e->dx[pair->v[k]]);
    }
    kiln_box a =
        kiln_box_join(kiln_box_of(begin, (int)pair->split), kiln_box_of(end, (int)pair->split));
    kiln_box b = kiln_box_join(kiln_box_of(begin + pair->split, 4 - (int)pair->split),
                               kiln_box_of(end + pair->split, 4 - (int)pair->split));
    double margin = e->kept * pair->reach;
    a.low = kiln_v3_sub(a.low, kiln_v3(margin, margin, margin));
    a.high = kiln_v3_add(a.high, kiln_v3(margin, margin, margin));
    if (!kiln_box_overlap(a, b))
        return best;
    double gap = e->kept * fmin(kiln_surface_pair_distance(pair, e->x).d, pair->reach);
    double t = pair->split == 1 ? kiln_ccd_vertex_face(begin, end, gap)
                                : kiln_ccd_edge_edge(begin, end, gap);
    return isinf(t) ? best : t * best;
}

static void way_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const evaluation *e = user;
    double best = 1.0;
    for (size_t i = begin; i < end && best > 0.0; i++)
        best = way_of(e, kiln_collide_pair(e->collide, e->items ? e->items[i] : i), best);
    e->collide->least.data[chunk] = best;
}

static double detect(kiln_collide *c, const double *x, const double *dx, double kept)
{
    evaluation e = {
        .collide = c, .x = kiln_collide_points(x), .dx = kiln_collide_points(dx), .kept = kept};
    double began = kiln_wall_seconds();
    bool few = 2.0 * fmax(kiln_collide_drift(c, x, NULL), kiln_collide_drift(c, x, dx)) <= c->watch;
    size_t count = few ? c->watched.count : c->found.pairs.count;
    e.items = few ? c->watched.data : NULL;
    kiln_parallel_for(c->context, count, KILN_COLLIDE_GRAIN, way_chunk, &e);
    size_t chunks = kiln_chunk_count(count, KILN_COLLIDE_GRAIN);
    double least = 1.0;
    for (size_t i = 0; i < chunks; i++)
        least = fmin(least, c->least.data[i]);
    c->seconds += kiln_wall_seconds() - began;
    return least;
}

/* Until the first coordinate leaves its interval. */
static double leave(double x, double dx, double low, double high)
{
    double end = x + dx;
    if (end > high)
        return (high - x) / dx;
    return end < low ? (low - x) / dx : 1.0;
}

static double confine(const kiln_collide *c, const double *x, const double *dx)
{
    double least = 1.0;
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        size_t v = c->surface.vertices.data[i];
        const kiln_box *box = &c->boxes.data[v];
        least = fmin(least, leave(x[3 * v], dx[3 * v], box->low.x, box->high.x));
        least = fmin(least, leave(x[3 * v + 1], dx[3 * v + 1], box->low.y, box->high.y));
        least = fmin(least, leave(x[3 * v + 2], dx[3 * v + 2], box->low.z, box->high.z));
    }
    return fmax(least, 0.0);
}

double kiln_collide_max_step(void *self, const double *x, const double *dx)
{
    kiln_collide *c = self;
    double room = confine(c, x, dx);
    for (size_t i = 0; i < c->surface.vertices.count && room < 1.0; i++) {
        uint32_t v = c->surface.vertices.data[i];
        if (!kiln_collide_is_inside(
                c, v, kiln_v3_add(kiln_collide_points(x)[v], kiln_collide_points(dx)[v])))
            c->tight.data[v] = true;
    }
    if (room < 1.0)
        c->confined = true;
    if (room == 0.0)
        return 0.0;
    return fmin(room, detect(c, x, dx, KEPT));
}

double kiln_collide_way(kiln_collide *c, const double *x, const double *to, double *scratch)
{
    size_t size = 3 * c->given->rows;
    for (size_t i = 0; i < size; i++)
        scratch[i] = to[i] - x[i];
    return fmin(confine(c, x, scratch), detect(c, x, scratch, KEPT));
}

bool kiln_collide_is_straight(kiln_collide *c, const double *x, double *scratch)
{
    for (size_t i = 0; i < 3 * c->given->rows; i++)
        scratch[i] = x[i] - c->begin[i];
    return detect(c, c->begin, scratch, 0.0) >= 1.0;
}
