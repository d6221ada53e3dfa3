/* A body is a set of edges with a face on either side. Invariant C1: in every face, each vertex is
 * left as often as it is entered, so a face is a union of closed cycles. Clipping by a plane keeps
 * C1 whatever signs rounding gives the vertices: an edge that crosses makes one new vertex, which
 * ends a run in one of its faces (exit) and starts one in the other (entry); joining the exits and
 * entries of each face in any order, and the reverse edges in the new face, closes all cycles. The
 * volume is an integral over these cycles, so a wrong sign costs only the rounding that made it
 * wrong. Clipping face polygons of the two tets against each other instead counts coplanar faces
 * twice or never. */
#include "geom/tet_clip.h"

#include "base/assert.h"

#include <stddef.h>

typedef struct plane {
    double nx, ny, nz, offset; /* inside: n . x >= offset */
} plane;

/* Corners of the face opposite vertex i, such that (q - p) x (r - p) points inward. */
static const uint8_t FACE[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};

/* from, to, left, right of the six edges of a positive tet. */
static const kiln_convex_edge TET_EDGE[6] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                             {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};

static double min4(const double v[4])
{
    double a = v[0] < v[1] ? v[0] : v[1], b = v[2] < v[3] ? v[2] : v[3];
    return a < b ? a : b;
}

static double max4(const double v[4])
{
    double a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
    return a > b ? a : b;
}

static void swap(double *a, double *b)
{
    double c = *a;
    *a = *b;
    *b = c;
}

KILN_INLINE void load_tet(kiln_clip_tet *t, const kiln_vec3 p[4], kiln_vec3 base)
{
    t->base = base;
    for (int i = 0; i < 4; i++) {
        t->x[i] = p[i].x - base.x;
        t->y[i] = p[i].y - base.y;
        t->z[i] = p[i].z - base.z;
    }
}

/* Makes the tet positive. The determinant's rounding error is below 8 ulp of the product of the
 * box's sides times 6; a determinant under it says nothing, and the tet counts as flat. */
KILN_INLINE void orient_tet(kiln_clip_tet *t)
{
    kiln_vec3 b = {t->x[1] - t->x[0], t->y[1] - t->y[0], t->z[1] - t->z[0]};
    kiln_vec3 c = {t->x[2] - t->x[0], t->y[2] - t->y[0], t->z[2] - t->z[0]};
    kiln_vec3 d = {t->x[3] - t->x[0], t->y[3] - t->y[0], t->z[3] - t->z[0]};
    t->det = kiln_v3_triple(b, c, d);
    if (t->det < 0.0) {
        swap(&t->x[2], &t->x[3]);
        swap(&t->y[2], &t->y[3]);
        swap(&t->z[2], &t->z[3]);
        t->det = -t->det;
    }
    double box = (max4(t->x) - min4(t->x)) * (max4(t->y) - min4(t->y)) * (max4(t->z) - min4(t->z));
    if (!(t->det > 0x1p-47 * box))
        t->det = 0.0;
}

KILN_INLINE plane face_plane(const kiln_clip_tet *t, int face)
{
    int p = FACE[face][0], q = FACE[face][1], r = FACE[face][2];
    double ux = t->x[q] - t->x[p], uy = t->y[q] - t->y[p], uz = t->z[q] - t->z[p];
    double vx = t->x[r] - t->x[p], vy = t->y[r] - t->y[p], vz = t->z[r] - t->z[p];
    plane k = {uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx, 0.0};
    k.offset = k.nx * t->x[p] + k.ny * t->y[p] + k.nz * t->z[p];
    return k;
}

KILN_INLINE void start_body(kiln_convex *body, const kiln_clip_tet *t)
{
    body->base = t->base;
    body->vertices = 4;
    body->edges = t->det > 0.0 ? 6 : 0;
    body->faces = 4;
    for (int i = 0; i < 4; i++) {
        body->x[i] = t->x[i];
        body->y[i] = t->y[i];
        body->z[i] = t->z[i];
    }
    for (int e = 0; e < 6; e++)
        body->edge[e] = TET_EDGE[e];
}

/* The point where an edge crosses: from the kept end, so both uses of an edge agree. */
KILN_INLINE int add_crossing(kiln_convex *body, const double *d, int in, int out)
{
    int w = body->vertices++;
    double t = d[in] / (d[in] - d[out]);
    body->x[w] = body->x[in] + t * (body->x[out] - body->x[in]);
    body->y[w] = body->y[in] + t * (body->y[out] - body->y[in]);
    body->z[w] = body->z[in] + t * (body->z[out] - body->z[in]);
    return w;
}

/* Pending ends of the cut cycles: per face a chain of exits and a chain of entries. */
typedef struct cut_ends {
    uint8_t exit[KILN_CONVEX_FACES], entry[KILN_CONVEX_FACES];
    uint8_t next_exit[KILN_CONVEX_VERTICES], next_entry[KILN_CONVEX_VERTICES];
} cut_ends;
enum { NO_VERTEX = 0xFF };

KILN_INLINE void join_ends(kiln_convex *body, cut_ends *ends)
{
    int cap = body->faces;
    for (int face = 0; face < cap; face++)
        while (ends->exit[face] != NO_VERTEX) {
            uint8_t from = ends->exit[face], to = ends->entry[face];
            KILN_ASSERT_OP(to, !=, NO_VERTEX);
            body->edge[body->edges++] = (kiln_convex_edge){from, to, (uint8_t)face, (uint8_t)cap};
            ends->exit[face] = ends->next_exit[from];
            ends->entry[face] = ends->next_entry[to];
        }
    body->faces++;
}

/* Needs room for one more vertex per edge (checked by the callers). */
static void cut_body(kiln_convex *body, plane k)
{
    double d[KILN_CONVEX_VERTICES];
    for (int i = 0; i < body->vertices; i++)
        d[i] = k.nx * body->x[i] + k.ny * body->y[i] + k.nz * body->z[i] - k.offset;

    cut_ends ends;
    for (int face = 0; face < body->faces; face++)
        ends.exit[face] = ends.entry[face] = NO_VERTEX;
    int kept = 0, count = body->edges, before = body->vertices;
    for (int e = 0; e < count; e++) {
        kiln_convex_edge edge = body->edge[e];
        bool from_in = d[edge.from] >= 0.0, to_in = d[edge.to] >= 0.0;
        if (from_in != to_in) {
            int in = from_in ? edge.from : edge.to, out = from_in ? edge.to : edge.from;
            uint8_t w = (uint8_t)add_crossing(body, d, in, out);
            uint8_t leaves = from_in ? edge.left : edge.right;
            uint8_t enters = from_in ? edge.right : edge.left;
            edge.from = from_in ? edge.from : w;
            edge.to = from_in ? w : edge.to;
            ends.next_exit[w] = ends.exit[leaves];
            ends.exit[leaves] = w;
            ends.next_entry[w] = ends.entry[enters];
            ends.entry[enters] = w;
        }
        body->edge[kept] = edge;
        kept += from_in | to_in;
    }
    body->edges = kept;
    if (body->vertices > before)
        join_ends(body, &ends);
}

/* Moments of the tet (0, a, b, c) whose six-fold volume is `det`: x x^T integrates to
 * V/20 (s s^T + a a^T + b b^T + c c^T), s = a + b + c. */
KILN_INLINE void add_cone(kiln_moments *m, double det, kiln_vec3 a, kiln_vec3 b, kiln_vec3 c,
                          bool second)
{
    kiln_vec3 s = kiln_v3_add(kiln_v3_add(a, b), c);
    m->first = kiln_v3_madd(m->first, det, s);
    if (!second)
        return;
    m->second[0] += det * (s.x * s.x + a.x * a.x + b.x * b.x + c.x * c.x);
    m->second[1] += det * (s.y * s.y + a.y * a.y + b.y * b.y + c.y * c.y);
    m->second[2] += det * (s.z * s.z + a.z * a.z + b.z * b.z + c.z * c.z);
    m->second[3] += det * (s.y * s.z + a.y * a.z + b.y * b.z + c.y * c.z);
    m->second[4] += det * (s.x * s.z + a.x * a.z + b.x * b.z + c.x * c.z);
    m->second[5] += det * (s.x * s.y + a.x * a.y + b.x * b.y + c.x * c.y);
}

/* Sums of add_cone to integrals, and from the cones' apex to the caller's origin. */
static void finish_moments(kiln_moments *m, double det, kiln_vec3 shift, kiln_moment_degree degree)
{
    m->volume = det * (1.0 / 6.0);
    if (degree < KILN_MOMENT_FIRST)
        return;
    kiln_vec3 f = kiln_v3_scale(m->first, 1.0 / 24.0), s = shift;
    double v = m->volume;
    m->first = kiln_v3_madd(f, v, s);
    if (degree < KILN_MOMENT_SECOND)
        return;
    const double moved[6] = {
        2 * f.x * s.x + v * s.x * s.x,         2 * f.y * s.y + v * s.y * s.y,
        2 * f.z * s.z + v * s.z * s.z,         f.y * s.z + f.z * s.y + v * s.y * s.z,
        f.x * s.z + f.z * s.x + v * s.x * s.z, f.x * s.y + f.y * s.x + v * s.x * s.y};
    for (int i = 0; i < 6; i++)
        m->second[i] = m->second[i] * (1.0 / 120.0) + moved[i];
}

KILN_INLINE kiln_vec3 body_vertex(const kiln_convex *body, int v, kiln_vec3 apex)
{
    return kiln_v3(body->x[v] - apex.x, body->y[v] - apex.y, body->z[v] - apex.z);
}

/* Some vertex of each face. */
KILN_INLINE void find_fans(const kiln_convex *body, uint8_t *fan)
{
    for (int e = body->edges - 1; e >= 0; e--) {
        fan[body->edge[e].left] = body->edge[e].from;
        fan[body->edge[e].right] = body->edge[e].from;
    }
}

/* Each face is a fan of triangles from one of its vertices, each triangle a cone from a vertex of
 * the body; the two fans at an edge together give (r_left - r_right) . (from x to). */
KILN_INLINE double sum_cones(const kiln_convex *body, kiln_vec3 apex, kiln_moment_degree degree,
                             kiln_moments *m)
{
    uint8_t fan[KILN_CONVEX_FACES];
    find_fans(body, fan);
    double det = 0.0;
    for (int e = 0; e < body->edges; e++) {
        kiln_convex_edge edge = body->edge[e];
        int l = fan[edge.left], r = fan[edge.right];
        kiln_vec3 u = body_vertex(body, edge.from, apex), v = body_vertex(body, edge.to, apex);
        kiln_vec3 n = kiln_v3_cross(u, v);
        kiln_vec3 w = {body->x[l] - body->x[r], body->y[l] - body->y[r], body->z[l] - body->z[r]};
        det += kiln_v3_dot(w, n);
        if (degree < KILN_MOMENT_FIRST)
            continue;
        kiln_vec3 a = body_vertex(body, l, apex), b = body_vertex(body, r, apex);
        add_cone(m, kiln_v3_dot(a, n), a, u, v, degree >= KILN_MOMENT_SECOND);
        add_cone(m, -kiln_v3_dot(b, n), b, u, v, degree >= KILN_MOMENT_SECOND);
    }
    return det;
}

static void body_moments(const kiln_convex *body, kiln_vec3 origin, kiln_moment_degree degree,
                         kiln_moments *m)
{
    *m = (kiln_moments){0};
    if (body->edges == 0)
        return;
    int v0 = body->edge[0].from;
    kiln_vec3 apex = {body->x[v0], body->y[v0], body->z[v0]};
    double det = degree == KILN_MOMENT_VOLUME  ? sum_cones(body, apex, KILN_MOMENT_VOLUME, m)
                 : degree == KILN_MOMENT_FIRST ? sum_cones(body, apex, KILN_MOMENT_FIRST, m)
                                               : sum_cones(body, apex, KILN_MOMENT_SECOND, m);
    kiln_vec3 shift = kiln_v3_add(apex, kiln_v3_sub(body->base, origin));
    finish_moments(m, det > 0.0 ? det : 0.0, shift, degree);
}

static void moments_of(const kiln_clip_tet *t, kiln_vec3 origin, kiln_moment_degree degree,
                       kiln_moments *m)
{
    *m = (kiln_moments){0};
    kiln_vec3 p[4];
    for (int i = 0; i < 4; i++)
        p[i] = kiln_v3(t->x[i] - t->x[0], t->y[i] - t->y[0], t->z[i] - t->z[0]);
    if (degree >= KILN_MOMENT_FIRST)
        add_cone(m, t->det, p[1], p[2], p[3], degree >= KILN_MOMENT_SECOND);
    kiln_vec3 first = kiln_v3(t->x[0], t->y[0], t->z[0]);
    finish_moments(m, t->det, kiln_v3_add(first, kiln_v3_sub(t->base, origin)), degree);
}

void kiln_convex_from_tet(kiln_convex *body, const kiln_vec3 tet[4])
{
    kiln_clip_tet t;
    load_tet(&t, tet, tet[0]);
    orient_tet(&t);
    start_body(body, &t);
}

bool kiln_convex_clip(kiln_convex *body, kiln_vec3 point, kiln_vec3 normal)
{
    if (body->vertices + body->edges > KILN_CONVEX_VERTICES ||
        2 * body->edges > KILN_CONVEX_EDGES || body->faces == KILN_CONVEX_FACES)
        return false;
    plane k = {normal.x, normal.y, normal.z, kiln_v3_dot(normal, kiln_v3_sub(point, body->base))};
    cut_body(body, k);
    return true;
}

kiln_moments kiln_convex_moments(const kiln_convex *body, kiln_vec3 origin,
                                 kiln_moment_degree degree)
{
    kiln_moments m;
    body_moments(body, origin, degree, &m);
    return m;
}

/* The vertex that follows `from` in the cycle of the face, -1 when there is none. */
static int next_corner(const kiln_convex *body, int face, int from)
{
    for (int e = 0; e < body->edges; e++) {
        kiln_convex_edge edge = body->edge[e];
        if (edge.left == face && (from < 0 || edge.from == from))
            return edge.to;
        if (edge.right == face && (from < 0 || edge.to == from))
            return edge.from;
    }
    return -1;
}

int kiln_convex_face(const kiln_convex *body, int face, kiln_vec3 *corners, int capacity)
{
    int first = next_corner(body, face, -1), count = 0;
    if (first < 0)
        return 0;
    int v = first;
    do {
        if (count < capacity)
            corners[count] = kiln_v3(body->x[v] + body->base.x, body->y[v] + body->base.y,
                                     body->z[v] + body->base.z);
        count++;
        v = next_corner(body, face, v);
    } while (v != first && v >= 0 && count < KILN_CONVEX_VERTICES);
    return count;
}

kiln_moments kiln_tet_moments(const kiln_vec3 tet[4], kiln_vec3 origin, kiln_moment_degree degree)
{
    kiln_clip_tet t;
    load_tet(&t, tet, tet[0]);
    orient_tet(&t);
    kiln_moments m;
    moments_of(&t, origin, degree, &m);
    return m;
}

/* Sides of the four planes of `a` on which the vertices of `b` lie. Planes that cut are listed. */
typedef struct sides {
    bool apart; /* some plane has all of b outside */
    int cuts;
    plane cut[4];
} sides;

/* A plane of `a` as seen from the base of another tet. */
KILN_INLINE plane shifted_plane(const kiln_clip_tet *a, int face, kiln_vec3 shift)
{
    plane k = {a->nx[face], a->ny[face], a->nz[face], a->offset[face]};
    k.offset -= k.nx * shift.x + k.ny * shift.y + k.nz * shift.z;
    return k;
}

/* `ready`: the planes of `a` are known; else they are found, and both have one base. */
KILN_INLINE void compare_sides(const kiln_clip_tet *a, const kiln_clip_tet *b, bool ready, sides *s)
{
    kiln_vec3 shift = kiln_v3_sub(b->base, a->base);
    s->cuts = 0;
    s->apart = false;
    for (int face = 0; face < 4; face++) {
        plane k = ready ? shifted_plane(a, face, shift) : face_plane(a, face);
        double d[4];
        for (int i = 0; i < 4; i++)
            d[i] = k.nx * b->x[i] + k.ny * b->y[i] + k.nz * b->z[i] - k.offset;
        if (max4(d) <= 0.0) {
            s->apart = true;
            return;
        }
        s->cut[s->cuts] = k;
        s->cuts += min4(d) < 0.0;
    }
}

static void scale_moments(kiln_moments *m, double s)
{
    m->volume *= s;
    m->first = kiln_v3_scale(m->first, s);
    for (int i = 0; i < 6; i++)
        m->second[i] *= s;
}

/* Rounding must not give out more than either tet has: a transfer would create mass. */
static void limit_moments(kiln_moments *m, double det)
{
    double limit = det * (1.0 / 6.0);
    if (m->volume > limit) {
        double s = limit / m->volume;
        scale_moments(m, s);
        m->volume = limit;
    }
}

KILN_INLINE bool boxes_apart(const kiln_vec3 *a, const kiln_vec3 *b)
{
#define KILN_APART(c)                                                                              \
    {                                                                                              \
        double p[4] = {a[0].c, a[1].c, a[2].c, a[3].c}, q[4] = {b[0].c, b[1].c, b[2].c, b[3].c};   \
        if (max4(p) <= min4(q) || max4(q) <= min4(p))                                              \
            return true;                                                                           \
    }
    KILN_APART(x)
    KILN_APART(y)
    KILN_APART(z)
#undef KILN_APART
    return false;
}

KILN_INLINE void overlap(const kiln_clip_tet *a, const kiln_clip_tet *b, bool ready,
                         kiln_vec3 origin, kiln_moment_degree degree, kiln_moments *m)
{
    sides of_b, of_a;
    if (a->det == 0.0 || b->det == 0.0)
        return;
    compare_sides(b, a, ready, &of_b);
    if (of_b.apart)
        return;
    compare_sides(a, b, ready, &of_a);
    if (of_a.apart)
        return;
    if (of_b.cuts == 0) {
        moments_of(a, origin, degree, m);
    } else if (of_a.cuts == 0) {
        moments_of(b, origin, degree, m);
    } else {
        kiln_convex body;
        bool swapped = of_a.cuts < of_b.cuts;
        const sides *s = swapped ? &of_a : &of_b;
        start_body(&body, swapped ? b : a);
        for (int i = 0; i < s->cuts; i++)
            cut_body(&body, s->cut[i]);
        body_moments(&body, origin, degree, m);
    }
    limit_moments(m, a->det < b->det ? a->det : b->det);
}

void kiln_clip_tet_init(kiln_clip_tet *t, const kiln_vec3 tet[4])
{
    load_tet(t, tet, tet[0]);
    orient_tet(t);
    for (int face = 0; face < 4; face++) {
        plane k = face_plane(t, face);
        t->nx[face] = k.nx, t->ny[face] = k.ny, t->nz[face] = k.nz, t->offset[face] = k.offset;
    }
}

bool kiln_clip_apart(kiln_isa isa, const kiln_clip_tet *a, const kiln_clip_tet *b)
{
    static bool (*const apart[KILN_ISA_COUNT])(const kiln_clip_tet *, const kiln_clip_tet *) =
        KILN_SIMD_TABLE(kiln_clip_apart);
    return apart[isa](a, b);
}

kiln_moments kiln_clip_overlap(const kiln_clip_tet *a, const kiln_clip_tet *b, kiln_vec3 origin,
                               kiln_moment_degree degree)
{
    kiln_moments m = {0};
    overlap(a, b, true, origin, degree, &m);
    return m;
}

KILN_INLINE void overlap_once(const kiln_vec3 pa[4], const kiln_vec3 pb[4], kiln_vec3 origin,
                              kiln_moment_degree degree, kiln_moments *m)
{
    *m = (kiln_moments){0};
    if (boxes_apart(pa, pb))
        return;
    kiln_clip_tet a, b;
    load_tet(&a, pa, pa[0]);
    load_tet(&b, pb, pa[0]);
    orient_tet(&a);
    orient_tet(&b);
    overlap(&a, &b, false, origin, degree, m);
}

double kiln_tet_overlap(const kiln_vec3 a[4], const kiln_vec3 b[4])
{
    kiln_moments m;
    overlap_once(a, b, kiln_v3(0, 0, 0), KILN_MOMENT_VOLUME, &m);
    return m.volume;
}

kiln_moments kiln_tet_overlap_moments(const kiln_vec3 a[4], const kiln_vec3 b[4], kiln_vec3 origin,
                                      kiln_moment_degree degree)
{
    kiln_moments m;
    overlap_once(a, b, origin, degree, &m);
    return m;
}

kiln_moments kiln_tet_half_moments(const kiln_vec3 tet[4], kiln_vec3 point, kiln_vec3 normal,
                                   kiln_vec3 origin, kiln_moment_degree degree)
{
    kiln_convex body;
    kiln_convex_from_tet(&body, tet);
    kiln_convex_clip(&body, point, normal);
    return kiln_convex_moments(&body, origin, degree);
}

int kiln_tet_section(const double distance[4], kiln_tet_cut cut[4])
{
    int in[4], out[4], ins = 0, outs = 0;
    for (int i = 0; i < 4; i++)
        if (distance[i] >= 0.0)
            in[ins++] = i;
        else
            out[outs++] = i;
    if (ins == 0 || outs == 0)
        return 0;
    int count = 3;
    if (ins == 1 || outs == 1) {
        int apex = ins == 1 ? in[0] : out[0];
        for (int j = 0; j < 3; j++) {
            int other = FACE[apex][ins == 1 ? 2 - j : j];
            cut[j].from = (uint8_t)(ins == 1 ? apex : other);
            cut[j].to = (uint8_t)(ins == 1 ? other : apex);
        }
    } else {
        /* Edge in[0] in[1] against out[0] out[1]; (0,1|2,3) (0,3|1,2) (1,2|0,3) (2,3|0,1) are even
         * permutations, (0,2|1,3) (1,3|0,2) odd. */
        bool odd = (in[0] + in[1]) % 2 == 0;
        count = 4;
        for (int j = 0; j < 4; j++) {
            static const uint8_t RING[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
            int k = odd ? 3 - j : j;
            cut[j].from = (uint8_t)in[RING[k][0]];
            cut[j].to = (uint8_t)out[RING[k][1]];
        }
    }
    for (int j = 0; j < count; j++) {
        double u = distance[cut[j].from], v = distance[cut[j].to];
        cut[j].t = u / (u - v);
    }
    return count;
}
