/* Let N_P, N_Q be the normals and u = N_P x N_Q the direction of the line L where the planes meet.
 * In a triangle that reaches L one vertex is "alone": strictly on one side of the other's plane
 * with the other two not on that side, or on the plane with the other two strictly on one side. Put
 * it first (keeping the orientation); the edges from it meet L at the ends of the triangle's
 * interval. With t_P = sign((p1 - p0) . N_Q), and t_Q likewise, i on p0 p1 and k on q0 q1 (Guigue
 * and Devillers 2003, with the signs of zero kept): det(p1-p0, q0-p0, q1-p0) = (k - i) det(p1-p0,
 * u, q1-q0), sign(k - i) t_P t_Q, and the intervals run along u from p0p1 to p0p2 when t_P > 0,
 * else back; from q0q2 to q0q1 when t_Q > 0, else back. So two determinants compare the ends. */
#include "geom/triangle_overlap.h"

#include "geom/predicates.h"
#include "geom/segment_crossing.h"

enum { NOT_SHARED = -1 };

/* The filter of kiln_orient3d with the part that depends on the triangle done once. */
typedef struct plane {
    kiln_vec3 a, b, c;
    kiln_vec3 normal, size;
} plane;

KILN_INLINE plane plane_of(const kiln_vec3 t[3])
{
    plane r = {t[0], t[1], t[2], {0, 0, 0}, {0, 0, 0}};
    kiln_vec3 u = kiln_v3_sub(r.b, r.a), v = kiln_v3_sub(r.c, r.a);
    double yz = u.y * v.z, zy = u.z * v.y;
    double zx = u.z * v.x, xz = u.x * v.z;
    double xy = u.x * v.y, yx = u.y * v.x;
    r.normal = kiln_v3(yz - zy, zx - xz, xy - yx);
    r.size = kiln_v3(fabs(yz) + fabs(zy), fabs(zx) + fabs(xz), fabs(xy) + fabs(yx));
    return r;
}

KILN_INLINE int side_of(const plane *r, kiln_vec3 d)
{
    kiln_vec3 w = kiln_v3_sub(d, r->a);
    double x = fabs(w.x), y = fabs(w.y), z = fabs(w.z);
    double det = w.x * r->normal.x + w.y * r->normal.y + w.z * r->normal.z;
    double permanent = x * r->size.x + y * r->size.y + z * r->size.z;
    if (KILN_LIKELY(fabs(det) > 0x1p-50 * permanent + 0x1p-900 * (x + y + z + 1.0)))
        return det > 0.0 ? 1 : -1;
    return kiln_sign(kiln_orient3d_exact(r->a, r->b, r->c, d));
}

/* Sides of t's vertices; the shared vertex is known to be in the plane. */
KILN_INLINE void sides_of(const plane *r, const kiln_vec3 t[3], int shared, int side[3])
{
    for (int i = 0; i < 3; i++)
        side[i] = i == shared ? 0 : side_of(r, t[i]);
}

KILN_INLINE bool strictly_one_side(const int side[3])
{
    return side[0] * side[1] > 0 && side[0] * side[2] > 0;
}

static bool all_zero(const int side[3])
{
    return side[0] == 0 && side[1] == 0 && side[2] == 0;
}

/* Index of the alone vertex; not all sides are zero, nor all of one sign. */
KILN_INLINE int alone(const int side[3])
{
    for (int i = 0; i < 3; i++) {
        int s = side[i], j = side[(i + 1) % 3], k = side[(i + 2) % 3];
        if (s != 0 ? s * j <= 0 && s * k <= 0 : j * k > 0)
            return i;
    }
    return 0;
}

KILN_INLINE bool straddles(const int side[3])
{
    int low = side[0] < side[1] ? side[0] : side[1], high = side[0] < side[1] ? side[1] : side[0];
    low = side[2] < low ? side[2] : low;
    high = side[2] > high ? side[2] : high;
    return low < 0 && high > 0;
}

/* A triangle turned so that its alone vertex is first. */
typedef struct turned {
    kiln_vec3 v[3];
    int shared, direction; /* position of the shared vertex; sign((v1 - v0) . other normal) */
} turned;

KILN_INLINE turned turn(const kiln_vec3 t[3], const int side[3], int shared)
{
    int i = alone(side), j = (i + 1) % 3, k = (i + 2) % 3;
    turned r = {{t[i], t[j], t[k]}, NOT_SHARED, side[i] != 0 ? -side[i] : side[j]};
    if (shared != NOT_SHARED)
        r.shared = (shared - i + 3) % 3;
    return r;
}

/* Sign of (end of q's edge 0-k) - (end of p's edge 0-i) along u. */
KILN_INLINE int compare_ends(const turned *p, int i, const turned *q, int k)
{
    bool both_shared = (p->shared == 0 || p->shared == i) && (q->shared == 0 || q->shared == k);
    if (both_shared)
        return 0;
    return p->direction * q->direction * kiln_orient3d_sign(p->v[0], p->v[i], q->v[0], q->v[k]);
}

static kiln_overlap overlap_in_line(const turned *p, const turned *q, bool insides, bool shared)
{
    int p_low = p->direction > 0 ? 1 : 2, q_low = q->direction > 0 ? 2 : 1;
    int p_high = 3 - p_low, q_high = 3 - q_low;
    int first = -compare_ends(p, p_high, q, q_low);
    if (first < 0)
        return KILN_OVERLAP_DISJOINT;
    int second = compare_ends(p, p_low, q, q_high);
    if (second < 0)
        return KILN_OVERLAP_DISJOINT;
    if (first == 0 || second == 0)
        /* One common point; with a shared vertex it is that one. */
        return shared ? KILN_OVERLAP_DISJOINT : KILN_OVERLAP_TOUCH;
    return insides ? KILN_OVERLAP_CROSS : KILN_OVERLAP_TOUCH;
}

/* Closed sets meet, when one of them is flat: its edges are all of it. */
static kiln_overlap overlap_flat(const kiln_vec3 flat[3], const kiln_vec3 q[3])
{
    for (int i = 0; i < 3; i++)
        if (kiln_segment_cross_triangle(flat[i], flat[(i + 1) % 3], q).kind != KILN_CROSSING_NONE)
            return KILN_OVERLAP_TOUCH;
    return KILN_OVERLAP_DISJOINT;
}

/* The greatest side, towards its inside, that q reaches of any edge line of p, least over the
 * edges: negative when an edge line separates strictly, zero when one separates. */
static int deepest(int axis, const kiln_vec3 p[3], int p_turn, const kiln_vec3 q[3])
{
    int least = 1;
    for (int i = 0; i < 3; i++) {
        int reach = -1;
        for (int k = 0; k < 3; k++) {
            int side = p_turn * kiln_orient2d_along(axis, p[i], p[(i + 1) % 3], q[k]);
            reach = side > reach ? side : reach;
        }
        least = reach < least ? reach : least;
    }
    return least;
}

/* No plane was told apart: one plane, or a flat triangle. In a plane two convex polygons are
 * disjoint exactly when the line of an edge separates them. */
static kiln_overlap overlap_in_plane(const kiln_vec3 p[3], int p_shared, const kiln_vec3 q[3],
                                     int q_shared)
{
    bool shared = p_shared != NOT_SHARED;
    int p_turn, q_turn, axis = kiln_triangle_axis(p, &p_turn);
    if (axis < 0)
        return shared ? KILN_OVERLAP_TOUCH : overlap_flat(p, q);
    q_turn = kiln_orient2d_along(axis, q[0], q[1], q[2]);
    if (q_turn == 0)
        return shared ? KILN_OVERLAP_TOUCH : overlap_flat(q, p);
    int into_p = deepest(axis, p, p_turn, q);
    if (into_p < 0)
        return KILN_OVERLAP_DISJOINT;
    int into_q = deepest(axis, q, q_turn, p);
    if (into_q < 0)
        return KILN_OVERLAP_DISJOINT;
    if (into_p > 0 && into_q > 0)
        return KILN_OVERLAP_COPLANAR;
    if (!shared)
        return KILN_OVERLAP_TOUCH;
    /* From the shared vertex the common part reaches the opposite edge of one of them, or ends. */
    const kiln_vec3 *a = &p[(p_shared + 1) % 3], *b = &p[(p_shared + 2) % 3];
    const kiln_vec3 *c = &q[(q_shared + 1) % 3], *d = &q[(q_shared + 2) % 3];
    bool meet = kiln_segment_cross_triangle(*a, *b, q).kind != KILN_CROSSING_NONE ||
                kiln_segment_cross_triangle(*c, *d, p).kind != KILN_CROSSING_NONE;
    return meet ? KILN_OVERLAP_TOUCH : KILN_OVERLAP_DISJOINT;
}

KILN_INLINE kiln_overlap overlap(const kiln_vec3 p[3], int p_shared, const kiln_vec3 q[3],
                                 int q_shared)
{
    int p_side[3], q_side[3];
    plane of_p = plane_of(p);
    sides_of(&of_p, q, q_shared, q_side);
    if (strictly_one_side(q_side))
        return KILN_OVERLAP_DISJOINT;
    plane of_q = plane_of(q);
    sides_of(&of_q, p, p_shared, p_side);
    if (strictly_one_side(p_side))
        return KILN_OVERLAP_DISJOINT;
    if (KILN_UNLIKELY(all_zero(p_side) || all_zero(q_side)))
        return overlap_in_plane(p, p_shared, q, q_shared);
    turned tp = turn(p, p_side, p_shared), tq = turn(q, q_side, q_shared);
    return overlap_in_line(&tp, &tq, straddles(p_side) && straddles(q_side),
                           p_shared != NOT_SHARED);
}

kiln_overlap kiln_triangle_overlap(const kiln_vec3 p[3], const kiln_vec3 q[3])
{
    return overlap(p, NOT_SHARED, q, NOT_SHARED);
}

/* Triangles u v a and u v b: in two planes they have only the edge in common, in one plane it
 * depends on the sides of a and b. */
static kiln_overlap overlap_at_edge(kiln_vec3 u, kiln_vec3 v, kiln_vec3 a, kiln_vec3 b)
{
    if (kiln_orient3d_sign(u, v, a, b) != 0)
        return KILN_OVERLAP_DISJOINT;
    const kiln_vec3 first[3] = {u, v, a};
    int a_side, axis = kiln_triangle_axis(first, &a_side);
    if (axis < 0)
        return KILN_OVERLAP_TOUCH;
    int b_side = kiln_orient2d_along(axis, u, v, b);
    return b_side == 0        ? KILN_OVERLAP_TOUCH
           : b_side == a_side ? KILN_OVERLAP_COPLANAR
                              : KILN_OVERLAP_DISJOINT;
}

kiln_overlap kiln_triangle_overlap_shared(const kiln_vec3 p[3], const uint32_t p_ids[3],
                                          const kiln_vec3 q[3], const uint32_t q_ids[3])
{
    int count = 0, p_shared[3] = {0}, q_shared[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (p_ids[i] == q_ids[k]) {
                p_shared[count] = i;
                q_shared[count++] = k;
                break;
            }
    int turn_ignored;
    switch (count) {
    case 0:
        return overlap(p, NOT_SHARED, q, NOT_SHARED);
    case 1:
        return overlap(p, p_shared[0], q, q_shared[0]);
    case 2:
        return overlap_at_edge(p[p_shared[0]], p[p_shared[1]], p[3 - p_shared[0] - p_shared[1]],
                               q[3 - q_shared[0] - q_shared[1]]);
    default:
        return kiln_triangle_axis(p, &turn_ignored) < 0 ? KILN_OVERLAP_TOUCH
                                                        : KILN_OVERLAP_COPLANAR;
    }
}
