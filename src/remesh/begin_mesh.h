/* Where a point is in the mesh as it was at the begin of the pass (without a pass: in the live
 * mesh), found by walking from a hint. Sizing, operators and transfer look things up through this;
 * with a hint nearby a lookup costs a few tet visits. */
#ifndef KILN_REMESH_BEGIN_MESH_H
#define KILN_REMESH_BEGIN_MESH_H

#include "mesh/begin_view.h"

/* A tet and the point's barycentric weights in it (sum 1). Outside the mesh the tet is the closest
 * one found and the weights extrapolate: some are negative. Inside means exactly so, or within
 * 2^-40 of a weight. */
typedef struct kiln_begin_place {
    uint32_t tet; /* KILN_NONE when the mesh had no tets */
    uint32_t visits;
    bool inside;
    double weight[4];
} kiln_begin_place;

/* Any number does as hint; one that was no live tet at the begin costs a search for the next that
 * was. The walk stays in the hint's connected part. Outside, the closest tet is looked for by
 * growing the set of tets nearest to the point from where the walk ended. A point that is still
 * farther from that tet than half its length, or outside after a hint from far away, costs a scan
 * of the part, since the walk may have ended at another limb of the body. Only beyond a notch
 * narrower than a tet the answer may be the wrong side. In world space inverted tets may be walked
 * through. Safe from several threads. */
void kiln_begin_locate(const kiln_mesh *mesh, kiln_space space, kiln_vec3 point, uint32_t start,
                       kiln_begin_place *place);

/* The same for many lookups: the view must be of the space of the point. */
void kiln_begin_locate_in(const kiln_begin_view *view, kiln_vec3 point, uint32_t start,
                          kiln_begin_place *place);

/* Outside, a flat tet extrapolates by large weights, which magnify what noise a field has. Where
 * one is beyond 2, the place moves to the tet nearby with the smallest, or, when all are beyond,
 * takes the weights of the closest point of its tet. */
void kiln_begin_tame(const kiln_begin_view *view, kiln_vec3 point, kiln_begin_place *place);

/* Position of a place in either space at the begin of the pass. */
kiln_vec3 kiln_begin_point(const kiln_mesh *mesh, kiln_space space, const kiln_begin_place *place);

#endif
