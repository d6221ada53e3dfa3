/* How often size control has worked on a place of the mesh while its matter kept its shape. Sizes
 * and repairs have different aims, and what a pass does to a mesh changes the forces in it: in a
 * body at rest one would take away for ever what the other puts in. Repairs have a memory of their
 * own (remesh/vain.h) and must not wait where matter flows; so it is sizes that give way. A place
 * may be changed for them, or tried in vain, a few times only, and again as its matter moves:
 *
 *   T1  every vertex of a tet that size control has made, and every end of an edge that it could
 *       not change, has been tried once more
 *   T2  a strain of KILN_TRIED_STRAIN in the world, gone to and fro if need be, makes up for one
 *   T3  edges whose ends have both been tried KILN_TRIED_MOST times are left alone
 *   T4  new vertices have it from those round them. So without motion sizes come to rest in every
 *       place, whatever the operators do
 *
 * A vertex field of one double under the rule interpolate: 0 is a place that has not been tried.
 * Saved, taken back and resumed with the mesh. */
#ifndef KILN_REMESH_TRIED_H
#define KILN_REMESH_TRIED_H

#include "remesh/size_control.h"

#define KILN_TRIED_MOST 8.0
/* With five times as much a bar that is meshed in the world while it is twisted spends its tries
 * before it is let go, and keeps ten times the elastic energy. */
#define KILN_TRIED_STRAIN 0.02

kiln_status kiln_tried_add(kiln_mesh *mesh, const char *name, kiln_error *error);
/* The column, or NULL: no name or no such field. Valid until the mesh changes. */
double *kiln_tried_of(const kiln_mesh *mesh, const char *name);

/* T1 in two steps, since a pass carries fields over at its end: the vertices of tets made since the
 * clock showed `since`, after size control; and to be counted, after the pass, those and the ends
 * of edges that failed, as `wait` says (NULL: none). */
kiln_status kiln_tried_list(const kiln_mesh *mesh, uint32_t since, kiln_u32_array *vertices,
                            kiln_error *error);
void kiln_tried_note(const kiln_mesh *mesh, double *tried, const kiln_u32_array *vertices,
                     const kiln_size_wait *wait);
/* T2: what has happened since vertices were at `then` [vertex slot]. `scratch` is the caller's, for
 * its memory: this is asked in every step. */
kiln_status kiln_tried_forget(const kiln_mesh *mesh, double *tried, const kiln_vec3 *then,
                              kiln_f64_array *scratch, kiln_error *error);
/* T3. False with `tried` NULL. */
bool kiln_tried_enough(const double *tried, uint32_t a, uint32_t b);

#endif
