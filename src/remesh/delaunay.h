/* Delaunay tetrahedralisation of a set of points, exact for all finite coordinates.
 *
 * Cospherical points are told apart by a symbolic perturbation (Devillers and Teillaud,
 * "Perturbations for Delaunay and weighted Delaunay 3D triangulations", 2011): each point is lifted
 * by an infinitesimal that falls with its lexicographic rank. The result depends on the set of
 * points alone, not on their order, and has no flat tets. */
#ifndef KILN_REMESH_DELAUNAY_H
#define KILN_REMESH_DELAUNAY_H

#include "mesh/mesh.h"

/* Zero-initialise. Tets are positive and cover the convex hull; their vertices are numbers of the
 * given points; n[i] is KILN_NONE across the hull, else tet*4+face as in mesh.h. */
typedef struct kiln_delaunay {
    kiln_context *context;
    KILN_ARRAY_OF(kiln_tet)
    tets;
    size_t duplicates; /* points left out because another one is at the same place */
} kiln_delaunay;

/* KILN_ERR_INPUT: a point is not finite, or all points lie in one plane; KILN_ERR_LIMIT:
 * more points than tets can be numbered for. May be called again on the same triangulation, which
 * keeps its room; on failure it is empty. */
kiln_status kiln_delaunay_build(kiln_delaunay *delaunay, kiln_context *context,
                                const kiln_vec3 *points, size_t count, kiln_error *error);
void kiln_delaunay_destroy(kiln_delaunay *delaunay);

#endif
