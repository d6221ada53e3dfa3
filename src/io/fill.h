/* Tets inside a closed surface, and Delaunay tets of points, by TetGen as a separate program (it is
 * AGPL: run, never linked). Its results are checked, since version 1.5 answers an open surface with
 * no tets and no error. */
#ifndef KILN_IO_FILL_H
#define KILN_IO_FILL_H

#include "mesh/shapes.h"

#include <stdbool.h>

typedef struct kiln_fill_options {
    double max_edge;     /* of about this length inside; 0: as the surface has it */
    double radius_edge;  /* TetGen's -q bound; 0: no new points for quality */
    double min_dihedral; /* degrees; 0: none asked for */
    bool keep_surface;   /* no new points on the surface */
    double seconds;      /* time limit; 0: none */
    const char *program; /* NULL: "tetgen", found by PATH */
} kiln_fill_options;

kiln_fill_options kiln_fill_default_options(void);

/* Every edge of the triangles must have an even number of them; an error names the first that has
 * not, with its ends, and triangles with two equal corners. */
kiln_status kiln_surface_is_closed(const kiln_soup *surface, const char *place, kiln_error *error);

/* Fills `out` (initialised, empty) with points, tets (tag 1 in each) and surface triangles, which
 * keep the tags of the triangles they lie on. On failure `out` is empty. `place` is the surface's
 * name for messages. */
kiln_status kiln_fill_surface(const kiln_soup *surface, const char *place,
                              const kiln_fill_options *options, kiln_soup *out, kiln_error *error);

/* Delaunay tets of the points of `cloud`; no triangles. */
kiln_status kiln_fill_points(const kiln_soup *cloud, const kiln_fill_options *options,
                             kiln_soup *out, kiln_error *error);

/* Random points in a cube with its corners, edges and faces sampled too (mesh/shapes.h). */
extern const kiln_shape kiln_shape_random;

/* All shapes that can be generated: those of mesh/shapes.h and the one above. NULL past the last.
 */
const kiln_shape *kiln_generator_at(size_t row);
kiln_status kiln_generator_find(const char *name, const kiln_shape **out, kiln_error *error);

#endif
