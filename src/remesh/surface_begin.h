/* The surface as it was at the begin of a pass: the faces of the surface and of the interfaces
 * between regions ("sheets"), the feature edges, and the smooth surface and curves they stand for.
 *
 * The smooth surface over a triangle is the quadratic one of its corner normals n_i: with q the
 * point at weights b_i, s(q) = q - 1/2 sum b_i ((q - p_i) . n_i) n_i (Boubekeur and Alexa 2008,
 * with their alpha 1/2). Corner normals are averaged over the sheet up to the next feature with the
 * weights that are exact on a sphere (Max 1999), and then s lies on it to second order; in a flat
 * facet s(q) = q. Curves likewise with tangents. How far s may leave the begin faces is limited to
 * three fifths of the band in which the surface may change. */
#ifndef KILN_REMESH_SURFACE_BEGIN_H
#define KILN_REMESH_SURFACE_BEGIN_H

#include "geom/bvh.h"
#include "remesh/remesher.h"

#include <stdatomic.h>

typedef struct kiln_sheet_triangle {
    kiln_vec3 p[3], corner_normal[3];
    kiln_vec3 normal; /* outward, or from the lower region to the higher */
    uint32_t v[3];
    uint32_t part, body;
    uint32_t features; /* bit k: the edge from corner k to the next is one */
    double edge;       /* mean length */
    double allowed;    /* distance that samples may have from it: most of the band, since between
                          them it is somewhat larger */
    double near;       /* least `allowed` of the triangles round it */
    double noise;      /* of the normal: what rounding may have made of it */
    bool interface;
    bool flat; /* part of a flat facet */
    bool bent; /* the smooth surface turns from it by more than 10 degrees at a corner */
} kiln_sheet_triangle;

typedef struct kiln_feature_segment {
    kiln_vec3 p[2], tangent[2]; /* both tangents from p[0] to p[1] */
    kiln_vec3 direction;
    uint32_t v[2];
    bool straight; /* of a straight feature along flat sheets */
} kiln_feature_segment;

struct kiln_surface {
    KILN_ARRAY_OF(kiln_sheet_triangle)
    triangles;
    KILN_ARRAY_OF(kiln_feature_segment)
    segments;
    KILN_ARRAY_OF(_Atomic double)
    room; /* [triangle] part of its band that it has for itself; negative: not asked for yet */
    kiln_bvh triangle_tree, segment_tree;
    kiln_u32_array start, corner; /* triangles at a vertex: corner[start[v] ..] = 3 triangle + k */
    uint32_t vertices;            /* rows at the begin */
    kiln_f64_array area;          /* [part] of its surface */
    kiln_f64_array volume;        /* [part] */
    bool bodies_coincide;         /* of the options */
    bool smooth;                  /* the band is round the smooth surface, not the begin faces */
    double band;                  /* of the options */
    double size;                  /* longest side of the bounding box of the sheets */
    double rounding;              /* of a coordinate */
    double reach;                 /* a tenth of the mean edge: how far one looks first */
};

/* Where a point is over the begin surface (or curve). */
typedef struct kiln_foot {
    uint32_t item;    /* triangle or segment, KILN_BVH_NONE when there is none */
    kiln_vec3 begin;  /* nearest point of the begin faces (edges) */
    kiln_vec3 point;  /* on the smooth surface (curve) over it */
    kiln_vec3 normal; /* of the smooth surface, or tangent of the curve; unit length */
    double distance;  /* from the given point to `begin`, in smooth mode to `point` */
    double band;      /* within which the surface may change there */
} kiln_foot;

kiln_status kiln_surface_collect(kiln_remesher *remesher, struct kiln_surface *surface,
                                 kiln_error *error);
/* Corner normals, flat triangles and trees; needs the freedom of vertices. */
kiln_status kiln_surface_finish(const kiln_remesher *remesher, struct kiln_surface *surface,
                                kiln_error *error);

/* The nearest begin face that looks the way of `normal` (interfaces either way), if there is one
 * within `limit`. `hint` is a begin face, best one close by, or KILN_BVH_NONE: none farther is
 * looked at, which is much cheaper. */
kiln_foot kiln_surface_foot(const struct kiln_surface *surface, kiln_vec3 p, kiln_vec3 normal,
                            double limit, uint32_t hint);
/* A begin face at a vertex, KILN_BVH_NONE where it had none. */
uint32_t kiln_surface_face_at(const struct kiln_surface *surface, uint32_t vertex);
/* The nearest begin feature that runs along `direction`, either way. */
kiln_foot kiln_surface_curve_foot(const struct kiln_surface *surface, kiln_vec3 p,
                                  kiln_vec3 direction);

/* Whether a point is as near to the begin surface as samples may be; *under is a begin face close
 * by and becomes the one found, so that a row of points costs little. */
bool kiln_surface_near(const struct kiln_surface *surface, kiln_vec3 p, kiln_vec3 normal,
                       double limit, uint32_t *under);

/* From now on the band is so many times as wide. */
void kiln_surface_widen(struct kiln_surface *surface, double times);

/* Within which the surface may change where its edges have that length. */
double kiln_surface_band(const struct kiln_surface *surface, double edge);

/* The part of its band that a begin face may use: less than all where the surface faces itself
 * across a narrow gap, 0 where it touches itself. */
double kiln_surface_room(const struct kiln_surface *surface, uint32_t item);

/* Whether b lies in the plane through a with unit normal n, up to rounding. */
bool kiln_surface_in_plane(const struct kiln_surface *surface, kiln_vec3 n, double noise,
                           kiln_vec3 a, kiln_vec3 b);

#endif
