/* Triangulation of a polygon by clipping ears. Turns are exact, so a simple polygon can always be
 * cut, and anything else ends in an error, never in a wrong triangulation. */
#include "mesh/shape_plane.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Adds `value` to the expansion (parts in rising size, exact sum; Shewchuk 1997, grow-expansion).
 */
static void grow(double *parts, int *count, double value)
{
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        double sum = value + parts[i], virtual = sum - value;
        double error = (value - (sum - virtual)) + (parts[i] - virtual);
        value = sum;
        if (error != 0.0)
            parts[kept++] = error;
    }
    parts[kept++] = value;
    *count = kept;
}

/* ax by - ay bx + bx cy - by cx + cx ay - cy ax without rounding. */
static int exact_turn(kiln_plane_point a, kiln_plane_point b, kiln_plane_point c)
{
    const double left[6] = {a.x, -a.y, b.x, -b.y, c.x, -c.y};
    const double right[6] = {b.y, b.x, c.y, c.x, a.y, a.x};
    double parts[13];
    int count = 0;
    for (int i = 0; i < 6; i++) {
        double product = left[i] * right[i];
        grow(parts, &count, fma(left[i], right[i], -product));
        grow(parts, &count, product);
    }
    double largest = parts[count - 1];
    return (largest > 0.0) - (largest < 0.0);
}

int kiln_plane_turn(kiln_plane_point a, kiln_plane_point b, kiln_plane_point c)
{
    double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x);
    double det = left - right, bound = 4 * DBL_EPSILON * (fabs(left) + fabs(right));
    if (fabs(det) > bound)
        return det > 0.0 ? 1 : -1;
    return exact_turn(a, b, c);
}

typedef struct ring_node {
    uint32_t point, before, after;
    uint32_t side;  /* polygon edge from this node to the next; UINT32_MAX on a bridge */
    double score;   /* quality of the ear at this node; < 0: none */
    uint32_t alive; /* still in the ring */
} ring_node;

typedef struct clipper {
    kiln_plane *plane;
    KILN_ARRAY_OF(ring_node)
    nodes;
    kiln_u32_array starts; /* [loop] a node of it */
} clipper;

static kiln_plane_point at(const clipper *c, uint32_t node)
{
    return c->plane->points.data[c->nodes.data[node].point];
}

static double loop_area(const kiln_plane_point *p, uint32_t count)
{
    double area = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        kiln_plane_point a = p[i], b = p[(i + 1) % count];
        area += (a.x - p[0].x) * (b.y - p[0].y) - (a.y - p[0].y) * (b.x - p[0].x);
    }
    return 0.5 * area;
}

/* Ring of one loop; `forward` keeps the given direction. */
static kiln_status add_loop(clipper *c, const kiln_plane_point *p, uint32_t first, uint32_t count,
                            int forward, kiln_error *error)
{
    uint32_t base = (uint32_t)c->nodes.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = forward ? i : count - 1 - i;
        /* Reversed, the edge that leaves corner i is the one that entered it. */
        uint32_t side = forward ? from : (from + count - 1) % count;
        ring_node node = {(uint32_t)c->plane->points.count,
                          base + (i + count - 1) % count,
                          base + (i + 1) % count,
                          first + side,
                          -1.0,
                          1};
        KILN_TRY(kiln_array_push(c->plane->context, &c->plane->points, p[from], error));
        KILN_TRY(kiln_array_push(c->plane->context, &c->nodes, node, error));
    }
    return kiln_array_push(c->plane->context, &c->starts, base, error);
}

static int between(double a, double b, double x)
{
    return (a <= x && x <= b) || (b <= x && x <= a);
}

static int on_segment(kiln_plane_point a, kiln_plane_point b, kiln_plane_point p)
{
    return kiln_plane_turn(a, b, p) == 0 && between(a.x, b.x, p.x) && between(a.y, b.y, p.y);
}

/* Whether two segments have a point in common. */
static int segments_meet(kiln_plane_point a, kiln_plane_point b, kiln_plane_point c,
                         kiln_plane_point d)
{
    if (on_segment(a, b, c) || on_segment(a, b, d) || on_segment(c, d, a) || on_segment(c, d, b))
        return 1;
    return kiln_plane_turn(a, b, c) * kiln_plane_turn(a, b, d) < 0 &&
           kiln_plane_turn(c, d, a) * kiln_plane_turn(c, d, b) < 0;
}

static kiln_status check_simple(const clipper *c, kiln_error *error)
{
    uint32_t count = (uint32_t)c->nodes.count;
    for (uint32_t i = 0; i < count; i++) {
        const ring_node *n = &c->nodes.data[i];
        if (kiln_plane_turn(at(c, n->before), at(c, i), at(c, n->after)) == 0)
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "corner (%g, %g) lies on a straight line with its neighbours: leave "
                             "it out",
                             at(c, i).x, at(c, i).y);
        for (uint32_t j = i + 1; j < count; j++) {
            if (j == n->after || j == n->before || n->after == c->nodes.data[j].after)
                continue;
            if (segments_meet(at(c, i), at(c, n->after), at(c, j), at(c, c->nodes.data[j].after)))
                return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                                 "the edge from (%g, %g) meets the edge from (%g, %g)", at(c, i).x,
                                 at(c, i).y, at(c, j).x, at(c, j).y);
        }
    }
    return KILN_OK;
}

static int inside_loop(const kiln_plane_point *p, uint32_t count, kiln_plane_point q)
{
    int inside = 0;
    for (uint32_t i = 0, j = count - 1; i < count; j = i++)
        if ((p[i].y > q.y) != (p[j].y > q.y) &&
            q.x < (p[j].x - p[i].x) * (q.y - p[i].y) / (p[j].y - p[i].y) + p[i].x)
            inside = !inside;
    return inside;
}

static kiln_status add_loops(clipper *c, const kiln_plane_loops *loops, kiln_error *error)
{
    uint32_t begin = 0;
    for (uint32_t loop = 0; loop < loops->loop_count; loop++) {
        uint32_t count = loops->ends[loop] - begin;
        const kiln_plane_point *p = loops->corners + begin;
        if (count < 3)
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "loop %u has %u corners, it needs 3", loop + 1, count);
        double area = loop_area(p, count);
        if (loop > 0 && !inside_loop(loops->corners, loops->ends[0], p[0]))
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "hole %u is not inside the outer loop", loop);
        KILN_TRY(add_loop(c, p, begin, count, (area > 0.0) == (loop == 0), error));
        begin = loops->ends[loop];
    }
    if (begin > KILN_PLANE_MAX_CORNERS)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "%u corners, at most %d are taken",
                         begin, KILN_PLANE_MAX_CORNERS);
    return check_simple(c, error);
}

/* Whether the ring's inside, seen from the node, has the direction to t. */
static int opens_towards(const clipper *c, uint32_t node, kiln_plane_point t)
{
    kiln_plane_point a = at(c, c->nodes.data[node].before), v = at(c, node);
    kiln_plane_point b = at(c, c->nodes.data[node].after);
    int first = kiln_plane_turn(a, v, t) > 0, second = kiln_plane_turn(v, b, t) > 0;
    return kiln_plane_turn(a, v, b) > 0 ? first && second : first || second;
}

/* Whether the segment between two nodes meets any edge of the rings other than at its own ends. */
static int bridge_blocked(const clipper *c, uint32_t from, uint32_t to)
{
    uint32_t p = c->nodes.data[from].point, q = c->nodes.data[to].point;
    for (uint32_t i = 0; i < c->nodes.count; i++) {
        uint32_t j = c->nodes.data[i].after;
        uint32_t a = c->nodes.data[i].point, b = c->nodes.data[j].point;
        int shared = a == p || a == q || b == p || b == q;
        if (!shared && segments_meet(at(c, from), at(c, to), at(c, i), at(c, j)))
            return 1;
        if (shared && a != p && a != q && on_segment(at(c, from), at(c, to), at(c, i)))
            return 1;
        if (shared && b != p && b != q && on_segment(at(c, from), at(c, to), at(c, j)))
            return 1;
    }
    return 0;
}

/* Joins the hole's ring to the first one by two copies of a segment between u and w. */
static kiln_status add_bridge(clipper *c, uint32_t u, uint32_t w, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(c->plane->context, &c->nodes, c->nodes.count + 2, error));
    ring_node *n = c->nodes.data;
    uint32_t u2 = (uint32_t)c->nodes.count, w2 = u2 + 1;
    n[u2] = n[u];
    n[w2] = n[w];
    n[n[u].after].before = u2;
    n[n[w].before].after = w2;
    n[u2].before = w2;
    n[w2].after = u2;
    n[w2].side = UINT32_MAX;
    n[u].after = w;
    n[u].side = UINT32_MAX;
    n[w].before = u;
    c->nodes.count += 2;
    return KILN_OK;
}

/* The shortest segment that is not blocked, between the ring of node 0 and any hole still apart. */
static kiln_status join_holes(clipper *c, kiln_error *error)
{
    for (size_t left = c->starts.count - 1; left > 0; left--) {
        double best = INFINITY;
        uint32_t best_u = 0, best_w = 0, best_loop = 0;
        for (uint32_t loop = 1; loop < c->starts.count; loop++) {
            uint32_t w = c->starts.data[loop];
            if (w == UINT32_MAX)
                continue;
            do {
                uint32_t u = 0;
                do {
                    double d = hypot(at(c, u).x - at(c, w).x, at(c, u).y - at(c, w).y);
                    if (d < best && opens_towards(c, u, at(c, w)) &&
                        opens_towards(c, w, at(c, u)) && !bridge_blocked(c, u, w)) {
                        best = d;
                        best_u = u;
                        best_w = w;
                        best_loop = loop;
                    }
                    u = c->nodes.data[u].after;
                } while (u != 0);
                w = c->nodes.data[w].after;
            } while (w != c->starts.data[loop]);
        }
        if (best == INFINITY)
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "a hole cannot be reached from the outer loop");
        KILN_TRY(add_bridge(c, best_u, best_w, error));
        c->starts.data[best_loop] = UINT32_MAX;
    }
    return KILN_OK;
}

double kiln_plane_quality(kiln_plane_point a, kiln_plane_point b, kiln_plane_point c)
{
    double ux = b.x - a.x, uy = b.y - a.y, vx = c.x - a.x, vy = c.y - a.y;
    double wx = c.x - b.x, wy = c.y - b.y;
    double squares = ux * ux + uy * uy + vx * vx + vy * vy + wx * wx + wy * wy;
    return 2 * sqrt(3.0) * (ux * vy - uy * vx) / squares;
}

static double ear_score(const clipper *c, uint32_t node)
{
    const ring_node *n = &c->nodes.data[node];
    kiln_plane_point p = at(c, n->before), q = at(c, node), r = at(c, n->after);
    if (kiln_plane_turn(p, q, r) <= 0)
        return -1.0;
    uint32_t ids[3] = {c->nodes.data[n->before].point, n->point, c->nodes.data[n->after].point};
    for (uint32_t i = c->nodes.data[n->after].after; i != n->before; i = c->nodes.data[i].after) {
        uint32_t id = c->nodes.data[i].point;
        kiln_plane_point t = at(c, i);
        if (id == ids[0] || id == ids[1] || id == ids[2])
            continue;
        if (kiln_plane_turn(p, q, t) >= 0 && kiln_plane_turn(q, r, t) >= 0 &&
            kiln_plane_turn(r, p, t) >= 0)
            return -1.0;
    }
    return kiln_plane_quality(p, q, r);
}

static kiln_status cut_ear(clipper *c, uint32_t node, kiln_error *error)
{
    ring_node *n = c->nodes.data;
    uint32_t before = n[node].before, after = n[node].after;
    kiln_plane_triangle t = {.v = {n[before].point, n[node].point, n[after].point},
                             .next = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                             .side = {n[node].side, UINT32_MAX, n[before].side}};
    if (n[after].after == before)
        t.side[1] = n[after].side; /* the last triangle */
    n[before].after = after;
    n[before].side = UINT32_MAX;
    n[after].before = before;
    n[node].alive = 0;
    return kiln_array_push(c->plane->context, &c->plane->triangles, t, error);
}

static kiln_status cut_ears(clipper *c, kiln_error *error)
{
    uint32_t left = (uint32_t)c->nodes.count;
    for (uint32_t i = 0; i < c->nodes.count; i++)
        c->nodes.data[i].score = ear_score(c, i);
    while (left >= 3) {
        uint32_t best = UINT32_MAX;
        for (int round = 0; round < 2 && best == UINT32_MAX; round++) {
            /* A node that was blocked may be free by now: ask again before giving up. */
            for (uint32_t i = 0; i < c->nodes.count; i++) {
                ring_node *n = &c->nodes.data[i];
                if (n->alive && round)
                    n->score = ear_score(c, i);
                if (n->alive && n->score > 0.0 &&
                    (best == UINT32_MAX || n->score > c->nodes.data[best].score))
                    best = i;
            }
        }
        if (best == UINT32_MAX)
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "the polygon cannot be cut into triangles: does it touch itself?");
        uint32_t before = c->nodes.data[best].before, after = c->nodes.data[best].after;
        KILN_TRY(cut_ear(c, best, error));
        left--;
        if (left < 3)
            break;
        c->nodes.data[before].score = ear_score(c, before);
        c->nodes.data[after].score = ear_score(c, after);
    }
    return KILN_OK;
}

/* Neighbours by comparing edges; the corner limit keeps the square of it small. */
static void link_triangles(kiln_plane *plane)
{
    kiln_plane_triangle *t = plane->triangles.data;
    for (uint32_t i = 0; i < plane->triangles.count; i++)
        for (uint32_t j = i + 1; j < plane->triangles.count; j++)
            for (uint32_t e = 0; e < 3; e++)
                for (uint32_t f = 0; f < 3; f++)
                    if (t[i].v[(e + 1) % 3] == t[j].v[(f + 2) % 3] &&
                        t[i].v[(e + 2) % 3] == t[j].v[(f + 1) % 3]) {
                        t[i].next[e] = j * 4 + f;
                        t[j].next[f] = i * 4 + e;
                    }
}

kiln_status kiln_plane_clip(kiln_plane *plane, const kiln_plane_loops *loops, kiln_error *error)
{
    clipper c = {.plane = plane};
    kiln_status status = add_loops(&c, loops, error);
    if (status == KILN_OK)
        status = join_holes(&c, error);
    if (status == KILN_OK)
        status = cut_ears(&c, error);
    if (status == KILN_OK)
        link_triangles(plane);
    kiln_array_free(plane->context, &c.nodes);
    kiln_array_free(plane->context, &c.starts);
    return status;
}

void kiln_plane_free(kiln_plane *plane)
{
    kiln_array_free(plane->context, &plane->points);
    kiln_array_free(plane->context, &plane->triangles);
}
