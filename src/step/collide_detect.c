/* Continuous detection: how far a way may go. */
#include "base/clock.h"
#include "base/parallel.h"
#include "contact/ccd.h"
#include "contact/pair_bounds.h"
#include "step/collide_impl.h"

/* Of the distance at the begin of a Newton step, kept all along it; and of the reach, for pairs
 * that did not act: farther in they would be so stiff that the next step only drives them out
 * again. */
#define KEPT .25
#define LEFT .5
/* Beyond rounding. */
#define SURELY (1.0 + 1e-9)

enum {
    MANY = 20, /* meetings of boxes for each vertex, below which a piece of a way may be longer */
    /* After a piece that has more pairs than so many times those last found about a place, only
     * those about its end stay. */
    FEW_TIMES = 2,
    FEW_MORE = 256,
    WAY_GRAIN = 2 * KILN_COLLIDE_GRAIN /* pairs: one that stops early spares the next ones work */
};

#define LEAST_PIECE (1.0 / 1024.0) /* of a way; so that no speed makes it endless */

typedef struct evaluation {
    kiln_collide *collide;
    const kiln_vec3 *x, *dx;
    double part; /* of dx: the way */
} evaluation;

/* Whether the boxes of both sides' ways are farther apart than `margin`. */
static bool ways_apart(const kiln_vec3 begin[4], const kiln_vec3 end[4], int split, double margin)
{
    kiln_box a = kiln_box_join(kiln_box_of(begin, split), kiln_box_of(end, split));
    kiln_box b =
        kiln_box_join(kiln_box_of(begin + split, 4 - split), kiln_box_of(end + split, 4 - split));
    a.low = kiln_v3_sub(a.low, kiln_v3(margin, margin, margin));
    a.high = kiln_v3_add(a.high, kiln_v3(margin, margin, margin));
    return !kiln_box_overlap(a, b);
}

static double left_of(const kiln_surface_pair *pair)
{
    return LEFT * pair->reach + pair->clearance;
}

/* `near` is no more than its distance in the beginning. */
static double way_of(const evaluation *e, const kiln_surface_pair *pair, double near, double best)
{
    kiln_vec3 begin[4], end[4];
    for (int k = 0; k < 4; k++) {
        begin[k] = e->x[pair->v[k]];
        end[k] = kiln_v3_madd(begin[k], best * e->part, e->dx[pair->v[k]]);
    }
    double gap = left_of(pair);
    if (ways_apart(begin, end, (int)pair->split, gap))
        return best;
    if (near <= pair->reach + pair->clearance) {
        double d = kiln_surface_pair_distance(pair, e->x).d;
        gap = d > pair->reach ? gap : KEPT * d + pair->clearance;
    }
    double t = pair->split == 1 ? kiln_ccd_vertex_face(begin, end, gap)
                                : kiln_ccd_edge_edge(begin, end, gap);
    return isinf(t) ? best : t * best;
}

/* Most pairs do not move far enough against each other to meet. */
static double way_of_block(const evaluation *e, const kiln_surface_pair *pair, size_t count,
                           double best)
{
    const kiln_context *context = e->collide->context;
    double near2[KILN_COLLIDE_BLOCK], way2[KILN_COLLIDE_BLOCK];
    kiln_pair_distances2(context, pair, count, e->x, KILN_PAIR_LOSS, near2);
    kiln_pair_ways2(context, pair, count, e->dx, way2);
    for (size_t i = 0; i < count && best > 0.0; i++) {
        double near = sqrt(fmax(near2[i], 0.0)), way = best * e->part * sqrt(way2[i]);
        if (!(near - way > SURELY * left_of(&pair[i])))
            best = way_of(e, &pair[i], near, best);
    }
    return best;
}

static void way_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const evaluation *e = user;
    double best = 1.0;
    for (size_t i = begin; i < end && best > 0.0; i += KILN_COLLIDE_BLOCK)
        best = way_of_block(e, kiln_collide_pair(e->collide, i), kiln_collide_block(i, end), best);
    e->collide->least.data[chunk] = best;
}

/* The part of the way from x to x + part dx that is free, of the pairs there are. */
static double detect(kiln_collide *c, const double *x, const double *dx, double part)
{
    evaluation e = {
        .collide = c, .x = kiln_collide_points(x), .dx = kiln_collide_points(dx), .part = part};
    size_t count = c->found.pairs.count, chunks = kiln_chunk_count(count, WAY_GRAIN);
    kiln_parallel_for(c->context, count, WAY_GRAIN, way_chunk, &e);
    double least = 1.0;
    for (size_t i = 0; i < chunks; i++)
        least = fmin(least, c->least.data[i]);
    return least;
}

static double longest_way(const kiln_collide *c, const double *dx)
{
    double most = 0.0;
    for (size_t i = 0; i < kiln_collide_mover_count(c); i++)
        most = fmax(most, kiln_v3_norm2(kiln_collide_points(dx)[kiln_collide_mover(c, i)]));
    return sqrt(most);
}

static void stand_at(kiln_collide *c, const double *x, const double *dx, double t)
{
    for (size_t i = 0; i < kiln_collide_mover_count(c); i++) {
        size_t v = kiln_collide_mover(c, i);
        for (size_t j = 3 * v; j < 3 * v + 3; j++)
            c->at.data[j] = x[j] + t * dx[j];
    }
}

/* Piece by piece, with new pairs for each (C2), as long as few boxes meet; then for its end. */
static double sweep(kiln_collide *c, const double *x, const double *dx)
{
    double part = fmin(fmax(c->stride / longest_way(c, dx), LEAST_PIECE), 1.0), t = 0.0;
    double free = 1.0;
    size_t many = MANY * c->surface.vertices.count;
    while (t < 1.0 && free == 1.0) {
        stand_at(c, x, dx, t);
        part = fmin(part, 1.0 - t);
        if (!kiln_collide_find(c, c->at.data, dx, part))
            return 0.0;
        free = detect(c, c->at.data, dx, part);
        t = t + part >= 1.0 && free == 1.0 ? 1.0 : t + free * part;
        if (t < 1.0 && free == 1.0 && c->found.meetings < many)
            part *= 2.0;
    }
    stand_at(c, x, dx, t);
    if (c->found.pairs.count > FEW_MORE + FEW_TIMES * c->about)
        return kiln_collide_thin(c, c->at.data) ? t : 0.0;
    kiln_collide_stay(c, c->at.data);
    return t;
}

double kiln_collide_max_step(void *self, const double *x, const double *dx)
{
    kiln_collide *c = self;
    double began = kiln_wall_seconds(), searched = c->seconds, step;
    if (kiln_collide_has_room(c, x, NULL) && kiln_collide_has_room(c, x, dx))
        step = detect(c, x, dx, 1.0);
    else
        step = sweep(c, x, dx);
    c->seconds = searched + kiln_wall_seconds() - began;
    return step;
}

double kiln_collide_way(kiln_collide *c, const double *x, const double *to, double *scratch)
{
    for (size_t i = 0; i < 3 * c->given->rows; i++)
        scratch[i] = to[i] - x[i];
    return kiln_collide_max_step(c, x, scratch);
}
