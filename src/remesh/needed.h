/* Whether a pass would find anything to do, without beginning one: a look at every edge and every
 * tet, judged as size control and dynamic_improve would judge them at the begin of the pass. */
#ifndef KILN_REMESH_NEEDED_H
#define KILN_REMESH_NEEDED_H

#include "remesh/improve.h"
#include "remesh/size_control.h"

/* *needed: an edge is out of the bounds of `size` (NULL: no size control), or a tet is below the
 * goal of `improve` and not hopeless. If not, *worst is the least score, and for edges that wait
 * this was one of the calls they wait for. Fields with functions that lookups ask are not known
 * from the vertices: with those and size control a pass is always needed. */
kiln_status kiln_remesh_needed(kiln_mesh *mesh, const kiln_remesh_options *options,
                               const kiln_size_options *size, const kiln_improve_options *improve,
                               bool *needed, double *worst, kiln_error *error);

#endif
