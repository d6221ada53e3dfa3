#include "contact/ccd.h"

#include "geom/box.h"
#include "geom/distance.h"

#include <stddef.h>

enum {
    MOST_PROOFS = 256,
    CORNERS = 4 /* of both sides */
};
/* Between proofs t goes so far of what is proven: the end itself is a contact, or nearly. */
#define ADVANCE 0.9
/* Advances that are shorter end the search. */
#define SHORTEST 0x1p-44
/* 32 u M, u = 2^-53: differences of coordinates up to M and their products with a unit vector. */
#define ROUNDING 0x1p-48
/* A quotient of rounded numbers is right to a few u. */
#define BELOW (1.0 - 0x1p-50)

/* Corners [0, split) against [split, 4). */
typedef struct motion {
    const kiln_vec3 *begin, *end;
    int split;
    double gap;      /* with the bound on rounding */
    double rounding; /* of a coordinate along any direction */
} motion;

static double largest_coordinate(const kiln_vec3 p[CORNERS])
{
    double most = 0.0;
    for (int i = 0; i < CORNERS; i++)
        most = fmax(most, fmax(fabs(p[i].x), fmax(fabs(p[i].y), fabs(p[i].z))));
    return most;
}

/* The boxes of all the ways of each side. */
static bool boxes_are_apart(const motion *m)
{
    kiln_box a = kiln_box_join(kiln_box_of(m->begin, m->split), kiln_box_of(m->end, m->split));
    kiln_box b = kiln_box_join(kiln_box_of(m->begin + m->split, CORNERS - m->split),
                               kiln_box_of(m->end + m->split, CORNERS - m->split));
    double g = m->gap;
    return a.low.x > b.high.x + g || b.low.x > a.high.x + g || a.low.y > b.high.y + g ||
           b.low.y > a.high.y + g || a.low.z > b.high.z + g || b.low.z > a.high.z + g;
}

/* From b's closest point to a's, at time t; not normalised. */
static kiln_vec3 offset_at(const motion *m, double t)
{
    kiln_vec3 p[CORNERS];
    for (int i = 0; i < CORNERS; i++)
        p[i] = kiln_v3_lerp(m->begin[i], m->end[i], t);
    return m->split == 1 ? kiln_closest_on_triangle(p[0], p + 1).offset
                         : kiln_closest_edges(p, p + 2).offset;
}

/* Until when n proves them apart, from t on: below t if it does not even at t. */
static double proven_until(const motion *m, kiln_vec3 n, double t)
{
    double until = INFINITY;
    for (int i = 0; i < m->split; i++)
        for (int j = m->split; j < CORNERS; j++) {
            double c0 = kiln_v3_dot(n, kiln_v3_sub(m->begin[i], m->begin[j])) - m->gap;
            double c1 = kiln_v3_dot(n, kiln_v3_sub(m->end[i], m->end[j])) - m->gap;
            if (!((1.0 - t) * c0 + t * c1 > 0.0))
                return -1.0;
            if (c1 <= 0.0)
                until = fmin(until, c0 / (c0 - c1) * BELOW);
        }
    return until;
}

static double longest(kiln_vec3 a, kiln_vec3 b)
{
    return sqrt(fmax(kiln_v3_norm2(a), kiln_v3_norm2(b)));
}

/* The same by the plane of the face, or that of both edges' directions, which turns as they do: the
 * volume of the four corners is a cubic in time. Until its control polygon may first fall below
 * what the gap allows. */
static double coplanar_until(const motion *m, double t)
{
    kiln_vec3 p[CORNERS], edge[3][2]; /* [u, v, w][at t, at 1] */
    for (int i = 0; i < CORNERS; i++)
        p[i] = kiln_v3_lerp(m->begin[i], m->end[i], t);
    for (int k = 0; k < 2; k++) {
        const kiln_vec3 *at = k ? m->end : p;
        edge[0][k] = m->split == 1 ? kiln_v3_sub(at[2], at[1]) : kiln_v3_sub(at[1], at[0]);
        edge[1][k] = m->split == 1 ? kiln_v3_sub(at[3], at[1]) : kiln_v3_sub(at[3], at[2]);
        edge[2][k] = m->split == 1 ? kiln_v3_sub(at[0], at[1]) : kiln_v3_sub(at[2], at[0]);
    }
    double control[4] = {0.0};
    for (int k = 0; k < 8; k++) {
        int u = k & 1, v = k >> 1 & 1, w = k >> 2;
        control[u + v + w] += kiln_v3_triple(edge[0][u], edge[1][v], edge[2][w]);
    }
    double plane = longest(edge[0][0], edge[0][1]) * longest(edge[1][0], edge[1][1]);
    double rounding =
        m->rounding * (plane + longest(edge[2][0], edge[2][1]) * (longest(edge[0][0], edge[0][1]) +
                                                                  longest(edge[1][0], edge[1][1])));
    double level = m->gap * plane + 8.0 * rounding, sign = control[0] < 0.0 ? -1.0 : 1.0;
    for (int j = 0; j < 4; j++)
        control[j] = sign * control[j] / (j % 3 == 0 ? 1.0 : 3.0) - level;
    if (!(control[0] > 0.0))
        return -1.0;
    double until = INFINITY; /* where the convex hull of the polygon meets zero */
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 4; j++)
            if (control[i] > 0.0 && control[j] <= 0.0)
                until = fmin(until, (i + (j - i) * (control[i] / (control[i] - control[j]))) / 3.0);
    return t + (1.0 - t) * until * BELOW;
}

static double advance(const motion *m)
{
    double t = 0.0, free = 0.0;
    for (int i = 0; i < MOST_PROOFS; i++) {
        kiln_vec3 offset = offset_at(m, t);
        double length = kiln_v3_norm(offset);
        if (!(length > 0.0))
            return free;
        double until = proven_until(m, kiln_v3_scale(offset, 1.0 / length), t);
        if (until < 1.0 && i > 0)
            until = fmax(until, coplanar_until(m, t));
        if (until >= 1.0)
            return INFINITY;
        free = fmax(free, until);
        if (until - t < SHORTEST)
            return free;
        t += ADVANCE * (until - t);
    }
    return free;
}

static double find_time(const kiln_vec3 begin[CORNERS], const kiln_vec3 end[CORNERS], int split,
                        double gap)
{
    double rounding = ROUNDING * fmax(largest_coordinate(begin), largest_coordinate(end));
    motion m = {begin, end, split, gap + rounding, rounding};
    return boxes_are_apart(&m) ? INFINITY : advance(&m);
}

double kiln_ccd_vertex_face(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap)
{
    return find_time(begin, end, 1, gap);
}

double kiln_ccd_edge_edge(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap)
{
    return find_time(begin, end, 2, gap);
}
