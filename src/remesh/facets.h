/* Creases between flat facets, at any angle. */
#ifndef KILN_REMESH_FACETS_H
#define KILN_REMESH_FACETS_H

#include "mesh/mesh.h"

/* Marks as features the edges where two flat patches of the surface or of an interface meet, by
 * however small an angle, and classifies the vertices of the mesh anew with `angle`
 * (kiln_mesh_classify). A patch counts as flat when it has two triangles at least, and one of the
 * two patches has a vertex inside: single triangles, and pairs of them in a surface that is curved
 * everywhere, are samples of it. Flat is what rounding of the coordinates cannot tell from flat,
 * whether they are doubles or were floats. Not inside a transaction. */
kiln_status kiln_mark_facets(kiln_mesh *mesh, double angle, kiln_error *error);

#endif
