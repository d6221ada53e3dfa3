/* How often the mesher has worked on a place of the mesh while its matter kept its shape. What a
 * pass does to a mesh changes the forces in it, and sizes and repairs have different aims: in a
 * body at rest one would take away for ever what the other puts in, and a repair what the last one
 * did. A place may therefore be changed a few times only, and again as its matter moves:
 *
 *   T1  every vertex of a tet that size control has made, and every end of an edge that it could
 *       not change, has been tried once more for its size; every vertex of a tet that repairs have
 *       made, once more for its shape
 *   T2  a strain in the world, gone to and fro if need be, makes up for one: KILN_TRIED_STRAIN
 *   T3  edges whose ends, and bad tets whose corners, have all been tried KILN_TRIED_MOST times are
 *       left alone
 *   T4  new vertices have it from those round them. So without motion the mesh comes to rest in
 *       every place, whatever the operators do
 *
 * Repairs that change nothing have a memory of their own (remesh/vain.h).
 *
 * A vertex field of two doubles under the rule interpolate: 0 is a place that has not been tried.
 * Saved, taken back and resumed with the mesh. */
#ifndef KILN_REMESH_TRIED_H
#define KILN_REMESH_TRIED_H

#include "remesh/size_control.h"

typedef enum kiln_tried_for { KILN_TRIED_SIZE, KILN_TRIED_REPAIR, KILN_TRIED_AIMS } kiln_tried_for;
typedef double kiln_tried[KILN_TRIED_AIMS];

#define KILN_TRIED_MOST 8.0
/* A tet that flows is bad again after a few hundredths. */
#define KILN_TRIED_STRAIN 0.01

kiln_status kiln_tried_add(kiln_mesh *mesh, const char *name, kiln_error *error);
/* The column, or NULL: no name or no such field. Valid until the mesh changes. */
kiln_tried *kiln_tried_of(const kiln_mesh *mesh, const char *name);

/* T1 in two steps, since a pass carries fields over at its end: the vertices of tets made since the
 * clock showed `since`, after size control or repairs; and to be counted, after the pass, those and
 * the ends of edges that failed, as `wait` says (NULL: none). */
kiln_status kiln_tried_list(const kiln_mesh *mesh, uint32_t since, kiln_u32_array *vertices,
                            kiln_error *error);
void kiln_tried_note(const kiln_mesh *mesh, kiln_tried *tried, kiln_tried_for aim,
                     const kiln_u32_array *vertices, const kiln_size_wait *wait);
/* T2: what has happened since vertices were at `then` [vertex slot]. `scratch` is the caller's, for
 * its memory: this is asked in every step. */
kiln_status kiln_tried_forget(const kiln_mesh *mesh, kiln_tried *tried, const kiln_vec3 *then,
                              kiln_f64_array *scratch, kiln_error *error);
/* T3, of an edge or a tet. False with `tried` NULL. */
bool kiln_tried_enough(const kiln_tried *tried, kiln_tried_for aim, const uint32_t *vertices,
                       int count);

#endif
