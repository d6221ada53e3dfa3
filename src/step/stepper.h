/* Steppers: each takes one kind of matter from one moment to the next.
 *
 * The solid step is one (solid.h); liquids, rigid bodies and remeshing inside the step, which wraps
 * another, are more. Steppers of one world share its mesh, its clock and the length of the step:
 * kiln_steppers_advance runs them one after the other, and the first that does not get there
 * decides for all.
 *
 * A stepper writes its result to the mesh when it is done. It runs inside a step (mesh/rewind.h)
 * that is taken back as a whole when some outcome is not "done", so none of them has to know how to
 * undo what it, or another, has written; two moments, attempt and accept, would only be needed
 * without that. */
#ifndef KILN_STEP_STEPPER_H
#define KILN_STEP_STEPPER_H

#include "mesh/changes.h"
#include "step/outcome.h"

typedef struct kiln_interval {
    double begin, end; /* s */
    int parts; /* static: in how many the load is applied at least; otherwise not looked at */
} kiln_interval;

typedef struct kiln_stepper {
    void *self; /* borrowed */
    /* Bad input of the scene (its functions) is an error, numerical trouble the report's outcome.
     */
    kiln_status (*advance)(void *self, const kiln_interval *interval, kiln_step_report *report,
                           kiln_error *error);
    /* NULL: none. Derived data after the mesh has changed: the bits that building it anew would
     * give. */
    kiln_status (*mesh_changed)(void *self, const kiln_changes *changes, kiln_error *error);
    /* The same without knowing what changed, and without caches, as a resumed run has none. */
    kiln_status (*renew)(void *self, kiln_error *error);
} kiln_stepper;

/* All of them. The report has the sums of their work; the rest of it is that of the last. */
kiln_status kiln_steppers_advance(const kiln_stepper *steppers, size_t count,
                                  const kiln_interval *interval, kiln_step_report *report,
                                  kiln_error *error);

#endif
