#include "geom/distance.h"

#include <stdbool.h>

static const double PARALLEL = 2.5e-16; /* of |u x v|^2 / |u|^2 |v|^2 */

double kiln_distance2_points(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3_norm2(kiln_v3_sub(a, b));
}

/* Points relative to the query, whose closest point to the origin is wanted: then `offset` is minus
 * that point and no digits are lost on the way. */
static void consider_edge(kiln_closest_point *best, const kiln_vec3 *q, int i, int j)
{
    kiln_vec3 e = kiln_v3_sub(q[j], q[i]);
    double along = -kiln_v3_dot(q[i], e), length2 = kiln_v3_norm2(e);
    /* From the nearer end, so that the sliver of rounding in t is a sliver of the short part. */
    double back = kiln_v3_dot(q[j], e);
    double t;
    unsigned feature = 1u << i | 1u << j;
    kiln_vec3 at;
    if (along <= 0.0 || !(length2 > 0.0)) {
        t = 0.0;
        at = q[i];
        feature = 1u << i;
    } else if (back <= 0.0) {
        t = 1.0;
        at = q[j];
        feature = 1u << j;
    } else if (along < back) {
        t = along / length2;
        at = kiln_v3_madd(q[i], t, e);
    } else {
        t = 1.0 - back / length2;
        at = kiln_v3_madd(q[j], -(back / length2), e);
    }
    double d2 = kiln_v3_norm2(at);
    if (d2 < best->distance2) {
        *best = (kiln_closest_point){.distance2 = d2, .feature = feature};
        best->weight[i] = 1.0 - t;
        best->weight[j] = t;
        if (t == 0.0 || t == 1.0)
            best->feature = t == 0.0 ? 1u << i : 1u << j;
        best->offset = kiln_v3_scale(at, -1.0);
    }
}

/* The foot of the origin in the plane, if it falls inside. Weights are areas of the triangles it
 * makes with the edges, seen along the normal, and refined once: in a needle they are off by its
 * aspect ratio times rounding, which shows as a part of the distance that lies in the plane. The
 * distance is taken to the point the weights give, which is in the triangle even when the normal is
 * mostly rounding; the distance along the normal could then be anything. */
static void consider_face(kiln_closest_point *best, const kiln_vec3 *q, int i, int j, int k)
{
    kiln_vec3 ej = kiln_v3_sub(q[j], q[i]), ek = kiln_v3_sub(q[k], q[i]);
    kiln_vec3 n = kiln_v3_cross(ej, ek);
    double n2 = kiln_v3_norm2(n);
    double wi = kiln_v3_triple(n, q[j], q[k]), wj = kiln_v3_triple(n, q[k], q[i]);
    double wk = kiln_v3_triple(n, q[i], q[j]), sum = wi + wj + wk;
    if (!(wi > 0.0 && wj > 0.0 && wk > 0.0) || !(n2 > 0.0))
        return;
    wj /= sum;
    wk /= sum;
    kiln_vec3 at = kiln_v3_madd(kiln_v3_madd(q[i], wj, ej), wk, ek);
    wj -= kiln_v3_triple(n, at, ek) / n2;
    wk -= kiln_v3_triple(n, ej, at) / n2;
    wi = 1.0 - wj - wk;
    if (!(wi > 0.0 && wj > 0.0 && wk > 0.0))
        return; /* on an edge, to rounding */
    at = kiln_v3_madd(kiln_v3_madd(kiln_v3_scale(q[i], wi), wj, q[j]), wk, q[k]);
    double d2 = kiln_v3_norm2(at);
    if (d2 < best->distance2) {
        *best = (kiln_closest_point){.distance2 = d2, .feature = 1u << i | 1u << j | 1u << k};
        best->weight[i] = wi;
        best->weight[j] = wj;
        best->weight[k] = wk;
        best->offset = kiln_v3_scale(at, -1.0);
    }
}

kiln_closest_point kiln_closest_on_edge(kiln_vec3 p, const kiln_vec3 edge[2])
{
    const kiln_vec3 q[2] = {kiln_v3_sub(edge[0], p), kiln_v3_sub(edge[1], p)};
    kiln_closest_point best = {.distance2 = INFINITY};
    consider_edge(&best, q, 0, 1);
    return best;
}

kiln_closest_point kiln_closest_on_triangle(kiln_vec3 p, const kiln_vec3 triangle[3])
{
    kiln_vec3 q[3];
    for (int i = 0; i < 3; i++)
        q[i] = kiln_v3_sub(triangle[i], p);
    kiln_closest_point best = {.distance2 = INFINITY};
    consider_edge(&best, q, 0, 1);
    consider_edge(&best, q, 1, 2);
    consider_edge(&best, q, 2, 0);
    consider_face(&best, q, 0, 1, 2);
    return best;
}

/* Squared distance from the origin to the edge from a along e. */
static double edge_distance2(kiln_vec3 a, kiln_vec3 e)
{
    double length2 = kiln_v3_norm2(e), t = length2 > 0.0 ? -kiln_v3_dot(a, e) / length2 : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return kiln_v3_norm2(kiln_v3_madd(a, t, e));
}

double kiln_triangle_distance2(kiln_vec3 p, const kiln_vec3 triangle[3])
{
    kiln_vec3 a = kiln_v3_sub(triangle[0], p), b = kiln_v3_sub(triangle[1], p),
              c = kiln_v3_sub(triangle[2], p);
    kiln_vec3 ab = kiln_v3_sub(b, a), bc = kiln_v3_sub(c, b), ca = kiln_v3_sub(a, c);
    kiln_vec3 n = kiln_v3_cross(ab, bc);
    double n2 = kiln_v3_norm2(n);
    if (!(n2 > KILN_DISTANCE_NEEDLE * kiln_v3_norm2(ab) * kiln_v3_norm2(bc)))
        return kiln_closest_on_triangle(p, triangle).distance2;
    /* On which side of the planes that stand on the edges the origin is. */
    double outside_ab = kiln_v3_triple(n, ab, a), outside_bc = kiln_v3_triple(n, bc, b);
    double outside_ca = kiln_v3_triple(n, ca, c);
    if (outside_ab <= 0.0 && outside_bc <= 0.0 && outside_ca <= 0.0) {
        double height = kiln_v3_dot(n, a);
        return height * height / n2;
    }
    double d_ab = edge_distance2(a, ab), d_bc = edge_distance2(b, bc), d_ca = edge_distance2(c, ca);
    double least = d_ab < d_bc ? d_ab : d_bc;
    return least < d_ca ? least : d_ca;
}

static double clamped(double t)
{
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

/* The place on a that the lines have nearest, then b's nearest to that, then a's to this: where
 * the second is an end of b, the third is right; where it is not, so was the first. */
double kiln_edges_distance2(const kiln_vec3 a[2], const kiln_vec3 b[2])
{
    kiln_vec3 u = kiln_v3_sub(a[1], a[0]), v = kiln_v3_sub(b[1], b[0]), w = kiln_v3_sub(a[0], b[0]);
    double uu = kiln_v3_norm2(u), vv = kiln_v3_norm2(v), uv = kiln_v3_dot(u, v);
    double uw = kiln_v3_dot(u, w), vw = kiln_v3_dot(v, w), area2 = uu * vv - uv * uv;
    if (!(area2 > KILN_DISTANCE_NEEDLE * uu * vv))
        return kiln_closest_edges(a, b).distance2;
    double s = clamped((uv * vw - vv * uw) / area2), t = clamped((uv * s + vw) / vv);
    s = clamped((uv * t - uw) / uu);
    return kiln_v3_norm2(kiln_v3_madd(kiln_v3_madd(w, s, u), -t, v));
}

static double largest(const kiln_vec3 *q, int n)
{
    double m = 0.0;
    for (int i = 0; i < n; i++) {
        double d2 = kiln_v3_norm2(q[i]);
        m = d2 > m ? d2 : m;
    }
    return m;
}

/* Squared, relative to the size: what the weights of an intersection may miss it by and still count
 * as distance zero. */
static const double ROUNDING2 = 0x1p-100;

/* Inside when the four tets of the point and a face have the orientation of the whole. Cramer's
 * weights of a nearly flat tet need not reproduce the point; one step of refinement mends that, and
 * where it cannot, the tet is flat to rounding and its faces answer. */
static bool inside_tet(const kiln_vec3 q[4], double weight[4])
{
    kiln_vec3 n[4] = {kiln_v3_cross(kiln_v3_sub(q[2], q[1]), kiln_v3_sub(q[3], q[1])),
                      kiln_v3_cross(kiln_v3_sub(q[3], q[0]), kiln_v3_sub(q[2], q[0])),
                      kiln_v3_cross(kiln_v3_sub(q[1], q[0]), kiln_v3_sub(q[3], q[0])),
                      kiln_v3_cross(kiln_v3_sub(q[2], q[0]), kiln_v3_sub(q[1], q[0]))};
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        weight[i] = kiln_v3_dot(n[i], q[i == 0 ? 1 : 0]);
        sum += weight[i];
    }
    kiln_vec3 rest = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        weight[i] /= sum;
        if (!(weight[i] > 0.0))
            return false;
        rest = kiln_v3_madd(rest, weight[i], q[i]);
    }
    double again = 0.0;
    for (int i = 0; i < 4; i++) {
        weight[i] += kiln_v3_dot(n[i], rest) / sum;
        if (!(weight[i] > 0.0))
            return false;
        again += weight[i];
    }
    rest = kiln_v3(0, 0, 0);
    for (int i = 0; i < 4; i++) {
        weight[i] /= again;
        rest = kiln_v3_madd(rest, weight[i], q[i]);
    }
    return kiln_v3_norm2(rest) <= ROUNDING2 * largest(q, 4);
}

kiln_closest_point kiln_closest_on_tet(kiln_vec3 p, const kiln_vec3 tet[4])
{
    kiln_vec3 q[4];
    for (int i = 0; i < 4; i++)
        q[i] = kiln_v3_sub(tet[i], p);
    kiln_closest_point best = {.distance2 = 0.0, .feature = 15};
    if (inside_tet(q, best.weight))
        return best;
    best = (kiln_closest_point){.distance2 = INFINITY};
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            consider_edge(&best, q, i, j);
    consider_face(&best, q, 1, 2, 3);
    consider_face(&best, q, 0, 2, 3);
    consider_face(&best, q, 0, 1, 3);
    consider_face(&best, q, 0, 1, 2);
    return best;
}

static void set_weights(double weight[3], const double from[4])
{
    for (int i = 0; i < 3; i++)
        weight[i] = from[i];
}

/* A vertex of one element against the other element's closest point. */
static void consider_vertex(kiln_closest_pair *best, const kiln_closest_point *c, int vertex,
                            bool vertex_of_a)
{
    if (!(c->distance2 < best->distance2))
        return;
    *best = (kiln_closest_pair){.distance2 = c->distance2};
    double *own = vertex_of_a ? best->weight_a : best->weight_b;
    own[vertex] = 1.0;
    set_weights(vertex_of_a ? best->weight_b : best->weight_a, c->weight);
    best->feature_a = vertex_of_a ? 1u << vertex : c->feature;
    best->feature_b = vertex_of_a ? c->feature : 1u << vertex;
    best->offset = vertex_of_a ? c->offset : kiln_v3_scale(c->offset, -1.0);
}

static double clamp01(double t)
{
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

/* Insides of two edges that are not parallel. The distance is that of the two lines, along the
 * common normal n = u x v; the parameters follow from (r x v) . n and (r x u) . n. */
static void consider_insides(kiln_closest_pair *best, const kiln_vec3 a[2], const kiln_vec3 b[2])
{
    kiln_vec3 u = kiln_v3_sub(a[1], a[0]), v = kiln_v3_sub(b[1], b[0]);
    kiln_vec3 n = kiln_v3_cross(u, v), r = kiln_v3_sub(a[0], b[0]);
    double n2 = kiln_v3_norm2(n), uu = kiln_v3_norm2(u), vv = kiln_v3_norm2(v);
    if (!(n2 >= PARALLEL * uu * vv) || !(n2 > 0.0))
        return;
    double s = clamp01(kiln_v3_triple(v, r, n) / n2);
    double t = clamp01(kiln_v3_triple(u, r, n) / n2);
    /* One round of alternating projection takes most of the rounding out of s and t when the
     * edges are nearly parallel. */
    t = clamp01(kiln_v3_dot(v, kiln_v3_madd(r, s, u)) / vv);
    s = clamp01(kiln_v3_dot(u, kiln_v3_sub(kiln_v3_scale(v, t), r)) / uu);
    if (s <= 0.0 || s >= 1.0 || t <= 0.0 || t >= 1.0)
        return; /* the vertex candidates have it */
    kiln_vec3 offset = kiln_v3_sub(kiln_v3_madd(r, s, u), kiln_v3_scale(v, t));
    double d2 = kiln_v3_norm2(offset);
    if (d2 < best->distance2)
        *best = (kiln_closest_pair){.distance2 = d2,
                                    .feature_a = 3,
                                    .feature_b = 3,
                                    .weight_a = {1.0 - s, s},
                                    .weight_b = {1.0 - t, t},
                                    .offset = offset};
}

kiln_closest_pair kiln_closest_edges(const kiln_vec3 a[2], const kiln_vec3 b[2])
{
    kiln_closest_pair best = {.distance2 = INFINITY};
    for (int i = 0; i < 2; i++) {
        kiln_closest_point c = kiln_closest_on_edge(a[i], b);
        consider_vertex(&best, &c, i, true);
        c = kiln_closest_on_edge(b[i], a);
        consider_vertex(&best, &c, i, false);
    }
    consider_insides(&best, a, b);
    return best;
}

/* Moves the weights and the feature of an edge (i, j) of a triangle to the triangle's own. */
static void edge_to_triangle(double weight[3], unsigned *feature, int i, int j)
{
    double first = weight[0], second = weight[1];
    unsigned mask = (*feature & 1 ? 1u << i : 0) | (*feature & 2 ? 1u << j : 0);
    weight[0] = weight[1] = weight[2] = 0.0;
    weight[i] = first;
    weight[j] = second;
    *feature = mask;
}

/* Where the edge 0, d crosses the plane of a triangle, between the triangle's edges as seen along
 * it. A point of the edge that is off the plane by r has gone too far by rate . r. */
static bool edge_through(const kiln_vec3 q[3], kiln_vec3 d, double *t, kiln_vec3 *rate)
{
    kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(q[1], q[0]), kiln_v3_sub(q[2], q[0]));
    double from = -kiln_v3_dot(n, q[0]), to = kiln_v3_dot(n, kiln_v3_sub(d, q[0]));
    if ((from > 0.0 && to > 0.0) || (from < 0.0 && to < 0.0) || from == to)
        return false; /* on one side, in the plane, or no plane at all */
    double w[3] = {kiln_v3_triple(d, q[1], q[2]), kiln_v3_triple(d, q[2], q[0]),
                   kiln_v3_triple(d, q[0], q[1])};
    *t = from / (from - to);
    *rate = kiln_v3_scale(n, 1.0 / (to - from));
    return (w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0) ||
           (w[0] <= 0.0 && w[1] <= 0.0 && w[2] <= 0.0);
}

/* Crossing and closest point of the triangle refine each other: the normal of a needle is good to
 * a few digits only, but the distance between the two points tells what is left. */
static kiln_closest_point refine_crossing(const kiln_vec3 q[3], kiln_vec3 d, double *t,
                                          kiln_vec3 rate)
{
    double size2 = largest(q, 3) + kiln_v3_norm2(d);
    kiln_closest_point best = {.distance2 = INFINITY};
    double at = *t;
    for (int step = 0; step < 4; step++) {
        kiln_closest_point c = kiln_closest_on_triangle(kiln_v3_scale(d, at), q);
        if (!(c.distance2 < best.distance2))
            break;
        best = c;
        *t = at;
        if (c.distance2 <= ROUNDING2 * size2) {
            best.distance2 = 0.0;
            best.offset = kiln_v3(0, 0, 0);
            break;
        }
        at = clamp01(at - kiln_v3_dot(rate, c.offset));
    }
    return best;
}

/* Edges of one triangle through the other. The weights come from the closest point to the crossing,
 * so that they are good however flat the angle; a crossing that misses by more than rounding (the
 * triangle has no plane to speak of) is a candidate like others. */
static void consider_piercing(kiln_closest_pair *best, const kiln_vec3 edges_of[3],
                              const kiln_vec3 triangle[3], bool edges_of_a)
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        kiln_vec3 d = kiln_v3_sub(edges_of[j], edges_of[i]), q[3];
        for (int k = 0; k < 3; k++)
            q[k] = kiln_v3_sub(triangle[k], edges_of[i]);
        double t;
        kiln_vec3 rate;
        if (!edge_through(q, d, &t, &rate))
            continue;
        kiln_closest_point c = refine_crossing(q, d, &t, rate);
        if (!(c.distance2 < best->distance2))
            continue;
        consider_vertex(best, &c, i, edges_of_a);
        double *own = edges_of_a ? best->weight_a : best->weight_b;
        own[i] = 1.0 - t;
        own[j] = t;
        unsigned feature = (t < 1.0 ? 1u << i : 0) | (t > 0.0 ? 1u << j : 0);
        *(edges_of_a ? &best->feature_a : &best->feature_b) = feature;
    }
}

kiln_closest_pair kiln_closest_triangles(const kiln_vec3 a[3], const kiln_vec3 b[3])
{
    kiln_closest_pair best = {.distance2 = INFINITY};
    consider_piercing(&best, a, b, true);
    consider_piercing(&best, b, a, false);
    if (best.distance2 == 0.0)
        return best;
    for (int i = 0; i < 3; i++) {
        kiln_closest_point c = kiln_closest_on_triangle(a[i], b);
        consider_vertex(&best, &c, i, true);
        c = kiln_closest_on_triangle(b[i], a);
        consider_vertex(&best, &c, i, false);
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            int j = (i + 1) % 3, l = (k + 1) % 3;
            const kiln_vec3 p[2] = {a[i], a[j]}, q[2] = {b[k], b[l]};
            kiln_closest_pair c = {.distance2 = best.distance2};
            consider_insides(&c, p, q);
            if (!(c.distance2 < best.distance2))
                continue;
            edge_to_triangle(c.weight_a, &c.feature_a, i, j);
            edge_to_triangle(c.weight_b, &c.feature_b, k, l);
            best = c;
        }
    return best;
}
