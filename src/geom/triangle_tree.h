/* A set of triangles that is asked about points of space: which of them is nearest, how often they
 * wind round a point, where a segment meets them. Nothing is assumed of how they hang together.
 *
 * Winding numbers are the generalised ones (Jacobson et al. 2013): the sum of signed solid angles
 * over 4 pi, 1 inside a closed surface that looks outward, 0 outside, and in between near holes.
 * Far groups of the tree count as one dipole with its first moments (Barill et al. 2018, orders 1
 * and 2), so that a question costs the logarithm of the triangles; the result is within 0.02 of the
 * sum. */
#ifndef KILN_GEOM_TRIANGLE_TREE_H
#define KILN_GEOM_TRIANGLE_TREE_H

#include "geom/bvh.h"

typedef struct kiln_triangle {
    kiln_vec3 p[3];
} kiln_triangle;

/* What stands for the triangles of a group from afar. */
typedef struct kiln_dipole {
    kiln_vec3 centre; /* of area */
    double radius;    /* of a ball round it that has all of them */
    kiln_vec3 normal; /* sum of areas times normals */
    kiln_mat3 moment; /* sum of (centroid - centre) times area normal */
    double area;
} kiln_dipole;

/* The same of one triangle; its moments about its centroid are zero. */
typedef struct kiln_speck {
    kiln_vec3 centre, normal;
    double radius;
} kiln_speck;

/* Zero-initialise. */
typedef struct kiln_triangle_tree {
    kiln_context *context;
    kiln_bvh bvh;
    size_t count;
    kiln_triangle *triangle; /* [item], owned copy */
    kiln_speck *speck;       /* [item] */
    kiln_dipole *dipole[KILN_BVH_LEVELS];
} kiln_triangle_tree;

/* KILN_ERR_INPUT for coordinates that are not finite. */
kiln_status kiln_triangle_tree_build(kiln_triangle_tree *tree, kiln_context *context,
                                     const kiln_triangle *triangles, size_t count,
                                     kiln_error *error);
void kiln_triangle_tree_destroy(kiln_triangle_tree *tree);

double kiln_triangle_tree_winding(const kiln_triangle_tree *tree, kiln_vec3 p);

/* Signed solid angle of one triangle over 4 pi: positive where it is seen from behind. */
double kiln_triangle_winding(const kiln_triangle *triangle, kiln_vec3 p);

/* The nearest triangle within `limit` and the distance to it; KILN_BVH_NONE and infinity: none. */
uint32_t kiln_triangle_tree_closest(const kiln_triangle_tree *tree, kiln_vec3 p, double limit,
                                    double *distance);

/* Parts of the way from a to b, ascending, at which triangles are met; at most `most` of them, and
 * how many there are. Triangles in one plane with the segment do not count. */
size_t kiln_triangle_tree_meets(const kiln_triangle_tree *tree, kiln_vec3 a, kiln_vec3 b,
                                size_t most, double *parts);

#endif
