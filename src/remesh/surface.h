/* The surface during a pass: surface faces and interfaces between regions, and how far they may
 * change. Everything refers to the surface at the begin of the pass, so that many small changes do
 * not add up: flat facets and straight features are kept exactly, curved ones within
 * max(0.1 % of the model, 5 % of the local edge). */
#ifndef KILN_REMESH_SURFACE_H
#define KILN_REMESH_SURFACE_H

#include "remesh/remesher.h"

/* Curved surfaces stay within the larger of these parts of the model's size and of the local edge
 * (DLR, and the issue). */
#define KILN_BAND_OF_SIZE 1e-3
#define KILN_BAND_OF_EDGE 0.05

/* Of the volume that a change of the surface takes out (DLR 4.4). */
#define KILN_MOST_VOLUME_CHANGE 0.09

/* Fills remesher->side (how vertices may move, quadrics) and keeps what later questions need. */
kiln_status kiln_surface_create(kiln_remesher *remesher, kiln_error *error);
void kiln_surface_destroy(kiln_remesher *remesher);

/* The surface of the mesh as it is now, for several passes to be held to
 * (kiln_remesh_options.held): its band is that of the edges it has, whatever sizes are asked for.
 */
kiln_status kiln_surface_freeze(kiln_mesh *mesh, const kiln_remesh_options *options,
                                struct kiln_surface **out, kiln_error *error);
void kiln_surface_release(kiln_context *context, struct kiln_surface *surface); /* NULL is fine */

/* The surface term of a vertex at p, alpha - beta Q, with its gradient; INFINITY and zero where
 * the vertex has none (inside, on planes and lines, fixed). Q is that of the begin surface under p,
 * so sliding along it costs nothing. */
double kiln_surface_term(const kiln_remesher *remesher, const kiln_vertex_side *side, kiln_vec3 p,
                         kiln_vec3 *gradient);

/* p put back on what the vertex lives on: exactly for planes and lines, onto the smooth surface or
 * curve of the begin for curved ones; a fixed vertex is where it was. The side becomes that of the
 * new place (axis, quadric, begin). To be used for every place a vertex of the surface is moved to.
 */
kiln_vec3 kiln_surface_rebase(const kiln_remesher *remesher, kiln_vertex_side *side, kiln_vec3 p);

/* The place of a vertex made at `weight` of the vertices `corner` of a surface (or interface) face
 * of a tet, or of an edge in one: position settled, side, and the rest as kiln_remesher_locate.
 * `count` 2: the edge a feature or not as the mesh says; 3: a face. */
void kiln_surface_place(const kiln_remesher *remesher, uint32_t tet, const uint32_t *corner,
                        const double *weight, int count, kiln_place *place);

/* Whether triangles `fresh` may take the place of `old` in the surface or an interface: shape
 * within the band, normals and folds within limits, volume within its budget (remesher-algorithms
 * section 9; DLR 4.4: normals turn by less than 8 degrees in a 2-2 flip). Both lists have the same
 * outline. Corners in outward order, KILN_PROPOSED for `place` (in `old` it stands for nothing:
 * name the vertex). Costs some microseconds on curved surfaces, so ask last.
 * KILN_MOST_VOLUME_CHANGE and the feature and patch rules are judged elsewhere. */
bool kiln_surface_allows(const kiln_remesher *remesher, kiln_workspace *workspace,
                         const uint32_t (*old)[3], size_t old_count, const uint32_t (*fresh)[3],
                         size_t fresh_count, const kiln_place *place);

/* Whether a vertex of the begin may go to p without its faces meeting others that face them: for
 * moves that nothing else judges. Where nothing is near, anywhere. */
bool kiln_surface_has_room(const kiln_remesher *remesher, uint32_t vertex, kiln_vec3 p);

/* What guards the surface in the world alone (kiln_remesh_options.guard), for changes that leave
 * its shape as it is where quality counts. */
bool kiln_surface_is_guarded(const kiln_remesher *remesher, kiln_workspace *workspace,
                             const uint32_t (*old)[3], size_t old_count, const uint32_t (*fresh)[3],
                             size_t fresh_count, const kiln_place *place);

#endif
