/* Nonsmooth smoothing: a vertex goes where the worst tet of its star (and its surface term) is best
 * (Freitag, Jones, Plassmann 1995). */
#ifndef KILN_REMESH_SMOOTH_H
#define KILN_REMESH_SMOOTH_H

#include "remesh/remesher.h"

typedef struct kiln_smoothing {
    kiln_place place;     /* for kiln_remesher_move */
    double before, after; /* worst of star and surface term there */
    uint32_t stamp;       /* mesh clock when it was proposed */
    uint32_t rounds;      /* of climbing it took; set also where nothing is found */
} kiln_smoothing;

/* Stops as soon as the worst reaches `target` (INFINITY: as far as it goes). False where the
 * judge in office would not have it. The place keeps every tet of the star positive in both spaces.
 */
bool kiln_smoothing_propose(const kiln_remesher *remesher, kiln_workspace *workspace,
                            uint32_t vertex, double target, kiln_smoothing *out);

#endif
