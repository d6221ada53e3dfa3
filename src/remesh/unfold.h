/* Flips of the surface that bend it less in the world.
 *
 * Vertices of a surface that deforms are samples of it; which diagonal joins them decides whether
 * it looks like what it is. Where matter is sheared, the diagonals that fitted the surface when
 * they were made come to lie across its valleys, and rows of them are teeth. Quality does not see
 * that: both diagonals make the same tets. So each edge whose two faces are folded is looked at
 * with the four edges round them, and is flipped where that lowers the sum of
 *
 *   length c (1 + 2 c),   c = 1 - cos fold
 *
 * by a part that is worth it: few sharp folds count for more than many flat ones. Feature edges
 * stay and have no fold. No vertex moves; what a flip adds to a part's volume or takes from it is
 * bounded as that of all changes of a pass is. */
#ifndef KILN_REMESH_UNFOLD_H
#define KILN_REMESH_UNFOLD_H

#include "remesh/remesher.h"

typedef struct kiln_unfold_options {
    double fold;  /* radians; edges that are folded by less are let be */
    double gain;  /* part of the sum that a flip must take away */
    double least; /* no tet that comes is worse than this */
} kiln_unfold_options;

kiln_unfold_options kiln_unfold_default_options(void);

/* One sweep, the largest gains first. *flips: how many were made; may be NULL. */
kiln_status kiln_unfold(kiln_remesher *remesher, const kiln_unfold_options *options, size_t *flips,
                        kiln_error *error);

#endif
