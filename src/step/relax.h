/* Relaxation of the material (DLR eq. 4-5): after plastic flow the material mesh goes to the shape
 * it would take when nothing acts on it, so that as much as possible of the flow is in its
 * positions, where remeshing costs nothing, and only what cannot be embedded in space stays in the
 * offsets.
 *
 * The elastic energy of the solid's own elements at x = u is minimised over u; rest shapes stay, so
 * F does but for a turn of the rest frame (offset.h). Any u is right: what this decides is how good
 * a mesh of it can be. Matrix, analysis and factor are those of the solid's own Newton, whose
 * pattern is the same. */
#ifndef KILN_STEP_RELAX_H
#define KILN_STEP_RELAX_H

#include "step/solid.h"

typedef struct kiln_relax_options {
    double tolerance; /* done when no vertex moves by more than this part of the first iteration's
                         farthest: what is left is left to the next step */
    int max_iterations;
    double *moved; /* m that the material went since its surface was last searched for crossings:
                      added to, and set back. The caller's, since it outlives steps taken back */
} kiln_relax_options;

kiln_relax_options kiln_relax_default_options(void);

typedef struct kiln_relax_report {
    size_t parts;                       /* connected parts that were relaxed */
    int iterations;                     /* of Newton */
    double energy_before, energy_after; /* of internal strain, J */
    double moved;                       /* the farthest, m */
    bool shortened; /* a tet would have been inverted: not all of the way was gone */
    bool overlaps;  /* the material surface crosses itself (DLR 4.6), seen now */
} kiln_relax_report;

typedef struct kiln_relax kiln_relax;

/* The solid is borrowed. */
kiln_status kiln_relax_create(kiln_solid *solid, kiln_relax **out, kiln_error *error);
void kiln_relax_destroy(kiln_relax *relax); /* NULL allowed */

/* After offsets have changed and the solid was reformed. `flowed` [tet slot]: not 0 where they
 * have; parts of the mesh without such a tet stay as they are. Moves mesh->u, takes the offsets
 * along and reforms the solid. Rigid motions are left out: each part stays where it was on average
 * of its mass, unturned. A failure in the last of these (memory) leaves a solid that must be
 * rebuilt, one before it nothing changed. */
kiln_status kiln_relax_run(kiln_relax *relax, const kiln_relax_options *options,
                           const uint8_t *flowed, kiln_relax_report *report, kiln_error *error);

#endif
