/* Opening a set of faces: SLI 7.1, with the cases it leaves out (no surface vertex or edge). */
#ifndef KILN_TOPOLOGY_OPEN_H
#define KILN_TOPOLOGY_OPEN_H

#include "mesh/replace.h"

typedef struct kiln_open_report {
    uint32_t copies;      /* vertices duplicated */
    uint32_t edges_split; /* at their midpoint, because a sheet of the set ends there */
    uint32_t faces_split; /* at their centroid: opened to a lens */
} kiln_open_report;

/* Opens the interior faces given as tet*4+face, so that each becomes two surface faces with `tag`
 * and a common twin number. Volume does not change. The result may need manifold repair before the
 * outermost commit. All or nothing. `report` may be NULL. */
kiln_verdict kiln_open_faces(kiln_txn *txn, const uint32_t *faces, size_t count, int32_t tag,
                             kiln_open_report *report);

/* Of all that was opened, what has parted is surface as any other from now on: as sides of a crack
 * its faces would stay as they are in all remeshing. */
kiln_verdict kiln_open_part(kiln_txn *txn);

/* The first step alone: the vertex gets one copy per class of its star that faces marked
 * KILN_MARK_SPLIT_FACE (and the surface) separate; the class with the lowest tet keeps it. */
kiln_verdict kiln_open_vertex(kiln_txn *txn, uint32_t vertex, int32_t tag, uint32_t *copies);

#endif
