#include "contact/ccd.h"

#include "geom/box.h"
#include "geom/distance.h"

enum {
    MOST_PROOFS = 64,
    CLIPS = 6,
    CORNERS = 4, /* of both sides */
    PAIRS = 4    /* of a corner of each, at most */
};
/* Advances that are shorter end the search. */
#define SHORTEST 0x1p-44
/* Proofs by what turns look so many times farther than the one before got. */
#define FARTHER 4.0
/* 128 u D, u = 2^-53, D the largest difference of coordinates. Only differences a_i - b_j enter,
 * and they are right to u, so no more is lost far from the origin. Counted for a product with a
 * unit vector, in u D: 7 for a difference between two times, 5 for the product, 5 for joining
 * products, 10 for the gap, 83 for a polygon over another interval, 7 for the time. */
#define ROUNDING 0x1p-46
/* Outside these, of differences and of directions, nothing is proven: squares of products of three
 * would leave the range of doubles. */
#define SMALLEST           0x1p-160
#define LARGEST            0x1p160
#define SMALLEST_DIRECTION 0x1p-450

/* Corners [0, split) against [split, 4). */
typedef struct motion {
    kiln_vec3 begin[CORNERS], end[CORNERS]; /* seen from b's first; only where proofs look for n */
    int split, pairs;
    kiln_vec3 from[PAIRS], to[PAIRS]; /* a_i - b_j */
    double gap, rounding;
} motion;

/* A direction that turns: a Bezier curve over an interval of time, of any length. */
typedef struct direction {
    kiln_vec3 control[3];
} direction;

typedef struct cubic {
    double control[4];
} cubic;

/* Where they are nearest. */
typedef struct nearest {
    kiln_vec3 p[CORNERS]; /* then */
    kiln_vec3 offset;     /* from b's point to a's */
    int edge[2];          /* corners of the edge that a vertex is nearest to; else both 0 */
} nearest;

static double largest(kiln_vec3 v)
{
    return fmax(v.x, fmax(v.y, v.z));
}

static void set_edge(nearest *near, unsigned mask, int first)
{
    if (mask != 3 && mask != 5 && mask != 6)
        return;
    near->edge[0] = first + (mask == 6);
    near->edge[1] = first + (mask == 3 ? 1 : 2);
}

static nearest nearest_at(const motion *m, double t)
{
    nearest near = {.edge = {0, 0}};
    for (int i = 0; i < CORNERS; i++)
        near.p[i] = kiln_v3_lerp(m->begin[i], m->end[i], t);
    if (m->split == 1) {
        kiln_closest_point c = kiln_closest_on_triangle(near.p[0], near.p + 1);
        near.offset = c.offset;
        set_edge(&near, c.feature, 1);
    } else {
        kiln_closest_pair c = kiln_closest_edges(near.p, near.p + 2);
        near.offset = c.offset;
        if (c.feature_a != 3 || c.feature_b != 3)
            set_edge(&near, c.feature_a == 3 ? 3 : c.feature_b, c.feature_a == 3 ? 0 : 2);
    }
    return near;
}

/* Until when the unit vector n proves them apart, from t on: below t if it does not even at t. */
static double straight_until(const motion *m, kiln_vec3 n, double t)
{
    double until = INFINITY, gap = m->gap + m->rounding;
    for (int i = 0; i < m->pairs; i++) {
        double c0 = kiln_v3_dot(n, m->from[i]) - gap, c1 = kiln_v3_dot(n, m->to[i]) - gap;
        if (!((1.0 - t) * c0 + t * c1 > 0.0))
            return -1.0;
        if (c1 <= 0.0)
            until = c0 / (c0 - c1) < until ? c0 / (c0 - c1) : until;
    }
    return until;
}

/* The control polygon of the same cubic over [0, s] instead of [0, 1], or over [s, 1]. */
static cubic part_of(cubic f, double s, bool right)
{
    cubic part = f;
    for (int level = 1; level < 4; level++) {
        for (int i = 0; i < 4 - level; i++)
            f.control[i] = (1.0 - s) * f.control[i] + s * f.control[i + 1];
        part.control[right ? 3 - level : level] = f.control[right ? 3 - level : 0];
    }
    return part;
}

/* The polygon lies above a line from its first point, which is above zero: where that line meets
 * zero, if the polygon does anywhere; else INFINITY. */
static double line_crossing(cubic f)
{
    const double *c = f.control;
    if (c[1] > 0.0 && c[2] > 0.0 && c[3] > 0.0)
        return INFINITY;
    double fall = 3.0 * (c[0] - c[1]);
    fall = fall > 1.5 * (c[0] - c[2]) ? fall : 1.5 * (c[0] - c[2]);
    return c[0] / (fall > c[0] - c[3] ? fall : c[0] - c[3]);
}

/* A time in [0, 1] before which f is positive. Over short intervals a polygon is nearly straight,
 * so this comes near to the first root in a few rounds. */
static double positive_until(cubic f)
{
    double from = 0.0, to = 1.0;
    cubic piece = f;
    for (int i = 0; i < CLIPS && piece.control[0] > 0.0; i++) {
        double x = line_crossing(piece), advance = x < 1.0 ? x * (to - from) : to - from;
        from += advance;
        if (!(from < 1.0) || advance < SHORTEST)
            break;
        to = from + 2.0 * advance < 1.0 ? from + 2.0 * advance : 1.0;
        piece = part_of(part_of(f, to, false), from / to, true);
    }
    return from;
}

/* As straight_until, by a direction that turns: the distance along it and a bound of its length are
 * polynomials. */
static double turning_until(const motion *m, const direction *n, double t, double horizon)
{
    double length[3], longest = 0.0;
    for (int k = 0; k < 3; k++) {
        length[k] = kiln_v3_norm(n->control[k]);
        longest = fmax(longest, length[k]);
    }
    if (!(longest > SMALLEST_DIRECTION))
        return -1.0;
    double rounding = 3.0 * m->rounding * longest;
    cubic least = {{INFINITY, INFINITY, INFINITY, INFINITY}};
    for (int i = 0; i < m->pairs; i++) {
        kiln_vec3 now = kiln_v3_lerp(m->from[i], m->to[i], t);
        kiln_vec3 then = kiln_v3_lerp(m->from[i], m->to[i], horizon);
        double f[4] = {-rounding, -rounding, -rounding,
                       -rounding}; /* and three times the product */
        for (int k = 0; k < 3; k++) {
            double gap = m->gap * length[k];
            f[k] += (3 - k) * (kiln_v3_dot(n->control[k], now) - gap);
            f[k + 1] += (k + 1) * (kiln_v3_dot(n->control[k], then) - gap);
        }
        for (int k = 0; k < 4; k++)
            least.control[k] = f[k] < least.control[k] ? f[k] : least.control[k];
    }
    double until = positive_until(least);
    return until < 1.0 ? t + (horizon - t) * until : horizon;
}

/* The normal of the face, or of both edges, towards a. `last`: corners at the end of the interval.
 */
static direction turning_normal(int split, const nearest *near, const kiln_vec3 last[CORNERS])
{
    kiln_vec3 u[2], v[2];
    for (int k = 0; k < 2; k++) {
        const kiln_vec3 *p = k ? last : near->p;
        u[k] = split == 1 ? kiln_v3_sub(p[2], p[1]) : kiln_v3_sub(p[1], p[0]);
        v[k] = split == 1 ? kiln_v3_sub(p[3], p[1]) : kiln_v3_sub(p[3], p[2]);
    }
    double sign = kiln_v3_triple(near->offset, u[0], v[0]) < 0.0 ? -1.0 : 1.0;
    kiln_vec3 twice = kiln_v3_add(kiln_v3_cross(u[0], v[1]), kiln_v3_cross(u[1], v[0]));
    return (direction){{kiln_v3_scale(kiln_v3_cross(u[0], v[0]), sign),
                        kiln_v3_scale(twice, 0.5 * sign),
                        kiln_v3_scale(kiln_v3_cross(u[1], v[1]), sign)}};
}

/* Across an edge, in the plane it makes with the vertex in the beginning. */
static direction across_edge(const nearest *near, const kiln_vec3 last[CORNERS])
{
    int i = near->edge[0], j = near->edge[1];
    kiln_vec3 edge = kiln_v3_sub(near->p[j], near->p[i]);
    kiln_vec3 normal = kiln_v3_cross(edge, near->offset);
    kiln_vec3 n0 = kiln_v3_cross(normal, edge);
    kiln_vec3 n1 = kiln_v3_cross(normal, kiln_v3_sub(last[j], last[i]));
    return (direction){{n0, kiln_v3_lerp(n0, n1, 0.5), n1}};
}

static double proven_by_turning(const motion *m, const nearest *near, double t, double horizon)
{
    kiln_vec3 last[CORNERS];
    for (int i = 0; i < CORNERS; i++)
        last[i] = kiln_v3_lerp(m->begin[i], m->end[i], horizon);
    direction n = turning_normal(m->split, near, last);
    double until = turning_until(m, &n, t, horizon);
    if (until >= horizon || near->edge[1] == 0)
        return until;
    n = across_edge(near, last);
    return fmax(until, turning_until(m, &n, t, horizon));
}

/* From t on; what turns is looked at up to the horizon, and not at once: most pass by. */
static double proven_until(const motion *m, double t, double horizon)
{
    nearest near = nearest_at(m, t);
    double length = kiln_v3_norm(near.offset);
    if (!(length > m->gap + 2.0 * m->rounding))
        return t;
    double until = straight_until(m, kiln_v3_scale(near.offset, 1.0 / length), t);
    if (until >= 1.0 || (t == 0.0 && until > 0.0))
        return until;
    return fmax(until, proven_by_turning(m, &near, t, horizon));
}

static double advance(const motion *m)
{
    double t = 0.0, horizon = 1.0;
    for (int i = 0; i < MOST_PROOFS; i++) {
        double until = proven_until(m, t, horizon);
        if (until >= 1.0)
            return INFINITY;
        if (until - t < SHORTEST)
            return fmax(t, until);
        if (t > 0.0)
            horizon = fmin(1.0, until + FARTHER * (until - t));
        t = until;
    }
    return t;
}

static double advance_locally(motion *m, const kiln_vec3 begin[CORNERS],
                              const kiln_vec3 end[CORNERS])
{
    for (int i = 0; i < CORNERS; i++) {
        m->begin[i] = kiln_v3_sub(begin[i], begin[m->split]);
        m->end[i] = kiln_v3_sub(end[i], end[m->split]);
    }
    return advance(m);
}

static double find_time(const kiln_vec3 begin[CORNERS], const kiln_vec3 end[CORNERS], int split,
                        double gap)
{
    motion m = {.split = split, .gap = gap};
    for (int i = 0; i < split; i++)
        for (int j = split; j < CORNERS; j++, m.pairs++) {
            m.from[m.pairs] = kiln_v3_sub(begin[i], begin[j]);
            m.to[m.pairs] = kiln_v3_sub(end[i], end[j]);
        }
    kiln_box box = kiln_box_join(kiln_box_of(m.from, m.pairs), kiln_box_of(m.to, m.pairs));
    kiln_vec3 minus_low = kiln_v3_scale(box.low, -1.0), minus_high = kiln_v3_scale(box.high, -1.0);
    double apart = largest(kiln_v3_max(box.low, minus_high)); /* along an axis */
    double size = largest(kiln_v3_max(box.high, minus_low));
    m.rounding = ROUNDING * size;
    if (apart > gap + m.rounding)
        return INFINITY;
    return size > SMALLEST && size < LARGEST ? advance_locally(&m, begin, end) : 0.0;
}

double kiln_ccd_vertex_face(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap)
{
    return find_time(begin, end, 1, gap);
}

double kiln_ccd_edge_edge(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap)
{
    return find_time(begin, end, 2, gap);
}
