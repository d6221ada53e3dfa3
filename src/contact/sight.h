/* What a vertex before a triangulated surface counts: each sheet of it once, however it is cut.
 *
 * With b the repulsion at the distance d to a closed triangle T, edge e or point q, the sum
 *     sum_T f_T b(d_T) - sum_e g_e b(d_e) + sum_q h_q b(d_q)
 * is for f = g = h = 1 the Euler characteristic of the part of the surface within a distance,
 * integrated against -b'. So it is b of the nearest place wherever that part is in one piece
 * without holes (before what is flat, round or sticks out), and b(d_1) + b(d_2) - b(d_e) before a
 * hollow edge. Each term has a continuous gradient, so the sum has: a rule that takes the nearest
 * places of a surface jumps where one of them ceases to be in the hollow of another.
 *
 * Shares f differ where the vertex faces triangles differently. The sum is then taken of all
 * triangles with f >= t and integrated over t, which makes g the less of f on both sides of an edge
 * and h the least around a point. Triangles that the vertex does not see have f = 0, and what is
 * left is a surface with a border: borders have g = 0, points on them h = 0. (So have edges where
 * more than two triangles meet: their sheets count by themselves.)
 *
 * Many of these terms are one: a triangle whose nearest place is on its edge has the distance of
 * the edge. They are added up by the place they are at (its feature), where most cancel exactly:
 * shares are rounded to fewer bits, so sums of them are exact. What is left at a feature belongs to
 * the triangles that have their nearest place there; where none has (before hollows), to all around
 * it in equal parts. Whichever way rounding decides a feature, distances agree there, and so do
 * sums.
 */
#ifndef KILN_CONTACT_SIGHT_H
#define KILN_CONTACT_SIGHT_H

#include "base/array.h"
#include "geom/distance.h"

/* Faces at each point: face.data[start.data[p]] to face.data[start.data[p + 1] - 1], ascending.
 * Zero-initialise. */
typedef struct kiln_fans {
    kiln_u32_array start, face;
} kiln_fans;

/* `faces` [face][3]. */
kiln_status kiln_fans_build(kiln_fans *fans, kiln_context *context, const kiln_u32_array *faces,
                            size_t points, kiln_error *error);
void kiln_fans_free(kiln_fans *fans, kiln_context *context);
size_t kiln_fans_bytes(const kiln_fans *fans);

typedef struct kiln_fan_surface {
    const kiln_fans *fans;
    const uint32_t *faces; /* [face][3] points */
    /* [face][3] KILN_NONE where the edge from corner k to k + 1 is a border all the same; NULL:
     * none is. */
    const uint32_t *beyond;
} kiln_fan_surface;

typedef struct kiln_sight {
    kiln_fan_surface surface;
    const kiln_vec3 *x; /* [point] */
    /* [point] where the step began, if what counts depends on the distances there: then terms are
     * one only if those are. NULL: it does not. */
    const kiln_vec3 *from;
    kiln_vec3 p, began; /* where the vertex is, and was if that is asked for */
    double within;      /* m, what is farther, at both, does not count */
    /* f of a face for the vertex, the same all through a solve; 0: not seen. */
    double (*share)(const void *user, uint32_t vertex, uint32_t face);
    const void *user;
} kiln_sight;

enum { KILN_SIGHT_PARTS = 6 };

/* What a vertex and a face count, beside the other faces. */
typedef struct kiln_counts {
    double own; /* of the nearest place on the face */
    int parts;  /* and of edges and corners of it, before hollows: */
    struct {
        double count; /* may be negative */
        double distance;
        double weight[3]; /* of the face's corners */
        kiln_vec3 offset; /* from the place to the vertex */
        double before;    /* the distance where the step began, if asked for */
    } part[KILN_SIGHT_PARTS];
} kiln_counts;

/* The vertex sees the face. */
void kiln_sight_count(const kiln_sight *sight, uint32_t vertex, uint32_t face, kiln_counts *out);

#endif
