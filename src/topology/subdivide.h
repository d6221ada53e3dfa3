/* Against locking (SLI 5): tets whose corners are all on the surface have no freedom of their own
 * to keep their volume with. Interior edges between two vertices of the surface are divided at
 * their midpoints, the longest first, then tets with all corners on the surface at their centroids;
 * and all of it is taken back later. */
#ifndef KILN_TOPOLOGY_SUBDIVIDE_H
#define KILN_TOPOLOGY_SUBDIVIDE_H

#include "topology/split.h"

typedef KILN_ARRAY_OF(kiln_split)
kiln_splits;

/* Among the tets with may[tet slot] not 0: edges all of whose tets are, without marks. The splits
 * go to the end of the list, in the order they were made. In a pass or transaction of its own. */
kiln_status kiln_subdivide(kiln_mesh *mesh, const uint8_t *may, kiln_splits *splits,
                           kiln_error *error);
/* Takes splits back, the last first. What would leave a tet that is not positive stays divided, for
 * remeshing to look at; *left counts those. The list is empty then. */
kiln_status kiln_undo_subdivision(kiln_mesh *mesh, kiln_splits *splits, size_t *left,
                                  kiln_error *error);

#endif
