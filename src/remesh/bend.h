/* Where a place in the material is in the world when matter is taken to be bent smoothly, not to be
 * flat inside each tet: interpolation of second order, with the gradients of the tets averaged at
 * the vertices of the begin-of-pass mesh.
 *
 *   x(u) = sum w_i (x_i + F_i (u - u_i) / 2)
 *
 * is exact for maps of second degree whose gradients F_i are (the halves of the two errors of
 * second order cancel), for affine maps always, and gives a vertex back where it was.
 *
 * For matter whose vertices are led (a velocity field): nothing brings back what is put on a chord,
 * and what is cut off a bent sheet every time a vertex is made or moved is lost. Matter that finds
 * its own place by forces is better off with flat interpolation, which changes no energy. */
#ifndef KILN_REMESH_BEND_H
#define KILN_REMESH_BEND_H

#include "remesh/begin_mesh.h"
#include "remesh/remesher.h"

/* Fills remesher->gradient from the mesh as it is, before the first change of the pass. */
kiln_status kiln_bend_create(kiln_remesher *remesher, kiln_error *error);

/* The world position of p, which is `where` in the material at the begin of the pass. */
kiln_vec3 kiln_bend_point(const kiln_remesher *remesher, kiln_vec3 p,
                          const kiln_begin_place *where);

#endif
