/* From a coarse triangulation of a polygon to one of a given size: rim edges are divided, a
 * hexagonal lattice of points goes inside, corners and narrow places are refined as by Ruppert (J.
 * Algorithms 18, 1995: split rim edges seen under an obtuse angle, else insert circumcentres), and
 * the inner points are smoothed. Flips keep the triangulation Delaunay up to rounding. */
#include "mesh/shape_plane.h"

#include <math.h>

#define NONE      UINT32_MAX
#define ROOT_HALF 0.70710678118654752

typedef kiln_plane_point point;
typedef kiln_plane_triangle triangle;

typedef struct filler {
    kiln_plane *plane;
    const kiln_plane_loops *loops;
    double h;
    uint32_t recent;      /* a triangle near the last insertion */
    kiln_u32_array stack; /* edges to look at, triangle * 4 + edge */
    kiln_u32_array hint;  /* [point] a triangle, NONE for points of the rim */
    kiln_u32_array rim;   /* [point] the rim edge that starts there, triangle * 4 + edge, or NONE */
} filler;

static point *points(const filler *f)
{
    return f->plane->points.data;
}

static triangle *triangles(const filler *f)
{
    return f->plane->triangles.data;
}

static void join(filler *f, uint32_t t, uint32_t edge, uint32_t other, uint32_t side)
{
    triangles(f)[t].next[edge] = other;
    triangles(f)[t].side[edge] = side;
    if (other != NONE)
        triangles(f)[other >> 2].next[other & 3] = t * 4 + edge;
    else
        f->rim.data[triangles(f)[t].v[(edge + 1) % 3]] = t * 4 + edge;
}

static kiln_status add_point(filler *f, point p, uint32_t *index, kiln_error *error)
{
    *index = (uint32_t)f->plane->points.count;
    KILN_TRY(kiln_array_push(f->plane->context, &f->rim, NONE, error));
    return kiln_array_push(f->plane->context, &f->plane->points, p, error);
}

static double dot(point o, point a, point b)
{
    return (a.x - o.x) * (b.x - o.x) + (a.y - o.y) * (b.y - o.y);
}

static double cross(point o, point a, point b)
{
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

static double distance(point a, point b)
{
    return hypot(a.x - b.x, a.y - b.y);
}

/* Whether the two angles that face the edge b-c from a and d add up to more than a half turn, with
 * a margin, so that cocircular points do not flip for ever. */
static int wants_flip(point a, point b, point c, point d)
{
    if (kiln_plane_turn(a, b, d) <= 0 || kiln_plane_turn(a, d, c) <= 0)
        return 0;
    double ca = dot(a, b, c), sa = cross(a, b, c), cd = dot(d, c, b), sd = cross(d, c, b);
    double sine = sa * cd + ca * sd;
    return sine < -1e-10 * sqrt((sa * sa + ca * ca) * (sd * sd + cd * cd));
}

/* t = (a,b,c), u = (d,c,b) become (a,b,d) and (a,d,c). */
static void flip(filler *f, uint32_t t, uint32_t e)
{
    triangle T = triangles(f)[t];
    uint32_t u = T.next[e] >> 2, g = T.next[e] & 3;
    triangle U = triangles(f)[u];
    uint32_t e1 = (e + 1) % 3, e2 = (e + 2) % 3, g1 = (g + 1) % 3, g2 = (g + 2) % 3;
    uint32_t a = T.v[e], b = T.v[e1], c = T.v[e2], d = U.v[g];
    triangle *out = &triangles(f)[t];
    out->v[0] = a, out->v[1] = b, out->v[2] = d;
    out = &triangles(f)[u];
    out->v[0] = a, out->v[1] = d, out->v[2] = c;
    join(f, t, 0, U.next[g1], U.side[g1]);
    join(f, t, 2, T.next[e2], T.side[e2]);
    join(f, u, 0, U.next[g2], U.side[g2]);
    join(f, u, 1, T.next[e1], T.side[e1]);
    join(f, t, 1, u * 4 + 2, NONE);
}

/* Flips from the edges on the stack outwards. The cap is far beyond what Delaunay flipping needs;
 * it only guards against rounding. */
static kiln_status settle(filler *f, kiln_error *error)
{
    size_t cap = 1000 + 64 * f->plane->triangles.count;
    while (f->stack.count > 0 && cap-- > 0) {
        uint32_t at = f->stack.data[--f->stack.count], t = at >> 2, e = at & 3;
        uint32_t other = triangles(f)[t].next[e];
        if (other == NONE)
            continue;
        const uint32_t *v = triangles(f)[t].v;
        uint32_t d = triangles(f)[other >> 2].v[other & 3];
        const point *p = points(f);
        if (!wants_flip(p[v[e]], p[v[(e + 1) % 3]], p[v[(e + 2) % 3]], p[d]))
            continue;
        uint32_t u = other >> 2;
        flip(f, t, e);
        const uint32_t again[4] = {t * 4, t * 4 + 2, u * 4, u * 4 + 1};
        for (int i = 0; i < 4; i++)
            KILN_TRY(kiln_array_push(f->plane->context, &f->stack, again[i], error));
    }
    f->stack.count = 0;
    return KILN_OK;
}

static kiln_status look_at(filler *f, uint32_t t, kiln_error *error)
{
    for (uint32_t e = 0; e < 3; e++)
        KILN_TRY(kiln_array_push(f->plane->context, &f->stack, t * 4 + e, error));
    return KILN_OK;
}

static kiln_status add_triangle(filler *f, uint32_t a, uint32_t b, uint32_t c, uint32_t *t,
                                kiln_error *error)
{
    triangle made = {{a, b, c}, {NONE, NONE, NONE}, {NONE, NONE, NONE}};
    *t = (uint32_t)f->plane->triangles.count;
    return kiln_array_push(f->plane->context, &f->plane->triangles, made, error);
}

/* The part of triangle t beyond the new point m on its edge e becomes a triangle of its own:
 * (a,b,c) -> (a,b,m) and (a,m,c). */
static kiln_status halve(filler *f, uint32_t t, uint32_t e, uint32_t m, uint32_t *half,
                         kiln_error *error)
{
    triangle T = triangles(f)[t];
    uint32_t e1 = (e + 1) % 3, e2 = (e + 2) % 3;
    KILN_TRY(add_triangle(f, T.v[e], m, T.v[e2], half, error));
    triangles(f)[t].v[e2] = m;
    join(f, *half, 0, NONE, T.side[e]); /* inside, the caller joins the halves across the edge */
    join(f, *half, 1, T.next[e1], T.side[e1]);
    join(f, t, e1, *half * 4 + 2, NONE);
    KILN_TRY(look_at(f, t, error));
    return look_at(f, *half, error);
}

static kiln_status split_edge(filler *f, uint32_t t, uint32_t e, point p, kiln_error *error)
{
    uint32_t m, other = triangles(f)[t].next[e], near, far;
    KILN_TRY(add_point(f, p, &m, error));
    KILN_TRY(halve(f, t, e, m, &near, error));
    if (other != NONE) {
        KILN_TRY(halve(f, other >> 2, other & 3, m, &far, error));
        join(f, t, e, far * 4, NONE);
        join(f, near, 0, other, NONE);
    }
    f->recent = t;
    return settle(f, error);
}

static kiln_status split_triangle(filler *f, uint32_t t, point p, kiln_error *error)
{
    triangle T = triangles(f)[t];
    uint32_t m, u, w;
    KILN_TRY(add_point(f, p, &m, error));
    KILN_TRY(add_triangle(f, m, T.v[2], T.v[0], &u, error));
    KILN_TRY(add_triangle(f, m, T.v[0], T.v[1], &w, error));
    triangles(f)[t].v[0] = m; /* (m, v1, v2) keeps edge 0 */
    join(f, u, 0, T.next[1], T.side[1]);
    join(f, w, 0, T.next[2], T.side[2]);
    join(f, t, 1, u * 4 + 2, NONE);
    join(f, u, 1, w * 4 + 2, NONE);
    join(f, w, 1, t * 4 + 2, NONE);
    KILN_TRY(look_at(f, t, error));
    KILN_TRY(look_at(f, u, error));
    KILN_TRY(look_at(f, w, error));
    f->recent = t;
    return settle(f, error);
}

/* Walks towards p. Returns the triangle with p in it, or with *rim set the one at whose edge *rim
 * the walk left the polygon. */
static uint32_t locate(const filler *f, uint32_t start, point p, uint32_t *rim)
{
    uint32_t t = start, from = NONE;
    *rim = NONE;
    for (size_t step = 0; step <= f->plane->triangles.count; step++) {
        const triangle *T = &triangles(f)[t];
        uint32_t cross_edge = NONE;
        for (uint32_t e = 0; e < 3 && cross_edge == NONE; e++)
            if (T->next[e] != from || from == NONE)
                if (kiln_plane_turn(points(f)[T->v[(e + 1) % 3]], points(f)[T->v[(e + 2) % 3]], p) <
                    0)
                    cross_edge = e;
        if (cross_edge == NONE)
            return t;
        if (T->next[cross_edge] == NONE) {
            *rim = cross_edge;
            return t;
        }
        from = t * 4 + cross_edge;
        t = T->next[cross_edge] >> 2;
    }
    *rim = 0;
    return NONE;
}

/* Holes make walks end early: then every triangle is asked. */
static uint32_t locate_surely(const filler *f, point p)
{
    uint32_t rim, t = locate(f, f->recent, p, &rim);
    if (rim == NONE)
        return t;
    for (t = 0; t < f->plane->triangles.count; t++) {
        const uint32_t *v = triangles(f)[t].v;
        if (kiln_plane_turn(points(f)[v[0]], points(f)[v[1]], p) >= 0 &&
            kiln_plane_turn(points(f)[v[1]], points(f)[v[2]], p) >= 0 &&
            kiln_plane_turn(points(f)[v[2]], points(f)[v[0]], p) >= 0)
            return t;
    }
    return NONE;
}

static kiln_status insert_inside(filler *f, uint32_t t, point p, kiln_error *error)
{
    const uint32_t *v = triangles(f)[t].v;
    for (uint32_t e = 0; e < 3; e++)
        if (kiln_plane_turn(points(f)[v[(e + 1) % 3]], points(f)[v[(e + 2) % 3]], p) == 0)
            return triangles(f)[t].next[e] == NONE ? KILN_OK : split_edge(f, t, e, p, error);
    return split_triangle(f, t, p, error);
}

/* Rim edges cut into equal parts of about h. There are only the corners so far, and one edge starts
 * at each. */
static kiln_status divide_rim(filler *f, kiln_error *error)
{
    size_t corners = f->plane->points.count;
    for (uint32_t corner = 0; corner < corners; corner++) {
        uint32_t at = f->rim.data[corner], t = at >> 2, e = at & 3;
        point a = points(f)[corner], b = points(f)[triangles(f)[t].v[(e + 2) % 3]];
        double parts = floor(distance(a, b) / f->h + 0.5);
        for (double k = 1; k < parts; k++) {
            point p = {a.x + (b.x - a.x) * k / parts, a.y + (b.y - a.y) * k / parts};
            KILN_TRY(split_edge(f, at >> 2, at & 3, p, error));
            at = f->rim.data[f->plane->points.count - 1];
        }
    }
    return KILN_OK;
}

static double segment_distance(point a, point b, point p)
{
    double s = dot(a, b, p) / dot(a, b, b);
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    return hypot(p.x - a.x - s * (b.x - a.x), p.y - a.y - s * (b.y - a.y));
}

/* Inside, and not within 0.6 h of an edge of the polygon. */
static int well_inside(const filler *f, point p)
{
    const kiln_plane_point *c = f->loops->corners;
    uint32_t begin = 0;
    int inside = 0;
    for (uint32_t loop = 0; loop < f->loops->loop_count; loop++) {
        uint32_t end = f->loops->ends[loop];
        for (uint32_t i = begin, j = end - 1; i < end; j = i++) {
            if (segment_distance(c[i], c[j], p) < 0.6 * f->h)
                return 0;
            if ((c[i].y > p.y) != (c[j].y > p.y) &&
                p.x < (c[j].x - c[i].x) * (p.y - c[i].y) / (c[j].y - c[i].y) + c[i].x)
                inside = !inside;
        }
        begin = end;
    }
    return inside;
}

static kiln_status add_lattice(filler *f, kiln_error *error)
{
    point low = f->loops->corners[0], high = low;
    for (uint32_t i = 0; i < f->loops->ends[0]; i++) {
        point p = f->loops->corners[i];
        low.x = p.x < low.x ? p.x : low.x;
        low.y = p.y < low.y ? p.y : low.y;
        high.x = p.x > high.x ? p.x : high.x;
        high.y = p.y > high.y ? p.y : high.y;
    }
    /* Rows fitted to the height, points centred in the row. */
    double rows = floor((high.y - low.y) / (0.5 * sqrt(3.0) * f->h) + 0.5);
    double columns = floor((high.x - low.x) / f->h + 0.5);
    double dy = (high.y - low.y) / (rows < 1 ? 1 : rows);
    double dx = (high.x - low.x) / (columns < 1 ? 1 : columns);
    for (double j = 1; j < rows; j++)
        for (double i = 0; i <= columns; i++) {
            point p = {low.x + (i + (fmod(j, 2.0) > 0 ? 0.5 : 0.0)) * dx, low.y + j * dy};
            if (!well_inside(f, p))
                continue;
            uint32_t t = locate_surely(f, p);
            if (t != NONE)
                KILN_TRY(insert_inside(f, t, p, error));
        }
    return KILN_OK;
}

static point middle(point a, point b)
{
    return (point){0.5 * (a.x + b.x), 0.5 * (a.y + b.y)};
}

/* Splits the rim edge unless it is short already; says whether it did. */
static kiln_status split_rim(filler *f, uint32_t t, uint32_t e, int *done, kiln_error *error)
{
    point a = points(f)[triangles(f)[t].v[(e + 1) % 3]];
    point b = points(f)[triangles(f)[t].v[(e + 2) % 3]];
    if (distance(a, b) < 0.9 * f->h)
        return KILN_OK;
    *done = 1;
    return split_edge(f, t, e, middle(a, b), error);
}

/* A rim edge seen under an obtuse angle from p (the corner opposite in t when p is NULL). */
static uint32_t encroached_edge(const filler *f, uint32_t t, const point *p)
{
    const triangle *T = &triangles(f)[t];
    for (uint32_t e = 0; e < 3; e++) {
        point a = points(f)[T->v[(e + 1) % 3]], b = points(f)[T->v[(e + 2) % 3]];
        point from = p ? *p : points(f)[T->v[e]];
        if (T->next[e] == NONE && dot(from, a, b) < 0.0)
            return e;
    }
    return NONE;
}

static kiln_status refine_triangle(filler *f, uint32_t t, int *done, kiln_error *error)
{
    uint32_t e = encroached_edge(f, t, NULL);
    if (e != NONE)
        KILN_TRY(split_rim(f, t, e, done, error));
    const uint32_t *v = triangles(f)[t].v;
    point a = points(f)[v[0]], b = points(f)[v[1]], c = points(f)[v[2]];
    if (kiln_plane_quality(a, b, c) > 0.7)
        return KILN_OK;
    double area2 = 2 * cross(a, b, c), bb = dot(a, b, b), cc = dot(a, c, c);
    point centre = {a.x + ((c.y - a.y) * bb - (b.y - a.y) * cc) / area2,
                    a.y + ((b.x - a.x) * cc - (c.x - a.x) * bb) / area2};
    if (distance(centre, a) < 0.65 * f->h)
        return KILN_OK; /* a new point would be closer to its neighbours than that */
    uint32_t rim, at = locate(f, t, centre, &rim);
    if (at == NONE)
        return KILN_OK;
    if (rim == NONE)
        rim = encroached_edge(f, at, &centre);
    if (rim != NONE)
        return split_rim(f, at, rim, done, error);
    *done = 1;
    return insert_inside(f, at, centre, error);
}

static kiln_status refine(filler *f, kiln_error *error)
{
    int done = 1;
    for (int pass = 0; pass < 12 && done; pass++) {
        done = 0;
        size_t count = f->plane->triangles.count;
        for (uint32_t t = 0; t < count; t++)
            KILN_TRY(refine_triangle(f, t, &done, error));
    }
    return KILN_OK;
}

/* Worst quality round point v when it is at p; `mean` gets the mean of its neighbours. */
static double star_quality(const filler *f, uint32_t v, point p, point *mean)
{
    double worst = 2.0, count = 0.0;
    point sum = {0, 0};
    uint32_t t = f->hint.data[v];
    do {
        const triangle *T = &triangles(f)[t];
        uint32_t e = T->v[0] == v ? 0 : T->v[1] == v ? 1 : 2;
        point a = points(f)[T->v[(e + 1) % 3]], b = points(f)[T->v[(e + 2) % 3]];
        double q = kiln_plane_turn(p, a, b) > 0 ? kiln_plane_quality(p, a, b) : -1.0;
        worst = q < worst ? q : worst;
        sum.x += a.x;
        sum.y += a.y;
        count++;
        t = T->next[(e + 1) % 3] >> 2;
    } while (t != f->hint.data[v]);
    *mean = (point){sum.x / count, sum.y / count};
    return worst;
}

/* Moves an inner point to the mean of its neighbours, or a short way along one of eight directions,
 * whichever its worst triangle gains most from. */
static void smooth_point(filler *f, uint32_t v)
{
    static const double c[8] = {1, ROOT_HALF, 0, -ROOT_HALF, -1, -ROOT_HALF, 0, ROOT_HALF};
    point old = points(f)[v], best = old, mean, unused;
    double quality = star_quality(f, v, old, &mean) + 1e-9;
    for (int i = 0; i < 18; i++) {
        point to =
            i < 2 ? (point){old.x + (mean.x - old.x) / (1 + i), old.y + (mean.y - old.y) / (1 + i)}
                  : (point){old.x + (i < 10 ? 0.1 : 0.02) * f->h * c[(i - 2) % 8],
                            old.y + (i < 10 ? 0.1 : 0.02) * f->h * c[(i + 4) % 8]};
        double q = star_quality(f, v, to, &unused);
        if (q > quality) {
            quality = q;
            best = to;
        }
    }
    points(f)[v] = best;
}

static void smooth_points(filler *f)
{
    for (uint32_t i = 0; i < f->plane->points.count; i++)
        f->hint.data[i] = 0;
    for (uint32_t t = 0; t < f->plane->triangles.count; t++)
        for (uint32_t e = 0; e < 3; e++)
            if (f->hint.data[triangles(f)[t].v[e]] != NONE)
                f->hint.data[triangles(f)[t].v[e]] = t;
    for (uint32_t t = 0; t < f->plane->triangles.count; t++)
        for (uint32_t e = 0; e < 3; e++)
            if (triangles(f)[t].next[e] == NONE) {
                f->hint.data[triangles(f)[t].v[(e + 1) % 3]] = NONE;
                f->hint.data[triangles(f)[t].v[(e + 2) % 3]] = NONE;
            }
    for (uint32_t v = 0; v < f->plane->points.count; v++) {
        if (f->hint.data[v] != NONE)
            smooth_point(f, v);
    }
}

static kiln_status smooth(filler *f, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(f->plane->context, &f->hint, f->plane->points.count, error));
    for (int pass = 0; pass < 12; pass++) {
        smooth_points(f);
        for (uint32_t t = 0; t < f->plane->triangles.count; t++)
            KILN_TRY(look_at(f, t, error));
        KILN_TRY(settle(f, error));
    }
    return KILN_OK;
}

static kiln_status find_rim(filler *f, kiln_error *error)
{
    size_t count = f->plane->points.count;
    KILN_TRY(kiln_array_reserve(f->plane->context, &f->rim, count, error));
    f->rim.count = count;
    for (uint32_t t = 0; t < f->plane->triangles.count; t++)
        for (uint32_t e = 0; e < 3; e++)
            if (triangles(f)[t].next[e] == NONE)
                f->rim.data[triangles(f)[t].v[(e + 1) % 3]] = t * 4 + e;
    return KILN_OK;
}

kiln_status kiln_plane_fill(kiln_plane *plane, const kiln_plane_loops *loops, double h,
                            kiln_error *error)
{
    filler f = {.plane = plane, .loops = loops, .h = h};
    kiln_status status = kiln_plane_clip(plane, loops, error);
    if (status == KILN_OK)
        status = find_rim(&f, error);
    for (uint32_t t = 0; t < plane->triangles.count && status == KILN_OK; t++)
        status = look_at(&f, t, error);
    if (status == KILN_OK)
        status = settle(&f, error);
    if (status == KILN_OK)
        status = divide_rim(&f, error);
    if (status == KILN_OK)
        status = add_lattice(&f, error);
    if (status == KILN_OK)
        status = refine(&f, error);
    if (status == KILN_OK)
        status = smooth(&f, error);
    kiln_array_free(plane->context, &f.stack);
    kiln_array_free(plane->context, &f.hint);
    kiln_array_free(plane->context, &f.rim);
    return status;
}
