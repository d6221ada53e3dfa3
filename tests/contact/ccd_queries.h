/* Motions of a vertex and a face, or of two edges, that make detection wrong when it can be. */
#ifndef KILN_TESTS_CCD_QUERIES_H
#define KILN_TESTS_CCD_QUERIES_H

#include "base/random.h"
#include "geom/distance.h"

#include <stdbool.h>

typedef struct ccd_query {
    bool edges; /* two vertices of each; otherwise the vertex, then the face */
    kiln_vec3 begin[4], end[4];
    double gap;
} ccd_query;

#define CCD_LIST(X)                                                                                \
    /* Random, with all their bits. */                                                             \
    X(ORDINARY, "ordinary")                                                                        \
    X(NEAR, "near")         /* short ways, near each other, as within Newton's method */           \
    X(FAST, "fast")         /* ways much longer than the sides, which turn over */                 \
    X(INVERTED, "inverted") /* as if mirrored, so that on the way all shrinks to nearly a point */ \
    X(LARGE, "large")       /* coordinates about 1e6 */                                            \
    X(SMALL, "small")       /* about 1e-6 */                                                       \
    X(FAR, "far")           /* shifted by 2^20 */                                                  \
    X(NEEDLES, "needles")   /* sides nearly flat or nearly parallel */                             \
    X(UNEQUAL, "unequal")   /* one side much smaller than the other */                             \
    X(GRAZING, "grazing")   /* built to meet, then rounded and moved by an ulp */                  \
    X(RIM, "rim")           /* likewise, at a vertex or edge of the face, or an end of an edge */  \
    X(KEPT, "kept")         /* a tenth of the distance is to be kept, as the step asks */          \
    X(GAP, "gap")           /* any gap */                                                          \
    /* Degenerate, on grids of small numbers. */                                                   \
    X(GRID, "grid")                                                                                \
    X(MEETING, "meeting")       /* made to meet, at times and places that are often ends */        \
    X(AT_BEGIN, "at begin")     /* likewise at time 0 */                                           \
    X(AT_END, "at end")         /* likewise at time 1 */                                           \
    X(PLANE, "in plane")        /* all in one plane, which may move */                             \
    X(PARALLEL, "parallel")     /* edges, or the way of the vertex and an edge of the face */      \
    X(COINCIDENT, "coincident") /* points that are one, or on a line, at one time or always */     \
    X(TANGENT, "tangent")       /* the volume touches zero and does not pass */                    \
    X(SHRINKING, "shrinking")   /* each side a point at time 1/2 */                                \
    X(STILL, "still")           /* nothing moves, or all alike */                                  \
    X(GRID_GAP, "grid gap")     /* distances that are equal to the gap */

#define CCD_ENUM(name, text) CCD_##name,
#define CCD_TEXT(name, text) text,
enum ccd_kind { CCD_LIST(CCD_ENUM) CCD_KINDS, CCD_RANDOM_KINDS = CCD_GRID };
static const char *const ccd_kind_name[CCD_KINDS] = {CCD_LIST(CCD_TEXT)};

static inline double ccd_whole(kiln_random *random, int most)
{
    return (double)kiln_random_below(random, (uint32_t)(2 * most + 1)) - most;
}

/* Coordinates in [-size, size]; on the grid of whole numbers if `grid`. */
static inline kiln_vec3 ccd_point(kiln_random *random, double size, bool grid)
{
    double c[3];
    for (int i = 0; i < 3; i++)
        c[i] = grid ? ccd_whole(random, (int)size) : kiln_random_range(random, -size, size);
    return kiln_v3(c[0], c[1], c[2]);
}

static inline void ccd_move(kiln_random *random, ccd_query *q, double way, bool grid)
{
    for (int i = 0; i < 4; i++)
        q->end[i] = kiln_v3_add(q->begin[i], ccd_point(random, way, grid));
}

static inline void ccd_wander(kiln_random *random, ccd_query *q, double size, double way)
{
    for (int i = 0; i < 4; i++)
        q->begin[i] = ccd_point(random, size, false);
    ccd_move(random, q, way, false);
}

/* In [0, 1]: an end in one of three cases, a multiple of 1/8 if `grid`. */
static inline double ccd_part(kiln_random *random, bool grid, bool rim)
{
    if (rim || kiln_random_below(random, 3) == 0)
        return kiln_random_below(random, 2);
    return grid ? 0.125 * kiln_random_below(random, 9) : kiln_random_unit(random);
}

/* Given the others, the first corner (of the face's vertex or of edge a) is put such that the sides
 * meet; exact on a grid of multiples of 8. */
static inline void ccd_join(kiln_random *random, bool edges, kiln_vec3 at[4], bool grid, bool rim)
{
    double s = ccd_part(random, grid, rim), r = ccd_part(random, grid, false);
    if (edges) { /* the first edge goes through the point s of the second, at one half */
        kiln_vec3 on = kiln_v3_lerp(at[2], at[3], s);
        at[0] = rim && r < 0.5 ? on : kiln_v3_sub(kiln_v3_scale(on, 2.0), at[1]);
    } else {
        kiln_vec3 rest = rim ? kiln_v3_lerp(at[2], at[3], r) : at[3];
        at[0] = kiln_v3_lerp(kiln_v3_lerp(at[1], at[2], rim ? 0.0 : r), rest, s);
        if (rim && s > 0.5)
            at[0] = rest;
    }
}

/* Together at time t0, on straight ways. */
static inline void ccd_meet(kiln_random *random, ccd_query *q, double t0, bool grid, bool rim)
{
    kiln_vec3 at[4];
    for (int i = 0; i < 4; i++)
        at[i] = kiln_v3_scale(ccd_point(random, grid ? 3 : 1, grid), grid ? 64.0 : 1.0);
    ccd_join(random, q->edges, at, grid, rim);
    for (int i = 0; i < 4; i++) {
        kiln_vec3 way = kiln_v3_scale(ccd_point(random, grid ? 3 : 1, grid), grid ? 64.0 : 1.0);
        q->begin[i] = kiln_v3_madd(at[i], -t0, way);
        q->end[i] = kiln_v3_madd(at[i], 1.0 - t0, way);
    }
}

static inline void ccd_nudge(kiln_random *random, ccd_query *q)
{
    kiln_vec3 *p = kiln_random_below(random, 2) ? q->begin : q->end;
    double *x = &p[kiln_random_below(random, 4)].x + kiln_random_below(random, 3);
    double to = kiln_random_below(random, 2) ? INFINITY : -INFINITY;
    if (kiln_random_below(random, 3))
        *x = nextafter(*x, to);
}

static inline double ccd_distance(const ccd_query *q, double t)
{
    kiln_vec3 p[4];
    for (int i = 0; i < 4; i++)
        p[i] = kiln_v3_lerp(kiln_v3_sub(q->begin[i], q->begin[0]),
                            kiln_v3_sub(q->end[i], q->end[0]), t);
    return sqrt(q->edges ? kiln_closest_edges(p, p + 2).distance2
                         : kiln_closest_on_triangle(p[0], p + 1).distance2);
}

/* x -> a x + b with whole numbers that keep volumes, then a velocity that all have: what meets
 * still does, at the same time. */
static inline void ccd_shear(kiln_random *random, ccd_query *q)
{
    int i = (int)kiln_random_below(random, 3), j = (i + 1 + (int)kiln_random_below(random, 2)) % 3;
    double by = ccd_whole(random, 2);
    kiln_vec3 way = ccd_point(random, 2, true);
    for (int k = 0; k < 8; k++) {
        kiln_vec3 *p = k < 4 ? &q->begin[k] : &q->end[k - 4];
        (&p->x)[i] += by * (&p->x)[j];
        if (k >= 4)
            *p = kiln_v3_add(*p, way);
    }
}

static inline void ccd_flatten(kiln_random *random, ccd_query *q, double by)
{
    int axis = (int)kiln_random_below(random, 3);
    for (int k = 0; k < 4; k++) {
        (&q->begin[k].x)[axis] *= by;
        (&q->end[k].x)[axis] *= by;
    }
}

/* Long thin sides: the second and third corner come near the line of the others. */
static inline void ccd_thin(kiln_random *random, ccd_query *q)
{
    double by = exp2(-40.0 * kiln_random_unit(random)), t = kiln_random_unit(random);
    kiln_vec3 *p = kiln_random_below(random, 2) ? q->begin : q->end;
    kiln_vec3 off = ccd_point(random, by, false);
    if (q->edges) {
        p[3] = kiln_v3_add(kiln_v3_madd(p[2], 2.0 * t, kiln_v3_sub(p[1], p[0])), off);
    } else {
        p[2] = kiln_v3_add(kiln_v3_lerp(p[1], p[3], 2.0 * t - 0.5), off);
    }
}

/* The corners from the second on come near to the first: of edge a, or of the face. */
static inline void ccd_shrink(kiln_random *random, ccd_query *q)
{
    double by = exp2(-30.0 * kiln_random_unit(random));
    for (int i = 1; i < (q->edges ? 2 : 4); i++) {
        int to = q->edges ? 0 : 1;
        q->begin[i] = kiln_v3_lerp(q->begin[to], q->begin[i], by);
        q->end[i] = kiln_v3_lerp(q->end[to], q->end[i], by);
    }
    if (kiln_random_below(random, 2)) /* otherwise few would meet */
        q->end[0] = kiln_v3_lerp(q->edges ? q->end[2] : q->end[1], q->begin[0], -1.0);
}

/* The first corner's part y z' - y' z of the volume is a square, with a zero at t0 where the sides
 * are together; see the shapes: an edge or a face's edge along x, the others in planes x = const.
 */
static inline void ccd_tangent(kiln_random *random, ccd_query *q)
{
    double t0 = 0.125 * kiln_random_below(random, 9), k = 0.25 * (1 + kiln_random_below(random, 3));
    double a = ccd_whole(random, 2), b = ccd_whole(random, 2), c = ccd_whole(random, 2);
    double x = 0.25 * kiln_random_below(random, 4), side = q->edges ? -k : k;
    for (int i = 0; i < 2; i++) {
        double tau = i - t0;
        kiln_vec3 *p = i ? q->end : q->begin;
        kiln_vec3 one = kiln_v3(q->edges ? x : 0.0, 1 + tau * a, tau * b);
        kiln_vec3 two = kiln_v3(q->edges ? -x : 0.25 * x, side + tau * c, tau * side * b);
        p[0] = q->edges ? kiln_v3(-1, 0, 0) : two;
        p[1] = q->edges ? kiln_v3(1, 0, 0) : kiln_v3(0, 0, 0);
        p[2] = q->edges ? one : kiln_v3(1, 0, 0);
        p[3] = q->edges ? two : one;
    }
    ccd_shear(random, q);
    ccd_shear(random, q);
}

static inline void ccd_make_coincident(kiln_random *random, ccd_query *q)
{
    uint32_t i = kiln_random_below(random, 4), j = (i + 1 + kiln_random_below(random, 3)) % 4;
    uint32_t k = 6 - i - j - kiln_random_below(random, 2), when = kiln_random_below(random, 4);
    k = k < 4 && k != i && k != j ? k : (i + 2) % 4;
    for (int e = 0; e < 2; e++) {
        kiln_vec3 *p = e ? q->end : q->begin;
        if (when == (uint32_t)e)
            continue; /* at the other end only */
        p[i] = p[j];
        if (when == 3) /* three on a line, or all one */
            p[k] = kiln_random_below(random, 3) ? kiln_v3_scale(p[i], 2.0) : p[i];
    }
}

/* Edges that are parallel at both ends; half of them come to lie on one line. */
static inline void ccd_make_parallel_edges(kiln_random *random, ccd_query *q)
{
    kiln_vec3 along = kiln_v3_sub(q->begin[1], q->begin[0]), way = ccd_point(random, 2, true);
    double t0 = 0.125 * kiln_random_below(random, 9);
    bool meet = kiln_random_below(random, 2);
    for (int e = 0; e < 2; e++) {
        kiln_vec3 *p = e ? q->end : q->begin;
        if (meet) {
            p[1] = kiln_v3_add(p[0], along);
            p[2] = kiln_v3_madd(kiln_v3_madd(p[0], e - t0, way), 0.5 * ccd_whole(random, 3), along);
        }
        p[3] = kiln_v3_madd(p[2], ccd_whole(random, 2), kiln_v3_sub(p[1], p[0]));
    }
}

/* The vertex moves along an edge of a face that stands still, or along its plane. */
static inline void ccd_make_parallel_way(kiln_random *random, ccd_query *q)
{
    kiln_vec3 way = ccd_point(random, 2, true);
    bool in_plane = kiln_random_below(random, 2);
    if (in_plane)
        q->begin[0] =
            kiln_v3_madd(q->begin[3], ccd_whole(random, 2), kiln_v3_sub(q->begin[2], q->begin[1]));
    for (int i = 0; i < 4; i++)
        q->end[i] = kiln_v3_add(q->begin[i], way);
    q->end[0] =
        kiln_v3_madd(q->end[0], ccd_whole(random, 3), kiln_v3_sub(q->begin[2], q->begin[1]));
}

static inline void ccd_make_degenerate(kiln_random *random, enum ccd_kind kind, ccd_query *q)
{
    for (int i = 0; i < 4; i++)
        q->begin[i] = ccd_point(random, 2, true);
    ccd_move(random, q, 3, true);
    kiln_vec3 way = ccd_point(random, 2, true);
    switch (kind) {
    case CCD_MEETING:
        ccd_meet(random, q, ccd_part(random, true, false), true, kiln_random_below(random, 2));
        break;
    case CCD_AT_BEGIN:
        ccd_meet(random, q, 0.0, true, kiln_random_below(random, 2));
        break;
    case CCD_AT_END:
        ccd_meet(random, q, 1.0, true, kiln_random_below(random, 2));
        break;
    case CCD_PLANE:
        ccd_flatten(random, q, 0.0);
        ccd_shear(random, q);
        ccd_shear(random, q);
        break;
    case CCD_PARALLEL:
        if (q->edges)
            ccd_make_parallel_edges(random, q);
        else
            ccd_make_parallel_way(random, q);
        break;
    case CCD_COINCIDENT:
        ccd_make_coincident(random, q);
        break;
    case CCD_TANGENT:
        ccd_tangent(random, q);
        break;
    case CCD_SHRINKING: /* side by side or onto each other */
        for (int i = 0; i < 4; i++)
            q->end[i] = kiln_v3_sub(
                i < (q->edges ? 2 : 1) || kiln_random_below(random, 2) ? way : kiln_v3(0, 0, 0),
                q->begin[i]);
        break;
    case CCD_STILL:
        for (int i = 0; i < 4; i++)
            q->end[i] =
                kiln_v3_add(q->begin[i], kiln_v3_scale(way, kiln_random_below(random, 8) ? 1 : 2));
        break;
    case CCD_GRID_GAP:
        q->gap = 0.5 * kiln_random_below(random, 5);
        break;
    default:
        break;
    }
}

static inline void ccd_place(ccd_query *q, double scale, double shift)
{
    for (int k = 0; k < 8; k++) {
        kiln_vec3 *p = k < 4 ? &q->begin[k] : &q->end[k - 4];
        *p = kiln_v3_scale(kiln_v3_add(*p, kiln_v3(shift, -shift, shift)), scale);
    }
    q->gap *= scale;
}

/* Meeting, or touching without passing, in a turned frame; each number rounded, one nudged. */
static inline void ccd_make_grazing(kiln_random *random, enum ccd_kind kind, ccd_query *q)
{
    if (kind == CCD_RIM || kiln_random_below(random, 2)) {
        ccd_meet(random, q, kiln_random_unit(random), false, kind == CCD_RIM);
    } else {
        ccd_tangent(random, q);
        kiln_mat3 turn = kiln_m3_columns(ccd_point(random, 1, false), ccd_point(random, 1, false),
                                         ccd_point(random, 1, false));
        for (int i = 0; i < 4; i++) {
            q->begin[i] = kiln_m3_apply(turn, q->begin[i]);
            q->end[i] = kiln_m3_apply(turn, q->end[i]);
        }
    }
    ccd_nudge(random, q);
}

/* Near each other, on ways as short. */
static inline void ccd_make_near(kiln_random *random, ccd_query *q)
{
    double way = exp2(-1.0 - 20.0 * kiln_random_unit(random));
    ccd_meet(random, q, 0.0, false, false);
    for (int i = 0; i < 4; i++)
        q->begin[i] = kiln_v3_add(q->begin[i], ccd_point(random, way, false));
    ccd_move(random, q, way, false);
}

/* To what is nearly the mirror image. */
static inline void ccd_invert(kiln_random *random, ccd_query *q)
{
    double off = exp2(-30.0 * kiln_random_unit(random));
    for (int i = 0; i < 4; i++)
        q->end[i] = kiln_v3_sub(ccd_point(random, off, false), q->begin[i]);
}

static inline void ccd_make_random(kiln_random *random, enum ccd_kind kind, ccd_query *q)
{
    bool is_near = kind == CCD_NEAR || (kind == CCD_KEPT && kiln_random_below(random, 2));
    if (kind == CCD_GRAZING || kind == CCD_RIM)
        ccd_make_grazing(random, kind, q);
    else if (is_near)
        ccd_make_near(random, q);
    else
        ccd_wander(random, q, 1.0, kind == CCD_FAST ? exp2(7.0 * kiln_random_unit(random)) : 1.0);

    if (kind == CCD_LARGE || kind == CCD_SMALL)
        ccd_place(q, kind == CCD_LARGE ? 1e6 : 1e-6, 0.0);
    if (kind == CCD_FAR)
        ccd_place(q, 1.0, 0x1p20);
    if (kind == CCD_NEEDLES)
        ccd_thin(random, q);
    if (kind == CCD_INVERTED)
        ccd_invert(random, q);
    if (kind == CCD_UNEQUAL)
        ccd_shrink(random, q);
    if (kind == CCD_KEPT)
        q->gap = 0.1 * ccd_distance(q, 0.0);
    if (kind == CCD_GAP)
        q->gap = exp2(-30.0 * kiln_random_unit(random));
}

static inline ccd_query ccd_make(kiln_random *random, enum ccd_kind kind)
{
    ccd_query q = {.edges = kiln_random_below(random, 2)};
    if (kind < CCD_RANDOM_KINDS) {
        ccd_make_random(random, kind, &q);
    } else {
        ccd_make_degenerate(random, kind, &q);
        static const double scale[] = {1.0, 0x1p20, 0x1p-20}; /* exact, and so is the shift */
        ccd_place(&q, scale[kiln_random_below(random, 3)],
                  kiln_random_below(random, 2) ? 0x1p20 : 0.0);
    }
    return q;
}

#endif
