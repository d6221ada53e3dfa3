/* What the generators share: points, tets and prisms put into a soup, and the tagged surface. */
#ifndef KILN_MESH_SHAPE_BUILD_H
#define KILN_MESH_SHAPE_BUILD_H

#include "mesh/shapes.h"

/* Generators refuse to start when their estimate is beyond this (the mesh's own limit). */
#define KILN_SHAPE_MAX_TETS 1073741823.0

/* Least that a mesh takes while it is read and built (measured: 480). */
#define KILN_BYTES_A_TET 300.0

/* Height of a prism over an equilateral triangle, relative to its edge, for which the worst of the
 * three tets it is cut into is best (q = 0.66). */
#define KILN_PRISM_HEIGHT 0.8

/* At least `low`: length / size to the nearest whole number. */
uint32_t kiln_shape_divisions(double length, double size, uint32_t low);

kiln_status kiln_shape_reserve(kiln_soup *soup, double points, double tets, kiln_error *error);

kiln_status kiln_shape_point(kiln_soup *soup, kiln_vec3 p, uint32_t *index, kiln_error *error);

/* Stores the tet in positive order. */
kiln_status kiln_shape_tet(kiln_soup *soup, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                           kiln_error *error);

/* The prism with ends `a` and `b`, vertical edges a[i]-b[i]. Each side is cut by the diagonal at
 * its vertex with the lowest number, so neighbours agree and the three diagonals never form a
 * cycle. */
kiln_status kiln_shape_prism(kiln_soup *soup, const uint32_t a[3], const uint32_t b[3],
                             kiln_error *error);

/* The octahedron with opposite corners v[0]-v[1], v[2]-v[3], v[4]-v[5], cut along the diagonal
 * whose worst tet is best (the first of equals). */
kiln_status kiln_shape_octahedron(kiln_soup *soup, const uint32_t v[6], kiln_error *error);

/* The part inside of a tet that a surface cuts: `outer` of its corners are cut off, which leaves a
 * tet, a prism, or a pyramid over the side of two inner corners. p: its `inner` corners inside,
 * then those on the surface; cut[i][o]: point on the edge from inner corner i to outer corner o. */
kiln_status kiln_shape_cut(kiln_soup *soup, const uint32_t p[4], int inner, int outer,
                           uint32_t cut[4][4], kiln_error *error);

/* q = 6 sqrt(2) V l_harm / l_rms^4 (design 10-remesher). */
double kiln_shape_quality(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d);

/* Appends each face that belongs to one tet only, outward, with the tag patch() gives it; tags all
 * tets 1. Faces come in the order of their lowest vertex. */
typedef int32_t (*kiln_shape_patch)(void *user, const uint32_t v[3]);
kiln_status kiln_shape_surface(kiln_soup *soup, kiln_shape_patch patch, void *user,
                               kiln_error *error);

/* Patch 1 everywhere. */
int32_t kiln_shape_one_patch(void *user, const uint32_t v[3]);

/* The rows, one or more per shape_*.c. */
extern const kiln_shape kiln_shape_box, kiln_shape_ball, kiln_shape_bowl, kiln_shape_cylinder,
    kiln_shape_cone, kiln_shape_torus, kiln_shape_polygon, kiln_shape_text, kiln_shape_figure;

#endif
