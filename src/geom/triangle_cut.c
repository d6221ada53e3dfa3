/* Points go in one by one, segments by flips (Sloan 1993), and flips make what is left Delaunay.
 * Signs are exact in the plane of rounded points, so that what comes out is a triangulation or
 * nothing. Lists are searched through: there are few points in a triangle. */
#include "geom/triangle_cut.h"

#include "geom/predicates.h"

void kiln_triangle_cut_free(kiln_context *context, kiln_triangle_cut *cut)
{
    kiln_array_free(context, &cut->points);
    kiln_array_free(context, &cut->segments);
    kiln_array_free(context, &cut->triangles);
    kiln_array_free(context, &cut->flat);
    kiln_array_free(context, &cut->crossed);
}

static int turn(const kiln_triangle_cut *cut, uint32_t a, uint32_t b, uint32_t c)
{
    const kiln_vec3 *p = cut->flat.data;
    return kiln_sign(kiln_orient2d(p[a].x, p[a].y, p[b].x, p[b].y, p[c].x, p[c].y));
}

static kiln_status flatten(kiln_context *context, kiln_triangle_cut *cut, bool *done,
                           kiln_error *error)
{
    const kiln_vec3 *p = cut->points.data;
    kiln_vec3 a = kiln_v3_sub(p[1], p[0]), b = kiln_v3_sub(p[2], p[0]);
    kiln_vec3 normal = kiln_v3_cross(a, b);
    double length = kiln_v3_norm(a), area = kiln_v3_norm(normal);
    *done = length > 0.0 && area > 0.0;
    if (!*done)
        return KILN_OK;
    kiln_vec3 e0 = kiln_v3_scale(a, 1.0 / length);
    kiln_vec3 e1 = kiln_v3_cross(kiln_v3_scale(normal, 1.0 / area), e0);
    KILN_TRY(kiln_array_reserve(context, &cut->flat, cut->points.count, error));
    for (size_t i = 0; i < cut->points.count; i++) {
        kiln_vec3 off = kiln_v3_sub(p[i], p[0]);
        cut->flat.data[i] = kiln_v3(kiln_v3_dot(off, e0), kiln_v3_dot(off, e1), 0.0);
    }
    *done = turn(cut, 0, 1, 2) > 0;
    return KILN_OK;
}

/* The triangle that has the edge from a to b, turned so that it begins there; KILN_NONE: none. */
static uint32_t find_side(kiln_triangle_cut *cut, uint32_t a, uint32_t b)
{
    for (size_t t = 0; t < cut->triangles.count; t++) {
        uint32_t *v = cut->triangles.data[t].v;
        for (int k = 0; k < 3; k++) {
            if (v[k] != a || v[(k + 1) % 3] != b)
                continue;
            uint32_t c = v[(k + 2) % 3];
            v[0] = a, v[1] = b, v[2] = c;
            return (uint32_t)t;
        }
    }
    return UINT32_MAX;
}

/* The triangle of the edge (a, b) becomes two, with p between a and b. There is room. */
static bool split_side(kiln_triangle_cut *cut, uint32_t a, uint32_t b, uint32_t p)
{
    uint32_t t = find_side(cut, a, b);
    if (t == UINT32_MAX)
        return false;
    uint32_t c = cut->triangles.data[t].v[2];
    cut->triangles.data[t].v[1] = p;
    cut->triangles.data[cut->triangles.count++] = (kiln_cut_triangle){{p, b, c}};
    return true;
}

static bool put_on_sides(kiln_triangle_cut *cut)
{
    uint32_t p = 3;
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t from = k, to = (k + 1) % 3;
        for (size_t i = 0; i < cut->on_side[k]; i++, p++) {
            if (!split_side(cut, from, to, p))
                return false;
            from = p;
        }
    }
    return true;
}

/* Into the triangle that has it, or the two whose edge does. */
static bool put_inside(kiln_triangle_cut *cut, uint32_t p)
{
    for (size_t t = 0; t < cut->triangles.count; t++) {
        const kiln_cut_triangle old = cut->triangles.data[t];
        int side[3], low = 1, zeros = 0, at = 0;
        for (int k = 0; k < 3; k++) {
            side[k] = turn(cut, old.v[k], old.v[(k + 1) % 3], p);
            low = side[k] < low ? side[k] : low;
            zeros += side[k] == 0;
            at = side[k] == 0 ? k : at;
        }
        if (low < 0 || zeros > 1)
            continue;
        uint32_t a = old.v[at], b = old.v[(at + 1) % 3], c = old.v[(at + 2) % 3];
        if (zeros)
            return split_side(cut, a, b, p) && split_side(cut, b, a, p);
        cut->triangles.data[t] = (kiln_cut_triangle){{a, b, p}};
        cut->triangles.data[cut->triangles.count++] = (kiln_cut_triangle){{b, c, p}};
        cut->triangles.data[cut->triangles.count++] = (kiln_cut_triangle){{c, a, p}};
        return true;
    }
    return false;
}

static bool is_segment(const kiln_triangle_cut *cut, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < cut->segments.count; i++) {
        const uint32_t *v = cut->segments.data[i].v;
        if ((v[0] == a && v[1] == b) || (v[0] == b && v[1] == a))
            return true;
    }
    return false;
}

static bool cross(const kiln_triangle_cut *cut, uint32_t p, uint32_t q, uint32_t a, uint32_t b)
{
    if (a == p || a == q || b == p || b == q)
        return false;
    return turn(cut, p, q, a) * turn(cut, p, q, b) < 0 &&
           turn(cut, a, b, p) * turn(cut, a, b, q) < 0;
}

/* (a, b, c) and (b, a, d) become (c, d, b) and (d, c, a); false where that would turn one over. */
static bool flip(kiln_triangle_cut *cut, uint32_t a, uint32_t b, uint32_t *c, uint32_t *d)
{
    uint32_t t = find_side(cut, a, b), o = find_side(cut, b, a);
    if (t == UINT32_MAX || o == UINT32_MAX)
        return false;
    *c = cut->triangles.data[t].v[2];
    *d = cut->triangles.data[o].v[2];
    if (turn(cut, *c, *d, b) <= 0 || turn(cut, *d, *c, a) <= 0)
        return false;
    cut->triangles.data[t] = (kiln_cut_triangle){{*c, *d, b}};
    cut->triangles.data[o] = (kiln_cut_triangle){{*d, *c, a}};
    return true;
}

static kiln_status force(kiln_context *context, kiln_triangle_cut *cut, kiln_cut_segment s,
                         bool *done, kiln_error *error)
{
    uint32_t p = s.v[0], q = s.v[1], c, d;
    *done = find_side(cut, p, q) != UINT32_MAX || find_side(cut, q, p) != UINT32_MAX;
    if (*done)
        return KILN_OK;
    cut->crossed.count = 0;
    for (size_t t = 0; t < cut->triangles.count; t++)
        for (int k = 0; k < 3; k++) {
            uint32_t a = cut->triangles.data[t].v[k], b = cut->triangles.data[t].v[(k + 1) % 3];
            if (a > b || !cross(cut, p, q, a, b))
                continue;
            if (is_segment(cut, a, b))
                return KILN_OK;
            KILN_TRY(kiln_array_push(context, &cut->crossed, ((kiln_cut_segment){{a, b}}), error));
        }
    size_t left = 16 + 4 * cut->crossed.count * cut->crossed.count;
    for (size_t i = 0; i < cut->crossed.count && left > 0; i++, left--) {
        uint32_t a = cut->crossed.data[i].v[0], b = cut->crossed.data[i].v[1];
        kiln_cut_segment again = {{a, b}};
        if (flip(cut, a, b, &c, &d)) {
            if (!cross(cut, p, q, c, d))
                continue;
            again = (kiln_cut_segment){{c, d}};
        }
        KILN_TRY(kiln_array_push(context, &cut->crossed, again, error));
    }
    *done = find_side(cut, p, q) != UINT32_MAX || find_side(cut, q, p) != UINT32_MAX;
    return KILN_OK;
}

/* Of the two angles across an edge, more than two right ones. */
static bool is_obtuse(const kiln_vec3 *p, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    kiln_vec3 ca = kiln_v3_sub(p[a], p[c]), cb = kiln_v3_sub(p[b], p[c]);
    kiln_vec3 da = kiln_v3_sub(p[a], p[d]), db = kiln_v3_sub(p[b], p[d]);
    double over = kiln_v3_dot(ca, cb), under = kiln_v3_dot(da, db);
    double sine =
        kiln_v3_norm(kiln_v3_cross(ca, cb)) * under + kiln_v3_norm(kiln_v3_cross(da, db)) * over;
    return sine <
           -1e-9 * (kiln_v3_norm(ca) * kiln_v3_norm(cb) * kiln_v3_norm(da) * kiln_v3_norm(db));
}

static void make_delaunay(kiln_triangle_cut *cut)
{
    size_t flips = 1, rounds = cut->triangles.count;
    while (flips > 0 && rounds-- > 0) {
        flips = 0;
        for (size_t i = 0; i < 3 * cut->triangles.count; i++) {
            const uint32_t *v = cut->triangles.data[i / 3].v;
            uint32_t a = v[i % 3], b = v[(i + 1) % 3], c = v[(i + 2) % 3], d;
            uint32_t other = a < b ? find_side(cut, b, a) : UINT32_MAX;
            if (other == UINT32_MAX || is_segment(cut, a, b))
                continue;
            d = cut->triangles.data[other].v[2];
            flips += is_obtuse(cut->flat.data, a, b, c, d) && flip(cut, a, b, &c, &d);
        }
    }
}

kiln_status kiln_triangle_cut_make(kiln_context *context, kiln_triangle_cut *cut, bool *done,
                                   kiln_error *error)
{
    size_t points = cut->points.count;
    size_t rim = 3 + cut->on_side[0] + cut->on_side[1] + cut->on_side[2];
    KILN_TRY(flatten(context, cut, done, error));
    if (!*done)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(context, &cut->triangles, 2 * points + 1, error));
    cut->triangles.data[0] = (kiln_cut_triangle){{0, 1, 2}};
    cut->triangles.count = 1;
    *done = put_on_sides(cut);
    for (size_t p = rim; p < points && *done; p++)
        *done = put_inside(cut, (uint32_t)p);
    for (size_t i = 0; i < cut->segments.count && *done; i++)
        KILN_TRY(force(context, cut, cut->segments.data[i], done, error));
    if (*done)
        make_delaunay(cut);
    return KILN_OK;
}
