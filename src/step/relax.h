/* Relaxation of the material (DLR eq. 4-5): after plastic flow the material mesh goes to the shape
 * it would take when nothing acts on it, so that as much as possible of the flow is in its
 * positions, where remeshing costs nothing, and only what cannot be embedded in space stays in the
 * offsets.
 *
 * The elastic energy of the solid's own elements at x = u is minimised over u; rest shapes stay, so
 * F does but for a turn of the rest frame (offset.h). Any u is right: what this decides is how good
 * a mesh of it can be. */
#ifndef KILN_STEP_RELAX_H
#define KILN_STEP_RELAX_H

#include "step/solid.h"

typedef struct kiln_relax_options {
    double tolerance; /* done when no vertex moves by more than this part of what the flow of the
                         step moved any */
    int max_iterations;
} kiln_relax_options;

kiln_relax_options kiln_relax_default_options(void);

typedef struct kiln_relax_report {
    size_t parts;   /* connected parts that were relaxed: those where offsets changed */
    int iterations; /* of Newton, at most over the parts */
    double energy_before, energy_after; /* of internal strain, J */
    double moved;                       /* the farthest, m */
    bool shortened;                     /* a tet would have been inverted: part of the way only */
    bool overlaps; /* the material surface crosses itself (DLR 4.6); where it was looked for */
    double seconds;
} kiln_relax_report;

typedef struct kiln_relax kiln_relax;

kiln_status kiln_relax_create(kiln_solid *solid, kiln_relax **out, kiln_error *error);
void kiln_relax_destroy(kiln_relax *relax); /* NULL allowed */
/* After offsets changed and the solid was reformed. Moves mesh->u, takes the offsets along and
 * reforms the solid. Rigid motions are left out: each part stays where it was on average, unturned.
 * On failure (memory) nothing was changed. */
kiln_status kiln_relax_run(kiln_relax *relax, const kiln_relax_options *options,
                           kiln_relax_report *report, kiln_error *error);

#endif
